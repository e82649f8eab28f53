"""Rows of books and orders to values and back."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from bullion.allocation.book import Book, OpenWeight, environment_of
from bullion.allocation.position import Position
from bullion.booking.attempt import ToHedge
from bullion.booking.hedge_requests import LEASE_US
from bullion.booking.partial_fills import Rest
from bullion.metals.metal import Metal
from bullion.orders.order import Order, PriceMove
from bullion.orders.request import PlaceOrder
from bullion.records.orders import OrderSum

from .engine import Row

BLOCK_SIZES = (256, 4_096, 65_536)
"""How many ordinals a block of each level has. One more level counts the whole book."""

_SET_LATER = ("deal_no", "close_price_paise", "realized_pnl_paise", "closed_at_us")
"""The fields of an order that are empty when it is recorded."""

_METALS = {metal.value: metal for metal in Metal}
_REST = len(Order.__struct_fields__) - Order.__struct_fields__.index("price_paise")
"""How many fields of an order have their columns in the same order."""


def book(row: Row) -> Book:
    return book_of(
        row["id"],
        row["gold_net_e4"],
        row["gold_limit_e4"],
        row["silver_net_e4"],
        row["silver_limit_e4"],
        row["order_count"],
        row["archived_count"],
        row["last_order_at_us"],
        row["version"],
    )


def book_of(
    book_id: int, gold_e4: int, gold_limit_e4: int, silver_e4: int, silver_limit_e4: int, *rest: int
) -> Book:
    return Book(book_id, Position(gold_e4, gold_limit_e4), Position(silver_e4, silver_limit_e4), *rest)


def open_weight(row: Row) -> OpenWeight:
    return OpenWeight(row["symbol_code"], _METALS[row["metal"]], row["buy_e4"], row["sell_e4"])


def order(row: Row) -> Order:
    """Decode by position: a page has many rows, and looking up columns by name would take most of the time.

    From the price on, columns and fields have the same order. Columns without a field come last.
    """
    book_id, ordinal, order_id, source, key, symbol, side, quantity, expected, reference, metal, *rest = row
    asked = PlaceOrder(symbol, side, quantity, expected, reference)
    return Order(book_id, ordinal, order_id, source, key, asked, _METALS[metal], *rest[:_REST])


def order_sum(row: Row) -> OrderSum:
    production, metal, *rest = row
    return OrderSum(environment_of(production), _METALS[metal], *rest)


def to_hedge(row: Row) -> ToHedge:
    """From a row of an order with columns of its hedge request and of its rest."""
    return ToHedge(
        order(row), row["broker"], row["instrument"], bool(row["took_stock"]), row["fineness_e4"], rest(row)
    )


def rest(row: Row) -> Rest | None:
    if not row["rest_child"]:  # None, or 0: the rest of the order itself, which is not sent.
        return None
    return Rest(row["rest_child"], row["rest_e4"], row["rest_fine_mg"])


def price_move(row: Row) -> PriceMove:
    return PriceMove(
        book_id=row["book_id"],
        source=row["source"],
        idempotency_key=row["idempotency_key"],
        asked=_asked(row),
        price_paise=row["price_paise"],
        tolerance_percent_e4=row["tolerance_percent_e4"],
        request_id=row["request_id"],
        at_us=row["at_us"],
    )


def _asked(row: Row) -> PlaceOrder:
    return PlaceOrder(
        row["symbol_code"],
        row["trade_type"],
        row["quantity_e4"],
        row["expected_price"],
        row["client_order_id"],
    )


def lease_ends_at_us(orders: Sequence[Order]) -> int:
    """Until then only the node that recorded these orders hedges them."""
    return max((order.created_at_us for order in orders), default=0) + LEASE_US


def _columns(kind: type[Order | PriceMove]) -> list[str]:
    """The paths of what is recorded of such a value, in the order of the columns of the insert."""
    own = {"asked": [f"asked.{name}" for name in PlaceOrder.__struct_fields__], "metal": ["metal._value_"]}
    names = [name for name in kind.__struct_fields__ if name not in _SET_LATER]
    return [path for name in names for path in own.get(name, [name])]


_ORDER_COLUMNS = _columns(Order)
_ANATOMY = _ORDER_COLUMNS.index("price_anatomy")

order_values: Callable[[Order], tuple[Any, ...]] = attrgetter(*_ORDER_COLUMNS)
price_move_values: Callable[[PriceMove], tuple[Any, ...]] = attrgetter(*_columns(PriceMove))


def order_values_with(anatomy_place: int, of: Order) -> list[Any]:
    """With the anatomy's place in a list, instead of the anatomy itself."""
    values = list(order_values(of))
    values[_ANATOMY] = anatomy_place
    return values
