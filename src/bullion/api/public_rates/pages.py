"""The pages under `/rates`, for screens and phones of the broker's clients. Off by default.

They are on the trading port, because that is the one that the broker's clients can reach: the console stays
inside. Prices come from the node's memory and are made once a second for all viewers. Nothing else is shown,
and nothing is set or stored.
"""

from collections.abc import Awaitable, Callable
from hashlib import blake2b
from html import escape
from http import HTTPStatus
from importlib import resources

import msgspec

from bullion.accounts.account import Account
from bullion.accounts.switches import PublicRates
from bullion.api.hosts import host_name
from bullion.catalogue.catalogue import Catalogue
from bullion.faults import StoreUnavailable
from bullion.metals.rupees import rupees_text
from bullion.metals.symbol import Side, Symbol
from bullion.metals.weight import weight_text
from bullion.orders.bounds import PAISE_MAX
from bullion.orders.market import Market
from bullion.orders.offer import Offer
from bullion.refusals import catalogue as codes
from bullion.web.headers import Headers
from bullion.web.http_app import PublicPage
from bullion.web.response import JSON, NOT_FOUND, Response, Scope, encode_json

PAGE, PRICES = "/rates", "/rates/prices.json"
_STYLE, _SCRIPT = "/rates/page.css", "/rates/page.js"
_MADE_EVERY_US = 1_000_000
_MEMORY_AGE_NS_MAX = 2_000_000_000
"""A node that has lost its store shows no prices."""
_POLICY = (
    b"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FOR_GOOD = (b"cache-control", b"public, max-age=31536000, immutable")
_SHORTLY = (b"cache-control", b"public, max-age=1")
"""Long enough for a proxy to ask once a second for all of its viewers."""

Answer = Callable[[str, PublicRates, Scope], Response]


class _Row(msgspec.Struct):
    """A symbol. Its prices are missing unless clients could have them, or the market is closed."""

    code: str
    per: str
    buy: str | None
    sell: str | None
    at_ms: int | None
    state: str


class _Prices(msgspec.Struct):
    title: str
    zone: str
    rows: list[_Row]


class _Made(msgspec.Struct):
    at_us: int
    shown: PublicRates
    etag: bytes
    body: bytes


class PublicRatePages:
    def __init__(self, catalogue: Catalogue, market: Market, default_broker: str) -> None:
        self._catalogue = catalogue
        self._market = market
        self._default_broker = default_broker
        self._made: dict[str, _Made] = {}
        files = resources.files(__package__)
        self._html = files.joinpath("page.html").read_text("utf-8")
        self._style = _file(files.joinpath("page.css").read_bytes(), b"text/css; charset=utf-8")
        self._script = _file(files.joinpath("page.js").read_bytes(), b"text/javascript; charset=utf-8")

    def pages(self) -> dict[str, dict[str, PublicPage]]:
        answers: dict[str, Answer] = {
            PAGE: self._page,
            PRICES: self._prices,
            _STYLE: lambda *_: self._style,
            _SCRIPT: lambda *_: self._script,
        }
        return {path: dict.fromkeys(("GET", "HEAD"), self._public(each)) for path, each in answers.items()}

    def _public(self, answer: Answer) -> Callable[[Scope], Awaitable[Response]]:
        """404 for a broker that shows no rates, as for a path that does not exist."""

        async def page(scope: Scope) -> Response:
            broker = self._broker(scope)
            shown = self._catalogue.switches_of(broker).public_rates if self._catalogue.loaded else None
            return NOT_FOUND if shown is None else answer(broker, shown, scope)

        return page

    def _broker(self, scope: Scope) -> str:
        host = next((value for name, value in scope["headers"] if name == b"host"), b"")
        return self._catalogue.hosts.get(host_name(host), self._default_broker)

    def _page(self, _broker: str, shown: PublicRates, scope: Scope) -> Response:
        html = self._html.replace("{title}", escape(shown.title))
        for name, path, file in (("style", _STYLE, self._style), ("script", _SCRIPT, self._script)):
            html = html.replace(f"{{{name}}}", f"{path}?v={_digest(file.body)}")
        body = html.encode()
        headers = (
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-security-policy", _POLICY),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
        )
        return _cached(scope, body, _etag(body), headers)

    def _prices(self, broker: str, shown: PublicRates, scope: Scope) -> Response:
        if self._catalogue.older_than(_MEMORY_AGE_NS_MAX):
            raise StoreUnavailable("memory is too old to show prices from")
        now_us = self._catalogue.now_us()
        made = self._made.get(broker)
        if made is None or made.shown is not shown or now_us - made.at_us >= _MADE_EVERY_US:
            made = self._made[broker] = self._make(broker, shown, now_us)
        return _cached(scope, made.body, made.etag, (JSON,))

    def _make(self, broker: str, shown: PublicRates, now_us: int) -> _Made:
        """The tag stays as it is while nothing but the time has changed."""
        account = Account(
            0, broker, "", None, shown.group, active=True, api_access=False, production_trading=True
        )
        known = sorted(self._catalogue.symbols_of(broker))
        offers = (self._market.offer(account, code, now_us) for code in known)
        rows = [self._row(account, offer, now_us) for offer in offers if offer is not None]
        zone = self._catalogue.switches_of(broker).zone.key
        prices = encode_json(_Prices(shown.title, zone, [row for row in rows if row is not None]))
        body = b'{"now_ms":%d,%b' % (now_us // 1000, prices[1:])
        return _Made(now_us, shown, _etag(prices), body)

    def _row(self, account: Account, offer: Offer, now_us: int) -> _Row | None:
        """None for a symbol that the group cannot trade at all."""
        symbol = offer.symbol
        if not symbol.trading or not offer.group.trading or offer.terms is None or not offer.offered:
            return None
        state = self._state(account, offer, now_us)
        priced = state in ("live", "closed")
        return _Row(
            symbol.code,
            _per(symbol),
            _price(offer, Side.BUY) if priced else None,
            _price(offer, Side.SELL) if priced else None,
            None if offer.rate_at_us is None else offer.rate_at_us // 1000,
            state,
        )

    def _state(self, account: Account, offer: Offer, now_us: int) -> str:
        """What a client may be told: not which part of the service is in the way."""
        switches = offer.switches
        if switches.trading_hours is not None and not switches.trading_hours.is_open(now_us):
            return "closed"
        if switches.halted or switches.paused:
            return "halted"
        refusals = [
            self._market.refusal_of_smallest_order(account, offer, side)
            for side in Side
            if side in offer.offered
        ]
        if None in refusals:
            return "live"
        return "old" if codes.STALE_RATE in refusals else "unavailable"


def _price(offer: Offer, side: Side) -> str | None:
    price = offer.side_price(side) if side in offer.offered else None
    return (
        rupees_text(price.price_paise) if price is not None and 0 < price.price_paise <= PAISE_MAX else None
    )


def _per(symbol: Symbol) -> str:
    """10 g, kg"""
    weight = weight_text(symbol.quoted_weight_e4).rstrip("0").rstrip(".")
    return symbol.unit if weight == "1" else f"{weight} {symbol.unit}"


def _file(content: bytes, kind: bytes) -> Response:
    return Response(HTTPStatus.OK, content, ((b"content-type", kind), _FOR_GOOD))


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()


def _etag(content: bytes) -> bytes:
    return f'"{_digest(content)}"'.encode("ascii")


def _cached(scope: Scope, body: bytes, etag: bytes, headers: Headers) -> Response:
    """Not sent again to who has it."""
    more = ((b"etag", etag), _SHORTLY)
    held = next((value for name, value in scope["headers"] if name == b"if-none-match"), b"")
    if etag in held:
        return Response(HTTPStatus.NOT_MODIFIED, b"", more)
    return Response(HTTPStatus.OK, body, (*headers, *more))
