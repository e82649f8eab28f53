"""The request to place an order, and the order in responses.

To show a field in an order's response, add it to a struct and to `order_view`.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from bullion.allocation.book import environment_of
from bullion.environment import TEST, Environment
from bullion.metals.rupees import rupees_text
from bullion.metals.weight import PLACES, weight_text
from bullion.orders import order as domain
from bullion.orders.bounds import PRICE_DIGITS_MAX, PRICE_MIN, QUANTITY_MAX
from bullion.orders.listing import ALL, LIMIT_DEFAULT, LIMIT_MAX
from bullion.orders.status import DETAILS, Status

from .values import (
    NO_NUL,
    TIME_WITHOUT_ZONE,
    ClientOrderId,
    Instant,
    Rupees,
    SideText,
    SignedRupees,
    SymbolCode,
    Unit,
    Uuid,
    Weight,
    about,
    time_text,
)

PRODUCTION_STATUSES = [status.value for status in Status if status is not Status.FILLED]
TRADE_TYPE_LENGTH_MAX = 8


class PlaceOrder(Struct, forbid_unknown_fields=True):
    """A market order. Any other field is refused, so that a misspelt name is noticed."""

    symbol_code: Annotated[SymbolCode, Meta(min_length=1), about("What to trade.", "GOLD")]
    # The choices are in the schema alone: another text is read, and refused by a check with its own code.
    trade_type: Annotated[SideText, about("Your side. Any other text is refused with `invalid_side`.", "buy")]
    quantity: Annotated[
        Raw,
        about(
            "The weight, in the symbol's unit, with no more than 4 decimal places. It is read exactly as "
            "written; `100`, `100.00000` and `1e2` are the same. A validator of yours has to count in "
            "decimals too: in binary floats, 0.3 is no multiple of 0.0001.",
            100,
            type="number",
            exclusiveMinimum=0,
            maximum=QUANTITY_MAX,
            multipleOf=10**-PLACES,
        ),
    ]
    expected_price: Annotated[
        Raw | UnsetType,
        about(
            f"The price that you expect, in rupees per quoted weight, with no more than {PRICE_DIGITS_MAX} "
            "significant digits. When the current price differs from it by more than the operator tolerates, "
            "up or down, the order is refused with `price_moved`. Without it, any price is accepted.",
            type=["number", "null"],
            minimum=PRICE_MIN,
            maximum=10**PRICE_DIGITS_MAX,
        ),
    ] = UNSET
    client_order_id: Annotated[
        ClientOrderId | UnsetType | None,
        about("A name of your own for the order. It need not be unique.", "desk-7-0042"),
    ] = UNSET


ORDER_FIELDS_SPECIFIED = ("id", "symbol_code", "trade_type", "quantity", "unit", "status", "status_detail")
"""The fields of an order that the specification requires. This service always sends the others too."""


class Order(Struct, frozen=True, gc=False):
    """The fields that orders of both environments have, in the specification's order."""

    id: Annotated[Uuid, about("Names the order: read it with this.", "01a1dd79-5ea2-7c31-8d52-6e1f0b94a7c3")]
    environment: str
    symbol_code: Annotated[str, about("What is traded.", "GOLD")]
    trade_type: Annotated[SideText, about("The client's side.", "buy")]
    quantity: Annotated[Weight, about("The weight, in `unit`.", "100.0000")]
    unit: Annotated[Unit, about("What the symbol is weighed in: gold in `g`, silver in `kg`.", "g")]
    price: Annotated[
        Rupees | None,
        about("The price, in rupees per quoted weight of the symbol; null until it is booked.", "150630.00"),
    ]
    total: Annotated[
        Rupees | None,
        about("The whole quantity at that price, in rupees; null until it is booked.", "1506300.00"),
    ]
    status: str
    client_order_id: Annotated[
        str | None, about("The client's own name for it, if one was sent.", "desk-7-0042")
    ]
    created_at: Annotated[
        Instant | None, about("When the order was placed, in UTC.", "2026-11-15T05:02:47.918306+00:00")
    ]


class TestOrder(Order, frozen=True):
    """An order of the test environment."""

    environment: Annotated[
        str, about("The environment that the order was placed in.", "test", enum=[Environment.TEST.value])
    ]
    price: Annotated[Rupees, about("The price, in rupees per quoted weight of the symbol.", "150630.00")]
    total: Annotated[Rupees, about("The whole quantity at that price, in rupees.", "1506300.00")]
    status: Annotated[str, about("The only state of a test order.", "filled", enum=[Status.FILLED.value])]
    created_at: Annotated[
        Instant, about("When the order was placed, in UTC.", "2026-11-15T04:31:21.250417+00:00")
    ]
    deal_label: Annotated[
        str,
        about(
            "`T-` and the order's number in the account's test book. There is no deal behind it.",
            "T-1",
            pattern="^T-[1-9][0-9]*$",
        ),
    ]


