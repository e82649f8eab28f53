"""Extensions: the symbols that an account can trade, and its live prices for them."""

from collections.abc import Callable

from bullion.accounts.account import Account
from bullion.catalogue.catalogue import Catalogue
from bullion.faults import StoreUnavailable
from bullion.metals.rupees import rupees_text
from bullion.metals.symbol import Side
from bullion.metals.weight import weight_text
from bullion.orders.bounds import PAISE_MAX
from bullion.orders.instant import instant_text
from bullion.orders.market import Market
from bullion.orders.offer import Offer, SidePrice
from bullion.orders.verdict import Refusal
from bullion.refusals.refusal import RefusalCode
from bullion.web.response import Response, json_response

from .list_query import read_symbol_filter
from .request import Request
from .wire.market import Quote, Quotes, Symbol, Symbols

_MEMORY_AGE_NS_MAX = 2_000_000_000
"""A node that has lost its store sends no prices."""


class MarketData:
    def __init__(
        self,
        catalogue: Catalogue,
        market: Market,
        why_closed: Callable[[Account], Refusal | None] = lambda _: None,
    ) -> None:
        """`why_closed`: the refusal that orders of the account get while the environment is closed."""
        self._catalogue = catalogue
        self._market = market
        self._why_closed = why_closed

    async def symbols(self, request: Request) -> Response:
        offers = self._offers(request.caller.account, None)
        return json_response(Symbols([_symbol(offer) for offer in offers]))

    async def quotes(self, request: Request) -> Response:
        wanted = read_symbol_filter(request.scope["query_string"])
        return json_response(Quotes(self.quotes_for(request.caller.account, wanted)))

    def quotes_for(self, account: Account, wanted: str | None) -> list[Quote]:
        """Of all symbols, or of the one that is wanted. May raise StoreUnavailable."""
        return [self._quote(account, offer) for offer in self._offers(account, wanted)]

    def why_closed(self, account: Account) -> RefusalCode | None:
        closed = self._why_closed(account)
        return None if closed is None else closed.refusal

    def _offers(self, account: Account, wanted: str | None) -> list[Offer]:
        if self._catalogue.older_than(_MEMORY_AGE_NS_MAX):
            raise StoreUnavailable("memory is too old to quote prices from")
        now_us = self._catalogue.now_us()
        codes = sorted(self._catalogue.symbols_of(account.broker))
        offers = [self._market.offer(account, code, now_us) for code in codes if wanted in (None, code)]
        return [offer for offer in offers if offer is not None]

    def _quote(self, account: Account, offer: Offer) -> Quote:
        # Sides that are not offered are left out. If no side is offered, that is the reason.
        offered = [side for side in Side if side in offer.offered]
        reasons = [
            self._market.refusal_of_smallest_order(account, offer, side) for side in offered or [Side.BUY]
        ]
        reason = self.why_closed(account) or (None if None in reasons else reasons[0])
        prices = {side: _price_text(offer.side_price(side)) for side in offered}
        return Quote(
            symbol_code=offer.symbol.code,
            buy=prices.get(Side.BUY),
            sell=prices.get(Side.SELL),
            at=None if offer.rate_at_us is None else instant_text(offer.rate_at_us),
            tradable=reason is None,
            reason=None if reason is None else reason.code,
        )


def _price_text(price: SidePrice | None) -> str | None:
    return (
        rupees_text(price.price_paise) if price is not None and 0 < price.price_paise <= PAISE_MAX else None
    )


def _symbol(offer: Offer) -> Symbol:
    symbol, sizes = offer.symbol, offer.sizes
    return Symbol(
        symbol_code=symbol.code,
        metal=symbol.metal,
        unit=symbol.unit,
        quoted_weight=weight_text(symbol.quoted_weight_e4),
        minimum=weight_text(sizes.minimum_e4),
        maximum=weight_text(sizes.maximum_e4),
        step=weight_text(sizes.step_e4),
        sides=[side for side in Side if side in offer.offered],
        trading=symbol.trading and offer.group.trading,
    )
