"""Whether a client's order may be booked now, from what this node's memory holds."""

from collections.abc import Callable

from bullion.accounts.account import Account
from bullion.allocation.book import environment_of
from bullion.booking.attempt import OrderAttempt
from bullion.keys.key import Scope
from bullion.orders.market import Market
from bullion.orders.verdict import Refusal, Verdict
from bullion.refusals.refusal import RefusalCode

from .gate import Gate


class ClientOrderCheck:
    """`OrderCheck` of the booking queue, for orders that came through the trading API."""

    def __init__(
        self, gate: Gate, market: Market, closed: Callable[[Account], Refusal | None] = lambda _: None
    ) -> None:
        """`closed`: why the environment takes no orders of the account now; None if it takes them."""
        self._gate = gate
        self._market = market
        self.closed = closed

    def check(self, attempt: OrderAttempt) -> Verdict:
        """The caller first, who may no longer be let through, then the environment, then the market."""
        environment = environment_of(attempt.book_id)
        account = self._gate.recheck(attempt.key_id or "", environment, attempt.address, Scope.ORDERS_WRITE)
        if isinstance(account, RefusalCode):
            return Refusal(account)
        return self.closed(account) or self._market.judge(account, attempt.asked)
