"""The broker's switches: their defaults, one at a time, and who may turn which."""

from typing import Any

import pytest

from tests.support.desk import Office, nothing_changed

BUDGETS: dict[str, int] = {
    "reads_per_minute": 300,
    "orders_per_minute": 60,
    "orders_per_10_seconds": 10,
    "account_orders_per_minute": 60,
    "failed_auth_per_minute": 20,
}
DEFAULTS = {
    "production": False,
    "paused": False,
    "halted": False,
    "price_tolerance_percent": "0.5000",
    "trading_hours": None,
    "budgets": BUDGETS,
    "price_move_percent_max": "3.0000",
    "refuse_crossed": True,
    "public_rates": None,
    "quote_stream_interval_ms": None,
}
HOURS = {
    "zone": "Asia/Kolkata",
    "week": {
        "mon": [["09:00", "23:30"]],
        "tue": [["00:00", "12:00"], ["12:00", "24:00"]],
        "sat": [["09:00", "09:01"], ["10:00", "13:00"], ["18:00", "24:00"]],
    },
    "holidays": ["2026-11-09", "2027-01-26"],
}


def test_a_new_broker_has_the_defaults(office: Office) -> None:
    assert office.desk.do("GET", "/switches") == DEFAULTS


@pytest.mark.parametrize(
    "change",
    [
        {"production": True},
        {"paused": True},
        {"halted": True},
        {"price_tolerance_percent": "0.0000"},
        {"price_tolerance_percent": "100.0000"},
        {"price_move_percent_max": "0.0000"},
        {"price_move_percent_max": "100.0000"},
        {"refuse_crossed": False},
        {"public_rates": {"group": "retail", "title": "Our rates"}},
        {"quote_stream_interval_ms": 100},
        {"trading_hours": HOURS},
        {"trading_hours": {"zone": "UTC", "week": {}, "holidays": []}},
        {"production": True, "halted": True},
        {},
    ],
    ids=str,
)
def test_a_patch_changes_what_it_names_and_no_more(office: Office, change: dict[str, Any]) -> None:
    changed = office.desk.do("PATCH", "/switches", change)
    about_prices = {name: changed.pop(name, None) for name in ("prices", "undo")}
    assert changed == DEFAULTS | change
    # Only what loosens the price guard is confirmed, and can be taken back.
    loosened = "100.0000" in change.values() or "refuse_crossed" in change
    assert (about_prices["undo"] is not None) == loosened
    assert office.desk.do("GET", "/switches") == DEFAULTS | change
    # Once more through the store and back, by changing something else.
    again = office.desk.do("PATCH", "/switches", {"paused": not change.get("paused", False)})
    assert again | {"paused": False} == DEFAULTS | change | {"paused": False}


@pytest.mark.parametrize(
    ("budget", "calls"),
    [
        ("reads_per_minute", 0),
        ("orders_per_minute", 1_000_000),
        ("orders_per_10_seconds", 1),
        ("account_orders_per_minute", 7),
        ("failed_auth_per_minute", 1),
    ],
)
def test_one_budget_may_change_alone(office: Office, budget: str, calls: int) -> None:
    changed = office.desk.do("PATCH", "/switches", {"budgets": {budget: calls}})
    assert changed["budgets"] == {**BUDGETS, budget: calls}
    assert office.desk.do("GET", "/switches") == changed


def test_trading_hours_may_be_taken_away_again(office: Office) -> None:
    office.desk.do("PATCH", "/switches", {"trading_hours": HOURS})
    assert office.desk.do("PATCH", "/switches", {"trading_hours": None})["trading_hours"] is None


def test_new_trading_hours_replace_the_old_ones_whole(office: Office) -> None:
    office.desk.do("PATCH", "/switches", {"trading_hours": HOURS})
    new = {"zone": "UTC", "week": {"sun": [["01:00", "02:00"]]}, "holidays": []}
    assert office.desk.do("PATCH", "/switches", {"trading_hours": new})["trading_hours"] == new


def test_a_budget_holds_as_soon_as_it_is_answered(office: Office) -> None:
    office.desk.account("client")
    key = office.desk.key("client")["key"]
    office.desk.do("PATCH", "/switches", {"budgets": {"reads_per_minute": 2}})
    assert [office.me_code(key) for _ in range(3)] == ["ok", "ok", "rate_limited"]
    office.desk.do("PATCH", "/switches", {"budgets": {"reads_per_minute": 3}})
    assert [office.me_code(key) for _ in range(2)] == ["ok", "rate_limited"]


def hours(**change: Any) -> dict[str, Any]:
    return {"trading_hours": {"zone": "Asia/Kolkata", "week": {}} | change}


