"""Every call of the trading API, in the order in which it is shown."""

import json
from typing import Any

from bullion.api.wire.events import WAIT_S_MAX, EventQuery, StreamQuery
from bullion.api.wire.market import QuoteQuery
from bullion.api.wire.orders import ProductionOrderQuery, TestOrderQuery
from bullion.environment import Environment
from bullion.keys.key import Scope
from bullion.orders.bounds import KEY_LENGTH_MAX
from bullion.orders.listing import LIMIT_MAX
from bullion.refusals.catalogue import (
    CATALOGUE,
    EVENTS_GONE,
    INVALID_REQUEST,
    ORDER_NOT_FOUND,
    ORDER_REJECTED,
    PRODUCTION_TRADING_DISABLED,
    QUOTE_STREAM_DISABLED,
    STALE_RATE,
    TOO_MANY_STREAMS,
    WEBHOOK_LIMIT,
    WEBHOOK_NOT_FOUND,
    WEBHOOK_OFF,
    WEBHOOK_URL_REFUSED,
)

from .endpoint import Endpoint, query_parameters
from .examples import CLOSED_SELL, OPEN_BUY, OPEN_SELL, PENDING_BUY, REJECTED_BUY, TEST_BUY, TEST_SELL
from .refusals import WITH_KEY
from .responses import BUDGET, IDEMPOTENT_REPLAYED, event_stream, response
from .schemas import SCHEMAS, Json, example_of, schema_ref
from .webhooks import WEBHOOK_ENDPOINTS

_TEST, _PRODUCTION = Environment


def _both(same: Any) -> dict[Environment, Any]:
    return {_TEST: same, _PRODUCTION: same}


def _ok(description: str, schema: str, example: Json) -> Json:
    return {"200": response(description, schema, example, BUDGET)}


ME = Endpoint(
    name="me",
    method="get",
    path="/me",
    scope=Scope.ACCOUNT_READ,
    tag="Account",
    summary="Read the account and the key",
    description="Shows which key was sent and what it may do. A good first call: it changes nothing.",
    responses={
        environment: _ok(
            "The account.", "Account", example_of("Account") | {"environment": environment.value}
        )
        for environment in Environment
    },
)

# --- Placing an order ---------------------------------------------------------------------------------

_IDEMPOTENCY_KEY: Json = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": True,
    "description": (
        "Names this order among all orders of the account, whichever API key sends it. Make a new UUID for "
        "each order, and send the same one whenever you send that order again. Case matters, and a key is "
        "never forgotten."
    ),
    # HTTP removes blanks at both ends, so what is left begins and ends with a visible character.
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": KEY_LENGTH_MAX,
        "pattern": "^[!-~]([ -~]*[!-~])?$",
    },
    "example": "5b0c1a52-6c1e-4f0e-9a53-0d9a7f3b2c11",
}
_PROBLEMS = [
    {
        "loc": ["body", "quantity"],
        "msg": "quantity may have up to 4 decimal places; 1.00005 has more.",
        "type": "too_many_digits",
    },
    {
        "loc": ["body", "expected_price"],
        "msg": "expected_price must be a JSON number such as 12.5, not a string.",
        "type": "not_a_number",
    },
]
_OF_OTHER_CALLS = (
    ORDER_NOT_FOUND,
    EVENTS_GONE,
    QUOTE_STREAM_DISABLED,
    TOO_MANY_STREAMS,
    WEBHOOK_NOT_FOUND,
    WEBHOOK_URL_REFUSED,
    WEBHOOK_LIMIT,
    WEBHOOK_OFF,
)
_FOUND_AGAIN = "The key and the body were sent before: this is the order of that time, as it is now."

