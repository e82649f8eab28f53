"""The venue's market data: answers V with W, then sends X along its prices, with faults on request."""

from collections.abc import Callable
from enum import StrEnum
from itertools import count

import msgspec

from bullion.hedge.fix.codec import Message, time_text
from bullion.hedge.fix.order_messages import price_text
from bullion.hedge.fix.session import Session
from bullion.hedge.fix.session_effects import SessionSettings

from .faults import Fault, Faults
from .prices import Prices, TwoSided
from .session_acceptor import FaultyConnection, Pairs, SessionAcceptor, clock_us

_MS = 1_000
_YEAR_US = 365 * 86_400 * 1_000_000
_LOST_CHANCE = 0.5
_SIZE = "100"


class QuoteFault(StrEnum):
    NONE = "none"
    GAP = "gap"
    """Messages take their numbers and are not written."""
    NAN = "nan"
    NEGATIVE = "negative"
    CROSSED = "crossed"
    WIDE = "wide"
    FROZEN = "frozen"
    """The same prices with the same time, over and over."""
    OLD = "old"
    """A year old."""
    THOUSAND = "thousand"
    HALF = "half"
    """The bid is deleted."""
    UNKNOWN_ENTRY = "unknown_entry"
    """A change of an entry that nobody has heard of."""
    REJECT = "reject"
    """Every subscription is refused with Y, also those that stand."""
    SILENCE = "silence"
    """Heartbeats only."""


class _Stream(msgspec.Struct):
    """One subscription. The ids of its entries; empty: there is none on that side."""

    symbol: str
    named: Pairs
    bid_id: str = ""
    ask_id: str = ""


class QuoteEngine:
    """Messages and times in, messages out."""

    def __init__(self, prices: Prices, every_ms: int = 250) -> None:
        self.prices = prices
        self.fault = QuoteFault.NONE
        self._every_us = every_ms * _MS
        self._next_us = 0
        self._streams: dict[str, _Stream] = {}
        self._entry_ids = count(1)
        self._frozen: tuple[dict[str, TwoSided | None], int] | None = None

    @property
    def subscribed(self) -> list[str]:
        """The symbols, one for each subscription that stands."""
        return [each.symbol for each in self._streams.values()]

    def forget(self) -> None:
        """A new session begins without subscriptions."""
        self._streams.clear()

    def received(self, message: Message, now_us: int) -> list[Pairs]:
        if message.type != "V":
            number = message.get(34) or "0"
            return [[(35, "j"), (45, number), (372, message.type), (380, "3"), (58, "Not supported")]]
        request_id = message.get(262) or ""
        if message.get(263) == "2":
            known = self._streams.pop(request_id, None)
            return [] if known else [_refusal(request_id, "8", "Unknown MDReqID")]
        by_id = message.get(48)
        symbol = by_id or message.get(55) or ""
        quote = self.prices.of(symbol)
        if quote is None or self.fault is QuoteFault.REJECT:
            return [_refusal(request_id, "0", "Unknown symbol")]
        if request_id in self._streams:
            return [_refusal(request_id, "1", "Duplicate MDReqID")]
        named: Pairs = [(55, symbol)]
        if by_id:
            named = [(55, "[N/A]"), (48, symbol), (22, message.get(22) or "8")]
        stream = self._streams[request_id] = _Stream(symbol, named)
        return [self._snapshot(request_id, stream, quote, now_us)]

    def due(self, now_us: int) -> list[Pairs]:
        if now_us < self._next_us:
            return []
        self._next_us = now_us + self._every_us
        if self.fault is QuoteFault.REJECT:
            refused, self._streams = self._streams, {}
            return [_refusal(each, "0", "No longer available") for each in refused]
        self.prices.step()
        if self.fault is QuoteFault.SILENCE:
            return []
        if self.fault is not QuoteFault.FROZEN:
            self._frozen = None
        elif self._frozen is None:
            self._frozen = {each: self.prices.of(each) for each in self.subscribed}, now_us
        return [found for key, each in self._streams.items() if (found := self._change(key, each, now_us))]

    def _snapshot(self, request_id: str, stream: _Stream, quote: TwoSided, now_us: int) -> Pairs:
        stream.bid_id, stream.ask_id = self._new_id(), self._new_id()
        bid, ask = _texts(quote, self.fault)
        time = self._time(now_us)
        return [
            (35, "W"), (262, request_id), *stream.named, (268, 2),
            (269, "0"), (278, stream.bid_id), (270, bid), (271, _SIZE), *time,
            (269, "1"), (278, stream.ask_id), (270, ask), (271, _SIZE), *time,
        ]  # fmt: skip

    def _change(self, request_id: str, stream: _Stream, now_us: int) -> Pairs | None:
        """Asks keep their entry; bids get a new one each time, so that New, Change and Delete all occur."""
        quote = self.prices.of(stream.symbol)
        if self._frozen is not None:
            quote = self._frozen[0].get(stream.symbol)
        if quote is None:
            return None
        bid, ask = _texts(quote, self.fault)
        time = self._time(now_us)
        entries: list[Pairs] = []
        if stream.bid_id:
            entries.append([(279, "2"), (269, "0"), (278, stream.bid_id), *stream.named])
        stream.bid_id = "" if self.fault is QuoteFault.HALF else self._new_id()
        if stream.bid_id:
            new: Pairs = [(279, "0"), (269, "0"), (278, stream.bid_id), *stream.named]
            entries.append([*new, (270, bid), (271, _SIZE), *time])
        ask_id = "nobody" if self.fault is QuoteFault.UNKNOWN_ENTRY else stream.ask_id
        entries.append([(279, "1"), (269, "1"), (278, ask_id), *stream.named, (270, ask), *time])
        pairs: Pairs = [(35, "X"), (262, request_id), (268, len(entries))]
        return [*pairs, *(pair for entry in entries for pair in entry)]

    def _time(self, now_us: int) -> Pairs:
        at_us = now_us if self._frozen is None else self._frozen[1]
        date, _, clock = time_text(at_us - (_YEAR_US if self.fault is QuoteFault.OLD else 0)).partition("-")
        return [(272, date), (273, clock)]

    def _new_id(self) -> str:
        return f"M{next(self._entry_ids)}"


