"""Converts table rows to domain values and back.

Functions that read a row raise on errors. `row_decoders`, their only caller, turns them into an `Unreadable`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from datetime import date, time
from decimal import Decimal
from functools import lru_cache
from ipaddress import ip_network
from sys import intern
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import msgspec

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group, Terms
from bullion.accounts.switches import BudgetLimits, PublicRates, Switches
from bullion.accounts.trading_hours import Opening, TradingHours
from bullion.environment import Environment
from bullion.hedge.simulated import DELAY_MS_MAX, Mode, VenueBehaviour
from bullion.hedge.venue import Tradeability
from bullion.keys.key import Key, Network, Scope
from bullion.metals.metal import Metal
from bullion.metals.pricing import FACTOR_PLACES, Direct, Fixed, Landed, Pricing
from bullion.metals.rupees import RUPEES_PAISE_MAX
from bullion.metals.scaled import scaled
from bullion.metals.symbol import Side, SizeRule, Symbol
from bullion.rates.duty import Duty, DutyTable
from bullion.rates.tick import Tick
from bullion.records.token import Role, Token

from .decoding import column, instant, instant_if_any
from .engine import Row, Value

DEFAULT_TERMS = ""
"""The symbol code under which a group's default terms are kept."""
_ENVIRONMENTS = {each.value: each for each in Environment}
_EXPONENT_MAX = 15
_Paise = Annotated[int, msgspec.Meta(ge=-RUPEES_PAISE_MAX, le=RUPEES_PAISE_MAX)]


def broker(row: Row, hosts: Iterable[Row]) -> Broker:
    instant(row, "created_at_us")
    return Broker(row["tag"], row["name"], tuple(host["host"] for host in hosts), row["moved_to"])


def account(row: Row, created: str = "created_at_us") -> Account:
    """`created`: the column with the creation time."""
    instant(row, created)
    settings: list[Any] = [bool(row[name]) if is_flag else row[name] for name, is_flag in _ACCOUNT_COLUMNS]
    return Account(
        row["id"],
        intern(row["broker"]),
        row["login_id"],
        row["firm_name"],
        intern(row["group_code"]),
        *settings,
    )


_ACCOUNT_FIELDS = msgspec.structs.fields(Account)
_ACCOUNT_COLUMNS = [(each.name, each.type is bool) for each in _ACCOUNT_FIELDS[5:]]
"""The fields after the group, whose columns have the same names, and whether each is a flag."""
_ACCOUNT_CHANGEABLE = [each.name for each in _ACCOUNT_FIELDS[3:]]


def account_values(account: Account) -> tuple[Value, ...]:
    """The columns that the desk may change, in the order of the fields, in which the queries take them."""
    values = (getattr(account, name) for name in _ACCOUNT_CHANGEABLE)
    return tuple(int(each) if isinstance(each, bool) else each for each in values)


def closed_account(row: Row) -> Account:
    """The stand-in for an account that cannot be read: its keys have an owner, and no access."""
    return Account(
        id=row["id"],
        broker=intern(row["broker"]),
        login_id=row["login_id"],
        firm_name=None,
        group=intern(row["group_code"]),
        active=False,
        api_access=False,
        production_trading=False,
    )


def group(row: Row, terms: Iterable[Row]) -> Group:
    by_symbol = {each["symbol_code"]: _named_terms(each) for each in terms}
    default_terms = by_symbol.pop(DEFAULT_TERMS, None)
    return Group(row["broker"], row["code"], bool(row["trading"]), by_symbol, default_terms)


def _named_terms(row: Row) -> Terms:
    try:
        return _terms(row)
    except ValueError as error:
        symbol_code = row["symbol_code"] or "all other symbols"
        raise ValueError(f"terms for {symbol_code}: {error}") from error


def _terms(row: Row) -> Terms:
    return Terms(
        buy_premium_paise=row["buy_premium_paise"],
        sell_premium_paise=row["sell_premium_paise"],
        minimum_e4=row["minimum_e4"],
        maximum_e4=row["maximum_e4"],
        step_e4=row["step_e4"],
    )


def terms_values(of: Group) -> list[tuple[Value, ...]]:
    named = dict(of.terms)
    if of.default_terms is not None:
        named[DEFAULT_TERMS] = of.default_terms
    return [(of.broker, of.code, symbol_code, *astuple(terms)) for symbol_code, terms in named.items()]


def duty_table(found: Sequence[Row]) -> DutyTable:
    """From all rows of one table, ordered by date."""
    duties = [Duty(column(row, "from_date", date.fromisoformat), row["rupees_paise"]) for row in found]
    return DutyTable(found[0]["broker"], found[0]["name"], tuple(duties))


