"""What entries of a book mean in money, and which rates value it."""

import msgspec
import pytest

from bullion.hedge.book.marks import BookMark, MarkRate, fresh_until_us, mark_of
from bullion.hedge.book.money import BookMoney, DealtOrder, OrderFill, closed, covered, dealt, deleted
from bullion.hedge.book.profit import Mark, Quote
from bullion.metals.fine_weight import NG_PER_G, NG_PER_OUNCE

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
    fill = OrderFill(321_187_000, 2_400_000_000, OUNCE)  # 3.21187 ounces at 2,400.
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
    del rates["USDINR"]
    assert mark_of("gold", contracts, rates, 21).why_not == "There is no fresh rate of GOLD or XAUUSD."
    assert "silver" in mark_of("silver", contracts, rates, 20).why_not


def test_a_rate_is_fresh_while_an_order_may_be_priced_by_it() -> None:
    assert fresh_until_us(5, []) == 60_000_005
    assert fresh_until_us(5, [10, 30]) == 30_000_005
    assert fresh_until_us(5, [10, None]) is None
