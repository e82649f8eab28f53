"""The description of the interface, and ways to look into it, for the tests of it."""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from bullion.api.openapi import openapi
from bullion.refusals.catalogue import CATALOGUE, RATE_LIMITED

Json = dict[str, Any]

DESCRIPTION = openapi()
TEST, PRODUCTION = "/api/trading/test/v1", "/api/trading/v1"
ME = [f"{TEST}/me", f"{PRODUCTION}/me"]
BELOW = ["/orders", "/orders/{order_id}", "/positions", "/symbols", "/quotes", "/events"]
STREAMS = [f"{base}{path}/stream" for base in (TEST, PRODUCTION) for path in ("/quotes", "/events")]
READS = [TEST + path for path in BELOW]
ORDERS, ORDER, POSITIONS, SYMBOLS, QUOTES, EVENTS = READS
REAL_READS = [PRODUCTION + path for path in BELOW]
REAL_ORDERS, REAL_ORDER, REAL_POSITIONS, REAL_SYMBOLS, REAL_QUOTES, REAL_EVENTS = REAL_READS
_HOOK = "/webhooks/{webhook_id}"
WEBHOOK_CALLS = {
    "/webhooks": {"get", "post"},
    _HOOK: {"get", "patch", "delete"},
    f"{_HOOK}/rotate": {"post"},
    f"{_HOOK}/test": {"post"},
    f"{_HOOK}/attempts": {"get"},
    f"{_HOOK}/dead": {"get"},
    f"{_HOOK}/replay": {"post"},
}
WEBHOOKS = {base + path: methods for base in (TEST, PRODUCTION) for path, methods in WEBHOOK_CALLS.items()}
OPEN = ["/health/live", "/health/ready", "/openapi.json"]
SCENARIO = "X-Bullion-Scenario"
SCENARIO_CODES = {"scenario_not_allowed", "unknown_scenario"}
ROWS = {row.code: row for row in CATALOGUE}
ME_CODES = {
    "400": ["malformed_http"],
    "401": [
        "missing_credential",
        "malformed_credential",
        "wrong_tenant",
        "wrong_environment",
        "invalid_credential",
        "credential_revoked",
        "credential_rotated",
        "credential_expired",
    ],
    "403": ["address_not_allowed", "api_access_disabled", "account_inactive", "insufficient_scope"],
    "405": ["method_not_allowed"],
    "408": ["request_timeout"],
    "429": ["auth_throttled", "rate_limited"],
    "431": ["headers_too_large"],
    "500": ["internal_error"],
    "503": ["service_unavailable"],
}
ORDER_CODES = ME_CODES | {
    "400": [
        "malformed_http",
        "idempotency_key_required",
        "symbol_not_trading",
        "invalid_side",
        "no_live_price",
        "unpriced",
        "symbol_frozen",
        "quantity_rule",
        "group_quantity_rule",
        "limit_exceeded",
    ],
    "403": [*ME_CODES["403"], "side_not_offered", "trading_halted", "group_trading_disabled"],
    "404": ["unknown_symbol"],
    "409": ["price_moved"],
    "413": ["request_too_large"],
    "415": ["unsupported_encoding"],
    "422": ["invalid_request", "idempotency_key_reused"],
    "503": [
        "rate_limiter_unavailable",
        "rates_not_ready",
        "stale_rate",
        "pricing_unavailable",
        "service_unavailable",
    ],
}


def operation(path: str, method: str = "get") -> Json:
    found: Json = DESCRIPTION["paths"][path][method]
    return found


def responses(path: str, method: str = "get") -> Json:
    found: Json = operation(path, method)["responses"]
    return found


def operations() -> Iterator[tuple[str, str]]:
    for path, item in DESCRIPTION["paths"].items():
        for method in item:
            yield path, method


def schema_of(name: str) -> Json:
    found: Json = DESCRIPTION["components"]["schemas"][name]
    return found


