"""What OpenAPI says of this room's operations."""

from typing import Any, Literal

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from snapstate_project.common.pagination import DEFAULT_LIMIT
from webhooks import serializers

PATH: Literal["path"] = "path"
TAGS = ["Webhooks"]
WEBHOOK = OpenApiParameter("webhook_id", str, PATH, description="`wh_…`")
DELIVERY = OpenApiParameter("delivery_id", str, PATH, description="`dlv_…`")
PAGE = [
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": 200, "default": DEFAULT_LIMIT},
        description="Most per page.",
    ),
    OpenApiParameter("cursor", str, description="`next_cursor` of the page before."),
]
DISABLED = OpenApiResponse(description="The webhook is disabled (`CONFLICT`).")
QUEUED = OpenApiResponse(serializers.DeliveryShown, description="Under way; its attempts show in the list.")

REGISTER: dict[str, Any] = {
    "operation_id": "register_webhook",
    "tags": TAGS,
    "description": "Signed by Standard Webhooks. `https` and public addresses only; redirects are not followed.",
    "request": serializers.NewWebhook,
    "responses": {
        201: OpenApiResponse(serializers.WebhookWithSecret, description="Registered."),
        409: OpenApiResponse(description="The account has as many webhooks as it may have (`CONFLICT`)."),
    },
}
LIST: dict[str, Any] = {
    "operation_id": "list_webhooks",
    "tags": TAGS,
    "parameters": PAGE,
    "responses": serializers.Webhooks,
}
GET: dict[str, Any] = {
    "operation_id": "get_webhook",
    "tags": TAGS,
    "parameters": [WEBHOOK],
    "responses": serializers.Webhook,
}
CHANGE: dict[str, Any] = {
    "operation_id": "change_webhook",
    "tags": TAGS,
    "description": "What is left out stays. A disabled webhook is sent nothing, and what falls due is given up.",
    "parameters": [WEBHOOK],
    "request": serializers.WebhookChanges,
    "responses": serializers.Webhook,
}
DELETE: dict[str, Any] = {
    "operation_id": "delete_webhook",
    "tags": TAGS,
    "parameters": [WEBHOOK],
    "responses": {204: OpenApiResponse(description="Deleted: nothing is sent any more.")},
}
ROTATE: dict[str, Any] = {
    "operation_id": "rotate_webhook_secret",
    "tags": TAGS,
    "description": "The secret it had also signs for 24 hours. A new one is made when none is sent.",
    "parameters": [WEBHOOK],
    "request": serializers.NewSecret,
    "responses": serializers.WebhookWithSecret,
}
TEST: dict[str, Any] = {
    "operation_id": "test_webhook",
    "tags": TAGS,
    "description": "An event `webhook.test`, whatever events the webhook hears of.",
    "parameters": [WEBHOOK],
    "request": None,
    "responses": {202: QUEUED, 409: DISABLED},
}
DELIVERIES: dict[str, Any] = {
    "operation_id": "list_webhook_deliveries",
    "tags": TAGS,
    "description": "Of the last 30 days.",
    "parameters": [WEBHOOK, *PAGE],
    "responses": serializers.Deliveries,
}
RESEND: dict[str, Any] = {
    "operation_id": "resend_webhook_delivery",
    "tags": TAGS,
    "description": "The same message under the same `webhook-id`, with a timestamp and signature of now.",
    "parameters": [WEBHOOK, DELIVERY],
    "request": None,
    "responses": {202: QUEUED, 409: DISABLED},
}
