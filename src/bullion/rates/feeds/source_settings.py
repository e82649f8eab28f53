"""The settings of live rates: sources, their instruments, and the numbers of guard and failover."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from .exact_json import pointer_keys
from .quote import Hours

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_INSTRUMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
_SCHEMES = {"websocket": ("ws", "wss"), "http": ("http", "https")}
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
ALIVE_S = 12
SECRET = "{secret}"  # noqa: S105 - where the secret stands in a URL or message
"""In `url`, `header_value` and `subscribe`: the value of the environment variable that `secret_env` names."""


class GuardNumbers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which quotes of an instrument are believed. Bps are ten-thousandths."""

    width_bps: int = 100
    old_s: int = 5
    ahead_s: int = 2
    spike_bps: int = 75
    """A greater move is held until it is confirmed."""
    agree_bps: int = 20
    agree_count: int = 3
    agree_ms: int = 1000
    """So many quotes over so long confirm a move, if they differ by no more than `agree_bps`."""
    jump_bps: int = 500
    """A greater move is never confirmed by its own source: only by another one, or by the desk."""
    gap_s: int = 3600
    gap_bps: int = 500
    """What the first quote after a longer pause, such as a weekend, is compared by instead of `spike_bps`."""

    def problems(self) -> Iterator[str]:
        for name in self.__struct_fields__:
            value, least = getattr(self, name), 2 if name == "agree_count" else 1
            if not least <= value <= 1_000_000:
                yield f"{name} is {value}, but must be from {least} to 1000000"


