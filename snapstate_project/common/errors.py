"""Every failure the API answers with is an `ApiError`, and `error_response` is the only place that shapes one."""

import logging
import math
import time
from collections.abc import Iterator, Mapping
from typing import Any, NotRequired, TypedDict

import msgspec
from django.core import exceptions as django_exceptions
from django.http import Http404, HttpResponse
from rest_framework import exceptions as drf

from snapstate_project.common.outages import REDIS_OUTAGES, is_postgres_outage
from snapstate_project.common.request_id import current_request_id

logger = logging.getLogger(__name__)

LONGEST_SAID = 1_000


class Detail(TypedDict):
    path: str
    message: str


class ErrorMember(TypedDict):
    code: str
    message: str
    details: NotRequired[list[Detail]]
    request_id: str


class ApiError(Exception):
    """A subclass names the fact; `extra` are members beside "error"."""

    status = 500
    code = "INTERNAL_ERROR"
    default_message = "Something went wrong on our side."

    def __init__(
        self,
        message: str = "",
        *,
        details: list[Detail] | None = None,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.message = message or self.default_message
        self.details = details
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})
        super().__init__(self.message)


class ValidationFailed(ApiError):
    status = 400
    code = "VALIDATION_ERROR"
    default_message = "The request is not valid."

    @classmethod
    def at(cls, path: str, message: str) -> "ValidationFailed":
        """Names a place as long as a caller's own keys make it, but never says a megabyte back."""
        path, message = path[:LONGEST_SAID], message[:LONGEST_SAID]
        return cls(f"{path}: {message}", details=[{"path": path, "message": message}])


class Unauthorized(ApiError):
    status = 401
    code = "UNAUTHORIZED"
    default_message = "A valid API key is required: Authorization: Bearer <key>."

    def __init__(self, message: str = "", *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message, headers={"WWW-Authenticate": "Bearer", **(headers or {})})


class Forbidden(ApiError):
    status = 403
    code = "FORBIDDEN"
    default_message = "This key may not do that."


class NotFound(ApiError):
    status = 404
    code = "NOT_FOUND"
    default_message = "There is nothing here."


class MethodNotAllowed(ApiError):
    status = 405
    code = "METHOD_NOT_ALLOWED"
    default_message = "This method is not allowed here."


class Conflict(ApiError):
    status = 409
    code = "CONFLICT"
    default_message = "The request conflicts with what is stored."


class PayloadTooLarge(ApiError):
    status = 413
    code = "PAYLOAD_TOO_LARGE"
    default_message = "The request body is too large."


class UnsupportedMediaType(ApiError):
    status = 415
    code = "UNSUPPORTED_MEDIA_TYPE"
    default_message = "The body must be application/json in UTF-8, without Content-Encoding."


class RateLimited(ApiError):
    status = 429
    code = "RATE_LIMITED"
    default_message = "Too many requests: wait and try again."

    def __init__(self, message: str = "", *, retry_after: int, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message, headers={"Retry-After": str(retry_after), **(headers or {})})


class InternalError(ApiError):
    pass


class ServiceUnavailable(ApiError):
    status = 503
    code = "SERVICE_UNAVAILABLE"
    default_message = "A service this needs cannot be reached: try again in a moment."

    def __init__(self, message: str = "", *, retry_after: int = 1) -> None:
        super().__init__(message, headers={"Retry-After": str(retry_after)})


class RedisDown(ServiceUnavailable):
    default_message = "Redis cannot be reached: try again in a moment."


class PostgresDown(ServiceUnavailable):
    default_message = "Postgres cannot be reached: try again in a moment."


def error_body(exc: ApiError, request_id: str) -> dict[str, Any]:
    error: ErrorMember = {"code": exc.code, "message": exc.message, "request_id": request_id}
    if exc.details:
        error = {"code": exc.code, "message": exc.message, "details": exc.details, "request_id": request_id}
    return {"error": error, **exc.extra}


def error_response(exc: BaseException, request_id: str = "") -> HttpResponse:
    """The one JSON error shape, for whatever was raised; failures of ours are logged here and nowhere else."""
    error = as_api_error(exc)
    if error.status >= 500:
        log_failure(error, exc)
    return HttpResponse(
        msgspec.json.encode(error_body(error, request_id or current_request_id())),
        status=error.status,
        headers=error.headers,
        content_type="application/json",
    )


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """DRF's EXCEPTION_HANDLER."""
    return error_response(exc, getattr(context.get("request"), "request_id", ""))


def log_failure(error: ApiError, exc: BaseException) -> None:
    if not isinstance(error, ServiceUnavailable):
        logger.error("request failed: %s", type(exc).__name__, exc_info=exc)
    elif is_news(reason := error.message if error is exc else named(exc)):
        logger.warning("service unavailable: %s", f"{reason} ({named(exc.__cause__)})" if exc.__cause__ else reason)


def named(exc: BaseException) -> str:
    return f"{type(exc).__name__}: {exc}"[:LONGEST_SAID]


told: dict[str, float] = {}


def is_news(reason: str) -> bool:
    """Each reason once a second: an outage must not drown the log in one line a request."""
    now = time.monotonic()
    if now - told.get(reason, -1.0) < 1.0:
        return False
    if len(told) >= 100:
        told.clear()
    told[reason] = now
    return True


SAME_AS: tuple[tuple[tuple[type[BaseException], ...], type[ApiError]], ...] = (
    ((Http404, drf.NotFound), NotFound),
    ((django_exceptions.PermissionDenied, drf.PermissionDenied), Forbidden),
    ((drf.NotAuthenticated, drf.AuthenticationFailed), Unauthorized),
    ((drf.UnsupportedMediaType,), UnsupportedMediaType),
    ((django_exceptions.RequestDataTooBig,), PayloadTooLarge),
    (REDIS_OUTAGES, RedisDown),
)


def as_api_error(exc: BaseException) -> ApiError:
    """What other libraries raise, said in our words; anything unknown is an InternalError that tells nothing."""
    if isinstance(exc, ApiError):
        return exc
    if isinstance(exc, drf.ValidationError):
        return invalid(list(flatten(exc.detail)))
    if isinstance(exc, drf.ParseError):
        return ValidationFailed("The body is not valid JSON.", details=[{"path": "body", "message": str(exc.detail)}])
    if isinstance(exc, drf.MethodNotAllowed):
        return MethodNotAllowed()
    if isinstance(exc, drf.Throttled):
        return RateLimited(retry_after=math.ceil(getattr(exc, "wait", None) or 1))
    if isinstance(exc, django_exceptions.SuspiciousOperation | django_exceptions.BadRequest):
        return ValidationFailed()
    if is_postgres_outage(exc):
        return PostgresDown()
    return next((ours() for theirs, ours in SAME_AS if isinstance(exc, theirs)), InternalError())


def invalid(details: list[Detail]) -> ValidationFailed:
    first = details[0] if details else None
    return ValidationFailed(f"{first['path']}: {first['message']}" if first else "", details=details)


def flatten(detail: Any, path: str = "") -> Iterator[Detail]:
    """DRF's nested error dicts and lists as paths like `a.b[0]`; what is wrong with all of it is so with `body`."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            yield from flatten(inner, path if name == "non_field_errors" else below(path, name))
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            yield from flatten(inner, f"{path}[{index}]" if isinstance(inner, dict | list) else path)
    else:
        yield {"path": path or "body", "message": str(detail)}


def below(path: str, name: str | int) -> str:
    """Of a list, DRF names only the items that are wrong, by their number."""
    if isinstance(name, int):
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name
