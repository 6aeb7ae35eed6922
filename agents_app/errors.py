"""What the API of this room answers with when it refuses."""

from snapstate_project.common.errors import ApiError, NotFound


class AgentNotFound(NotFound):
    code = "AGENT_NOT_FOUND"
    default_message = "No such agent."


class MaxAgentsReached(ApiError):
    status = 400
    code = "MAX_AGENTS_REACHED"

    def __init__(self, limit: int) -> None:
        super().__init__(f"An account has at most {limit} agents: delete one first.")
