"""The Admin API of accounts and keys: what operators' programs call, with ADMIN_SECRET."""

import re
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from accounts import services
from accounts.authentication import OperatorAuthentication
from accounts.errors import AccountNotFound, KeyNotFound
from accounts.models import Account, ApiKey
from accounts.schema import CLOSED, CURSOR_PARAMETERS, EMAIL_TAKEN, LAST_PAGE, LEAVING, PAGE_PARAMETERS, TOO_MANY
from accounts.serializers import (
    SHOWN_ONCE,
    AccountChangesSerializer,
    AccountDetailSerializer,
    AccountPageSerializer,
    AccountRegistrationSerializer,
    AccountSerializer,
    FreshKeySerializer,
    IssuedKeySerializer,
    KeyListSerializer,
    KeyRequestSerializer,
    KeySerializer,
)
from snapstate_project.common.api import check_body, json_response
from snapstate_project.common.errors import NotFound, ValidationFailed
from snapstate_project.common.openapi import links
from snapstate_project.common.pagination import CURSOR, DEFAULT_LIMIT, LIMIT, decode_cursor, encode_cursor
from snapstate_project.common.query import Parser, integer, query

PAGE = integer(1, LAST_PAGE)
UUID_SHAPE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
READS_NO_BODY = ("GET", "HEAD", "DELETE", "OPTIONS")


# Plain DRF on Django's own handler; any room's Admin API stands on it. (A docstring would be in the OpenAPI document.)
@extend_schema(tags=["Operators"])
class OperatorView(APIView):
    authentication_classes = [OperatorAuthentication]
    permission_classes = []
    throttle_classes = []
    parser_classes = [JSONParser]
    query_parameters: dict[str, Parser] = {}

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:  # noqa: ARG002 (DRF names it)
        return super().perform_content_negotiation(request, force=True)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not hasattr(self, (request.method or "").lower()):
            self.http_method_not_allowed(request)
        django_request: Any = request._request
        self.parameters = query(django_request, self.query_parameters if request.method in ("GET", "HEAD") else {})
        if request.method not in READS_NO_BODY:
            check_body(django_request)


class AccountsView(OperatorView):
    query_parameters = {"page": PAGE, "limit": LIMIT}

    @extend_schema(
        operation_id="listAccounts",
        summary="List accounts, newest first",
        parameters=PAGE_PARAMETERS,
        responses=AccountPageSerializer,
    )
    def get(self, request: Request) -> HttpResponse:  # noqa: ARG002 (the query is parsed already)
        limit = self.parameters.get("limit", DEFAULT_LIMIT)
        first = (self.parameters.get("page", 1) - 1) * limit
        page = Account.objects.all()[first : first + limit]
        accounts = AccountSerializer(page, many=True).data
        return json_response({"accounts": accounts, "total": Account.objects.count()})

    @extend_schema(
        operation_id="createAccount",
        summary="Create an account",
        request=AccountRegistrationSerializer,
        responses={201: AccountSerializer, 409: EMAIL_TAKEN},
        extensions=links("201", ("getAccount changeAccount issueKey listKeys", {"account_id": "id"})),
    )
    def post(self, request: Request) -> HttpResponse:
        account = services.create_account(**read(AccountRegistrationSerializer, request))
        return json_response(AccountSerializer(account).data, 201)


class AccountView(OperatorView):
    @extend_schema(
        operation_id="getAccount",
        summary="Get an account with its usage of this month",
        responses=AccountDetailSerializer,
    )
    def get(self, request: Request, account_id: str) -> HttpResponse:  # noqa: ARG002
        return json_response(detail(account_or_404(account_id)))

    @extend_schema(
        operation_id="changeAccount",
        summary="Change plan, status or rate limit",
        request=AccountChangesSerializer,
        responses={200: AccountDetailSerializer, 409: LEAVING},
    )
    def patch(self, request: Request, account_id: str) -> HttpResponse:
        account = account_or_404(account_id)
        return json_response(detail(services.update_account(account, **read(AccountChangesSerializer, request))))


class KeysView(OperatorView):
    query_parameters = {"limit": LIMIT, "cursor": CURSOR}

    @extend_schema(
        operation_id="listKeys",
        summary="List an account's keys, newest first",
        parameters=CURSOR_PARAMETERS,
        responses=KeyListSerializer,
    )
    def get(self, request: Request, account_id: str) -> HttpResponse:  # noqa: ARG002
        asked = self.parameters
        after = decode_cursor(asked["cursor"], services.Position) if "cursor" in asked else None
        keys, following = services.list_keys(
            account_or_404(account_id), limit=asked.get("limit", DEFAULT_LIMIT), after=after
        )
        cursor = encode_cursor(following) if following else None
        shown = KeySerializer(keys, many=True).data
        return json_response({"keys": shown, "has_more": following is not None, "next_cursor": cursor})

    @extend_schema(
        operation_id="issueKey",
        summary="Issue a key; its secret is shown only here",
        request=KeyRequestSerializer,
        responses={201: IssuedKeySerializer, 400: TOO_MANY, 409: CLOSED},
        extensions=links("201", ("revokeKey", {"account_id": "account_id", "key_id": "id"})),
    )
    def post(self, request: Request, account_id: str) -> HttpResponse:
        account = account_or_404(account_id)
        key, secret = services.issue_key(account, **read(KeyRequestSerializer, request))
        return json_response({**FreshKeySerializer(key).data, "api_key": secret, "note": SHOWN_ONCE}, 201)


class KeyView(OperatorView):
    @extend_schema(operation_id="revokeKey", summary="Revoke a key, at once and for good", responses={204: None})
    def delete(self, request: Request, account_id: str, key_id: str) -> HttpResponse:  # noqa: ARG002
        services.revoke_key(key_or_404(account_or_404(account_id), key_id))
        return HttpResponse(status=204)


def account_or_404(account_id: str) -> Account:
    account = Account.objects.filter(pk=uuid_or(AccountNotFound, account_id)).first()
    if account is None:
        raise AccountNotFound
    return account


def key_or_404(account: Account, key_id: str) -> ApiKey:
    key = account.keys.filter(pk=uuid_or(KeyNotFound, key_id)).first()
    if key is None:
        raise KeyNotFound
    return key


def uuid_or(error: type[NotFound], text: str) -> UUID:
    if not UUID_SHAPE.fullmatch(text):
        raise error
    return UUID(text)


def detail(account: Account) -> Any:
    services.note_usage([account])
    return AccountDetailSerializer(account).data


def read(serializer_class: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """The body's fields, checked; no body at all is an empty object. Raises ValidationFailed."""
    serializer = serializer_class(data=parsed(request.body) if request.body else {})
    serializer.is_valid(raise_exception=True)
    fields: dict[str, Any] = serializer.validated_data
    return fields


def parsed(body: bytes) -> Any:
    """Stricter than DRF's parser, and never out of depth."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ValidationFailed.at("body", f"is not JSON that can be read: {error}") from None
