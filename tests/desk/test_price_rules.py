"""The rules of the price guard as pure functions, at their edges."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from bullion.accounts.group import Group, Terms
from bullion.accounts.switches import Switches
from bullion.desk.price_confirmation import ROWS_MAX, fingerprint, preview, sentence
from bullion.desk.price_guard import Deal, account_prices, far_closing_price, moved_prices
from bullion.desk.price_snapshot import PriceSnapshot
from bullion.metals.metal import Metal
from bullion.metals.pricing import Direct, Fixed, Landed
from bullion.metals.symbol import Side, SizeRule, Symbol
from bullion.rates.duty import Duty, DutyTable
from bullion.rates.tick import Tick
from bullion.records.market import BoardTick

NOW_US = Duty(date(2026, 6, 10), 0).from_us + 1
SYMBOL = Symbol(
    broker="main",
    code="GOLD",
    metal=Metal.GOLD,
    quoted_weight_e4=100_000,
    trading=True,
    sides=frozenset(Side),
    frozen=False,
    size=SizeRule(10_000, 10_000_000, 10_000),
    rate_age_s_max=30,
    freeze_after_s=300,
    pricing=Fixed(100_00, 99_00),
)


def rate(bid: str, ask: str) -> BoardTick:
    bid_e6, ask_e6 = (int(Decimal(each) * 10**6) for each in (bid, ask))
    return BoardTick(Tick("METAL", bid_e6, ask_e6, NOW_US, NOW_US), own=True)


def snapshot(
    symbol: Symbol | None = SYMBOL,
    terms: Terms | None = Terms(0, 0),  # noqa: B008 - frozen
    *,
    duties: tuple[Duty, ...] = (),
    tick: BoardTick | None = None,
    **switches: int,
) -> PriceSnapshot:
    return PriceSnapshot(
        symbols={} if symbol is None else {symbol.code: symbol},
        groups={"retail": Group("main", "retail", trading=True, terms={}, default_terms=terms)},
        ticks={} if tick is None else {"METAL": tick},
        duties={"customs": DutyTable("main", "customs", duties)} if duties else {},
        switches=Switches("main", **switches),  # type: ignore[arg-type]
        now_us=NOW_US,
    )


def problems(before: PriceSnapshot, after: PriceSnapshot) -> dict[str, set[str]]:
    return {str(row.side): {each.value for each in row.problems} for row in moved_prices(before, after)}


def fixed(buy: int | None, sell: int | None) -> Symbol:
    return replace(SYMBOL, pricing=Fixed(buy, sell))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # Nothing that clients pay changes.
        (snapshot(), snapshot(), {}),
        (snapshot(), snapshot(replace(SYMBOL, frozen=True)), {}),
        (snapshot(), snapshot(terms=Terms(0, 0, minimum_e4=20_000)), {}),
        # A move: at exactly the limit of 3 percent it is none.
        (snapshot(), snapshot(fixed(103_00, 99_00)), {"buy": set()}),
        (snapshot(), snapshot(fixed(103_01, 99_00)), {"buy": {"move"}}),
        (snapshot(), snapshot(fixed(100_00, 96_03)), {"sell": set()}),
        (snapshot(), snapshot(fixed(100_00, 96_02)), {"sell": {"move"}}),
        (snapshot(price_move_percent_max_e4=100_000), snapshot(fixed(110_00, 99_00)), {"buy": set()}),
        # Losing: a paisa on the wrong side of the symbol's own price, unless it was so before.
        (snapshot(), snapshot(terms=Terms(-1, 0)), {"buy": {"losing"}}),
        (snapshot(), snapshot(terms=Terms(0, 1)), {"sell": {"losing"}}),
        (snapshot(), snapshot(terms=Terms(1, -1)), {"buy": set(), "sell": set()}),
        (snapshot(terms=Terms(-5, 0)), snapshot(terms=Terms(-4, 0)), {"buy": set()}),
        (snapshot(terms=Terms(-5, 0)), snapshot(terms=Terms(-6, 0)), {"buy": {"losing"}}),
        # Crossed: not at the same price, and not where a cross becomes smaller.
        (snapshot(), snapshot(fixed(100_00, 100_00)), {"sell": set()}),
        (snapshot(), snapshot(fixed(100_00, 100_01)), {"sell": {"crossed"}}),
        (snapshot(fixed(100_00, 101_00)), snapshot(fixed(100_00, 100_50)), {"sell": set()}),
        (snapshot(fixed(100_00, 101_00)), snapshot(fixed(100_00, 101_01)), {"sell": {"crossed"}}),
        # A side that is new has no price before, and may still cross or lose.
        (snapshot(fixed(100_00, None)), snapshot(fixed(100_00, 200_00)), {"sell": {"crossed"}}),
        (snapshot(terms=Terms(0, None)), snapshot(terms=Terms(0, -9_000)), {"sell": set()}),
        (snapshot(terms=None), snapshot(terms=Terms(-1, 0)), {"buy": {"losing"}, "sell": set()}),
        (snapshot(None), snapshot(fixed(100_00, 100_01)), {"buy": {"crossed"}, "sell": {"crossed"}}),
        # A side that is left out needs no word.
        (snapshot(), snapshot(terms=Terms(0, None)), {"sell": set()}),
        # A weight of a tenth at a tenth of the price is the same price; at the same price it is ten times it.
        (snapshot(), snapshot(replace(fixed(10_00, 9_90), quoted_weight_e4=10_000)), {}),
        (snapshot(), snapshot(replace(SYMBOL, quoted_weight_e4=10_000)), {"buy": {"move"}, "sell": {"move"}}),
        # A tolerance above the limit, unless it is lowered.
        (snapshot(), snapshot(price_tolerance_percent_e4=30_000), {}),
        (snapshot(), snapshot(price_tolerance_percent_e4=30_001), {"None": {"tolerance"}}),
        (snapshot(price_tolerance_percent_e4=50_000), snapshot(price_tolerance_percent_e4=40_000), {}),
        (snapshot(None), snapshot(None, price_tolerance_percent_e4=500_000), {"None": {"tolerance"}}),
        # The limit itself: raised it asks, lowered it does not.
        (snapshot(), snapshot(price_move_percent_max_e4=30_001), {"None": {"limit"}}),
        (snapshot(), snapshot(price_move_percent_max_e4=29_999), {}),
        (snapshot(None), snapshot(None, price_move_percent_max_e4=500_000), {"None": {"limit"}}),
        # Orders at crossed prices that would no longer be refused.
        (snapshot(), snapshot(refuse_crossed=False), {"None": {"unprotected"}}),
        (snapshot(refuse_crossed=False), snapshot(refuse_crossed=False), {}),
        (snapshot(refuse_crossed=False), snapshot(), {}),
        # Rates that no symbol uses: one that jumps, and one with a gap.
        (snapshot(tick=rate("100", "101")), snapshot(tick=rate("103", "104")), {}),
        (snapshot(tick=rate("100", "101")), snapshot(tick=rate("97", "98")), {}),
        (
            snapshot(tick=rate("100", "101")),
            snapshot(tick=rate("1000", "1010")),
            {"buy": {"move"}, "sell": {"move"}},
        ),
        (snapshot(), snapshot(tick=rate("100", "103")), {}),
        (snapshot(), snapshot(tick=rate("100", "1003")), {"buy": {"wide"}}),
        (snapshot(tick=rate("100", "120")), snapshot(tick=rate("100", "119")), {}),
    ],
)
def test_what_asks(before: PriceSnapshot, after: PriceSnapshot, expected: dict[str, set[str]]) -> None:
    assert problems(before, after) == expected


def test_an_account_in_another_group_pays_its_prices() -> None:
    """At each problem's edge; a group that cannot be read offers nothing."""
    groups = {
        "retail": Terms(1_00, -1_00),
        "near": Terms(4_03, -1_00),
        "far": Terms(4_04, -1_00),
        "low": Terms(-1, -1_00),
    }
    held = replace(
        snapshot(),
        groups={
            code: Group("main", code, trading=True, terms={}, default_terms=terms)
            for code, terms in groups.items()
        },
    )

    def found(old: str, new: str) -> list[tuple[str, int | None, int | None, list[str], int]]:
        rows = account_prices(held, "aurum", old, new)
        assert {(row.account, row.group, row.unit) for row in rows} <= {("aurum", new, "10 g")}
        return [
            (str(row.side), row.old_paise, row.new_paise, [*row.problems], row.loss_paise) for row in rows
        ]

    assert found("retail", "retail") == []
    assert found("retail", "near") == [("buy", 101_00, 104_03, [], 0)]
    assert found("retail", "far") == [("buy", 101_00, 104_04, ["move"], 0)]
    assert found("retail", "low") == [("buy", 101_00, 99_99, ["losing"], 1)]
    assert found("low", "retail") == [("buy", 99_99, 101_00, [], 0)]
    assert found("retail", "gone") == [("buy", 101_00, None, [], 0), ("sell", 98_00, None, [], 0)]


