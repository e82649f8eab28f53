"""Placing an order."""

from bullion.api.openapi.endpoint import Endpoint
from bullion.api.openapi.headers import BUDGET, IDEMPOTENT_REPLAYED
from bullion.api.openapi.pieces import Json, answer, schema_ref
from bullion.api.openapi.schemas.place_order import PLACE_ORDER as ASKED
from bullion.environment import Environment
from bullion.keys.key import Scope
from bullion.refusals.catalogue import (
    CATALOGUE,
    INVALID_REQUEST,
    ORDER_NOT_FOUND,
    ORDER_REJECTED,
    PRODUCTION_TRADING_DISABLED,
)

from .examples import OPEN_BUY, ORDER_KEY, PENDING_BUY, REJECTED_BUY, TEST_BUY

_IDEMPOTENCY_KEY: Json = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": True,
    "description": (
        "Names this order among all of the account's, whichever API key sends it. Make a new UUID for each "
        "order, and send the same one whenever you send that order again. Case matters, and a key is never "
        "forgotten."
    ),
    # HTTP takes the blanks off both ends, so what is left begins and ends with something to see.
    "schema": {"type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[!-~]([ -~]*[!-~])?$"},
    "example": ORDER_KEY,
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
_EVERYWHERE = (
    "Buys or sells a weight of one symbol at the market's price.\n\n"
    "If no answer reaches you, send the same body with the same `Idempotency-Key`: you get the order "
    "that was placed, or it is placed now, and never twice. Bodies are compared by what they mean: "
    "`1` is `1.0`, the order of fields is free, and a field left out is the same as `null`. Never "
    "try again with a new key while you do not know what became of the old one.\n\n"
    "An order may not take the metal's position past the allocation; one that brings the position "
    "closer to nothing always may. The message of `limit_exceeded` names the metal, what is free and "
    "the limit. Every call counts against the order budgets, also one that finds an earlier order."
)
_OWN = {
    Environment.TEST: "A test order is filled at once, and only the test book moves.",
    Environment.PRODUCTION: (
        "A production order is real, and becomes a deal when the operator's hedge confirms it. If that is "
        "done at once, it is `open` and answered 201. If the hedge takes longer, it is `pending` and "
        "answered 202. If the hedge refuses, it is `rejected` and answered 409 `order_rejected`.\n\n"
        "While production is closed to the account, an order gets `production_trading_disabled`; while it is "
        "paused, `production_prerequisites_unmet`. Both come before any fault of header or body. An order "
        "that was taken earlier is still found by its key and body.\n\n"
        "After `booking_conflict`, or a 503 whose code begins with `booking_`, send the same body with the "
        "same key again, when `Retry-After` has passed if there is one: that settles what became of the "
        "order. The orders of all keys of the account also share a budget."
    ),
}
_FOUND_AGAIN = "The key and the body were sent before: this is the order of that time, as it is now."


def _place_order(environment: Environment) -> Json:
    return {
        "tags": ["Orders"],
        "summary": "Place an order",
        "description": f"{_EVERYWHERE}\n\n{_OWN[environment]}",
        "parameters": [_IDEMPOTENCY_KEY],
        "requestBody": {
            "required": True,
            "description": "The order, as plain JSON in UTF-8, of 64 KiB at the most.",
            "content": {
                "application/json": {"schema": schema_ref("PlaceOrder"), "example": ASKED["examples"][0]}
            },
        },
        "responses": _in_test() if environment is Environment.TEST else _in_production(),
    }


def _in_test() -> Json:
    order = schema_ref("TestOrder")
    return {
        "201": answer("The order was placed and is filled.", order, TEST_BUY, BUDGET),
        "200": answer(_FOUND_AGAIN, order, TEST_BUY, (IDEMPOTENT_REPLAYED, *BUDGET)),
    }


def _in_production() -> Json:
    order = schema_ref("ProductionOrder")
    return {
        "201": answer("The order was placed and is `open`: it is booked.", order, OPEN_BUY, BUDGET),
        "202": answer(
            "The order was placed and is `pending`: the hedge has yet to confirm it. Read it by its `id`, "
            "every 1 to 2 seconds, until its `status` is another one; after about 30 seconds stop, and look "
            "again later. Its weight counts toward the position already.",
            order,
            PENDING_BUY,
            BUDGET,
        ),
        "200": answer(
            f"{_FOUND_AGAIN} If the hedge has refused it, the answer is 409 `order_rejected` instead.",
            order,
            OPEN_BUY,
            (IDEMPOTENT_REPLAYED, *BUDGET),
        ),
    }


PLACE_ORDER = Endpoint(
    "place_order",
    "post",
    "/orders",
    Scope.ORDERS_WRITE,
    _place_order,
    # An order goes through every check there is, so it can meet every row but the one of reading by id.
    refusals=tuple(row for row in CATALOGUE if row is not ORDER_NOT_FOUND),
    further={
        PRODUCTION_TRADING_DISABLED: {"reason": "account"},
        INVALID_REQUEST: {"errors": _PROBLEMS},
        ORDER_REJECTED: {"order_id": REJECTED_BUY["id"], "order": REJECTED_BUY},
    },
)
