"""Symbols: every field, its default, single changes, and every way to get one wrong."""

from typing import Any

import pytest

from tests.support.desk import SYMBOL, Caller, Office, nothing_changed

LANDED = {
    "kind": "landed",
    "spot": "XAUUSD",
    "currency": "USDINR",
    "premium_usd": "1.25",
    "interbank": "-0.0125",
    "conversion": "0.3215074657",
    "duty": "gold",
    "margin": "-150.50",
}
EVERY_FIELD = {
    "metal": "silver",
    "quoted_weight": "1.0000",
    "trading": False,
    "sides": ["sell"],
    "frozen": True,
    "minimum": "0.0001",
    "maximum": "1000000000.0000",
    "step": "0.0001",
    "rate_age_s_max": 5,
    "freeze_after_s": 10000000,
    "stock": "12.3456",
    "fineness": "999.9",
    "pricing": {"kind": "fixed", "buy": "71240.05", "sell": None},
}


def the_symbol(desk: Caller, code: str) -> Any:
    (found,) = [each for each in desk.all("/symbols") if each["code"] == code]
    return found


def test_every_field_comes_back_as_it_was_put(office: Office) -> None:
    put = office.desk.do("PUT", "/symbols/SILVER.1kg_v2-A", EVERY_FIELD)
    assert put == {"code": "SILVER.1kg_v2-A", "unit": "kg", **EVERY_FIELD}
    assert the_symbol(office.desk, "SILVER.1kg_v2-A") == put


def test_what_is_left_out_has_its_default(office: Office) -> None:
    office.desk.do("PUT", "/symbols/GOLD", SYMBOL)
    assert the_symbol(office.desk, "GOLD") == {
        "code": "GOLD",
        "metal": "gold",
        "unit": "g",
        "quoted_weight": "10.0000",
        "trading": True,
        "sides": ["buy", "sell"],
        "frozen": False,
        "minimum": "1.0000",
        "maximum": "1000.0000",
        "step": "0.5000",
        "rate_age_s_max": 30,
        "freeze_after_s": 300,
        "stock": None,
        "fineness": "999.0",
        "pricing": {"kind": "direct", "instrument": "GOLD"},
    }


@pytest.mark.parametrize(
    "pricing",
    [
        {"kind": "direct", "instrument": "GOLD-26DEC.NSE_1"},
        {"kind": "fixed", "buy": "71240.05", "sell": "71234.50"},
        {"kind": "fixed", "buy": None, "sell": "1000000000000.00"},
        LANDED,
        LANDED | {"conversion": "0.0000000001", "premium_usd": "0", "interbank": "999999999999999.5"},
        LANDED | {"margin": "0.00"},
    ],
    ids=["direct", "fixed", "fixed sell alone", "landed", "landed extremes", "landed without margin"],
)
def test_pricing_comes_back_exactly(office: Office, pricing: dict[str, Any]) -> None:
    put = office.desk.do("PUT", "/symbols/PRICED", SYMBOL | {"pricing": pricing})
    assert put["pricing"] == pricing
    assert the_symbol(office.desk, "PRICED")["pricing"] == pricing
    # Once more through the store and back, by changing something else.
    assert office.desk.do("PATCH", "/symbols/PRICED", {"trading": False})["pricing"] == pricing


@pytest.mark.parametrize("field", ["premium_usd", "interbank", "margin"])
def test_minus_zero_is_written_as_zero(office: Office, field: str) -> None:
    put = office.desk.do("PUT", "/symbols/ZERO", SYMBOL | {"pricing": LANDED | {field: "-0.00"}})
    assert not put["pricing"][field].startswith("-")


def test_a_second_put_replaces_all_of_it(office: Office) -> None:
    office.desk.do("PUT", "/symbols/TWICE", EVERY_FIELD | {"metal": "gold"})
    office.desk.do("PUT", "/symbols/TWICE", SYMBOL)
    found = the_symbol(office.desk, "TWICE")
    assert (found["metal"], found["stock"], found["sides"]) == ("gold", None, ["buy", "sell"])


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_symbol_keeps_its_metal(office: Office, method: str) -> None:
    """What is open in it would turn from grams into kilograms."""
    before = office.desk.do("PUT", "/symbols/KEEPS", SYMBOL)
    body = {"metal": "silver"} if method == "PATCH" else SYMBOL | {"metal": "silver"}
    told = office.desk.refused(method, "/symbols/KEEPS", body, status=409, code="conflict")
    assert "cannot be changed" in told
    assert the_symbol(office.desk, "KEEPS") == before


def test_limits_of_age_may_be_none(office: Office) -> None:
    body = SYMBOL | {"rate_age_s_max": None, "freeze_after_s": None}
    put = office.desk.do("PUT", "/symbols/AGELESS", body)
    assert (put["rate_age_s_max"], put["freeze_after_s"]) == (None, None)


