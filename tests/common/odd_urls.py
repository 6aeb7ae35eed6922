"""Views that do what ours must not, and some of what they may, to see what the floor makes of it."""
# ruff: noqa: ARG002 (views and permissions are given more than these look at)

from typing import Any

import msgspec
from django.contrib.auth import get_user_model
from django.db import OperationalError
from django.http import HttpResponse
from django.urls import path
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from snapstate_project.common.api import HotAPIView, HotRequest, json_response
from snapstate_project.common.errors import Conflict
from snapstate_project.common.request_id import current_request_id


class Verdict:
    limit, remaining, reset_seconds = 100, 99, 60


class Knock(BaseAuthentication):
    async def authenticate(self, request: Any) -> tuple[None, str]:  # type: ignore[override]
        request.verdict = Verdict()
        return None, "caller"


class NotOnSundays(BasePermission):
    message = "Not on Sundays."

    def has_permission(self, request: Any, view: Any) -> bool:
        return "HTTP_SUNDAY" not in request.META


class Slow(BaseThrottle):
    def allow_request(self, request: Any, view: Any) -> bool:
        return "HTTP_FAST" not in request.META

    def wait(self) -> float:
        return 1.2


class Odd(HotAPIView):
    authentication_classes = [Knock]
    permission_classes = [NotOnSundays]
    throttle_classes = [Slow]


class Echo(Odd):
    async def post(self, request: HotRequest, name: str) -> HttpResponse:
        return json_response({"name": name, "raw": msgspec.Raw(request.body)}, 201, {"ETag": '"e"'})

    def get(self, request: HotRequest, name: str) -> Response:
        """A plain method: it runs in a thread, may use the ORM, and may answer with a DRF Response."""
        users = get_user_model().objects.filter(username=name).count()
        return Response({"name": name, "users": users, "id": current_request_id()}, headers={"X-Odd": "yes"})

    async def delete(self, request: HotRequest, name: str) -> Response:
        return Response(status=204)


class Broken(Odd):
    async def get(self, request: HotRequest) -> HttpResponse:
        raise ZeroDivisionError("snp_0123456789abcdef0123456789abcdef is secret")

    def post(self, request: HotRequest) -> HttpResponse:
        raise OperationalError("the database is gone")

    async def put(self, request: HotRequest) -> HttpResponse:
        raise Conflict(extra={"existing": None})

    async def patch(self, request: HotRequest) -> HttpResponse:
        return json_response({}, headers={"X-Bad": msgspec.json.decode(request.body)})


urlpatterns = [path("workflows/<str:name>", Echo.as_view()), path("checkpoints", Broken.as_view())]
