"""Schemas in words: the type of a value, and the fields of an object."""

from collections.abc import Iterator, Sequence
from html import escape

from bullion.api.openapi.schemas import ALWAYS_SENT

from .pieces import Json, prose, slug


def fields(schema: Json, prefix: str = "") -> Iterator[Sequence[str]]:
    """Each field on its own row, those of an object inside the object as `outer.inner`."""
    for name, inner in schema.get("properties", {}).items():
        always = name in schema.get("required", ()) or ALWAYS_SENT in inner
        optional = "" if always else " <small>optional</small>"
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
        return _choice(schema)
    if schema.get("type") == "array":
        return f"array of {type_words(schema['items'])}"
    kinds = schema.get("type", "any")
    kind = kinds if isinstance(kinds, str) else " or ".join(kinds)
    return ", ".join(escape(part) for part in (kind, *_bounds(schema)))


def _choice(schema: Json) -> str:
    *others, last = [f"<code>{escape(str(value))}</code>" for value in schema["enum"]]
    default = f", default <code>{escape(str(schema['default']))}</code>" if "default" in schema else ""
    return (f"{', '.join(others)} or {last}" if others else last) + default


def _bounds(schema: Json) -> Iterator[str]:
    """What else is known of a text or a number."""
    if "format" in schema:
        yield str(schema["format"])
    if "anyOf" in schema:
        yield " or ".join(each["format"] for each in schema["anyOf"] if "format" in each)
    if "maxLength" in schema:
        least = f"{schema['minLength']} to" if "minLength" in schema else "up to"
        yield f"{least} {schema['maxLength']} characters"
    if "exclusiveMinimum" in schema:
        yield f"above {schema['exclusiveMinimum']}"
    if "minimum" in schema and "maximum" in schema:
        yield f"{schema['minimum']} to {schema['maximum']}"
    elif "minimum" in schema:
        yield f"at least {schema['minimum']}"
    elif "maximum" in schema:
        yield f"at most {schema['maximum']}"
    if "multipleOf" in schema:
        yield f"a multiple of {schema['multipleOf']}"
    if "default" in schema:
        yield f"default {schema['default']}"
