"""Forms: numbers as people type them, errors beside their fields, and the message after a change."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bullion.console.forms import (
    Amount,
    Checkbox,
    Code,
    Count,
    Field,
    Fields,
    FormErrors,
    Group,
    Hidden,
    difference,
    errors_beside_fields,
    field_of,
    fields_html,
    flat,
    read_fields,
    saved,
)
from bullion.console.page import Visit
from bullion.console.pages.accounts import account_actions
from bullion.console.pages.market.symbol_text import part_text
from bullion.console.stale_form import SEEN, only_new, seen, unchanged
from bullion.desk.bodies import (
    AccountBody,
    HedgeBody,
    LandedBody,
    NewAccountBody,
    Price,
    SignedRupees,
    SymbolBody,
)
from bullion.desk.body_fields import body_fields, defaults_of
from bullion.refusals.desk import CONFLICT, INVALID_BODY
from bullion.refusals.refusal import FieldError, RefusalError

PRICE = Amount("price", "Price", required=True, of=SignedRupees)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("12.5", "12.5"),
        (" 1,23,456.50 ", "123456.50"),
        ("123,456.50", "123456.50"),
        ("₹ 1,500", "1500"),
        ("-1,500", "-1500"),
        ("\N{MINUS SIGN}5", "-5"),
        ("0", "0"),
    ],
)
def test_numbers_may_be_grouped_as_people_group_them(typed: str, read: str) -> None:
    assert read_fields([PRICE], {"price": typed}) == {"price": read}


@pytest.mark.parametrize(
    "typed",
    ["", "1,2345", "12,34.5", ",5", "1o", "1e5", "1.005", "12..5", "NaN", "-", "9" * 5000, "1," + "9" * 5000],
    ids=lambda typed: typed[:10],
)
def test_what_is_no_number_is_told_by_its_field(typed: str) -> None:
    fields = [PRICE, Count("count", "Count", required=True, most=10)]
    with pytest.raises(FormErrors) as errors:
        read_fields(fields, {"price": typed, "count": typed})
    assert errors.value.by_field.keys() == {"price", "count"}
    assert all(message.endswith(".") for message in errors.value.by_field.values())


def test_counts_keep_to_their_bounds() -> None:
    fields = [Count(name, name, least=1, most=100_000) for name in ("few", "many", "right", "none")]
    assert read_fields(fields, {"right": "1,00,000"}) == {
        "few": None,
        "many": None,
        "right": 100_000,
        "none": None,
    }
    with pytest.raises(FormErrors) as errors:
        read_fields(fields, {"few": "0", "many": "1,00,001", "right": "1,00,000", "none": ""})
    assert errors.value.by_field.keys() == {"few", "many"}


def test_a_form_is_read_as_it_is_declared() -> None:
    fields: Fields = [
        Code("code", "Code", required=True),
        Checkbox("active", "Active"),
        Group("pair", [Amount("buy", "Buy", required=True, of=Price)], only_if=("kind", "fixed")),
        Group("pair", [Code("spot", "Spot", required=True)], only_if=("kind", "landed")),
    ]
    form = {"code": " GOLD ", "kind": "fixed", "buy": "1,500", "other": "x"}
    assert read_fields(fields, form) == {"code": "GOLD", "active": False, "buy": "1500"}
    with pytest.raises(FormErrors) as errors:
        read_fields(fields, {"code": "no code", "kind": "landed", "active": "yes"})
    assert errors.value.by_field.keys() == {"code", "spot"}
    # A browser refuses to send a form with a hidden field that is required.
    assert [html.count(" required") for html in fields_html(fields, {}, {})] == [1, 0, 0, 0]


def at(*loc: str | int, kind: str = "invalid") -> FieldError:
    return FieldError(("body", *loc), f"About {loc[-1]}.", kind)


def test_errors_of_the_desk_stand_beside_their_fields() -> None:
    scopes = Group("", [Checkbox("scope orders", "Orders")], legend=Hidden("scopes", "", rule="Choose one."))
    fields: Fields = [Field("login_id", "Login", rule="Use letters."), Field("gold", "Gold"), scopes]
    errors = [
        at("login_id", kind="bad_character"),
        at("allocation", "gold"),
        at("scopes", kind="empty"),
    ]
    told = errors_beside_fields(RefusalError(INVALID_BODY, errors=errors), fields)
    assert isinstance(told, FormErrors)
    assert told.by_field == {"login_id": "Use letters.", "gold": "About gold.", "scopes": "Choose one."}
    told = errors_beside_fields(RefusalError(INVALID_BODY, errors=[at("login_id")]), fields)
    assert isinstance(told, FormErrors)
    assert told.by_field == {"login_id": "About login_id."}


@pytest.mark.parametrize(
    "refused",
    [
        RefusalError(INVALID_BODY, "No.", errors=[at("gold"), at("silver")]),
        RefusalError(INVALID_BODY, "No.", errors=[at("silver")]),
        RefusalError(CONFLICT, "gold is there."),
    ],
)
def test_a_refusal_about_something_else_stays_what_it_is(refused: RefusalError) -> None:
    assert errors_beside_fields(refused, [Field("gold", "Gold")]) is refused


def test_what_changed_is_told_before_and_after() -> None:
    before, after = (
        {"minimum": "1 g", "step": "1 g", "buy": "5"},
        {"minimum": "5 g", "step": "1 g", "spot": "X"},
    )
    assert difference(before, after) == "minimum 1 g → 5 g; buy 5 → –; spot – → X"
    assert saved("GOLD", before, before) == "GOLD: nothing changed."


def visit(form: Mapping[str, Any]) -> Visit:
    return cast("Visit", SimpleNamespace(form=form))


def test_a_stale_form_is_refused() -> None:
    current = unchanged(visit(seen({"step": "1"})), "GOLD")
    current({"step": "1"})
    with pytest.raises(RefusalError) as refused:
        current({"step": "2"})
    assert refused.value.refusal is CONFLICT
    with pytest.raises(RefusalError):
        unchanged(visit({}), "GOLD")(None)
    # The form may be about a part alone.
    unchanged(visit(seen({"step": "1"})), "GOLD", lambda view: {"step": view["step"]})({"step": "1", "x": 2})


def test_what_exists_is_not_created_again() -> None:
    only_new("code", "There is one.")(None)
    with pytest.raises(FormErrors) as errors:
        only_new("code", "There is one.")({"code": "x"})
    assert errors.value.by_field == {"code": "There is one."}


def test_parts_of_a_price_are_cut_for_display_only() -> None:
    assert part_text("142094.283233304492") == "1,42,094.283233…"
    assert part_text("-8350.00") == "−8,350.00"
    assert part_text("XAUUSD") == "XAUUSD"


def test_the_field_of_a_body_has_its_type_bounds_and_whether_it_is_required() -> None:
    fields = [
        field_of(SymbolBody, "minimum", "Minimum"),
        field_of(SymbolBody, "stock", "Stock"),
        field_of(SymbolBody, "rate_age_s_max", "Age"),
        field_of(LandedBody, "duty", "Duty"),
        field_of(HedgeBody, "delay_ms", "Delay"),
    ]
    assert [type(each) for each in fields] == [Amount, Amount, Count, Code, Count]
    assert [each.required for each in fields] == [True, False, False, True, True]
    with pytest.raises(FormErrors) as errors:
        read_fields(fields, {"minimum": "0", "stock": "1.00001", "rate_age_s_max": "0", "duty": "a b"})
    assert errors.value.by_field == {
        "minimum": "Must be above 0.",
        "stock": "'1.00001' has more than 4 decimal places.",
        "rate_age_s_max": "'0' is not a whole number from 1 to 1,00,00,000.",
        "duty": "Use up to 32 letters, digits, dots, dashes and underscores.",
        "delay_ms": "Required.",
    }


def test_every_setting_of_an_account_is_in_its_forms() -> None:
    typed = {each.name for each in flat(account_actions.EDIT.fields)} - {SEEN.name}
    assert typed | account_actions.SWITCHES.keys() | {"allocation"} == body_fields(AccountBody).keys()
    defaults = {"active": True, "api_access": True, "production_trading": False, "scenarios": False}
    assert defaults_of(NewAccountBody) == {**defaults, "gold": "0", "silver": "0"}
