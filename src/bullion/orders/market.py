"""Checks and prices orders from the catalogue and the board in this node's memory."""

from collections.abc import Callable

from bullion.accounts.account import Account
from bullion.accounts.group import Group
from bullion.accounts.switches import Switches
from bullion.catalogue.catalogue import Catalogue
from bullion.hedge.venue import Tradeability
from bullion.metals.symbol import Side
from bullion.rates.board import Board
from bullion.refusals import catalogue as codes
from bullion.refusals.refusal import RefusalCode

from .checks import check_all
from .offer import Offer, make_offer, smallest_order
from .request import PlaceOrder
from .verdict import Priced, Refusal, Verdict

_KEPT_MAX = 10_000
_US_PER_S = 1_000_000


class Market:
    """Caches offers until their inputs change: many orders use the same one."""

    def __init__(
        self,
        catalogue: Catalogue,
        board: Board,
        tradeability: Callable[[str, str], Tradeability] | None = None,
    ) -> None:
        """`tradeability`: whether the venue trades a broker's instrument. Without it nothing is hedged."""
        self._catalogue = catalogue
        self._board = board
        self._tradeability = tradeability
        self._offers: dict[tuple[str, str, str], Offer] = {}
        self._catalogue_serial = self._board_serial = -1
        """Those that the cached offers were made from."""
        self._open: dict[str, tuple[Switches, int, bool]] = {}

    def check(self, account: Account, asked: PlaceOrder) -> Verdict:
        found = self.check_all(account, asked)
        return found[0] if isinstance(found, list) else found

    def check_all(self, account: Account, asked: PlaceOrder) -> list[Refusal] | Priced:
        """Every refusal that the order deserves, or its price."""
        now_us = self._catalogue.now_us()
        offer = self.offer(account, asked.symbol_code, now_us)
        if offer is None and ("symbol", account.broker, asked.symbol_code) in self._catalogue.unreadable:
            return [Refusal(codes.SYMBOL_NOT_TRADING, compared={"unreadable": True})]
        tradeability = None
        if self._tradeability is not None and offer is not None:
            tradeability = self._tradeability(account.broker, offer.symbol.hedged_in)
        market_open = offer is None or self._is_open(offer.switches, now_us)
        return check_all(
            asked,
            offer,
            now_us,
            rates_ready=self._board.ready,
            market_open=market_open,
            tradeability=tradeability,
        )

    def offer(self, account: Account, symbol_code: str, now_us: int) -> Offer | None:
        catalogue, board = self._catalogue, self._board
        if catalogue.serial != self._catalogue_serial or board.serial != self._board_serial:
            self._offers.clear()
            self._catalogue_serial, self._board_serial = catalogue.serial, board.serial
        name = (account.broker, symbol_code, account.group)
        offer = self._offers.get(name)
        if offer is not None and now_us < offer.valid_until_us:
            return offer
        broker = account.broker
        symbol = catalogue.symbols.get((broker, symbol_code))
        if symbol is None:
            return None
        offer = make_offer(
            symbol,
            catalogue.groups.get((broker, account.group)) or _closed_group(account),
            catalogue.switches_of(broker),
            lambda instrument: board.tick(broker, instrument),
            lambda duty: catalogue.duties.get((broker, duty)),
            now_us,
        )
        if len(self._offers) >= _KEPT_MAX:
            self._offers.clear()
        self._offers[name] = offer
        return offer

    def refusal_of_smallest_order(self, account: Account, offer: Offer, side: Side) -> RefusalCode | None:
        """The refusal that the smallest order would get now; None if the market accepts it."""
        verdict = self.check(account, smallest_order(offer, side))
        return verdict.refusal if isinstance(verdict, Refusal) else None

    def _is_open(self, switches: Switches, now_us: int) -> bool:
        """Computed once a second: opening times are in minutes."""
        if switches.trading_hours is None:
            return True
        second = now_us // _US_PER_S
        known = self._open.get(switches.broker)
        if known is not None and known[0] is switches and known[1] == second:
            return known[2]
        is_open = switches.trading_hours.is_open(now_us)
        self._open[switches.broker] = (switches, second, is_open)
        return is_open


def _closed_group(account: Account) -> Group:
    """The stand-in for a group that cannot be read."""
    return Group(account.broker, account.group, trading=False, terms={}, default_terms=None)
