"""msgspec Structs as OpenAPI components: the very types that are encoded are the ones described."""

from typing import Any

import msgspec
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.plumbing import ResolvedComponent


class StructExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    target_class = "msgspec.Struct"
    match_subclasses = True

    def get_name(self, auto_schema: Any, direction: Any) -> str:  # noqa: ARG002 (its base names them)
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:  # noqa: ARG002
        _, components = msgspec.json.schema_components([self.target], ref_template="#/components/schemas/{name}")
        own: dict[str, Any] = components.pop(self.target.__name__)
        for name, schema in components.items():
            auto_schema.registry.register_on_missing(
                ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, object=name, schema=_described(schema))
            )
        return _described(own)


def _described(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the defaults and titles that say nothing to a reader."""
    schema.pop("title", None)
    for member in schema.get("properties", {}).values():
        if isinstance(member, dict) and member.get("default") is None:
            member.pop("default", None)
    return schema