@pytest.mark.parametrize(
    "change",
    [
        {"quoted_weight": "100.0000"},
        {"trading": False},
        {"sides": ["buy"]},
        {"frozen": True},
        {"minimum": "2.0000"},
        {"maximum": "5.0000"},
        {"step": "0.0001"},
        {"rate_age_s_max": None},
        {"freeze_after_s": 1},
        {"stock": "0.0000"},
        {"fineness": "916.0"},
        {"pricing": LANDED},
        {"minimum": "2000.0000", "maximum": "3000.0000"},
    ],
    ids=lambda change: " and ".join(change),
)
def test_a_patch_changes_what_it_names_and_no_more(office: Office, change: dict[str, Any]) -> None:
    before = office.desk.do("PUT", "/symbols/PATCHED", SYMBOL)
    patched = office.desk.do("PATCH", "/symbols/PATCHED", change)
    assert patched == before | change
    assert the_symbol(office.desk, "PATCHED") == patched


def test_stock_may_be_taken_away_again(office: Office) -> None:
    office.desk.do("PUT", "/symbols/STOCKED", SYMBOL | {"stock": "5"})
    assert office.desk.do("PATCH", "/symbols/STOCKED", {"stock": None})["stock"] is None


def test_there_is_no_patch_of_what_is_not_there(standing: Office) -> None:
    with nothing_changed(standing.desk):
        message = standing.desk.refused(
            "PATCH", "/symbols/NONE", {"frozen": True}, status=404, code="not_found"
        )
    assert "NONE" in message


@pytest.mark.parametrize("frozen", [True, False])
def test_a_dealer_may_freeze_and_unfreeze(office: Office, frozen: bool) -> None:
    office.desk.do("PUT", "/symbols/GOLD", SYMBOL | {"frozen": not frozen})
    assert office.hire("dealer").do("PATCH", "/symbols/GOLD", {"frozen": frozen})["frozen"] is frozen


@pytest.mark.parametrize(
    "change",
    [{"trading": False}, {"frozen": True, "trading": False}, {"stock": "1", "step": "1"}, {"nonsense": 1}],
    ids=lambda change: " and ".join(change),
)
def test_a_dealer_may_patch_nothing_but_frozen_and_stock(office: Office, change: dict[str, Any]) -> None:
    office.desk.do("PUT", "/symbols/GOLD", SYMBOL)
    dealer = office.hire("dealer")
    with nothing_changed(office.desk):
        message = dealer.refused("PATCH", "/symbols/GOLD", change, status=403, code="role_too_low")
    assert message == "This needs the role admin; yours is dealer."