def codes(response: Json) -> list[str]:
    """The codes of its examples. Its schema has the bodies of these codes, and no other body."""
    content = media_of(response)
    shown = list(content["examples"])
    bodies = content["schema"].get("oneOf", [content["schema"]])
    assert sorted(body["$ref"].rpartition("/")[2] for body in bodies) == sorted(set(map(body_of, shown)))
    assert all(list(body) == ["$ref"] for body in bodies)
    return shown


def body_of(code: str) -> str:
    """The name of the one schema that allows the code."""
    refusals = ["Refusal", "InvalidRequest", "ProductionTradingDisabled", "OrderRejected", "EventsGone"]
    (name,) = [name for name in refusals if code in detail_of(name)["code"]["enum"]]
    return name


def detail_of(name: str) -> Json:
    """The fields of the `detail` of a refusal."""
    found: Json = schema_of(name)["properties"]["detail"]["properties"]
    return found


def refused(path: str, method: str = "get") -> dict[str, list[str]]:
    return {
        status: codes(response)
        for status, response in responses(path, method).items()
        if is_refused(response)
    }


def refused_in_earnest(path: str, method: str = "get") -> dict[str, list[str]]:
    """Without the two refusals of the header for scenarios, which every call in test can meet."""
    met = refused(path, method)
    return {status: [code for code in codes if code not in SCENARIO_CODES] for status, codes in met.items()}


def in_earnest(path: str, method: str = "get") -> Json:
    """The operation without what scenarios add to it: a header to send, its refusals, a header of answers."""
    found: Json = json.loads(json.dumps(operation(path, method)))
    found.pop("x-scenario-header", None)
    for response in found["responses"].values():
        response["headers"].pop(SCENARIO, None)
        content = media_of(response)
        added = SCENARIO_CODES & content.get("examples", {}).keys()
        others = content.get("examples", {}).keys() - added
        if added and all(ROWS[code] in CATALOGUE[: CATALOGUE.index(RATE_LIMITED)] for code in others):
            # Those come before a call is counted, and tell nothing of a budget.
            response["headers"] = {"X-Request-Id": response["headers"]["X-Request-Id"]}
        for code in added:
            del content["examples"][code]
            lines = response["description"].splitlines()
            response["description"] = "\n".join(line for line in lines if f"`{code}`" not in line)
    return found


def is_refused(response: Json) -> bool:
    return "examples" in media_of(response)


def media_of(response: Json) -> Json:
    """The content of the one kind that the response has: JSON, or a stream of events."""
    (media,) = response["content"].values()
    found: Json = media
    return found


def check(value: Any, schema: Json) -> None:
    """Raise unless the value is as the schema says; references in it are to the description."""
    resource = DRAFT202012.create_resource({**DESCRIPTION, "schema": schema})
    registry: Registry[Any] = Registry().with_resource("urn:description", resource)
    _Exact({"$ref": "urn:description#/schema"}, registry=registry).validate(value)


def _is_multiple(_: Any, of: float, value: Any, __: Json) -> Iterator[ValidationError]:
    if isinstance(value, int | float) and Decimal(str(value)) % Decimal(str(of)):
        yield ValidationError(f"{value} is not a multiple of {of}")


_Exact = extend(Draft202012Validator, {"multipleOf": _is_multiple})  # type: ignore[no-untyped-call]
"""jsonschema divides floats, and finds that 0.3 is no multiple of 0.0001."""


def every_response() -> Iterator[Json]:
    for item in DESCRIPTION["paths"].values():
        for operation in item.values():
            yield from operation["responses"].values()
    yield from DESCRIPTION["components"]["responses"].values()


def examples(response: Json) -> list[Any]:
    media = media_of(response)
    if "example" in media:
        return [media["example"]]
    shared = DESCRIPTION["components"]["examples"]
    return [example.get("value") or shared[code]["value"] for code, example in media["examples"].items()]
