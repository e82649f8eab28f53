"""`GET {base}/quotes/stream`: prices as they change, at most one of each symbol in an interval."""

import asyncio
from collections.abc import Mapping
from functools import partial

import structlog

from bullion.accounts.account import Account
from bullion.catalogue.catalogue import Catalogue
from bullion.faults import StoreUnavailable
from bullion.refusals.catalogue import QUOTE_STREAM_DISABLED, SERVICE_UNAVAILABLE, UNKNOWN_SYMBOL
from bullion.refusals.refusal import RefusalCode, RefusalError
from bullion.web.event_stream import EventStream, server_sent_event
from bullion.web.response import Response, encode_json, stream_response

from .list_query import read_symbol_filter
from .market_data import MarketData
from .open_streams import RETRY_LINE, OpenStream, OpenStreams, StreamKind
from .request import Request
from .wire.market import Quote

_log = structlog.get_logger("streams")

_TURN_S = 0.1
"""The shortest interval that the desk can set."""

Prices = Mapping[str, bytes]
"""The event of each symbol. Never changed once it is made: streams compare what they have sent with it."""


class QuoteStream(OpenStream):
    __slots__ = ("_quotes", "account", "sent_at_s", "sent_prices", "wanted")

    kind = StreamKind.QUOTES

    def __init__(
        self,
        quotes: "QuoteStreams",
        streams: OpenStreams,
        request: Request,
        wanted: str | None,
        wire: EventStream,
    ) -> None:
        self._quotes = quotes
        self.account = request.caller.account
        self.wanted = wanted
        self.sent_prices: Prices = {}
        self.sent_at_s = 0.0
        super().__init__(streams, request, wire)

    def refused(self) -> RefusalCode | None:
        return None if self._quotes.interval_s(self.account.broker) else QUOTE_STREAM_DISABLED

    def on_end(self) -> None:
        self._quotes.leave(self)


class _Audience:
    """Streams that get the same prices: what they got last, and what has changed since."""

    __slots__ = ("before", "changed", "number", "prices")

    def __init__(self) -> None:
        self.before: Prices = {}
        self.prices: Prices = {}
        self.changed = b""
        self.number = 0

    def update(self, prices: Prices) -> None:
        self.before, self.prices = self.prices, prices
        self.changed, self.number = _changes(self.before, prices)


class QuoteStreams:
    """Of one environment."""

    def __init__(self, catalogue: Catalogue, market_data: MarketData, streams: OpenStreams) -> None:
        self._catalogue = catalogue
        self._market_data = market_data
        self._streams = streams
        self._by_broker: dict[str, set[QuoteStream]] = {}
        self._due_s: dict[str, float] = {}
        self._audiences: dict[tuple[str, str, RefusalCode | None, str | None], _Audience] = {}
        self._opened = asyncio.Event()

    async def open(self, request: Request) -> Response:
        caller = request.caller
        if not self.interval_s(caller.account.broker):
            raise RefusalError(QUOTE_STREAM_DISABLED)
        self._streams.require_room(caller.key.key_id)
        wanted = read_symbol_filter(request.scope["query_string"])
        prices = self._prices(caller.account, wanted)
        return stream_response(RETRY_LINE + b"\n", partial(self._join, request, wanted, prices))

    def interval_s(self, broker: str) -> float:
        """0 if the broker does not stream prices."""
        return (self._catalogue.switches_of(broker).quote_stream_interval_ms or 0) / 1000

    def _join(self, request: Request, wanted: str | None, prices: Prices, wire: EventStream) -> None:
        stream = QuoteStream(self, self._streams, request, wanted, wire)
        self._by_broker.setdefault(stream.account.broker, set()).add(stream)
        self._opened.set()
        self._send(stream, prices, asyncio.get_running_loop().time())

    def leave(self, stream: QuoteStream) -> None:
        of_broker = self._by_broker.get(stream.account.broker, set())
        of_broker.discard(stream)
        if not of_broker:
            self._by_broker.pop(stream.account.broker, None)

    async def run(self) -> None:
        """Run for as long as the node does."""
        loop = asyncio.get_running_loop()
        while True:
            if not self._by_broker:
                self._audiences.clear()
                self._opened.clear()
                await self._opened.wait()
            for broker in list(self._by_broker):
                now_s, interval_s = loop.time(), self.interval_s(broker)
                if interval_s and now_s >= self._due_s.get(broker, 0.0):
                    self._due_s[broker] = now_s + interval_s
                    try:
                        self._publish(broker, now_s, interval_s)
                    except Exception:  # noqa: BLE001 - the node must not stop because of its streams
                        _log.exception("streams_failed")
                    await asyncio.sleep(0)
            await asyncio.sleep(_TURN_S)

    def _publish(self, broker: str, now_s: float, interval_s: float) -> None:
        fresh: dict[tuple[str, str, RefusalCode | None, str | None], _Audience] = {}
        for stream in list(self._by_broker.get(broker, ())):
            # A client that is behind gets the newest price once it has caught up, and none of those between.
            if stream.wire.behind or now_s < stream.sent_at_s + interval_s:
                continue
            account = self._catalogue.accounts.get(stream.account.id, stream.account)
            name = (broker, account.group, self._market_data.why_closed(account), stream.wanted)
            audience = fresh.get(name)
            if audience is None:
                audience = fresh[name] = self._audiences.get(name) or _Audience()
                try:
                    audience.update(self._prices(account, stream.wanted))
                except StoreUnavailable:
                    stream.refuse(SERVICE_UNAVAILABLE)
                    del fresh[name]
                    continue
            self._send(stream, audience.prices, now_s, audience)
        others = {name: each for name, each in self._audiences.items() if name[0] != broker}
        self._audiences = others | fresh

    def _prices(self, account: Account, wanted: str | None) -> Prices:
        quotes = self._market_data.quotes_for(account, wanted)
        return {quote.symbol_code: _event(quote) for quote in quotes}

    @staticmethod
    def _send(stream: QuoteStream, prices: Prices, now_s: float, audience: _Audience | None = None) -> None:
        if audience is not None and stream.sent_prices is audience.before:
            changed, number = audience.changed, audience.number
        else:
            changed, number = _changes(stream.sent_prices, prices)
        stream.sent_prices = prices
        if number:
            stream.sent_at_s = now_s
            stream.send(changed, number)


def _changes(before: Prices, now: Prices) -> tuple[bytes, int]:
    """The events of the symbols whose price is another one, and how many there are."""
    changed = [event for code, event in now.items() if before.get(code) != event]
    changed += [_event(_gone(code)) for code in before if code not in now]
    return b"".join(changed), len(changed)


def _gone(symbol_code: str) -> Quote:
    return Quote(symbol_code, None, None, None, tradable=False, reason=UNKNOWN_SYMBOL.code)


def _event(quote: Quote) -> bytes:
    return server_sent_event(encode_json(quote), "quote")
