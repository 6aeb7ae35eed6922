"""What the OpenAPI document says of the Admin API beyond its bodies."""

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from snapstate_project.common.pagination import DEFAULT_LIMIT

PAGE_PARAMETERS = [
    OpenApiParameter("page", {"type": "integer", "minimum": 1, "default": 1}),
    OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": 200, "default": DEFAULT_LIMIT}),
]

CONFLICT = OpenApiResponse(description="The email is taken, or the account closed (`CONFLICT`).")