def _texts(quote: TwoSided, fault: QuoteFault) -> tuple[str, str]:
    """Bid and ask."""
    bid_e6, ask_e6 = quote
    if fault is QuoteFault.NAN:
        return "NaN", price_text(ask_e6)
    if fault is QuoteFault.NEGATIVE:
        return f"-{price_text(bid_e6)}", price_text(ask_e6)
    if fault is QuoteFault.CROSSED:
        bid_e6, ask_e6 = ask_e6, bid_e6
    elif fault is QuoteFault.WIDE:
        bid_e6 = bid_e6 * 98 // 100
    elif fault is QuoteFault.THOUSAND:
        bid_e6, ask_e6 = bid_e6 * 1000, ask_e6 * 1000
    return price_text(bid_e6), price_text(ask_e6)


def _refusal(request_id: str, reason: str, text: str) -> Pairs:
    return [(35, "Y"), (262, request_id or "NONE"), (281, reason), (58, text)]


class QuoteAcceptor(SessionAcceptor):
    """Serves market data over a session of its own. What was lost is not repeated, only skipped."""

    def __init__(
        self,
        engine: QuoteEngine,
        settings: SessionSettings,
        faults: Faults | None = None,
        now_us: Callable[[], int] = clock_us,
    ) -> None:
        super().__init__(engine, faults or Faults(), settings, now_us)
        self.engine = engine

    def set_fault(self, fault: QuoteFault) -> None:
        self.engine.fault = fault
        self.faults.chances[Fault.LOST] = _LOST_CHANCE if fault is QuoteFault.GAP else 0.0

    def logged_on(self, connection: FaultyConnection) -> None:
        self.engine.forget()
        super().logged_on(connection)

    def _session(self) -> Session:
        return Session(self._settings, self._now_us(), self._numbers)