BAD_FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown field": ({"colour": "red"}, "colour"),
    "the code in the body": ({"code": "OTHER"}, "code"),
    "the unit, which follows the metal": ({"unit": "kg"}, "unit"),
    "a float for a weight": ({"minimum": 1.5}, "minimum"),
    "a whole number for a weight": ({"quoted_weight": 10}, "quoted_weight"),
    "null for a weight": ({"maximum": None}, "maximum"),
    "too many decimals": ({"minimum": "1.00005"}, "minimum"),
    "an exponent": ({"minimum": "1e2"}, "minimum"),
    "a plus sign": ({"minimum": "+1"}, "minimum"),
    "a comma": ({"maximum": "1,5"}, "maximum"),
    "a blank before": ({"maximum": " 5"}, "maximum"),
    "a new line after": ({"maximum": "5\n"}, "maximum"),
    "an empty weight": ({"step": ""}, "step"),
    "a half-written weight": ({"step": "1."}, "step"),
    "no number": ({"step": "NaN"}, "step"),
    "digits of another script": ({"maximum": "१०"}, "maximum"),
    "a very long weight": ({"maximum": "1" * 33}, "maximum"),
    "a weight past all metal on earth": ({"maximum": "1000000000.0001"}, "maximum"),
    "a negative weight": ({"minimum": "-1"}, "minimum"),
    "a minimum of 0": ({"minimum": "0"}, "minimum"),
    "a step of 0": ({"step": "0"}, "step"),
    "a negative step": ({"step": "-0.5"}, "step"),
    "a minimum above the maximum": ({"minimum": "1000.5"}, "minimum"),
    "a quoted weight of 0": ({"quoted_weight": "0.0000"}, "quoted_weight"),
    "a negative stock": ({"stock": "-0.0001"}, "stock"),
    "a float for the stock": ({"stock": 0.5}, "stock"),
    "a fineness of 0": ({"fineness": "0"}, "fineness"),
    "more than pure metal": ({"fineness": "1000.1"}, "fineness"),
    "a fineness between two steps": ({"fineness": "999.95"}, "fineness"),
    "a number for the fineness": ({"fineness": 999}, "fineness"),
    "an unknown metal": ({"metal": "platinum"}, "metal"),
    "a metal in capitals": ({"metal": "Gold"}, "metal"),
    "no metal": ({"metal": None}, "metal"),
    "an unknown side": ({"sides": ["hold"]}, "sides"),
    "no side": ({"sides": []}, "sides"),
    "sides that are no list": ({"sides": "buy"}, "sides"),
    "a word for a switch": ({"trading": "yes"}, "trading"),
    "a number for a switch": ({"frozen": 1}, "frozen"),
    "null for a switch": ({"trading": None}, "trading"),
    "an age of 0": ({"rate_age_s_max": 0}, "rate_age_s_max"),
    "a negative age": ({"rate_age_s_max": -1}, "rate_age_s_max"),
    "an age in words": ({"rate_age_s_max": "30"}, "rate_age_s_max"),
    "half a second": ({"freeze_after_s": 0.5}, "freeze_after_s"),
    "an age of centuries": ({"freeze_after_s": 10**12}, "freeze_after_s"),
    "a freeze of 0": ({"freeze_after_s": 0}, "freeze_after_s"),
    "no pricing": ({"pricing": None}, "pricing"),
    "pricing that is a list": ({"pricing": ["direct", "GOLD"]}, "pricing"),
    "pricing without a kind": ({"pricing": {"instrument": "GOLD"}}, "kind"),
    "an unknown kind": ({"pricing": {"kind": "guess", "instrument": "GOLD"}}, "kind"),
    "a kind in capitals": ({"pricing": {"kind": "Direct", "instrument": "GOLD"}}, "kind"),
    "direct without instrument": ({"pricing": {"kind": "direct"}}, "instrument"),
    "direct with another kind's field": (
        {"pricing": {"kind": "direct", "instrument": "GOLD", "buy": "1"}},
        "buy",
    ),
    "an empty instrument": ({"pricing": {"kind": "direct", "instrument": ""}}, "instrument"),
    "a blank in the instrument": ({"pricing": {"kind": "direct", "instrument": "A B"}}, "instrument"),
    "a new line in the instrument": ({"pricing": {"kind": "direct", "instrument": "GOLD\n"}}, "instrument"),
    "a long instrument": ({"pricing": {"kind": "direct", "instrument": "G" * 33}}, "instrument"),
    "fixed without a side": ({"pricing": {"kind": "fixed", "buy": "1"}}, "sell"),
    "a float for a price": ({"pricing": {"kind": "fixed", "buy": 71240.5, "sell": None}}, "buy"),
    "a negative price": ({"pricing": {"kind": "fixed", "buy": "-1", "sell": None}}, "buy"),
    "tenths of a paisa": ({"pricing": {"kind": "fixed", "buy": None, "sell": "1.005"}}, "sell"),
    "landed without currency": (
        {"pricing": {name: value for name, value in LANDED.items() if name != "currency"}},
        "currency",
    ),
    "a conversion of 0": ({"pricing": LANDED | {"conversion": "0"}}, "conversion"),
    "a negative conversion": ({"pricing": LANDED | {"conversion": "-1"}}, "conversion"),
    "a conversion of 11 decimals": ({"pricing": LANDED | {"conversion": "0.12345678901"}}, "conversion"),
    "a premium with an exponent": ({"pricing": LANDED | {"premium_usd": "1E1"}}, "premium_usd"),
    "an infinite interbank": ({"pricing": LANDED | {"interbank": "Infinity"}}, "interbank"),
    "a margin of tenths of a paisa": ({"pricing": LANDED | {"margin": "0.001"}}, "margin"),
    "a duty that is no name": ({"pricing": LANDED | {"duty": "gold duty"}}, "duty"),
}


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize(("change", "named"), BAD_FIELDS.values(), ids=BAD_FIELDS)
def test_a_bad_field_is_refused_by_name(
    standing: Office, method: str, change: dict[str, Any], named: str
) -> None:
    with nothing_changed(standing.desk):
        message = standing.desk.refused(
            method, "/symbols/GOLD", SYMBOL | change if method == "PUT" else change
        )
    assert named in message


@pytest.mark.parametrize("missing", SYMBOL)
def test_what_has_no_default_must_be_there(standing: Office, missing: str) -> None:
    body = {name: value for name, value in SYMBOL.items() if name != missing}
    with nothing_changed(standing.desk):
        assert missing in standing.desk.refused("PUT", "/symbols/GOLD", body)


@pytest.mark.parametrize(
    "code",
    ["G" * 33, "A%20B", "%00", "GOLD%00", "GOLD%0A", "A%09B", ".hidden", "-dash", "%C3%A9", "%FF", "a%22b"],
)
def test_a_code_that_no_order_could_name_is_refused(standing: Office, code: str) -> None:
    with nothing_changed(standing.desk):
        message = standing.desk.refused("PUT", f"/symbols/{code}", SYMBOL)
    assert message == "symbol code: use up to 32 letters, digits, dots, dashes and underscores."


def test_a_code_may_have_32_characters(office: Office) -> None:
    assert office.desk.do("PUT", f"/symbols/{'G' * 32}", SYMBOL)["code"] == "G" * 32
