"""The session of one connection, for either side: numbers, heartbeats, gaps. It knows nothing of orders.

It is pure: a message or the time goes in, effects come out, which the caller carries out in their order. A
new connection gets a new session, which continues with the `Numbers` of the last one, or begins with 1.

Messages that were sent are not kept. A ResendRequest is answered with a SequenceReset-GapFill alone, so an
old order is never sent a second time. After `LoggedOn` the owner finds out what became of its orders by
asking, and then calls `recovered`.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from .codec import (
    BEGIN,
    COMP_ID_WRONG,
    REQUIRED_TAG_MISSING,
    SENDING_TIME_WRONG,
    TYPE_WRONG,
    VALUE_WRONG,
    Message,
    Pair,
    fields_text,
    frame,
    time_text,
    time_us,
)

NUMBER_STEP = 100
"""Kept numbers: how many outgoing numbers are reserved in the store at once."""
_US_PER_S = 1_000_000
_ADMINISTRATIVE = frozenset("01245A")
"""Message types that the session itself handles."""
_AHEAD_MAX = 1_000
"""How many messages behind a gap are kept until it is filled."""


class LineState(StrEnum):
    RESTING = "resting"
    """Outside of its hours, or disconnected by the desk."""
    CONNECTING = "connecting"
    LOGGING_ON = "logging on"
    RECOVERING = "recovering"
    """Logged on. The owner asks for its orders that are not final; new orders wait."""
    UP = "up"
    LEAVING = "leaving"
    """A Logout is sent and not answered."""
    WAITING = "waiting"
    """The line was lost; it connects again after a pause."""


LOGGED_ON = frozenset({LineState.RECOVERING, LineState.UP})


class Role(StrEnum):
    INITIATOR = "initiator"
    ACCEPTOR = "acceptor"


class SessionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to talk with the other side."""

    sender: str
    target: str
    role: Role = Role.INITIATOR
    begin: str = BEGIN
    heartbeat_s: int = 30
    """An acceptor takes the initiator's."""
    reset_on_logon: bool = True
    logon_fields: tuple[tuple[int, str], ...] = ()
    """Sent in the Logon besides 98, 108 and 141: user name, password and others."""
    header_fields: tuple[tuple[int, str], ...] = ()
    """Sent in every header behind 56: 50, 57 and others."""
    sending_time_s: int = 120
    """How far the other side's SendingTime may be from our clock. 0: it is not checked."""
    logon_s: int = 10
    """How long a logon or a logout may take."""
    logout_s: int = 5


class Numbers(msgspec.Struct):
    """The numbers that the next messages have."""

    outgoing: int = 1
    incoming: int = 1


# --- Effects ------------------------------------------------------------------------------------------


class Send(msgspec.Struct, frozen=True):
    data: bytes
    type: str
    number: int


class Deliver(msgspec.Struct, frozen=True):
    """A message for the owner: all but those that the session answers. Also Reject (35=3)."""

    message: Message


class LoggedOn(msgspec.Struct, frozen=True):
    """The owner recovers now."""

    message: Message
    """The other side's Logon."""
    reset: bool


class Skipped(msgspec.Struct, frozen=True):
    """Messages with these numbers will never arrive. The owner must not rest on having seen all."""

    first: int
    last: int


class Reserve(msgspec.Struct, frozen=True):
    """Store that outgoing numbers below this one may be used, then call `reserved`."""

    below: int


class CloseKind(StrEnum):
    LOGOUT = "logout"
    """The other side logged out, or answered our Logout."""
    REFUSED = "refused"
    """It refused our logon."""
    TOO_LOW = "too low"
    """A number was lower than the expected one, at either side: one of them lost its numbers."""
    LOST = "lost"
    """It did not answer in time."""
    VIOLATION = "violation"
    """It broke the protocol."""


class Close(msgspec.Struct, frozen=True):
    """Write what is to be sent, then close the connection."""

    kind: CloseKind
    reason: str


Effect = Send | Deliver | LoggedOn | Skipped | Reserve | Close


class NotLoggedOn(Exception):
    """A message was to be sent outside of a session."""


