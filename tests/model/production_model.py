"""The production books of one broker as the specification and the rulings have them, in whole numbers.

Written from the documents alone: nothing of the service is imported here. The venue is the simulated one, and
its own book is part of the model: what it decided about each order it was sent.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

UNITS = {"gold": "g", "silver": "kg"}
HOLDING = ("pending", "open", "closing")
EVENTS = {
    "close": {"open": "closing"},
    "complete": {"closing": "closed"},
    "delete": {"pending": "deleted", "open": "deleted", "closing": "deleted"},
}
"""What the desk can do to an order."""
DECIDED = {"fill": "confirmed", "refuse": "refused"}


@dataclass(frozen=True)
class Symbol:
    code: str
    metal: str
    quoted_weight_e4: int
    buy_paise: int
    sell_paise: int
    stock_kept: bool = False

    def price_paise(self, side: str) -> int:
        return self.buy_paise if side == "buy" else self.sell_paise


@dataclass(frozen=True)
class Body:
    symbol: str
    side: str
    quantity_e4: int
    expected_paise: int | None = None


@dataclass(eq=False)
class Order:
    account: int
    key: str
    source: str
    body: Body
    ordinal: int
    price_paise: int
    took_stock: bool
    id: str = ""
    status: str = "pending"
    dealt: bool = False
    """Whether it has a deal number."""
    close_paise: int | None = None
    pnl_paise: int | None = None
    at_venue: str | None = None
    """None: the venue has never had it. Else `waiting`, `confirmed` or `refused`."""
    request: str = "waiting"
    held: bool = False
    """Whether its first submission is still on the way to the venue."""

    @property
    def signed_e4(self) -> int:
        return self.body.quantity_e4 * (1 if self.body.side == "buy" else -1)

    @property
    def hidden(self) -> bool:
        return self.source != "api" and self.status in ("pending", "rejected")


@dataclass
class Account:
    limits_e4: dict[str, int]
    orders: list[Order] = field(default_factory=list)
    settled: dict[tuple[str, str], tuple[Body, Order | None]] = field(default_factory=dict)
    """By channel and key: the body it was settled with, and its order; None for a moved price."""


@dataclass
class Broker:
    symbols: dict[str, Symbol]
    tolerance_percent: int
    accounts: list[Account]
    stock_e4: dict[str, int] = field(default_factory=dict)
    mode: str = "fill"
    paused: bool = False

    @property
    def orders(self) -> list[Order]:
        return [order for account in self.accounts for order in account.orders]

    # --- Placing --------------------------------------------------------------------------------------

    def place(self, who: int, source: str, key: str, body: Body) -> tuple[str, Order | None]:
        """What must be told, in a word, and the order that is new or is replayed."""
        account = self.accounts[who]
        settled = account.settled.get((source, key))
        if settled is not None:
            first, order = settled
            if first == body and order is not None:
                return "replayed", order
            if self.paused:
                return "production_prerequisites_unmet", None
            return ("price_moved again" if first == body else "idempotency_key_reused"), None
        if self.paused:
            return "production_prerequisites_unmet", None
        symbol = self.symbols.get(body.symbol)
        if symbol is None:
            return "unknown_symbol", None
        refused = self._refused(account, symbol, body)
        if refused is not None:
            return refused, None
        if self._moved(symbol, body):
            account.settled[source, key] = (body, None)
            return "price_moved", None
        return "booked", self._record(who, source, key, body)

    def _refused(self, account: Account, symbol: Symbol, body: Body) -> str | None:
        before = self.net_e4(account, symbol.metal)
        after = before + body.quantity_e4 * (1 if body.side == "buy" else -1)
        if not (abs(after) <= account.limits_e4[symbol.metal] or abs(after) < abs(before)):
            return "limit_exceeded"
        if symbol.stock_kept and body.side == "buy" and body.quantity_e4 > self.stock_e4[symbol.code]:
            return "out_of_stock"
        return None

    def _moved(self, symbol: Symbol, body: Body) -> bool:
        expected = body.expected_paise
        if expected is None:
            return False
        return abs(symbol.price_paise(body.side) - expected) * 100 > expected * self.tolerance_percent

    def _record(self, who: int, source: str, key: str, body: Body) -> Order:
        account, symbol = self.accounts[who], self.symbols[body.symbol]
        took = symbol.stock_kept and body.side == "buy"
        price = symbol.price_paise(body.side)
        order = Order(who, key, source, body, len(account.orders) + 1, price, took)
        if took:
            self.stock_e4[symbol.code] -= body.quantity_e4
        account.orders.append(order)
        account.settled[source, key] = (body, order)
        return order

    # --- The venue ------------------------------------------------------------------------------------

    def sent(self, order: Order, *, arrived: bool = True, heard: bool = True) -> None:
        """The first call to the venue, just after it was recorded."""
        if not arrived or self.mode == "down":
            return
        order.at_venue = DECIDED.get(self.mode, "waiting")
        if heard:
            self._heard(order)

    def arrive(self, order: Order) -> bool:
        """A submission that was held on the line, and that nobody waits for. Whether the venue took it."""
        if self.mode == "down":
            return False
        order.held = False
        if order.at_venue is None:
            order.at_venue = DECIDED.get(self.mode, "waiting")
        return True

    def reconcile(self) -> None:
        """Every execution is compared with its request, also of one that is no longer asked for."""
        for order in self.orders:
            known = order.request in ("answered", "broken")
            if self.mode != "down" and order.at_venue == "confirmed" and not known:
                self._heard(order)

    def hedged_e4(self, metal: str) -> int:
        """What the venue executed, but for deals that are over and breaks that a dealer has squared."""
        return sum(
            order.signed_e4
            for order in self.orders
            if self.symbols[order.body.symbol].metal == metal
            and order.at_venue == "confirmed"
            and (order.status in ("open", "closing") or order.request == "broken")
        )

    def settle(self) -> None:
        """A turn in which everything that waits is due, on a node that is well."""
        for order in self.orders:
            if order.request != "waiting" or self.mode == "down":
                continue
            if order.at_venue is None:
                if order.status != "pending":
                    order.request = "withdrawn"
                    continue
                order.at_venue = DECIDED.get(self.mode, "waiting")
            elif order.at_venue == "waiting":
                order.at_venue = DECIDED.get(self.mode, "waiting")
            self._heard(order)

    def _heard(self, order: Order) -> None:
        if order.at_venue == "waiting":
            return
        confirmed = order.at_venue == "confirmed"
        if order.status == "pending":
            order.request = "answered"
            order.dealt = confirmed
            order.status = "open"
            if not confirmed:
                self._let_go(order, "rejected")
        else:
            order.request = "broken" if confirmed else "answered"

    def _let_go(self, order: Order, status: str) -> None:
        order.status = status
        if order.took_stock:
            self.stock_e4[order.body.symbol] += order.body.quantity_e4

    # --- The desk -------------------------------------------------------------------------------------

    def change(self, order: Order, event: str, close_paise: int) -> bool:
        """Whether the order's state allows it."""
        to = EVENTS[event].get(order.status)
        if to is None:
            return False
        if to == "closing":
            order.status = to
            return True
        self._let_go(order, to)
        if to == "closed":
            gain = (close_paise - order.price_paise) * (1 if order.body.side == "buy" else -1)
            weight = self.symbols[order.body.symbol].quoted_weight_e4
            whole, rest = divmod(abs(gain) * order.body.quantity_e4, weight)
            size = whole + (2 * rest >= weight)
            order.close_paise, order.pnl_paise = close_paise, size if gain > 0 else -size
        return True

    # --- Reading --------------------------------------------------------------------------------------

    def net_e4(self, account: Account, metal: str) -> int:
        return sum(
            order.signed_e4
            for order in account.orders
            if order.status in HOLDING and self.symbols[order.body.symbol].metal == metal
        )

    def open_weights(self, account: Account) -> dict[str, tuple[int, int]]:
        sums: dict[str, Counter[str]] = {}
        for order in account.orders:
            if order.status in HOLDING:
                own = sums.setdefault(order.body.symbol, Counter())
                own[order.body.side] += order.body.quantity_e4
        return {symbol: (own["buy"], own["sell"]) for symbol, own in sums.items()}

    def listed(self, account: Account, status: str, symbol: str | None, side: str | None) -> list[Order]:
        return [
            order
            for order in reversed(account.orders)
            if (order.status == status or (status == "all" and order.status != "deleted"))
            and not order.hidden
            and symbol in (None, order.body.symbol)
            and side in (None, order.body.side)
        ]

    def row(self, order: Order) -> dict[str, Any]:
        """What the store must say of it, but for numbers that only have to rise."""
        return {
            "ordinal": order.ordinal,
            "id": order.id,
            "source": order.source,
            "idempotency_key": order.key,
            "symbol_code": order.body.symbol,
            "trade_type": order.body.side,
            "quantity_e4": order.body.quantity_e4,
            "price_paise": order.price_paise,
            "status": order.status,
            "close_price_paise": order.close_paise,
            "realized_pnl_paise": order.pnl_paise,
        }
