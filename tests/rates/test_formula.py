"""The three formulas: exact to the last digit, and honest about what they cannot price."""

from dataclasses import replace
from datetime import date
from decimal import Decimal, localcontext
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.metals.metal import Metal
from bullion.metals.pricing import Direct, Fixed, Landed, Pricing
from bullion.metals.symbol import Side, SizeRule, Symbol
from bullion.rates.duty import Duty, DutyTable
from bullion.rates.formula import SymbolPrice, symbol_price
from bullion.rates.tick import Tick
from bullion.refusals.catalogue import NO_LIVE_PRICE, UNPRICED
from bullion.refusals.refusal import RefusalCode

LANDED = Landed(
    spot="XAUUSD",
    currency="USDINR",
    premium_usd=Decimal("1.5"),
    interbank=Decimal("0.02"),
    conversion=Decimal("0.3215"),
    duty="gold",
    margin_paise=2_500,
)
GOLD = Tick("GOLD", 150_000_000_000, 150_010_500_001, 5, 5)
XAUUSD = Tick("XAUUSD", 4_800_000_000, 4_800_500_000, 7, 7)
USDINR = Tick("USDINR", 92_000_000, 92_010_000, 8, 8)
FIRST, SECOND = Duty(date(2026, 5, 13), 850_000), Duty(date(2026, 6, 1), 900_000)
TABLE = DutyTable("main", "gold", (FIRST, SECOND))
AT_US = FIRST.from_us


def symbol(pricing: Pricing, *sides: Side) -> Symbol:
    return Symbol(
        broker="main",
        code="GOLD",
        metal=Metal.GOLD,
        quoted_weight_e4=100_000,
        trading=True,
        sides=frozenset(sides or Side),
        frozen=False,
        size=SizeRule(1, 2, 1),
        rate_age_s_max=30,
        freeze_after_s=300,
        pricing=pricing,
    )


def asked(
    of: Symbol, *ticks: Tick, duty: DutyTable | None = TABLE, at_us: int = AT_US
) -> SymbolPrice | RefusalCode:
    by_name = {tick.instrument: tick for tick in ticks}
    tables = {} if duty is None else {duty.name: duty}
    return symbol_price(of, by_name.get, tables.get, at_us)


def priced(of: Symbol, *ticks: Tick, duty: DutyTable | None = TABLE, at_us: int = AT_US) -> SymbolPrice:
    price = asked(of, *ticks, duty=duty, at_us=at_us)
    assert isinstance(price, SymbolPrice)
    return price


# --- Direct ---------------------------------------------------------------------------------------


def test_direct_is_the_instrument_as_it_comes() -> None:
    price = priced(symbol(Direct("GOLD")), GOLD)
    assert (price.bid, price.ask) == (Decimal(150000), Decimal("150010.500001"))
    assert price.ticks == (GOLD,)
    assert (price.duty, price.valid_until_us) == (None, None)
    assert price.on(Side.BUY) == price.ask
    assert price.on(Side.SELL) == price.bid


def test_direct_without_its_tick_has_no_live_price() -> None:
    assert asked(symbol(Direct("GOLD")), XAUUSD) is NO_LIVE_PRICE


@pytest.mark.parametrize("nothing_e6", [0, -1])
def test_a_side_that_is_offered_needs_a_price_above_0(nothing_e6: int) -> None:
    tick = Tick("GOLD", nothing_e6, 1, 5, 5)
    assert asked(symbol(Direct("GOLD")), tick) is UNPRICED
    assert asked(symbol(Direct("GOLD"), Side.SELL), tick) is UNPRICED
    price = priced(symbol(Direct("GOLD"), Side.BUY), tick)
    assert (price.bid, price.ask) == (None, Decimal("0.000001"))


# --- Fixed ----------------------------------------------------------------------------------------


def test_fixed_needs_no_tick() -> None:
    price = priced(symbol(Fixed(buy_paise=15_000_050, sell_paise=14_900_000)), duty=None)
    assert (price.bid, price.ask) == (Decimal(149000), Decimal("150000.50"))
    assert (price.ticks, price.duty, price.valid_until_us) == ((), None, None)


def test_a_fixed_side_without_a_price_stays_without() -> None:
    assert priced(symbol(Fixed(buy_paise=1, sell_paise=None))).bid is None
    assert priced(symbol(Fixed(buy_paise=None, sell_paise=1))).ask is None


# --- Landed ---------------------------------------------------------------------------------------


