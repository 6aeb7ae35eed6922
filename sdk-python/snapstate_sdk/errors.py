"""Every way in which a call can fail, as an exception; all of them are SnapStateError."""

from collections.abc import Mapping
from typing import Any


class SnapStateError(Exception):
    """Whatever went wrong.

    `status_code`: of the answer, None when there was none. `code`: the API's word for it, such as "NOT_FOUND".
    `request_id`: names this request in the server's logs; None when the server did not answer.
    """

    def __init__(
        self, message: str, status_code: int | None = None, code: str | None = None, *, request_id: str | None = None
    ) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.code = code
        self.request_id = request_id

    def __repr__(self) -> str:
        return f"{type(self).__name__}(message={str(self)!r}, status_code={self.status_code}, code={self.code!r})"


CheckpointError = SnapStateError  # the name it had before 1.0


class AuthError(SnapStateError):
    """401: the key is missing, unknown, revoked or expired."""


class ForbiddenError(SnapStateError):
    """403: the key lacks the scope, or its account is not active."""


class NotFoundError(SnapStateError):
    """404: there is no such thing in this account."""


class ConflictError(SnapStateError):
    """409: somebody else's content is there, or a guard (`if_match`, `if_none_match`) does not hold.

    `existing`: `{"checkpoint_id": …, "etag": …}` of what is there; None where nothing is.
    """

    def __init__(
        self,
        message: str,
        status_code: int | None = 409,
        code: str | None = "CONFLICT",
        *,
        request_id: str | None = None,
        existing: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message, status_code, code, request_id=request_id)
        self.existing = existing


class ValidationError(SnapStateError):
    """400: something about the request is wrong. `details`: `[{"path": "state.score", "message": "…"}]`."""

    def __init__(
        self,
        message: str,
        status_code: int | None = 400,
        code: str | None = "VALIDATION_ERROR",
        *,
        request_id: str | None = None,
        details: list[dict[str, str]] | None = None,
    ) -> None:
        super().__init__(message, status_code, code, request_id=request_id)
        self.details = details or []


class UnsendableValueError(ValidationError, ValueError):
    """Refused before anything was sent: NaN, Infinity, a lone surrogate, a key that is no string, `.` as an id."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}", None, details=[{"path": path, "message": message}])

    def __reduce__(self) -> Any:
        return type(self), (self.details[0]["path"], self.details[0]["message"])


class UnsendableTypeError(UnsendableValueError, TypeError):
    """Refused before anything was sent: JSON has nothing like it, such as a datetime or a set."""


class PayloadTooLargeError(SnapStateError):
    """413: a state has at most 1,048,576 bytes, metadata 65,536."""


class RateLimitError(SnapStateError):
    """429, and the deadline leaves no time to wait. `retry_after`: seconds until a call will be let through."""

    def __init__(self, message: str, retry_after: int | None = None, *, request_id: str | None = None) -> None:
        super().__init__(message, 429, "RATE_LIMITED", request_id=request_id)
        self.retry_after = retry_after


class ServiceUnavailableError(SnapStateError):
    """503 (or 502, 504 of something in between) until the deadline. `retry_after`: seconds, where one was named."""

    def __init__(
        self,
        message: str,
        status_code: int | None = 503,
        code: str | None = "SERVICE_UNAVAILABLE",
        *,
        request_id: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message, status_code, code, request_id=request_id)
        self.retry_after = retry_after


class ConnectionFailedError(SnapStateError):
    """No whole answer came, until the deadline. The last failure is the exception's `__cause__`.

    `in_doubt`: whether the server may have done what was asked. Saves and most other calls may simply be made again.
    """

    def __init__(self, message: str, *, in_doubt: bool = False) -> None:
        super().__init__(message)
        self.in_doubt = in_doubt


class WebhookVerificationError(SnapStateError):
    """What was received is not a fresh message signed with one of the secrets."""
