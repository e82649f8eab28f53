"""The profit: its parts add up to the cash, to the paisa."""

from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.hedge.book.events import BookEvent, CurrencyDeal, close_of, deletion_of
from bullion.hedge.book.invariants import fill_problems, profit_problems
from bullion.hedge.book.position import fold_position
from bullion.hedge.book.profit import Holding, Mark, ProfitBook, Quote, fold_profit, profit_after
from bullion.hedge.book.reference import deal_reference
from bullion.metals.fine_weight import NG_PER_G, NG_PER_OUNCE

from .samples import GOLDM, MARK, XAU, deal, fill


@pytest.mark.parametrize(
    ("held", "change", "cash_paise", "after", "realised"),
    [
        (Holding(), 100, -1_000, Holding(100, 1_000), 0),  # opened
        (Holding(100, 1_000), 100, -1_200, Holding(200, 2_200), 0),  # enlarged
        (Holding(200, 2_200), -50, 600, Holding(150, 1_650), 50),  # reduced: a quarter of the basis
        (Holding(150, 1_650), -150, 1_500, Holding(0, 0), -150),  # closed
        (Holding(3, 100), -1, 40, Holding(2, 67), 7),  # 33.33 is rounded once
        (Holding(2, 67), -1, 40, Holding(1, 33), 6),  # 33.5 goes up
        (Holding(), -100, 1_000, Holding(-100, -1_000), 0),  # short
        (Holding(-100, -1_000), 40, -300, Holding(-60, -600), 100),
        (Holding(100, 1_000), -300, 3_600, Holding(-200, -2_400), 200),  # crosses zero: split
        (Holding(-100, -1_000), 150, -1_501, Holding(50, 500), -1),  # 1000.67 of it closes, rounded
        (Holding(100, 1_000), 0, 7, Holding(100, 1_000), 7),  # money without metal
    ],
)
def test_average_cost(held: Holding, change: int, cash_paise: int, after: Holding, realised: int) -> None:
    assert held.traded(change, cash_paise) == (after, realised)


TRADES = st.lists(st.tuples(st.integers(-(10**9), 10**9), st.integers(-(10**13), 10**13)), max_size=40)


@given(TRADES)
def test_cash_is_what_was_realised_less_what_is_held_at_cost(trades: list[tuple[int, int]]) -> None:
    held, realised = Holding(), 0
    for number, (change, cash_paise) in enumerate(trades, 1):
        held, more = held.traded(change, cash_paise)
        realised += more
        assert realised - held.basis_paise == sum(cash for _, cash in trades[:number])
        assert held.amount == sum(change for change, _ in trades[:number])
        assert held.amount or not held.basis_paise


def test_the_parts_of_a_covered_deal() -> None:
    # A client buys 100 g of 995 at ₹1,25,500; the market is at 1,25,000. The house buys a lot at 1,25,040.
    bought = deal(-99_500, 12_55_000_00, 12_50_000_00)
    book = fold_profit([bought, fill(GOLDM, 1, 125_040, reference=125_030, fee_minor=50_00)])
    assert book.metal == Holding(0, 0)
    profit = book.profit(MARK)
    assert (profit.premium, profit.slippage) == (5_000_00, -100_00)
    assert (profit.realised, profit.unrealised, profit.fees) == (-300_00, 0, -50_00)
    assert profit.total == book.cash_paise == 12_55_000_00 - 12_50_400_00 - 50_00


def test_the_residual_is_valued_at_the_side_one_would_deal_at() -> None:
    short = fold_profit([deal(-99_500, 12_50_000_00)])
    assert MARK.metal_paise(-99_500) == -12_51_000_00  # bought back at the ask
    assert short.profit(MARK).unrealised == -1_000_00
    long = fold_profit([deal(99_500, -12_50_000_00)])
    assert MARK.metal_paise(99_500) == 12_49_000_00  # sold at the bid
    assert long.profit(MARK).unrealised == -1_000_00
    assert short.average_e6 == long.average_e6 == 12_562_814_070
    assert ProfitBook().average_e6 is None


def test_a_closed_deal_is_paid_out_as_the_client_sees_it() -> None:
    opened = deal(-99_500, 12_55_000_00, 12_50_000_00)
    gain_paise = 7_000_00
    closed = close_of(opened, gain_paise, reference_paise=-12_63_000_00, duty_paise=0, at_us=1)
    book = fold_profit([opened, closed])
    assert book.metal == Holding(0, 0)
    assert book.cash_paise == book.profit(MARK).total == -gain_paise
    assert (book.premium_paise, book.realised_paise) == (5_000_00 + 1_000_00, -13_000_00)


def test_a_deleted_deal_leaves_nothing() -> None:
    opened = deal(-99_500, 12_55_000_00, 12_20_000_00, 30_000_00)
    assert fold_profit([opened]).premium_paise == 5_000_00
    assert fold_profit([opened, deletion_of(opened, 1)]) == ProfitBook()


