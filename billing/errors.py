"""What the API answers with when this room refuses."""

from snapstate_project.common.errors import Conflict, NotFound, ServiceUnavailable, ValidationFailed


class WebhookRefused(ValidationFailed):
    default_message = "This is not an event that Stripe has signed for us lately."


class WebhookOff(NotFound):
    default_message = "No events of Stripe are expected here: STRIPE_WEBHOOK_SECRET is not set."


class StripeAway(ServiceUnavailable):
    default_message = "Stripe cannot be asked at the moment: send the event again."


class ReportSettled(Conflict):
    default_message = "This report is not in a state that leaves that to you: somebody has settled it."
