"""The OpenAPI 3.1 description of the clients' interface, made from the refusal catalogue and our schemas.

To add an endpoint: write a function that gives its summary and its successful answers, name its schemas in
`_SCHEMAS`, and list it in `_ENDPOINTS` with the refusals it can meet. Paths, security, refused answers and
their examples follow from that, in both environments.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from bullion.environment import Environment
from bullion.keys.key import Scope
from bullion.refusals.catalogue import (
    AUTH_THROTTLED,
    CATALOGUE,
    INTERNAL_ERROR,
    METHOD_NOT_ALLOWED,
    RATE_LIMITED,
    SERVICE_UNAVAILABLE,
)
from bullion.refusals.refusal import Env, Refusal, Refused, Retry
from bullion.web import health
from bullion.web.answer import NOT_FOUND

Json = dict[str, Any]

RETRY_ADVICE = {
    Retry.NEVER: "Do not send it again until the cause is gone.",
    Retry.SAME_KEY: "Send it again after a short wait. An order keeps its `Idempotency-Key`.",
    Retry.SAME_KEY_AFTER: "Send it again after `Retry-After` seconds. An order keeps its `Idempotency-Key`.",
    Retry.NEW_KEY: "Decide anew. A new order needs a new `Idempotency-Key`.",
}
"""What each kind of retry asks of the caller, in words."""

# --- What refuses a call, wherever it goes ----------------------------------------------------------

# The catalogue is in the order of the checks, so what every call can meet is where it begins: the connection
# and the route, then the gate up to and with the budgets. A row added there is described everywhere at once.
_AFTER_ROUTE = CATALOGUE.index(METHOD_NOT_ALLOWED) + 1
_AFTER_GATE = CATALOGUE.index(RATE_LIMITED) + 1
_WITHOUT_KEY = (*CATALOGUE[:_AFTER_ROUTE], INTERNAL_ERROR)
_WITH_KEY = (*CATALOGUE[:_AFTER_GATE], SERVICE_UNAVAILABLE, INTERNAL_ERROR)

# What is refused after the gate may already have been counted against a budget.
_MAY_TELL_BUDGET = frozenset((AUTH_THROTTLED, RATE_LIMITED, *CATALOGUE[_AFTER_GATE:]))

# --- Shared pieces ------------------------------------------------------------------------------------

_SCHEME = "ApiKey"
_SECURITY_SCHEMES: Json = {
    _SCHEME: {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": (
            "The operator's desk issues keys. One that begins with `key_test.` works under "
            f"`{Environment.TEST.base_path}`, one that begins with `key_live.` under "
            f"`{Environment.PRODUCTION.base_path}`. A key has scopes: "
            f"{', '.join(f'`{scope.value}`' for scope in Scope)}."
        ),
    }
}

_REQUEST_ID = "X-Request-Id"
_RETRY_AFTER = "Retry-After"
_ALLOW = "Allow"
_BUDGET = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
_HEADERS: Json = {
    _REQUEST_ID: {
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
    _RETRY_AFTER: {
        "description": "How many whole seconds to wait before sending the request again.",
        "schema": {"type": "integer", "minimum": 1},
    },
    _ALLOW: {"description": "The methods that the path takes.", "schema": {"type": "string"}},
}


def _object(properties: Json, **more: Any) -> Json:
    """An object of an answer: every field is always there, so nothing has a default."""
    return {"type": "object", "required": list(properties), "properties": properties, **more}


def _schema(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _headers(names: Iterable[str]) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _answer(description: str, schema: Json, example: Any, headers: Iterable[str] = ()) -> Json:
    return {
        "description": description,
        "headers": _headers((_REQUEST_ID, *headers)),
        "content": {"application/json": {"schema": schema, "example": example}},
    }


# --- Schemas ------------------------------------------------------------------------------------------

_SCHEMAS: Json = {
    "Account": _object(
        {
            "login_id": {"type": "string", "description": "The account's login."},
            "firm_name": {"type": ["string", "null"], "description": "The firm's name on the account."},
            "environment": {
                "type": "string",
                "enum": [environment.value for environment in Environment],
                "description": "The environment of the key that was sent.",
            },
            "key_id": {
                "type": "string",
                "description": "The key's public id. Unlike the key, it may be quoted to the operator.",
            },
            "key_name": {"type": "string", "description": "The name that the key was issued with."},
            "scopes": {
                "type": "array",
                "items": {"type": "string", "enum": [scope.value for scope in Scope]},
                "description": "What the key may do.",
            },
            "production_trading_available": {
                "type": "boolean",
                "description": (
                    "Whether the switches leave production orders open to the account right now; the same "
                    "in both environments. A hint: every order is checked again when it is placed."
                ),
            },
        },
        description="The account and the key behind a call.",
    ),
    "Refusal": _object(
        {
            "detail": _object(
                {
                    "code": {"type": "string", "description": "Stable, for programs. Branch on this."},
                    "message": {"type": "string", "description": "For people. It may change."},
                },
                description="Why the call was refused. Some codes bring further fields.",
            )
        },
        description="The body of every refusal.",
    ),
    "UnknownPath": _object(
        {"detail": {"type": "string", "description": "A plain text: there is no code."}},
        description="The body of a 404 that is no refusal: the address or the path is wrong.",
    ),
    "Liveness": _object(
        {"live": {"type": "boolean", "description": "Always true: a node that is not live does not answer."}},
        description="Whether the node is running.",
    ),
    "Readiness": _object(
        {"ready": {"type": "boolean", "description": "Whether every part is in order."}},
        additionalProperties={"type": "boolean", "description": "A part, and whether it is in order."},
        description="Whether the node may be sent calls, and what that is made of.",
    ),
    "Description": {"type": "object", "description": "An OpenAPI document."},
}

# --- Refused answers ----------------------------------------------------------------------------------


def _refused_answers(rows: Iterable[Refusal]) -> Json:
    """The rows by status, each status with its codes in the order in which the checks are made."""
    ordered = sorted(rows, key=CATALOGUE.index)
    counted = RATE_LIMITED in ordered
    by_status: dict[int, list[Refusal]] = {}
    for row in ordered:
        by_status.setdefault(row.status, []).append(row)
    return {str(status): _refused_answer(by_status[status], counted) for status in sorted(by_status)}


def _refused_answer(rows: list[Refusal], counted: bool) -> Json:
    codes = [row.code for row in rows]
    narrowed = {"detail": {"properties": {"code": {"enum": codes}}}}
    return {
        "description": "\n".join(f"- `{row.code}`: {row.when}" for row in rows),
        "headers": _headers(_refused_headers(rows, counted)),
        "content": {
            "application/json": {
                "schema": {**_schema("Refusal"), "properties": narrowed},
                "examples": {code: {"$ref": f"#/components/examples/{code}"} for code in codes},
            }
        },
    }


def _refused_headers(rows: list[Refusal], counted: bool) -> Iterable[str]:
    yield _REQUEST_ID
    if METHOD_NOT_ALLOWED in rows:
        yield _ALLOW
    if any(row.retry is Retry.SAME_KEY_AFTER for row in rows):
        yield _RETRY_AFTER
    if counted and not _MAY_TELL_BUDGET.isdisjoint(rows):
        yield from _BUDGET


def _example(row: Refusal) -> Json:
    return {"summary": row.when, "value": Refused(row).body()}


# --- Endpoints that need a key ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Endpoint:
    """A call of the trading API, described once for each environment."""

    name: str
    method: str
    path: str
    scope: Scope
    describe: Callable[[Environment], Json]
    refusals: tuple[Refusal, ...] = _WITH_KEY

    def operation(self, environment: Environment) -> Json:
        operation = self.describe(environment)
        met = [row for row in self.refusals if row.env is Env.BOTH or environment is Environment.PRODUCTION]
        return {
            "operationId": f"{self.name}_{environment.value}",
            "security": [{_SCHEME: [self.scope.value]}],
            **operation,
            "responses": operation["responses"] | _refused_answers(met),
        }


def _me(environment: Environment) -> Json:
    example = {
        "login_id": "mehta-jewels",
        "firm_name": "Mehta Jewels Pvt Ltd",
        "environment": environment.value,
        "key_id": "9f2c41d07ab8e356",
        "key_name": "pricing engine",
        "scopes": [scope.value for scope in Scope],
        "production_trading_available": False,
    }
    return {
        "tags": ["Account"],
        "summary": "Read the account and the key",
        "description": "Tells whose key was sent and what it may do. A good first call: it changes nothing.",
        "responses": {"200": _answer("The account.", _schema("Account"), example, _BUDGET)},
    }


_ENDPOINTS = (_Endpoint("me", "get", "/me", Scope.ACCOUNT_READ, _me),)

# --- Pages that need none -----------------------------------------------------------------------------


def _open_page(name: str, summary: str, description: str, responses: Json) -> Json:
    return {
        "get": {
            "operationId": name,
            "security": [],
            "tags": ["Service"],
            "summary": summary,
            "description": description,
            "responses": responses | _refused_answers(_WITHOUT_KEY),
        }
    }


def _live() -> Json:
    answer = _answer("The node is running.", _schema("Liveness"), json.loads(health.live().body))
    return _open_page("live", "Is the node running?", "For whoever restarts nodes.", {"200": answer})


def _ready() -> Json:
    schema = _schema("Readiness")
    ready = {"ready": True, "store": True, "schema": True, "catalogue": True}
    answers = {
        "200": _answer("Every part is in order.", schema, ready),
        "503": _answer("Some part is not.", schema, ready | {"ready": False, "store": False}),
    }
    return _open_page(
        "ready", "May the node be sent calls?", "For load balancers. It names each part.", answers
    )


def _description() -> Json:
    example = {"openapi": "3.1.0", "info": {"title": "…", "version": "…"}, "paths": {}}
    answer = _answer("The description.", _schema("Description"), example)
    return _open_page(
        "description", "This description", "What you are reading, for programs.", {"200": answer}
    )


# --- The whole ----------------------------------------------------------------------------------------


def openapi() -> Json:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Bullion Trading API",
            "version": "1.0.0",
            "summary": "Gold and silver by weight, over JSON and HTTP.",
            "description": (
                f"There are two environments. Under `{Environment.TEST.base_path}` orders are simulated and "
                f"nothing is booked; under `{Environment.PRODUCTION.base_path}` they are real.\n\n"
                "Every refusal has the same body. Branch on `detail.code`, which is stable; the message is "
                "for people. A 404 without a code comes from a wrong address or path."
            ),
        },
        "servers": [{"url": "/", "description": "The address that served this description."}],
        "tags": [
            {"name": "Account", "description": "Who is calling."},
            {"name": "Service", "description": "The service itself. No key is needed."},
        ],
        "paths": _trading_paths()
        | {health.LIVE: _live(), health.READY: _ready(), "/openapi.json": _description()},
        "components": {
            "securitySchemes": _SECURITY_SCHEMES,
            "headers": _HEADERS,
            "schemas": _SCHEMAS,
            "responses": {
                "UnknownPath": _answer(
                    f"{NOT_FOUND.status}, on any path that is not described here.",
                    _schema("UnknownPath"),
                    json.loads(NOT_FOUND.body),
                )
            },
            "examples": {row.code: _example(row) for row in CATALOGUE if row in _rows_met()},
        },
        "x-refusals": [_whole_row(row) for row in CATALOGUE],
        "x-retry-advice": {retry.value: words for retry, words in RETRY_ADVICE.items()},
    }


def _trading_paths() -> Json:
    paths: Json = {}
    for endpoint in _ENDPOINTS:
        for environment in Environment:
            item = paths.setdefault(environment.base_path + endpoint.path, {})
            item[endpoint.method] = endpoint.operation(environment)
    return paths


def _rows_met() -> frozenset[Refusal]:
    return frozenset(_WITHOUT_KEY).union(*(endpoint.refusals for endpoint in _ENDPOINTS))


def _whole_row(row: Refusal) -> Json:
    return {
        "code": row.code,
        "status": row.status,
        "environment": row.env.value,
        "when": row.when,
        "message": row.message,
        "retry": row.retry.value,
        "settles_key": row.settles_key,
        "specified": row.specified,
    }
