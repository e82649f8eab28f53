"""What entries of a book mean in money, and which rates value it."""

from random import Random

import msgspec
import pytest

from bullion.hedge.book.marks import BookMark, MarkRate, fresh_until_us, mark_of
from bullion.hedge.book.money import BookMoney, DealtOrder, OrderFill, closed, covered, dealt, deleted
from bullion.hedge.book.profit import Mark, Quote
from bullion.hedge.contract import ONE_E8
from bullion.metals.fine_weight import NG_PER_G, NG_PER_OUNCE
from bullion.metals.rounding import half_up

from .samples import GOLDM, XAU

LANDED = (
    '{"quoted_weight":"10.0000","components":[{"name":"currency","value":"88.5"},'
    '{"name":"metal","value":"70000"},{"name":"duty","value":"700"}]}'
)
OUNCE = msgspec.structs.replace(XAU, step_e8=10**5)
ORDER = DealtOrder("o1", "buy", 1_000_000, 99_900, 71_000_000, LANDED)
"""100 g for ₹7,10,000; the market's price is ₹7,00,000, and the duty ₹7,000."""


def test_a_deal_its_close_and_its_deletion() -> None:
    deal = dealt(ORDER, 1).deal
    assert (deal.change_mg, deal.cash_paise, deal.reference_paise, deal.duty_paise) == (
        -99_900, 71_000_000, 70_000_000, 700_000,
    )  # fmt: skip
    gained = msgspec.structs.replace(ORDER, gain_paise=1_000_000)
    end = closed(gained, 2).deal
    assert (end.change_mg, end.cash_paise, end.duty_paise) == (99_900, -72_000_000, -700_000)
    assert end.reference_paise + end.duty_paise == end.cash_paise
    undone = BookMoney().after(deal).after(deleted(ORDER, 2).deal)
    assert undone.book == BookMoney().book
    sold = dealt(msgspec.structs.replace(ORDER, side="sell"), 1).deal
    assert (sold.change_mg, sold.cash_paise, sold.reference_paise) == (99_900, -71_000_000, -70_000_000)


@pytest.mark.parametrize(("side", "cash_paise"), [("buy", 70), ("sell", -70)])
def test_an_order_of_no_whole_milligram_brings_its_money_all_the_same(side: str, cash_paise: int) -> None:
    small = DealtOrder("o1", side, 1, 0, 70, LANDED)
    assert dealt(small, 1).deal.cash_paise == cash_paise
    undone = BookMoney().after(dealt(small, 1).deal).after(deleted(small, 2).deal)
    assert undone.book == BookMoney().book


@pytest.mark.parametrize(
    "anatomy",
    ["", "[]", "{}", '{"components":[]}', '{"quoted_weight":"0","components":[{"name":"ask","value":"1"}]}'],
)
def test_without_a_market_price_the_cash_is_the_reference(anatomy: str) -> None:
    priced = dealt(msgspec.structs.replace(ORDER, price_anatomy=anatomy), 1)
    assert priced.estimated
    assert priced.deal.reference_paise == priced.deal.cash_paise


def test_a_cover_in_dollars_takes_the_dollar_of_the_price_or_the_last_known_one() -> None:
    fill = OrderFill("o1", 321_187_000, 2_400_000_000, OUNCE)  # 3.21187 ounces at 2,400.
    cents = -OUNCE.value_minor(fill.quantity_e8, fill.price_e6)
    first = covered(ORDER, 99_900, [fill], 87_000_000, 1)
    assert first.deal.cover is not None
    assert (first.deal.cover.cash_cents, first.deal.cover.dollar_e6, first.estimated) == (
        cents, 88_500_000, False,
    )  # fmt: skip
    book = BookMoney().after(first.deal).book
    assert (book.metal.amount, book.metal.basis_paise, book.usd_open_cents) == (0, 0, cents)
    direct = msgspec.structs.replace(ORDER, price_anatomy=LANDED.replace("currency", "spot"))
    second = covered(direct, 99_900, [fill], 87_000_000, 1)
    assert second.deal.cover is not None
    assert (second.deal.cover.dollar_e6, second.dollar_e6, second.estimated) == (
        87_000_000,
        87_000_000,
        False,
    )
    third = covered(direct, 99_900, [fill], 0, 1)
    assert third.estimated
    assert abs(BookMoney().after(third.deal).book.slippage_paise) <= 1


