"""JSON bodies parsed once into Structs; a member that is the client's own JSON stays the bytes it came in."""

import re
from typing import Annotated, Any

import msgspec

from snapstate_project.common.errors import ApiError, ValidationFailed
from snapstate_project.common.json_text import BadJSON, check

JSON_OBJECT = {"$ref": "#/components/schemas/JsonObject"}
JSONObject = Annotated[msgspec.Raw, msgspec.Meta(extra_json_schema=JSON_OBJECT)]
JSONObjectOrNull = Annotated[msgspec.Raw, msgspec.Meta(extra_json_schema={"anyOf": [JSON_OBJECT, {"type": "null"}]})]
MAX_METADATA_BYTES = 65_536


def decoded[Fields](body: bytes, decoder: msgspec.json.Decoder[Fields]) -> Fields:
    try:
        fields = decoder.decode(body)
        # Raw members are skipped, not decoded, so bytes that are no UTF-8 would pass.
        body.isascii() or body.decode()
        return fields
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        path = place.rstrip("`").lstrip(".")
        raise ValidationFailed.at(path or _missing_field(message), message + _choices(decoder, message, path)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _broken(body, error) from None


def _missing_field(message: str) -> str:
    named = re.search(r"field `(\w+)`|unknown field `(.*)`", message)
    return (named[1] or named[2]) if named else "body"


def _choices(decoder: msgspec.json.Decoder[Any], message: str, path: str) -> str:
    """What there is to choose from, where a member of the body, or one of its items, is none of it."""
    name, kind = path.partition("[")[0], decoder.type
    if not (message.startswith("Invalid enum value") and isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return ""
    members = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    schema = msgspec.json.schema(members[name]) if name in members else {}
    choices = schema.get("items", schema).get("enum", [])
    return f": must be one of {', '.join(map(str, choices))}" if choices else ""


def _broken(body: bytes, error: Exception) -> ApiError:
    try:
        check(body, "")
    except BadJSON as bad:
        return ValidationFailed.at(bad.path.lstrip(".") or "body", bad.message)
    return ValidationFailed.at("body", "is not JSON that can be read: " + str(error))


def check_object(text: bytes, name: str, most: int) -> None:
    """ValidationFailed unless the member is an object, and one that we keep."""
    if text[:1] != b"{":
        raise ValidationFailed.at(name, "must be an object")
    if len(text) > most:
        raise ValidationFailed.at(name, f"is {len(text)} bytes; at most {most} are taken")
    try:
        check(text, name)
    except BadJSON as bad:
        raise ValidationFailed.at(bad.path, bad.message) from None
