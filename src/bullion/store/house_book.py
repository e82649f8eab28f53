"""The house's book in the store: judges orders under the lock of the book's position.

See `bullion.booking.house_book`. Locks are taken in the same order as everywhere: books of accounts, deal
numbers, then the position. Once the position is locked, an account's book that another session has locked is
skipped, not waited for.

On PostgreSQL, one statement confirms orders that there is plenty of room for. It does a sixth more orders per
second than the transaction, which decides about all others.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec

from bullion.booking.attempt import ToHedge
from bullion.booking.house_book import HELD_BACK, deal_entry
from bullion.faults import StoreConflict, StoreUnavailable
from bullion.hedge.book.limit import confirmable
from bullion.orders import life
from bullion.orders.order import Order
from bullion.orders.status import Event

from . import order_rows, prepared_queries
from .batch_loader import BatchLoader
from .confirmations import confirmation_row
from .confirming_sqlite import confirm_orders
from .engine import Engine, Row, Transaction
from .postgres import PostgresEngine
from .sqlite import SqliteTransaction

_SLOTS = 2
_HELD_MAX = 1_000
_TRIES, _PAUSE_S = 4, 0.003
_BY = "house book"
_encode = msgspec.json.Encoder().encode

OrderName = tuple[int, int]
"""Book and ordinal."""
BookName = tuple[str, str]
"""Broker and metal."""


class Judged(msgspec.Struct, eq=False):
    """Compared by identity, as answers of the venue are."""

    to_hedge: ToHedge


class StoredHouseBook:
    def __init__(
        self, engine: Engine, now_us: Callable[[], int], judged: Callable[[], None] = lambda: None
    ) -> None:
        """`judged` is called after orders were confirmed or held back."""
        self._engine = engine
        self._after = judged
        self._now_us = now_us
        self._judged: BatchLoader[Judged, Order] = BatchLoader(self._judge_all, slots=_SLOTS)

    async def judge(self, to_hedge: ToHedge) -> Order:
        order = await self._judged.get(Judged(to_hedge))
        if order is None:
            raise StoreUnavailable("the order is missing from the store, or could not be written")
        return order

    async def review(self) -> int:
        now_us = self._now_us()
        if await self._engine.one("held_order", now_us) is None:
            return 0
        found = await self._engine.read(
            "books_with_held_orders",
            lambda open_: open_.all("books_with_held_orders", now_us),
            custom_plans=True,
        )
        confirmed = 0
        for name in sorted({(row["broker"], row["metal"]) for row in found}):
            confirmed += len(await self._confirm(name, {}, wait=False))
        return confirmed

    async def _judge_all(self, asked: Sequence[Judged]) -> Mapping[Judged, Order]:
        """Orders that arrive together are judged in one transaction for each book."""
        by_book: dict[BookName, dict[OrderName, Judged]] = {}
        for each in asked:
            order = each.to_hedge.order
            own = by_book.setdefault((each.to_hedge.broker, order.metal.value), {})
            own[order.book_id, order.ordinal] = each
        orders: dict[Judged, Order] = {}
        for name, fresh in by_book.items():
            found = await self._judge(name, {place: each.to_hedge for place, each in fresh.items()})
            orders |= {each: found.get(place, each.to_hedge.order) for place, each in fresh.items()}
        return orders

    async def _judge(self, name: BookName, fresh: Mapping[OrderName, ToHedge]) -> Mapping[OrderName, Order]:
        """Retried, because this node's own bookings often lock a book for a moment."""
        found: dict[OrderName, Order] = {}
        for turn in range(_TRIES):
            if turn:
                await asyncio.sleep(_PAUSE_S)
            left = {place: each for place, each in fresh.items() if place not in found}
            if not left:
                break
            wait = turn == _TRIES - 1
            at_once = {} if wait else await self._confirm_at_once(name, left)
            found |= at_once or await self._confirm(name, left, wait=wait)
        return found

    async def _confirm_at_once(
        self, name: BookName, fresh: Mapping[OrderName, ToHedge]
    ) -> Mapping[OrderName, Order]:
        """Confirm them in one statement, if there is plenty of room. Empty: `_confirm` has to look closer."""
        if not isinstance(self._engine, PostgresEngine):
            return {}
        at_us = self._now_us()
        in_order = sorted(fresh.values(), key=lambda each: each.order.id)
        values = (*_confirmations(in_order), at_us, _BY, *name)
        try:
            rows = await self._engine.statement("confirm_in_book", *values, writes=True)
        except StoreConflict:
            return {}
        if rows:
            self._after()
        return _deals({place: each.order for place, each in fresh.items()}, rows, at_us)

    async def _confirm(
        self, name: BookName, fresh: Mapping[OrderName, ToHedge], *, wait: bool
    ) -> Mapping[OrderName, Order]:
        """Confirm what the limit allows, and return it. Of `fresh`, also the orders that are held back now.

        `wait`: for books that another session has locked. An order that is not returned was skipped.
        """

        async def body(transaction: Transaction) -> dict[OrderName, Order]:
            if wait:
                for book_id in sorted({book_id for book_id, _ in fresh}):
                    await transaction.run("lock_book", book_id)
            await transaction.run("lock_deals", name[0])
            position = await transaction.one("lock_book_position", *name)
            if position is None:
                return {}
            asked = (self._now_us(), _HELD_MAX, _encode(list(fresh)).decode())
            rows = await transaction.all("waiting_orders", *name, *asked)
            waiting = [_to_hedge(row) for row in sorted(rows, key=lambda row: row["id"])]
            free = await self._lock_free(transaction, waiting)
            # An order whose book is locked is judged later; younger ones stay behind one that was held back.
            judged = [each for each in waiting if each.order.book_id in free or _name(each) not in fresh]
            changes = [deal_entry(each.order, each.fineness_e4, covered=False).client_mg for each in judged]
            allowed = confirmable(
                position["client_mg"] + position["cover_mg"],
                position["limit_mg"],
                changes,
                [each.order.book_id in free for each in judged],
            )
            found = await self._write(transaction, [judged[place] for group in allowed for place in group])
            for each in judged:
                if _name(each) in fresh and _name(each) not in found:
                    await transaction.run("hold_hedge", *_name(each), HELD_BACK)
                    found[_name(each)] = each.order
            return found

        found = await self._engine.write("judge_orders", body, holding=prepared_queries.JUDGE)
        if found:
            self._after()
        return found

    async def _lock_free(self, transaction: Transaction, waiting: Sequence[ToHedge]) -> set[int]:
        """Lock the books of these orders, without those that another session has locked."""
        books = sorted({each.order.book_id for each in waiting})
        if not isinstance(self._engine, PostgresEngine):
            return set(books)
        return {row["id"] for row in await transaction.all("lock_free_books", books)}

    async def _write(self, transaction: Transaction, allowed: Sequence[ToHedge]) -> dict[OrderName, Order]:
        """Make them deals: all of them in one transaction, because each may make room for others."""
        if not allowed:
            return {}
        at_us = self._now_us()
        orders = {_name(each): each.order for each in allowed}
        if isinstance(transaction, SqliteTransaction):
            confirmed = [(each, _execution_id(each.order)) for each in allowed]
            deals = confirm_orders(transaction.connection, confirmed, at_us, _BY, covered=False)
            if len(deals) != len(orders):
                raise StoreConflict("an order of the house's book is not pending, or was filled in part")
            return deals
        found = await transaction.all("confirm_orders", *_confirmations(allowed), at_us, _BY)
        if len(found) != len(orders):
            raise StoreConflict("an order was changed before its book was locked")
        return _deals(orders, found, at_us)


def _confirmations(orders: Sequence[ToHedge]) -> tuple[str, list[int]]:
    """The first parameters of `confirm_orders`: the orders in the order of their entries, and their books."""
    rows = [
        confirmation_row(place, each, _execution_id(each.order), covered=False)
        for place, each in enumerate(orders)
    ]
    return _encode(rows).decode(), sorted({each.order.book_id for each in orders})


def _deals(orders: Mapping[OrderName, Order], rows: Sequence[Row], at_us: int) -> dict[OrderName, Order]:
    """Those of the orders that `confirm_orders` made deals of."""
    numbers = {(row["book_id"], row["ordinal"]): row["deal_no"] for row in rows}
    return {
        name: life.after(orders[name], Event.CONFIRM, at_us, deal_no=deal_no)
        for name, deal_no in numbers.items()
    }


def _name(to_hedge: ToHedge) -> OrderName:
    return to_hedge.order.book_id, to_hedge.order.ordinal


def _execution_id(order: Order) -> str:
    return f"BOOK-{order.id}"


def _to_hedge(row: Row) -> ToHedge:
    return ToHedge(
        order_rows.order(row),
        row["broker"],
        row["instrument"],
        bool(row["took_stock"]),
        row["fineness_e4"],
        in_book=True,
    )
