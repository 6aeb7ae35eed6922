"""Reads the Authorization header, the only place that does; whether the key may come in is admission's to say."""

from hmac import compare_digest
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.admission import admit
from accounts.callers import Caller
from snapstate_project.common.errors import Unauthorized

if TYPE_CHECKING:
    from snapstate_project.common.api import HotRequest

SCHEME = "Bearer"


class ApiKeyAuthentication(BaseAuthentication):
    """Of async views: gives them `request.caller` and `request.verdict`."""

    async def authenticate(self, request: "HotRequest") -> tuple[None, Caller]:  # type: ignore[override]
        request.caller, request.verdict = await admit(bearer_token(request))
        return None, request.caller

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 (DRF names it)
        return SCHEME


class OperatorAuthentication(BaseAuthentication):
    """Of the Admin API: whoever knows ADMIN_SECRET."""

    def authenticate(self, request: Request) -> tuple[None, str]:
        # Servers hand headers over as Latin-1.
        if not compare_digest(bearer_token(request).encode("latin-1", "replace"), settings.ADMIN_SECRET.encode()):
            raise Unauthorized("The Admin API needs its secret: Authorization: Bearer <ADMIN_SECRET>.")
        return None, "operator"

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 (DRF names it)
        return SCHEME


def bearer_token(request: HttpRequest | Request) -> str:
    """Empty when there is none: no key is empty."""
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
