"""What each group's clients pay in each symbol, and what the house earns by it. Pure functions, in paise."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bullion.desk.desk import View
from bullion.metals.rupees import paise
from bullion.metals.symbol import Side

SIDES = (Side.SELL, Side.BUY)
"""In the order of the board: the lower price first."""
_REFERENCE = {Side.SELL: "bid", Side.BUY: "ask"}
_PREMIUM = {Side.SELL: "sell_premium", Side.BUY: "buy_premium"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One price of one group."""

    group: str
    symbol: str
    side: Side
    price_paise: int | None
    """What the client pays or gets. None: there is no price."""
    margin_paise: int | None
    """What the house earns, per quoted weight. None: the group has no such offer."""
    problem: str | None = None

    @property
    def key(self) -> tuple[str, str, Side]:
        return self.group, self.symbol, self.side


@dataclass(frozen=True, slots=True)
class BoardRow:
    quote: View
    symbol: View | None
    """Its settings; None where these cannot be read."""
    cells: Sequence[Cell]
    """Two for each group."""

    @property
    def code(self) -> str:
        return str(self.quote["symbol_code"])

    @property
    def step_paise(self) -> int | None:
        """What one press changes: a power of ten from 0.002 % to 0.02 % of the price, such as ₹ 10 of gold.

        None without a price.
        """
        price = self.quote["ask"] or self.quote["bid"]
        return None if price is None else 10 ** max(0, len(str(2 * paise(price))) - 5)


def board_rows(quotes: Iterable[View], symbols: Mapping[str, View], groups: Sequence[View]) -> list[BoardRow]:
    return [
        BoardRow(
            quote,
            symbols.get(quote["symbol_code"]),
            [_cell(quote, group, side) for group in groups for side in SIDES],
        )
        for quote in quotes
    ]


def _cell(quote: View, group: View, side: Side) -> Cell:
    symbol = quote["symbol_code"]
    margin = margin_of(group, symbol, side)
    at, reference = None, quote[_REFERENCE[side]]
    if margin is not None and reference is not None:
        at = paise(reference) + (margin if side is Side.BUY else -margin)
    problem = None
    if group["code"] in quote["crossed"]:
        problem = "crossed"
    elif margin is not None and margin < 0:
        problem = "loses"
    return Cell(group["code"], symbol, side, at if at is not None and at > 0 else None, margin, problem)


def margin_of(group: View, symbol: str, side: Side) -> int | None:
    terms = group["terms"].get(symbol) or group["default_terms"]
    premium = None if terms is None else terms[_PREMIUM[side]]
    if premium is None:
        return None
    return paise(premium) if side is Side.BUY else -paise(premium)


def margin_changes(
    before: View, after: View, symbols: Iterable[str]
) -> dict[tuple[str, Side], tuple[int, int]]:
    """The margins of a group that a change moved, before and after."""
    return {
        (symbol, side): (was, now)
        for symbol in symbols
        for side in SIDES
        if (was := margin_of(before, symbol, side)) is not None
        and (now := margin_of(after, symbol, side)) is not None
        and was != now
    }
