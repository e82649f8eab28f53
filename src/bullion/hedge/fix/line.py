"""Keeps a line to a venue up: its hours, connecting with TLS, pauses after a loss, numbers that are kept.

A line is a FIX session together with the connections that carry it, one after the other.
"""

import asyncio
import random
import ssl
from collections.abc import Callable, Iterable, Sequence
from typing import cast

import structlog

from .codec import Message, Pair
from .connection import Chunk, FixConnection
from .line_counts import MessageCounts
from .line_numbers import LineNumbers
from .line_ports import HeldLine, LineOwner, LineStatus, SequenceStore, SoleHolder
from .message_log import MessageLog
from .pace import Pace
from .profile import Line, Tls, session_settings
from .reconnect_pause import ReconnectPause
from .schedule import Schedule
from .session import Session
from .session_effects import Close, CloseKind, Effect, LineState, LoggedOn, NotLoggedOn, Numbers

_REST_S = 0.1
"""How often a line that rests looks whether it is open and ours."""
_CHECK_S = 0.25
_GAP_CHECK_S = 0.01
_CONNECT_S = 10.0
_TRYING = frozenset({LineState.CONNECTING, LineState.LOGGING_ON, LineState.WAITING})
"""The states of a line that tries to get up."""
_EARLY_LOSSES = 2
"""After this many losses before the logon was complete, numbers are taken to be the reason."""

_log = structlog.get_logger("hedge")


