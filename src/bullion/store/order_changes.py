"""Writes a changed order, with its event, counts, book and stock.

The caller has locked the order's book, so that events of one order are serialized.
"""

from bullion.faults import StoreConflict
from bullion.metals.metal import Metal
from bullion.metals.symbol import Side
from bullion.orders.life import hidden, kinds_of, releases_weight
from bullion.orders.order import Order, signed_e4

from . import order_rows
from .account_events import next_number
from .book_entries import enter_order
from .engine import Transaction, one_row


async def lock(transaction: Transaction, book_id: int, ordinal: int) -> Order | None:
    """Lock the order's book until the transaction ends, and read the order."""
    await transaction.run("lock_book", book_id)
    row = await transaction.one("order_at", book_id, ordinal)
    return None if row is None else order_rows.order(row)


async def next_deal_no(transaction: Transaction, broker: str) -> int:
    return int((await one_row(transaction, "next_deal_no", broker))["last_deal_no"])


async def write(
    transaction: Transaction,
    before: Order,
    now: Order,
    at_us: int,
    actor: str,
    message: str | None = None,
    *,
    covered: bool = True,
    books_kept: bool = True,
) -> None:
    """`covered`: whether an order that becomes a deal was covered by the venue.

    `books_kept`: False if the caller knows that no broker keeps a hedge book.
    """
    name = (now.book_id, now.ordinal)
    changed = await transaction.one(
        "change_order",
        *name,
        before.status,
        now.status,
        now.deal_no,
        now.close_price_paise,
        now.realized_pnl_paise,
        now.closed_at_us,
    )
    if changed is None:
        raise StoreConflict("the order was changed although its book was locked")
    number = (None, None) if hidden(now) else await next_number(transaction, now.book_id)
    await transaction.run("insert_order_event", *name, now.status, at_us, actor, message, *number)
    for kind in kinds_of(before) - kinds_of(now):
        await transaction.run("uncount_order", *name, *kind)
    for kind in kinds_of(now) - kinds_of(before):
        await transaction.run("count_order", *name, *kind)
    if releases_weight(before, now):
        await _release_weight(transaction, now)
    if books_kept:
        await enter_order(transaction, before, now, at_us, covered=covered)


async def _release_weight(transaction: Transaction, order: Order) -> None:
    asked = order.asked
    held_e4, bought = signed_e4(asked), asked.trade_type == Side.BUY
    gold = order.metal is Metal.GOLD
    await transaction.run("release_weight", order.book_id, held_e4 if gold else 0, 0 if gold else held_e4)
    weights = (asked.quantity_e4, 0) if bought else (0, asked.quantity_e4)
    await transaction.run("release_symbol_weight", order.book_id, asked.symbol_code, *weights)
    if bought:
        place = (order.book_id, order.ordinal, asked.symbol_code)
        await transaction.run("return_stock", *place, asked.quantity_e4)
