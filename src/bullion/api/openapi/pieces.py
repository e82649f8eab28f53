"""Small parts that the whole description is put together from."""

from collections.abc import Iterable
from typing import Any

from .headers import REQUEST_ID

Json = dict[str, Any]

ALWAYS_SENT = "x-always-sent"
"""On a field of an answer that the specification does not require, and that this service sends anyway."""


def object_of(properties: Json, **more: Any) -> Json:
    """An object of an answer: every field is always there, so nothing has a default."""
    return {"type": "object", "required": list(properties), "properties": properties, **more}


def schema_ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def header_refs(names: Iterable[str]) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def answer(description: str, schema: Json, example: Any, headers: Iterable[str] = ()) -> Json:
    return {
        "description": description,
        "headers": header_refs((REQUEST_ID, *headers)),
        "content": {"application/json": {"schema": schema, "example": example}},
    }
