"""One connection: a socket that drives a `Session`, at either side.

What the session delivers goes to the owner chunk by chunk, as it arrived, with the number to continue from.
An owner that keeps numbers stores that number together with what it learned from the chunk. If it crashes
before, the venue repeats the chunk.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol, cast

import msgspec
import structlog

from .codec import SIZE_MAX, Decoder, Garbled, Message, Pair
from .line_counts import MessageCounts
from .message_log import Direction, MessageLog
from .session import Session
from .session_effects import (
    Close,
    CloseKind,
    Deliver,
    Effect,
    LoggedOn,
    LostInWrite,
    NotLoggedOn,
    Reserve,
    Send,
    Skipped,
    Unreadable,
)

_TICK_S = 0.25
_CLOSE_S = 2.0
_UNSENT_MAX = 1024 * 1024
"""Bytes that the other side may leave unread before the line counts as lost."""

_log = structlog.get_logger("hedge")


class Chunk(msgspec.Struct, frozen=True):
    """Messages that arrived together."""

    messages: Sequence[Message]
    incoming: int
    """The number that the next message has. Store it with the outcomes of these."""
    skipped: bool = False
    """Whether messages before or among these will never arrive."""
    unreadable: Sequence[Message] = ()
    """Messages that arrived with these, and were rejected."""


class ConnectionOwner(Protocol):
    """Callbacks of one connection. They must not wait; longer work is for a task of the owner."""

    def logged_on(self, effect: LoggedOn) -> None:
        """The owner recovers what it has to, then calls `recovered`. It may send from now on."""

    def received(self, chunk: Chunk) -> None: ...

    def closed(self, close: Close) -> None:
        """Called once, whatever ended it. Nothing follows."""


class FixConnection(asyncio.Protocol):
    def __init__(
        self,
        begin: Callable[[Message | None], Session | None],
        owner: ConnectionOwner,
        now_us: Callable[[], int],
        *,
        log: MessageLog | None = None,
        may_write: Callable[[], bool] = lambda: True,
        counts: MessageCounts | None = None,
        reserve: Callable[[int], Awaitable[None]] | None = None,
        starts: Callable[[Session, int], Sequence[Effect]] | None = None,
        size_max: int = SIZE_MAX,
    ) -> None:
        """An initiator passes `starts`, which begins its session once the socket is there.

        `begin`: the session, made from the first message by an acceptor; None hangs up on it.
        `counts`: messages, counted for longer than this connection.
        `may_write`: whether this process still holds the line. It is asked before every write.
        `reserve`: stores that outgoing numbers below this one may be used, if numbers are kept.
        """
        self._begin = begin
        self._owner = owner
        self._now_us = now_us
        self._log = log
        self._may_write = may_write
        self._counts = counts or MessageCounts()
        self._reserve = reserve
        self._starts = starts
        self._decoder = Decoder(size_max)
        self._transport: asyncio.Transport | None = None
        self._close: Close | None = None
        self._ended = False
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.session: Session | None = None
        self.in_us = self.out_us = 0
        """When the last message arrived, and when the last one was sent."""

    # --- What the owner does --------------------------------------------------------------------------

    @property
    def garbled(self) -> int:
        return self._decoder.garbled

    def send(self, pairs: Iterable[Pair]) -> int:
        """Send a message, from 35 on. Its number is returned."""
        session = self._require_session()
        number = session.numbers.outgoing
        self._carry_out(session.send(pairs, self._now_us()))
        if self._ended:
            raise LostInWrite("The line is lost.")
        return number

    def recovered(self) -> None:
        self._require_session().recovered()

    def reject(self, message: Message, reason: int, text: str, tag: int | None = None) -> None:
        self._carry_out(self._require_session().reject(message, self._now_us(), reason, text, tag))

    def refuse(self, text: str) -> None:
        """Log the other side out with this text."""
        self._carry_out(self._require_session().refuse(text, self._now_us()))

    def leave(self, text: str = "") -> None:
        if self.session is None:
            self.abort("left before the logon")
        else:
            self._carry_out(self.session.leave(self._now_us(), text))

    def abort(self, reason: str) -> None:
        """Drop the socket at once. Nothing that was not yet given to the kernel is sent."""
        if self._transport is not None:
            self._transport.abort()
        self._end(Close(CloseKind.LOST, reason))

    def _require_session(self) -> Session:
        if self.session is None or self._ended:
            raise NotLoggedOn("There is no session.")
        return self.session

    # --- What the socket does -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are not of asyncio's class
        if self._starts is not None:
            self.session = self._begin(None)
            if self.session is not None:
                self._carry_out(self._starts(self.session, self._now_us()))
        self._tick()

    def data_received(self, data: bytes) -> None:
        now_us = self._now_us()
        effects: list[Effect] = []
        received = self._counts.received
        for each in self._decoder.feed(data):
            if isinstance(each, Garbled):
                _log.warning("fix_garbled", reason=each.reason, size=each.size)
                continue
            if self._log is not None:
                self._log.note(Direction.IN, each.raw)
            received[each.type] += 1
            self.in_us = now_us
            if self.session is None:
                self.session = self._begin(each)
                if self.session is None:
                    self.abort("A logon that nobody expects.")
                    return
            effects += self.session.received(each, now_us)
        self._carry_out(effects)

    def connection_lost(self, error: Exception | None) -> None:
        self._end(self._close or Close(CloseKind.LOST, str(error or "The other side hung up.")))

    def eof_received(self) -> bool:
        return False

    # --- Effects --------------------------------------------------------------------------------------

    def _tick(self) -> None:
        if self._ended:
            return
        if self.session is not None:
            self._carry_out(self.session.tick(self._now_us()))
        self._timer = asyncio.get_running_loop().call_later(_TICK_S, self._tick)

    def _carry_out(self, effects: Sequence[Effect]) -> None:
        """First all that is to be written: an owner that sends in a callback gets the numbers behind it."""
        messages: list[Message] = []
        rest: list[Effect] = []
        for each in effects:
            if isinstance(each, Deliver):
                messages.append(each.message)
            elif isinstance(each, Send):
                self._write(each)
            elif isinstance(each, Reserve):
                self._start_reservation(each.below)
            else:
                rest.append(each)
        if not rest:
            self._deliver(messages, skipped=False)
            return
        for each in rest:
            if isinstance(each, LoggedOn) and not self._ended:
                self._owner.logged_on(each)
        skipped = any(isinstance(each, Skipped) for each in rest)
        unreadable = [each.message for each in rest if isinstance(each, Unreadable)]
        self._deliver(messages, skipped=skipped, unreadable=unreadable)
        for each in rest:
            if isinstance(each, Close):
                self._finish(each)

    def _deliver(
        self, messages: Sequence[Message], *, skipped: bool, unreadable: Sequence[Message] = ()
    ) -> None:
        if (messages or skipped or unreadable) and self.session is not None and not self._ended:
            self._owner.received(Chunk(messages, self.session.numbers.incoming, skipped, unreadable))

    def _write(self, one: Send) -> None:
        transport = self._transport
        if self._ended or transport is None or transport.is_closing():
            return
        if not self._may_write():
            self.abort("The lease of the line is lost.")
            return
        if self._log is not None:
            self._log.note(Direction.OUT, one.data)
        transport.write(one.data)
        self._counts.sent[one.type] += 1
        self.out_us = self._now_us()
        if transport.get_write_buffer_size() > _UNSENT_MAX:
            self.abort("The other side does not read.")

    def _finish(self, close: Close) -> None:
        self._close = close
        if self._transport is not None:
            if close.kind is CloseKind.LOST:
                self._transport.abort()
            else:
                self._transport.close()
                # If the other side does not read the rest, the socket would stay open.
                asyncio.get_running_loop().call_later(_CLOSE_S, self._transport.abort)

    def _start_reservation(self, below: int) -> None:
        async def store() -> None:
            try:
                if self._reserve is not None:
                    await self._reserve(below)
            except Exception as error:  # noqa: BLE001 - whatever failed, the number must not be used
                self.abort(f"The numbers of the line could not be stored: {error!r}")
                return
            if self.session is not None and not self._ended:
                self._carry_out(self.session.reserved(below))

        task = asyncio.ensure_future(store())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _end(self, close: Close) -> None:
        if self._ended:
            return
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()
        if self.session is not None:
            self.session.closed = True
        self._owner.closed(close)
