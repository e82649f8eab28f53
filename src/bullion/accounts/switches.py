"""The broker's switches and rate limits."""

from dataclasses import dataclass, field, replace
from zoneinfo import ZoneInfo

from .trading_hours import TradingHours

DEFAULT_ZONE = ZoneInfo("Asia/Kolkata")
"""Of a broker without trading hours."""


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """The specification's defaults; the desk changes them while the service runs."""

    reads_per_minute: int = 300
    orders_per_minute: int = 60
    orders_per_10_seconds: int = 10
    account_orders_per_minute: int = 60
    failed_auth_per_minute: int = 20


@dataclass(frozen=True, slots=True)
class PublicRates:
    """The rate page that anybody may see: the group whose prices it shows, and its title."""

    group: str
    title: str


@dataclass(frozen=True, slots=True)
class Switches:
    broker: str
    production: bool = False
    """Off: no production orders through the API. The desk can still place them."""
    paused: bool = False
    """Nobody can place production orders."""
    halted: bool = False
    """Nobody can place orders in either environment."""
    price_tolerance_percent_e4: int = 5000
    trading_hours: TradingHours | None = None
    """None: round the clock."""
    budgets: BudgetLimits = field(default_factory=BudgetLimits)
    price_move_percent_max_e4: int = 30_000
    """How far a change of the desk may move a client's price before somebody has to confirm it."""
    refuse_crossed: bool = True
    """Whether orders are refused where clients could sell for more than they buy for."""

    public_rates: PublicRates | None = None
    """None: there is no public rate page."""
    quote_stream_interval_ms: int | None = None
    """A client that streams prices gets one of each symbol in this time. None: nobody may stream them."""
    moved: bool = False
    """Whether the broker was moved to another store: then every call is refused here."""

    @property
    def zone(self) -> ZoneInfo:
        """The broker's time zone."""
        return DEFAULT_ZONE if self.trading_hours is None else self.trading_hours.zone

    def closed(self) -> "Switches":
        """The same, with every order refused."""
        return replace(self, production=False, paused=True, halted=True)
