"""What the pages of accounts and of the trail do without a browser: words, forms, differences, states."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bullion.console.forms import FormErrors, read_fields
from bullion.console.pages.accounts.key_actions import ADDRESSES, LAST_DAY, day_of, end_of_day, key_state
from bullion.console.pages.audit.audit_list import changes

INDIA = ZoneInfo("Asia/Kolkata")
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
KEY: dict[str, Any] = {"revoked_at": None, "overlap_ends_at": None, "replaced_by": None, "expires_at": None}


def in_days(days: float) -> str:
    return (NOW + timedelta(days=days)).isoformat()


@pytest.mark.parametrize(
    ("fields", "kind", "words"),
    [
        ({}, "ok", "valid"),
        ({"expires_at": in_days(15)}, "ok", "valid"),
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


def test_addresses_come_in_lines_or_with_commas() -> None:
    def read(typed: str) -> Any:
        return read_fields([ADDRESSES], {"allowed_addresses": typed})["allowed_addresses"]

    assert read(" 10.0.0.1\r\n10.0.0.2, ::1;10.1.0.0/16 ") == ["10.0.0.1", "10.0.0.2", "::1", "10.1.0.0/16"]
    assert read(" \n") is None


def test_a_last_day_ends_in_the_brokers_zone() -> None:
    day = read_fields([LAST_DAY], {"expires_at": "2027-03-31"})["expires_at"]
    ends = end_of_day(day, INDIA)
    assert ends is not None
    assert datetime.fromisoformat(ends) == datetime(2027, 3, 31, 23, 59, 59, tzinfo=INDIA)
    assert day_of(ends, INDIA) == "2027-03-31"
    assert end_of_day(None, INDIA) is None
    assert day_of(None, INDIA) is None
    for text in ("tomorrow", "2027-02-30"):
        with pytest.raises(FormErrors):
            read_fields([LAST_DAY], {"expires_at": text})
