"""What the holder of a line tells the desk, and what the desk asks of the line. Both go through the store."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import msgspec
import structlog

from bullion.faults import StoreFault

from .line import FixLine
from .schedule import Schedule

FRESH_US = 5_000_000
"""A report that is older than this is of a process that no longer holds the line."""
_EVERY_S = 1.0
_US_PER_S = 1_000_000

_log = structlog.get_logger("hedge")


class LineReport(msgspec.Struct, frozen=True, kw_only=True):
    """A line, as the process that holds it sees it. Times are 0 if there is none."""

    at_us: int
    held_by: str
    venue: str
    profile: str
    state: str
    since_us: int
    is_open: bool
    """By its timetable."""
    changes_us: int
    """When the timetable opens or closes it next."""
    keeps_numbers: bool
    refused: bool
    """The venue refused the last logon."""
    incoming: int
    outgoing: int
    in_us: int
    out_us: int
    message: str
    """Why it is not up, or why its last connection ended."""


class LineWish(msgspec.Struct, frozen=True):
    """What the desk asks of a line. Without any wish it is up in its hours."""

    connected: bool = True
    at_us: int = 0
    reset_at_us: int = 0
    reset_done_us: int = 0


class OpenOrders(msgspec.Struct, frozen=True):
    number: int = 0
    """Orders that were sent and have no outcome."""
    unknown: int = 0
    """Those of them whose outcome should be known by now."""


class LineControls(Protocol):
    """The store. Every call may raise StoreFault."""

    async def exchange(
        self, line: str, holder: str, broker: str, report: LineReport | None, reset_done_us: int
    ) -> tuple[LineWish, OpenOrders]:
        """Write the report, if there is one and the holder still holds the line, and read the rest."""


class LineControl:
    """Follows the wishes of the desk on every node, and reports on the one that holds the line."""

    def __init__(
        self,
        line: FixLine,
        controls: LineControls,
        holder: str,
        held: Callable[[], bool],
        held_by: str,
        now_us: Callable[[], int],
    ) -> None:
        self._line = line
        self._controls = controls
        self._holder = holder
        self._held = held
        self._held_by = held_by
        self._now_us = now_us
        self._schedule = Schedule(line.line.timetable)
        self._changes_us = 0
        self._reset_sent_us = 0
        """The wish for new numbers that the line has got from us, and how many it had fulfilled before."""
        self._resets_before = 0
        self.wish = LineWish()
        self.orders = OpenOrders()

    @property
    def expected(self) -> bool:
        """Whether the line should be up now."""
        return self.wish.connected and self._line.is_open()

    async def begin(self) -> None:
        """Learn what the desk wishes, before the line connects for the first time. Waits for the store."""
        while True:
            if await self._exchange(first=True):
                return
            await asyncio.sleep(_EVERY_S)

    async def run(self) -> None:
        """Until cancelled. A change of the line is written at once."""
        while True:
            self._line.news.clear()
            await self._exchange()
            with suppress(TimeoutError):
                async with asyncio.timeout(_EVERY_S):
                    await self._line.news.wait()

    async def _exchange(self, *, first: bool = False) -> bool:
        line = self._line.line
        report = self._report() if self._held() else None
        done_us = self._reset_sent_us if self._line.resets > self._resets_before else 0
        try:
            async with asyncio.timeout(2 * _EVERY_S):
                wish, self.orders = await self._controls.exchange(
                    line.name, self._holder, line.broker, report, done_us
                )
        except (StoreFault, TimeoutError) as error:
            _log.warning("line_wishes_not_read", line=line.name, error=repr(error))
            return False
        self._follow(wish, first=first)
        return True

    def _follow(self, wish: LineWish, *, first: bool) -> None:
        before, self.wish = self.wish, wish
        if first or wish.at_us != before.at_us:
            if not wish.connected:
                self._line.disconnect()
            elif not first:
                self._line.connect()
        if not self._held():
            self._reset_sent_us = 0  # Whoever holds the line does it.
        elif wish.reset_at_us > max(wish.reset_done_us, self._reset_sent_us):
            self._reset_sent_us, self._resets_before = wish.reset_at_us, self._line.resets
            self._line.reset()

    def _report(self) -> LineReport:
        status, now_us = self._line.status(), self._now_us()
        profile = self._line.line.profile
        if now_us >= self._changes_us:
            self._changes_us = self._schedule.next_change_us(now_us) or 0
        return LineReport(
            at_us=now_us,
            held_by=self._held_by,
            venue=self._line.line.target,
            profile=profile.name,
            state=status.state.value,
            since_us=status.since_us,
            is_open=self._line.is_open(),
            changes_us=self._changes_us,
            keeps_numbers=not profile.reset_on_logon,
            refused=status.refused,
            incoming=status.numbers.incoming,
            outgoing=status.numbers.outgoing,
            in_us=status.in_us,
            out_us=status.out_us,
            message=status.alarm or status.reason,
        )
