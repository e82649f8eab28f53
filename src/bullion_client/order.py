"""Orders as the service tells of them."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import ClassVar

from bullion_client.enums import OrderStatus, TradeType, Unit
from bullion_client.environment import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An order as it was when it was read. Each is a `TestOrder` or a `ProductionOrder`."""

    id: str
    """The order's id, for `Client.order`."""

    environment: Environment
    """Where it was placed."""

    symbol_code: str
    """What is traded."""

    trade_type: TradeType
    """Buy or sell."""

    quantity: Decimal
    """The weight, in `unit`."""

    unit: Unit
    """What the weight is measured in."""

    price: Decimal | None = None
    """The booked price in rupees for the symbol's quoted weight; None until it is booked."""

    total: Decimal | None = None
    """The order's value in rupees; None until it is booked."""

    status: OrderStatus
    """Where it is in its life."""

    client_order_id: str | None = None
    """The caller's own reference, if one was sent."""

    created_at: datetime | None = None
    """When it was taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOrder(Order):
    """An order of the test environment: filled at once, and it means nothing."""

    __test__: ClassVar[bool] = False  # pytest would take it for a test by its name

    environment: Environment = Environment.TEST
    """Where it was placed."""

    deal_label: str
    """Its number in the account's test book, such as `T-7`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductionOrder(Order):
    """A real order."""

    environment: Environment = Environment.PRODUCTION
    """Where it was placed."""

    deal_no: int | None = None
    """The operator's deal number, once it is a deal."""

    status_detail: str
    """The operator's own word for its state, to quote in a conversation. Branch on `status`."""

    source: str | None = None
    """The channel that it came by: `api`, `web` and others."""

    close_price: Decimal | None = None
    """The price at which it was closed."""

    realized_pnl: Decimal | None = None
    """The profit, or below 0 the loss, in rupees, once it is closed."""

    closed_at: datetime | None = None
    """When it was closed."""


@dataclass(frozen=True, slots=True)
class OrderPage:
    """One page of the list of orders, newest first."""

    items: tuple[Order, ...]
    """The orders of the page."""

    total: int
    """How many orders match the filters, on all pages together."""
