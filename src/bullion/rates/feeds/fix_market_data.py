"""Market data over FIX without its line: subscriptions go out, snapshots and changes come in as quotes.

It is pure: messages and times in, requests and items out. Each instrument has a subscription of its own, so
that the trouble of one is not that of another. After a gap, a refusal, or a change that fits to nothing, what
was known of the instrument is forgotten, and it is subscribed anew after a pause.
"""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from enum import StrEnum
from typing import Protocol

import msgspec

from .normalise import NotANumber, SymbolTable, time_us
from .quote import Item, Unreadable
from .source_settings import SourceSettings
from .top_of_book import ASK, BID, Disorder, Entry, TopOfBook

_US_PER_S = 1_000_000
_ANSWER_US = 10 * _US_PER_S
"""How long a subscription may wait for its snapshot."""
_PAUSE_S_MAX = 60
_STEADY_US = 30 * _US_PER_S
"""A subscription that stood for so long begins with the shortest pause again."""
_HALF_DAY_US = 43_200 * _US_PER_S
_NO_SYMBOL = "[N/A]"

Pair = tuple[int, str | int]


class FixMessage(Protocol):
    """A message that was received, such as `bullion.hedge.fix.codec.Message`."""

    type: str

    @property
    def pairs(self) -> list[tuple[int, str]]: ...

    def get(self, tag: int) -> str | None: ...

    def groups(self, count_tag: int, first_tag: int) -> Sequence[Entry]:
        """The entries of a repeating group. Raises ValueError."""


class Request(msgspec.Struct, frozen=True):
    """A message to send, from 35 on."""

    request_id: str
    pairs: list[Pair]
    ends: bool = False
    """Whether it ends a subscription."""


class _State(StrEnum):
    WAITING = "waiting"
    """Nothing is subscribed; it will be."""
    ASKED = "asked"
    STANDING = "standing"


class _Subscription:
    def __init__(self, instrument: str, symbol: str) -> None:
        self.instrument = instrument
        self.symbol = symbol
        self.state = _State.WAITING
        self.request_id = ""
        self.number: int | None = None
        """That of the message that asked."""
        self.due_us = 0
        """When to ask, or to ask again."""
        self.since_us = 0
        self.failures = 0
        self.to_end = ""
        """A subscription that the source still has, and that is ended before the next one."""
        self.book = TopOfBook()


