"""Places production orders from the API and the desk: checks, records and hedges them."""

from collections.abc import Awaitable, Callable

import msgspec

from bullion.accounts.account import Account
from bullion.accounts.switches import Switches
from bullion.catalogue.catalogue import Catalogue
from bullion.orders.market import Market
from bullion.orders.offer import Offer
from bullion.orders.request import PlaceOrder
from bullion.orders.status import Status
from bullion.orders.verdict import Priced, Refusal, Verdict
from bullion.refusals.catalogue import PRODUCTION_PREREQUISITES_UNMET, PRODUCTION_TRADING_DISABLED

from .attempt import Booked, OrderAttempt, OrderCheck, Outcome, ToHedge
from .hedging import Hedging
from .queue import BookingQueue

PAUSED, VENUE_AWAY, SCHEMA_BEHIND = (
    "paused by the desk",
    "the venue cannot be reached",
    "the store's schema is behind",
)
"""The prerequisites that can be unmet."""


class Production:
    def __init__(
        self,
        *,
        deploy_on: bool,
        catalogue: Catalogue,
        market: Market,
        queue: BookingQueue,
        hedging: Hedging,
        reachable: Callable[[str], bool],
        schema_current: Callable[[], bool],
        look_up_account: Callable[[int], Awaitable[None]],
    ) -> None:
        """`reachable` tells whether a broker's venue can be reached.

        `look_up_account` brings an account into this node's memory, which may not hold them all.
        """
        self._deploy_on = deploy_on
        self._catalogue = catalogue
        self._market = market
        self._queue = queue
        self._hedging = hedging
        self._reachable = reachable
        self._schema_current = schema_current
        self._look_up_account = look_up_account

    def why_closed(self, account: Account) -> Refusal | None:
        """The refusal that orders of the API get now because production is closed; None if it is open."""
        switches = self._catalogue.switches_of(account.broker)
        reason = closed_by(account, switches, deploy_on=self._deploy_on)
        if reason is not None:
            return Refusal(
                PRODUCTION_TRADING_DISABLED,
                fields={"reason": reason},
                compared={"reason": reason},
                closed=True,
            )
        return self.why_not_ready(account)

    def why_not_ready(self, account: Account) -> Refusal | None:
        """The refusal that every order gets now because a prerequisite is unmet; None if all are met."""
        unmet = self.unmet(account)
        return unmet[0] if unmet else None

    def unmet(self, account: Account) -> list[Refusal]:
        """A refusal for each prerequisite that is unmet."""
        unmet = (
            (PAUSED, self._catalogue.switches_of(account.broker).paused),
            (VENUE_AWAY, not self._reachable(account.broker)),
            (SCHEMA_BEHIND, not self._schema_current()),
        )
        return [
            Refusal(PRODUCTION_PREREQUISITES_UNMET, compared={"unmet": why}, closed=True)
            for why, is_unmet in unmet
            if is_unmet
        ]

    async def look_up_account(self, account_id: int) -> None:
        """For orders that did not come through the gate. May raise StoreFault."""
        if account_id not in self._catalogue.accounts:
            await self._look_up_account(account_id)

    def account(self, account_id: int) -> Account | None:
        """The account in this node's memory; None if it was evicted since the look-up."""
        return self._catalogue.accounts.get(account_id)

    def check(self, account: Account, asked: PlaceOrder) -> Verdict:
        return self._market.check(account, asked)

    def check_all(self, account: Account, asked: PlaceOrder) -> list[Refusal] | Priced:
        return self._market.check_all(account, asked)

    def offer(self, account: Account, symbol_code: str) -> Offer | None:
        """The prices of the account's group in the symbol now; None if there is no such symbol."""
        return self._market.offer(account, symbol_code, self.now_us())

    def now_us(self) -> int:
        """The store's clock."""
        return self._catalogue.now_us()

    async def place(self, attempt: OrderAttempt, check: OrderCheck) -> Outcome:
        """The outcome after a short wait for the venue. May raise StoreFault, as the queue does."""
        outcome = await self._queue.place(attempt, check)
        if not isinstance(outcome, Booked) or outcome.order.status != Status.PENDING:
            return outcome
        if outcome.instrument is None:
            order = await self._hedging.outcome(outcome.order)
        else:
            to_hedge = ToHedge(
                outcome.order,
                attempt.broker,
                outcome.instrument,
                fineness_e4=outcome.fineness_e4,
                in_book=outcome.in_book,
            )
            order = await self._hedging.hedge(to_hedge)
        return msgspec.structs.replace(outcome, order=order)


def closed_by(account: Account, switches: Switches, *, deploy_on: bool) -> str | None:
    """The widest switch that is off, in the specification's words; None if production is open for it.

    `deploy` is `BULLION_PRODUCTION`, `global` is the broker's switch, `account` the account's own.
    """
    if not deploy_on:
        return "deploy"
    if not switches.production:
        return "global"
    return None if account.production_trading else "account"