class FixLine:
    def __init__(
        self,
        line: Line,
        owner: LineOwner,
        now_us: Callable[[], int],
        *,
        password: str = "",
        holder: HeldLine | None = None,
        kept: SequenceStore | None = None,
        log: MessageLog | None = None,
        chance: random.Random | None = None,
    ) -> None:
        """`kept` is needed if the profile does not reset numbers at the logon."""
        self.line = line
        self._settings = session_settings(line, password)
        self._owner = owner
        self._now_us = now_us
        self._holder = holder or SoleHolder()
        self._numbers = LineNumbers(line, kept, self._holder)
        self._log = log
        self._pause = ReconnectPause(line.profile, chance)
        self._schedule = Schedule(line.timetable)
        self._pace = Pace(line.profile.rate, now_us())
        self._turn = asyncio.Lock()
        self._tls = None if line.tls is None else _tls_context(line.tls)
        self._connection: FixConnection | None = None
        self._outside = LineState.RESTING
        """The state while there is no session."""
        self._seen_state = LineState.RESTING
        self._since_us = now_us()
        self.news = asyncio.Event()
        """Set when the state changes."""
        self._changed = asyncio.Event()
        self._wanted = True
        self._stopped = False
        self._reset_next = False
        self._reset_tried = False
        self._reset_sent = False
        self._reset_asked = False
        """The desk asked for a logon that resets numbers, and there was none yet."""
        self._refused = False
        self._reached = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._early_losses = 0
        self._logged_on_us: int | None = None
        self._reason = ""
        self.alarm = ""
        self.connection_no = 0
        self.first_connection_no = 0
        """The first connection since another process may have had the line."""
        self._logons = self._losses = self._gaps = self._garbled = 0
        self.resets = 0
        """Logons with new numbers that the desk asked for, and that the venue answered."""
        self.messages = MessageCounts()

    # --- What the owner and the desk do ---------------------------------------------------------------

    @property
    def state(self) -> LineState:
        session = None if self._connection is None else self._connection.session
        return self._outside if session is None or session.closed else session.state

    @property
    def unreachable(self) -> bool:
        """Whether the last attempt to connect ended without a connection."""
        return bool(self._reason) and not self._reached

    def is_open(self) -> bool:
        """Whether the timetable has the line open now."""
        return self._schedule.is_open(self._now_us())

    def status(self) -> LineStatus:
        connection = self._connection
        session = None if connection is None else connection.session
        return LineStatus(
            name=self.line.name,
            state=self.state,
            since_us=self._since_us,
            reason=self._reason,
            alarm=self.alarm,
            numbers=Numbers() if session is None else session.numbers,
            in_us=0 if connection is None else connection.in_us,
            out_us=0 if connection is None else connection.out_us,
            connection_no=self.connection_no,
            logons=self._logons,
            losses=self._losses,
            gaps=self._gaps + (0 if session is None else session.gaps),
            garbled=self._garbled + (0 if connection is None else connection.garbled),
            refused=self._refused,
        )

    async def send(self, pairs: Iterable[Pair], connection_no: int | None = None) -> int:
        """Send a message at the line's pace, in turn. Its number is returned.

        With `connection_no`, only on that connection: a message that waited is not sent on the next one.
        """
        async with self._turn:
            while wait_us := self._pace.take(self._now_us()):  # noqa: ASYNC110 - the bucket says how long
                await asyncio.sleep(wait_us / 1_000_000)
            if self._connection is None or connection_no not in (None, self.connection_no):
                raise NotLoggedOn("The line is lost.")
            return self._connection.send(pairs)

    async def gap_filled(self, connection_no: int) -> None:
        """Wait until the venue has sent again what was missed. The session ends a wait without end."""
        while self.connection_no == connection_no and self._has_gap():  # noqa: ASYNC110 - few lines have gaps
            await asyncio.sleep(_GAP_CHECK_S)

    def _has_gap(self) -> bool:
        session = None if self._connection is None else self._connection.session
        return session is not None and session.has_gap and not session.closed

    def recovered(self, connection_no: int) -> None:
        if self._connection is not None and connection_no == self.connection_no:
            self._connection.recovered()
            self._note_state()

    def progressed(self) -> None:
        """What became of an order is known now: however short the connection, the next pause is short."""
        self._pause.shorten()

    def reject(self, message: Message, reason: int, text: str, tag: int | None = None) -> None:
        if self._connection is not None:
            self._connection.reject(message, reason, text, tag)

    def connect(self) -> None:
        """Be up in its hours, and try now, without the rest of a pause."""
        self._wanted = True
        self._try_now()

    def _try_now(self) -> None:
        self.alarm = ""
        self._pause.shorten()
        self._changed.set()

    def disconnect(self) -> None:
        """Log out and rest, until `connect`."""
        self._wanted = False
        self._changed.set()

    def reset(self) -> None:
        """Begin both numbers anew with a logon: the next one, or at once if the line is connected."""
        self._reset_next = self._reset_asked = True
        self._reset_tried = False
        self._try_now()

    def wake(self) -> None:
        """Look now whether the line should be up."""
        self._changed.set()

    def stop(self) -> None:
        """Log out; `run` returns."""
        self._stopped = True
        self._changed.set()

    # --- The life of the line -------------------------------------------------------------------------

    async def run(self) -> None:
        """Until cancelled or stopped."""
        while not self._stopped:
            if not self._should_be_up() or self.alarm:
                await self._wait(LineState.WAITING if self.alarm else LineState.RESTING, _REST_S)
                continue
            close = await self._connect()
            if not self._stopped:
                self._learn_from(close)
                state = LineState.WAITING if self._should_be_up() else LineState.RESTING
                await self._wait(state, self._pause_s(close))
        self._outside = LineState.RESTING

    def _should_be_up(self) -> bool:
        return self._wanted and not self._stopped and self.is_open() and self._holder.held()

    async def _wait(self, state: LineState, seconds: float) -> None:
        """Wait in this state; less if the desk or the owner changed something."""
        self._outside = state
        self._note_state()
        self._changed.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            pass

    async def _connect(self) -> Close:
        """One connection, from its beginning to its end."""
        self._outside = LineState.CONNECTING
        self._note_state()
        self._logged_on_us = None
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[Close] = loop.create_future()
        connection: FixConnection | None = None
        try:
            number = await self._holder.begin_connection()
            if number != self.connection_no + 1:  # Another process had the line in between.
                self._numbers.next_outgoing = None
                self.first_connection_no = number
            self.connection_no = number
            # Known before it connects: the venue's Logon may arrive before this task goes on.
            connection = self._connection = await self._made_connection(ended)
            async with asyncio.timeout(_CONNECT_S):
                await loop.create_connection(
                    lambda: connection,
                    self.line.host,
                    self.line.port,
                    ssl=self._tls,
                    server_hostname=self._server_name(),
                )
            await self._attend(connection, ended)
            return ended.result()
        except (Exception, asyncio.CancelledError) as error:
            told = error.strerror if isinstance(error, OSError) else None
            close = Close(CloseKind.LOST, told or str(error) or repr(error))
            if connection is not None:
                connection.abort(close.reason)
            if isinstance(error, asyncio.CancelledError):
                raise
            return close
        finally:
            self._forget(connection)

    def _server_name(self) -> str | None:
        return None if self.line.tls is None else self.line.tls.server_name or self.line.host

    async def _made_connection(self, ended: "asyncio.Future[Close]") -> FixConnection:
        numbers, reserved_below = await self._numbers.first(
            lambda: self._schedule.opened_us(self._now_us()), reset=self._reset_next
        )
        session = Session(self._settings, self._now_us(), numbers, reserved_below)
        return FixConnection(
            lambda _: session,
            _Events(self, ended),
            self._now_us,
            log=self._log,
            may_write=self._holder.held,
            counts=self.messages,
            reserve=self._numbers.reserve if self._numbers.kept else None,
            starts=self._start_session,
        )

    def _start_session(self, session: Session, now_us: int) -> Sequence[Effect]:
        self._reset_sent = self.line.profile.reset_on_logon or self._reset_next
        self._reset_next = False
        return session.start(now_us, reset=self._reset_sent)

    async def _attend(self, connection: FixConnection, ended: "asyncio.Future[Close]") -> None:
        """Until the connection ends: its hours and the lease."""
        while not ended.done():
            self._note_state()
            self._changed.clear()
            await self._until_changed(ended)
            if ended.done():
                return
            if not self._holder.held():
                connection.abort("The lease of the line is lost.")
            elif (self._reset_next or not self._should_be_up()) and self.state is not LineState.LEAVING:
                connection.leave("End of session")

    async def _until_changed(self, ended: "asyncio.Future[Close]") -> None:
        """Until the connection ended, the desk or the owner changed something, or it is time to look."""
        changed: asyncio.Future[object] = asyncio.ensure_future(self._changed.wait())
        waited: list[asyncio.Future[object]] = [cast("asyncio.Future[object]", ended), changed]
        try:
            await asyncio.wait(waited, timeout=_CHECK_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()

    def _forget(self, connection: FixConnection | None) -> None:
        self._connection = None
        self._reached = connection is not None and connection.session is not None
        if connection is not None:
            self._garbled += connection.garbled
        if connection is not None and connection.session is not None:
            self._gaps += connection.session.gaps
            self._numbers.next_outgoing = connection.session.numbers.outgoing
        if self._logged_on_us is not None:
            self._losses += 1

    async def _restart_incoming(self) -> None:
        try:
            await self._numbers.restart_incoming()
        except Exception as error:  # noqa: BLE001 - without it the next logon finds numbers that disagree
            if self._connection is not None:
                self._connection.abort(f"The numbers of the line could not be stored: {error!r}")

    # --- What a connection tells ----------------------------------------------------------------------

    def note_logon(self, effect: LoggedOn) -> None:
        self._logged_on_us = self._now_us()
        self._logons += 1
        self._early_losses = 0
        self._reset_tried = self._refused = False
        self._note_reset()
        self.alarm = self._reason = ""
        _log.info("line_logged_on", line=self.line.name, connection_no=self.connection_no)
        if effect.reset and not self._reset_sent and self._numbers.kept:
            task = asyncio.ensure_future(self._restart_incoming())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._note_state()
        self._owner.logged_on(self.connection_no, effect.message)

    def note_chunk(self, chunk: Chunk) -> None:
        self._owner.received(self.connection_no, chunk)

    def note_close(self, close: Close) -> None:
        self._reason = close.reason
        _log.info("line_closed", line=self.line.name, kind=close.kind.value, reason=close.reason)
        if self._logged_on_us is not None:
            self._owner.lost(self.connection_no, close.reason)

    def _note_state(self) -> None:
        if self.state is not self._seen_state:
            if not {self.state, self._seen_state} <= _TRYING:  # Each attempt is of the same failure.
                self._since_us = self._now_us()
            self._seen_state = self.state
            self.news.set()

    def _learn_from(self, close: Close) -> None:
        """If the sides disagree on kept numbers: one logon that resets them, or the desk decides."""
        self._reason = close.reason
        if self._logged_on_us is None and self._reached:
            self._refused = close.kind in (CloseKind.REFUSED, CloseKind.TOO_LOW)
            if close.kind is not CloseKind.LOST:
                self._note_reset()
            elif self._reset_asked:
                self._reset_next = True  # Nobody knows whether the venue has seen it.
                return
        if not self._numbers.kept or self._logged_on_us is not None or not self._reached:
            return
        self._early_losses += close.kind is CloseKind.LOST
        if close.kind is not CloseKind.TOO_LOW and self._early_losses < _EARLY_LOSSES:
            self._reset_next = self._reset_next or self._reset_sent  # The venue may not have seen it.
            return
        self._early_losses = 0
        if self.line.profile.may_reset and not self._reset_tried:
            self._reset_next = self._reset_tried = True
        else:
            self.alarm = f"The venue does not accept our numbers: {close.reason}"
            _log.error("line_numbers_refused", line=self.line.name, reason=close.reason)

    def _note_reset(self) -> None:
        """The venue accepted or refused a logon. If it was one with new numbers, the desk has its reset."""
        if self._reset_asked and self._reset_sent:
            self._reset_asked = False
            self.resets += 1

    def _pause_s(self, close: Close) -> float:
        logged_on_us = 0 if self._logged_on_us is None else self._now_us() - self._logged_on_us
        return self._pause.after_s(close, logged_on_us)


class _Events:
    """What one connection tells the line."""

    def __init__(self, line: FixLine, ended: "asyncio.Future[Close]") -> None:
        self._line = line
        self._ended = ended

    def logged_on(self, effect: LoggedOn) -> None:
        self._line.note_logon(effect)

    def received(self, chunk: Chunk) -> None:
        self._line.note_chunk(chunk)

    def closed(self, close: Close) -> None:
        self._line.note_close(close)
        if not self._ended.done():
            self._ended.set_result(close)


def _tls_context(tls: Tls) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=tls.ca_file or None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if tls.cert_file:
        context.load_cert_chain(tls.cert_file, tls.key_file or None)
    return context
