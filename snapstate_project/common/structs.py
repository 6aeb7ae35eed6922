"""msgspec Structs as OpenAPI components: the very types that are encoded are the ones described."""

from collections.abc import Iterator
from typing import Any

import msgspec
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.plumbing import ResolvedComponent
from msgspec import inspect


class StructExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    target_class = "msgspec.Struct"
    match_subclasses = True

    def get_name(self, *_: Any) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, *_: Any) -> dict[str, Any]:
        _, components = msgspec.json.schema_components([self.target], ref_template="#/components/schemas/{name}")
        for struct in set(structs_in(inspect.type_info(self.target))) - {self.target}:
            auto_schema.registry.register_on_missing(
                ResolvedComponent(  # type: ignore[no-untyped-call]
                    name=struct.__name__,
                    type=ResolvedComponent.SCHEMA,
                    object=struct,
                    schema=_complete(struct, _readable(components[struct.__name__])),
                )
            )
        return _complete(self.target, _readable(components[self.target.__name__]))


def structs_in(kind: inspect.Type) -> Iterator[type]:
    """The Structs that a type is made of, itself included."""
    if isinstance(kind, inspect.StructType):
        yield kind.cls
        parts = [field.type for field in kind.fields]
    elif isinstance(kind, inspect.UnionType):
        parts = list(kind.types)
    else:
        inner = getattr(kind, "type", None) or getattr(kind, "item_type", None)
        parts = [inner] if isinstance(inner, inspect.Type) else []
    for part in parts:
        yield from structs_in(part)


def _complete(struct: type, schema: dict[str, Any]) -> dict[str, Any]:
    """What we answer with has every field, defaults too, but for those that can be unset."""
    config = struct.__struct_config__  # type: ignore[attr-defined]
    if not config.forbid_unknown_fields and not config.omit_defaults:
        fields = msgspec.structs.fields(struct)
        schema["required"] = [field.encode_name for field in fields if field.default is not msgspec.UNSET]
    return schema


def _readable(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the titles and empty defaults that say nothing to a reader."""
    schema.pop("title", None)
    for member in schema.get("properties", {}).values():
        if member.get("default", ...) is None:
            del member["default"]
    return schema
