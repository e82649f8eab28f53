"""Reading orders back: many, or one."""

from bullion.api.openapi.endpoint import Endpoint
from bullion.api.openapi.headers import BUDGET
from bullion.api.openapi.pieces import Json, answer, schema_ref
from bullion.api.openapi.refused import WITH_KEY
from bullion.api.openapi.values import (
    ALL_STATUSES,
    CLIENT_ORDER_ID_LENGTH_MAX,
    PRODUCTION_STATUSES,
    SYMBOL_CODE_LENGTH_MAX,
)
from bullion.environment import Environment
from bullion.keys.key import Scope
from bullion.refusals.catalogue import INVALID_REQUEST, ORDER_NOT_FOUND

from .examples import CLOSED_SELL, OPEN_BUY, OPEN_SELL, SINCE, TEST_BUY, TEST_SELL
from .parameters import in_query

_LIST_PARAMETERS = [
    in_query(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": 200, "default": 50},
        "How many orders to show.",
        example=20,
    ),
    in_query(
        "offset",
        {"type": "integer", "minimum": 0, "default": 0},
        "How many of the newest to pass over first. Past the end the page is empty.",
    ),
    in_query(
        "symbol_code",
        {"type": "string", "maxLength": SYMBOL_CODE_LENGTH_MAX},
        "Only orders of this symbol.",
    ),
    # No list of choices: a side that is none is not refused here, it just matches nothing.
    in_query("trade_type", {"type": "string", "maxLength": 8}, "Only this side, `buy` or `sell`."),
    in_query(
        "since",
        {"type": "string"},
        "Only orders placed at this ISO 8601 time or later. Without a zone it is UTC, and a date alone is "
        "its midnight. Write a `+` as `%2B`.",
        example=SINCE,
    ),
    in_query(
        "client_order_id",
        {"type": "string", "maxLength": CLIENT_ORDER_ID_LENGTH_MAX},
        "Only orders with exactly this name of yours.",
        extension=True,
    ),
]
_STATUS = in_query(
    "status",
    {"type": "string", "enum": [*PRODUCTION_STATUSES, ALL_STATUSES], "default": ALL_STATUSES},
    "Only orders in this state. `all` is every state but `deleted`, which has to be asked for by its name.",
)
_PROBLEM = {"loc": ["query", "limit"], "msg": "limit may be at most 200.", "type": "too_large"}
_LISTED = {
    Environment.TEST: "The list has the account's test orders.",
    Environment.PRODUCTION: (
        "The list has the account's orders from all channels; `source` tells them apart. An order that did "
        "not come through the API is left out while it waits for the hedge, and for good if the hedge "
        "refuses it. Once confirmed it is there, `open`."
    ),
}
_PAGES = {
    Environment.TEST: ("TestOrderList", {"items": [TEST_SELL, TEST_BUY], "total": 2}),
    Environment.PRODUCTION: (
        "ProductionOrderList",
        {"items": [OPEN_BUY, OPEN_SELL, CLOSED_SELL], "total": 3},
    ),
}
_READ = (
    "Shows one order of the account. An order of somebody else is answered just as one that does not "
    "exist. Reading is counted against the budget of reads, never that of orders."
)
_READ_IN_PRODUCTION = (
    "To follow a `pending` order, read it every 1 to 2 seconds until its `status` is another one: `open` if "
    "it was booked, `rejected` if the hedge refused it and nothing was, in rare cases `deleted`. After about "
    "30 seconds stop, and look again later.\n\n"
    "What the list hides of other channels is not found here either. A deleted order still is."
)


def _list_orders(environment: Environment) -> Json:
    name, example = _PAGES[environment]
    production = environment is Environment.PRODUCTION
    return {
        "tags": ["Orders"],
        "summary": "List orders",
        "description": (
            "Shows orders, the newest first. Filters are joined: an order must match them all. When nothing "
            "matches, the list is empty. A parameter that is not listed here is ignored.\n\n"
            f"{_LISTED[environment]}"
        ),
        "parameters": [*_LIST_PARAMETERS, _STATUS] if production else _LIST_PARAMETERS,
        "responses": {"200": answer("The page that was asked for.", schema_ref(name), example, BUDGET)},
    }


def _read_order(environment: Environment) -> Json:
    production = environment is Environment.PRODUCTION
    name, example = ("ProductionOrder", OPEN_BUY) if production else ("TestOrder", TEST_BUY)
    order_id = {
        "name": "order_id",
        "in": "path",
        "required": True,
        "description": "The order's `id`. What is no UUID is no order either: it is not found.",
        "schema": {"type": "string", "format": "uuid"},
        "example": example["id"],
    }
    return {
        "tags": ["Orders"],
        "summary": "Read an order",
        "description": f"{_READ}\n\n{_READ_IN_PRODUCTION}" if production else _READ,
        "parameters": [order_id],
        "responses": {"200": answer("The order.", schema_ref(name), example, BUDGET)},
    }


LIST_ORDERS = Endpoint(
    "list_orders",
    "get",
    "/orders",
    Scope.ORDERS_READ,
    _list_orders,
    refusals=(*WITH_KEY, INVALID_REQUEST),
    further={INVALID_REQUEST: {"errors": [_PROBLEM]}},
)
READ_ORDER = Endpoint(
    "read_order",
    "get",
    "/orders/{order_id}",
    Scope.ORDERS_READ,
    _read_order,
    refusals=(*WITH_KEY, ORDER_NOT_FOUND),
)
