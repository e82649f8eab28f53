"""What was committed, where the answer of the store was lost or its book could not be had.

Only here is it said that nothing was booked although a booking was under way, and only when that is certain.
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

from .ledger import Ledger
from .placing import KeyName, Outcome, Placing, Settled
from .replay import replay

_AT_ONCE = 8
"""Each opens a connection of its own."""
_UNKNOWN_KEPT_MAX = 10_000
_LOOK_S = 1.0

_log = structlog.get_logger("booking")


class Verifier:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._unknown: dict[KeyName, None] = {}
        """Keys whose callers were told that their outcome is unknown, and who have not heard better since."""

    async def place(self, placing: Placing, place: Callable[[Placing], Awaitable[Outcome]]) -> Outcome:
        """Place it, and let no fault say less than is known of its key."""
        name = placing.key_name
        try:
            outcome = await place(placing)
        except OutcomeUnknown:
            self._remember(name)
            raise
        except (StoreBusy, StoreConflict, StoreUnavailable) as fault:
            return await self._despite(fault, placing)
        except NotCompleted:
            self._unknown.pop(name, None)
            raise
        self._unknown.pop(name, None)
        return outcome

    async def find_out(self, placings: Sequence[Placing]) -> None:
        """The answer of the store was lost: what was committed is the answer."""
        books = {placing.book_id for placing in placings}
        await asyncio.gather(
            *(self._find_out([each for each in placings if each.book_id == book_id]) for book_id in books)
        )

    async def _find_out(self, placings: Sequence[Placing]) -> None:
        async with self._turns:
            waiting = [placing for placing in placings if placing.waits]
            if not waiting:
                return
            try:
                found = await self._ledger.verify(waiting[0].book_id, [each.key_name for each in waiting])
            except Exception as error:  # noqa: BLE001 - whatever it is, nothing is known, and nobody waits for ever
                if not isinstance(error, StoreFault):
                    _log.exception("not_verified")
                for placing in waiting:
                    placing.fail(OutcomeUnknown(*error.args))
                return
        for placing in waiting:
            settled = found.get(placing.key_name)
            if settled is None:
                placing.fail(NotCompleted("the commit was not made"))
            else:
                placing.answer(replay(settled, placing.asked, placing.request_id))

    async def _despite(self, fault: StoreFault, placing: Placing) -> Outcome:
        """The book could not be had. An earlier call's order may be there for all that, or be on its way."""
        name = placing.key_name
        found: Mapping[KeyName, Settled] = {}
        with suppress(StoreFault, TimeoutError):
            async with asyncio.timeout(_LOOK_S):
                found = await self._ledger.settled([name])
        if name in found:
            self._unknown.pop(name, None)
            return replay(found[name], placing.asked, placing.request_id)
        if name in self._unknown:
            raise OutcomeUnknown(*fault.args) from fault
        raise fault

    def _remember(self, name: KeyName) -> None:
        if len(self._unknown) >= _UNKNOWN_KEPT_MAX:
            del self._unknown[next(iter(self._unknown))]
        self._unknown[name] = None
