"""Crossed offers: a client could sell a symbol for more than it buys it for, at the broker's loss.

The desk confirms such prices before it makes them. They can also arise by themselves, when a feed's bid
and ask come closer together or another duty comes into force.
"""

from bisect import bisect_left
from collections.abc import Iterable

from bullion.accounts.group import Group, Terms
from bullion.catalogue.catalogue import Catalogue
from bullion.metals.symbol import Side, Symbol
from bullion.rates.board import Board
from bullion.rates.formula import SymbolPrice, symbol_price
from bullion.rates.quote import account_price_paise
from bullion.refusals.refusal import RefusalCode


def crossed_groups(symbol: Symbol, price: SymbolPrice | RefusalCode, groups: Iterable[Group]) -> list[str]:
    """The trading groups whose offer in the symbol is crossed at that price."""
    spread_paise = _spread_paise(symbol, price)
    if spread_paise is None:
        return []
    return [
        group.code
        for group in groups
        if (margin := _margin_paise(symbol, group)) is not None and margin + spread_paise < 0
    ]


class CrossedOffers:
    """Counts the crossed offers that this node makes. It is cheap enough to be asked every second."""

    def __init__(self, catalogue: Catalogue, board: Board) -> None:
        self._catalogue = catalogue
        self._board = board
        self._made_from: int | None = None
        self._margins: list[tuple[Symbol, list[int]]] = []

    def count(self, now_us: int) -> dict[str, int]:
        """The number of crossed offers of each broker: an offer is one symbol for one group."""
        counts = dict.fromkeys(self._catalogue.brokers, 0)
        if self._made_from != self._catalogue.serial:
            self._margins = self._read_margins()
            self._made_from = self._catalogue.serial
        for symbol, margins in self._margins:
            spread_paise = _spread_paise(symbol, self._price(symbol, now_us))
            if spread_paise is not None:
                counts[symbol.broker] = counts.get(symbol.broker, 0) + bisect_left(margins, -spread_paise)
        return counts

    def _price(self, symbol: Symbol, now_us: int) -> SymbolPrice | RefusalCode:
        broker = symbol.broker
        return symbol_price(
            symbol,
            lambda instrument: self._board.tick(broker, instrument),
            lambda duty: self._catalogue.duties.get((broker, duty)),
            now_us,
        )

    def _read_margins(self) -> list[tuple[Symbol, list[int]]]:
        """What the groups add to the spread of each symbol, in ascending order."""
        groups: dict[str, list[Group]] = {}
        for group in self._catalogue.groups.values():
            groups.setdefault(group.broker, []).append(group)
        return [
            (symbol, sorted(each for each in margins if each is not None))
            for symbol in self._catalogue.symbols.values()
            for margins in [[_margin_paise(symbol, group) for group in groups.get(symbol.broker, ())]]
        ]


def _spread_paise(symbol: Symbol, price: SymbolPrice | RefusalCode) -> int | None:
    """Before premiums. None: orders are not possible on both sides."""
    if isinstance(price, RefusalCode) or not symbol.trading or len(symbol.sides) < len(Side):
        return None
    if price.bid is None or price.ask is None:
        return None
    return account_price_paise(price.ask, 0) - account_price_paise(price.bid, 0)


def _margin_paise(symbol: Symbol, group: Group) -> int | None:
    """What the group's terms add to the spread."""
    terms: Terms | None = group.terms_for(symbol.code) if group.trading else None
    if terms is None or terms.buy_premium_paise is None or terms.sell_premium_paise is None:
        return None
    return terms.buy_premium_paise - terms.sell_premium_paise