def key(row: Row, account_id: int, broker_tag: str) -> Key:
    return Key(
        key_id=row["key_id"],
        broker=broker_tag,
        account_id=account_id,
        environment=_ENVIRONMENTS[row["environment"]],
        name=row["name"],
        scopes=column(row, "scopes", _scopes),
        secret_hash=column(row, "secret_hash", bytes.fromhex),
        allowed_addresses=column(row, "allowed_addresses", _networks),
        created_at_us=instant(row, "created_at_us"),
        expires_at_us=instant_if_any(row, "expires_at_us"),
        revoked_at_us=instant_if_any(row, "revoked_at_us"),
        replaced_by=row["replaced_by"],
        overlap_ends_at_us=instant_if_any(row, "overlap_ends_at_us"),
    )


@lru_cache(maxsize=64)
def _scopes(text: str) -> frozenset[Scope]:
    return frozenset(Scope(scope) for scope in text.split())


@lru_cache(maxsize=1024)
def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ip_network(each) for each in text.split())


def key_values(of: Key) -> tuple[Value, ...]:
    return (
        of.key_id,
        of.account_id,
        of.environment.value,
        of.name,
        " ".join(sorted(of.scopes)),
        of.secret_hash.hex(),
        " ".join(str(network) for network in of.allowed_addresses),
        of.created_at_us,
        of.expires_at_us,
    )


def switches(row: Row) -> Switches:
    hours = None if row["trading_hours"] is None else column(row, "trading_hours", _trading_hours)
    return _switches(row, hours)


def closed_switches(row: Row) -> Switches:
    """The stand-in for switches whose trading hours cannot be read. The rate limits stay."""
    return _switches(row, None).closed()


def _switches(row: Row, trading_hours: TradingHours | None) -> Switches:
    return Switches(
        broker=row["broker"],
        production=bool(row["production"]),
        paused=bool(row["paused"]),
        halted=bool(row["halted"]),
        price_tolerance_percent_e4=row["price_tolerance_percent_e4"],
        trading_hours=trading_hours,
        budgets=BudgetLimits(
            reads_per_minute=row["reads_per_minute"],
            orders_per_minute=row["orders_per_minute"],
            orders_per_10_seconds=row["orders_per_10_seconds"],
            account_orders_per_minute=row["account_orders_per_minute"],
            failed_auth_per_minute=row["failed_auth_per_minute"],
        ),
        price_move_percent_max_e4=row["price_move_percent_max_e4"],
        refuse_crossed=bool(row["refuse_crossed"]),
        public_rates=_public_rates(row),
        quote_stream_interval_ms=row["quote_stream_interval_ms"],
    )


def _public_rates(row: Row) -> PublicRates | None:
    group, title = row["public_rates_group"], row["public_rates_title"]
    return None if group is None or title is None else PublicRates(group, title)


def switches_values(of: Switches) -> tuple[Value, ...]:
    return (
        of.broker,
        int(of.production),
        int(of.paused),
        int(of.halted),
        of.price_tolerance_percent_e4,
        None if of.trading_hours is None else _trading_hours_text(of.trading_hours),
        *astuple(of.budgets),
        of.price_move_percent_max_e4,
        int(of.refuse_crossed),
        *((None, None) if of.public_rates is None else astuple(of.public_rates)),
        of.quote_stream_interval_ms,
    )


def symbol(row: Row) -> Symbol:
    offered = {Side.BUY: row["buy_offered"], Side.SELL: row["sell_offered"]}
    return Symbol(
        broker=row["broker"],
        code=row["code"],
        metal=Metal(row["metal"]),
        quoted_weight_e4=row["quoted_weight_e4"],
        trading=bool(row["trading"]),
        sides=frozenset(side for side, yes in offered.items() if yes),
        frozen=bool(row["frozen"]),
        size=SizeRule(row["minimum_e4"], row["maximum_e4"], row["step_e4"]),
        rate_age_s_max=row["rate_age_s_max"],
        freeze_after_s=row["freeze_after_s"],
        pricing=column(row, "pricing", _pricing),
        stock_kept=bool(row["stock_kept"]),
        fineness_e4=row["fineness_e4"],
        in_book=bool(row["in_book"]),
    )


def symbol_values(of: Symbol) -> tuple[Value, ...]:
    return (
        of.broker,
        of.code,
        of.metal.value,
        of.quoted_weight_e4,
        int(of.trading),
        int(Side.BUY in of.sides),
        int(Side.SELL in of.sides),
        int(of.frozen),
        of.size.minimum_e4,
        of.size.maximum_e4,
        of.size.step_e4,
        of.rate_age_s_max,
        of.freeze_after_s,
        _pricing_text(of.pricing),
        of.fineness_e4,
    )


