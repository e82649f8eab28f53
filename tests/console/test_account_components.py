"""What the pages of accounts and of the trail do without a browser: words, forms, differences, states."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bullion.console.page import FormErrors
from bullion.console.pages.accounts.forms import addresses, beside_fields, day_of, last_day, weights
from bullion.console.pages.accounts.key_table import key_state
from bullion.console.pages.audit.action_names import called
from bullion.console.pages.audit.entry_changes import changes
from bullion.refusals.desk import CONFLICT, INVALID_BODY, NOT_FOUND
from bullion.refusals.refusal import FieldError, RefusalError

INDIA = ZoneInfo("Asia/Kolkata")
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
KEY: dict[str, Any] = {"revoked_at": None, "overlap_ends_at": None, "replaced_by": None, "expires_at": None}


def in_days(days: float) -> str:
    return (NOW + timedelta(days=days)).isoformat()


@pytest.mark.parametrize(
    ("fields", "kind", "words"),
    [
        ({}, "good", "works"),
        ({"expires_at": in_days(15)}, "good", "works"),
        ({"expires_at": in_days(13)}, "warn", "expires in 13\N{NO-BREAK SPACE}days"),
        ({"expires_at": in_days(0)}, "bad", "expired"),
        (
            {"overlap_ends_at": in_days(3), "replaced_by": "x"},
            "warn",
            "rotated, 3\N{NO-BREAK SPACE}days left",
        ),
        ({"overlap_ends_at": in_days(0), "replaced_by": "x"}, "off", "rotated"),
        ({"revoked_at": in_days(0), "expires_at": in_days(-1)}, "off", "revoked"),
    ],
)
def test_the_state_of_a_key(fields: dict[str, Any], kind: str, words: str) -> None:
    assert key_state(KEY | fields, NOW)[:2] == (kind, words)


def test_differences_are_told_by_field() -> None:
    before = {"active": True, "allocation": {"gold": "1", "silver": "2"}, "hosts": [], "same": 1}
    after = {"active": False, "allocation": {"gold": "3", "silver": "2"}, "hosts": ["a", "b"], "same": 1}
    assert changes(before, after, INDIA) == [
        ("active", "yes", "no"),
        ("allocation.gold", "1", "3"),
        ("hosts", "–", "a, b"),
    ]
    assert changes(None, {"name": "x", "note": None}, INDIA) == [("name", None, "x"), ("note", None, "–")]
    assert changes({"rows": [{"from": "1"}]}, {"rows": [{"from": "1"}, {"from": "2"}]}, INDIA) == [
        ("rows 2.from", None, "2")
    ]
    assert changes({"at": None}, {"at": "2026-11-15T20:00:00.5+00:00"}, INDIA) == [
        ("at", "–", "16 Nov 2026 01:30:00\N{NO-BREAK SPACE}IST")
    ]
    assert changes(before, before, INDIA) == []


def test_actions_have_words() -> None:
    assert called("issue_key") == "issued a key"
    assert called("something_new") == "something new"


def test_weights_may_be_grouped_and_must_be_there() -> None:
    assert weights({"gold": " 1,23,456.5 ", "silver": "0"}) == {"gold": "123456.5", "silver": "0"}
    # A comma elsewhere may be a lost digit, or was meant as a point: the desk refuses what has one.
    assert weights({"gold": "1,5", "silver": "12,34.5"}) == {"gold": "1,5", "silver": "12,34.5"}
    with pytest.raises(FormErrors) as caught:
        weights({"gold": " "})
    assert caught.value.troubles.keys() == {"gold", "silver"}


def test_addresses_come_in_lines_or_with_commas() -> None:
    assert addresses({"allowed_addresses": " 10.0.0.1\r\n10.0.0.2, ::1;10.1.0.0/16 "}) == [
        "10.0.0.1",
        "10.0.0.2",
        "::1",
        "10.1.0.0/16",
    ]
    assert addresses({"allowed_addresses": " \n"}) == []
    assert addresses({}) == []


def test_a_last_day_ends_in_the_brokers_zone() -> None:
    ends = last_day({"expires_at": "2027-03-31"}, INDIA)
    assert ends is not None
    assert datetime.fromisoformat(ends) == datetime(2027, 3, 31, 23, 59, 59, tzinfo=INDIA)
    assert day_of(ends, INDIA) == "2027-03-31"
    assert last_day({"expires_at": ""}, INDIA) is None
    assert day_of(None, INDIA) == ""
    for text in ("tomorrow", "2027-02-30"):
        with pytest.raises(FormErrors):
            last_day({"expires_at": text}, INDIA)


@pytest.mark.parametrize(
    ("error", "troubles"),
    [
        (
            FieldError(("body", "login_id"), "Must have at least 1 characters.", "empty"),
            {"login_id": "Use up to 64 letters"},
        ),
        (
            FieldError(("body", "allocation", "gold"), "'x' is not a number.", "invalid"),
            {"gold": "'x' is not a number. Type a weight in grams"},
        ),
        (
            FieldError(("body", "group"), "There is no group x; make it first.", "invalid"),
            {"group": "There is no group x; make it first."},
        ),
    ],
)
def test_a_refusal_is_told_beside_its_field(error: FieldError, troubles: dict[str, str]) -> None:
    with pytest.raises(FormErrors) as caught, beside_fields("login_id", "gold", "group"):
        raise RefusalError(INVALID_BODY, errors=[error])
    assert caught.value.troubles.keys() == troubles.keys()
    for field, words in troubles.items():
        assert caught.value.troubles[field].startswith(words)


def test_a_refusal_about_something_else_stays_what_it_is() -> None:
    with pytest.raises(FormErrors), beside_fields("login_id", conflict="login_id"):
        raise RefusalError(CONFLICT, "There is one already.")
    for refusal, message in (
        (CONFLICT, "It is revoked."),
        (NOT_FOUND, "group: no."),
        (INVALID_BODY, "What?"),
    ):
        with pytest.raises(RefusalError) as caught, beside_fields("group"):
            raise RefusalError(refusal, message)
        assert type(caught.value) is RefusalError