class ProductionOrder(Order, frozen=True):
    """An order of the production environment."""

    environment: Annotated[
        str,
        about(
            "The environment that the order was placed in.",
            "production",
            enum=[Environment.PRODUCTION.value],
        ),
    ]
    status: Annotated[
        str,
        about(
            "The state of the order. `pending`: it was accepted and waits for the hedge; it is no deal yet, "
            "but its weight counts already. `open`: it is booked. `closing`: the operator has begun to close "
            "it. `closed`: it is closed. `rejected`: the hedge refused it, so there is no deal. `deleted`: "
            "the operator removed it. Branch on this.",
            "open",
            enum=PRODUCTION_STATUSES,
        ),
    ]
    deal_no: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        about("The number of the operator's deal; null where there is none.", 48213),
    ]
    status_detail: Annotated[
        str,
        about(
            "The operator's own name for the state, such as `HEDGE_WAIT`. Quote it to the desk; programs use "
            "`status`.",
            "BOOKED",
        ),
    ]
    # No list of choices: the operator may open further channels.
    source: Annotated[
        str | None,
        about(
            "The channel of the order: `api` is this one, `web` and `mobile` are two of the others.", "api"
        ),
    ]
    close_price: Annotated[
        Rupees | None,
        about("The price it was closed at, in rupees per quoted weight; null before that.", None),
    ]
    realized_pnl: Annotated[
        SignedRupees | None,
        about("The profit of closing it in rupees, below 0 for a loss; null before that.", None),
    ]
    closed_at: Annotated[Instant | None, about("When it was closed, in UTC; null before that.", None)]


class RejectedOrder(ProductionOrder, frozen=True):
    """The order that the hedge refused, as it was left. Nothing was booked, so it has no price."""

    status: Annotated[str, about("The hedge refused it.", "rejected", enum=[Status.REJECTED.value])]


def order_view(order: domain.Order) -> TestOrder | ProductionOrder:
    asked, environment = order.asked, environment_of(order.book_id)
    if environment is TEST:
        return TestOrder(
            order.id,
            environment,
            asked.symbol_code,
            asked.trade_type,
            weight_text(asked.quantity_e4),
            order.metal.unit,
            rupees_text(order.price_paise),
            rupees_text(order.total_paise),
            order.status,
            asked.client_order_id,
            time_text(order.created_at_us),
            f"T-{order.ordinal}",
        )
    booked = order.deal_no is not None
    return ProductionOrder(
        order.id,
        environment,
        asked.symbol_code,
        asked.trade_type,
        weight_text(asked.quantity_e4),
        order.metal.unit,
        price=rupees_text(order.price_paise) if booked else None,
        total=rupees_text(order.total_paise) if booked else None,
        status=order.status,
        client_order_id=asked.client_order_id,
        created_at=time_text(order.created_at_us),
        deal_no=order.deal_no,
        status_detail=DETAILS[Status(order.status)],
        source=order.source,
        close_price=None if order.close_price_paise is None else rupees_text(order.close_price_paise),
        realized_pnl=None if order.realized_pnl_paise is None else rupees_text(order.realized_pnl_paise),
        closed_at=None if order.closed_at_us is None else time_text(order.closed_at_us),
    )


_ORDERS = about("One page of orders, the newest first.")
_TOTAL = about("How many orders match the filters, on all pages together.")


class TestOrderList(Struct):
    """A page of the account's test orders."""

    items: Annotated[list[TestOrder], _ORDERS]
    total: Annotated[int, Meta(ge=0), _TOTAL]


class ProductionOrderList(Struct):
    """A page of the account's real orders."""

    items: Annotated[list[ProductionOrder], _ORDERS]
    total: Annotated[int, Meta(ge=0), _TOTAL]


class TestOrderQuery(Struct):
    """The query of a list of test orders."""

    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX), about("How many orders to show.", 20)] = LIMIT_DEFAULT
    offset: Annotated[
        int, Meta(ge=0), about("How many of the newest to skip. Past the end the page is empty.")
    ] = 0
    symbol_code: Annotated[SymbolCode | UnsetType, about("Only orders of this symbol.")] = UNSET
    # No list of choices: another text is not refused here, it just matches nothing.
    trade_type: Annotated[
        Annotated[str, Meta(max_length=TRADE_TYPE_LENGTH_MAX), NO_NUL] | UnsetType,
        about("Only this side, `buy` or `sell`."),
    ] = UNSET
    since: Annotated[
        str | UnsetType,
        about(
            "Only orders placed at this ISO 8601 time or later. Without a zone it is UTC, and a date alone "
            "is its midnight. Write a `+` as `%2B`.",
            "2026-11-15T09:00:00+05:30",
            anyOf=[
                {"type": "string", "format": "date-time"},
                {"type": "string", "format": "date"},
                {"type": "string", "pattern": TIME_WITHOUT_ZONE},
            ],
        ),
    ] = UNSET
    client_order_id: Annotated[
        ClientOrderId | UnsetType,
        about("Only orders with exactly this name of yours.", **{"x-extension": True}),
    ] = UNSET


class ProductionOrderQuery(TestOrderQuery):
    """The query of a list of production orders."""

    status: Annotated[
        str,
        about(
            "Only orders in this state. `all` is every state but `deleted`, which has to be asked for by its "
            "name.",
            enum=[*PRODUCTION_STATUSES, ALL],
        ),
    ] = ALL
