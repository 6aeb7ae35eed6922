"""What the OpenAPI document says of the Admin API beyond its bodies."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from snapstate_project.common.openapi import PATTERN
from snapstate_project.common.pagination import CURSOR_SCHEMA, LIMIT_SCHEMA

LAST_PAGE = 1_000_000
PAGE_PARAMETERS = [
    OpenApiParameter("page", {"type": "integer", "minimum": 1, "maximum": LAST_PAGE, "default": 1}),
    OpenApiParameter("limit", LIMIT_SCHEMA),
]
CURSOR_PARAMETERS = [
    OpenApiParameter("limit", LIMIT_SCHEMA, description="Most per page."),
    OpenApiParameter("cursor", CURSOR_SCHEMA, description="`next_cursor` of the page before."),
]

EMAIL_TAKEN = OpenApiResponse(description="Another account has this email address (`CONFLICT`).")
LEAVING = OpenApiResponse(description="The account is to be deleted, and its status stays (`CONFLICT`).")
CLOSED = OpenApiResponse(description="The account is closed: it gets no keys (`CONFLICT`).")
TOO_MANY = OpenApiResponse(
    description="The request is not valid (`VALIDATION_ERROR`), or the account has as many keys in use as it may have"
    " (`MAX_KEYS_REACHED`)."
)


class TextSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Postgres keeps no NUL, and such text is refused."""

    target_class = "accounts.serializers.Text"

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        schema: dict[str, Any] = auto_schema._map_serializer_field(self.target, direction, bypass_extensions=True)
        return {**schema, PATTERN: "^[^\\u0000]*$"}
