"""Webhooks: who hears of what. Plain dicts, typed in `reports`; messages are verified in `webhooks`."""

from collections.abc import Sequence
from typing import Any, Literal

from snapstate_sdk.call import Call, Pages, nothing, plain
from snapstate_sdk.outgoing import body, query, segment
from snapstate_sdk.reports import Delivery, DeliveryPage, Webhook, WebhookPage


def path_of(webhook_id: str, below: str = "") -> str:
    return f"/webhooks/{segment(webhook_id, 'webhook_id')}{below}"


def register_webhook(
    url: str, events: Sequence[str], secret: str | None = None, *, description: str | None = None
) -> Call[Webhook]:
    """Have events sent to `url`. The answer holds the secret, which is never shown again.

    `events`: one or more of checkpoint.saved, workflow.resumed, workflow.completed, workflow.failed, workflow.expired,
    workflow.archived, quota.exceeded. `secret`: made by the server when it is left out.

    Not sent again when its answer is lost: ConnectionFailedError with `in_doubt`; look at `list_webhooks()` then.
    """
    given = body(url=url, events=events, secret=secret, description=description)
    return Call("POST", "/webhooks", plain, given, repeatable=False)


def webhooks(*, page_size: int | None = None) -> Pages[Webhook]:
    """All webhooks, page after page as they are read. `page_size`: 1 to 200."""

    def page(cursor: str | None) -> Call[tuple[list[Webhook], str | None]]:
        asked: Call[WebhookPage] = Call("GET", "/webhooks" + query(limit=page_size, cursor=cursor), plain)
        return asked.then(lambda found: (found["webhooks"], found["next_cursor"]))

    return Pages(page)


def list_webhooks() -> Pages[Webhook]:
    """All webhooks as a list."""
    return webhooks(page_size=200)


def get_webhook(webhook_id: str) -> Call[Webhook]:
    """One webhook. Raises NotFoundError."""
    return Call("GET", path_of(webhook_id), plain)


def update_webhook(
    webhook_id: str,
    *,
    url: str | None = None,
    events: Sequence[str] | None = None,
    description: str | None = None,
    status: Literal["active", "disabled"] | None = None,
) -> Call[Webhook]:
    """Change what is given. `status="active"` puts a disabled webhook to work again. Raises NotFoundError."""
    given = body(url=url, events=events, description=description, status=status)
    return Call("PATCH", path_of(webhook_id), plain, given)


def delete_webhook(webhook_id: str) -> Call[None]:
    """Nothing more is sent to it. Raises NotFoundError."""
    return Call("DELETE", path_of(webhook_id), nothing, gone_is_done=True)


def rotate_webhook_secret(webhook_id: str, secret: str | None = None) -> Call[Webhook]:
    """A new secret, in the answer and never shown again; for 24 hours the old one signs as well.

    Not sent again when its answer is lost: ConnectionFailedError with `in_doubt`.
    """
    return Call("POST", path_of(webhook_id, "/rotate-secret"), plain, body(secret=secret), repeatable=False)


def test_webhook(webhook_id: str) -> Call[dict[str, Any]]:
    """Send it a `webhook.test`. Raises ConflictError when it is disabled."""
    return Call("POST", path_of(webhook_id, "/test"), plain, b"{}", repeatable=False)


def deliveries(webhook_id: str, *, page_size: int | None = None) -> Pages[Delivery]:
    """What was sent to it and with what success, newest first, page after page as it is read. `page_size`: 1 to 200."""
    path = path_of(webhook_id, "/deliveries")

    def page(cursor: str | None) -> Call[tuple[list[Delivery], str | None]]:
        asked: Call[DeliveryPage] = Call("GET", path + query(limit=page_size, cursor=cursor), plain)
        return asked.then(lambda found: (found["deliveries"], found["next_cursor"]))

    return Pages(page)


def resend_delivery(webhook_id: str, delivery_id: str) -> Call[dict[str, Any]]:
    """Send a message again, under the same id. Raises ConflictError when the webhook is disabled."""
    path = path_of(webhook_id, f"/deliveries/{segment(delivery_id, 'delivery_id')}/resend")
    return Call("POST", path, plain, b"{}", repeatable=False)
