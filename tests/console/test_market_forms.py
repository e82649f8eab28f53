"""What is typed into the market's forms: numbers as people write them, and what is told about a change."""

import pytest

from bullion.console.page import FormErrors
from bullion.console.pages.market.forms import Form, beside_fields, difference, saved
from bullion.console.pages.market.rates import _odd
from bullion.console.pages.market.symbol_text import part_words
from bullion.console.stale_form import require_seen, seen
from bullion.refusals.desk import CONFLICT, INVALID_BODY
from bullion.refusals.refusal import FieldError, RefusalError


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("12.5", "12.5"),
        (" 1,23,456.50 ", "123456.50"),
        ("123,456.50", "123456.50"),
        ("-1,500", "-1500"),
        ("\N{MINUS SIGN}5", "-5"),
        ("0", "0"),
    ],
)
def test_numbers_may_be_grouped_as_people_group_them(typed: str, read: str) -> None:
    form = Form({"price": typed})
    assert form.amount("price", 2) == read
    form.check()


@pytest.mark.parametrize(
    "typed",
    ["", "1,2345", "12,34.5", ",5", "1o", "1e5", "1.005", "12..5", "NaN", "-", "9" * 5000, "1," + "9" * 5000],
    ids=lambda typed: typed[:10],
)
def test_what_is_no_number_is_told_by_its_field(typed: str) -> None:
    form = Form({"price": typed, "count": typed})
    form.amount("price", 2)
    form.count("count", 0, 10)
    with pytest.raises(FormErrors) as told:
        form.check()
    assert told.value.troubles.keys() == {"price", "count"}
    assert all(words.endswith(".") for words in told.value.troubles.values())


def test_counts_keep_to_their_bounds() -> None:
    form = Form({"few": "0", "many": "1,00,001", "right": "1,00,000", "none": ""})
    assert form.count("right", 1, 100_000) == 100_000
    assert form.count_if_any("none", 1, 5) is None
    form.count("few", 1, 5)
    form.count("many", 1, 100_000)
    assert form.troubles.keys() == {"few", "many"}


def test_a_refusal_about_a_field_is_told_beside_it() -> None:
    form = {"minimum": "5", "margin": "x"}
    for loc, told in ((("body", "minimum"), {"minimum"}), (("body", "pricing", "margin"), {"margin"})):
        error = FieldError(loc, "Is out of bounds.", "invalid")
        with pytest.raises(FormErrors) as mistyped, beside_fields(form):
            raise RefusalError(INVALID_BODY, errors=[error])
        assert mistyped.value.troubles.keys() == told
    for refused in (
        RefusalError(INVALID_BODY, errors=[FieldError(("body", "step"), "Must be above 0.", "invalid")]),
        RefusalError(CONFLICT, "minimum is taken."),
    ):
        with pytest.raises(RefusalError) as raised, beside_fields(form):
            raise refused
        assert raised.value is refused


def test_what_changed_is_told_before_and_after() -> None:
    before, after = (
        {"minimum": "1 g", "step": "1 g", "buy": "5"},
        {"minimum": "5 g", "step": "1 g", "spot": "X"},
    )
    assert difference(before, after) == "minimum 1 g → 5 g; buy 5 → –; spot – → X"
    assert saved("GOLD", before, before) == "GOLD is as it was: nothing was changed."


def test_a_form_that_was_overtaken_is_refused() -> None:
    typed = {"seen": seen({"step": "1"})}
    require_seen(typed, {"step": "1"}, "GOLD")
    with pytest.raises(RefusalError) as refused:
        require_seen(typed, {"step": "2"}, "GOLD")
    assert refused.value.refusal is CONFLICT
    with pytest.raises(RefusalError):
        require_seen({}, None, "GOLD")


def test_a_rate_is_asked_about_again_when_it_jumps_or_gapes() -> None:
    before = {"bid": "100.000000", "ask": "101.000000"}
    assert _odd(before, "103", "104") == []
    assert _odd(before, "97", "98") == []
    assert _odd(before, "1000", "1010") == [
        "The bid is 900.0 % above the last one, which was 100.00.",
        "The ask is 900.0 % above the last one, which was 101.00.",
    ]
    assert _odd(None, "100", "103") == []
    assert _odd(None, "100", "1003") == ["The ask is more than 3 % above the bid."]
    assert _odd(None, "0", "5") == []


def test_parts_of_a_price_are_cut_for_the_eye_alone() -> None:
    assert part_words("142094.283233304492") == "1,42,094.283233…"
    assert part_words("-8350.00") == "−8,350.00"
    assert part_words("XAUUSD") == "XAUUSD"