def test_landed_takes_asks_for_buyers_and_bids_for_sellers() -> None:
    price = priced(symbol(LANDED), XAUUSD, USDINR)
    assert price.ask == Decimal("4802.0") * Decimal("92.03") * Decimal("0.3215") + 8500 + 25
    assert price.bid == Decimal("4801.5") * Decimal("92.02") * Decimal("0.3215") + 8500 + 25
    assert price.ticks == (XAUUSD, USDINR)
    assert price.duty is FIRST


def test_a_landed_price_holds_until_the_next_duty() -> None:
    last_moment = priced(symbol(LANDED), XAUUSD, USDINR, at_us=SECOND.from_us - 1)
    assert (last_moment.duty, last_moment.valid_until_us) == (FIRST, SECOND.from_us)
    after = priced(symbol(LANDED), XAUUSD, USDINR, at_us=SECOND.from_us)
    assert (after.duty, after.valid_until_us) == (SECOND, None)
    assert after.ask is not None
    assert last_moment.ask is not None
    assert after.ask - last_moment.ask == 500


def test_landed_without_its_spot_has_no_live_price_whatever_else_is_missing() -> None:
    assert asked(symbol(LANDED), USDINR) is NO_LIVE_PRICE
    assert asked(symbol(LANDED), duty=None) is NO_LIVE_PRICE


def test_landed_without_currency_or_duty_is_unpriced() -> None:
    assert asked(symbol(LANDED), XAUUSD) is UNPRICED
    assert asked(symbol(LANDED), XAUUSD, USDINR, duty=None) is UNPRICED
    assert asked(symbol(LANDED), XAUUSD, USDINR, duty=replace(TABLE, name="silver")) is UNPRICED
    assert asked(symbol(LANDED), XAUUSD, USDINR, at_us=FIRST.from_us - 1) is UNPRICED


def test_a_result_of_0_is_unpriced_and_a_hundredth_more_is_a_price() -> None:
    ones = [Tick("XAUUSD", 10**6, 10**6, 1, 1), Tick("USDINR", 10**6, 10**6, 1, 1)]
    plain = replace(LANDED, premium_usd=Decimal(0), interbank=Decimal(0), conversion=Decimal(1))
    # 1 × 1 × 1 + 8500 of duty, and the margin that is left of it.
    assert asked(symbol(replace(plain, margin_paise=-850_100)), *ones) is UNPRICED
    assert priced(symbol(replace(plain, margin_paise=-850_099)), *ones).ask == Decimal("0.01")


@pytest.mark.parametrize(
    ("premium_usd", "interbank"),
    [("-5000", "-100"), ("-5000", "0"), ("0", "-100"), ("-4800.5", "0"), ("0", "-92.01")],
)
def test_a_factor_not_above_0_is_no_price_even_if_the_result_were(premium_usd: str, interbank: str) -> None:
    broken = replace(LANDED, premium_usd=Decimal(premium_usd), interbank=Decimal(interbank))
    assert asked(symbol(broken, Side.BUY), XAUUSD, USDINR) is UNPRICED


def test_only_the_side_that_is_offered_has_to_have_a_price() -> None:
    no_bid = msgspec.structs.replace(XAUUSD, bid_e6=-2_000_000)
    assert asked(symbol(LANDED), no_bid, USDINR) is UNPRICED
    price = priced(symbol(LANDED, Side.BUY), no_bid, USDINR)
    assert price.bid is None
    assert price.ask is not None


# --- Exactness ------------------------------------------------------------------------------------

FACTOR = st.decimals(min_value=0, max_value=10**15 - 1, places=10, allow_nan=False)
E6 = st.integers(1, 2**63 - 1)
PAISE = st.integers(0, 10**14)


@given(FACTOR, FACTOR, FACTOR, PAISE, PAISE, E6, E6, E6, E6)
def test_landed_is_exact_whatever_the_callers_context(
    premium_usd: Decimal,
    interbank: Decimal,
    conversion: Decimal,
    margin_paise: int,
    duty_paise: int,
    spot_bid_e6: int,
    spot_ask_e6: int,
    currency_bid_e6: int,
    currency_ask_e6: int,
) -> None:
    pricing = Landed("S", "C", premium_usd, interbank, conversion, "gold", margin_paise + 1)
    table = DutyTable("main", "gold", (Duty(FIRST.from_date, duty_paise),))
    with localcontext(prec=2):
        price = priced(
            symbol(pricing),
            Tick("S", spot_bid_e6, spot_ask_e6, 1, 1),
            Tick("C", currency_bid_e6, currency_ask_e6, 1, 1),
            duty=table,
        )

    def exact(spot_e6: int, currency_e6: int) -> Fraction:
        dollars = Fraction(spot_e6, 10**6) + Fraction(premium_usd)
        rupees = Fraction(currency_e6, 10**6) + Fraction(interbank)
        return dollars * rupees * Fraction(conversion) + Fraction(duty_paise + margin_paise + 1, 100)

    assert price.bid is not None
    assert price.ask is not None
    assert Fraction(price.bid) == exact(spot_bid_e6, currency_bid_e6)
    assert Fraction(price.ask) == exact(spot_ask_e6, currency_ask_e6)