def test_covers_in_dollars_leave_dollars_open_until_they_are_bought() -> None:
    mark = msgspec.structs.replace(MARK, dollar=Quote(8_790 * 10**4, 8_810 * 10**4))
    covered = fold_profit([fill(XAU, 10, 4_800, reference=4_799, fee_minor=2_50, dollar_e6=88 * 10**6)])
    assert covered.usd_open_cents == covered.cash_cents == -(48_000_00 + 2_50)
    assert covered.cash_paise == 0
    assert covered.metal.basis_paise == 47_990_00 * 88
    assert (covered.slippage_paise, covered.fees_paise) == (-10_00 * 88, -2_50 * 88)
    profit = covered.profit(mark)
    assert profit.currency_unrealised == -(48_002_50 * 10) // 100  # ten paise a dollar, at the ask
    assert profit.total == mark.metal_paise(covered.metal.amount) + mark.dollars_paise(-48_002_50)

    bought = CurrencyDeal("fx1", 48_002_50, -48_002_50 * 87, fee_paise=100_00, at_us=1)
    flat = fold_profit([bought], covered)
    assert flat.usd_open_cents == flat.dollars.basis_paise == 0
    assert flat.currency_realised_paise == 48_002_50
    assert flat.profit(mark).total == flat.cash_paise + mark.metal_paise(flat.metal.amount)


def test_a_mark_in_dollars_is_converted_at_the_same_side() -> None:
    mark = Mark(
        Quote(4_799 * 10**6, 4_801 * 10**6), NG_PER_OUNCE, 10_000, Quote(8_790 * 10**4, 8_810 * 10**4)
    )
    exact = Fraction(-1_000_000_000_000, NG_PER_OUNCE) * 4_801 * Fraction("88.1") * 100
    assert mark.metal_paise(-1_000_000) == (exact + Fraction(1, 2)).__floor__()


EVENTS = st.lists(
    st.one_of(
        st.builds(
            deal,
            st.integers(-(10**7), 10**7),
            st.integers(-(10**12), 10**12),
            st.integers(-(10**12), 10**12),
            st.integers(-(10**9), 10**9),
        ),
        st.builds(
            fill,
            st.sampled_from([GOLDM, XAU]),
            st.integers(-50, 50),
            st.integers(1, 200_000),
            execution_id=st.uuids().map(str),
            reference=st.integers(1, 200_000),
            fee_minor=st.integers(0, 10**6),
            dollar_e6=st.integers(1, 10**9),
        ),
        st.builds(
            CurrencyDeal,
            st.just("fx"),
            st.integers(-(10**9), 10**9),
            st.integers(-(10**11), 10**11),
            st.integers(0, 10**6),
            st.just(0),
        ),
    ),
    max_size=25,
)
QUOTES = st.tuples(st.integers(1, 10**12), st.integers(0, 10**9)).map(lambda two: Quote(two[0], sum(two)))


@given(EVENTS, QUOTES, QUOTES)
def test_profit_is_cash_and_the_mark_after_every_event(
    events: list[BookEvent], metal: Quote, dollar: Quote
) -> None:
    mark = Mark(metal, 10 * NG_PER_G, 9_950, dollar=dollar)
    book = ProfitBook()
    for number, event in enumerate(events, 1):
        book = profit_after(book, event)
        assert book.metal.amount == fold_position(events[:number]).residual_mg
        assert book.profit(mark).total == (
            book.cash_paise + mark.metal_paise(book.metal.amount) + mark.dollars_paise(book.cash_cents)
        )


LANDED = """{"components": [{"name": "spot", "value": "4800.5"}, {"name": "metal", "value": "135812.345678"},
 {"name": "duty", "value": "8000.00"}, {"name": "margin", "value": "150.00"},
 {"name": "symbol_price", "value": "143962.345678"}], "premium": "12.00", "quoted_weight": "10.0000"}"""
DIRECT = """{"components": [{"name": "instrument", "value": "GOLD"}, {"name": "ask", "value": "125000.005"},
 {"name": "symbol_price", "value": "125000.005"}], "premium": "12.00", "quoted_weight": "10.0000"}"""


def test_the_reference_of_a_deal_is_the_market_alone() -> None:
    landed = deal_reference(LANDED, "buy", 25 * 10_000)
    assert (landed.reference_paise, landed.duty_paise) == (33_953_086, 20_000_00)
    direct = deal_reference(DIRECT, "sell", 10 * 10_000)
    assert (direct.reference_paise, direct.duty_paise) == (-12_500_001, 0)
    with pytest.raises(KeyError, match="no market price"):
        deal_reference('{"components": [], "quoted_weight": "1"}', "buy", 1)


def test_the_checker_finds_a_wrong_profit_and_a_fill_that_counts_twice() -> None:
    book = fold_profit([deal(-99_500, 12_50_000_00)])
    shown = book.profit(MARK).total
    assert profit_problems(book, MARK, shown, -99_500) == []
    assert "profit shown" in profit_problems(book, MARK, shown + 1, -99_500)[0]
    assert "the residual is 0 mg" in profit_problems(book, MARK, shown, 0)[0]
    short_of_cash = msgspec.structs.replace(book, cash_cents=1)
    assert "cents are open" in profit_problems(short_of_cash, MARK, shown, -99_500)[0]

    once = fill(GOLDM, 1, 125_000)
    contracts = {"GOLDM": GOLDM}
    assert fill_problems([once], contracts, {"GOLDM": once.quantity_e8}, 99_500) == []
    assert (
        "counts twice" in fill_problems([once, once], contracts, {"GOLDM": 2 * once.quantity_e8}, 199_000)[0]
    )
    assert "are held" in fill_problems([once], contracts, {}, 99_500)[0]
    assert "the fills weigh" in fill_problems([once], contracts, {"GOLDM": once.quantity_e8}, 1)[0]