class _StoredDirect(msgspec.Struct, array_like=True, forbid_unknown_fields=True, tag="direct"):
    instrument: str


class _StoredFixed(msgspec.Struct, array_like=True, forbid_unknown_fields=True, tag="fixed"):
    buy_paise: _Paise | None
    sell_paise: _Paise | None


class _StoredLanded(msgspec.Struct, array_like=True, forbid_unknown_fields=True, tag="landed"):
    spot: str
    currency: str
    premium_usd: str
    interbank: str
    conversion: str
    duty: str
    margin_paise: _Paise


_read_pricing = msgspec.json.Decoder(_StoredDirect | _StoredFixed | _StoredLanded).decode


def _pricing(text: str) -> Pricing:
    stored: _StoredDirect | _StoredFixed | _StoredLanded = _read_pricing(text)
    match stored:
        case _StoredDirect() as direct:
            return Direct(direct.instrument)
        case _StoredFixed() as fixed:
            return Fixed(fixed.buy_paise, fixed.sell_paise)
        case _StoredLanded() as landed:
            if _factor(landed.conversion) <= 0:
                raise ValueError("conversion must be above 0")
            return Landed(
                landed.spot,
                landed.currency,
                _factor(landed.premium_usd),
                _factor(landed.interbank),
                _factor(landed.conversion),
                landed.duty,
                landed.margin_paise,
            )


def _factor(text: str) -> Decimal:
    """Checked as strictly as the desk's input: other numbers could fail while an order is priced."""
    value = Decimal(text)
    # Checked before it is formatted: a huge exponent would fill the memory.
    if not value.is_finite() or abs(value.adjusted()) > _EXPONENT_MAX:
        raise ValueError(f"{text[:40]!r} is not a number that a formula can have")
    scaled(f"{value:f}", FACTOR_PLACES)
    return value


def _pricing_text(of: Pricing) -> str:
    kind = type(of).__name__.lower()
    return _json([kind, *(str(value) if isinstance(value, Decimal) else value for value in astuple(of))])


class _StoredHours(msgspec.Struct, forbid_unknown_fields=True):
    zone: str
    week: list[list[tuple[str, str | None]]]
    holidays: list[str]


_read_hours = msgspec.json.Decoder(_StoredHours).decode


def _trading_hours(text: str) -> TradingHours:
    stored = _read_hours(text)
    return TradingHours(
        zone=ZoneInfo(stored.zone),
        week=tuple(tuple(_opening(*pair) for pair in day) for day in stored.week),
        holidays=frozenset(date.fromisoformat(day) for day in stored.holidays),
    )


def _opening(start: str, end: str | None) -> Opening:
    return Opening(_clock(start), None if end is None else _clock(end))


def _clock(text: str) -> time:
    clock = time.fromisoformat(text)
    if clock.tzinfo is not None:
        raise ValueError(f"{text!r} has a time zone of its own")
    return clock


def _trading_hours_text(of: TradingHours) -> str:
    return _json(
        {
            "zone": of.zone.key,
            "week": [
                [[each.start.isoformat(), each.end and each.end.isoformat()] for each in day]
                for day in of.week
            ],
            "holidays": sorted(day.isoformat() for day in of.holidays),
        }
    )


def tick(row: Row) -> Tick:
    at_us, moved_at_us = instant(row, "at_us"), instant(row, "moved_at_us")
    pinned_us = None if row["pinned_until_us"] is None else instant(row, "pinned_until_us")
    return Tick(row["instrument"], row["bid_e6"], row["ask_e6"], at_us, moved_at_us, pinned_us)


def behaviour(row: Row) -> VenueBehaviour:
    if row["delay_ms"] > DELAY_MS_MAX:
        raise ValueError(f"delay_ms: {row['delay_ms']} is more than {DELAY_MS_MAX}")
    return VenueBehaviour(
        row["broker"],
        Mode(row["mode"]),
        row["delay_ms"],
        column(row, "instruments", _read_instruments),
        row["fill_percent"],
        bool(row["unasked"]),
    )


_read_instruments = msgspec.json.Decoder(dict[str, Tradeability]).decode


def token(row: Row) -> Token:
    return Token(
        token_id=row["token_id"],
        broker=row["broker"],
        name=row["name"],
        role=Role(row["role"]),
        secret_hash=column(row, "secret_hash", bytes.fromhex),
        created_at_us=instant(row, "created_at_us"),
        deleted_at_us=instant_if_any(row, "deleted_at_us"),
    )


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
