"""Writes events of accounts, in the transaction that makes them true."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import msgspec

from bullion.events.event import EventType

from .engine import Transaction, one_row

NO_DETAIL = "{}"

_encode = msgspec.json.Encoder().encode


async def next_number(transaction: Transaction, book_id: int) -> tuple[int, int]:
    """The number of the book's next event, and the number of orders by then. Locks the book."""
    row = await one_row(transaction, "number_event", book_id)
    return row["number"], row["order_count"]


async def add_event(
    transaction: Transaction, book_id: int, kind: EventType, at_us: int, detail: Mapping[str, Any]
) -> None:
    await enter_event(transaction, book_id, kind.value, at_us, _encode(detail).decode())


async def add_event_soon(
    transaction: Transaction, book_id: int, kind: EventType, at_us: int, detail: Mapping[str, Any]
) -> None:
    """The same, without waiting for a book that another session has locked: then it is entered later."""
    if await transaction.one("lock_free_book", book_id) is not None:
        await add_event(transaction, book_id, kind, at_us, detail)
        return
    await transaction.run(
        "insert_late_event", book_id, uuid4().hex, kind.value, at_us, _encode(detail).decode()
    )


async def enter_event(transaction: Transaction, book_id: int, kind: str, at_us: int, detail: str) -> None:
    """`detail` is JSON."""
    number = await next_number(transaction, book_id)
    await transaction.run("insert_account_event", book_id, *number, kind, at_us, detail)


async def add_broker_event(
    transaction: Transaction, broker: str, kind: EventType, at_us: int, detail: Mapping[str, Any]
) -> None:
    """An event of all accounts of the broker. The caller has recorded a change of the catalogue."""
    await transaction.run("insert_broker_event", broker, kind.value, at_us, _encode(detail).decode())
