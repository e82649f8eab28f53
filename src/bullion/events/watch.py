"""Waits for events of accounts, for any number of callers, with one query for all of them."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

import structlog

from bullion.faults import StoreFault

from .reader import EventReader

_POLL_S = 0.25
"""How often the store is asked: another node may have recorded something."""
_PAUSE_S = 0.05
"""Between two questions, however much is recorded here."""
_BOOKS_AT_ONCE = 5_000

_log = structlog.get_logger("events")


class Watched:
    """A book that somebody waits for."""

    __slots__ = ("book_id", "newest", "watchers")

    def __init__(self, book_id: int) -> None:
        self.book_id = book_id
        self.newest = -1
        """The newest number that is known here; -1 before the first look."""
        self.watchers: list[Callable[[int], None]] = []

    def see(self, newest: int) -> None:
        if newest == self.newest:
            return
        self.newest = newest
        for tell in list(self.watchers):
            tell(newest)


class EventWatch:
    def __init__(self, reader: EventReader) -> None:
        self._reader = reader
        self._books: dict[int, Watched] = {}
        self._wake = asyncio.Event()
        self._stopping = asyncio.Event()
        self._lost = False

    def is_watched(self, book_id: int) -> bool:
        return book_id in self._books

    def stop(self) -> None:
        """Nobody waits any longer: the node is about to stop."""
        self._stopping.set()

    def look_soon(self) -> None:
        """Something was recorded on this node. Cheap: it is called after every commit."""
        if self._books:
            self._wake.set()

    @contextmanager
    def watch(self, book_id: int, tell: Callable[[int], None]) -> Iterator[Watched]:
        """Calls `tell` with the newest number, at first soon and then whenever it changes."""
        watched = self._books.get(book_id)
        if watched is None:
            watched = self._books[book_id] = Watched(book_id)
            self._wake.set()
        elif watched.newest >= 0:
            tell(watched.newest)
        watched.watchers.append(tell)
        try:
            yield watched
        finally:
            watched.watchers.remove(tell)
            if not watched.watchers and self._books.get(book_id) is watched:
                del self._books[book_id]

    async def wait_beyond(self, book_id: int, number: int, timeout_s: float) -> bool:
        """Wait until the book's newest event is beyond the number; False if the time is over before."""
        reached = asyncio.Event()

        def tell(newest: int) -> None:
            # What is known here may be older than what the caller has read.
            if newest > number:
                reached.set()

        with self.watch(book_id, tell):
            waiting = [asyncio.ensure_future(each) for each in (reached.wait(), self._stopping.wait())]
            try:
                await asyncio.wait(waiting, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waiting:
                    each.cancel()
        return reached.is_set()

    async def run(self) -> None:
        """Look at the store while somebody waits, until cancelled."""
        while True:
            if not self._books:
                await self._wake.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(_POLL_S):
                    await self._wake.wait()
            self._wake.clear()
            await self._look()
            await asyncio.sleep(_PAUSE_S)

    async def _look(self) -> None:
        asked = list(self._books)
        try:
            for start in range(0, len(asked), _BOOKS_AT_ONCE):
                self._see(await self._reader.newest(asked[start : start + _BOOKS_AT_ONCE]))
        except StoreFault as fault:
            if not self._lost:
                _log.warning("event_watch_failed", fault=repr(fault))
            self._lost = True
            await asyncio.sleep(_POLL_S)
        else:
            self._lost = False

    def _see(self, found: Mapping[int, int]) -> None:
        for book_id, newest in found.items():
            watched = self._books.get(book_id)
            if watched is not None:
                watched.see(newest)