class Session:
    def __init__(
        self,
        settings: SessionSettings,
        now_us: int,
        numbers: Numbers | None = None,
        reserved_below: int | None = None,
    ) -> None:
        """`reserved_below`: outgoing numbers below it may be used; None if numbers are not kept."""
        self.settings = settings
        self.state = LineState.LOGGING_ON
        self.numbers = numbers or Numbers()
        self.heartbeat_s = settings.heartbeat_s
        self.closed = False
        self.refusal = ""
        """Acceptor: why the logon is refused, if it is."""
        self.gaps = 0
        """How many gaps were found in what the other side sent."""
        self._effects: list[Effect] = []
        self._reserved_below = reserved_below
        self._reserve_asked = reserved_below
        self._held: list[Send] = []
        self._begun_us = self._in_us = self._out_us = self._leaving_us = now_us
        self._test_us: int | None = None
        self._tests = 0
        self._sent_reset = False
        self._first_sent = 0
        """The number of the first message of the owner on this connection; 0 if there is none."""
        self._ahead: dict[int, Message] = {}
        self._gap_until = 0
        self._gap_asked_us = self._gap_moved_us = now_us
        self._header = fields_text([(49, settings.sender), (56, settings.target), *settings.header_fields])

    # --- What the owner does --------------------------------------------------------------------------

    def start(self, now_us: int, *, reset: bool | None = None) -> Sequence[Effect]:
        """Initiator: log on. `reset` overrides `reset_on_logon`."""
        self._begun_us = self._in_us = now_us
        self._sent_reset = self.settings.reset_on_logon if reset is None else reset
        if self._sent_reset:
            self.numbers = Numbers()
        self._send_logon(now_us, reset=self._sent_reset)
        return self._taken()

    def recovered(self) -> None:
        """The owner knows what became of its orders."""
        if self.state is LineState.RECOVERING:
            self.state = LineState.UP

    def send(self, pairs: Iterable[Pair], now_us: int) -> Sequence[Effect]:
        """Send a message of the owner, from 35 on. Its number is `numbers.outgoing` before the call."""
        if self.state not in LOGGED_ON or self.closed:
            raise NotLoggedOn(f"The session is {self.state.value}.")
        number = self.numbers.outgoing
        self._send(pairs, now_us)
        self._first_sent = self._first_sent or number
        return self._taken()

    def reject(
        self, message: Message, now_us: int, reason: int, text: str, tag: int | None = None
    ) -> Sequence[Effect]:
        """Session Reject of a message that the owner cannot read."""
        self._reject(message, now_us, reason, text, tag)
        return self._taken()

    def refuse(self, text: str, now_us: int) -> Sequence[Effect]:
        """Log the other side out for a reason of the owner."""
        self._log_out(CloseKind.LOGOUT, text, now_us)
        return self._taken()

    def leave(self, now_us: int, text: str = "") -> Sequence[Effect]:
        """Log out; the session closes when the other side answers, or after `logout_s`."""
        if self.state in LOGGED_ON and not self.closed:
            self._send(_logout(text), now_us)
            self.state = LineState.LEAVING
            self._leaving_us = now_us
        elif self.state is not LineState.LEAVING:
            self._close(CloseKind.LOGOUT, "left before the logon was complete")
        return self._taken()

    def reserved(self, below: int) -> Sequence[Effect]:
        """The store has the reservation: what waited for it is sent."""
        self._reserved_below = below
        held, self._held = self._held, []
        for each in held:
            self._write(each)
        return self._taken()

    def tick(self, now_us: int) -> Sequence[Effect]:
        """To be called several times in each heartbeat."""
        if self.closed:
            return ()
        self._follow_clock(now_us)
        if self.state is LineState.LOGGING_ON:
            if now_us - self._begun_us >= self.settings.logon_s * _US_PER_S:
                self._close(CloseKind.LOST, "The logon was not answered.")
        elif (
            self.state is LineState.LEAVING
            and now_us - self._leaving_us >= self.settings.logout_s * _US_PER_S
        ):
            self._close(CloseKind.LOGOUT, "The logout was not answered.")
        else:
            self._keep_alive(now_us)
            self._watch_gap(now_us)
        return self._taken()

    def received(self, message: Message, now_us: int) -> Sequence[Effect]:
        if self.closed:
            return ()
        self._in_us = now_us
        self._test_us = None
        number = self._identified(message, now_us)
        if number is not None:
            if self.state is LineState.LOGGING_ON:
                self._begin(message, number, now_us)
            else:
                self._take(message, number, now_us)
        return self._taken()

    # --- Checks of every message ----------------------------------------------------------------------

    def _identified(self, message: Message, now_us: int) -> int | None:
        """The message's number, if it is from the other side of this session and of this time."""
        settings = self.settings
        if message.get(8) != settings.begin:
            self._log_out(CloseKind.VIOLATION, f"BeginString must be {settings.begin}", now_us)
            return None
        text = message.get(34)
        if text is None or not text.isascii() or not text.isdigit() or len(text) > 18:
            self._log_out(CloseKind.VIOLATION, "MsgSeqNum is missing or not a number", now_us)
            return None
        if message.get(49) != settings.target or message.get(56) != settings.sender:
            # Before the logon nothing tells who is there: no answer.
            if self.state is not LineState.LOGGING_ON:
                self._reject(message, now_us, COMP_ID_WRONG, "CompID problem", None)
                self._log_out(CloseKind.VIOLATION, "Wrong SenderCompID or TargetCompID", now_us)
            self._close(CloseKind.VIOLATION, "Wrong SenderCompID or TargetCompID")
            return None
        return int(text) if self._timely(message, now_us) else None

    def _timely(self, message: Message, now_us: int) -> bool:
        if not self.settings.sending_time_s:
            return True
        try:
            sent_us = time_us(message.get(52) or "")
        except ValueError:
            sent_us = None
        if sent_us is not None and abs(now_us - sent_us) <= self.settings.sending_time_s * _US_PER_S:
            return True
        reason = REQUIRED_TAG_MISSING if message.get(52) is None else SENDING_TIME_WRONG
        self._reject(message, now_us, reason, "SendingTime accuracy problem", 52)
        self._log_out(CloseKind.VIOLATION, "SendingTime accuracy problem", now_us)
        return False

    # --- Logon ----------------------------------------------------------------------------------------

    def _begin(self, message: Message, number: int, now_us: int) -> None:
        if message.type == "5":
            text = message.get(58) or ""
            self._close(
                CloseKind.TOO_LOW if _is_too_low(text) else CloseKind.REFUSED, text or "logon refused"
            )
        elif message.type != "A":
            reason = message.get(58) or f"The first message was {message.type}, not a Logon."
            self._close(CloseKind.REFUSED if message.type == "3" else CloseKind.VIOLATION, reason)
        elif message.problem is not None:
            self._log_out(CloseKind.VIOLATION, message.problem.text, now_us)
        elif (message.get(98) or "0") != "0":
            self._log_out(CloseKind.VIOLATION, "EncryptMethod must be 0", now_us)
        elif not _is_number(message.get(108)):
            self._log_out(CloseKind.VIOLATION, "HeartBtInt is missing or not a number", now_us)
        else:
            self._log_on(message, number, now_us)

    def _log_on(self, message: Message, number: int, now_us: int) -> None:
        if self.refusal:
            self._log_out(CloseKind.REFUSED, self.refusal, now_us)
            return
        reset = message.get(141) == "Y"
        acceptor = self.settings.role is Role.ACCEPTOR
        if reset:
            # Our own Logon, if it was sent, was number 1 by the other side's new count.
            self.numbers = Numbers(1 if acceptor else 2, 1)
        if number < self.numbers.incoming or (reset and number != 1):
            self._too_low(number, now_us)
            return
        self.heartbeat_s = int(message.get(108) or 0)
        if acceptor:
            self._send_logon(now_us, reset=reset)
        self.state = LineState.RECOVERING
        self._effects.append(LoggedOn(message, reset or self._sent_reset))
        if number == self.numbers.incoming:
            self.numbers.incoming += 1
        else:
            self._ask_for_gap(number, now_us)

    def _send_logon(self, now_us: int, *, reset: bool) -> None:
        self._first_sent = 0
        flag: tuple[Pair, ...] = ((141, "Y"),) if reset else ()
        fields = self.settings.logon_fields
        self._send([(35, "A"), (98, 0), (108, self.heartbeat_s), *flag, *fields], now_us)

    # --- Numbers --------------------------------------------------------------------------------------

    def _take(self, message: Message, number: int, now_us: int) -> None:
        if message.type == "A" and message.get(141) == "Y":
            self._reset_in_session(message, number, now_us)
        elif message.type == "4" and message.get(123) != "Y":
            self._reset_incoming(message, now_us)
        elif number > self.numbers.incoming:
            self._take_too_high(message, number, now_us)
        elif number < self.numbers.incoming:
            if message.get(43) != "Y":
                self._too_low(number, now_us)
            else:
                self._repeated_in_order(message, now_us)
        else:
            if message.get(43) != "Y" or message.type == "4" or self._repeated_in_order(message, now_us):
                self._process(message, now_us)
            else:
                self.numbers.incoming += 1
            self._process_ahead(now_us)

    def _process(self, message: Message, now_us: int) -> None:
        """The message with the expected number."""
        kind = message.type
        if kind == "4":
            self._fill_gap(message, now_us)
            return
        self.numbers.incoming += 1
        if message.problem is not None and kind != "3":
            problem = message.problem
            self._reject(message, now_us, problem.reason, problem.text, problem.tag)
            if kind not in _ADMINISTRATIVE:
                number = self.numbers.incoming - 1
                self._effects.append(Skipped(number, number))
        elif kind == "1":
            self._answer_test(message, now_us)
        elif kind == "2":
            self._answer_resend_request(message, now_us)
        elif kind == "5":
            self._logged_out(message, now_us)
        elif kind == "A":
            self._reject(message, now_us, TYPE_WRONG, "The session is logged on already.", None)
        elif kind != "0":
            self._effects.append(Deliver(message))

    def _take_too_high(self, message: Message, number: int, now_us: int) -> None:
        if message.type == "5":
            self._logged_out(message, now_us)
            return
        if message.type == "2":
            # Answered at once: if both sides waited for the other's answer, neither would come.
            self._answer_resend_request(message, now_us)
        if len(self._ahead) < _AHEAD_MAX:
            self._ahead[number] = message
        if not self._gap_until:
            self._ask_for_gap(number, now_us)

    def _ask_for_gap(self, number: int, now_us: int) -> None:
        self.gaps += 1
        self._gap_until = number
        self._gap_moved_us = now_us
        self._send_resend_request(now_us)

    def _send_resend_request(self, now_us: int) -> None:
        self._gap_asked_us = now_us
        self._send([(35, "2"), (7, self.numbers.incoming), (16, 0)], now_us)

    def _process_ahead(self, now_us: int) -> None:
        """What arrived behind a gap, now that messages of the gap arrived."""
        self._gap_moved_us = now_us
        while not self.closed and (message := self._ahead.pop(self.numbers.incoming, None)) is not None:
            if message.type == "2":
                self.numbers.incoming += 1  # It was answered when it arrived.
            else:
                self._process(message, now_us)
        if self.numbers.incoming > self._gap_until:
            self._gap_until = 0
            self._ahead = {each: one for each, one in self._ahead.items() if each > self.numbers.incoming}
            if self._ahead and not self.closed:
                self._ask_for_gap(max(self._ahead), now_us)

    def _watch_gap(self, now_us: int) -> None:
        """A gap that does not become smaller is asked for once more, and then the line is lost."""
        if not self._gap_until or self.closed:
            return
        idle_us = now_us - self._gap_moved_us
        if idle_us >= self._patience_us(24):
            self._close(CloseKind.LOST, "The other side does not fill a gap.")
        elif idle_us >= self._patience_us(12) and self._gap_asked_us <= self._gap_moved_us:
            self._send_resend_request(now_us)

    def _too_low(self, number: int, now_us: int) -> None:
        text = f"MsgSeqNum too low, expecting {self.numbers.incoming} but received {number}"
        self._log_out(CloseKind.TOO_LOW, text, now_us)

    def _repeated_in_order(self, message: Message, now_us: int) -> bool:
        """Whether a PossDup message says truly when it was sent first."""
        try:
            first_us = time_us(message.get(122) or "")
            again_us = time_us(message.get(52) or "")
        except ValueError:
            self._reject(message, now_us, REQUIRED_TAG_MISSING, "OrigSendingTime is missing or no time", 122)
            return False
        if first_us > again_us:
            self._reject(message, now_us, SENDING_TIME_WRONG, "OrigSendingTime is after SendingTime", 122)
            self._log_out(CloseKind.VIOLATION, "OrigSendingTime is after SendingTime", now_us)
            return False
        return True

    def _reset_in_session(self, message: Message, number: int, now_us: int) -> None:
        """The other side begins both numbers anew with a Logon."""
        if number != 1:
            self._too_low(number, now_us)
            return
        self._forget_gap()
        self.numbers = Numbers(1, 2)
        self._send_logon(now_us, reset=True)
        self._effects.append(LoggedOn(message, reset=True))
        self.state = LineState.RECOVERING

    def _reset_incoming(self, message: Message, now_us: int) -> None:
        """SequenceReset-Reset: its own number means nothing."""
        new = self._new_number(message, now_us, at_least=self.numbers.incoming)
        if new is not None:
            self._skip_to(new)
            self._process_ahead(now_us)

    def _fill_gap(self, message: Message, now_us: int) -> None:
        new = self._new_number(message, now_us, at_least=self.numbers.incoming + 1)
        if new is None:
            self.numbers.incoming += 1
        else:
            self._skip_to(new)

    def _new_number(self, message: Message, now_us: int, at_least: int) -> int | None:
        text = message.get(36)
        if text is None:
            self._reject(message, now_us, REQUIRED_TAG_MISSING, "NewSeqNo is missing", 36)
        elif not _is_number(text) or int(text) < at_least:
            self._reject(message, now_us, VALUE_WRONG, "NewSeqNo would lower the next number", 36)
        else:
            return int(text)
        return None

    def _skip_to(self, new: int) -> None:
        """What arrived behind a gap is delivered also if the other side skips it."""
        if new > self.numbers.incoming:
            self._effects.append(Skipped(self.numbers.incoming, new - 1))
        for number in sorted(each for each in self._ahead if each < new):
            message = self._ahead.pop(number)
            if message.type not in _ADMINISTRATIVE and message.problem is None:
                self._effects.append(Deliver(message))
        self.numbers.incoming = new

    def _forget_gap(self) -> None:
        self._ahead.clear()
        self._gap_until = 0

    # --- Answers --------------------------------------------------------------------------------------

    def _answer_test(self, message: Message, now_us: int) -> None:
        text = message.get(112)
        if text is None:
            self._reject(message, now_us, REQUIRED_TAG_MISSING, "TestReqID is missing", 112)
        else:
            self._send([(35, "0"), (112, text)], now_us)

    def _answer_resend_request(self, message: Message, now_us: int) -> None:
        first, last = message.get(7), message.get(16)
        if not _is_number(first) or not _is_number(last) or int(first or 0) < 1:
            tag = 16 if _is_number(first) and int(first or 0) >= 1 else 7
            self._reject(message, now_us, VALUE_WRONG, "BeginSeqNo or EndSeqNo is wrong", tag)
            return
        begin, end = int(first or 0), int(last or 0)
        following = self.numbers.outgoing
        if 0 < end < following:
            new = end + 1
        elif begin < self._first_sent:
            # What the owner sent on this connection reached the other side, which keeps it until the gap is
            # filled. If it did not keep it, it asks again, from there on.
            new = self._first_sent
        else:
            new = following
        if begin < new:
            at = time_text(now_us)
            fields: list[Pair] = [(43, "Y"), (122, at), (123, "Y"), (36, new)]
            self._put("4", begin, fields_text(fields), now_us)

    def _logged_out(self, message: Message, now_us: int) -> None:
        text = message.get(58) or ""
        if self.state is not LineState.LEAVING:
            self._send(_logout(""), now_us)
        self._close(CloseKind.TOO_LOW if _is_too_low(text) else CloseKind.LOGOUT, text or "logged out")

    def _reject(self, message: Message, now_us: int, reason: int, text: str, tag: int | None) -> None:
        fields: list[Pair] = [(35, "3"), (45, message.get(34) or 0)]
        if tag is not None:
            fields.append((371, tag))
        self._send([*fields, (372, message.type), (373, reason), (58, text)], now_us)

    def _log_out(self, kind: CloseKind, text: str, now_us: int) -> None:
        if not self.closed:
            self._send(_logout(text), now_us)
            self._close(kind, text)

    def _close(self, kind: CloseKind, reason: str) -> None:
        if not self.closed:
            self.closed = True
            self.state = LineState.WAITING
            self._effects.append(Close(kind, reason))

    # --- Silence --------------------------------------------------------------------------------------

    def _patience_us(self, tenths: int) -> int:
        """Tenths of the heartbeat interval; of 30 s where the sides agreed on none."""
        return (self.heartbeat_s or 30) * _US_PER_S * tenths // 10

    def _follow_clock(self, now_us: int) -> None:
        """If the clock was put back, silence is measured from now on, not from a time to come."""
        self._in_us, self._out_us = min(self._in_us, now_us), min(self._out_us, now_us)
        self._begun_us, self._leaving_us = min(self._begun_us, now_us), min(self._leaving_us, now_us)
        self._gap_moved_us = min(self._gap_moved_us, now_us)
        if self._test_us is not None:
            self._test_us = min(self._test_us, now_us)

    def _keep_alive(self, now_us: int) -> None:
        if not self.heartbeat_s:
            return
        if self._test_us is not None:
            # The test is what counts: a process that was stopped for a while reads what waits for it first.
            if now_us - self._test_us >= self._patience_us(12):
                self._close(CloseKind.LOST, "The other side is silent.")
                return
        elif now_us - self._in_us >= self._patience_us(12):
            self._test_us = now_us
            self._tests += 1
            self._send([(35, "1"), (112, f"TEST{self._tests}")], now_us)
        if now_us - self._out_us >= self._patience_us(10):
            self._send([(35, "0")], now_us)

    # --- Sending --------------------------------------------------------------------------------------

    def _send(self, pairs: Iterable[Pair], now_us: int) -> None:
        kind, *rest = pairs
        number = self.numbers.outgoing
        self._put(str(kind[1]), number, fields_text(rest), now_us)
        self.numbers.outgoing = number + 1

    def _put(self, kind: str, number: int, text: str, now_us: int) -> None:
        head = f"35={kind}\x01{self._header}34={number}\x0152={time_text(now_us)}\x01"
        self._out_us = now_us
        self._write(Send(frame(head + text, self.settings.begin), kind, number))

    def _write(self, one: Send) -> None:
        """Numbers that are kept are used only below what the store has."""
        below = self._reserved_below
        if below is None:
            self._effects.append(one)
            return
        if one.number + NUMBER_STEP // 2 >= (self._reserve_asked or 0):
            self._reserve_asked = one.number + NUMBER_STEP + 1
            self._effects.append(Reserve(self._reserve_asked))
        if self._held or one.number >= below:
            self._held.append(one)
        else:
            self._effects.append(one)

    def _taken(self) -> Sequence[Effect]:
        effects, self._effects = self._effects, []
        return effects


def _logout(text: str) -> list[Pair]:
    return [(35, "5"), (58, text)] if text else [(35, "5")]


def _is_number(text: str | None) -> bool:
    return text is not None and text.isascii() and text.isdigit() and len(text) <= 18


def _is_too_low(text: str) -> bool:
    """Venues say it in their own words; most of them with these."""
    return "too low" in text.lower()
