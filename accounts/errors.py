"""What the API answers with when this room refuses."""

from snapstate_project.common.errors import ApiError, Conflict, Forbidden, NotFound


class AccountNotFound(NotFound):
    default_message = "No such account."


class KeyNotFound(NotFound):
    default_message = "No such key."


class EmailTaken(Conflict):
    default_message = "Another account has this email address."


class AccountClosed(Conflict):
    default_message = "The account is closed: a closed account gets no keys."


class DeletionScheduled(Conflict):
    default_message = "The account is to be deleted: undo that first."


class DeletionBegun(Conflict):
    default_message = "There is no deletion left to undo: it has begun, or was undone already."


class AccountInactive(Forbidden):
    default_message = "The account is not active."


class ScopeMissing(Forbidden):
    def __init__(self, scope: str) -> None:
        super().__init__(f"This key lacks the scope {scope}.")


class MaxKeysReached(ApiError):
    status = 400
    code = "MAX_KEYS_REACHED"

    def __init__(self, limit: int) -> None:
        super().__init__(f"An account has at most {limit} keys in use: revoke one first.")
