"""The bodies of the desk's actions, and the types of their fields."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from bullion.hedge.simulated import DELAY_MS_MAX
from bullion.keys.text import BROKER_TAG

from . import texts
from .problems import checked_by

# No control characters (PostgreSQL cannot keep the first), and none of those that turn the direction of
# writing, with which one name can be made to look like another. A name is not blank either.
# `\Z` is the end of the text; `$` would also let a new line come after it.
_PLAIN = r"[^\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]*\Z"
_KEEPABLE = r"^[^\x00]*\Z"
"""What a client chose is kept as it is; only PostgreSQL's one exception is refused."""
_CODE = r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z"

Name = Annotated[str, Meta(min_length=1, max_length=120, pattern=rf"^(?=.*\S){_PLAIN}")]
FirmName = Annotated[str, Meta(max_length=200, pattern=f"^{_PLAIN}")]
Code = Annotated[str, Meta(min_length=1, max_length=32, pattern=_CODE)]
LoginId = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]*\Z")]
Instrument = Annotated[str, Meta(min_length=1, max_length=32, pattern=_CODE)]
Tag = Annotated[str, Meta(pattern=rf"^{BROKER_TAG}\Z")]
Weight = Annotated[str, Meta(max_length=32), checked_by(texts.weight)]
PositiveWeight = Annotated[str, Meta(max_length=32), checked_by(texts.positive_weight)]
Rupees = Annotated[str, Meta(max_length=32), checked_by(texts.rupees)]
SignedRupees = Annotated[str, Meta(max_length=32), checked_by(texts.signed_rupees)]
Price = Annotated[str, Meta(max_length=32), checked_by(texts.price)]
Rate = Annotated[str, Meta(max_length=32), checked_by(texts.rate)]
Factor = Annotated[str, Meta(max_length=32), checked_by(texts.factor)]
Host = Annotated[str, Meta(min_length=1, max_length=253), checked_by(texts.host)]
Day = Annotated[str, checked_by(texts.day)]
Instant = Annotated[str, checked_by(texts.instant_us)]
Clock = Annotated[str, checked_by(texts.clock)]
Closing = Annotated[str, checked_by(texts.closing)]
Networks = Annotated[list[Annotated[str, checked_by(texts.network)]], Meta(max_length=100)]
Scopes = Annotated[list[Literal["account:read", "orders:read", "orders:write"]], Meta(min_length=1)]
Seconds = Annotated[int, Meta(ge=1, le=10_000_000)]
Words = Annotated[str, Meta(min_length=1, max_length=500, pattern=rf"^(?=.*\S){_PLAIN}")]
Calls = Annotated[int, Meta(ge=0, le=1_000_000)]


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """Of every body: a field we do not know is refused, for a mistyped switch must not be dropped."""


class BrokerBody(Body, kw_only=True):
    name: Name
    hosts: Annotated[
        list[Annotated[str, Meta(min_length=1, max_length=253), checked_by(texts.host)]], Meta(max_length=50)
    ] = []


class DirectBody(Body, tag_field="kind", tag="direct"):
    instrument: Instrument


class FixedBody(Body, tag_field="kind", tag="fixed"):
    buy: Price | None
    sell: Price | None


class LandedBody(Body, tag_field="kind", tag="landed"):
    spot: Instrument
    currency: Instrument
    premium_usd: Factor
    interbank: Factor
    conversion: Annotated[str, Meta(max_length=32), checked_by(texts.positive_factor)]
    duty: Code
    margin: SignedRupees


class SymbolBody(Body, kw_only=True):
    metal: Literal["gold", "silver"]
    quoted_weight: PositiveWeight
    trading: bool = True
    sides: list[Literal["buy", "sell"]] = msgspec.field(default_factory=lambda: ["buy", "sell"])
    frozen: bool = False
    minimum: PositiveWeight
    maximum: PositiveWeight
    step: PositiveWeight
    rate_age_s_max: Seconds | None = 30
    freeze_after_s: Seconds | None = 300
    stock: Weight | None = None
    pricing: DirectBody | FixedBody | LandedBody


class TermsBody(Body, kw_only=True):
    buy_premium: SignedRupees | None = None
    sell_premium: SignedRupees | None = None
    minimum: PositiveWeight | None = None
    maximum: PositiveWeight | None = None
    step: PositiveWeight | None = None


