"""Successful responses, and the headers of all responses. A header that is `required` is on every one."""

from collections.abc import Iterable, Mapping
from typing import Any

from bullion.api.scenario import HEADER

from .schemas import Json, schema_ref

REQUEST_ID = "X-Request-Id"
RETRY_AFTER = "Retry-After"
IDEMPOTENT_REPLAYED = "Idempotent-Replayed"
ALLOW = "Allow"
BUDGET = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


def _header(description: str, **schema: Any) -> Json:
    return {"description": description, "schema": schema}


HEADERS: Json = {
    REQUEST_ID: {"required": True}
    | _header(
        "On every response: names the call in the service's log. Quote it to the desk.",
        type="string",
        pattern="^[0-9a-f]{24}$",
    ),
    "RateLimit-Limit": _header(
        "How many calls the tightest budget allows: of all budgets that the call was counted against, the "
        "one with the fewest calls left. On every counted call, and on every 429.",
        type="integer",
        minimum=0,
    ),
    "RateLimit-Remaining": _header("How many calls that budget has left.", type="integer", minimum=0),
    "RateLimit-Reset": _header(
        "In how many whole seconds the oldest counted call leaves that budget's window.",
        type="integer",
        minimum=0,
    ),
    RETRY_AFTER: _header(
        "How many whole seconds to wait before sending the request again. On every 429 and every 503.",
        type="integer",
        minimum=1,
    ),
    IDEMPOTENT_REPLAYED: _header(
        "The `Idempotency-Key` was settled before, and this is what settled it: the order, or a refusal that "
        "settles a key. Nothing happened this time. A new response does not have the header.",
        type="string",
        enum=["true"],
    ),
    HEADER: _header(
        "On a response that was made up because the request asked for it: the name of its scenario. A real "
        "response does not have the header.",
        type="string",
    ),
    ALLOW: _header("The methods that the path takes.", type="string"),
}


def header_refs(names: Iterable[str]) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


_MESSAGE: Json = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Where the stream stands."},
        "event": {"type": "string", "description": "The type of the event."},
        "data": {"type": "string", "contentMediaType": "application/json"},
        "retry": {"type": "integer", "description": "Milliseconds to wait before connecting again."},
    },
}


def event_stream(description: str, example: Mapping[str, str]) -> Json:
    """Server-sent events. OpenAPI 3.1 has no word for them: the schema is that of each, as in OpenAPI 3.2."""
    return {
        "description": description,
        "headers": header_refs((REQUEST_ID, *BUDGET)),
        "content": {"text/event-stream": {"schema": _MESSAGE, "example": dict(example)}},
    }


def response(description: str, schema: str, example: Any, headers: Iterable[str] = ()) -> Json:
    return {
        "description": description,
        "headers": header_refs((REQUEST_ID, *headers)),
        "content": {"application/json": {"schema": schema_ref(schema), "example": example}},
    }
