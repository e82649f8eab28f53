"""Table rows to domain values and back: the one place that knows both."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from datetime import date, time
from decimal import Decimal
from functools import lru_cache
from ipaddress import ip_network
from sys import intern
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group, Terms
from bullion.accounts.switches import BudgetLimits, Switches
from bullion.accounts.trading_hours import Opening, TradingHours
from bullion.environment import Environment
from bullion.keys.key import Key, Network, Scope
from bullion.metals.metal import Metal
from bullion.metals.pricing import Direct, Fixed, Landed, Pricing
from bullion.metals.symbol import Side, SizeRule, Symbol
from bullion.rates.duty import Duty, DutyTable

from .engine import Row, Value

DEFAULT_TERMS = ""
"""The symbol code under which a group's default terms are kept."""
_ENVIRONMENTS = {each.value: each for each in Environment}


def broker(row: Row, hosts: Iterable[Row]) -> Broker:
    return Broker(row["tag"], row["name"], tuple(host["host"] for host in hosts))


def account(row: Row) -> Account:
    return Account(
        id=row["id"],
        broker=intern(row["broker"]),
        login_id=row["login_id"],
        firm_name=row["firm_name"],
        group=intern(row["group_code"]),
        active=bool(row["active"]),
        api_access=bool(row["api_access"]),
        production_trading=bool(row["production_trading"]),
        scenarios=bool(row["scenarios"]),
    )


def group(row: Row, terms: Iterable[Row]) -> Group:
    by_symbol = {each["symbol_code"]: _terms(each) for each in terms}
    default_terms = by_symbol.pop(DEFAULT_TERMS, None)
    return Group(row["broker"], row["code"], bool(row["trading"]), by_symbol, default_terms)


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
    """Of all rows that have the same name, in the order of their dates."""
    duties = [Duty(date.fromisoformat(row["from_date"]), row["rupees_paise"]) for row in found]
    return DutyTable(found[0]["broker"], found[0]["name"], tuple(duties))


def key(row: Row) -> Key:
    return _key(row, row["account_id"], intern(row["broker"]))


def key_of(owner: Account, row: Row) -> Key:
    """It shares its owner's values: very many of both may be in memory."""
    return _key(row, owner.id, owner.broker)


def _key(row: Row, account_id: int, broker_tag: str) -> Key:
    return Key(
        key_id=row["key_id"],
        broker=broker_tag,
        account_id=account_id,
        environment=_ENVIRONMENTS[row["environment"]],
        name=row["name"],
        scopes=_scopes(row["scopes"]),
        secret_hash=bytes.fromhex(row["secret_hash"]),
        allowed_addresses=_networks(row["allowed_addresses"]),
        created_at_us=row["created_at_us"],
        expires_at_us=row["expires_at_us"],
        revoked_at_us=row["revoked_at_us"],
        replaced_by=row["replaced_by"],
        overlap_ends_at_us=row["overlap_ends_at_us"],
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
    return Switches(
        broker=row["broker"],
        production=bool(row["production"]),
        paused=bool(row["paused"]),
        halted=bool(row["halted"]),
        price_tolerance_percent_e4=row["price_tolerance_percent_e4"],
        trading_hours=None if row["trading_hours"] is None else _trading_hours(row["trading_hours"]),
        budgets=BudgetLimits(
            reads_per_minute=row["reads_per_minute"],
            orders_per_minute=row["orders_per_minute"],
            orders_per_10_seconds=row["orders_per_10_seconds"],
            account_orders_per_minute=row["account_orders_per_minute"],
            failed_auth_per_minute=row["failed_auth_per_minute"],
        ),
    )


def switches_values(of: Switches) -> tuple[Value, ...]:
    return (
        of.broker,
        int(of.production),
        int(of.paused),
        int(of.halted),
        of.price_tolerance_percent_e4,
        None if of.trading_hours is None else _trading_hours_text(of.trading_hours),
        *astuple(of.budgets),
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
        pricing=_pricing(row["pricing"]),
        stock_kept=bool(row["stock_kept"]),
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
    )


def _pricing(text: str) -> Pricing:
    kind, *values = msgspec.json.decode(text)
    match kind:
        case "direct":
            return Direct(*values)
        case "fixed":
            return Fixed(*values)
        case "landed":
            spot, currency, premium_usd, interbank, conversion, duty, margin_paise = values
            return Landed(
                spot,
                currency,
                Decimal(premium_usd),
                Decimal(interbank),
                Decimal(conversion),
                duty,
                margin_paise,
            )
    raise ValueError(f"unknown kind of pricing in the store: {kind}")


def _pricing_text(of: Pricing) -> str:
    kind = type(of).__name__.lower()
    return _json([kind, *(str(value) if isinstance(value, Decimal) else value for value in astuple(of))])


def _trading_hours(text: str) -> TradingHours:
    stored = msgspec.json.decode(text)
    return TradingHours(
        zone=ZoneInfo(stored["zone"]),
        week=tuple(tuple(_opening(pair) for pair in day) for day in stored["week"]),
        holidays=frozenset(date.fromisoformat(day) for day in stored["holidays"]),
    )


def _opening(pair: Sequence[str | None]) -> Opening:
    start, end = pair
    if start is None:
        raise ValueError("an opening in the store has no start")
    return Opening(time.fromisoformat(start), None if end is None else time.fromisoformat(end))


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


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