def test_a_crossed_price_that_would_be_traded_is_named_with_its_loss() -> None:
    before = snapshot(fixed(100_00, 100_50))
    after = replace(before, switches=replace(before.switches, refuse_crossed=False))
    (row,) = moved_prices(before, after)
    assert (row.symbol, row.group, row.loss_paise) == ("GOLD", "retail", 50)
    assert "You lose 0.50 rupees per 10 g of GOLD for retail." in sentence(row)


def test_a_price_that_follows_a_rate_moves_with_it() -> None:
    symbol = replace(SYMBOL, pricing=Direct("METAL"))
    rows = moved_prices(snapshot(symbol, tick=rate("100", "101")), snapshot(symbol, tick=rate("90", "91")))
    # For clients and for the rate itself. What clients buy for less is the broker's loss.
    losses = {(row.group, row.side): row.loss_paise for row in rows}
    assert losses == {
        ("retail", Side.BUY): 10_00,
        ("retail", Side.SELL): 0,
        (None, Side.BUY): 0,
        (None, Side.SELL): 0,
    }


def test_a_duty_is_looked_at_from_each_day_on_which_it_differs() -> None:
    landed = Landed("METAL", "METAL", Decimal(0), Decimal(0), Decimal(1), "customs", 0)
    symbol = replace(SYMBOL, pricing=landed)
    past, today, later = (date(2026, 6, day) for day in (1, 10, 20))
    tick = rate("100", "100")
    before = snapshot(symbol, tick=tick, duties=(Duty(past, 100_00), Duty(later, 200_00)))

    def moved(*duties: Duty) -> list[tuple[str | None, int | None, int | None]]:
        rows = moved_prices(before, snapshot(symbol, tick=tick, duties=duties))
        return [(row.from_date, row.old_paise, row.new_paise) for row in rows if row.side is Side.BUY]

    base = 100 * 100 * 100
    assert moved(Duty(past, 101_00), Duty(later, 200_00)) == [(None, base + 100_00, base + 101_00)]
    assert moved(Duty(past, 100_00), Duty(today, 100_00), Duty(later, 200_00)) == []
    assert moved(Duty(past, 100_00), Duty(later, 300_00)) == [("2026-06-20", base + 200_00, base + 300_00)]
    assert moved(Duty(past, 100_00)) == [("2026-06-20", base + 200_00, base + 100_00)]


