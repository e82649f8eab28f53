"""Placing an order."""

from bullion.api.openapi.endpoint import Endpoint
from bullion.api.openapi.headers import BUDGET, IDEMPOTENT_REPLAYED
from bullion.api.openapi.pieces import Json, answer, schema_ref
from bullion.api.openapi.schemas.order import ORDER
from bullion.environment import Environment
from bullion.keys.key import Scope
from bullion.refusals.catalogue import CATALOGUE, ORDER_NOT_FOUND

from .examples import ORDER_KEY, TEST_BUY

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
_PROBLEMS: tuple[Json, ...] = (
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
)


def _place_order(_: Environment) -> Json:
    order = schema_ref("TestOrder")
    return {
        "tags": ["Orders"],
        "summary": "Place an order",
        "description": (
            "Buys or sells a weight of one symbol at the market's price. In the test environment the order "
            "is filled at once and only the test book moves.\n\n"
            "If no answer reaches you, send the same body with the same `Idempotency-Key`: you get the order "
            "that was placed, or it is placed now, and never twice. Bodies are compared by what they mean: "
            "`1` is `1.0`, the order of fields is free, and a field left out is the same as `null`. Never "
            "try again with a new key while you do not know what became of the old one.\n\n"
            "An order may not take the metal's position past the allocation; one that brings the position "
            "closer to nothing always may. The message of `limit_exceeded` names the metal, what is free and "
            "the limit. Every call counts against the order budgets, also one that finds an earlier order."
        ),
        "parameters": [_IDEMPOTENCY_KEY],
        "requestBody": {
            "required": True,
            "description": "The order, as plain JSON in UTF-8, of 64 KiB at the most.",
            "content": {
                "application/json": {
                    "schema": schema_ref("PlaceOrder"),
                    "example": ORDER["PlaceOrder"]["examples"][0],
                }
            },
        },
        "responses": {
            "201": answer("The order was placed and is filled.", order, TEST_BUY, BUDGET),
            "200": answer(
                "The key and the body were sent before: this is the order of that time, as it is now.",
                order,
                TEST_BUY,
                (IDEMPOTENT_REPLAYED, *BUDGET),
            ),
        },
    }


PLACE_ORDER = Endpoint(
    "place_order",
    "post",
    "/orders",
    Scope.ORDERS_WRITE,
    _place_order,
    # An order goes through every check there is, so it can meet every row but the one of reading by id.
    refusals=tuple(row for row in CATALOGUE if row is not ORDER_NOT_FOUND),
    environments=(Environment.TEST,),
    problems=_PROBLEMS,
)
