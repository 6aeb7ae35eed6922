"""What OpenAPI says of this room's operations."""

from typing import Any, Literal

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from snapstate_project.common.openapi import links
from snapstate_project.common.pagination import CURSOR_SCHEMA, LIMIT_SCHEMA
from webhooks import serializers

PATH: Literal["path"] = "path"
TAGS = ["Webhooks"]
WEBHOOK = OpenApiParameter("webhook_id", str, PATH, description="`wh_…`")
DELIVERY = OpenApiParameter("delivery_id", str, PATH, description="`dlv_…`")
PAGE = [
    OpenApiParameter("limit", LIMIT_SCHEMA, description="Most per page."),
    OpenApiParameter("cursor", CURSOR_SCHEMA, description="`next_cursor` of the page before."),
]
OF_WEBHOOK = "getWebhook changeWebhook deleteWebhook rotateWebhookSecret testWebhook listWebhookDeliveries"
DISABLED = OpenApiResponse(description="The webhook is disabled (`CONFLICT`).")
QUEUED = OpenApiResponse(serializers.WebhookDelivery, description="Under way; its attempts show in the list.")

REGISTER: dict[str, Any] = {
    "operation_id": "registerWebhook",
    "tags": TAGS,
    "description": "Signed by Standard Webhooks. `https` and public addresses only; redirects are not followed.",
    "request": serializers.WebhookRegistration,
    "responses": {
        201: OpenApiResponse(serializers.WebhookWithSecret, description="Registered."),
        409: OpenApiResponse(description="The account has as many webhooks as it may have (`CONFLICT`)."),
    },
    "extensions": links("201", (OF_WEBHOOK, {"webhook_id": "webhook_id"})),
}
LIST: dict[str, Any] = {
    "operation_id": "listWebhooks",
    "tags": TAGS,
    "parameters": PAGE,
    "responses": serializers.WebhookList,
}
GET: dict[str, Any] = {
    "operation_id": "getWebhook",
    "tags": TAGS,
    "parameters": [WEBHOOK],
    "responses": serializers.Webhook,
}
CHANGE: dict[str, Any] = {
    "operation_id": "changeWebhook",
    "tags": TAGS,
    "description": "What is left out stays. A disabled webhook is sent nothing, and what falls due is given up.",
    "parameters": [WEBHOOK],
    "request": serializers.WebhookChanges,
    "responses": serializers.Webhook,
}
DELETE: dict[str, Any] = {
    "operation_id": "deleteWebhook",
    "tags": TAGS,
    "parameters": [WEBHOOK],
    "responses": {204: OpenApiResponse(description="Deleted: nothing is sent any more.")},
}
ROTATE: dict[str, Any] = {
    "operation_id": "rotateWebhookSecret",
    "tags": TAGS,
    "description": "The secret it had also signs for 24 hours. A new one is made when none is sent.",
    "parameters": [WEBHOOK],
    "request": serializers.SecretRequest,
    "responses": serializers.WebhookWithSecret,
}
TEST: dict[str, Any] = {
    "operation_id": "testWebhook",
    "tags": TAGS,
    "description": "An event `webhook.test`, whatever events the webhook hears of.",
    "parameters": [WEBHOOK],
    "request": None,
    "responses": {202: QUEUED, 409: DISABLED},
    "extensions": links(
        "202", ("resendWebhookDelivery", {"webhook_id": "$request.path.webhook_id", "delivery_id": "delivery_id"})
    ),
}
DELIVERIES: dict[str, Any] = {
    "operation_id": "listWebhookDeliveries",
    "tags": TAGS,
    "description": "Of the last 30 days.",
    "parameters": [WEBHOOK, *PAGE],
    "responses": serializers.DeliveryList,
}
RESEND: dict[str, Any] = {
    "operation_id": "resendWebhookDelivery",
    "tags": TAGS,
    "description": "The same message under the same `webhook-id`, with a timestamp and signature of now.",
    "parameters": [WEBHOOK, DELIVERY],
    "request": None,
    "responses": {202: QUEUED, 409: DISABLED},
}
