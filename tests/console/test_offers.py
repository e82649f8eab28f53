"""What the rate board computes: prices of clients, margins of the house, and the size of a step."""

from typing import Any

import pytest

from bullion.console.forms import FormErrors, read_fields
from bullion.console.pages.market.groups import EDIT, turn_sign
from bullion.console.pages.rates.offers import BoardRow, board_rows, margin_changes
from bullion.metals.symbol import Side

QUOTE = {"symbol_code": "GOLD", "bid": "150463.00", "ask": "150480.50", "crossed": []}


def group(buy: str | None, sell: str | None, **terms: Any) -> dict[str, Any]:
    return {"code": "retail", "terms": terms, "default_terms": {"buy_premium": buy, "sell_premium": sell}}


def cells(quote: dict[str, Any], *groups: dict[str, Any]) -> list[tuple[Any, ...]]:
    (row,) = board_rows([{**QUOTE, **quote}], {}, groups)
    return [(each.side, each.price_paise, each.margin_paise, each.problem) for each in row.cells]


def test_prices_are_those_of_orders_and_margins_what_the_house_earns() -> None:
    assert cells({}, group("60.50", "-463.00")) == [
        (Side.SELL, 15_000_000, 46_300, None),
        (Side.BUY, 15_054_100, 6_050, None),
    ]
    own = group("60.50", "-463.00", GOLD={"buy_premium": "-1.00", "sell_premium": None})
    assert cells({}, own) == [(Side.SELL, None, None, None), (Side.BUY, 15_047_950, -100, "loses")]
    assert cells({"bid": None, "crossed": ["retail"]}, group("0.00", "0.00")) == [
        (Side.SELL, None, 0, "crossed"),
        (Side.BUY, 15_048_050, 0, "crossed"),
    ]
    # A price that is not above 0 is none.
    assert cells({"bid": "5.00"}, group("0.00", "-5.00"))[0][1] is None


@pytest.mark.parametrize(
    ("price", "step"),
    [
        ("0.05", 1),
        ("71.00", 1),
        ("15000.00", 100),
        ("71230.00", 1_000),
        ("150480.50", 1_000),
        ("299888.00", 1_000),
    ],
)
def test_a_step_is_a_power_of_ten_that_fits_the_price(price: str, step: int) -> None:
    assert BoardRow({**QUOTE, "ask": price}, None, ()).step_paise == step
    assert BoardRow({**QUOTE, "ask": None, "bid": price}, None, ()).step_paise == step
    assert BoardRow({**QUOTE, "ask": None, "bid": None}, None, ()).step_paise is None


def test_the_margins_that_a_change_moved_are_found() -> None:
    before = group("60.50", "-463.00")
    after = group("60.50", "-463.00", GOLD={"buy_premium": "70.50", "sell_premium": "-463.00"})
    assert margin_changes(before, after, ["GOLD", "COIN"]) == {("GOLD", Side.BUY): (6_050, 7_050)}
    assert margin_changes(before, group(None, "-463.00"), ["GOLD"]) == {}


@pytest.mark.parametrize(
    ("margin", "premium"), [("5", "-5"), ("-5", "5"), ("0", "0"), ("0.00", "0.00"), ("-.5", ".5")]
)
def test_a_sell_margin_is_its_premium_with_the_sign_turned(margin: str, premium: str) -> None:
    assert turn_sign(margin) == premium
    assert turn_sign(premium) == margin


@pytest.mark.parametrize("typed", ["--5", "+5", "-", "5-", "-+5", "1,2", "−−5"])
def test_what_is_no_margin_is_refused(typed: str) -> None:
    with pytest.raises(FormErrors) as refused:
        read_fields(EDIT.fields, {"sell_premium": typed})
    assert set(refused.value.by_field) == {"sell_premium"}
    assert read_fields(EDIT.fields, {"sell_premium": "1,50,000.50"})["sell_premium"] == "-150000.50"
