"""Enters events of a broker into the books of all its accounts, and deletes old events.

A halt must not wait for a book that is locked, so the change writes one row, and the rows of the accounts
follow at once, from any node. Each book remembers the last event that was entered into it.
"""

import asyncio
from collections.abc import Callable

import msgspec
import structlog

from bullion.faults import StoreFault
from bullion.last_success import note_success

from .engine import Engine, Transaction
from .event_reader import DAY_US

_BOOKS_AT_ONCE = 500
_LOOK_S = 0.25
_DELETE_S = 3600.0

_encode = msgspec.json.Encoder().encode
_log = structlog.get_logger("events")


class EventEntering:
    def __init__(
        self, engine: Engine, kept_days: int, now_us: Callable[[], int], version: Callable[[], int | None]
    ) -> None:
        """`version`: that of the catalogue. Every event of a broker comes with a change of it."""
        self._engine = engine
        self._kept_us = kept_days * DAY_US
        self._now_us = now_us
        self._version = version
        self._deleted_at_s: float | None = None

    async def run(self) -> None:
        """Until cancelled."""
        entered: int | None = -1
        while True:
            version = self._version()
            try:
                if version != entered and await self.enter():
                    entered = version
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
        complete = True
        for row in waiting:
            complete = await self._enter(row["broker"], row["number"]) and complete
        return complete

    async def _enter(self, broker: str, number: int) -> bool:
        async def enter(transaction: Transaction) -> int:
            found = await transaction.all("books_behind", broker, number, _BOOKS_AT_ONCE)
            if found:
                books = _encode([row["id"] for row in found]).decode()
                await transaction.run("enter_broker_events", broker, number, books)
                await transaction.run("note_entered", number, books)
            return len(found)

        async def finish(transaction: Transaction) -> bool:
            if await transaction.one("any_book_behind", broker, number) is not None:
                return False
            await transaction.run("finish_broker_events", broker, number)
            return True

        while await self._engine.write("enter_events", enter, custom_plans=True) == _BOOKS_AT_ONCE:
            pass
        return await self._engine.write("finish_events", finish, custom_plans=True)

    async def _delete_old(self) -> None:
        """A day later than events are shown, so that the last row of a book is older than all it shows."""
        now_s = asyncio.get_running_loop().time()
        if self._deleted_at_s is not None and now_s - self._deleted_at_s < _DELETE_S:
            return
        before_us = self._now_us() - self._kept_us - DAY_US
        await self._engine.write(
            "delete_events", lambda transaction: transaction.run("delete_old_events", before_us)
        )
        self._deleted_at_s = now_s
