"""Writes what an order changes in the house's book, in the transaction that changes the order.

The position of the book is locked after the books of accounts, stocks and deal numbers.
"""

from bullion.booking.house_book import BookEntry, order_entry
from bullion.orders.order import Order

from .engine import Transaction, one_row


async def enter_order(
    transaction: Transaction, before: Order, now: Order, at_us: int, *, covered: bool
) -> None:
    """No-op for an order whose broker keeps no book of its metal."""
    found = await transaction.one("book_of_order", now.book_id, now.ordinal, now.metal.value)
    if found is None:
        return
    entry = order_entry(before, now, found["fineness_e4"], found["uncovered_mg"], covered=covered)
    if entry is not None:
        await enter(transaction, found["broker"], now.metal.value, now.id, entry, at_us)


async def enter(
    transaction: Transaction, broker: str, metal: str, name: str, entry: BookEntry, at_us: int
) -> None:
    weights = (entry.client_mg, entry.cover_mg)
    moved = await one_row(transaction, "move_book_position", broker, metal, *weights, at_us)
    place = (broker, metal, moved["version"])
    await transaction.run("insert_book_entry", *place, entry.kind, name, *weights, at_us)
