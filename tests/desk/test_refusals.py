"""Refused orders are listed by code, account, symbol and time, newest first, and counted by code."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.desk import Office
from tests.support.node import until
from tests.support.orders import SILVER, Trader, refused


def listed(office: Office, **filters: str) -> Any:
    answer = office.desk.get("/refusals", params=filters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ids(office: Office, **filters: str) -> list[str]:
    return [each["request_id"] for each in listed(office, **filters)["items"]]


def is_written(office: Office, request_id: str) -> None:
    """Decisions are written every half a second."""
    until(lambda: office.desk.get(f"/traces/{request_id}").status_code == 200, within_s=5)


def test_they_are_listed_by_code_account_symbol_and_time(
    office: Office, trader_of: Callable[..., Trader]
) -> None:
    office.desk.do("PUT", "/symbols/SILVER", SILVER)
    asha, bela = trader_of(office, "asha"), trader_of(office, "bela")
    answers = [
        (asha.place(quantity=5000), "limit_exceeded"),
        (bela.place(quantity=5000), "limit_exceeded"),
        (asha.place(symbol_code="SILVER", quantity=5000), "limit_exceeded"),
        (asha.place(symbol_code="NONE"), "unknown_symbol"),
    ]
    booked = asha.place("booked")
    for answer, code in answers:
        refused(answer, code)
    one, two, three, four = (answer.headers["x-request-id"] for answer, _ in answers)
    is_written(office, booked.headers["x-request-id"])
    assert ids(office) == [four, three, two, one]
    assert ids(office, code="limit_exceeded") == [three, two, one]
    assert ids(office, login_id="asha") == [four, three, one]
    assert ids(office, login_id="asha", code="limit_exceeded", symbol_code="GOLD") == [one]
    assert ids(office, symbol_code="SILVER") == [three]
    assert ids(office, environment="production") == []
    assert ids(office, environment="test") == [four, three, two, one]
    assert ids(office, login_id="nobody") == []
    third = listed(office, symbol_code="SILVER")["items"][0]
    assert (third["outcome"], third["login_id"], third["asked"]["quantity"]) == (
        "limit_exceeded",
        "asha",
        "5000.0000",
    )
    assert ids(office, since=third["at"]) == [four, three]
    assert ids(office, until=third["at"]) == [two, one]
    later = (datetime.fromisoformat(third["at"]) + timedelta(days=1)).isoformat()
    assert ids(office, since=later) == []
    assert ids(office, until=later) == [four, three, two, one]
    assert listed(office)["kept_since"] <= third["at"]


def test_a_list_goes_on_where_the_page_before_ended(office: Office, trader: Trader) -> None:
    sent = [trader.place(quantity=5000).headers["x-request-id"] for _ in range(7)]
    is_written(office, sent[-1])
    found: list[str] = []
    before: dict[str, str] = {}
    while True:
        page = listed(office, limit="3", **before)
        found += [each["request_id"] for each in page["items"]]
        if page["older"] is None:
            break
        before = {"before": page["older"]}
    assert found == sent[::-1]


def test_they_are_counted_by_code(office: Office, other: Office, trader: Trader) -> None:
    for _ in range(3):
        trader.place(quantity=5000)
    last = trader.place(symbol_code="NONE")
    is_written(office, last.headers["x-request-id"])
    counted = office.desk.do("GET", "/refusals/counts")
    assert counted["items"] == [
        {"code": "limit_exceeded", "environment": "test", "last_hour": 3, "last_day": 3},
        {"code": "unknown_symbol", "environment": "test", "last_hour": 1, "last_day": 1},
    ]
    assert counted["complete"] is True
    again = trader.place(quantity=5000)
    is_written(office, again.headers["x-request-id"])
    assert office.desk.do("GET", "/refusals/counts")["items"][0]["last_hour"] == 4
    assert other.desk.do("GET", "/refusals/counts")["items"] == []
    assert listed(other)["items"] == []


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("code", "filled", "is the code of a refusal"),
        ("environment", "moon", "is one of test, production"),
        ("since", "soon", "is not an ISO 8601 time"),
        ("until", "later", "is not an ISO 8601 time"),
        ("before", "1", "is the `older` of a response"),
    ],
)
def test_a_filter_that_means_nothing_is_refused(standing: Office, name: str, text: str, says: str) -> None:
    message = standing.desk.refused("GET", f"/refusals?{name}={text}")
    assert message.startswith(f"{name}: ")
    assert says in message
