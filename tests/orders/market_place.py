"""A small market for the tests of the checks: one of everything, all of it in order."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group, Terms
from bullion.accounts.switches import Switches
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.source import Changes, Entry
from bullion.metals.metal import Metal
from bullion.metals.pricing import Direct, Landed
from bullion.metals.symbol import Side, SizeRule, Symbol
from bullion.orders.request import PlaceOrder
from bullion.rates.tick import Tick

S = 1_000_000
NOW_US = int(datetime(2026, 6, 10, 6, 0, tzinfo=UTC).timestamp()) * S
"""A Wednesday, half past eleven in India."""

SYMBOL = Symbol(
    broker="main",
    code="GOLD",
    metal=Metal.GOLD,
    quoted_weight_e4=100_000,
    trading=True,
    sides=frozenset(Side),
    frozen=False,
    size=SizeRule(10_000, 10_000_000, 5_000),
    rate_age_s_max=30,
    freeze_after_s=300,
    pricing=Direct("GOLD"),
)
LANDED = Landed("XAUUSD", "USDINR", Decimal("1.5"), Decimal("0.02"), Decimal("0.3215"), "gold", 2_500)
TERMS = Terms(10_000, -5_000, 20_000, 5_000_000, 10_000)
GROUP = Group("main", "retail", trading=True, terms={"GOLD": TERMS}, default_terms=None)
SWITCHES = Switches("main", price_tolerance_percent_e4=2_500)
ACCOUNT = Account(1, "main", "aurum", None, "retail", active=True, api_access=True, production_trading=False)
TICK = Tick("GOLD", 70_000_000_000, 70_010_000_000, NOW_US - S, NOW_US - 2 * S)


def asked(**fields: Any) -> PlaceOrder:
    given: dict[str, Any] = {
        "symbol_code": "GOLD",
        "trade_type": "buy",
        "quantity_e4": 100_000,
        "expected_price": None,
        "client_order_id": None,
    }
    return PlaceOrder(**{**given, **fields})


class Clock:
    def __init__(self) -> None:
        self.now_us = NOW_US

    def monotonic_ns(self) -> int:
        return self.now_us * 1000


class Memory(Catalogue):
    """A catalogue by hand: each `put` is one more version."""

    def __init__(self) -> None:
        self.clock = Clock()
        super().__init__(self.clock.monotonic_ns)
        self.put(Broker("main", "Main"), SYMBOL, GROUP, SWITCHES, ACCOUNT)

    def put(self, *entries: Entry) -> None:
        self.apply(Changes((self.version or 0) + 1, self.clock.now_us, entries), self.clock.monotonic_ns())

    def change(self, entry: Any, **fields: Any) -> None:
        self.put(replace(entry, **fields))
