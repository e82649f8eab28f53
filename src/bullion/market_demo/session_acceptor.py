"""The FIX side of the counterparties: sessions that are accepted, with faults on their lines."""

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Protocol

from bullion.hedge.fix.codec import Message, Pair, fields_text, time_text
from bullion.hedge.fix.connection import Chunk, FixConnection
from bullion.hedge.fix.session import Session
from bullion.hedge.fix.session_effects import (
    Close,
    LoggedOn,
    NotLoggedOn,
    Numbers,
    Role,
    Send,
    SessionSettings,
)

from .faults import Fault, Faults

_ADMIN = frozenset("A012345")
_POLL_S = 0.02

Pairs = list[Pair]


def clock_us() -> int:
    return time.time_ns() // 1000


class ReplayingSession(Session):
    """Unlike ours, a venue's session replays its reports when it is asked to, with PossDup."""

    def __init__(
        self,
        settings: SessionSettings,
        now_us: int,
        numbers: Numbers,
        replays: dict[int, tuple[str, str, int]],
    ) -> None:
        super().__init__(settings, now_us, numbers)
        self._replays = replays

    def _put(self, kind: str, number: int, text: str, now_us: int) -> None:
        if kind == "A" and number == 1:
            self._replays.clear()
        if kind not in _ADMIN:
            self._replays[number] = (kind, text, now_us)
        super()._put(kind, number, text, now_us)

    def _answer_resend_request(self, message: Message, now_us: int) -> None:
        first, last = int(message.get(7) or 1), int(message.get(16) or 0)
        end = min(last or self.numbers.outgoing - 1, self.numbers.outgoing - 1)
        skipped_from: int | None = None
        for number in range(max(first, 1), end + 1):
            found = self._replays.get(number)
            if found is None:
                skipped_from = skipped_from or number
                continue
            if skipped_from is not None:
                self._skip(skipped_from, number, now_us)
                skipped_from = None
            kind, text, at_us = found
            head = fields_text([(43, "Y"), (122, time_text(at_us))])
            super()._put(kind, number, head + text, now_us)
        if skipped_from is not None:
            self._skip(skipped_from, end + 1, now_us)

    def _skip(self, number: int, new: int, now_us: int) -> None:
        fields: list[Pair] = [(43, "Y"), (122, time_text(now_us)), (123, "Y"), (36, new)]
        super()._put("4", number, fields_text(fields), now_us)


class FaultyConnection(FixConnection):
    """Reports are lost, doubled, swapped, cut or garbled on their way."""

    faults: Faults
    _swapped: Send | None = None

    def _write(self, one: Send) -> None:
        faults = self.faults
        if one.type in _ADMIN:
            super()._write(one)
            return
        if faults.happens(Fault.CUT_BEFORE):
            self.abort("cut before a report")
            return
        if faults.happens(Fault.LOST):
            return
        if faults.happens(Fault.HALF):
            super()._write(Send(one.data[: len(one.data) // 2], one.type, one.number))
            # The half is on its way before the line is cut.
            self._finish_after_write()
            return
        if faults.happens(Fault.GARBLED):
            digit = b"0" if one.data[-2:-1] != b"0" else b"1"
            one = Send(one.data[:-2] + digit + one.data[-1:], one.type, one.number)
        if self._swapped is None and faults.happens(Fault.SWAPPED):
            self._swapped = one
            return
        super()._write(one)
        if faults.happens(Fault.DOUBLED):
            super()._write(one)
        if self._swapped is not None:
            swapped, self._swapped = self._swapped, None
            super()._write(swapped)
        if faults.happens(Fault.CUT_AFTER):
            self._finish_after_write()

    def _finish_after_write(self) -> None:
        if self._transport is not None:
            self._transport.close()


class Engine(Protocol):
    """What the acceptor serves."""

    def received(self, message: Message, now_us: int) -> list[Pairs]: ...

    def due(self, now_us: int) -> list[Pairs]: ...


class SessionAcceptor:
    """One session at a time: a new logon pushes the old line off."""

    def __init__(
        self,
        engine: Engine,
        faults: Faults,
        settings: SessionSettings,
        now_us: Callable[[], int] = clock_us,
    ) -> None:
        self._engine = engine
        self.faults = faults
        self.port = 0
        self._settings = settings
        self._now_us = now_us
        self._numbers = Numbers()
        self._replays: dict[int, tuple[str, str, int]] = {}
        self._connection: FaultyConnection | None = None
        self._server: asyncio.Server | None = None
        self._timer: asyncio.Task[None] | None = None
        self.logons = 0

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self.accept, host, port)
        self.port = self._server.sockets[0].getsockname()[1]
        self.start_timer()

    def start_timer(self) -> None:
        self._timer = asyncio.get_running_loop().create_task(self._run_timer())

    @property
    def serving(self) -> bool:
        return self._server is not None

    async def stop(self) -> None:
        self.cut("stopped")
        if self._timer is not None:
            self._timer.cancel()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    def cut(self, reason: str = "cut") -> None:
        if self._connection is not None:
            self._connection.abort(reason)

    def accept(self) -> FixConnection:
        owner = _Owner(self)
        connection = owner.connection = FaultyConnection(self._begin, owner, self._now_us)
        connection.faults = self.faults
        return connection

    def _begin(self, message: Message | None) -> Session | None:
        if message is None or message.type != "A" or self.faults.happens(Fault.HUNG_UP):
            return None
        self.cut("another logon")
        if self.faults.happens(Fault.NUMBERS_FORGOTTEN):
            self._numbers = Numbers()
            self._replays.clear()
        return self._session()

    def _session(self) -> Session:
        return ReplayingSession(self._settings, self._now_us(), self._numbers, self._replays)

    def logged_on(self, connection: FaultyConnection) -> None:
        self.logons += 1
        self._connection = connection
        if connection.session is not None:
            self._numbers = connection.session.numbers

    def received(self, connection: FaultyConnection, chunk: Chunk) -> None:
        for message in chunk.messages:
            if connection is not self._connection:
                return
            if self.faults.happens(Fault.RATE_LOGOUT):
                connection.refuse("Message rate exceeded")
                return
            self.send(self._engine.received(message, self._now_us()))

    def closed(self, connection: FaultyConnection) -> None:
        if connection is self._connection:
            self._connection = None

    def send(self, reports: Iterable[Pairs]) -> None:
        """Reports that nobody is there for are lost; where numbers are kept, they would be replayed."""
        for each in reports:
            if self._connection is not None:
                with suppress(NotLoggedOn):
                    self._connection.send(each)

    async def _run_timer(self) -> None:
        while True:
            self.send(self._engine.due(self._now_us()))
            await asyncio.sleep(_POLL_S)


class _Owner:
    def __init__(self, acceptor: SessionAcceptor) -> None:
        self._acceptor = acceptor
        self.connection: FaultyConnection | None = None

    def logged_on(self, effect: LoggedOn) -> None:  # noqa: ARG002
        if self.connection is not None:
            self._acceptor.logged_on(self.connection)

    def received(self, chunk: Chunk) -> None:
        if self.connection is not None:
            self._acceptor.received(self.connection, chunk)

    def closed(self, close: Close) -> None:  # noqa: ARG002
        if self.connection is not None:
            self._acceptor.closed(self.connection)


def acceptor_settings(sender: str, target: str) -> SessionSettings:
    return SessionSettings(sender=sender, target=target, role=Role.ACCEPTOR)