def monday(*openings: Any) -> dict[str, Any]:
    return hours(week={"mon": list(openings)})


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown field": ({"colour": "red"}, "colour"),
    "a word for a switch": ({"production": "on"}, "production"),
    "a number for a switch": ({"paused": 0}, "paused"),
    "null for a switch": ({"production": None}, "production"),
    "a limit of moves over 100": ({"price_move_percent_max": "100.0001"}, "price_move_percent_max"),
    "a word for crossed prices": ({"refuse_crossed": "no"}, "refuse_crossed"),
    "prices too often": ({"quote_stream_interval_ms": 99}, "quote_stream_interval_ms"),
    "prices too seldom": ({"quote_stream_interval_ms": 60_001}, "quote_stream_interval_ms"),
    "half a millisecond": ({"quote_stream_interval_ms": 500.5}, "quote_stream_interval_ms"),
    "a float for the tolerance": ({"price_tolerance_percent": 0.5}, "price_tolerance_percent"),
    "a negative tolerance": ({"price_tolerance_percent": "-0.1"}, "price_tolerance_percent"),
    "a tolerance over 100": ({"price_tolerance_percent": "100.0001"}, "price_tolerance_percent"),
    "a tolerance of 5 decimals": ({"price_tolerance_percent": "0.00001"}, "price_tolerance_percent"),
    "a tolerance in percent signs": ({"price_tolerance_percent": "1%"}, "price_tolerance_percent"),
    "no budgets": ({"budgets": None}, "budgets"),
    "budgets in a list": ({"budgets": [300]}, "budgets"),
    "an unknown budget": ({"budgets": {"writes_per_minute": 1}}, "writes_per_minute"),
    "a negative budget": ({"budgets": {"reads_per_minute": -1}}, "reads_per_minute"),
    "half a call": ({"budgets": {"reads_per_minute": 0.5}}, "reads_per_minute"),
    "a budget in words": ({"budgets": {"orders_per_minute": "60"}}, "orders_per_minute"),
    "a budget of null": ({"budgets": {"orders_per_minute": None}}, "orders_per_minute"),
    "a budget without end": ({"budgets": {"orders_per_minute": 10**30}}, "orders_per_minute"),
    "no failed log-in at all": ({"budgets": {"failed_auth_per_minute": 0}}, "failed_auth_per_minute"),
    "one bad budget beside a good one": (
        {"budgets": {"reads_per_minute": 5, "orders_per_minute": -5}},
        "orders_per_minute",
    ),
    "hours in words": ({"trading_hours": "always"}, "trading_hours"),
    "hours without a week": ({"trading_hours": {"zone": "UTC"}}, "week"),
    "hours without a zone": ({"trading_hours": {"week": {}}}, "zone"),
    "an unknown part of hours": (hours(breaks=[]), "breaks"),
    "a zone that is none": (hours(zone="Asia/Atlantis"), "zone"),
    "an empty zone": (hours(zone=""), "zone"),
    "half a zone": (hours(zone="Asia"), "zone"),
    "a path for a zone": (hours(zone="../../etc/passwd"), "zone"),
    "a zone that is this machine's own": (hours(zone="localtime"), "zone"),
    "a very long zone": (hours(zone="A" * 5_000), "zone"),
    "a number for a zone": (hours(zone=5.5), "zone"),
    "a day that is none": (hours(week={"monday": []}), "monday"),
    "a day in capitals": (hours(week={"Mon": []}), "Mon"),
    "a day that is null": (hours(week={"mon": None}), "week"),
    "an opening that never ends": (monday(["09:00"]), "week"),
    "an opening of three times": (monday(["09:00", "12:00", "15:00"]), "week"),
    "an opening in one text": (monday("09:00-12:00"), "week"),
    "an end before the start": (monday(["12:00", "09:00"]), "12:00"),
    "an end at the start": (monday(["12:00", "12:00"]), "12:00"),
    "openings that overlap": (monday(["09:00", "12:00"], ["11:59", "13:00"]), "overlap"),
    "openings out of order": (monday(["12:00", "13:00"], ["09:00", "10:00"]), "follow"),
    "an opening after midnight": (monday(["09:00", "24:00"], ["10:00", "11:00"]), "overlap"),
    "a start at 24:00": (monday(["24:00", "24:00"]), "24:00"),
    "an hour that is none": (monday(["25:00", "26:00"]), "25:00"),
    "a minute that is none": (monday(["09:60", "10:00"]), "09:60"),
    "an hour of one digit": (monday(["9:00", "12:00"]), "9:00"),
    "seconds": (monday(["09:00:00", "12:00:00"]), "09:00:00"),
    "no time": (monday(["early!"[:5], "12:00"]), "early"),
    "a time in UTC": (monday(["0900Z", "12:00"]), "0900Z"),
    "both times in UTC": (monday(["0900Z", "1200Z"]), "0900Z"),
    "an hour with an offset": (monday(["09+01", "12:00"]), "09+01"),
    "a time without a colon": (monday(["T0900", "12:00"]), "T0900"),
    "a holiday that is none": (hours(holidays=["2026-02-30"]), "2026-02-30"),
    "a holiday in words": (hours(holidays=["Diwali"]), "Diwali"),
    "holidays in one text": (hours(holidays="2026-11-09"), "holidays"),
}


@pytest.mark.parametrize(("change", "named"), BAD.values(), ids=BAD)
def test_a_bad_switch_is_refused_by_name(standing: Office, change: dict[str, Any], named: str) -> None:
    with nothing_changed(standing.desk):
        assert named in standing.desk.refused("PATCH", "/switches", change)


@pytest.mark.parametrize("halted", [True, False])
def test_a_dealer_may_halt_and_resume(office: Office, halted: bool) -> None:
    office.desk.do("PATCH", "/switches", {"halted": not halted})
    assert office.hire("dealer").do("PATCH", "/switches", {"halted": halted})["halted"] is halted


@pytest.mark.parametrize(
    "change",
    [
        {"production": True},
        {"paused": False},
        {"halted": True, "paused": False},
        {"price_tolerance_percent": "1"},
        {"price_move_percent_max": "100"},
        {"refuse_crossed": False},
        {"trading_hours": None},
        {"quote_stream_interval_ms": 1000},
        {"budgets": {"reads_per_minute": 1}},
    ],
    ids=str,
)
def test_a_dealer_may_change_nothing_else(office: Office, change: dict[str, Any]) -> None:
    dealer = office.hire("dealer")
    with nothing_changed(office.desk):
        dealer.refused("PATCH", "/switches", change, status=403, code="role_too_low")
