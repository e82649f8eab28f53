"""What the desk sends, read strictly: unknown fields, wrong types, inexact amounts are refused in words."""

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from ipaddress import IPv6Network, ip_network
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from bullion.hedge.simulated import DELAY_MS_MAX
from bullion.keys.key import Network
from bullion.keys.text import BROKER_TAG
from bullion.metals.rupees import RUPEES_PAISE_MAX, paise
from bullion.metals.weight import WEIGHT_E4_MAX, weight_e4
from bullion.orders.instant import EPOCH
from bullion.refusals.desk import INVALID_BODY
from bullion.refusals.refusal import RefusalError

T = TypeVar("T")

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
Amount = Annotated[str, Meta(max_length=32)]
Seconds = Annotated[int, Meta(ge=1, le=10_000_000)]
Words = Annotated[str, Meta(min_length=1, max_length=500, pattern=rf"^(?=.*\S){_PLAIN}")]
Calls = Annotated[int, Meta(ge=0, le=1_000_000)]


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """Of every body: a field we do not know is refused, for a mistyped switch must not be dropped."""


class BrokerBody(Body, kw_only=True):
    name: Name
    hosts: Annotated[list[Annotated[str, Meta(min_length=1, max_length=253)]], Meta(max_length=50)] = []


class DirectBody(Body, tag_field="kind", tag="direct"):
    instrument: Instrument


class FixedBody(Body, tag_field="kind", tag="fixed"):
    buy: Amount | None
    sell: Amount | None


class LandedBody(Body, tag_field="kind", tag="landed"):
    spot: Instrument
    currency: Instrument
    premium_usd: Amount
    interbank: Amount
    conversion: Amount
    duty: Code
    margin: Amount


class SymbolBody(Body, kw_only=True):
    metal: Literal["gold", "silver"]
    quoted_weight: Amount
    trading: bool = True
    sides: list[Literal["buy", "sell"]] = msgspec.field(default_factory=lambda: ["buy", "sell"])
    frozen: bool = False
    minimum: Amount
    maximum: Amount
    step: Amount
    rate_age_s_max: Seconds | None = 30
    freeze_after_s: Seconds | None = 300
    stock: Amount | None = None
    pricing: DirectBody | FixedBody | LandedBody


class TermsBody(Body, kw_only=True):
    buy_premium: Amount | None = None
    sell_premium: Amount | None = None
    minimum: Amount | None = None
    maximum: Amount | None = None
    step: Amount | None = None


class GroupBody(Body, kw_only=True):
    trading: bool = True
    terms: Annotated[dict[Code, TermsBody], Meta(max_length=1000)] = {}
    default_terms: TermsBody | None = None


class RateBody(Body, kw_only=True):
    bid: Amount
    ask: Amount
    at: str | None = None


class DutyBody(Body, kw_only=True, rename={"from_date": "from"}):
    from_date: str
    rupees: Amount


DutyRows = Annotated[list[DutyBody], Meta(min_length=1, max_length=1000)]


class AllocationBody(Body, kw_only=True):
    gold: Amount = "0"
    silver: Amount = "0"


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
    scopes: Annotated[list[Literal["account:read", "orders:read", "orders:write"]], Meta(min_length=1)]
    expires_at: str | None = None
    allowed_addresses: Annotated[list[str], Meta(max_length=100)] = []


class RotateBody(Body, kw_only=True):
    """What the desk leaves out, the successor takes over."""

    overlap_s: Annotated[int, Meta(ge=0, le=90 * 86400)] = 86400
    name: Name | msgspec.UnsetType = msgspec.UNSET
    scopes: (
        Annotated[list[Literal["account:read", "orders:read", "orders:write"]], Meta(min_length=1)]
        | msgspec.UnsetType
    ) = msgspec.UNSET
    expires_at: str | msgspec.UnsetType | None = msgspec.UNSET
    allowed_addresses: Annotated[list[str], Meta(max_length=100)] | msgspec.UnsetType = msgspec.UNSET


class PlaceOrderBody(Body, kw_only=True):
    """What a client asks for over another channel; the side is judged with the market's other checks."""

    login_id: Annotated[str, Meta(max_length=64)]
    source: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_-]{0,31}\Z")]
    idempotency_key: Annotated[str, Meta(max_length=64, pattern=r"^(?=.*\S)[\x20-\x7e]*\Z")]
    symbol_code: Annotated[str, Meta(min_length=1, max_length=32, pattern=_KEEPABLE)]
    trade_type: Annotated[str, Meta(max_length=64, pattern=_KEEPABLE)]
    quantity: Amount
    expected_price: Amount | None = None
    client_order_id: Annotated[str, Meta(max_length=64, pattern=_KEEPABLE)] | None = None


class CompleteBody(Body, kw_only=True):
    close_price: Amount


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
    zone: str
    week: dict[str, Annotated[list[tuple[str, str]], Meta(max_length=24)]]
    holidays: Annotated[list[str], Meta(max_length=1000)] = []


