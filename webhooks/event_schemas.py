"""The `webhooks` of the OpenAPI document: what a receiver is sent, from the catalogue that the events are made of."""

from typing import Any

import msgspec

from snapstate_project.common.openapi import Schema, ref
from snapstate_project.events.catalogue import CATALOGUE, Body
from webhooks.messages import EVENTS, INTERNAL, TEST

STRING: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE_OR_NOT: Schema = {"anyOf": [{"type": "integer"}, NUMBER]}
HEADERS: dict[str, tuple[Schema, str]] = {
    "webhook-id": (STRING, "The event's id: the same over attempts and resends."),
    "webhook-timestamp": ({"type": "integer"}, "Seconds since 1970, of this attempt."),
    "webhook-signature": (STRING, "`v1,<base64>`, one for each secret that signs; as Standard Webhooks has it."),
    "X-Checkpoint-Signature": (STRING, "For older receivers: `sha256=<hex>` over the body."),
}
ENVELOPE: dict[str, Schema] = {
    "event_id": STRING,
    "timestamp": {"type": "string", "format": "date-time"},
    "webhook_id": STRING,
}
ERROR: Schema = {"anyOf": [ref("schemas", "StepError"), {"type": "null"}]}


def describe_events(result: Schema, **_kwargs: Any) -> Schema:
    """drf-spectacular's postprocessing hook."""
    schemas = result["components"]["schemas"]
    result["webhooks"] = {}
    for event in (*EVENTS, TEST):
        name = "".join(part.capitalize() for part in event.replace(".", "_").split("_"))
        schemas |= schemas_of(event, name)
        result["webhooks"][event] = {"post": operation(event, name)}
    result["components"]["schemas"] = dict(sorted(schemas.items()))
    return result


def operation(event: str, name: str) -> Schema:
    parameters = [
        {"name": header, "in": "header", "required": True, "description": said, "schema": schema}
        for header, (schema, said) in HEADERS.items()
    ]
    return {
        "operationId": f"on{name}",
        "x-internal": True,  # else openapi-generator makes of it a call to us, in code that does not compile
        "tags": ["Webhook events"],
        "summary": summary_of(event),
        "parameters": parameters,
        "requestBody": {"required": True, "content": {"application/json": {"schema": ref("schemas", f"{name}Event")}}},
        "responses": {
            "2XX": {"description": "Taken, within 15 seconds."},
            "410": {"description": "Never again: the webhook is disabled."},
        },
    }


def summary_of(event: str) -> str:
    said = CATALOGUE[event].__doc__ if event in CATALOGUE else "What a webhook is sent to try it."
    return (said or event).splitlines()[0]


def schemas_of(event: str, name: str) -> dict[str, Schema]:
    named = {"type": "string", "const": event}
    members = {"type": named, **ENVELOPE, "event": named, "data": ref("schemas", f"{name}Data")}
    return {
        f"{name}Event": {"type": "object", "required": list(members), "properties": members},
        f"{name}Data": data_schema(CATALOGUE[event]) if event in CATALOGUE else {"type": "object"},
    }


def data_schema(body: type[Body]) -> Schema:
    """As `messages.data_of` makes it: without what only we understand, and an error as one object."""
    schema = msgspec.json.schema_components([body], ref_template="{name}")[1][body.__name__]
    fields = {
        name: {key: value for key, value in field.items() if key != "default"}
        for name, field in schema["properties"].items()
        if name not in INTERNAL
    }
    if fields.pop("error_type", None):
        fields["error"] = ERROR
        del fields["error_message"]
    fields = {name: NUMBER if field == WHOLE_OR_NOT else field for name, field in fields.items()}
    return {"type": "object", "required": list(fields), "properties": fields}
