"""What the rate board computes: prices of clients, margins of the house, and the size of a step."""

from typing import Any

import pytest

from bullion.console.forms import FormErrors, read_fields
from bullion.console.pages.market.groups import EDIT, turn_sign
from bullion.console.pages.rates.board_page import shown_groups
from bullion.console.pages.rates.offers import BoardRow, board_rows, margin_changes
from bullion.console.pages.rates.stepper import OLD_NOTE, stepper
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


def test_a_board_shows_as_many_groups_as_have_room_and_always_the_chosen_one() -> None:
    groups = [{"code": code} for code in "abcde"]

    def shown(chosen: str, room: int) -> str:
        return "".join(each["code"] for each in shown_groups(groups, chosen, room))

    assert [shown("", 3), shown("b", 3), shown("e", 3), shown("e", 9)] == ["abc", "abc", "abe", "abcde"]
    assert [shown("", 0), shown("d", 0), shown("d", 1), shown("nobody", 2)] == ["a", "d", "d", "ab"]


def test_a_stepper_is_locked_with_its_reason_while_prices_are_old() -> None:
    def made(*, locked: bool) -> str:
        return stepper("retail", "GOLD", Side.SELL, 46_350, 1_000, changed=False, locked=locked)

    assert "disabled" not in made(locked=False)
    assert made(locked=True).count(f'aria-disabled="true" aria-describedby="{OLD_NOTE}"') == 2
    assert ">463.5<" in made(locked=True)
