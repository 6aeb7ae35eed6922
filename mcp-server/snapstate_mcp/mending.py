"""What went wrong with a call, in words with which a model can mend it."""

from typing import Any

from snapstate_sdk.errors import (
    AuthError,
    ConflictError,
    ConnectionFailedError,
    ForbiddenError,
    NotFoundError,
    PayloadTooLargeError,
    RateLimitError,
    ServiceUnavailableError,
    SnapStateError,
    ValidationError,
)

from snapstate_mcp.caller import URL_VARIABLE, Caller

MOST_DETAILS = 10
LIMITS = "A state may have 1,048,576 bytes as JSON, metadata 65,536."


async def told(error: SnapStateError, caller: Caller, given: dict[str, Any]) -> str:
    """`given`: the arguments of the tool."""
    match error:
        case ConflictError():
            return await told_conflict(error, caller, given)
        case ConnectionFailedError():
            return told_unreachable(error, caller)
        case ValidationError():
            return told_invalid(error)
        case RateLimitError():
            return f"Too many calls (429): call again in {error.retry_after or 1} seconds. Nothing was done."
        case ServiceUnavailableError():
            why = f"SnapState cannot do this right now ({error.status_code}): {said(error)}"
            return f"{why} Call again in {error.retry_after or 5} seconds."
        case AuthError():
            return f"SnapState at {caller.api_url} does not accept the API key (401). {caller.key_goes}"
    return told_refused(error, given)


def told_refused(error: SnapStateError, given: dict[str, Any]) -> str:
    match error:
        case ForbiddenError():
            return f"This API key may not do that (403): {said(error)} Use a key with the scope, of an active account."
        case NotFoundError():
            return f"There is no such thing in this account (404): {said(error)} Look for the id with list_workflows."
        case PayloadTooLargeError():
            return f"Too large (413): {said(error)}{size_of(given)} {LIMITS} Nothing was saved: shorten it, save again."
    return f"SnapState answered {error.status_code}: {error} (request {error.request_id})"


def said(error: SnapStateError) -> str:
    return f"{error}".rstrip(".") + "."


def size_of(given: dict[str, Any]) -> str:
    sizes = {name: value.size() for name, value in given.items() if hasattr(value, "size")}
    return "".join(f" The {name} has {size:,} bytes." for name, size in sizes.items())


async def told_conflict(error: ConflictError, caller: Caller, given: dict[str, Any]) -> str:
    """Says what is at that step, and where the head is, which may be elsewhere."""
    existing = error.existing or {}
    there = f" It is {existing['checkpoint_id']} with the etag {existing['etag']}." if existing else ""
    return (
        f"Nothing was saved (409): step {given.get('step')} holds other contents already.{there}"
        f"{await told_head(caller, str(given.get('workflow_id')))} Checkpoints are never overwritten. If that "
        "checkpoint is yours or nobody else works on this, save under the next step. If another agent may have saved "
        "it, call resume_workflow first and go on from its state."
    )


async def told_head(caller: Caller, workflow_id: str) -> str:
    try:
        head = await caller.client.async_get_workflow(workflow_id)
    except SnapStateError:
        return ""
    return f" The newest step is {head.latest_step} (etag {head.etag}), so the next one is {head.latest_step + 1}."


def told_invalid(error: ValidationError) -> str:
    """The API's own words, place by place."""
    places = [f"- {place_of(detail)}: {detail.get('message')}" for detail in error.details[:MOST_DETAILS]]
    if not places:
        return f"SnapState refused this (400): {error}"
    return "\n".join(["SnapState refused these arguments; nothing was saved. Mend them and call again:", *places])


def place_of(detail: dict[str, str]) -> str:
    """By the name of the tool's argument."""
    return detail.get("path", "").removesuffix("_json")


def told_unreachable(error: ConnectionFailedError, caller: Caller) -> str:
    cause = type(error.__cause__).__name__ if error.__cause__ else "no answer"
    done = "It may have been done; calling again is safe." if error.in_doubt else "Nothing was done."
    return (
        f"SnapState at {caller.api_url} cannot be reached ({cause}). {done} Call again in a while; "
        f"if it stays so, somebody has to start it, or to set {URL_VARIABLE} to where it is."
    )