def test_the_widest_numbers_that_can_be_typed_are_not_too_wide() -> None:
    factor = Decimal("999999999999999.9999999999")
    pricing = Landed("S", "C", factor, factor, factor, "gold", 1)
    most_e6 = 2**63 - 1
    price = priced(symbol(pricing), Tick("S", 1, most_e6, 1, 1), Tick("C", 1, most_e6, 1, 1))
    both = Fraction(most_e6, 10**6) + Fraction(factor)
    assert price.ask is not None
    assert Fraction(price.ask) == both * both * Fraction(factor) + 8500 + Fraction(1, 100)


@given(E6, E6)
def test_direct_is_exact_whatever_the_callers_context(bid_e6: int, ask_e6: int) -> None:
    with localcontext(prec=2):
        price = priced(symbol(Direct("GOLD")), Tick("GOLD", bid_e6, ask_e6, 1, 1))
    assert price.bid is not None
    assert price.ask is not None
    assert (Fraction(price.bid), Fraction(price.ask)) == (Fraction(bid_e6, 10**6), Fraction(ask_e6, 10**6))


# --- The anatomy ----------------------------------------------------------------------------------


def test_the_parts_of_a_landed_price() -> None:
    price = priced(symbol(LANDED), XAUUSD, USDINR)
    assert price.components(Side.BUY) == [
        ("spot", "4800.5"),
        ("premium_usd", "1.5"),
        ("currency", "92.01"),
        ("interbank", "0.02"),
        ("conversion", "0.3215"),
        ("metal", "142079.87129"),
        ("duty", "8500.00"),
        ("margin", "25.00"),
        ("symbol_price", "150604.87129"),
    ]
    assert price.components(Side.SELL)[0] == ("spot", "4800")
    assert price.components(Side.SELL)[2] == ("currency", "92")


def test_the_parts_of_a_direct_and_of_a_fixed_price() -> None:
    direct = priced(symbol(Direct("GOLD")), GOLD)
    assert direct.components(Side.BUY) == [
        ("instrument", "GOLD"),
        ("ask", "150010.500001"),
        ("symbol_price", "150010.500001"),
    ]
    assert direct.components(Side.SELL) == [
        ("instrument", "GOLD"),
        ("bid", "150000.00"),
        ("symbol_price", "150000.00"),
    ]
    fixed = priced(symbol(Fixed(buy_paise=15_000_050, sell_paise=None)))
    assert fixed.components(Side.BUY) == [("fixed", "150000.50"), ("symbol_price", "150000.50")]
    assert fixed.components(Side.SELL) == []


def test_parts_are_written_plainly() -> None:
    odd = replace(
        LANDED, premium_usd=Decimal("-0.00"), interbank=Decimal("0E-10"), conversion=Decimal("1E-10")
    )
    parts = dict(priced(symbol(odd), XAUUSD, USDINR).components(Side.BUY))
    assert (parts["premium_usd"], parts["interbank"], parts["conversion"]) == ("0", "0", "0.0000000001")
    wide = replace(LANDED, conversion=Decimal("1E+3"), margin_paise=-5)
    parts = dict(priced(symbol(wide), XAUUSD, USDINR).components(Side.BUY))
    assert (parts["conversion"], parts["margin"]) == ("1000", "-0.05")


@given(FACTOR, E6, E6, PAISE)
def test_the_parts_add_up_to_the_price(
    conversion: Decimal, spot_e6: int, currency_e6: int, margin_paise: int
) -> None:
    pricing = replace(LANDED, conversion=conversion, margin_paise=margin_paise)
    ticks = Tick("XAUUSD", spot_e6, spot_e6, 1, 1), Tick("USDINR", currency_e6, currency_e6, 1, 1)
    with localcontext(prec=2):
        price = priced(symbol(pricing), *ticks)
        parts = {name: Fraction(text) for name, text in price.components(Side.BUY)}
    assert parts["metal"] == (parts["spot"] + parts["premium_usd"]) * (
        parts["currency"] + parts["interbank"]
    ) * Fraction(conversion)
    assert parts["symbol_price"] == parts["metal"] + parts["duty"] + parts["margin"]
    assert price.ask is not None
    assert parts["symbol_price"] == Fraction(price.ask)