class MarketData:
    def __init__(self, settings: SourceSettings, now_us: int, security_id_source: str | None = None) -> None:
        """For one connection. `security_id_source`: 22, if instruments are named by 48."""
        self._settings = settings
        self._source = settings.name
        self._table = SymbolTable(settings.name, settings.instruments)
        self._id_source = security_id_source
        self._subscriptions = [_Subscription(each.instrument, each.symbol) for each in settings.instruments]
        self._prefix = f"{now_us // 1000:x}"
        self._requests = 0
        self.troubles: list[tuple[str, str]] = []
        """Instruments that were emptied, each with the reason. For whoever reads and clears it."""

    # --- What goes out --------------------------------------------------------------------------------

    def due(self, now_us: int) -> list[Request]:
        """What to send now; each is returned once."""
        found: list[Request] = []
        for each in self._subscriptions:
            if now_us < each.due_us or each.state is _State.STANDING:
                continue
            if each.state is _State.ASKED:
                self._empty(each, "the subscription was not answered", now_us)
                continue
            if each.to_end:
                found.append(self._request(each, each.to_end, ends=True))
                each.to_end = ""
            self._requests += 1
            each.request_id, each.number = f"{self._prefix}-{self._requests}", None
            each.state, each.due_us = _State.ASKED, now_us + _ANSWER_US
            found.append(self._request(each, each.request_id, ends=False))
        return found

    def sent(self, request: Request, number: int) -> None:
        """The request went out with this number. A Reject may name it by that."""
        for each in self._subscriptions:
            if each.request_id == request.request_id:
                each.number = number

    def _request(self, one: _Subscription, request_id: str, *, ends: bool) -> Request:
        named: list[Pair] = [(55, one.symbol)]
        if self._id_source is not None:
            named = [(55, _NO_SYMBOL), (48, one.symbol), (22, self._id_source)]
        update = 0 if self._settings.full_updates else 1
        pairs: list[Pair] = [
            (35, "V"), (262, request_id), (263, "2" if ends else "1"), (264, 1), (265, update),
            (267, 2), (269, BID), (269, ASK), (146, 1), *named,
        ]  # fmt: skip
        return Request(request_id, pairs, ends)

    # --- What comes in --------------------------------------------------------------------------------

    def received(self, message: FixMessage, now_us: int) -> list[Item]:
        if message.type in ("W", "X"):
            # A message that is sent again comes behind a gap.
            if message.get(43) == "Y" and any(self._named(message)):
                return self.gap(now_us)
            return self._snapshot(message, now_us) if message.type == "W" else self._changes(message, now_us)
        if message.type in ("Y", "3", "j"):
            return self._refused(message, now_us)
        return []

    def gap(self, now_us: int, reason: str = "messages were lost") -> list[Item]:
        """Messages of the source were lost: whatever they were about, nothing stands."""
        return [
            self._empty(each, reason, now_us)
            for each in self._subscriptions
            if each.state is not _State.WAITING
        ]

    def _empty(self, one: _Subscription, reason: str, now_us: int, *, ended: bool = False) -> Unreadable:
        """`ended`: the source no longer has the subscription."""
        if one.state is _State.STANDING and now_us - one.since_us >= _STEADY_US:
            one.failures = 0
        pause_s = min(1 << min(one.failures, 10), _PAUSE_S_MAX)
        one.failures += 1
        one.to_end = "" if ended else one.request_id
        one.state, one.request_id, one.due_us = _State.WAITING, "", now_us + pause_s * _US_PER_S
        one.book = TopOfBook()
        self.troubles.append((one.instrument, reason))
        return Unreadable(self._source, one.instrument, now_us)

    def _named(self, message: FixMessage) -> Iterator[_Subscription]:
        """Those that the message may be about: by its request, or all if it names none."""
        request_id = message.get(262)
        for each in self._subscriptions:
            if each.state is not _State.WAITING and request_id in (None, each.request_id):
                yield each

    def _snapshot(self, message: FixMessage, now_us: int) -> list[Item]:
        symbol = self._symbol(message)
        named = list(self._named(message))
        if message.get(262) is None:
            if symbol is None:
                return self.gap(now_us, "a snapshot names no instrument")
            named = [each for each in named if each.symbol == symbol]
        if not named:
            return []
        (one,) = named
        try:
            if symbol not in (None, one.symbol):
                raise Disorder(f"the snapshot is about {symbol}")
            entries = _entries(message)
            one.book.replace(entries)
        except ValueError as error:
            return [self._empty(one, str(error), now_us)]
        if one.state is _State.ASKED:
            one.state, one.since_us = _State.STANDING, now_us
        return [self._quote(one, message, entries, now_us)]

    def _changes(self, message: FixMessage, now_us: int) -> list[Item]:
        named = list(self._named(message))
        if not named:
            return []
        touched: dict[str, tuple[_Subscription, list[Entry]]] = {}
        one = named[0] if message.get(262) is not None else None
        try:
            for entry in _entries(message):
                symbol = self._symbol(entry)
                if symbol is not None and (one is None or symbol != one.symbol):
                    if message.get(262) is not None:
                        raise Disorder(f"a change is about {symbol}")
                    one = next((each for each in named if each.symbol == symbol), None)
                elif one is None:
                    raise Disorder("a change names no instrument")
                if one is None or one.state is not _State.STANDING:
                    continue  # Not ours, or its snapshot is still to come.
                if one.book.change(entry):
                    touched.setdefault(one.instrument, (one, []))[1].append(entry)
        except ValueError as error:
            # Which of them were changed rightly is not known.
            return [self._empty(each, str(error), now_us) for each in named]
        return [self._quote(each, message, entries, now_us) for each, entries in touched.values()]

    def _refused(self, message: FixMessage, now_us: int) -> list[Item]:
        """Y, or a Reject of either kind that names our request."""
        text = message.get(58) or "no reason given"
        for each in self._subscriptions:
            if each.state is _State.WAITING:
                continue
            if message.type == "Y":
                ours = message.get(262) == each.request_id
            else:
                number = message.get(45)
                ours = message.get(372) in (None, "V") and (
                    message.get(379) == each.request_id or (number is not None and number == str(each.number))
                )
            if ours:
                return [self._empty(each, f"the source refused it: {text}", now_us, ended=True)]
        return []

    def _symbol(self, fields: Entry) -> str | None:
        found = fields.get(48) if self._id_source is not None else fields.get(55)
        return None if found == _NO_SYMBOL else found

    def _quote(self, one: _Subscription, message: FixMessage, entries: Sequence[Entry], now_us: int) -> Item:
        bid, ask = one.book.prices()
        try:
            at_us = self._time_us(message, entries)
            found = self._table.quote(one.symbol, bid, ask, at_us, now_us)
        except NotANumber:
            found = None
        if found is None:
            return Unreadable(self._source, one.instrument, now_us)
        return msgspec.structs.replace(found, in_order=True)

    def _time_us(self, message: FixMessage, entries: Sequence[Entry]) -> int | None:
        """The newest time of the entries; that of the message if they have none. Raises NotANumber."""
        sent = message.get(52)
        sent_us = None if sent is None else _time_us(sent[:8], sent[9:])
        times: list[int] = []
        for entry in entries if self._settings.entry_times else ():
            day, clock = entry.get(272), entry.get(273)
            if clock is None:
                continue
            if day is not None:
                times.append(_time_us(day, clock))
            elif sent is not None and sent_us is not None:
                times.append(_nearest_us(sent[:8], clock, sent_us))
        return max(times, default=sent_us)


def _entries(message: FixMessage) -> Sequence[Entry]:
    """The group behind 268, whichever field its entries begin with. Raises ValueError."""
    tags = [tag for tag, _ in message.pairs]
    if 268 not in tags:
        raise Disorder("268 is missing")
    if message.get(268) == "0":
        return []
    place = tags.index(268) + 1
    if place == len(tags):
        raise Disorder("there are no entries behind 268")
    return message.groups(268, tags[place])


def _time_us(day: str, clock: str) -> int:
    return time_us(f"{day[:4]}-{day[4:6]}-{day[6:]}T{clock}", "iso")


def _nearest_us(day: str, clock: str, near_us: int) -> int:
    """The time on the day that brings it nearest."""
    found = _time_us(day, clock)
    if abs(found - near_us) <= _HALF_DAY_US:
        return found
    try:
        other = date(int(day[:4]), int(day[4:6]), int(day[6:])) + timedelta(1 if found < near_us else -1)
    except (ValueError, OverflowError):
        raise NotANumber from None
    return _time_us(other.strftime("%Y%m%d"), clock)
