"""What schemathesis is told: the rules of ours that no JSON Schema can say, each by the message it is refused with.

Loaded by `schemathesis run` itself, through its configuration.
"""

import os
import uuid
from typing import Any

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData, Failure
from schemathesis.core.parameters import ParameterLocation
from schemathesis.openapi.checks import EnsureResourceAvailability, RejectedPositiveData

# Positive data that is refused all the same: the field, and how our message about it begins.
BEYOND_SCHEMAS = (
    ("cursor", "is not a cursor of ours"),  # opaque: only one that a page gave is one
    ("start_date", "must be at most "),  # these three: two dates beside each other
    ("start_date", "must not be after "),
    ("end_date", "must not be "),
    ("expires_at", "must be in the future"),
    ("If-None-Match", "cannot be given together with If-Match"),
    ("url", ""),  # public addresses only
    # 7.0 is a whole number to JSON Schema, and none to us: strict types.
    *((name, "Expected `int`, got `float`") for name in ("step", "ttl_seconds")),
    ("keep_last", "Expected `int | null`, got `float`"),
    *((name, "must be a whole number") for name in ("rate_limit_max", "keep_last", "archive_days")),
)
MADE_UP = "x-schemathesis-unknown"
OURS = os.environ.get("SNAPSTATE_ACCOUNT", "")
nobody: set[str] = set()
"""Accounts that there are not, which took the place of ours."""


@schemathesis.hook
def filter_failure(_context: Any, failure: Failure, case: Any, response: Any) -> bool:
    if isinstance(failure, RejectedPositiveData) and response.status_code == 400:
        return not is_beyond_schemas(response.json()["error"].get("details", []))
    if isinstance(failure, EnsureResourceAvailability):
        return case.path_parameters.get("account_id") not in nobody
    return not (isinstance(failure, AcceptedNegativeData) and is_wrong_only_in_a_header_of_no_meaning(case))


def is_beyond_schemas(details: list[dict[str, str]]) -> bool:
    return any(
        detail["path"] == path and detail["message"].startswith(begins)
        for detail in details
        for path, begins in BEYOND_SCHEMAS
    )


def is_wrong_only_in_a_header_of_no_meaning(case: Any) -> bool:
    """Proxies and browsers add headers of their own: HTTP wants that those nobody knows are passed over."""
    negative = [place for place in ParameterLocation if case.meta.is_negative_at(place)]
    return negative == [ParameterLocation.HEADER] and any(name.startswith(MADE_UP) for name in case.headers)


@schemathesis.hook
def before_call(_context: Any, case: Any, _kwargs: Any) -> None:
    """Operations that it finds may suspend accounts and revoke keys: never its own."""
    if case.method.upper() not in ("GET", "HEAD") and case.path_parameters.get("account_id") == OURS:
        case.path_parameters["account_id"] = str(uuid.uuid4())
        nobody.add(case.path_parameters["account_id"])
