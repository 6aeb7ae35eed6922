"""Arguments as models send them: what has one meaning is understood, the rest is refused in words that mend it."""

import difflib
import json
import re
from typing import Annotated, Any, Literal

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError

MOST_STEPS = 2**53 - 1
YEAR = 31_536_000
SECRET = {"state", "metadata", "error"}  # their contents are repeated nowhere
ERROR = {
    "type": "object",
    "properties": {"type": {"type": "string", "maxLength": 100}, "message": {"type": "string", "maxLength": 2000}},
    "required": ["type", "message"],
}
FACTS = {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "null"]}}
KINDS = {dict: "an object", list: "an array", bool: "a boolean", type(None): "null", int: "a number", float: "a number"}


class Given(BaseModel):
    """An object, and its JSON text when it came as text, to be kept as it is."""

    value: dict[str, Any]
    text: str | None = None

    def unless_text(self) -> dict[str, Any] | None:
        return self.value if self.text is None else None

    def size(self) -> int:
        """Bytes, as it is sent."""
        text = self.text or json.dumps(self.value, ensure_ascii=False, separators=(",", ":"))
        return len(text.encode(errors="surrogatepass"))


class Failure(BaseModel):
    """An error that was seen at a step."""

    model_config = ConfigDict(extra="forbid")

    type: str
    message: str


def mend(reason: str) -> PydanticCustomError:
    return PydanticCustomError("mend", "{reason}", {"reason": reason})


def as_object(value: Any) -> Any:
    if isinstance(value, Given):
        return value
    if isinstance(value, dict):
        return Given(value=value)
    if not isinstance(value, str):
        raise mend("expected an object")
    try:
        read = json.loads(value)
    except json.JSONDecodeError as error:
        raise mend(
            f"expected an object, or its JSON; this text is no JSON ({error.msg}, character {error.pos})"
        ) from None
    except (ValueError, RecursionError):
        raise mend("expected an object; this text nests too deep or holds a number that is too long") from None
    if not isinstance(read, dict):
        raise mend(f"expected an object; this text is the JSON of {kind_of(read)}")
    return Given(value=read, text=value)


def as_object_or_nothing(value: Any) -> Any:
    return None if value is None or value == "" else as_object(value)


def as_plain_object(value: Any) -> Any:
    read = as_object_or_nothing(value)
    return read.value if isinstance(read, Given) else read


def as_facts(value: Any) -> Any:
    """What a checkpoint is found by: single values, for nothing else of `metadata` can be asked for."""
    read = as_plain_object(value)
    if isinstance(read, dict) and any(isinstance(one, dict | list) for one in read.values()):
        raise mend("expected an object of strings, numbers, true, false and null")
    return read or None


def as_whole_number(value: Any) -> Any:
    """`"7"` and `7.0` can only be meant as 7."""
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]{1,20}\s*", value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise mend("expected a whole number")


def as_number_or_nothing(value: Any) -> Any:
    return None if value is None or value == "" else as_whole_number(value)


def as_flag(value: Any) -> Any:
    words = {"true": True, "false": False}
    if isinstance(value, str) and value.strip().lower() in words:
        return words[value.strip().lower()]
    if isinstance(value, bool):
        return value
    raise mend("expected true or false")


def as_text(value: Any) -> Any:
    if isinstance(value, str):
        return value
    raise mend("expected a string")


def as_text_or_nothing(value: Any) -> Any:
    return None if value is None or value == "" else as_text(value)


def as_status(value: Any) -> Any:
    return as_text_or_nothing(value) or "active"