PLACE_ORDER = Endpoint(
    name="place_order",
    method="post",
    path="/orders",
    scope=Scope.ORDERS_WRITE,
    tag="Orders",
    summary="Place an order",
    description=(
        "Buys or sells a weight of one symbol at the market's price.\n\n"
        "If no answer reaches you, send the same body with the same `Idempotency-Key`: you get the order "
        "that was placed, or it is placed now, and never twice. Bodies are compared by what they mean: "
        "`1` is `1.0`, the order of fields is free, and a field left out is the same as `null`. Never "
        "try again with a new key while you do not know what became of the old one.\n\n"
        "An order may not take the metal's position past the allocation; one that brings the position "
        "closer to zero always may. The message of `limit_exceeded` names the metal, what is free and "
        "the limit. Every call counts against the order budgets, also one that finds an earlier order."
    ),
    own={
        _TEST: "A test order is filled at once, and only the test book moves.",
        _PRODUCTION: (
            "A production order is real, and becomes a deal when the operator's hedge confirms it. If that "
            "is done at once, it is `open` and the status is 201. If the hedge takes longer, it is `pending` "
            "and the status is 202. If the hedge refuses, it is `rejected` and the status is 409 "
            "`order_rejected`.\n\n"
            "While production is closed to the account, an order gets `production_trading_disabled`; while "
            "it is paused, `production_prerequisites_unmet`. Both come before any fault of header or body. "
            "An order that was accepted earlier is still found by its key and body.\n\n"
            "After `booking_conflict`, or a 503 whose code begins with `booking_`, send the same body with "
            "the same key again, when `Retry-After` has passed if there is one: that settles what became of "
            "the order. The orders of all keys of the account also share a budget."
        ),
    },
    parameters=_both([_IDEMPOTENCY_KEY]),
    body={
        "required": True,
        "description": "The order, as plain JSON in UTF-8, of 64 KiB at the most.",
        "content": {
            "application/json": {
                "schema": schema_ref("PlaceOrder"),
                "example": SCHEMAS["PlaceOrder"]["examples"][0],
            }
        },
    },
    responses={
        _TEST: {
            "201": response("The order was placed and is filled.", "TestOrder", TEST_BUY, BUDGET),
            "200": response(_FOUND_AGAIN, "TestOrder", TEST_BUY, (IDEMPOTENT_REPLAYED, *BUDGET)),
        },
        _PRODUCTION: {
            "201": response(
                "The order was placed and is `open`: it is booked.", "ProductionOrder", OPEN_BUY, BUDGET
            ),
            "202": response(
                "The order was placed and is `pending`: the hedge has yet to confirm it. Read it by its "
                "`id`, every 1 to 2 seconds, until its `status` is another one; after about 30 seconds stop, "
                "and look again later. Its weight counts toward the position already.",
                "ProductionOrder",
                PENDING_BUY,
                BUDGET,
            ),
            "200": response(
                f"{_FOUND_AGAIN} If the hedge has refused it, the status is 409 `order_rejected` instead.",
                "ProductionOrder",
                OPEN_BUY,
                (IDEMPOTENT_REPLAYED, *BUDGET),
            ),
        },
    },
    # An order goes through every check, so it can get every row but those of other calls.
    refusals=tuple(row for row in CATALOGUE if row not in _OF_OTHER_CALLS),
    further={
        PRODUCTION_TRADING_DISABLED: {"reason": "account"},
        INVALID_REQUEST: {"errors": _PROBLEMS},
        ORDER_REJECTED: {"order_id": REJECTED_BUY["id"], "order": REJECTED_BUY},
    },
)

# --- Reading orders -----------------------------------------------------------------------------------

_PAGE = "The page that was asked for."

LIST_ORDERS = Endpoint(
    name="list_orders",
    method="get",
    path="/orders",
    scope=Scope.ORDERS_READ,
    tag="Orders",
    summary="List orders",
    description=(
        "Shows orders, the newest first. Filters are joined: an order must match them all. When nothing "
        "matches, the list is empty. A parameter that is not listed here is ignored."
    ),
    own={
        _TEST: "The list has the account's test orders.",
        _PRODUCTION: (
            "The list has the account's orders from all channels; `source` tells them apart. An order that "
            "did not come through the API is left out while it waits for the hedge, and for good if the "
            "hedge refuses it. Once confirmed it is there, `open`."
        ),
    },
    parameters={
        _TEST: query_parameters(TestOrderQuery),
        _PRODUCTION: query_parameters(ProductionOrderQuery),
    },
    responses={
        _TEST: _ok(_PAGE, "TestOrderList", {"items": [TEST_SELL, TEST_BUY], "total": 2}),
        _PRODUCTION: _ok(
            _PAGE, "ProductionOrderList", {"items": [OPEN_BUY, OPEN_SELL, CLOSED_SELL], "total": 3}
        ),
    },
    refusals=(*WITH_KEY, INVALID_REQUEST),
    further={
        INVALID_REQUEST: {
            "errors": [
                {"loc": ["query", "limit"], "msg": f"limit may be at most {LIMIT_MAX}.", "type": "too_large"}
            ]
        }
    },
)


def _order_id(example: Json) -> list[Json]:
    return [
        {
            "name": "order_id",
            "in": "path",
            "required": True,
            "description": "The order's `id`. Anything that is no UUID is not found.",
            "schema": {"type": "string", "format": "uuid"},
            "example": example["id"],
        }
    ]