BAR = msgspec.structs.replace(OUNCE, fineness_e4=9_999, currency="INR")
"""An ounce of 999.9, priced in rupees."""
BAR_E6 = 80_000 * 10**6


def order_of(fine_mg: int, quantity_e4: int, total_paise: int, side: str = "buy") -> DealtOrder:
    """Its own price is the reference."""
    return DealtOrder("o1", side, quantity_e4, fine_mg, total_paise, '{"quoted_weight":"10.0000"}')


def cover_cash_paise(order: DealtOrder, cover_mg: int, fills: list[OrderFill]) -> int:
    cover = covered(order, cover_mg, fills, 0, 1).deal.cover
    assert cover is not None
    return cover.cash_paise


@pytest.mark.parametrize(("side", "sign"), [("buy", 1), ("sell", -1)])
def test_many_fills_of_a_contract_cost_what_the_venue_told(side: str, sign: int) -> None:
    order = order_of(BAR.fine_mg(10 * ONE_E8), 3_110_348, 80_000_000, side)
    fills = [OrderFill("o1", ONE_E8, BAR_E6, BAR)] * 10
    assert sum(BAR.fine_mg(each.quantity_e8) for each in fills) == order.fine_mg - 4
    assert cover_cash_paise(order, sign * order.fine_mg, fills) == -sign * 80_000_000
    # A second execution of the whole is a break.
    second = OrderFill("o1", 10 * ONE_E8, BAR_E6, BAR)
    assert cover_cash_paise(order, sign * order.fine_mg, [*fills, second]) == -sign * 80_000_000