def as_texts(value: Any) -> Any:
    """A list of strings, or its JSON as text."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise mend("expected an array of strings; this text is no JSON") from None
    if value is None or value == "":
        return None
    if isinstance(value, list):
        return value
    raise mend("expected an array of strings")


Id = Annotated[str, Field(min_length=1, max_length=255), BeforeValidator(as_text)]
WorkflowId = Annotated[Id, Field(description="Names the piece of work; the same id on every save and resume.")]
MaybeAgentId = Annotated[
    Annotated[str, Field(max_length=255)] | None,
    BeforeValidator(as_text_or_nothing),
    Field(description="Who does it: letters, digits and `_.:-`."),
]
MaybeText = Annotated[str | None, BeforeValidator(as_text_or_nothing)]
MaybeLabel = Annotated[Annotated[str, Field(max_length=256)] | None, BeforeValidator(as_text_or_nothing)]
MaybeTexts = Annotated[list[str] | None, BeforeValidator(as_texts)]
Flag = Annotated[bool, BeforeValidator(as_flag)]
Step = Annotated[int, Field(ge=0, le=MOST_STEPS), BeforeValidator(as_whole_number)]
NextStep = Annotated[
    Step,
    Field(
        description="1 for the first checkpoint, then `next_step` of the last answer. Resuming gives the highest step: "
        "one below it goes into the history and changes nothing else, `status` included."
    ),
]
MaybeStep = Annotated[Step | None, BeforeValidator(as_number_or_nothing)]
MaybeLifetime = Annotated[
    Annotated[int, Field(ge=1, le=YEAR)] | None,
    BeforeValidator(as_number_or_nothing),
    Field(description="Archive the workflow when nothing was saved for so long."),
]
Characters = Annotated[int, Field(ge=1000, le=2_000_000), BeforeValidator(as_whole_number)]
PageSize = Annotated[int, Field(ge=1, le=200), BeforeValidator(as_whole_number)]
Object = Annotated[Given, BeforeValidator(as_object), WithJsonSchema({"type": "object"})]
WholeState = Annotated[
    Object,
    Field(
        description="Everything needed to go on from here, as one JSON object of at most 1 MiB. It replaces the state "
        "before as a whole, so repeat what still matters."
    ),
]
MaybeObject = Annotated[Object | None, BeforeValidator(as_object_or_nothing)]
MaybeFacts = Annotated[Annotated[dict[str, Any], WithJsonSchema(FACTS)] | None, BeforeValidator(as_facts)]
MaybeError = Annotated[Annotated[Failure, WithJsonSchema(ERROR)] | None, BeforeValidator(as_plain_object)]
Status = Annotated[
    Literal["active", "completed", "failed"],
    BeforeValidator(as_status),
    Field(description="`completed` when the work is done, `failed` when it is given up."),
]
MaybeStatus = Annotated[Literal["active", "completed", "failed", "stalled"] | None, BeforeValidator(as_text_or_nothing)]


def schema_of(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of arguments without what tells a model nothing; arguments that are not in it are refused."""
    fields = {name: plain(field) for name, field in schema.get("properties", {}).items()}
    return {
        "type": "object",
        "properties": fields,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def plain(field: dict[str, Any]) -> dict[str, Any]:
    """What may be left out has the schema of its value: that null is understood as well need not be said."""
    value: dict[str, Any] = next((one for one in field.get("anyOf", ()) if one.get("type") != "null"), {})
    told = {name: part for name, part in field.items() if name not in ("anyOf", "title")} | value
    return {name: part for name, part in told.items() if (name, part) != ("default", None)}


def read_arguments(model: type[BaseModel], given: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments for a tool, or a ToolError with a line for everything that is wrong."""
    faults = [unknown(name, list(model.model_fields)) for name in given if name not in model.model_fields]
    try:
        read = model.model_validate(given)
    except ValidationError as error:
        faults += [fault(one["type"], one["loc"], one["msg"], one["input"]) for one in error.errors(include_url=False)]
    if faults:
        lines = ["These arguments cannot be used; call again with them mended:", *faults]
        raise ToolError(printable("\n".join(lines)))
    return {name: getattr(read, name) for name in model.model_fields}


def printable(text: str) -> str:
    """Half a surrogate pair, repeated in an answer, could not be sent."""
    return text.encode(errors="backslashreplace").decode()


def unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    hint = f"; did you mean `{near[0]}`?" if near else "."
    return f"- {name[:60]}: there is no such argument{hint} There are: {', '.join(known)}."


def fault(kind: str, place: tuple[int | str, ...], reason: str, got: Any) -> str:
    name = ".".join(str(part) for part in place)
    if kind == "missing":
        return f"- {name}: is required and was not given."
    return f"- {name}: {reason}; got {shown(got, secret=str(place[0]) in SECRET)}."


def shown(value: Any, *, secret: bool) -> str:
    if isinstance(value, str):
        return f"text of {len(value)} characters" if secret or len(value) > 60 else f"the string {json.dumps(value)}"
    return kind_of(value) if secret or isinstance(value, dict | list | None) else json.dumps(value)


def kind_of(value: Any) -> str:
    return KINDS.get(type(value), "a string")