READ_ORDER = Endpoint(
    name="read_order",
    method="get",
    path="/orders/{order_id}",
    scope=Scope.ORDERS_READ,
    tag="Orders",
    summary="Read an order",
    description=(
        "Shows one order of the account. An order of another account gets the same response as one that does "
        "not exist. Reading is counted against the budget of reads, never that of orders."
    ),
    own={
        _PRODUCTION: (
            "To follow a `pending` order, read it every 1 to 2 seconds until its `status` is another one: "
            "`open` if it was booked, `rejected` if the hedge refused it and nothing was, in rare cases "
            "`deleted`. After about 30 seconds stop, and look again later.\n\n"
            "Orders of other channels that the list hides are not found here either. A deleted order is."
        )
    },
    parameters={_TEST: _order_id(TEST_BUY), _PRODUCTION: _order_id(OPEN_BUY)},
    responses={
        _TEST: _ok("The order.", "TestOrder", TEST_BUY),
        _PRODUCTION: _ok("The order.", "ProductionOrder", OPEN_BUY),
    },
    refusals=(*WITH_KEY, ORDER_NOT_FOUND),
)

# --- Positions ----------------------------------------------------------------------------------------

_GOLD_HELD = {"net": "100.0000", "limit": "1000.0000", "used": "100.0000", "free": "900.0000", "unit": "g"}
_SILVER_HELD = {"net": "-2.0000", "limit": "50.0000", "used": "2.0000", "free": "48.0000", "unit": "kg"}
_METALS = {"gold": _GOLD_HELD, "silver": _SILVER_HELD}
_GOLD_OPEN = {"symbol_code": "GOLD", "metal": "gold", "buy": "100.0000", "sell": "0.0000", "net": "100.0000"}
_SILVER_OPEN = {
    "symbol_code": "SILVER",
    "metal": "silver",
    "buy": "0.0000",
    "sell": "2.0000",
    "net": "-2.0000",
}

POSITIONS = Endpoint(
    name="positions",
    method="get",
    path="/positions",
    scope=Scope.ORDERS_READ,
    tag="Positions",
    summary="Read the positions",
    description="Shows for each metal what the account holds, and how much of its allocation that takes.",
    own={
        _TEST: "Test orders move the test book alone, but it is held against the real allocation.",
        _PRODUCTION: (
            "This is the real book. It has every order that is pending, open or closing, from all channels, "
            "also those that the list does not show yet. `symbols` tells what is open in each symbol."
        ),
    },
    responses={
        _TEST: _ok("Both metals.", "TestPositions", _METALS),
        _PRODUCTION: _ok(
            "Both metals, and each symbol that has an open order.",
            "ProductionPositions",
            {**_METALS, "symbols": [_GOLD_OPEN | {"unit": "g"}, _SILVER_OPEN | {"unit": "kg"}]},
        ),
    },
)

# --- The market: extensions, without which a client would have to guess -------------------------------

_GOLD, _GOLD_QUOTE = example_of("Symbol"), example_of("Quote")
_SILVER = _GOLD | {
    "symbol_code": "SILVER",
    "metal": "silver",
    "unit": "kg",
    "quoted_weight": "1.0000",
    "maximum": "500.0000",
}
_SILVER_QUOTE = {
    "symbol_code": "SILVER",
    "buy": "300185.00",
    "sell": "299854.00",
    "at": "2026-11-15T04:29:02.310655+00:00",
    "tradable": False,
    "reason": STALE_RATE.code,
}

_EVERY_STREAM = (
    "Every 15 seconds comes a comment line, so that a broken connection is noticed. Opening a stream counts "
    "against a budget of its own. If the account or the key may no longer read, the last event is `end`, "
    "with the `code` and `message` of the refusal, and the connection is closed."
)

SYMBOLS = Endpoint(
    name="symbols",
    method="get",
    path="/symbols",
    scope=Scope.ORDERS_READ,
    tag="Market",
    summary="List the symbols",
    description=(
        "Shows what the account may trade: in which sizes, on which sides, and the weight that a price is "
        "for."
    ),
    responses=_both(_ok("The symbols.", "Symbols", {"items": [_GOLD, _SILVER]})),
    extension=True,
)
QUOTES = Endpoint(
    name="quotes",
    method="get",
    path="/quotes",
    scope=Scope.ORDERS_READ,
    tag="Market",
    summary="Read the prices",
    description=(
        "Shows at what price an order of the account would be accepted now, and if it would not, why. To be "
        "sure of a price, send it with the order as `expected_price`."
    ),
    parameters=_both(query_parameters(QuoteQuery)),
    responses=_both(_ok("The quotes.", "Quotes", {"items": [_GOLD_QUOTE, _SILVER_QUOTE]})),
    refusals=(*WITH_KEY, INVALID_REQUEST),
    further={
        INVALID_REQUEST: {
            "errors": [
                {
                    "loc": ["query", "symbol_code"],
                    "msg": "symbol_code has 40 characters; it may have up to 32.",
                    "type": "too_long",
                }
            ]
        }
    },
    extension=True,
)
STREAM_QUOTES = Endpoint(
    name="stream_quotes",
    method="get",
    path="/quotes/stream",
    scope=Scope.ORDERS_READ,
    tag="Market",
    summary="Stream the prices",
    description=(
        "Sends the quotes of the account, and then each one that has changed, as server-sent events. A "
        "symbol has at most one in an interval that the broker sets.\n\n"
        f"{_EVERY_STREAM}"
    ),
    parameters=_both(query_parameters(QuoteQuery)),
    responses=_both(
        {
            "200": event_stream(
                "Events of the type `quote`. The data of each is one quote, as in the list.",
                {"event": "quote", "data": json.dumps(_GOLD_QUOTE)},
            )
        }
    ),
    refusals=(*WITH_KEY, QUOTE_STREAM_DISABLED, TOO_MANY_STREAMS, INVALID_REQUEST),
    further=QUOTES.further,
    extension=True,
)

