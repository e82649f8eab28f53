"""Reading orders back: many, or one."""

from bullion.api.openapi.endpoint import Endpoint
from bullion.api.openapi.headers import BUDGET
from bullion.api.openapi.pieces import Json, answer, schema_ref
from bullion.api.openapi.refused import WITH_KEY
from bullion.api.openapi.values import CLIENT_ORDER_ID_LENGTH_MAX, SYMBOL_CODE_LENGTH_MAX
from bullion.environment import Environment
from bullion.keys.key import Scope
from bullion.refusals.catalogue import INVALID_REQUEST, ORDER_NOT_FOUND

from .examples import SINCE, TEST_BUY, TEST_SELL
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
_PROBLEMS: tuple[Json, ...] = (
    {"loc": ["query", "limit"], "msg": "limit may be at most 200.", "type": "too_large"},
)


def _list_orders(_: Environment) -> Json:
    example = {"items": [TEST_SELL, TEST_BUY], "total": 2}
    return {
        "tags": ["Orders"],
        "summary": "List orders",
        "description": (
            "Shows the account's test orders, the newest first. Filters are joined: an order must match them "
            "all. When nothing matches, the list is empty. A parameter that is not listed here is ignored."
        ),
        "parameters": _LIST_PARAMETERS,
        "responses": {
            "200": answer("The page that was asked for.", schema_ref("TestOrderList"), example, BUDGET)
        },
    }


def _read_order(_: Environment) -> Json:
    order_id = {
        "name": "order_id",
        "in": "path",
        "required": True,
        "description": "The order's `id`. What is no UUID is no order either: it is not found.",
        "schema": {"type": "string", "format": "uuid"},
        "example": TEST_BUY["id"],
    }
    return {
        "tags": ["Orders"],
        "summary": "Read an order",
        "description": (
            "Shows one test order of the account. An order of somebody else is answered just as one that "
            "does not exist. Reading is counted against the budget of reads, never that of orders."
        ),
        "parameters": [order_id],
        "responses": {"200": answer("The order.", schema_ref("TestOrder"), TEST_BUY, BUDGET)},
    }


LIST_ORDERS = Endpoint(
    "list_orders",
    "get",
    "/orders",
    Scope.ORDERS_READ,
    _list_orders,
    refusals=(*WITH_KEY, INVALID_REQUEST),
    environments=(Environment.TEST,),
    problems=_PROBLEMS,
)
READ_ORDER = Endpoint(
    "read_order",
    "get",
    "/orders/{order_id}",
    Scope.ORDERS_READ,
    _read_order,
    refusals=(*WITH_KEY, ORDER_NOT_FOUND),
    environments=(Environment.TEST,),
)
