"""Checks from this node's memory whether a client's order may be booked now."""

from collections.abc import Callable

from bullion.accounts.account import Account
from bullion.allocation.book import account_of, environment_of
from bullion.booking.attempt import OrderAttempt
from bullion.keys.key import ORDERS_WRITE
from bullion.orders.market import Market
from bullion.orders.verdict import Refusal, Verdict
from bullion.refusals.refusal import RefusalCode

from .gate import Gate


class ClientOrderCheck:
    """The `OrderCheck` of orders that come through the trading API."""

    def __init__(
        self, gate: Gate, market: Market, why_closed: Callable[[Account], Refusal | None] = lambda _: None
    ) -> None:
        """`why_closed`: the refusal that orders of the account get while the environment is closed."""
        self._gate = gate
        self._market = market
        self.why_closed = why_closed

    def check(self, attempt: OrderAttempt) -> Verdict:
        """Check the caller again if something has changed, then the environment, then the market."""
        book_id = attempt.book_id
        account = self._gate.still_admitted(account_of(book_id), attempt.admitted_serial)
        if account is None:
            now = self._gate.recheck(
                attempt.key_id or "", environment_of(book_id), attempt.address, ORDERS_WRITE
            )
            if isinstance(now, RefusalCode):
                return Refusal(now)
            account = now
        return self.why_closed(account) or self._market.check(account, attempt.asked)