def test_weight_that_no_fill_accounts_for_counts_at_the_reference() -> None:
    order = order_of(BAR.fine_mg(10 * ONE_E8), 3_110_348, 80_000_000)
    fills = [OrderFill("o1", ONE_E8, BAR_E6 // 2, BAR)] * 5
    left_mg = order.fine_mg - BAR.fine_mg(5 * ONE_E8)
    at_reference = -half_up(80_000_000 * left_mg, order.fine_mg)
    assert cover_cash_paise(order, order.fine_mg, fills) == at_reference - 20_000_000


@pytest.mark.parametrize(("side", "sign"), [("buy", 1), ("sell", -1)])
def test_a_fill_without_a_price_counts_at_the_reference(side: str, sign: int) -> None:
    """A venue may tell a total without an average, as the answer to a question after a reconnect."""
    order = order_of(BAR.fine_mg(10 * ONE_E8), 3_110_348, 80_000_000, side)
    untold = OrderFill("o1", 10 * ONE_E8, 0, BAR)
    assert cover_cash_paise(order, sign * order.fine_mg, [untold]) == -sign * 80_000_000
    # A second execution does not become its price.
    second = OrderFill("o1", 10 * ONE_E8, BAR_E6 * 2, BAR)
    assert cover_cash_paise(order, sign * order.fine_mg, [untold, second]) == -sign * 80_000_000
    half = [OrderFill("o1", 5 * ONE_E8, price_e6, BAR) for price_e6 in (BAR_E6 // 2, 0)]
    left_mg = order.fine_mg - BAR.fine_mg(5 * ONE_E8)
    at_reference = half_up(-sign * 80_000_000 * left_mg, order.fine_mg)
    assert cover_cash_paise(order, sign * order.fine_mg, half) == at_reference - sign * 20_000_000


@pytest.mark.parametrize("seed", range(50))
def test_fills_of_several_ids_cost_what_the_venue_told(seed: int) -> None:
    """As a line deals: the covered weight is rounded for each id."""
    chance = Random(seed)  # noqa: S311 - a repeatable test
    ids = {
        f"o1{child}": [chance.randrange(1, 400) * BAR.step_e8 for _ in range(chance.randrange(1, 8))]
        for child in ("", "b", "c")
    }
    fills = [OrderFill(sent_id, each, BAR_E6, BAR) for sent_id, own in ids.items() for each in own]
    chance.shuffle(fills)  # Several may have the same time.
    cover_mg = sum(BAR.fine_mg(sum(own)) for own in ids.values())
    told_paise = sum(BAR.value_minor(each.quantity_e8, BAR_E6) for each in fills)
    order = order_of(cover_mg + chance.randrange(2) * 37, 10**6, 80_000_000)
    assert cover_cash_paise(order, cover_mg, fills) == -told_paise


@pytest.mark.parametrize("seed", range(50))
def test_parts_that_the_desk_covers_cost_what_it_told(seed: int) -> None:
    """Also if the rest after them is taken into the book."""
    chance = Random(seed)  # noqa: S311 - a repeatable test
    left_e4, left_mg = 1_000_001, 99_900
    order, fills, told_paise = order_of(left_mg, left_e4, 71_000_000), [], 0
    for child in range(chance.randrange(2, 6)):
        part_e4 = left_e4 // chance.randrange(2, 5)
        left_mg -= half_up(left_mg * part_e4, left_e4)
        left_e4 -= part_e4
        fills.append(OrderFill(f"o1-{child}", part_e4 * 10_000, 71_000 * 10**6, None))
        told_paise += half_up(part_e4 * 71_000 * 100, 100_000)
    assert cover_cash_paise(order, order.fine_mg - left_mg, fills) == -told_paise
    fills.append(OrderFill("o1-last", left_e4 * 10_000, 71_000 * 10**6, None))
    told_paise += half_up(left_e4 * 71_000 * 100, 100_000)
    assert cover_cash_paise(order, order.fine_mg, fills) == -told_paise
    # The venue tells the first part once more.
    assert cover_cash_paise(order, order.fine_mg, [*fills, fills[0]]) == -told_paise


GOLD = Quote(71_000_000_000, 71_100_000_000)
SPOT, DOLLAR = Quote(2_400_000_000, 2_401_000_000), Quote(88_000_000, 88_100_000)


def test_which_rates_value_a_book() -> None:
    rates = {
        "GOLD": MarkRate(GOLD, 10, 20),
        "XAUUSD": MarkRate(SPOT, 11, None),
        "USDINR": MarkRate(DOLLAR, 9, None),
    }
    contracts = [OUNCE, GOLDM]
    in_rupees = mark_of("gold", contracts, rates, 20)
    assert in_rupees == BookMark(
        Mark(GOLD, 10 * NG_PER_G, 9_950, dollar=DOLLAR), GOLDM.instrument, 10, DOLLAR
    )
    in_dollars = mark_of("gold", contracts, rates, 21)
    assert in_dollars == BookMark(Mark(SPOT, NG_PER_OUNCE, 10_000, DOLLAR, DOLLAR), "XAUUSD", 9, DOLLAR)
    ahead = {**rates, "GOLD": MarkRate(GOLD, 10, 20, fresh_from_us=4)}
    assert mark_of("gold", contracts, ahead, 4) == in_rupees
    assert mark_of("gold", contracts, ahead, 3) == in_dollars
    del rates["USDINR"]
    assert mark_of("gold", contracts, rates, 21).why_not == "There is no fresh rate of GOLD or XAUUSD."
    assert "silver" in mark_of("silver", contracts, rates, 20).why_not


def test_a_rate_is_fresh_while_an_order_may_be_priced_by_it() -> None:
    assert fresh_until_us(5, []) == 60_000_005
    assert fresh_until_us(5, [10, 30]) == 30_000_005
    assert fresh_until_us(5, [10, None]) is None
