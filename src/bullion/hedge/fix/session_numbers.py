"""The numbers of what the other side sends: gaps, repeated messages, resets, and answers to its questions."""

from .codec import (
    REQUIRED_TAG_MISSING,
    SENDING_TIME_WRONG,
    TYPE_WRONG,
    VALUE_WRONG,
    Message,
    Pair,
    fields_text,
    time_text,
    time_us,
)
from .session_effects import (
    CloseKind,
    Deliver,
    LineState,
    LoggedOn,
    Numbers,
    SessionSettings,
    Skipped,
    Unreadable,
)
from .session_output import US_PER_S, SessionOutput, is_number, logout

_ADMINISTRATIVE = frozenset("01245A")
"""Message types that the session itself handles."""
_AHEAD_MAX = 1_000
"""How many messages behind a gap are kept until it is filled."""

_GAP_IDLE_US = 3 * US_PER_S
"""After this long without a message of the gap, it is asked for again; then after twice as long."""


class SessionNumbers(SessionOutput):
    def __init__(
        self, settings: SessionSettings, now_us: int, numbers: Numbers | None, reserved_below: int | None
    ) -> None:
        super().__init__(settings, now_us, numbers, reserved_below)
        self.gaps = 0
        """How many gaps were found in what the other side sent."""
        self._ahead: dict[int, Message] = {}
        self._gap_until = 0
        self._gap_asked_us = self._gap_moved_us = now_us
        self._gap_idle_us = _GAP_IDLE_US

    @property
    def has_gap(self) -> bool:
        """Whether the other side is sending again what was missed. What is behind it is kept back."""
        return bool(self._gap_until)

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
                self._effects += (Skipped(number, number), Unreadable(message))
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
        self._note_move(now_us)
        self._send_resend_request(now_us)

    def _send_resend_request(self, now_us: int) -> None:
        self._gap_asked_us = now_us
        self._send([(35, "2"), (7, self.numbers.incoming), (16, 0)], now_us)

    def _note_move(self, now_us: int) -> None:
        self._gap_moved_us = now_us
        self._gap_idle_us = _GAP_IDLE_US

    def _process_ahead(self, now_us: int) -> None:
        """What arrived behind a gap, now that messages of the gap arrived."""
        self._note_move(now_us)
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
        """A gap that does not become smaller is asked for again, and then the line is lost."""
        if not self._gap_until or self.closed:
            return
        idle_us = now_us - self._gap_moved_us
        if idle_us >= self._patience_us(24):
            self._close(CloseKind.LOST, "The other side does not fill a gap.")
        elif now_us - max(self._gap_asked_us, self._gap_moved_us) >= self._gap_idle_us:
            self._gap_idle_us *= 2
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
        elif not is_number(text) or int(text) < at_least:
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
            if message.type not in _ADMINISTRATIVE:
                self._effects.append(Deliver(message) if message.problem is None else Unreadable(message))
        self.numbers.incoming = new

    def _forget_gap(self) -> None:
        self._ahead.clear()
        self._gap_until = 0

    def _answer_test(self, message: Message, now_us: int) -> None:
        text = message.get(112)
        if text is None:
            self._reject(message, now_us, REQUIRED_TAG_MISSING, "TestReqID is missing", 112)
        else:
            self._send([(35, "0"), (112, text)], now_us)

    def _answer_resend_request(self, message: Message, now_us: int) -> None:
        first, last = message.get(7), message.get(16)
        if not is_number(first) or not is_number(last) or int(first or 0) < 1:
            tag = 16 if is_number(first) and int(first or 0) >= 1 else 7
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
            self._send(logout(""), now_us)
        self._close(CloseKind.TOO_LOW if is_too_low(text) else CloseKind.LOGOUT, text or "logged out")


def is_too_low(text: str) -> bool:
    """Venues say it in their own words; most of them with these."""
    return "too low" in text.lower()
