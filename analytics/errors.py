"""What the API of this room answers with when it refuses."""

from snapstate_project.common.errors import NotFound


class WorkflowUnknown(NotFound):
    default_message = "No such workflow, or nothing of it has been counted yet."
