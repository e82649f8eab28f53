"""A source of rates over FIX: its line, and the market data on it."""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import structlog

from bullion.hedge.fix.codec import Message
from bullion.hedge.fix.connection import Chunk
from bullion.hedge.fix.line import FixLine
from bullion.hedge.fix.message_log import Direction, MessageLog
from bullion.hedge.fix.profile import Line, SymbolForm
from bullion.hedge.fix.session_effects import LineState, NotLoggedOn
from bullion.market_file import MarketSettings
from bullion.rates.feeds.fix_market_data import MarketData, Request
from bullion.rates.feeds.quote import Alive, Item, SourceLost, Take
from bullion.rates.feeds.source_settings import SourceSettings
from bullion.settings import WrongSetting

_LOOK_S = 0.05
_LOGOUT_S = 0.5
_US_PER_S = 1_000_000
_PRICES = (b"\x0135=W\x01", b"\x0135=X\x01")
_TYPE_WITHIN = 48
"""35 is the third field, so it stands within so many bytes."""

_log = structlog.get_logger("feed")


def make_fix_source(
    settings: SourceSettings, market: MarketSettings, now_us: Callable[[], int]
) -> "FixSource":
    """Raises WrongSetting."""
    line = market.source_lines.get(settings.name)
    if line is None:
        raise WrongSetting(f"Source {settings.name}: the market file has no line for it.")
    return FixSource(settings, line, message_log(settings, market, now_us), now_us)


def message_log(settings: SourceSettings, market: MarketSettings, now_us: Callable[[], int]) -> MessageLog:
    """In a folder of its own: a line may have the name of a source."""
    kind = MessageLog if settings.log_quotes else _LogWithoutPrices
    return kind(Path(market.messages.folder) / "sources", settings.name, now_us, market.messages.days)


class _LogWithoutPrices(MessageLog):
    def note(self, direction: Direction, data: bytes) -> None:
        if not any(each in data[:_TYPE_WITHIN] for each in _PRICES):
            super().note(direction, data)


class FixSource:
    def __init__(
        self,
        settings: SourceSettings,
        line: Line,
        log: MessageLog | None,
        now_us: Callable[[], int],
        tell_trouble: Callable[[str, str], None] | None = None,
    ) -> None:
        """`tell_trouble`: called with an instrument that was emptied, and the reason; None: it is logged."""
        self.name = settings.name
        self._tell_trouble = tell_trouble or self._log_trouble
        self._settings = settings
        self._line = line
        self._log = log
        self._now_us = now_us
        self._not_before_us = 0

    async def run(self, take: Take) -> None:
        """One connection, from logon to loss. Outside of its hours the line rests."""
        # The other side asked for a pause when it threw us out.
        await asyncio.sleep(max(0, self._not_before_us - self._now_us()) / _US_PER_S)
        following = _Following(self._settings, self._line, take, self._now_us, self._log, self._tell_trouble)
        line = following.line
        tasks = [asyncio.ensure_future(line.run())]
        if self._log is not None:
            tasks.append(asyncio.ensure_future(self._log.run()))
        try:
            await following.until_lost()
        except SourceLost as lost:
            if self._line.profile.is_rate_logout(str(lost)):
                self._not_before_us = self._now_us() + self._line.profile.rate_logout_s * _US_PER_S
            raise
        finally:
            line.stop()
            await asyncio.wait(tasks[:1], timeout=_LOGOUT_S)
            await _cancel([*tasks, *following.tasks])

    def _log_trouble(self, instrument: str, reason: str) -> None:
        _log.warning("subscription_emptied", source=self.name, instrument=instrument, reason=reason)


class _Following:
    """One connection: owns the line, and hands over what its market data say."""

    def __init__(
        self,
        settings: SourceSettings,
        line: Line,
        take: Take,
        now_us: Callable[[], int],
        log: MessageLog | None,
        tell_trouble: Callable[[str, str], None],
    ) -> None:
        self._name = settings.name
        self._tell_trouble = tell_trouble
        self._take = take
        self._now_us = now_us
        profile = line.profile
        by_id = profile.symbol is SymbolForm.SECURITY_ID
        self._data = MarketData(settings, now_us(), profile.security_id_source if by_id else None)
        password = os.environ.get(line.password_env, "") if line.password_env else ""
        self.line = FixLine(line, self, now_us, password=password, log=log)
        self.tasks: set[asyncio.Task[None]] = set()
        self._lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._up = False
        self._heard_us = 0
        self._missed = 0
        """Gaps and garbled messages so far."""

    # --- What the line tells --------------------------------------------------------------------------

    def logged_on(self, connection_no: int, logon: Message) -> None:  # noqa: ARG002 - nothing to check in it
        if self._up:  # The other side began its numbers anew.
            self._hand_over(self._data.gap(self._now_us()))
        self._up = True
        self.line.recovered(connection_no)
        self._take(Alive(self._name, self._now_us()))

    def received(self, connection_no: int, chunk: Chunk) -> None:  # noqa: ARG002 - there is one
        self._look_for_gaps()
        if chunk.skipped:
            self._hand_over(self._data.gap(self._now_us()))
        for message in chunk.messages:
            self._hand_over(self._data.received(message, self._now_us()))

    def lost(self, connection_no: int, reason: str) -> None:  # noqa: ARG002 - as above
        if not self._lost.done():
            self._lost.set_result(reason)

    # --- What it does meanwhile -----------------------------------------------------------------------

    async def until_lost(self) -> None:
        """Raises SourceLost when the line is lost or cannot be opened."""
        while True:
            await asyncio.wait([self._lost], timeout=_LOOK_S)
            if self._lost.done():
                raise SourceLost(self._lost.result())
            status = self.line.status()
            if status.reason and status.state in (LineState.WAITING, LineState.RESTING):
                raise SourceLost(status.reason)
            if self._up:
                self._attend(status.in_us)

    def _attend(self, in_us: int) -> None:
        if in_us != self._heard_us:  # Heartbeats, too. Earlier if the clock was set back.
            self._heard_us = in_us
            self._take(Alive(self._name, in_us))
        self._look_for_gaps()
        if not self.tasks:
            requests = self._data.due(self._now_us())
            if requests:
                task = asyncio.ensure_future(self._send(requests))
                self.tasks.add(task)
                task.add_done_callback(self.tasks.discard)
        self._tell_troubles()

    def _look_for_gaps(self) -> None:
        status = self.line.status()
        if status.gaps + status.garbled > self._missed:
            self._missed = status.gaps + status.garbled
            self._hand_over(self._data.gap(self._now_us()))

    async def _send(self, requests: Sequence[Request]) -> None:
        """In the background: the line's pace may make it wait."""
        try:
            for each in requests:
                self._data.sent(each, await self.line.send(each.pairs))
        except NotLoggedOn as error:
            self.lost(0, str(error))

    def _hand_over(self, items: Iterable[Item]) -> None:
        for each in items:
            self._take(each)

    def _tell_troubles(self) -> None:
        for instrument, reason in self._data.troubles:
            self._tell_trouble(instrument, reason)
        self._data.troubles.clear()


async def _cancel(tasks: Iterable[asyncio.Task[None]]) -> None:
    for task in (found := list(tasks)):
        task.cancel()
    await asyncio.gather(*found, return_exceptions=True)