# --- What happened, without asking for each order -----------------------------------------------------

_EVENTS = {
    _TEST: {**example_of("TestEvent"), "data": TEST_BUY},
    _PRODUCTION: {**example_of("ProductionEvent"), "type": "order.opened", "data": OPEN_BUY},
}

EVENTS = Endpoint(
    name="events",
    method="get",
    path="/events",
    scope=Scope.ORDERS_READ,
    tag="Events",
    summary="Read what happened",
    description=(
        "Shows what happened to the account, oldest first: its orders and every change of them, its "
        "allocation and keys, and halts. Numbers have no gaps. Keep the number of the last event you "
        "handled, and send it as `after`: nothing is missed, and nothing comes twice. With `wait` the call "
        "is answered as soon as something happens."
    ),
    own={
        _PRODUCTION: (
            "An order that did not come through the API has no `order.created`: you hear of it when it is "
            "`open`."
        )
    },
    parameters=_both(query_parameters(EventQuery)),
    responses={
        environment: _ok(
            "The next events.",
            f"{environment.value.capitalize()}EventList",
            {"items": [_EVENTS[environment]], "next_after": 17, "has_more": False},
        )
        for environment in Environment
    },
    refusals=(*WITH_KEY, INVALID_REQUEST, EVENTS_GONE),
    further={
        INVALID_REQUEST: {
            "errors": [
                {"loc": ["query", "wait"], "msg": f"wait may be at most {WAIT_S_MAX}.", "type": "too_large"}
            ]
        },
        EVENTS_GONE: {"oldest": 310, "newest": 4210},
    },
    extension=True,
)

_POSITION: Json = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "description": (
        "The number of the last event that you have: the stream goes on after it. Browsers send it by "
        "themselves when they connect again. It counts more than `after`."
    ),
    "schema": {"type": "string", "pattern": "^[0-9]*$"},
}

STREAM_EVENTS = Endpoint(
    name="stream_events",
    method="get",
    path="/events/stream",
    scope=Scope.ORDERS_READ,
    tag="Events",
    summary="Stream what happens",
    description=(
        "Sends each event of the account as it happens, as server-sent events. The `id` of each is its "
        "number: connect again with it and nothing is missed, and nothing comes twice. The first lines have "
        "the `id` from which the stream goes on, without an event. A client that reads too slowly is cut "
        "off; it connects again.\n\n"
        f"{_EVERY_STREAM}"
    ),
    parameters=_both([_POSITION, *query_parameters(StreamQuery)]),
    responses={
        environment: {
            "200": event_stream(
                "Events. The data of each is one event, as in the list.",
                {
                    "id": "17",
                    "event": _EVENTS[environment]["type"],
                    "data": json.dumps(_EVENTS[environment]),
                },
            )
        }
        for environment in Environment
    },
    refusals=(*WITH_KEY, TOO_MANY_STREAMS, INVALID_REQUEST, EVENTS_GONE),
    further={
        INVALID_REQUEST: {
            "errors": [
                {
                    "loc": ["header", "Last-Event-ID"],
                    "msg": "Last-Event-ID must be the number of an event, in digits 0 to 9.",
                    "type": "not_an_integer",
                }
            ]
        },
        EVENTS_GONE: EVENTS.further[EVENTS_GONE],
    },
    extension=True,
)

ENDPOINTS = (
    ME,
    PLACE_ORDER,
    LIST_ORDERS,
    READ_ORDER,
    POSITIONS,
    SYMBOLS,
    QUOTES,
    STREAM_QUOTES,
    EVENTS,
    STREAM_EVENTS,
    *WEBHOOK_ENDPOINTS,
)
