"""Rows as they are read: what the desk wrote is read as it was, and nothing else passes for it."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from bullion.metals.metal import Metal
from bullion.metals.pricing import Direct, Fixed, Landed, Pricing
from bullion.metals.symbol import Side, SizeRule, Symbol
from bullion.store import row_decoders, rows
from bullion.unreadable import Unreadable

LANDED = Landed("XAU", "USDINR", Decimal(0), Decimal("-0.25"), Decimal("0.0000000001"), "gold", -5)
SYMBOL = Symbol(
    broker="main",
    code="GOLD",
    metal=Metal.GOLD,
    quoted_weight_e4=100_000,
    trading=True,
    sides=frozenset(Side),
    frozen=False,
    size=SizeRule(1, 1000, 1),
    rate_age_s_max=None,
    freeze_after_s=None,
    pricing=LANDED,
)
NAMES = (
    *("broker", "code", "metal", "quoted_weight_e4", "trading", "buy_offered", "sell_offered", "frozen"),
    *("minimum_e4", "maximum_e4", "step_e4", "rate_age_s_max", "freeze_after_s", "pricing", "fineness_e4"),
)


def row_of(symbol: Symbol) -> dict[str, Any]:
    return {**dict(zip(NAMES, rows.symbol_values(symbol), strict=True)), "stock_kept": 0, "in_book": 0}


@pytest.mark.parametrize(
    "pricing",
    [
        LANDED,
        replace(LANDED, conversion=Decimal("999999999999999.9999999999"), premium_usd=Decimal("-1E-10")),
        Direct("GOLD"),
        Fixed(1, None),
        Fixed(None, 10**14),
    ],
)
def test_a_pricing_is_read_as_it_was_written(pricing: Pricing) -> None:
    symbol = replace(SYMBOL, pricing=pricing)
    assert row_decoders.symbol(row_of(symbol)) == symbol


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '"direct"',
        '["direct"]',
        '["direct", null]',
        '["direct", "A", "B"]',
        '["fixed", null, null]',
        '["fixed", "1", null]',
        '["fixed", true, null]',
        '["fixed", 1.5, null]',
        f'["fixed", {10**400}, null]',
        *(
            f'["landed", "A", "B", "{factor}", "0", "1", "d", 0]'
            for factor in ("NaN", "Infinity", "1E+999999999", "1E-11", "", "x")
        ),
        '["landed", "A", "B", "0", "0", "0", "d", 0]',
        '["landed", "A", "B", "0", "0", "-1", "d", 0]',
        '["landed", "A", "B", 0, 0, 1, "d", 0]',
        '["landed", "A", "B", "0", "0", "1", "d"]',
    ],
)
def test_no_other_pricing_passes(text: str) -> None:
    found = row_decoders.symbol({**row_of(SYMBOL), "pricing": text})
    assert isinstance(found, Unreadable)
    assert (found.kind, found.broker, found.subject) == ("symbol", "main", "GOLD")
    assert found.reason.startswith("pricing: ")
    assert len(found.reason) <= 200
