"""`GET /usage`: what the caller's account used this month, for any valid key. And what Stripe has to tell."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from billing import stripe_webhook
from billing.errors import WebhookOff, WebhookRefused
from billing.serializers import StripeEventReceivedSerializer, StripeEventSerializer, UsageReportSerializer
from billing.usage import usage_of
from snapstate_project.common.api import HotAPIView, HotRequest, check_body, json_response, query

NOT_LISTENING = OpenApiResponse(
    {"$ref": "#/components/schemas/ErrorResponse"}, "`STRIPE_WEBHOOK_SECRET` is not set (`NOT_FOUND`)."
)
SIGNATURE = OpenApiParameter("Stripe-Signature", str, OpenApiParameter.HEADER, required=True)


class UsageView(HotAPIView):
    @extend_schema(
        operation_id="getUsage",
        summary="Usage and charge of this month",
        description="Any valid key may ask; no scope is needed. Trails the calls it counts by about two seconds.",
        tags=["Billing"],
        responses=UsageReportSerializer,
    )
    def get(self, request: HotRequest) -> HttpResponse:
        query(request, {})
        return json_response(usage_of(request.caller.account_id))


# Plain DRF on Django's own handler: it calls Redis and Postgres as the operators' pages do.
class StripeWebhookView(APIView):
    authentication_classes = []
    permission_classes = []
    throttle_classes = []

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:  # noqa: ARG002 (DRF names it)
        return super().perform_content_negotiation(request, force=True)

    @extend_schema(
        operation_id="receiveStripeEvent",
        summary="Take an event of Stripe's",
        description="Verified over the raw body; an event that was taken before changes nothing.",
        tags=["Billing"],
        parameters=[SIGNATURE],
        request=StripeEventSerializer,
        responses={200: StripeEventReceivedSerializer, 404: NOT_LISTENING},
    )
    def post(self, request: Request) -> HttpResponse:
        raw: HttpRequest = request._request
        if "Stripe-Signature" not in raw.headers:
            raise WebhookRefused
        if not settings.STRIPE_WEBHOOK_SECRET:
            raise WebhookOff
        check_body(raw)  # type: ignore[arg-type]
        query(raw, {})
        stripe_webhook.take(raw.body, raw.headers.get("Stripe-Signature", ""))
        return json_response({"received": True})
