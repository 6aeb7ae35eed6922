"""What the OpenAPI document says of every operation: the two bearer schemes, the errors and the headers of all."""

import re
from http import HTTPStatus
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

type Schema = dict[str, Any]

SCHEMAS: dict[str, Schema] = {
    "JsonObject": {
        "type": "object",
        "description": "JSON of the client's own, with any members. Kept byte for byte as it is sent.",
        "additionalProperties": True,
    },
    "ErrorDetail": {
        "type": "object",
        "description": "What is wrong, and where in the request.",
        "required": ["path", "message"],
        "properties": {"path": {"type": "string"}, "message": {"type": "string"}},
    },
    "ApiError": {
        "type": "object",
        "required": ["code", "message", "request_id"],
        "properties": {
            "code": {"type": "string", "description": "Made for programs.", "examples": ["VALIDATION_ERROR"]},
            "message": {"type": "string", "description": "Made for people."},
            "details": {
                "type": "array",
                "description": "Of a VALIDATION_ERROR only.",
                "items": {"$ref": "#/components/schemas/ErrorDetail"},
            },
            "request_id": {"type": "string", "format": "uuid"},
        },
    },
    "ErrorResponse": {
        "type": "object",
        "description": "The one shape of every failure.",
        "required": ["error"],
        "properties": {"error": {"$ref": "#/components/schemas/ApiError"}},
    },
}

NAMES = "x-enum-varnames"
PATTERN = "x-pattern"
"""Of a text that may be empty: drf-spectacular would say of a pattern that the empty text is another kind of text."""
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
OF_OPERATORS = {
    "401": "Not the server's `ADMIN_SECRET` (`UNAUTHORIZED`).",
    "404": "Not found (`NOT_FOUND`).",
}
"""What the Admin API says otherwise: it knows neither keys nor scopes, and all accounts."""


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

    def get_operation(self, *args: Any) -> Schema | None:
        """The scope is said here, for a description that is given by hand goes past what describes a view."""
        operation: Schema | None = super().get_operation(*args)
        needed = getattr(self.view, "required_scopes", "")
        scope = needed if isinstance(needed, str) else needed.get(self.method, "")
        if operation and scope:
            said = operation.get("description", "")
            operation["description"] = f"{said}\n\nScope: `{scope}`.".strip()
        return operation


def complete(result: Schema, **_kwargs: Any) -> Schema:
    """drf-spectacular's postprocessing hook."""
    components = result.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name, schema in schemas.items():
        complete_body(name, schema)
    schemas.update(SCHEMAS)
    components["headers"] = HEADERS
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            complete_operation(operation, has_id="{" in path, has_body=method in ("post", "put", "patch"))
            if "requestBody" in operation:
                operation["requestBody"]["required"] = needs_body(operation["requestBody"], schemas)
    name_enums(result, schemas)
    widen_integers(result)
    components["schemas"] = dict(sorted(schemas.items()))
    return result


def complete_body(name: str, schema: Schema) -> None:
    if name.endswith(("Registration", "Request", "Changes")):
        schema["additionalProperties"] = False
    if name.endswith("Changes"):
        schema["minProperties"] = 1  # nothing to change is a 400
    for member in schema.get("properties", {}).values():
        if pattern := member.pop(PATTERN, None):
            member.setdefault("pattern", pattern)


def complete_operation(operation: Schema, *, has_id: bool, has_body: bool) -> None:
    secured = any(operation.get("security", []))
    codes = {"400", "405", "500", "503"}
    codes |= {"401"} if secured else set()
    codes |= {"403", "429"} if is_limited(operation) else set()
    codes |= {"404"} if has_id else set()
    codes |= {"413", "415"} if has_body else set()
    responses = operation["responses"]
    own = set(responses)
    said = ERRORS if is_limited(operation) or not secured else ERRORS | OF_OPERATORS
    for code in codes - own:
        responses[code] = {"description": said[code]}
    for code, links in operation.pop("x-links", {}).items():
        responses[code]["links"] = links
    for code, response in responses.items():
        if code >= "400":
            response.setdefault("content", json_of("ErrorResponse"))
        response["description"] = response.get("description") or HTTPStatus(int(code)).phrase
        names = headers_of(code, limited=is_limited(operation), ours=code not in own)
        response["headers"] = {**{name: ref("headers", name) for name in names}, **response.get("headers", {})}
    operation["responses"] = dict(sorted(responses.items()))


def needs_body(body: Schema, schemas: dict[str, Schema]) -> bool:
    """Whether an empty object would not do: then no body at all does not do either."""
    named = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    return bool(schemas[named].get("required") or schemas[named].get("minProperties"))


def name_enums(node: Any, schemas: dict[str, Schema]) -> None:
    """Makes a component of every enum with a title, so that generated code has one type of that name."""
    for member in list(node.values()) if isinstance(node, dict) else node:
        if not isinstance(member, dict | list):
            continue
        name_enums(member, schemas)
        if isinstance(member, dict) and "enum" in member and isinstance(member.get("title"), str):
            name = member.pop("title")
            schemas[name] = {"type": "string", "enum": (values := member.pop("enum"))}
            if NAMES in member:
                schemas[name][NAMES] = member.pop(NAMES)
            elif not all(value.isidentifier() for value in values):  # else generators run the words together
                schemas[name][NAMES] = [re.sub(r"\W", "_", value).upper() for value in values]
            member.pop("type", None)
            member["$ref"] = f"#/components/schemas/{name}"


def widen_integers(node: Any) -> None:
    """Steps, sizes and sequences do not fit into the 32 bits that generators for Go and Java take unless told."""
    for member in node.values() if isinstance(node, dict) else node:
        if isinstance(member, dict | list):
            widen_integers(member)
    if isinstance(node, dict) and "integer" in (node.get("type") or ()) and node.get("maximum", 2**31) >= 2**31:
        node.setdefault("format", "int64")


def links(code: str, *targets: tuple[str, dict[str, str]]) -> Schema:
    """For `extensions`: the operations (their ids, with spaces between) that take what an answer with this code holds.

    Each of their parameters comes from a JSON pointer into the answer, or an expression that begins with `$`.
    """
    said = {
        operation: {
            "operationId": operation,
            "parameters": {name: at if at[0] == "$" else f"$response.body#/{at}" for name, at in parameters.items()},
        }
        for operations, parameters in targets
        for operation in operations.split()
    }
    return {"x-links": {code: said}}


def is_limited(operation: Schema) -> bool:
    return any("apiKey" in scheme for scheme in operation.get("security", []))


def headers_of(code: str, *, limited: bool, ours: bool) -> list[str]:
    names = ["X-Request-Id", *(LIMITED if limited and code not in ("401", "405") else ())]
    return [*names, OF_ERRORS[code]] if ours and code in OF_ERRORS else names


def ref(kind: str, name: str) -> Schema:
    return {"$ref": f"#/components/{kind}/{name}"}


def json_of(name: str) -> Schema:
    return {"application/json": {"schema": ref("schemas", name)}}
