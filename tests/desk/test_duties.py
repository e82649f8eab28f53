"""Duty tables: whole, dated in India, and in the price of whatever names them."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from tests.support.desk import Office, nothing_changed
from tests.support.orders import GOLD, Trader

ROW = {"from": "2026-05-13", "rupees": "6250"}
LANDED = GOLD | {
    "pricing": {
        "kind": "landed",
        "spot": "XAUUSD",
        "currency": "USDINR",
        "premium_usd": "0",
        "interbank": "0",
        "conversion": "0.3215",
        "duty": "gold",
        "margin": "0",
    }
}


def india(days: int) -> str:
    """The date in India, so many days from now."""
    today: date = (datetime.now(UTC) + timedelta(hours=5, minutes=30)).date()
    return (today + timedelta(days=days)).isoformat()


def test_a_table_is_sorted_and_kept(office: Office) -> None:
    rows = [{"from": india(30), "rupees": "6100.5"}, {"from": india(-30), "rupees": "0"}]
    made = office.desk.do("PUT", "/duties/gold", rows)
    assert made == {
        "name": "gold",
        "duties": [{"from": india(-30), "rupees": "0.00"}, {"from": india(30), "rupees": "6100.50"}],
        "in_force": {"from": india(-30), "rupees": "0.00"},
    }
    assert office.desk.all("/duties") == [made]


def test_a_new_table_replaces_the_old_one_whole(office: Office) -> None:
    office.desk.do("PUT", "/duties/gold", [ROW, {"from": "2026-06-01", "rupees": "1"}])
    office.desk.do("PUT", "/duties/silver", [ROW])
    replaced = office.desk.do("PUT", "/duties/gold", [{"from": "2999-01-01", "rupees": "2"}])
    assert replaced["in_force"] is None
    assert [table["name"] for table in office.desk.all("/duties")] == ["gold", "silver"]
    assert office.desk.all("/duties")[0] == replaced


BAD: dict[str, tuple[Any, str]] = {
    "no rows": ([], "The body must not be empty."),
    "an object": (ROW, "array"),
    "no date": ([{"rupees": "1"}], "from"),
    "no rupees": ([{"from": "2026-05-13"}], "rupees"),
    "an unknown field": ([ROW | {"to": "2026-06-01"}], "to"),
    "a number": ([ROW | {"rupees": 6250}], "rupees"),
    "less than nothing": ([ROW | {"rupees": "-1"}], "rupees"),
    "three decimals": ([ROW | {"rupees": "1.001"}], "rupees"),
    "more than there is": ([ROW | {"rupees": "1000000000001"}], "rupees"),
    "a day that is none": ([ROW | {"from": "2026-02-30"}], "2026-02-30"),
    "a date of one digit": ([ROW | {"from": "2026-5-13"}], "2026-5-13"),
    "a date without dashes": ([ROW | {"from": "20260513"}], "20260513"),
    "a week": ([ROW | {"from": "2026-W01-1"}], "2026-W01-1"),
    "a time": ([ROW | {"from": "2026-05-13T00:00"}], "2026-05-13T00:00"),
    "other digits": ([ROW | {"from": "٢٠٢٦-٠٥-١٣"}], "from"),
    "one date twice": ([ROW, ROW | {"rupees": "1"}], "2026-05-13"),
    "a thousand and one rows": ([ROW] * 1001, "up to 1000"),
}


@pytest.mark.parametrize(("rows", "named"), BAD.values(), ids=BAD)
def test_a_bad_table_is_refused_by_name(standing: Office, rows: Any, named: str) -> None:
    with nothing_changed(standing.desk):
        assert named in standing.desk.refused("PUT", "/duties/gold", rows)


def test_a_duty_is_in_the_price_from_its_day_on(office: Office, trader: Trader) -> None:
    office.desk.do("PUT", "/symbols/GOLD", LANDED)
    office.desk.do("PUT", "/rates/XAUUSD", {"bid": "4800", "ask": "4800"})
    office.desk.do("PUT", "/rates/USDINR", {"bid": "92", "ask": "92"})
    assert trader.place().json()["detail"]["code"] == "unpriced"
    office.desk.do("PUT", "/duties/gold", [{"from": india(2), "rupees": "1"}])
    assert trader.place().json()["detail"]["code"] == "unpriced"
    rows = [{"from": india(2), "rupees": "1"}, {"from": india(-2), "rupees": "6250.25"}]
    office.desk.do("PUT", "/duties/gold", rows)
    assert trader.buy(1)["price"] == f"{4800 * 92 * 3215 // 10_000 + 6250}.65"
    office.desk.do("PUT", "/duties/gold", [*rows, {"from": india(-1), "rupees": "0"}])
    assert trader.buy(1)["price"] == f"{4800 * 92 * 3215 // 10_000}.40"
