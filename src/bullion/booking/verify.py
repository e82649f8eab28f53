"""Reads what was committed, after the response to a commit was lost or a book could not be locked.

Only this module reports that nothing was booked after a booking had started, and only if that is certain.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

import structlog

from bullion.faults import (
    NotCompleted,
    OutcomeUnknown,
    StoreBusy,
    StoreConflict,
    StoreFault,
    StoreUnavailable,
)
from bullion.request_ids import CURRENT

from .attempt import KeyName, Outcome, QueueEntry, Settled
from .ledger import Ledger
from .replay import replay

_CONCURRENT_MAX = 8
"""Each verification opens a separate connection."""
_UNKNOWN_KEPT_MAX = 10_000
_READ_S = 1.0

_log = structlog.get_logger("booking")


class Verifier:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._turns = asyncio.Semaphore(_CONCURRENT_MAX)
        self._unknown: dict[KeyName, None] = {}
        """Keys whose last answer was that the outcome is unknown."""

    async def place(self, entry: QueueEntry, place: Callable[[QueueEntry], Awaitable[Outcome]]) -> Outcome:
        """Place the order. After a fault, report what is known about its key."""
        name = entry.attempt.key_name
        try:
            outcome = await place(entry)
        except OutcomeUnknown:
            self._remember(name)
            raise
        except (StoreBusy, StoreConflict, StoreUnavailable) as fault:
            return await self._resolve_after_fault(fault, entry)
        except NotCompleted:
            self._unknown.pop(name, None)
            raise
        self._unknown.pop(name, None)
        return outcome

    async def resolve(self, entries: Sequence[QueueEntry]) -> None:
        """Answer entries from what was committed, after the response to their commit was lost."""
        by_book: dict[int, list[QueueEntry]] = {}
        for entry in entries:
            by_book.setdefault(entry.attempt.book_id, []).append(entry)
        await asyncio.gather(*(self._resolve_book(book_id, each) for book_id, each in by_book.items()))

    async def _resolve_book(self, book_id: int, entries: Sequence[QueueEntry]) -> None:
        """In a task of its own."""
        CURRENT.set(tuple([entry.attempt.request_id for entry in entries]))
        async with self._turns:
            waiting = {entry.attempt.key_name: entry for entry in entries if entry.waits}
            if not waiting:
                return
            try:
                found = await self._ledger.verify(book_id, list(waiting))
            except Exception as error:  # noqa: BLE001 - after any error the outcome is unknown, and callers must get a response
                if not isinstance(error, StoreFault):
                    _log.exception("verification_failed")
                for entry in waiting.values():
                    entry.fail(OutcomeUnknown(*error.args))
                return
        for name, entry in waiting.items():
            settled = found.get(name)
            if settled is None:
                entry.fail(NotCompleted("the commit was not made"))
            else:
                entry.answer(replay(settled, entry))

    async def _resolve_after_fault(self, fault: StoreFault, entry: QueueEntry) -> Outcome:
        """After a fault before this order was sent: look for an order of an earlier call under its key."""
        name = entry.attempt.key_name
        found: Mapping[KeyName, Settled] = {}
        with suppress(StoreFault, TimeoutError):
            async with asyncio.timeout(_READ_S):
                found = await self._ledger.settled([name])
        if name in found:
            self._unknown.pop(name, None)
            return replay(found[name], entry)
        if name in self._unknown:
            raise OutcomeUnknown(*fault.args) from fault
        raise fault

    def _remember(self, name: KeyName) -> None:
        if len(self._unknown) >= _UNKNOWN_KEPT_MAX:
            del self._unknown[next(iter(self._unknown))]
        self._unknown[name] = None
