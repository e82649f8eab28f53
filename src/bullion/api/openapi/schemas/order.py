"""The order that becomes of what a client asks for, as each environment has it."""

from bullion.api.openapi.pieces import ALWAYS_SENT, Json, object_of, schema_ref
from bullion.api.openapi.values import (
    PRODUCTION_STATUSES,
    SIDE,
    UNIT,
    instant,
    or_null,
    rupees,
    signed_rupees,
    weight,
)
from bullion.environment import Environment

_REQUIRED = ("id", "symbol_code", "trade_type", "quantity", "unit", "status", "status_detail")
"""By the specification. A client written for it may be used with services that send no more than these."""


def _order(environment: Environment, status: Json, own: Json) -> Json:
    """What an order has in both environments; `own` adds fields, or says more of one that is there."""
    properties: Json = {
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
        "status": status,
        "client_order_id": {
            "type": ["string", "null"],
            "description": "The client's own name for it, if one was sent.",
        },
        "created_at": instant("When the order was placed, in UTC."),
        **own,
    }
    for name in properties.keys() - _REQUIRED:
        described = f"{properties[name]['description']} This service always sends it."
        properties[name] = properties[name] | {"description": described, ALWAYS_SENT: True}
    return {
        "type": "object",
        "required": [name for name in _REQUIRED if name in properties],
        "properties": properties,
        "description": f"An order of the {environment.value} environment.",
    }


_TEST_STATUS: Json = {
    "type": "string",
    "enum": ["filled"],
    "description": "What has become of the order: there is no other state in the test environment.",
}
_TEST: Json = {
    "deal_label": {
        "type": "string",
        "pattern": "^T-[1-9][0-9]*$",
        "description": "`T-` and the order's number in the account's test book. There is no deal behind it.",
    },
}
_PRODUCTION_STATUS: Json = {
    "type": "string",
    "enum": PRODUCTION_STATUSES,
    "description": (
        "What has become of the order. `pending`: it was taken and waits for the hedge; it is no deal yet, "
        "but its weight counts already. `open`: it is booked. `closing`: the operator has begun to close "
        "it. `closed`: that is done. `rejected`: the hedge would not have it, so there is no deal. "
        "`deleted`: the operator took it out. Branch on this."
    ),
}
_PRODUCTION: Json = {
    "price": or_null(
        rupees(
            "The rate it is booked at, in rupees per quoted weight of the symbol; null until it is booked."
        )
    ),
    "total": or_null(
        rupees("What the whole quantity comes to at that price, in rupees; null until it is booked.")
    ),
    "created_at": or_null(instant("When the order was placed, in UTC.")),
    "deal_no": {
        "type": ["integer", "null"],
        "description": "The number of the operator's deal; null where there is none.",
    },
    "status_detail": {
        "type": "string",
        "description": (
            "What the operator's own books call the state, such as `HEDGE_WAIT`. Quote it to the desk; a "
            "program goes by `status`."
        ),
    },
    # No list of choices: the operator may open further channels.
    "source": {
        "type": ["string", "null"],
        "description": (
            "Which channel brought the order: `api` is this one, `web` and `mobile` are two of the others."
        ),
    },
    "close_price": or_null(
        rupees("The rate it was closed at, in rupees per quoted weight; null before that.")
    ),
    "realized_pnl": or_null(
        signed_rupees("What closing it won in rupees, below 0 for a loss; null before that.")
    ),
    "closed_at": or_null(instant("When it was closed, in UTC; null before that.")),
}


def _list_of(name: str, description: str) -> Json:
    return object_of(
        {
            "items": {
                "type": "array",
                "items": schema_ref(name),
                "description": "One page of orders, the newest first.",
            },
            "total": {
                "type": "integer",
                "minimum": 0,
                "description": "How many orders match the filters, on all pages together.",
            },
        },
        description=description,
    )


ORDER: Json = {
    "TestOrder": _order(Environment.TEST, _TEST_STATUS, _TEST),
    "TestOrderList": _list_of("TestOrder", "A page of the account's test orders."),
    "ProductionOrder": _order(Environment.PRODUCTION, _PRODUCTION_STATUS, _PRODUCTION),
    "ProductionOrderList": _list_of("ProductionOrder", "A page of the account's real orders."),
}
