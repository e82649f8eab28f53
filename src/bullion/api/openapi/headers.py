"""The headers that answers carry. One that is `required` is on every answer."""

from typing import Any

from bullion.api.scenario import HEADER

REQUEST_ID = "X-Request-Id"
RETRY_AFTER = "Retry-After"
IDEMPOTENT_REPLAYED = "Idempotent-Replayed"
ALLOW = "Allow"
BUDGET = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")

HEADERS: dict[str, Any] = {
    REQUEST_ID: {
        "description": "On every answer: names the call in the service's log. Quote it to the desk.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[0-9a-f]{24}$"},
    },
    "RateLimit-Limit": {
        "description": (
            "How many calls the tightest budget allows: of all budgets that the call was counted against, "
            "the one with the fewest calls left. On every counted call, and on every 429."
        ),
        "schema": {"type": "integer", "minimum": 0},
    },
    "RateLimit-Remaining": {
        "description": "How many calls that budget has left.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "RateLimit-Reset": {
        "description": "In how many whole seconds the oldest counted call leaves that budget's window.",
        "schema": {"type": "integer", "minimum": 0},
    },
    RETRY_AFTER: {
        "description": (
            "How many whole seconds to wait before sending the request again. On every 429 and every 503."
        ),
        "schema": {"type": "integer", "minimum": 1},
    },
    IDEMPOTENT_REPLAYED: {
        "description": (
            "The `Idempotency-Key` was settled before, and this is what settled it: the order, or a refusal "
            "that settles a key. Nothing happened this time. An answer that is new does not have the header."
        ),
        "schema": {"type": "string", "enum": ["true"]},
    },
    HEADER: {
        "description": (
            "On an answer that was made up because the request asked for it: the name of its scenario. "
            "An answer that is real does not have the header."
        ),
        "schema": {"type": "string"},
    },
    ALLOW: {"description": "The methods that the path takes.", "schema": {"type": "string"}},
}