class GroupBody(Body, kw_only=True):
    trading: bool = True
    terms: Annotated[dict[Code, TermsBody], Meta(max_length=1000)] = {}
    default_terms: TermsBody | None = None


class RateBody(Body, kw_only=True):
    bid: Rate
    ask: Rate
    at: Instant | None = None


class DutyBody(Body, kw_only=True, rename={"from_date": "from"}):
    from_date: Day
    rupees: Rupees


DutyRows = Annotated[list[DutyBody], Meta(min_length=1, max_length=1000)]


class AllocationBody(Body, kw_only=True):
    gold: Weight = "0"
    silver: Weight = "0"


class AccountBody(Body, kw_only=True):
    firm_name: FirmName | None = None
    group: Code
    active: bool = True
    api_access: bool = True
    production_trading: bool = False
    scenarios: bool = False
    allocation: AllocationBody = msgspec.field(default_factory=AllocationBody)


class NewAccountBody(AccountBody, kw_only=True):
    login_id: LoginId


class KeyBody(Body, kw_only=True):
    environment: Literal["test", "production"]
    name: Name
    scopes: Scopes
    expires_at: Instant | None = None
    allowed_addresses: Networks = []


class RotateBody(Body, kw_only=True):
    """What the desk leaves out, the successor takes over."""

    overlap_s: Annotated[int, Meta(ge=0, le=90 * 86400)] = 86400
    name: Name | msgspec.UnsetType = msgspec.UNSET
    scopes: Scopes | msgspec.UnsetType = msgspec.UNSET
    expires_at: Instant | msgspec.UnsetType | None = msgspec.UNSET
    allowed_addresses: Networks | msgspec.UnsetType = msgspec.UNSET


class PlaceOrderBody(Body, kw_only=True):
    """What a client asks for over another channel; the side is judged with the market's other checks."""

    login_id: Annotated[str, Meta(max_length=64)]
    source: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_-]{0,31}\Z")]
    idempotency_key: Annotated[str, Meta(max_length=64, pattern=r"^(?=.*\S)[\x20-\x7e]*\Z")]
    symbol_code: Annotated[str, Meta(min_length=1, max_length=32, pattern=_KEEPABLE)]
    trade_type: Annotated[str, Meta(max_length=64, pattern=_KEEPABLE)]
    quantity: Annotated[str, Meta(max_length=32), checked_by(texts.quantity)]
    expected_price: Annotated[str, Meta(max_length=32), checked_by(texts.expected_price)] | None = None
    client_order_id: Annotated[str, Meta(max_length=64, pattern=_KEEPABLE)] | None = None


class CompleteBody(Body, kw_only=True):
    close_price: Price


class ReasonBody(Body, kw_only=True):
    reason: Words | None = None


class NoteBody(Body, kw_only=True):
    note: Words


class HedgeBody(Body, kw_only=True):
    mode: Literal["fill", "refuse", "hold", "down"]
    delay_ms: Annotated[int, Meta(ge=0, le=DELAY_MS_MAX)]
    instruments: Annotated[
        dict[Instrument, Literal["tradable", "suspended", "unknown"]], Meta(max_length=1000)
    ]


class ArchiveBody(Body, kw_only=True):
    before: Annotated[str, Meta(max_length=64)]
    login_id: Annotated[str, Meta(max_length=64)] | None = None
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 10_000


class TokenBody(Body, kw_only=True):
    name: Name
    role: Literal["viewer", "dealer", "admin"]
    broker: Tag | None = None


class BudgetsBody(Body, kw_only=True):
    reads_per_minute: Calls
    orders_per_minute: Calls
    orders_per_10_seconds: Calls
    account_orders_per_minute: Calls
    failed_auth_per_minute: Annotated[int, Meta(ge=1, le=1_000_000)]


class TradingHoursBody(Body, kw_only=True):
    zone: Annotated[str, checked_by(texts.zone)]
    week: dict[
        Annotated[str, checked_by(texts.weekday)], Annotated[list[tuple[Clock, Closing]], Meta(max_length=24)]
    ]
    holidays: Annotated[list[Day], Meta(max_length=1000)] = []


class SwitchesBody(Body, kw_only=True):
    production: bool
    paused: bool
    halted: bool
    price_tolerance_percent: Annotated[str, Meta(max_length=32), checked_by(texts.percent)]
    trading_hours: TradingHoursBody | None
    budgets: BudgetsBody
