"""Enters events of a broker into the books of all its accounts, and deletes old events.

A halt must not wait for a book that is locked, so the change writes one row, and the rows of the accounts
follow at once, from any node. Each book remembers the last event that was entered into it.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

import msgspec
import structlog

from bullion.faults import StoreFault
from bullion.last_success import note_start, note_success

from . import prepared_queries
from .account_events import enter_event
from .engine import Engine, Row, Transaction
from .event_reader import DAY_US

_BOOKS_AT_ONCE = 500
_LOOK_S = 0.25
_DELETE_S = 3600.0
_ROWS_AT_ONCE = 200

_encode = msgspec.json.Encoder().encode
_log = structlog.get_logger("events")


class EventEntering:
    def __init__(
        self, engine: Engine, kept_days: int, now_us: Callable[[], int], serial: Callable[[], int]
    ) -> None:
        """`serial`: that of the catalogue. Every event of a broker comes with a change of it."""
        self._engine = engine
        self._kept_us = kept_days * DAY_US
        self._now_us = now_us
        self._serial = serial
        self._deleted_at_s: float | None = None

    async def run(self) -> None:
        """Until cancelled."""
        note_start("events")
        entered = -1
        while True:
            serial = self._serial()
            try:
                if serial != entered and await self.enter():
                    entered = serial
                await self._delete_old()
            except StoreFault as fault:
                _log.warning("event_entering_failed", fault=repr(fault))
            else:
                note_success("events")
            await asyncio.sleep(_LOOK_S)

    async def enter(self) -> bool:
        """Enter what there is. False if a book was locked."""
        waiting = await self._engine.read(
            "broker_events", lambda transaction: transaction.all("broker_events_to_enter")
        )
        complete = await self._enter_late()
        for row in waiting:
            complete = await self._enter(row["broker"], row["number"]) and complete
        return complete

    async def _enter_late(self) -> bool:
        """Events of single books that were locked."""
        rows = await self._engine.read(
            "late_events", lambda transaction: transaction.all("late_events", _BOOKS_AT_ONCE)
        )
        complete = len(rows) < _BOOKS_AT_ONCE
        for row in rows:
            done = await self._engine.write(
                "enter_late_event",
                partial(_enter_late_event, row=row),
                holding=prepared_queries.LATE_EVENT,
            )
            complete = done and complete
        return complete

    async def _enter(self, broker: str, number: int) -> bool:
        async def enter(transaction: Transaction, after: int) -> Sequence[int]:
            found = await transaction.all("books_behind", broker, number, after, _BOOKS_AT_ONCE)
            books = [row["id"] for row in found]
            if books:
                named = _encode(books).decode()
                await transaction.run("enter_broker_events", broker, number, named)
                await transaction.run("note_entered", number, named)
            return books

        async def finish(transaction: Transaction) -> bool:
            if await transaction.one("any_book_behind", broker, number) is not None:
                return False
            await transaction.run("finish_broker_events", broker, number)
            return True

        books: Sequence[int] = [0]
        while books:
            books = await self._engine.write(
                "enter_events", partial(enter, after=books[-1]), custom_plans=True
            )
        return await self._engine.write("finish_events", finish, custom_plans=True)

    async def _delete_old(self) -> None:
        """Once an hour. A day later than events are shown: clocks differ a little."""
        now_s = asyncio.get_running_loop().time()
        if self._deleted_at_s is not None and now_s - self._deleted_at_s < _DELETE_S:
            return
        self._deleted_at_s = now_s
        before_us = self._now_us() - self._kept_us - DAY_US
        deleted = _ROWS_AT_ONCE
        while deleted == _ROWS_AT_ONCE:
            deleted = await self._engine.write("delete_events", partial(_delete, before_us=before_us))


async def _enter_late_event(transaction: Transaction, row: Row) -> bool:
    book_id = row["book_id"]
    if await transaction.one("lock_free_book", book_id) is None:
        return False
    if await transaction.one("delete_late_event", book_id, row["id"]) is not None:  # Or another node did it.
        await enter_event(transaction, book_id, row["kind"], row["at_us"], row["detail"])
    return True


async def _delete(transaction: Transaction, before_us: int) -> int:
    """Delete some old rows. The last of each book stays: the numbers after it follow from it."""
    rows = await transaction.all("old_events", before_us, _ROWS_AT_ONCE)
    last: dict[int, tuple[int, int]] = {}
    for row in rows:
        place = (row["number"], row["orders_through"])
        last[row["book_id"]] = max(place, last.get(row["book_id"], place))
    for book_id, place in sorted(last.items()):
        await transaction.run("start_events", book_id, *place)
        await transaction.run("forget_events", book_id, *place)
    return len(rows)
