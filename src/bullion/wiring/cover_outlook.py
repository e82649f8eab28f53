"""What a node knows of the market when it plans and sends covers.

See `bullion.booking.cover_planning.Outlook`.
"""

from collections.abc import Callable, Sequence

from bullion.booking.cover_sending import MarketPrice
from bullion.hedge.book.profit import Mark
from bullion.hedge.contract import DOLLARS, Contract
from bullion.hedge.venue import Tradeability, VenueAbilities
from bullion.hedge.venues import sendable
from bullion.hedge.watch import VenueWatch
from bullion.metals.metal import Metal
from bullion.store.book_keeping import Surroundings
from bullion.store.book_profit import book_mark, dollar_of, mark_rates

from .fix_lines import FixLines


class NodeOutlook:
    def __init__(
        self,
        abilities: VenueAbilities,
        watch: VenueWatch,
        surroundings: Callable[[str], Surroundings],
        fix_lines: FixLines | None,
        now_us: Callable[[], int],
    ) -> None:
        """`surroundings` of a broker: its rates and symbols."""
        self._abilities = abilities
        self._watch = watch
        self._surroundings = surroundings
        self._fix_lines = fix_lines
        self._now_us = now_us

    def plans(self, broker: str) -> bool:
        return self._fix_lines is None or self._fix_lines.holds(broker)

    def available(self, broker: str, contract: Contract) -> bool:
        if not self.sendable(broker, contract):
            return True  # By telephone.
        if self._fix_lines is None:
            said = self._watch.tradeability(broker, contract.instrument)
        else:  # The watch knows only what symbols are hedged in; covers may use other contracts.
            said = self._fix_lines.tradeability(broker, contract)
        return self._watch.reachable(broker) and said != Tradeability.SUSPENDED

    def sendable(self, broker: str, contract: Contract) -> bool:
        reached = self._fix_lines is None or contract.venue == self._fix_lines.name(broker)
        return reached and sendable(self._abilities, contract)

    def mark(self, broker: str, metal: str, contracts: Sequence[Contract]) -> Mark | None:
        """The one that the desk sees, so that rules of value and risk fire at the values it is shown."""
        around = self._surroundings(broker)
        return book_mark(Metal(metal), contracts, around.ticks, around.symbols, self._now_us()).mark

    def session_ends_us(self, broker: str) -> int | None:
        return None if self._fix_lines is None else self._fix_lines.closes_us(broker, self._now_us())


def market_price(contract: Contract, around: Surroundings, now_us: int) -> MarketPrice | None:
    """What a contract costs now, and a dollar if it is dealt in dollars. None without fresh rates.

    The slippage of a cover is measured by it, so it has the age limit of the marks.
    """
    rates = mark_rates(around.ticks, around.symbols)

    def middle_e6(instrument: str) -> int | None:
        rate = rates.get(instrument)
        if rate is None or not rate.is_fresh(now_us):
            return None
        return (rate.quote.bid_e6 + rate.quote.ask_e6) // 2

    reference_e6 = middle_e6(contract.instrument)
    dollar_e6 = middle_e6(dollar_of(around.symbols)) if contract.currency == DOLLARS else 0
    return None if reference_e6 is None or dollar_e6 is None else MarketPrice(reference_e6, dollar_e6)
