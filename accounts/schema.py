"""What the OpenAPI document says of the Admin API beyond its bodies."""

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from snapstate_project.common.pagination import LIMIT_SCHEMA

LAST_PAGE = 1_000_000
PAGE_PARAMETERS = [
    OpenApiParameter("page", {"type": "integer", "minimum": 1, "maximum": LAST_PAGE, "default": 1}),
    OpenApiParameter("limit", LIMIT_SCHEMA),
]

CONFLICT = OpenApiResponse(description="The email is taken, or the account closed or to be deleted (`CONFLICT`).")
