"""Filters and results of the desk's searches for orders and traces."""

from dataclasses import dataclass

from bullion.allocation.book import environment_of
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.orders.order import Order
from bullion.orders.trace import Trace


@dataclass(frozen=True, slots=True)
class OrderFilter:
    """None matches everything."""

    environment: Environment | None = None
    login_id: str | None = None
    status: str | None = None
    symbol_code: str | None = None
    source: str | None = None
    client_order_id: str | None = None
    request_id: str | None = None
    since_us: int | None = None
    """The instant itself is included."""

    @property
    def only_by_kind(self) -> bool:
        """Whether the counts per kind of order give the total."""
        others = (self.source, self.client_order_id, self.request_id, self.since_us)
        return all(each is None for each in others)

    @property
    def only_by_account(self) -> bool:
        """Whether it selects all orders of one account, at most limited by environment and time."""
        others = (self.status, self.symbol_code, self.source, self.client_order_id, self.request_id)
        return self.login_id is not None and all(each is None for each in others)

    @property
    def is_of_environment(self) -> bool:
        """Whether it selects all orders, at most limited by environment."""
        return self == OrderFilter(environment=self.environment)

    @property
    def is_counted(self) -> bool:
        """Whether the counts of all orders by time give the total."""
        others = (self.login_id, self.client_order_id, self.request_id)
        return all(each is None for each in others)


@dataclass(frozen=True, slots=True)
class OrderTotal:
    """How many orders a list has."""

    number: int
    exact: bool = True
    """If not, it has at least this number."""


class OrdersNotCounted(Exception):
    """Too many orders match to count them now. They are counted in the background, within seconds."""


@dataclass(frozen=True, slots=True)
class AccountOrder:
    """An order with the login of its account."""

    order: Order
    login_id: str
    archived: bool
    """Out of lists and positions since the desk reset the test book."""


@dataclass(frozen=True, slots=True)
class OrderSum:
    """What some orders of one kind come to."""

    environment: Environment
    metal: Metal
    trade_type: str
    status: str
    orders: int
    quantity_e4: int
    total_paise: int
    realized_pnl_paise: int

    @classmethod
    def of_one(cls, order: Order) -> "OrderSum":
        return cls(
            environment_of(order.book_id),
            order.metal,
            order.asked.trade_type,
            order.status,
            1,
            order.asked.quantity_e4,
            order.total_paise,
            order.realized_pnl_paise or 0,
        )


@dataclass(frozen=True, slots=True)
class OrderEvent:
    """A change of an order after it was recorded."""

    status: str
    at_us: int
    actor: str
    words: str | None


@dataclass(frozen=True, slots=True)
class AccountTrace:
    """A decision trace with the login of its account."""

    trace: Trace
    login_id: str


@dataclass(frozen=True, slots=True)
class DecisionCount:
    """The number of decisions with one outcome within a minute."""

    minute_us: int
    """When that minute began."""
    environment: str
    outcome: str
    count: int
