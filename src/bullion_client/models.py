"""The values that calls return. Each field is read from the field of the response with the same name."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar, Generic

from bullion_client.enums import Environment, Metal, OrderStatus, TradeType, Unit

if TYPE_CHECKING:
    from typing_extensions import TypeVar
else:
    from typing import TypeVar as _TypeVar

    def TypeVar(name, *, default, **options):  # noqa: ARG001, N802
        """Python 3.11 has no default for a type variable, and needs none to run."""
        return _TypeVar(name, **options)


class Answered:
    """A value that knows the request it was answered to. That is no field: it is not compared."""

    __slots__ = ("_request_id",)

    @property
    def request_id(self) -> str | None:
        """The service's id of the request that returned this; None for a part of a result, and for a copy."""
        request_id: str | None = getattr(self, "_request_id", None)
        return request_id


def note_request_id(value: Answered, request_id: str | None) -> None:
    """Tell a new value its request. Values are frozen otherwise."""
    object.__setattr__(value, "_request_id", request_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Answered):
    """An order as it was when it was read. Each is a `TestOrder` or a `ProductionOrder`."""

    id: str
    """The order's id, for `Client.order`."""

    environment: Environment
    """Where it was placed."""

    symbol_code: str
    """The symbol that is traded."""

    trade_type: TradeType
    """Buy or sell."""

    quantity: Decimal
    """The weight, in `unit`."""

    unit: Unit
    """The unit of the weight."""

    price: Decimal | None = None
    """The booked price in rupees for the symbol's quoted weight; None until it is booked."""

    total: Decimal | None = None
    """The order's value in rupees; None until it is booked."""

    status: OrderStatus
    """Its state."""

    client_order_id: str | None = None
    """The caller's own reference, if one was sent."""

    created_at: datetime | None = None
    """When it was accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOrder(Order):
    """An order of the test environment: filled immediately, and nothing is booked."""

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
    """The operator's deal number; None until it is a deal."""

    status_detail: str
    """The operator's own name for its state, to quote to the operator. Branch on `status`."""

    source: str | None = None
    """The channel of the order: `api`, `web` and others."""

    close_price: Decimal | None = None
    """The price at which it was closed."""

    realized_pnl: Decimal | None = None
    """The profit in rupees, negative for a loss; None until it is closed."""

    closed_at: datetime | None = None
    """When it was closed."""


OrderT_co = TypeVar("OrderT_co", bound=Order, covariant=True, default=Order)
"""The kind of a client's orders: `TestOrder` or `ProductionOrder`, or `Order` where that is not said."""


@dataclass(frozen=True, slots=True)
class OrderPage(Answered, Generic[OrderT_co]):
    """One page of the list of orders, newest first."""

    items: tuple[OrderT_co, ...]
    """The orders of the page."""

    total: int
    """The number of orders that match the filters, on all pages."""


@dataclass(frozen=True, slots=True)
class Account(Answered):
    """The account that a key belongs to, and what the key may do."""

    login_id: str
    """The account's login."""

    firm_name: str | None
    """The firm's name on the account."""

    environment: Environment
    """The environment of the key."""

    key_id: str
    """The key's public id; safe to quote to the operator."""

    key_name: str
    """The name the key was issued with."""

    scopes: tuple[str, ...]
    """What the key may do: such as `account:read`, `orders:read` and `orders:write`."""

    production_trading_available: bool
    """Whether the account may trade in production now. A hint: every order is checked again."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol that the account can trade, with the sizes of its group."""

    symbol_code: str
    """Its code in orders."""

    metal: Metal
    """Gold or silver."""

    unit: Unit
    """The unit of its weights."""

    quoted_weight: Decimal
    """The weight that prices are for: 10 where gold is quoted for 10 g."""

    minimum: Decimal
    """The smallest order."""

    maximum: Decimal
    """The largest order."""

    step: Decimal
    """The quantity of an order must be a multiple of this."""

    sides: tuple[TradeType, ...]
    """The sides that are offered."""

    trading: bool
    """Whether trading is enabled for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote(Answered):
    """The account's prices for a symbol at one moment."""

    symbol_code: str
    """The symbol."""

    buy: Decimal | None = None
    """What a buyer pays for the quoted weight; None where there is no price or buying is not offered."""

    sell: Decimal | None = None
    """What a seller gets for the quoted weight; None where there is no price or selling is not offered."""

    at: datetime | None = None
    """The time of the oldest rate in it."""

    tradable: bool
    """Whether an order would be accepted now."""

    reason: str | None = None
    """The code that an order would be refused with, if it is not tradable."""


@dataclass(frozen=True, slots=True)
class MetalPosition:
    """The open position in one metal and its weight allocation."""

    net: Decimal
    """The open weight bought less the open weight sold."""

    limit: Decimal
    """The allocation."""

    used: Decimal
    """`net` without its sign."""

    free: Decimal
    """The rest of the allocation, never below 0."""

    unit: Unit
    """The unit of the weights."""


@dataclass(frozen=True, slots=True)
class SymbolPosition:
    """The open position in one symbol. Production only."""

    symbol_code: str
    """The symbol."""

    metal: Metal
    """Its metal."""

    buy: Decimal
    """The open weight that was bought."""

    sell: Decimal
    """The open weight that was sold."""

    net: Decimal
    """`buy` less `sell`."""

    unit: Unit
    """The unit of the weights."""


@dataclass(frozen=True, slots=True)
class Positions(Answered):
    """The positions of an account."""

    gold: MetalPosition
    """The position in gold."""

    silver: MetalPosition
    """The position in silver."""

    symbols: tuple[SymbolPosition, ...] = ()
    """A row for each symbol with an open position. Empty in the test environment."""
