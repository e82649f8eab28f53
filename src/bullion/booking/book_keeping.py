"""Keeps the money of hedge books up to date, so that nobody who reads it has to count a long history."""

import asyncio
from collections.abc import Callable
from typing import Protocol

import msgspec
import structlog

from bullion.faults import StoreFault
from bullion.last_success import note_start, note_success

_EVERY_S = 2.0

_log = structlog.get_logger("hedge")


class BookRisk(msgspec.Struct, frozen=True):
    """The value at risk of a hedge book."""

    broker: str
    metal: str
    paise: int | None
    """None: there is no fresh rate."""


class KeptBooks(msgspec.Struct, frozen=True):
    risks: tuple[BookRisk, ...] = ()
    more: bool = False
    """There are entries left to count."""
    broken: tuple[tuple[str, str], ...] = ()
    """Broker and metal of the books that this node could not count."""


class BookStore(Protocol):
    async def step(self) -> KeptBooks:
        """Count the next entries of every book, and keep the state of the day.

        Several nodes may do it at once. A book that cannot be counted does not stop the others. A StoreFault
        is raised after the last book.
        """


class BookKeeping:
    def __init__(self, books: BookStore, report: Callable[[KeptBooks], None] = lambda _: None) -> None:
        self._books = books
        self._report = report

    async def run(self) -> None:
        """In the background, until cancelled."""
        note_start("book_keeping")
        while True:
            more = False
            try:
                kept = await self._books.step()
                self._report(kept)
                more = kept.more
                note_success("book_keeping")
            except StoreFault as fault:
                _log.warning("book_not_kept", fault=repr(fault))
            except Exception:  # noqa: BLE001 - it must not end the node
                _log.exception("book_not_kept")
            await asyncio.sleep(0 if more else _EVERY_S)
