"""`GET /usage`: what the caller's account used this month, for any valid key."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from billing.serializers import UsageSerializer
from billing.usage import usage_of
from snapstate_project.common.api import HotAPIView, HotRequest, json_response, query


class UsageView(HotAPIView):
    @extend_schema(
        operation_id="usage_retrieve",
        summary="Usage and charge of this month",
        description="Any valid key may ask; no scope is needed. Trails the calls it counts by about two seconds.",
        tags=["Billing"],
        responses=UsageSerializer,
    )
    def get(self, request: HotRequest) -> HttpResponse:
        query(request, {})
        return json_response(usage_of(request.caller.account_id))