def test_a_closing_price_is_compared_with_the_clients_price_now_or_with_the_deals() -> None:
    deal = Deal("GOLD", "retail", Side.SELL, price_paise=50_00, quoted_weight_e4=100_000, weight_unit="g")
    assert far_closing_price(snapshot(), deal, 99_00) == []
    assert far_closing_price(snapshot(), deal, 101_97) == []
    (row,) = far_closing_price(snapshot(), deal, 101_98)
    assert (row.old_paise, row.loss_paise, row.unit) == (99_00, 2_98, "10 g")
    # Per the weight of the deal, whatever the symbol is quoted in now.
    assert far_closing_price(snapshot(replace(SYMBOL, quoted_weight_e4=10_000)), deal, 990_00) == []
    # Without a price now, the deal's own.
    (row,) = far_closing_price(snapshot(None), deal, 99_00)
    assert row.old_paise == 50_00


def test_a_fingerprint_is_of_the_problems_and_of_what_was_sent() -> None:
    def of(sent: str, buy: int) -> str:
        return fingerprint("main", "put_symbol", sent, moved_prices(snapshot(), snapshot(fixed(buy, 99_00))))

    assert of("a", 104_00) == of("a", 105_00)
    assert of("a", 104_00) != of("b", 104_00)
    assert of("a", 104_00) != of("a", 90_00)


def test_a_long_preview_is_cut_and_says_so() -> None:
    rows = moved_prices(snapshot(), snapshot(fixed(104_00, 99_00))) * (ROWS_MAX + 2)
    shown = preview(rows)
    assert (len(shown["preview"]), shown["preview_left_out"]) == (ROWS_MAX, 2)
