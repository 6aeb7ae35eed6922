"""An answer that says no, as the exception it becomes."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any

from snapstate_sdk.call import Answer
from snapstate_sdk.errors import (
    AuthError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PayloadTooLargeError,
    RateLimitError,
    ServiceUnavailableError,
    SnapStateError,
    ValidationError,
)

UNAVAILABLE = frozenset({502, 503, 504})
PLAIN: Mapping[int, type[SnapStateError]] = {
    401: AuthError,
    403: ForbiddenError,
    404: NotFoundError,
    413: PayloadTooLargeError,
}


def refusal_of(answer: Answer) -> SnapStateError:
    """Whatever stands in the answer; one that did not come from the API at all is quoted."""
    whole = _object(answer.content)
    error = whole.get("error")
    error = error if isinstance(error, dict) else {}
    status, code = answer.status, error.get("code") or ""
    message = error.get("message") or _quoted(answer)
    request_id = error.get("request_id") or answer.headers.get("X-Request-Id")
    if status == 400:
        details = error.get("details")
        known = details if isinstance(details, list) else None
        return ValidationError(message, status, code, request_id=request_id, details=known)
    if status == 409:
        return ConflictError(message, status, code, request_id=request_id, existing=whole.get("existing"))
    if status == 429:
        return RateLimitError(message, retry_after_of(answer), request_id=request_id)
    if status in UNAVAILABLE:
        wait = retry_after_of(answer)
        return ServiceUnavailableError(message, status, code, request_id=request_id, retry_after=wait)
    if status == 404 and not error:  # a proxy that has lost us does not know what is saved
        return not_ours(answer)
    return PLAIN.get(status, SnapStateError)(message, status, code, request_id=request_id)


def not_ours(answer: Answer) -> SnapStateError:
    """Something else stands at that address, or in between."""
    return SnapStateError(f"what answered {answer.status} is not SnapState: is that the base_url?", answer.status)


def retry_after_of(answer: Answer) -> int | None:
    """Seconds, from either form of Retry-After; None when there is none that can be read."""
    text = answer.headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return int(text)
    then = _time(text)
    if then is None:
        return None
    theirs = _time(answer.headers.get("Date", "")) or datetime.now(UTC)  # our clock may differ from theirs
    return max(0, ceil((then - theirs).total_seconds()))


def _time(text: str) -> datetime | None:
    try:
        time = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _object(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _quoted(answer: Answer) -> str:
    if 300 <= answer.status < 400:
        return f"answered {answer.status} and points to {answer.headers.get('Location')}: is that the base_url?"
    return answer.content[:200].decode(errors="replace").strip() or f"answered {answer.status} and nothing else"
