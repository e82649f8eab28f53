"""One process at a time holds a line, under a lease in the store."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import msgspec
import structlog

from bullion.faults import StoreFault

LEASE_S = 6.0
"""If the holder dies, another process takes the line after this long."""
_RENEWALS = 8
"""How often a lease is renewed in its time."""

_log = structlog.get_logger("hedge")


class NotHolder(Exception):
    """Another process holds the line: nothing was stored."""


class LineHolder(msgspec.Struct, frozen=True):
    """The process that holds a line, and how others call it."""

    holder: str
    address: str
    """Host and port of its `LineServer`."""
    token: str
    """What callers and holder prove to each other that they know."""


class LineLeases(Protocol):
    """Every call may raise a StoreFault."""

    async def take(self, line: str, holder: LineHolder, lease_s: float) -> bool:
        """Take or renew the lease; False if another process has it."""

    async def release(self, line: str, holder: str) -> None: ...

    async def holder(self, line: str) -> LineHolder | None:
        """The process that holds the line now."""

    async def begin_connection(self, line: str, holder: str) -> int:
        """The number of a new connection of the line, which no other one ever has. May raise NotHolder."""


def time_since_boot() -> float:
    """A clock that also runs while the machine is suspended, where there is one."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


def _nothing() -> None:
    """Nobody wants to know."""


class LineLease:
    """This process's hold on a line.

    It counts as lost after half of its time without a renewal, measured from before the renewal began. The
    store gives it to nobody else before all of its time is over. So two processes never write to one line,
    also if one of them was stopped for a while: `held` is asked before every write.
    """

    def __init__(
        self,
        leases: LineLeases,
        line: str,
        holder: LineHolder,
        lease_s: float = LEASE_S,
        clock: Callable[[], float] = time_since_boot,
    ) -> None:
        self._leases = leases
        self._line = line
        self._as_holder = holder
        self._lease_s = lease_s
        self._clock = clock
        self._renewed_at: float | None = None
        self._failing = False
        self._hurried = asyncio.Event()
        self.holder = holder.holder
        self.on_taken: Callable[[], None] = _nothing
        """Called when this process gets the line."""

    def listen_at(self, address: str) -> None:
        """Where other processes reach this one, from the next renewal on."""
        self._as_holder = msgspec.structs.replace(self._as_holder, address=address)

    def held(self) -> bool:
        renewed_at = self._renewed_at
        return renewed_at is not None and self._clock() - renewed_at < self._lease_s / 2

    async def begin_connection(self) -> int:
        return await self._leases.begin_connection(self._line, self.holder)

    async def renew(self) -> bool:
        """Take or renew it once."""
        begun_at = self._clock()
        had = self.held()
        try:
            taken = await self._leases.take(self._line, self._as_holder, self._lease_s)
        except StoreFault as fault:
            if not self._failing:
                _log.warning("line_lease_not_renewed", line=self._line, fault=repr(fault))
            self._failing = True
            return self.held()
        self._failing = False
        self._renewed_at = begun_at if taken else None
        if taken and not had:
            _log.info("line_taken", line=self._line)
            self.on_taken()
        elif had and not taken:
            _log.warning("line_taken_away", line=self._line)
        return taken

    def hurry(self) -> None:
        """Try now: the holder may have released it."""
        self._hurried.set()

    async def run(self) -> None:
        """Renew it until cancelled; then release it, so that another process can take the line at once."""
        try:
            while True:
                self._hurried.clear()
                await self.renew()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._lease_s / _RENEWALS):
                        await self._hurried.wait()
        finally:
            held, self._renewed_at = self.held(), None
            if held:
                await self._release()

    async def _release(self) -> None:
        try:
            async with asyncio.timeout(1):
                await self._leases.release(self._line, self.holder)
        except (StoreFault, TimeoutError) as error:
            _log.warning("line_lease_not_released", line=self._line, error=repr(error))
