"""Schemas in words: the type of a value, and the fields of an object."""

from collections.abc import Iterator, Sequence
from html import escape

from .pieces import Json, prose, slug


def fields(schema: Json, prefix: str = "") -> Iterator[Sequence[str]]:
    """Each field on its own row, those of an object inside the object as `outer.inner`."""
    for name, inner in schema.get("properties", {}).items():
        optional = "" if name in schema.get("required", ()) else " <small>optional</small>"
        label = f"<code>{escape(prefix + name)}</code>{optional}"
        yield (label, type_words(inner), prose(inner.get("description", "")))
        yield from fields(inner, f"{prefix}{name}.")
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        yield ("<em>any other</em>", type_words(others), prose(others.get("description", "")))


def type_words(schema: Json) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{slug("schema-" + name)}">{escape(name)}</a>'
    if "enum" in schema:
        return " or ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"array of {type_words(schema['items'])}"
    kinds = schema.get("type", "any")
    return escape(kinds if isinstance(kinds, str) else " or ".join(kinds))
