"""What the API of this room answers with when it refuses, and why an attempt may never leave the house."""

from snapstate_project.common.errors import Conflict, NotFound


class EndpointNotFound(NotFound):
    default_message = "No such webhook."


class DeliveryNotFound(NotFound):
    default_message = "No such delivery."


class EndpointDisabled(Conflict):
    default_message = "This webhook is disabled: enable it first."


class TooManyEndpoints(Conflict):
    def __init__(self, limit: int) -> None:
        super().__init__(f"An account has at most {limit} webhooks: delete one first.")


class AddressRefused(Exception):
    """Not a place that deliveries may go to; the message says why, and is shown to the endpoint's owner."""
