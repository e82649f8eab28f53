"""What a node knows of the market when it plans covers. See `bullion.booking.cover_planning.Outlook`."""

from collections.abc import Callable, Sequence

from bullion.hedge.book.profit import ONE_RUPEE, Mark, Quote
from bullion.hedge.contract import DOLLARS, Contract
from bullion.hedge.venue import Tradeability, VenueAbilities
from bullion.hedge.venues import sendable
from bullion.hedge.watch import VenueWatch
from bullion.rates.board import Board

from .fix_lines import FixLines

_FRESH_US = 60_000_000


class NodeOutlook:
    def __init__(
        self,
        abilities: VenueAbilities,
        watch: VenueWatch,
        board: Board,
        fix_lines: FixLines | None,
        now_us: Callable[[], int],
        dollar: Callable[[str], str],
    ) -> None:
        """`dollar`: the instrument whose rate is the price of a dollar for a broker."""
        self._abilities = abilities
        self._watch = watch
        self._board = board
        self._fix_lines = fix_lines
        self._now_us = now_us
        self._dollar = dollar

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
        dollar = self._quote(broker, self._dollar(broker))
        for contract in sorted(contracts, key=lambda each: (each.currency == DOLLARS, each.code)):
            quote = self._quote(broker, contract.instrument)
            currency = dollar if contract.currency == DOLLARS else ONE_RUPEE
            if contract.metal == metal and quote is not None and currency is not None:
                return Mark(quote, contract.price_ng, contract.fineness_e4, currency)
        return None

    def session_ends_us(self, broker: str) -> int | None:
        return None if self._fix_lines is None else self._fix_lines.closes_us(broker, self._now_us())

    def _quote(self, broker: str, instrument: str) -> Quote | None:
        tick = self._board.tick(broker, instrument)
        if tick is None or self._now_us() - tick.holds_until_us > _FRESH_US:
            return None
        return Quote(tick.bid_e6, tick.ask_e6)
