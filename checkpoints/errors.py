"""What the API of this room answers with when it refuses."""

from typing import Any

from snapstate_project.common.errors import Conflict, NotFound, ValidationFailed


class CheckpointNotFound(NotFound):
    def __init__(self) -> None:
        super().__init__("No such checkpoint.")


class WorkflowNotFound(NotFound):
    def __init__(self) -> None:
        super().__init__("No such workflow, or nothing saved in it.")


class SaveConflict(Conflict):
    """A guard or a step that does not fit what is stored; `existing` names what is there, or null."""

    def __init__(self, message: str, existing: dict[str, Any] | None) -> None:
        super().__init__(message, extra={"existing": existing})


def invalid(path: str, message: str) -> ValidationFailed:
    return ValidationFailed.at(path, message)


class NotMoved(Conflict):
    """Between the tiers, as an operator wanted; the message says why."""
