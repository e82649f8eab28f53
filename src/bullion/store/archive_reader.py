"""Orders found in the archive, for those who did not find them among the others.

Always in this order: an order goes from `orders` into the archive and never back, so whoever looks there
first and here after misses none.
"""

from collections.abc import Sequence

from bullion.allocation.book import environment_of
from bullion.environment import Environment
from bullion.orders.order import Order
from bullion.orders.order_id import made_at_us, ordinal_of
from bullion.records.orders import FoundOrder

from . import archive_rows
from .engine import Row, Transaction


def may_be_archived(book_id: int) -> bool:
    """Real orders never are."""
    return environment_of(book_id) is Environment.TEST


def order_of_pack(rows: Sequence[Row], ordinal: int, order_id: str | None = None) -> Order | None:
    """Out of what `archived_pack` found; the whole id has to be right, if one is given."""
    for row in rows:
        order = archive_rows.packed_orders(row).order(ordinal)
        if order is not None and order_id in (None, order.id):
            return order
    return None


def order_of_key(rows: Sequence[Row]) -> Order | None:
    """Out of what `archived_by_key` found."""
    return order_of_pack(rows, rows[0]["ordinal"]) if rows else None


async def order_of_id(transaction: Transaction, broker: str, order_id: str) -> FoundOrder | None:
    """For the desk, which does not name the account."""
    try:
        ordinal, at_ms = ordinal_of(order_id), made_at_us(order_id) // 1000
    except ValueError:  # No order has such an id.
        return None
    for row in await transaction.all("desk_archived_packs", at_ms, ordinal, broker):
        order = order_of_pack([row], ordinal, order_id)
        if order is not None:
            return FoundOrder(order, row["login_id"], archived=True)
    return None
