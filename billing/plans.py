"""Prices and free allowances as data; every amount is exact, in Decimal dollars."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from types import MappingProxyType

GB = 2**30
CENT = Decimal("0.01")
WARNED_AT = (80, 100)
"""Percents of a free allowance at which an account is warned."""


@dataclass(frozen=True, slots=True)
class Metric:
    """So many units a month are free; each one beyond costs this. Stripe counts whole parts of a unit."""

    free: Decimal
    price: Decimal
    stripe_event: str
    parts: int = 1

    def billable(self, used: Decimal) -> Decimal:
        return max(used - self.free, Decimal(0))

    def free_remaining(self, used: Decimal) -> Decimal:
        return max(self.free - used, Decimal(0))

    def charge(self, used: Decimal) -> Decimal:
        return self.billable(used) * self.price

    def billable_parts(self, used: Decimal) -> int:
        """What Stripe's meter is to sum up to: whole parts, what is less than one left out."""
        return int(self.billable(used) * self.parts)

    def reached(self, used: Decimal) -> list[int]:
        """The thresholds that so much use has come to."""
        return [percent for percent in WARNED_AT if used * 100 >= self.free * percent]


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        "checkpoint_writes": Metric(Decimal(10_000), Decimal("0.001"), "snapstate_checkpoint_writes"),
        "storage_gb": Metric(Decimal(1), Decimal("0.10"), "snapstate_storage_mb", parts=1024),
        "resume_calls": Metric(Decimal(5_000), Decimal("0.0005"), "snapstate_resume_calls"),
        "replay_calls": Metric(Decimal(1_000), Decimal("0.002"), "snapstate_replay_calls"),
    }
)
LABELS = {
    "checkpoint_writes": "Writes",
    "storage_gb": "Storage, GB-months",
    "resume_calls": "Resumes",
    "replay_calls": "Replays",
}
COUNTED = ("checkpoint_writes", "resume_calls", "replay_calls")
"""The metrics that are plain sums of events, by the names of their columns."""


def charge(used: Mapping[str, Decimal]) -> Decimal:
    """Exact dollars for units used by metric."""
    return sum((METRICS[name].charge(units) for name, units in used.items()), Decimal(0))


def dollars(amount: Decimal) -> str:
    """As in `$1.23`: whole cents, half a cent rounded up."""
    return f"${amount.quantize(CENT, ROUND_HALF_UP)}"


def money(amount: int, currency: str) -> str:
    """An amount of Stripe's. Which currencies have no cents only Stripe knows: all but dollars are shown as told."""
    if currency != "usd":
        return f"{amount:,} {currency.upper()} (smallest unit)"
    return f"{'-' if amount < 0 else ''}${abs(Decimal(amount)) / 100:,.2f}"
