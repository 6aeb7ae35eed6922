"""Who calls, once that is known, and how near the rate limit."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Caller:
    account_id: UUID
    key_id: UUID
    scopes: frozenset[str]
    limit: int


@dataclass(slots=True)
class Verdict:
    """What the RateLimit headers say of an admitted call."""

    limit: int
    remaining: int
    reset_seconds: int

    def headers(self) -> dict[str, str]:
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.reset_seconds),
        }
