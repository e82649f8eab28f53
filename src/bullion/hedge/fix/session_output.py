"""What a session sends: numbers that are reserved before they are used, rejects, and the end of it."""

from collections.abc import Iterable, Sequence

from .codec import Message, Pair, fields_text, frame, time_text
from .session_effects import (
    Close,
    CloseKind,
    Effect,
    LineState,
    Numbers,
    Reserve,
    Send,
    SessionSettings,
)

NUMBER_STEP = 100
"""Kept numbers: how many outgoing numbers are reserved in the store at once."""
US_PER_S = 1_000_000


class SessionOutput:
    def __init__(
        self, settings: SessionSettings, now_us: int, numbers: Numbers | None, reserved_below: int | None
    ) -> None:
        self.settings = settings
        self.state = LineState.LOGGING_ON
        self.numbers = numbers or Numbers()
        self.heartbeat_s = settings.heartbeat_s
        self.closed = False
        self._effects: list[Effect] = []
        self._reserved_below = reserved_below
        self._reserve_asked = reserved_below
        self._held: list[Send] = []
        self._out_us = now_us
        self._first_sent = 0
        """The number of the first message of the owner on this connection; 0 if there is none."""
        self._header = fields_text([(49, settings.sender), (56, settings.target), *settings.header_fields])

    def reserved(self, below: int) -> Sequence[Effect]:
        """The store has the reservation: what waited for it is sent."""
        self._reserved_below = below
        held, self._held = self._held, []
        for each in held:
            self._write(each)
        return self._taken()

    def _send_logon(self, now_us: int, *, reset: bool) -> None:
        self._first_sent = 0
        flag: tuple[Pair, ...] = ((141, "Y"),) if reset else ()
        fields = self.settings.logon_fields
        self._send([(35, "A"), (98, 0), (108, self.heartbeat_s), *flag, *fields], now_us)

    def _reject(self, message: Message, now_us: int, reason: int, text: str, tag: int | None) -> None:
        fields: list[Pair] = [(35, "3"), (45, message.get(34) or 0)]
        if tag is not None:
            fields.append((371, tag))
        self._send([*fields, (372, message.type), (373, reason), (58, text)], now_us)

    def _log_out(self, kind: CloseKind, text: str, now_us: int) -> None:
        if not self.closed:
            self._send(logout(text), now_us)
            self._close(kind, text)

    def _close(self, kind: CloseKind, reason: str) -> None:
        if not self.closed:
            self.closed = True
            self.state = LineState.WAITING
            self._effects.append(Close(kind, reason))

    def _patience_us(self, tenths: int) -> int:
        """Tenths of the heartbeat interval; of 30 s where the sides agreed on none."""
        return (self.heartbeat_s or 30) * US_PER_S * tenths // 10

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


def logout(text: str) -> list[Pair]:
    return [(35, "5"), (58, text)] if text else [(35, "5")]


def is_number(text: str | None) -> bool:
    return text is not None and text.isascii() and text.isdigit() and len(text) <= 18
