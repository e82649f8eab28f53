"""The session of one connection, for either side: numbers, heartbeats, gaps. It knows nothing of orders.

It is pure: a message or the time goes in, effects come out, which the caller carries out in their order. A
new connection gets a new session, which continues with the `Numbers` of the last one, or begins with 1.

Messages that were sent are not kept. A ResendRequest is answered with a SequenceReset-GapFill alone, so an
old order is never sent a second time. After `LoggedOn` the owner finds out what became of its orders by
asking, and then calls `recovered`.
"""

from collections.abc import Iterable, Sequence

from .codec import COMP_ID_WRONG, REQUIRED_TAG_MISSING, SENDING_TIME_WRONG, Message, Pair, time_us
from .session_effects import (
    LOGGED_ON,
    CloseKind,
    Effect,
    LineState,
    LoggedOn,
    NotLoggedOn,
    Numbers,
    Role,
    SessionSettings,
)
from .session_numbers import SessionNumbers, is_too_low
from .session_output import US_PER_S, is_number, logout


class Session(SessionNumbers):
    def __init__(
        self,
        settings: SessionSettings,
        now_us: int,
        numbers: Numbers | None = None,
        reserved_below: int | None = None,
    ) -> None:
        """`reserved_below`: outgoing numbers below it may be used; None if numbers are not kept."""
        super().__init__(settings, now_us, numbers, reserved_below)
        self.refusal = ""
        """Acceptor: why the logon is refused, if it is."""
        self._begun_us = self._in_us = self._leaving_us = now_us
        self._test_us: int | None = None
        self._tests = 0
        self._sent_reset = False

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
            self._send(logout(text), now_us)
            self.state = LineState.LEAVING
            self._leaving_us = now_us
        elif self.state is not LineState.LEAVING:
            self._close(CloseKind.LOGOUT, "left before the logon was complete")
        return self._taken()

    def tick(self, now_us: int) -> Sequence[Effect]:
        """To be called several times in each heartbeat."""
        if self.closed:
            return ()
        self._follow_clock(now_us)
        if self.state is LineState.LOGGING_ON:
            if now_us - self._begun_us >= self.settings.logon_s * US_PER_S:
                self._close(CloseKind.LOST, "The logon was not answered.")
        elif (
            self.state is LineState.LEAVING and now_us - self._leaving_us >= self.settings.logout_s * US_PER_S
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
        settings, fields = self.settings, message.first()
        if fields.get(8) != settings.begin:
            self._log_out(CloseKind.VIOLATION, f"BeginString must be {settings.begin}", now_us)
            return None
        text = fields.get(34)
        if text is None or not text.isascii() or not text.isdigit() or len(text) > 18:
            self._log_out(CloseKind.VIOLATION, "MsgSeqNum is missing or not a number", now_us)
            return None
        if fields.get(49) != settings.target or fields.get(56) != settings.sender:
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
        if sent_us is not None and abs(now_us - sent_us) <= self.settings.sending_time_s * US_PER_S:
            return True
        reason = REQUIRED_TAG_MISSING if message.get(52) is None else SENDING_TIME_WRONG
        self._reject(message, now_us, reason, "SendingTime accuracy problem", 52)
        self._log_out(CloseKind.VIOLATION, "SendingTime accuracy problem", now_us)
        return False

    # --- Logon ----------------------------------------------------------------------------------------

    def _begin(self, message: Message, number: int, now_us: int) -> None:
        if message.type == "5":
            text = message.get(58) or ""
            self._close(CloseKind.TOO_LOW if is_too_low(text) else CloseKind.REFUSED, text or "logon refused")
        elif message.type != "A":
            reason = message.get(58) or f"The first message was {message.type}, not a Logon."
            self._close(CloseKind.REFUSED if message.type == "3" else CloseKind.VIOLATION, reason)
        elif message.problem is not None:
            self._log_out(CloseKind.VIOLATION, message.problem.text, now_us)
        elif (message.get(98) or "0") != "0":
            self._log_out(CloseKind.VIOLATION, "EncryptMethod must be 0", now_us)
        elif not is_number(message.get(108)):
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

    # --- Silence --------------------------------------------------------------------------------------

    def _follow_clock(self, now_us: int) -> None:
        """If the clock was put back, silence is measured from now on, not from a time to come."""
        self._in_us, self._out_us = min(self._in_us, now_us), min(self._out_us, now_us)
        self._begun_us, self._leaving_us = min(self._begun_us, now_us), min(self._leaving_us, now_us)
        self._gap_moved_us = min(self._gap_moved_us, now_us)
        self._gap_asked_us = min(self._gap_asked_us, now_us)
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
