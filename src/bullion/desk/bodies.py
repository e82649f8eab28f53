"""The bodies of the desk's actions, and the types of their fields."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from bullion.events.event import EventType
from bullion.events.webhook import DESCRIPTION_LENGTH_MAX
from bullion.events.webhook_address import URL_LENGTH_MAX
from bullion.hedge.simulated import DELAY_MS_MAX
from bullion.keys.key import DEFAULT_SCOPES
from bullion.keys.text import BROKER_TAG

from . import texts
from .problems import checked_by


@dataclass(frozen=True, slots=True)
class Option:
    """How a field is given on the command line. A field without one is not an option there."""

    help: str | None = None
    flag: str | None = None
    """The option's name, if it differs from the field's."""
    metavar: str | None = None
    argument: bool = False
    """A positional argument."""
    choices: Sequence[str] = ()
    bounds: tuple[int, int] | None = None
    default: Any = None
    """The default of the command line, if the body has none."""
    required: bool = False
    """People must give it. Programs may leave it out if the body lets them."""
    none: str | None = None
    """The text for null."""


# No control characters (PostgreSQL cannot store NUL), and no bidirectional marks, with which one name can be
# made to look like another. Names are not blank.
# `\Z` is the end of the text; `$` would also match before a trailing newline.
_PLAIN = r"[^\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]*\Z"
_KEEPABLE = r"^[^\x00]*\Z"
"""What a client chose is kept as it is; only PostgreSQL's one exception is refused."""
CODE = r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z"

STATEMENT_MAX = 4_000_000
"""Characters of a venue's statement. The desk's HTTP interface takes less: see `bullion.desk_api`."""

Name = Annotated[str, Meta(min_length=1, max_length=120, pattern=rf"^(?=.*\S){_PLAIN}")]
FirmName = Annotated[str, Meta(max_length=200, pattern=f"^{_PLAIN}")]
Code = Annotated[str, Meta(min_length=1, max_length=32, pattern=CODE)]
LoginId = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]*\Z")]
Instrument = Annotated[str, Meta(min_length=1, max_length=32, pattern=CODE)]
Tag = Annotated[str, Meta(pattern=rf"^{BROKER_TAG}\Z")]
Weight = Annotated[str, Meta(max_length=32), checked_by(texts.weight)]
PositiveWeight = Annotated[str, Meta(max_length=32), checked_by(texts.positive_weight)]
Rupees = Annotated[str, Meta(max_length=32), checked_by(texts.rupees)]
SignedRupees = Annotated[str, Meta(max_length=32), checked_by(texts.signed_rupees)]
Price = Annotated[str, Meta(max_length=32), checked_by(texts.price)]
Rate = Annotated[str, Meta(max_length=32), checked_by(texts.rate)]
Fineness = Annotated[str, Meta(max_length=8), checked_by(texts.fineness)]
Factor = Annotated[str, Meta(max_length=32), checked_by(texts.factor)]
Host = Annotated[str, Meta(min_length=1, max_length=253), checked_by(texts.host)]
Day = Annotated[str, checked_by(texts.day)]
Instant = Annotated[str, checked_by(texts.instant_us)]
Clock = Annotated[str, checked_by(texts.clock)]
Closing = Annotated[str, checked_by(texts.closing)]
Networks = Annotated[list[Annotated[str, checked_by(texts.network)]], Meta(max_length=100)]
Scopes = Annotated[
    list[Literal["account:read", "orders:read", "orders:write", "webhooks:manage"]], Meta(min_length=1)
]
EventName = Literal[
    "order.created",
    "order.opened",
    "order.rejected",
    "order.closing",
    "order.closed",
    "order.deleted",
    "allocation.changed",
    "key.rotated",
    "key.revoked",
    "trading.halted",
    "trading.resumed",
    "symbol.frozen",
    "symbol.resumed",
]
Seconds = Annotated[int, Meta(ge=1, le=10_000_000)]
Words = Annotated[str, Meta(min_length=1, max_length=500, pattern=rf"^(?=.*\S){_PLAIN}")]
Reference = Annotated[str, Meta(min_length=1, max_length=64, pattern=rf"^(?=.*\S){_PLAIN}")]
ExecutionId = Annotated[str, Meta(min_length=1, max_length=128, pattern=rf"^(?=.*\S){_PLAIN}")]
Calls = Annotated[int, Meta(ge=0, le=1_000_000)]


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """The base of all bodies. Unknown fields are refused, so that a mistyped switch is not ignored."""


