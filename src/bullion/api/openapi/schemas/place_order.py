"""What a client asks for."""

from bullion.api.openapi.pieces import Json
from bullion.api.openapi.values import CLIENT_ORDER_ID_LENGTH_MAX, SIDE, SYMBOL_CODE_LENGTH_MAX

PLACE_ORDER: Json = {
    "type": "object",
    "description": "A market order. Any other field is refused, so that a slip in a name is noticed.",
    "required": ["symbol_code", "trade_type", "quantity"],
    "additionalProperties": False,
    "properties": {
        "symbol_code": {
            "type": "string",
            "minLength": 1,
            "maxLength": SYMBOL_CODE_LENGTH_MAX,
            "description": "What to trade.",
        },
        "trade_type": SIDE | {"description": "Your side. Any other text is refused with `invalid_side`."},
        # Without `multipleOf`: a validator that counts in floats would find fault with 0.3.
        "quantity": {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": 1_000_000,
            "description": (
                "The weight, in the symbol's unit, with no more than 4 decimal places. It is read exactly as "
                "written; `100`, `100.00000` and `1e2` are the same."
            ),
        },
        "expected_price": {
            "type": ["number", "null"],
            "exclusiveMinimum": 0,
            "description": (
                "The price that you reckon with, in rupees per quoted weight, with no more than 20 "
                "significant digits. When the price of the moment is further from it than the operator "
                "tolerates, up or down, the order is refused with `price_moved`. Left out, any will do."
            ),
        },
        "client_order_id": {
            "type": ["string", "null"],
            "maxLength": CLIENT_ORDER_ID_LENGTH_MAX,
            "description": "A name of your own for the order. It need not be unique.",
        },
    },
    # The first is what the page shows to paste, so it names no price: the market will have left it by then.
    "examples": [
        {
            "symbol_code": "GOLD",
            "trade_type": "buy",
            "quantity": 100,
            "client_order_id": "desk-7-0042",
        },
        {"symbol_code": "SILVER", "trade_type": "sell", "quantity": 2, "expected_price": 299854},
    ],
}
