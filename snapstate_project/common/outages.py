"""Which errors of other libraries say that a tier is not there, or takes nothing."""

import redis.exceptions
from django.db import InterfaceError, OperationalError

REDIS_OUTAGES = (
    redis.exceptions.ConnectionError,
    redis.exceptions.TimeoutError,
    redis.exceptions.ReadOnlyError,
    redis.exceptions.OutOfMemoryError,
)
POSTGRES_IS_READ_ONLY = "25006"


def is_postgres_outage(error: BaseException) -> bool:
    return isinstance(error, OperationalError | InterfaceError) or is_read_only(error)


def is_read_only(error: BaseException) -> bool:
    """Of whoever writes to a Postgres that was the primary, or is not yet."""
    return getattr(error.__cause__, "sqlstate", None) == POSTGRES_IS_READ_ONLY
