"""What the OpenAPI document says of every operation: the two bearer schemes, the errors and the headers of all."""

from http import HTTPStatus
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

type Schema = dict[str, Any]

ERROR_SCHEMA: Schema = {
    "type": "object",
    "description": "The one shape of every failure.",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "request_id"],
            "properties": {
                "code": {"type": "string", "description": "Made for programs.", "examples": ["VALIDATION_ERROR"]},
                "message": {"type": "string", "description": "Made for people."},
                "details": {
                    "type": "array",
                    "description": "Of a VALIDATION_ERROR only.",
                    "items": {
                        "type": "object",
                        "required": ["path", "message"],
                        "properties": {"path": {"type": "string"}, "message": {"type": "string"}},
                    },
                },
                "request_id": {"type": "string", "format": "uuid"},
            },
        }
    },
}
# Sent with a 409 of a save: beside "error" stands what was found.
CONFLICT_SCHEMA: Schema = {
    "allOf": [{"$ref": "#/components/schemas/Error"}],
    "type": "object",
    "properties": {
        "existing": {
            "type": ["object", "null"],
            "required": ["checkpoint_id", "etag"],
            "properties": {"checkpoint_id": {"type": "string"}, "etag": {"type": "string"}},
        }
    },
}

INTEGER: Schema = {"type": "integer", "minimum": 0}
REQUEST_ID: Schema = {"description": "Names this call in our logs.", "schema": {"type": "string", "format": "uuid"}}
HEADERS: Schema = {
    "X-Request-Id": REQUEST_ID,
    "RateLimit-Limit": {"description": "Calls a window.", "schema": INTEGER},
    "RateLimit-Remaining": {"description": "Calls left at this moment.", "schema": INTEGER},
    "RateLimit-Reset": {"description": "Seconds until the limit is whole again.", "schema": INTEGER},
    "Retry-After": {"description": "Whole seconds to wait.", "schema": INTEGER},
    "WWW-Authenticate": {"description": "Always `Bearer`.", "schema": {"type": "string", "const": "Bearer"}},
    "Allow": {"description": "The methods there are.", "schema": {"type": "string"}},
}
OF_ERRORS = {"401": "WWW-Authenticate", "405": "Allow", "429": "Retry-After", "503": "Retry-After"}
LIMITED = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
ERRORS = {
    "400": "The request is not valid (`VALIDATION_ERROR`).",
    "401": "No valid key (`UNAUTHORIZED`).",
    "403": "The key lacks the scope, or the account is not active (`FORBIDDEN`).",
    "404": "Not found, or another account's (`NOT_FOUND`).",
    "405": "There is no such method here (`METHOD_NOT_ALLOWED`).",
    "413": "The body is too large (`PAYLOAD_TOO_LARGE`).",
    "415": "The body is not plain JSON (`UNSUPPORTED_MEDIA_TYPE`).",
    "429": "Too many calls (`RATE_LIMITED`).",
    "500": "A fault of ours (`INTERNAL_ERROR`).",
    "503": "A tier cannot be reached: nothing is lost, try again (`SERVICE_UNAVAILABLE`).",
}


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "accounts.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: AutoSchema) -> Schema:  # noqa: ARG002 (its base names it)
        return {"type": "http", "scheme": "bearer", "description": "A key of an account: `Bearer snp_<32 hex>`."}


class OperatorScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "accounts.authentication.OperatorAuthentication"
    name = "operator"

    def get_security_definition(self, auto_schema: AutoSchema) -> Schema:  # noqa: ARG002 (its base names it)
        return {"type": "http", "scheme": "bearer", "description": "The server's `ADMIN_SECRET`."}


class Operation(AutoSchema):
    """An operation that says which scope it needs."""

    def get_description(self) -> str:  # type: ignore[override]  # the stubs describe DRF's own
        said = super().get_description() or ""
        needed = getattr(self.view, "required_scopes", "")
        scope = needed if isinstance(needed, str) else needed.get(self.method, "")
        return f"{said}\n\nScope: `{scope}`.".strip() if scope else said


def complete(result: Schema, **_kwargs: Any) -> Schema:
    """drf-spectacular's postprocessing hook."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {}).update(Error=ERROR_SCHEMA, Conflict=CONFLICT_SCHEMA)
    components["headers"] = HEADERS
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            complete_operation(operation, has_id="{" in path, has_body=method in ("post", "put", "patch"))
    return result


def complete_operation(operation: Schema, *, has_id: bool, has_body: bool) -> None:
    secured = any(operation.get("security", []))
    codes = {"400", "405", "500", "503"}
    codes |= {"401", "403"} if secured else set()
    codes |= {"429"} if is_limited(operation) else set()
    codes |= {"404"} if has_id else set()
    codes |= {"413", "415"} if has_body else set()
    responses = operation["responses"]
    own = set(responses)
    for code in codes - own:
        responses[code] = {"description": ERRORS[code], "content": json_of("Error")}
    if "409" in responses:
        responses["409"].setdefault("content", json_of("Conflict"))
    for code, response in responses.items():
        response["description"] = response.get("description") or HTTPStatus(int(code)).phrase
        names = headers_of(code, limited=is_limited(operation), ours=code not in own)
        response["headers"] = {**{name: ref("headers", name) for name in names}, **response.get("headers", {})}
    operation["responses"] = dict(sorted(responses.items()))


def is_limited(operation: Schema) -> bool:
    return any("apiKey" in scheme for scheme in operation.get("security", []))


def headers_of(code: str, *, limited: bool, ours: bool) -> list[str]:
    names = ["X-Request-Id", *(LIMITED if limited and code not in ("401", "405") else ())]
    return [*names, OF_ERRORS[code]] if ours and code in OF_ERRORS else names


def ref(kind: str, name: str) -> Schema:
    return {"$ref": f"#/components/{kind}/{name}"}


def json_of(name: str) -> Schema:
    return {"application/json": {"schema": ref("schemas", name)}}