class SourceInstrument(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    instrument: str
    """Ours."""
    symbol: str
    """What the source calls it."""
    scale: str = "1"
    """Our price is the source's price times this: "10" for a price per gram where ours is per 10 grams."""
    lowest: str | None = None
    highest: str | None = None
    """Prices outside are dropped. Without both, the very first quote waits for the desk or another source."""

    def problems(self) -> Iterator[str]:
        if not _INSTRUMENT.fullmatch(self.instrument):
            yield f"instrument is {self.instrument!r}, but must be a code such as GOLD"
        if not self.symbol:
            yield "symbol is empty, but must be what the source calls the instrument"
        for name in ("scale", "lowest", "highest"):
            text = getattr(self, name)
            if text is not None and not _positive(text):
                yield f"{name} is {text!r}, but must be a plain decimal above 0, as text"
        if self.bounds is not None and self.bounds[0] >= self.bounds[1]:
            yield "lowest must be below highest"

    @property
    def bounds(self) -> tuple[Decimal, Decimal] | None:
        if self.lowest is None or self.highest is None:
            return None
        if not _positive(self.lowest) or not _positive(self.highest):
            return None
        return Decimal(self.lowest), Decimal(self.highest)


def _positive(text: str) -> bool:
    try:
        return re.fullmatch(r"[0-9.]{1,30}", text) is not None and Decimal(text) > 0
    except InvalidOperation:
        return False


class Fields(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """JSON pointers to the parts of a quote, in each item of the list at `items` or in the message itself."""

    items: str = ""
    symbol: str = "/symbol"
    """Empty: every message is about the source's only instrument."""
    bid: str = "/bid"
    ask: str = "/ask"
    time: str | None = None
    time_unit: Literal["s", "ms", "us", "ns", "iso"] = "ms"

    def problems(self) -> Iterator[str]:
        for name in ("items", "symbol", "bid", "ask", "time"):
            try:
                pointer_keys(getattr(self, name) or "")
            except ValueError as error:
                yield f"fields.{name}: {error}"


class SourceSettings(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    kind: Literal["websocket", "http", "fix"]
    instruments: tuple[SourceInstrument, ...]
    url: str = ""
    fields: Fields = Fields()
    secret_env: str | None = None
    header_name: str | None = None
    header_value: str = SECRET
    subscribe: tuple[str, ...] = ()
    """Messages that a WebSocket sends when it is open."""
    ping_s: int = 10
    alive_s: int = ALIVE_S
    """A line that delivers nothing for so long, not even the answer to a ping, counts as dead."""
    poll_ms: int = 1000
    full_updates: bool = False
    """Of a `fix` source: ask for a whole snapshot with each change."""
    entry_times: bool = True
    """Of a `fix` source: believe the times of entries; otherwise that of the message."""
    log_quotes: bool = False
    """Of a `fix` source: keep messages with prices in the message log, too."""
    hours: Hours | None = None
    """When the source has prices; None: always."""

    @property
    def pushes(self) -> bool:
        """Whether a quote stands until the next one. A polled source must repeat it with a newer time."""
        return self.kind != "http"

    def problems(self) -> Iterator[str]:
        if not _NAME.fullmatch(self.name):
            yield f"name is {self.name!r}, but must be up to 32 of a-z, 0-9 and -"
        if not self.instruments:
            yield "instruments is empty"
        for name in ("instrument", "symbol"):
            counts = Counter(getattr(each, name) for each in self.instruments)
            for value, count in counts.items():
                if count > 1:
                    yield f"{name} {value} occurs {count} times"
        for instrument in self.instruments:
            yield from (f"{instrument.instrument}: {each}" for each in instrument.problems())
        yield from self._problems_of_line()

    def _problems_of_line(self) -> Iterator[str]:
        if self.kind == "fix":
            yield from self._problems_of_fix()
            return
        yield from self._problems_of_url()
        yield from self.fields.problems()
        if not self.fields.symbol and len(self.instruments) > 1:
            yield "fields.symbol is empty, so that there can be only one instrument"
        if self.kind == "http" and self.fields.time is None:
            yield "fields.time is missing: a polled source counts as alive only while its own time moves"
        texts = (self.url, self.header_value if self.header_name else "", *self.subscribe)
        if (self.secret_env is None) == any(SECRET in text for text in texts):
            yield f"secret_env and {SECRET} belong together: one of them is missing"
        if not 1 <= self.ping_s < self.alive_s <= 120:
            yield "ping_s must be at least 1 and below alive_s, and alive_s at most 120"
        if not 100 <= self.poll_ms <= 60_000:
            yield "poll_ms must be from 100 to 60000"

    def _problems_of_fix(self) -> Iterator[str]:
        for name in ("url", "secret_env", "header_name", "subscribe"):
            if getattr(self, name):
                yield f"{name} is not for a source over FIX"
        if not 1 <= self.alive_s <= 120:
            yield "alive_s must be from 1 to 120"

    def _problems_of_url(self) -> Iterator[str]:
        schemes = _SCHEMES[self.kind]
        try:
            parts = urlsplit(self.url)
            host = parts.hostname
        except ValueError:
            host = None
        if host is None or parts.scheme not in schemes:
            yield f"url must begin with {schemes[1]}:// and name a host"
        elif parts.scheme == schemes[0] and host not in _LOOPBACK:
            yield f"url must begin with {schemes[1]}:// because {host} is not on this machine"


class Parity(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A contract that should follow `spot` × `currency` × `factor` + `plus`. It raises an alarm, no more."""

    instrument: str
    spot: str
    currency: str
    factor: str
    plus: str = "0"
    bps: int = 300

    def problems(self) -> Iterator[str]:
        if not _positive(self.factor):
            yield f"factor is {self.factor!r}, but must be a plain decimal above 0, as text"
        if self.plus != "0" and not _positive(self.plus):
            yield f"plus is {self.plus!r}, but must be a plain decimal, as text"
        if not 1 <= self.bps <= 10_000:
            yield f"bps is {self.bps}, but must be from 1 to 10000"


class FeedNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """When sources replace each other, and when a rate is published."""

    failover_s: int = 3
    """Leave a source after so long without a good quote."""
    return_s: int = 30
    """Return to a preferred source when it was good for so long."""
    switch_bps: int = 50
    """If two sources differ by more than this when one replaces the other, neither is published."""
    urgent_bps: int = 5
    """A greater move is published at once."""


class FeedSettings(FeedNumbers, frozen=True, kw_only=True):
    sources: tuple[SourceSettings, ...]
    """In the order of preference."""
    guards: dict[str, GuardNumbers] = {}
    """By instrument, where they differ from the defaults."""
    parities: tuple[Parity, ...] = ()

    @property
    def instruments(self) -> frozenset[str]:
        return frozenset(each.instrument for source in self.sources for each in source.instruments)

    def problems(self) -> Iterator[str]:
        """Everything that is wrong, each as the rest of a sentence."""
        for name, count in Counter(each.name for each in self.sources).items():
            if count > 1:
                yield f"source {name} occurs {count} times"
        for source in self.sources:
            yield from _of(f"source {source.name}", source.problems())
        for instrument, numbers in self.guards.items():
            yield from _of(f"guard of {instrument}", numbers.problems())
            if instrument not in self.instruments:
                yield f"guard of {instrument}: no source has this instrument"
        for parity in self.parities:
            yield from _of(f"parity of {parity.instrument}", parity.problems())
        for name in FeedNumbers.__struct_fields__:
            if not 1 <= getattr(self, name) <= 10_000:
                yield f"{name} is {getattr(self, name)}, but must be from 1 to 10000"


def _of(subject: str, problems: Iterable[str]) -> Iterator[str]:
    return (f"{subject}: {each}" for each in problems)