class SwitchesBody(Body, kw_only=True):
    production: bool
    paused: bool
    halted: bool
    price_tolerance_percent: Amount
    trading_hours: TradingHoursBody | None
    budgets: BudgetsBody


def read(raw: bytes, shape: type[T]) -> T:
    """A whole body."""
    try:
        body = msgspec.json.decode(raw, type=shape)
        json.loads(raw, object_pairs_hook=_no_name_twice, parse_int=str)
    except RecursionError:
        raise refused("The body is nested too deeply") from None
    except msgspec.ValidationError as error:
        raise refused(error) from None
    except ValueError as error:
        raise refused(error if isinstance(error, _Twice) else "The body is not valid JSON in UTF-8") from None
    return body


def read_if_any(raw: bytes, shape: type[T]) -> T:
    """For actions that need no words: nothing at all counts as an empty object."""
    return read(raw or b"{}", shape)


class _Twice(ValueError):
    pass


def _no_name_twice(pairs: list[tuple[str, Any]]) -> None:
    """Of two values for one name msgspec keeps the last and says nothing; which one was meant?"""
    seen = set()
    for name, _ in pairs:
        if name in seen:
            raise _Twice(f"{name[:40]!r} is there more than once")
        seen.add(name)


def merged(current: dict[str, Any], raw: bytes, shape: type[T]) -> T:
    """The current state with the fields of a PATCH laid over it, judged as a whole."""
    patch = read(raw, dict[str, Any])
    whole = dict(current)
    for field, value in patch.items():
        below = whole.get(field)
        # Amounts and limits that stand together may be changed one by one; all else is replaced.
        if (
            field in ("budgets", "allocation", "instruments")
            and isinstance(value, dict)
            and isinstance(below, dict)
        ):
            whole[field] = below | value
        else:
            whole[field] = value
    try:
        return msgspec.convert(whole, shape)
    except msgspec.ValidationError as error:
        raise refused(error) from None


def refused(error: Exception | str) -> RefusalError:
    # What was sent is repeated in it, and may be long. The pattern needs quadratic time for a hostile text.
    words = _PATTERN.sub("Has a character that is not allowed there, or is blank", str(error)[:_SEARCHED_MAX])
    if len(words) > _MESSAGE_MAX:
        words = f"{words[:_MESSAGE_MAX]}…"
    return RefusalError(INVALID_BODY, f"{words.rstrip('.')}.")


_PATTERN = re.compile(r"Expected `str` matching regex '.*'(?= - at|$)")
_MESSAGE_MAX = 300
_SEARCHED_MAX = 3 * _MESSAGE_MAX


def code(field: str, text: str) -> None:
    """A code that came in the path rather than the body."""
    try:
        msgspec.convert(text, Code)
    except msgspec.ValidationError:
        raise refused(f"{field}: use up to 32 letters, digits, dots, dashes and underscores") from None


def weight(field: str, text: str) -> int:
    return _bounded(field, text, weight_e4, 0, WEIGHT_E4_MAX)


def rupees(field: str, text: str, *, signed: bool = False) -> int:
    return _bounded(field, text, paise, -RUPEES_PAISE_MAX if signed else 0, RUPEES_PAISE_MAX)


def _bounded(field: str, text: str, read_amount: Callable[[str], int], least: int, most: int) -> int:
    value = rule(f"{field}: ", read_amount, text)
    if not least <= value <= most:
        raise refused(f"{field}: {text} is out of bounds")
    return value


def rule(prefix: str, make: Callable[..., T], *arguments: Any, **fields: Any) -> T:
    """Make a value; where one of its own rules says no, say that to the desk."""
    try:
        return make(*arguments, **fields)
    except ValueError as error:
        raise refused(f"{prefix}{error}") from None


def day(field: str, text: str) -> date:
    """A date in the one form that everybody reads alike."""
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass  # Told below, with the text that is no date.
    raise refused(f"{field}: {text[:20]!r} is not a date such as 2026-11-09")


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def instant_us(field: str, text: str) -> int:
    """An ISO 8601 time; without a zone it is read as UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise refused(
            f"{field}: {text[:40]!r} is not an ISO 8601 time such as 2027-01-31T12:00:00+00:00"
        ) from None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    at_us = (at - EPOCH) // timedelta(microseconds=1)
    if not 0 <= at_us < _YEAR_9999_US:
        raise refused(f"{field}: {text[:40]} is too far away")
    return at_us


_YEAR_9999_US = (datetime(9999, 1, 1, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
"""Later times could not be written in every zone."""


def networks(field: str, texts: list[str]) -> tuple[Network, ...]:
    """Addresses or CIDR blocks."""
    return tuple(rule(f"{field}: ", _network, text) for text in texts)


def _network(text: str) -> Network:
    network = ip_network(text)
    mapped = isinstance(network, IPv6Network) and network.network_address.ipv4_mapped is not None
    if mapped or "%" in text:
        raise ValueError(f"{text!r} is not how a caller's address is written: use plain IPv4 or IPv6")
    return network
