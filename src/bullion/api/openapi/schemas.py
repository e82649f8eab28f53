"""The schemas of bodies, made from the wire structs, and examples put together from their fields."""

from collections.abc import Iterator
from typing import Any

import msgspec

from bullion.api.wire import account, events, market, orders, positions, refusals, service, webhooks
from bullion.refusals.catalogue import (
    CATALOGUE,
    EVENTS_GONE,
    INVALID_REQUEST,
    ORDER_REJECTED,
    PRODUCTION_TRADING_DISABLED,
)

Json = dict[str, Any]

ALWAYS_SENT = "x-always-sent"
"""On a field of a response that the specification does not require, and that this service always sends."""
OWN_BODIES = {
    PRODUCTION_TRADING_DISABLED: refusals.ProductionTradingDisabled,
    INVALID_REQUEST: refusals.InvalidRequest,
    ORDER_REJECTED: refusals.OrderRejected,
    EVENTS_GONE: refusals.EventsGone,
}
"""Refusals with further fields. All others have the body of `refusals.Refusal`."""
_MODULES = (account, orders, positions, market, events, webhooks, refusals, service)


def schema_ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def schema_of(struct: type[msgspec.Struct]) -> Json:
    """The schema of a struct that has no component of its own."""
    _, found = msgspec.json.schema_components([struct])
    schema: Json = _simplify(found[struct.__name__])
    return schema


def example_of(name: str) -> Json:
    """An example of a schema, from the examples of its fields."""
    return _example(SCHEMAS[name])


def _example(schema: Json) -> Json:
    fields = schema["properties"].items()
    return {name: field["examples"][0] for name, field in fields if "examples" in field}


def _schemas() -> Json:
    _, found = msgspec.json.schema_components(_bodies(), ref_template="#/components/schemas/{name}")
    schemas: Json = {struct.__name__: _simplify(found[struct.__name__]) for struct in _bodies()}
    for order in (orders.TestOrder, orders.ProductionOrder, orders.RejectedOrder):
        _require_specified(schemas[order.__name__])
    own_codes = {struct.__name__: [row.code] for row, struct in OWN_BODIES.items()}
    codes = {"Refusal": [row.code for row in CATALOGUE if row not in OWN_BODIES], **own_codes}
    for name, enum in codes.items():
        schemas[name] = _refusal(schemas[name], enum)
    part = {"type": "boolean", "description": "A part, and whether it is in order."}
    schemas["Readiness"]["additionalProperties"] = part
    # The first is shown to paste, so it names no price: the market will have moved on by then.
    schemas["PlaceOrder"]["examples"] = [
        _example(schemas["PlaceOrder"]),
        {"symbol_code": "SILVER", "trade_type": "sell", "quantity": 2, "expected_price": 299854},
    ]
    schemas["Problem"]["examples"] = [_example(schemas["Problem"])]
    return schemas | {"Description": {"type": "object", "description": "An OpenAPI document."}}


def _bodies() -> Iterator[type[msgspec.Struct]]:
    """Not `Order`, which two others have in common, and not the queries, which are no bodies."""
    for module in _MODULES:
        for name, value in vars(module).items():
            own = isinstance(value, type) and value.__module__ == module.__name__
            if own and value is not orders.Order and not name.endswith("Query"):
                yield value


def _simplify(schema: Any) -> Any:
    """Without titles, which repeat the names, and with `type: [X, null]` for values that may be null."""
    if isinstance(schema, list):
        return [_simplify(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    tidy = {name: _simplify(inner) for name, inner in schema.items() if name != "title"}
    if {"type": "null"} in schema.get("anyOf", ()):
        value, null = tidy.pop("anyOf")
        tidy |= value | {"type": [value["type"], null["type"]]}
    return tidy


def _require_specified(schema: Json) -> None:
    """Clients written for the specification may meet services that send only what it requires."""
    schema["required"] = [name for name in schema["required"] if name in orders.ORDER_FIELDS_SPECIFIED]
    for name, field in schema["properties"].items():
        if name not in schema["required"]:
            field["description"] += " This service always sends it."
            field[ALWAYS_SENT] = True


def _refusal(detail: Json, codes: list[str]) -> Json:
    """A body around its `detail`. The codes tell the bodies apart, so no answer fits two of them."""
    description = detail["description"]
    detail["description"] = "Why the call was refused."
    detail["properties"]["code"]["enum"] = codes
    return {
        "type": "object",
        "required": ["detail"],
        "properties": {"detail": detail},
        "description": description,
    }


SCHEMAS = _schemas()