class BrokerBody(Body, kw_only=True):
    name: Annotated[Name, Option()]
    hosts: Annotated[
        list[Host],
        Meta(max_length=50),
        Option("A host name of this broker's API. May be repeated.", "--host"),
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
    fineness: Fineness = "999.0"
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


class MarginStepBody(Body, kw_only=True):
    """A margin is what the house earns on a deal, above 0 on both sides unless it loses."""

    symbol: Annotated[Code, Option("The symbol.", metavar="CODE")]
    side: Annotated[Literal["buy", "sell"], Option("The client's side.")]
    by: Annotated[
        SignedRupees,
        Option("How much more you earn per quoted weight; less with a minus.", metavar="RUPEES"),
    ]
    seen: Annotated[
        SignedRupees | None, Option("Refuse the step if the margin is no longer this.", metavar="RUPEES")
    ] = None


class RateBody(Body, kw_only=True):
    bid: Annotated[Rate, Option("Clients sell at it.")]
    ask: Annotated[Rate, Option("Clients buy at it. Not below the bid.")]
    at: Annotated[
        Instant | None, Option("When it was quoted, in ISO 8601. Default: now.", metavar="TIME")
    ] = None
    pin_until: Annotated[
        Instant | None,
        Option("Until when it holds against the feed, in ISO 8601. Default: not at all.", metavar="TIME"),
    ] = None


class PreferBody(Body, kw_only=True):
    instrument: Annotated[Code, Option("Whose rate it supplies.")]
    end: Annotated[bool, Option("Return to the order of the settings.")] = False


class ReleaseBody(Body, kw_only=True):
    instrument: Annotated[Code, Option("Whose quote is held.")]
    bid: Annotated[Rate, Option("The held bid, as you saw it.")]
    ask: Annotated[Rate, Option("The held ask, as you saw it.")]


_Bps = Annotated[int, Meta(ge=1, le=1_000_000)]


class FeedGuardBody(Body, kw_only=True):
    width_bps: Annotated[_Bps, Option("The widest spread, in ten-thousandths.")] = 100
    old_s: Annotated[_Bps, Option("How old the source's own time may be, in seconds.")] = 5
    ahead_s: Annotated[_Bps, Option("How far ahead it may be, in seconds.")] = 2
    spike_bps: Annotated[_Bps, Option("The greatest move that needs no confirmation.")] = 75
    agree_bps: Annotated[_Bps, Option("How near quotes must be to confirm each other.")] = 20
    jump_bps: Annotated[_Bps, Option("The greatest move that its own source can confirm.")] = 500
    gap_bps: Annotated[_Bps, Option("The greatest move over a pause that needs no confirmation.")] = 500


class DutyBody(Body, kw_only=True, rename={"from_date": "from"}):
    from_date: Day
    rupees: Rupees


DutyRows = Annotated[list[DutyBody], Meta(min_length=1, max_length=1000)]


class AllocationBody(Body, kw_only=True):
    gold: Annotated[Weight, Option("Allocation in grams.")] = "0"
    silver: Annotated[Weight, Option("Allocation in kilograms.")] = "0"


class AccountBody(Body, kw_only=True):
    firm_name: Annotated[
        FirmName | None, Meta(title="Firm", description="Optional."), Option("The firm's name.", "--firm")
    ] = None
    group: Annotated[
        Code, Meta(description="Sets its premiums and order sizes."), Option("The trading group.")
    ]
    active: Annotated[bool, Meta(description="Whether the account may do anything.")] = True
    api_access: Annotated[
        bool,
        Meta(title="API access", description="Whether its keys work."),
        Option("Leave API access off.", "--no-api"),
    ] = True
    production_trading: Annotated[
        bool,
        Meta(description="Whether it may place real orders over the API."),
        Option("Enable production trading for the account.", "--production"),
    ] = False
    scenarios: Annotated[
        bool,
        Meta(description="Whether its program may ask the test environment for refusals."),
        Option("Let it ask the test environment for simulated answers."),
    ] = False
    allocation: AllocationBody = msgspec.field(default_factory=AllocationBody)


class NewAccountBody(AccountBody, kw_only=True):
    login_id: Annotated[LoginId, Option(argument=True)]


_ADDRESS = Option("An allowed address or CIDR block. May be repeated.", "--address")


class KeyBody(Body, kw_only=True):
    environment: Annotated[Literal["test", "production"], Option()]
    name: Annotated[Name, Option("What the key is for.")]
    scopes: Annotated[Scopes, Option("Default: all but webhooks:manage.", "--scope", default=DEFAULT_SCOPES)]
    expires_at: Annotated[
        Instant | None, Option("ISO 8601, for example 2027-01-31T00:00:00Z.", "--expires", "TIME")
    ] = None
    allowed_addresses: Annotated[Networks, _ADDRESS] = []


class WebhookBody(Body, kw_only=True):
    environment: Annotated[Literal["test", "production"], Option()]
    url: Annotated[str, Meta(min_length=1, max_length=URL_LENGTH_MAX), Option("Where events are sent.")]
    types: Annotated[
        list[EventName],
        Meta(max_length=len(EventType)),
        Option("A type of events to send. May be repeated. Default: all.", "--type"),
    ] = []
    description: Annotated[
        str, Meta(max_length=DESCRIPTION_LENGTH_MAX, pattern=f"^{_PLAIN}"), Option("For people.")
    ] = ""


class ReplayBody(Body, kw_only=True):
    number: Annotated[
        Annotated[int, Meta(ge=1, le=2**62)] | None,
        Option("The number of the event. Default: all that were given up."),
    ] = None


class RotateBody(Body, kw_only=True):
    """Fields that are left out are copied from the old key."""

    overlap_s: Annotated[
        int, Meta(ge=0, le=90 * 86400), Option("Seconds in which both keys work.", "--overlap")
    ] = 86400
    name: Annotated[
        Name | msgspec.UnsetType, Option("A new name. Default, also for the options below: as the old key.")
    ] = msgspec.UNSET
    scopes: Annotated[Scopes | msgspec.UnsetType, Option(None, "--scope")] = msgspec.UNSET
    expires_at: Annotated[
        Instant | msgspec.UnsetType | None, Option("ISO 8601, or 'never'.", "--expires", "TIME", none="never")
    ] = msgspec.UNSET
    allowed_addresses: Annotated[Networks | msgspec.UnsetType, _ADDRESS] = msgspec.UNSET


_SOURCE = Meta(pattern=r"^[a-z][a-z0-9_-]{0,31}\Z")


class OrderBody(Body, kw_only=True):
    """An order of a client. The market's checks refuse an invalid side."""

    login_id: Annotated[str, Meta(max_length=64), Option(argument=True)]
    symbol_code: Annotated[
        str,
        Meta(min_length=1, max_length=32, pattern=_KEEPABLE),
        Option("The symbol to trade.", "--symbol", "CODE"),
    ]
    trade_type: Annotated[
        str,
        Meta(max_length=64, pattern=_KEEPABLE),
        Option("The client's side.", "--side", choices=("buy", "sell")),
    ]


_QUANTITY = Option("The weight, in the symbol's unit.")


class PreviewOrderBody(OrderBody, kw_only=True):
    """An order that a client may place."""

    quantity: Annotated[Annotated[str, Meta(max_length=32), checked_by(texts.quantity)] | None, _QUANTITY] = (
        None
    )


class LockPriceBody(OrderBody, kw_only=True):
    """An order whose price is told to a client."""

    quantity: Annotated[str, Meta(max_length=32), checked_by(texts.quantity)]
    source: Annotated[str, _SOURCE] = "desk"


class PlaceOrderBody(OrderBody, kw_only=True):
    """An order that a client placed by another channel."""

    quantity: Annotated[str, Meta(max_length=32), checked_by(texts.quantity), _QUANTITY]
    source: Annotated[
        str,
        _SOURCE,
        Option("The channel the order came by, such as phone or web."),
    ]
    idempotency_key: Annotated[
        str,
        Meta(max_length=64, pattern=r"^(?=.*\S)[\x20-\x7e]*\Z"),
        Option(
            "Your own name for this order. If it was used before, that order is shown; nothing is booked.",
            "--key",
        ),
    ]
    expected_price: Annotated[
        Annotated[str, Meta(max_length=32), checked_by(texts.expected_price)] | None,
        Option("Refuse the order if the price is too far from this.", metavar="RUPEES"),
    ] = None
    client_order_id: Annotated[
        Annotated[str, Meta(max_length=64, pattern=_KEEPABLE)] | None,
        Option("The client's own reference.", metavar="TEXT"),
    ] = None
    lock: Annotated[str, Meta(max_length=16_384)] | None = None
    """A locked price, which the order is booked at."""


class CompleteBody(Body, kw_only=True):
    close_price: Annotated[Price, Option("The closing rate.", "--price", "RUPEES")]


class ReasonBody(Body, kw_only=True):
    reason: Annotated[Words | None, Option("Kept with the order.", metavar="TEXT")] = None


class ConfirmBody(ReasonBody, kw_only=True):
    covered: Annotated[
        PositiveWeight | None,
        Option("How much of it is covered, if not all. The rest waits.", metavar="WEIGHT"),
    ] = None
    left: Annotated[
        PositiveWeight | None,
        Option("Refuse it if the weight that is left to cover is no longer this.", metavar="WEIGHT"),
    ] = None
    cover_price: Annotated[Price | None, Option("The price you covered it at.", metavar="RUPEES")] = None
    cover_reference: Annotated[Reference | None, Option("The reference of the cover.", metavar="TEXT")] = None


class DeletionBody(Body, kw_only=True):
    reason: Annotated[
        Words | None,
        Option("Why it should not exist. Kept with the order.", metavar="TEXT", required=True),
    ] = None


class NoteBody(Body, kw_only=True):
    note: Annotated[Words, Option("What was done about it.", metavar="TEXT")]


class LineBody(Body, kw_only=True):
    reason: Annotated[Words, Option("Why. Kept in the audit trail.", metavar="TEXT")]


class CoverBody(Body, kw_only=True):
    action: Annotated[
        Literal["take", "again", "refuse"],
        Option("What happens to the rest.", argument=True, choices=("take", "again", "refuse")),
    ]
    note: Annotated[Words, Option("Why. Kept with the order.", metavar="TEXT")]


class HedgeBody(Body, kw_only=True):
    mode: Literal["fill", "refuse", "hold", "down"]
    delay_ms: Annotated[int, Meta(ge=0, le=DELAY_MS_MAX)]
    instruments: Annotated[
        dict[Instrument, Literal["tradable", "suspended", "unknown"]], Meta(max_length=1000)
    ]
    fill_percent: Annotated[int, Meta(ge=1, le=100)]
    unasked: bool


class HedgeBookBody(Body, kw_only=True):
    policy: Literal["each", "book"]
    limit: Annotated[str, Meta(max_length=32), checked_by(texts.milligrams)]
    volatility_percent: Annotated[str, Meta(max_length=32), checked_by(texts.percent)]


GramText = Annotated[str, Meta(max_length=32), checked_by(texts.nanograms)]
CoverQuantity = Annotated[str, Meta(max_length=32), checked_by(texts.cover_quantity)]
VenueName = Annotated[str, Meta(max_length=64, pattern=f"^{_PLAIN}")]


class ContractBody(Body, kw_only=True):
    metal: Annotated[Literal["gold", "silver"], Option()]
    venue: Annotated[Code, Option("The line that trades it, or desk for deals by telephone.")] = "desk"
    venue_symbol: Annotated[VenueName, Option()] = ""
    security_id: Annotated[VenueName, Option()] = ""
    instrument: Annotated[Instrument, Option("The instrument whose rate its price follows.")]
    lot: Annotated[GramText, Option("The gross weight of quantity 1, in grams.")]
    fineness: Annotated[Fineness, Option()] = "999.0"
    step: Annotated[CoverQuantity, Option("The smallest step of a quantity.")] = "1"
    price_weight: Annotated[GramText, Option("The weight that its price is for, in grams.")]
    currency: Annotated[Literal["INR", "USD"], Option()] = "INR"
    tick: Annotated[Rate, Option()] = "1"
    expires_on: Annotated[Day, Option()] | None = None
    hold_until: Annotated[Day, Option()] | None = None
    mode: Annotated[Literal["suggest", "auto"], Option()] = "suggest"
    active: bool = True


class BookCoverBody(Body, kw_only=True):
    contract: Annotated[Code, Option()]
    side: Annotated[Literal["buy", "sell"], Option()]
    quantity: Annotated[CoverQuantity, Option("In lots, or in ounces at a spot venue.")]
    idempotency_key: Annotated[Reference, Option("Repeat it if you retry.", "--key")]


class CoverFillBody(Body, kw_only=True):
    quantity: Annotated[CoverQuantity, Option()]
    price: Annotated[Rate, Option("In the contract's currency.")]
    reference: Annotated[Reference, Option("Of the deal at the counterparty.")]
    fee: Annotated[Rupees, Option("In the contract's currency.")] = "0"
    dollar: Annotated[Rate, Option("Rupees for a dollar, for a contract in dollars.")] | None = None


class ExecutedBody(Body, kw_only=True):
    execution_id: ExecutionId
    quantity: CoverQuantity
    price: Rate


class CoverSettlingBody(Body, kw_only=True):
    outcome: Annotated[Literal["executed", "none"], Option(metavar="executed|none", argument=True)]
    reason: Annotated[Words, Option("Who at the venue said so, and when.", metavar="TEXT")]
    fills: Annotated[
        list[ExecutedBody],
        Meta(max_length=100),
        Option("What the venue executed; once for each.", "--fill", "EXECUTION=QUANTITY@PRICE"),
    ] = []


class CurrencyBody(Body, kw_only=True):
    side: Annotated[Literal["buy", "sell"], Option()]
    dollars: Annotated[Price, Option("With up to two decimals.")]
    rate: Annotated[Rate, Option("Rupees for a dollar.")]
    reference: Annotated[Reference, Option("Of the deal at the bank.")]
    idempotency_key: Annotated[Reference, Option("Repeat it if you retry.", "--key")]
    fee: Annotated[Rupees, Option("In rupees.")] = "0"
    metal: Annotated[Literal["gold", "silver"], Option("Whose book the dollars are of.")] | None = None


class StatementBody(Body, kw_only=True):
    csv: Annotated[str, Meta(max_length=STATEMENT_MAX), Option(metavar="FILE", argument=True)]
    venue: Annotated[Reference, Option("The name of the line, or desk.")]
    day: Annotated[Day, Option(metavar="YYYY-MM-DD")]


class BookRuleBody(Body, kw_only=True):
    kind: Annotated[Literal["over", "age", "value", "risk", "close", "by_hand"], Option()]
    threshold: (
        Annotated[str, Meta(max_length=32), Option("In grams, seconds or rupees, by the kind.")] | None
    ) = None
    contracts: Annotated[
        list[Code],
        Meta(min_length=1, max_length=20),
        Option("A contract that it may use. May be repeated.", "--contract", required=True),
    ]
    side: Annotated[Literal["buy", "sell"], Option("Only covers of this side.")] | None = None
    mode: Annotated[Literal["suggest", "auto"], Option()] = "suggest"
    place: Annotated[int, Meta(ge=1, le=20), Option("Its place among the rules.")] | None = None


class PlanBody(Body, kw_only=True):
    rule: Annotated[Code, Option(argument=True)]


class ArchiveBody(Body, kw_only=True):
    before: Annotated[str, Meta(max_length=64)]
    login_id: Annotated[str, Meta(max_length=64)] | None = None
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 10_000


class TokenBody(Body, kw_only=True):
    name: Annotated[Name, Option(argument=True)]
    role: Annotated[Literal["viewer", "dealer", "admin"], Option()]
    broker: Tag | None = None


class TokenChangesBody(Body, kw_only=True):
    name: Name
    role: Literal["viewer", "dealer", "admin"]


class FactorRuleBody(Body, kw_only=True):
    required: Annotated[Literal["off", "admins", "all"], Option(argument=True)]


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


class PublicRatesBody(Body, kw_only=True):
    group: Code
    title: Name


class SwitchesBody(Body, kw_only=True):
    production: bool
    paused: bool
    halted: bool
    price_tolerance_percent: Annotated[str, Meta(max_length=32), checked_by(texts.percent)]
    trading_hours: TradingHoursBody | None
    budgets: BudgetsBody
    price_move_percent_max: Annotated[str, Meta(max_length=32), checked_by(texts.percent)]
    refuse_crossed: bool
    public_rates: PublicRatesBody | None = None
    quote_stream_interval_ms: Annotated[int, Meta(ge=100, le=60_000)] | None = None
