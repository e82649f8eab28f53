"""Groups: terms by symbol, terms for all the others, and what is no valid term."""

from typing import Any

import pytest

from tests.support.desk import Office, nothing_changed

FULL = {
    "buy_premium": "150.25",
    "sell_premium": "-150.25",
    "minimum": "1.0000",
    "maximum": "500.0000",
    "step": "0.5000",
}
EMPTY = dict.fromkeys(FULL)


def test_terms_come_back_as_they_were_put(office: Office) -> None:
    body = {
        "trading": False,
        "terms": {"GOLD": FULL, "SILVER": EMPTY | {"buy_premium": "0.00"}},
        "default_terms": EMPTY | {"sell_premium": "-1000000000000.00"},
    }
    put = office.desk.do("PUT", "/groups/trade", body)
    assert put == {"code": "trade", **body}
    assert put in office.desk.all("/groups")


def test_what_is_left_out_has_its_default(office: Office) -> None:
    put = office.desk.do("PUT", "/groups/bare", {})
    assert put == {"code": "bare", "trading": True, "terms": {}, "default_terms": None}
    assert put in office.desk.all("/groups")


def test_a_premium_that_is_null_stays_null(office: Office) -> None:
    body = {"terms": {"GOLD": {"buy_premium": None, "sell_premium": "5"}}, "default_terms": {}}
    put = office.desk.do("PUT", "/groups/one-sided", body)
    assert put["terms"]["GOLD"] == EMPTY | {"sell_premium": "5.00"}
    assert put["default_terms"] == EMPTY
    assert put in office.desk.all("/groups")


def test_a_second_put_replaces_all_terms(office: Office) -> None:
    office.desk.do("PUT", "/groups/g", {"terms": {"GOLD": FULL, "SILVER": FULL}, "default_terms": FULL})
    office.desk.do("PUT", "/groups/g", {"terms": {"SILVER": {"step": "2"}}})
    (found,) = [group for group in office.desk.all("/groups") if group["code"] == "g"]
    assert found["terms"] == {"SILVER": EMPTY | {"step": "2.0000"}}
    assert found["default_terms"] is None


def test_terms_may_name_a_symbol_that_is_yet_to_come(office: Office) -> None:
    assert "PLATED" in office.desk.do("PUT", "/groups/g", {"terms": {"PLATED": FULL}})["terms"]


BAD: dict[str, tuple[Any, str]] = {
    "an unknown field": ({"colour": "red"}, "colour"),
    "the code in the body": ({"code": "retail"}, "code"),
    "terms that are a list": ({"terms": [FULL]}, "terms"),
    "terms that are null": ({"terms": None}, "terms"),
    "null for a symbol's terms": ({"terms": {"GOLD": None}}, "terms"),
    "an unknown term": ({"terms": {"GOLD": {"spread": "1"}}}, "spread"),
    "a float for a premium": ({"terms": {"GOLD": {"buy_premium": 1.5}}}, "buy_premium"),
    "tenths of a paisa": ({"terms": {"GOLD": {"buy_premium": "0.005"}}}, "terms.GOLD.buy_premium"),
    "a premium out of bounds": ({"default_terms": {"sell_premium": "-1000000000000.01"}}, "sell_premium"),
    "too many decimals": ({"default_terms": {"step": "0.00001"}}, "default_terms.step"),
    "a negative minimum": ({"default_terms": {"minimum": "-1"}}, "default_terms.minimum"),
    "a minimum of 0": ({"default_terms": {"minimum": "0"}}, "default_terms.minimum"),
    "a maximum of 0": ({"default_terms": {"maximum": "0"}}, "default_terms.maximum"),
    "a step of 0": ({"terms": {"GOLD": {"step": "0"}}}, "terms.GOLD.step"),
    "a minimum above the maximum": ({"default_terms": {"minimum": "2", "maximum": "1"}}, "minimum"),
    "a symbol with an empty code": ({"terms": {"": FULL}}, "terms"),
    "a symbol that is no code": ({"terms": {"A B": FULL}}, "terms"),
    "a symbol of 33 letters": ({"terms": {"G" * 33: FULL}}, "terms"),
    "a word for the switch": ({"trading": "no"}, "trading"),
}


@pytest.mark.parametrize(("body", "named"), BAD.values(), ids=BAD)
def test_bad_terms_are_refused_by_name(standing: Office, body: Any, named: str) -> None:
    with nothing_changed(standing.desk):
        assert named in standing.desk.refused("PUT", "/groups/retail", body)


@pytest.mark.parametrize("code", ["g" * 33, "A%20B", "%00", "group%0A", "-dash", "%C3%A9"])
def test_a_code_that_is_none_is_refused(standing: Office, code: str) -> None:
    with nothing_changed(standing.desk):
        message = standing.desk.refused("PUT", f"/groups/{code}", {})
    assert message == "group code: use up to 32 letters, digits, dots, dashes and underscores."


def test_an_empty_body_makes_no_group(standing: Office) -> None:
    """Nothing at all is not `{}`: a client that lost its body must not wipe a group's terms."""
    with nothing_changed(standing.desk):
        standing.desk.refused("PUT", "/groups/retail")
