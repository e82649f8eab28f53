"""What a client asks for, and the order that becomes of it."""

from bullion.api.openapi.pieces import Json, object_of, schema_ref
from bullion.api.openapi.values import (
    CLIENT_ORDER_ID_LENGTH_MAX,
    SIDE,
    SYMBOL_CODE_LENGTH_MAX,
    UNIT,
    instant,
    rupees,
    weight,
)
from bullion.environment import Environment

_PLACE_ORDER: Json = {
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
        {"symbol_code": "SILVER", "trade_type": "sell", "quantity": 2.5, "expected_price": 84120},
    ],
}


def _order(environment: Environment, statuses: list[str], more: Json) -> Json:
    """What an order has in both environments, and what one of them adds."""
    return object_of(
        {
            "id": {"type": "string", "format": "uuid", "description": "Names the order: read it with this."},
            "environment": {
                "type": "string",
                "enum": [environment.value],
                "description": "The environment that the order was placed in.",
            },
            "symbol_code": {"type": "string", "description": "What is traded."},
            "trade_type": SIDE | {"description": "The client's side."},
            "quantity": weight("The weight, in `unit`."),
            "unit": UNIT | {"description": "What the symbol is weighed in: gold in `g`, silver in `kg`."},
            "price": rupees("The rate of the order, in rupees per quoted weight of the symbol."),
            "total": rupees("What the whole quantity comes to at that price, in rupees."),
            "status": {"type": "string", "enum": statuses, "description": "What has become of the order."},
            "client_order_id": {
                "type": ["string", "null"],
                "description": "The client's own name for it, if one was sent.",
            },
            "created_at": instant("When the order was placed, in UTC."),
            **more,
        },
        description=f"An order of the {environment.value} environment.",
    )


_DEAL_LABEL: Json = {
    "type": "string",
    "pattern": "^T-[1-9][0-9]*$",
    "description": "`T-` and the order's number in the account's test book. There is no deal behind it.",
}

ORDER: Json = {
    "PlaceOrder": _PLACE_ORDER,
    "TestOrder": _order(Environment.TEST, ["filled"], {"deal_label": _DEAL_LABEL}),
    "TestOrderList": object_of(
        {
            "items": {
                "type": "array",
                "items": schema_ref("TestOrder"),
                "description": "One page of orders, the newest first.",
            },
            "total": {
                "type": "integer",
                "minimum": 0,
                "description": "How many orders match the filters, on all pages together.",
            },
        },
        description="A page of the account's test orders.",
    ),
}
