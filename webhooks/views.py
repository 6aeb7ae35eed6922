"""The routes of webhooks; all of them are rows in Postgres, and none waits for a receiver."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from snapstate_project.common.api import HotAPIView, HotRequest, json_response, query
from snapstate_project.common.pagination import CURSOR, DEFAULT_LIMIT, LIMIT, decode_cursor, encode_cursor
from webhooks import parsing, schema, services
from webhooks.models import Delivery, Endpoint
from webhooks.serializers import DeliveryList, WebhookList, delivery_shown, webhook, webhook_with_secret


class WebhookAPIView(HotAPIView):
    required_scopes = "webhooks:manage"


class WebhooksView(WebhookAPIView):
    @extend_schema(**schema.REGISTER)
    def post(self, request: HotRequest) -> HttpResponse:
        """Register a webhook; its secret is shown only here."""
        new = parsing.new_webhook(request.body)
        endpoint = services.register_endpoint(
            request.caller.account_id,
            url=new.url,
            events=new.events,
            secret=new.secret or "",
            description=new.description or "",
        )
        return json_response(webhook_with_secret(endpoint), 201)

    @extend_schema(**schema.LIST)
    def get(self, request: HotRequest) -> HttpResponse:
        """List webhooks, newest first."""
        rows, following = page_of(Endpoint.objects.of(request.caller.account_id), request)
        return json_response(WebhookList([webhook(row) for row in rows], following is not None, following))


class WebhookView(WebhookAPIView):
    @extend_schema(**schema.GET)
    def get(self, request: HotRequest, webhook_id: str) -> HttpResponse:
        """Get a webhook."""
        query(request, {})
        return json_response(webhook(services.endpoint_of(request.caller.account_id, webhook_id)))

    @extend_schema(**schema.CHANGE)
    def patch(self, request: HotRequest, webhook_id: str) -> HttpResponse:
        """Change a webhook."""
        changes = parsing.changes(request.body)
        return json_response(webhook(services.change_endpoint(request.caller.account_id, webhook_id, **changes)))

    @extend_schema(**schema.DELETE)
    def delete(self, request: HotRequest, webhook_id: str) -> HttpResponse:
        """Delete a webhook and its deliveries."""
        services.delete_endpoint(request.caller.account_id, webhook_id)
        return HttpResponse(status=204)


class SecretView(WebhookAPIView):
    @extend_schema(**schema.ROTATE)
    def post(self, request: HotRequest, webhook_id: str) -> HttpResponse:
        """Replace a webhook's secret."""
        new = parsing.new_secret(request.body or b"{}")
        endpoint = services.rotate_secret(request.caller.account_id, webhook_id, new.secret or "")
        return json_response(webhook_with_secret(endpoint))


class TestView(WebhookAPIView):
    @extend_schema(**schema.TEST)
    def post(self, request: HotRequest, webhook_id: str) -> HttpResponse:
        """Send a test event."""
        parsing.no_fields(request.body or b"{}")
        return json_response(delivery_shown(services.send_test(request.caller.account_id, webhook_id)), 202)


class DeliveriesView(WebhookAPIView):
    @extend_schema(**schema.DELIVERIES)
    def get(self, request: HotRequest, webhook_id: str) -> HttpResponse:
        """List a webhook's deliveries, newest first."""
        endpoint = services.endpoint_of(request.caller.account_id, webhook_id)
        rows, following = page_of(Delivery.objects.filter(endpoint=endpoint).defer("body"), request)
        return json_response(DeliveryList([delivery_shown(row) for row in rows], following is not None, following))


class ResendView(WebhookAPIView):
    @extend_schema(**schema.RESEND)
    def post(self, request: HotRequest, webhook_id: str, delivery_id: str) -> HttpResponse:
        """Send a delivery again."""
        parsing.no_fields(request.body or b"{}")
        delivery = services.resend(request.caller.account_id, webhook_id, delivery_id)
        return json_response(delivery_shown(delivery), 202)


def page_of(rows: "QuerySet[Any]", request: HotRequest) -> tuple[list[Any], str | None]:
    """The newest first; and the cursor of the next page, None at the end."""
    asked = query(request, {"limit": LIMIT, "cursor": CURSOR})
    limit = asked.get("limit", DEFAULT_LIMIT)
    if "cursor" in asked:
        rows = rows.filter(id__lt=decode_cursor(asked["cursor"], tuple[int])[0])
    found = list(rows.order_by("-id")[: limit + 1])
    page = found[:limit]
    return page, encode_cursor((page[-1].pk,)) if len(found) > limit else None
