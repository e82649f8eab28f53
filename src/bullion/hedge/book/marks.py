"""Which rates value a hedge book.

The metal is valued by the instrument of an active contract in rupees, the largest lot first. If none of them
has a fresh rate, it is valued by a contract in dollars and the dollar. A rate is fresh while an order may be
priced by it.
"""

from collections.abc import Iterable, Mapping

import msgspec

from bullion.hedge.contract import DOLLARS, Contract

from .profit import ONE_RUPEE, Mark, Quote

DOLLAR = "USDINR"
"""The instrument of the dollar, unless a landed price of the broker names another."""
FRESH_S = 60
"""For an instrument that no symbol is priced by."""
_US_PER_S = 1_000_000


class MarkRate(msgspec.Struct, frozen=True):
    """A rate on the board."""

    quote: Quote
    at_us: int
    fresh_until_us: int | None
    """None: always."""
    fresh_from_us: int = 0
    """Before this time, the rate is from before the clock was set back."""

    def is_fresh(self, now_us: int) -> bool:
        return self.fresh_until_us is None or self.fresh_from_us <= now_us <= self.fresh_until_us


class BookMark(msgspec.Struct, frozen=True):
    """What values a book now, as far as there are fresh rates."""

    mark: Mark | None
    instrument: str
    at_us: int
    dollar: Quote | None
    why_not: str = ""
    """A sentence, if the metal has no mark."""


def fresh_until_us(holds_until_us: int, limits_s: Iterable[int | None]) -> int | None:
    """`limits_s`: the age limits of the symbols that are priced by the instrument; None: no limit."""
    limits = list(limits_s) or [FRESH_S]
    longest = 0
    for each in limits:
        if each is None:
            return None
        longest = max(longest, each)
    return holds_until_us + longest * _US_PER_S


def mark_of(
    metal: str,
    contracts: Iterable[Contract],
    rates: Mapping[str, MarkRate],
    now_us: int,
    dollar_instrument: str = DOLLAR,
) -> BookMark:
    """`contracts`: the active ones of the broker."""
    fresh = {name: rate for name, rate in rates.items() if rate.is_fresh(now_us)}
    dollar = fresh[dollar_instrument].quote if dollar_instrument in fresh else None
    ours = sorted(
        (each for each in contracts if each.metal == metal),
        key=lambda each: (each.currency == DOLLARS, -each.lot_ng, each.code),
    )
    for contract in ours:
        rate = fresh.get(contract.instrument)
        in_dollars = contract.currency == DOLLARS
        if rate is None or (in_dollars and dollar is None):
            continue
        currency = dollar if in_dollars and dollar is not None else ONE_RUPEE
        mark = Mark(rate.quote, contract.price_ng, contract.fineness_e4, currency, dollar or ONE_RUPEE)
        at_us = min(rate.at_us, fresh[dollar_instrument].at_us) if in_dollars else rate.at_us
        return BookMark(mark, contract.instrument, at_us, dollar)
    if not ours:
        return BookMark(None, "", 0, dollar, f"No active contract in {metal} says which rate values it.")
    names = sorted({each.instrument for each in ours})
    return BookMark(None, "", 0, dollar, f"There is no fresh rate of {' or '.join(names)}.")
