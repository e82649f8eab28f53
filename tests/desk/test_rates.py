"""Rates from the desk: exact, on time, on the board at once, and never against a feed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bullion.rates.feeds.simulated import INSTRUMENTS
from tests.support.desk import Office, first_caller, nothing_changed
from tests.support.node import running, until
from tests.support.orders import GOLD, Trader

RATE = {"bid": "71234.5", "ask": "71240"}
DIRECT = GOLD | {"pricing": {"kind": "direct", "instrument": "GOLD"}}


def ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()


def test_a_rate_is_kept_to_six_decimals(office: Office) -> None:
    made = office.desk.do("PUT", "/rates/GOLD", {"bid": "71234.123456", "ask": "71240", "at": None})
    assert made == {
        "instrument": "GOLD",
        "bid": "71234.123456",
        "ask": "71240.000000",
        "at": made["at"],
        "moved_at": made["at"],
        "source": "desk",
        "pinned_until": None,
        "age_s": 0,
        "taken": True,
    }
    assert abs(datetime.fromisoformat(made["at"]) - datetime.now(UTC)) < timedelta(seconds=10)
    (rate,) = office.desk.all("/rates")
    assert {**rate, "age_s": 0} == {name: value for name, value in made.items() if name != "taken"}


@pytest.mark.parametrize(("bid", "ask"), [("0.000001", "0.000001"), ("999999999.999999", "999999999.999999")])
def test_the_smallest_and_the_largest(office: Office, bid: str, ask: str) -> None:
    office.desk.do("PUT", "/rates/EDGE", {"bid": bid, "ask": ask})
    (rate,) = office.desk.all("/rates")
    assert (rate["bid"], rate["ask"]) == (bid, ask)


def test_a_rate_that_comes_again_has_not_moved(office: Office) -> None:
    first = office.desk.do("PUT", "/rates/GOLD", RATE | {"at": ago(20)})
    same = office.desk.do("PUT", "/rates/GOLD", RATE | {"at": ago(10)})
    assert same["at"] > first["at"]
    assert same["moved_at"] == first["at"]
    moved = office.desk.do("PUT", "/rates/GOLD", RATE | {"ask": "71241"})
    assert moved["moved_at"] == moved["at"]


def test_an_older_rate_is_ignored_and_said_to_be(office: Office) -> None:
    older, newer = ago(11), ago(10)
    office.desk.do("PUT", "/rates/GOLD", RATE | {"at": newer})
    late = office.desk.do("PUT", "/rates/GOLD", {"bid": "1", "ask": "2", "at": older})
    assert (late["taken"], late["bid"], late["age_s"] >= 10) == (False, "71234.500000", True)
    assert office.desk.all("/rates")[0]["bid"] == "71234.500000"
    same_time = office.desk.do("PUT", "/rates/GOLD", {"bid": "1", "ask": "2", "at": late["at"]})
    assert (same_time["taken"], same_time["bid"]) == (True, "1.000000")


def test_a_rate_may_be_a_little_ahead_of_the_store(office: Office) -> None:
    ahead = office.desk.do("PUT", "/rates/GOLD", RATE | {"at": ago(-3)})
    assert (ahead["taken"], ahead["age_s"]) == (True, 0)
    with nothing_changed(office.desk):
        assert "5 seconds" in office.desk.refused("PUT", "/rates/GOLD", RATE | {"at": ago(-60)})


BAD: dict[str, tuple[Any, str]] = {
    "no bid": ({"ask": "1"}, "bid"),
    "a number": ({"bid": 1, "ask": "2"}, "bid"),
    "a float": ({"bid": "1", "ask": 2.5}, "ask"),
    "null": ({"bid": None, "ask": "2"}, "bid"),
    "nothing": ({"bid": "0", "ask": "2"}, "bid"),
    "below nothing": ({"bid": "-1", "ask": "2"}, "bid"),
    "an exponent": ({"bid": "1", "ask": "1e3"}, "ask"),
    "seven decimals": ({"bid": "1.0000001", "ask": "2"}, "bid"),
    "a thousand million": ({"bid": "1", "ask": "1000000000"}, "ask"),
    "far more": ({"bid": "1", "ask": "9" * 30}, "ask"),
    "an ask below the bid": ({"bid": "2", "ask": "1.999999"}, "ask"),
    "an unknown field": (RATE | {"mid": "1"}, "mid"),
    "a time that is none": (RATE | {"at": "noon"}, "at"),
    "a time in seconds": (RATE | {"at": 1_700_000_000}, "at"),
    "a time before time": (RATE | {"at": "1969-12-31T23:59:59Z"}, "at"),
    "a list": ([RATE], "object"),
}


@pytest.mark.parametrize(("body", "named"), BAD.values(), ids=BAD)
def test_a_bad_rate_is_refused_by_name(standing: Office, body: Any, named: str) -> None:
    with nothing_changed(standing.desk):
        assert named in standing.desk.refused("PUT", "/rates/GOLD", body)


@pytest.mark.parametrize("instrument", ["A" * 33, "-GOLD", "GO LD", "G%00", "G%0A", "G%C3%96LD"])
def test_a_bad_instrument_is_refused(standing: Office, instrument: str) -> None:
    with nothing_changed(standing.desk):
        assert "instrument" in standing.desk.refused("PUT", f"/rates/{instrument}", RATE)


def test_a_rate_prices_the_next_order(office: Office, trader: Trader) -> None:
    office.desk.do("PUT", "/symbols/GOLD", DIRECT)
    assert trader.place().json()["detail"]["code"] == "no_live_price"
    office.desk.do("PUT", "/rates/GOLD", RATE)
    assert (trader.quote()["buy"], trader.quote()["sell"]) == ("71240.00", "71234.50")
    assert trader.buy(1)["price"] == "71240.00"
    office.desk.do("PUT", "/rates/GOLD", {"bid": "80000", "ask": "80000.005"})
    assert (trader.buy(1)["price"], trader.sell(1)["price"]) == ("80000.01", "80000.00")


def test_an_old_rate_is_stale_and_a_new_one_is_not(office: Office, trader: Trader) -> None:
    office.desk.do("PUT", "/symbols/GOLD", DIRECT | {"rate_age_s_max": 30})
    office.desk.do("PUT", "/rates/GOLD", RATE | {"at": ago(60)})
    assert office.desk.all("/rates")[0]["age_s"] >= 60
    assert trader.place().json()["detail"]["code"] == "stale_rate"
    office.desk.do("PUT", "/rates/GOLD", RATE)
    trader.buy(1)


def test_what_a_feed_supplies_is_not_put_against_it(tmp_path: Path) -> None:
    with running(tmp_path) as node, first_caller(node) as desk:
        until(lambda: len(desk.all("/rates")) == len(INSTRUMENTS), within_s=10)
        assert {rate["source"] for rate in desk.all("/rates")} == {"feed"}
        for instrument in INSTRUMENTS:
            message = desk.refused("PUT", f"/rates/{instrument}", RATE, status=409, code="conflict")
            assert "BULLION_FEED=desk" in message
            assert instrument in message
        assert desk.do("PUT", "/rates/MUMBAI-GOLD", RATE)["source"] == "desk"
        sources = {rate["instrument"]: rate["source"] for rate in desk.all("/rates")}
        assert sources == {**dict.fromkeys(INSTRUMENTS, "feed"), "MUMBAI-GOLD": "desk"}


def test_after_a_feed_the_newer_rate_is_shown(tmp_path: Path) -> None:
    with running(tmp_path) as node, first_caller(node) as desk:
        until(lambda: desk.all("/rates"), within_s=10)
    with running(tmp_path, BULLION_FEED="desk") as node, first_caller(node) as desk:
        left = {rate["instrument"]: rate for rate in desk.all("/rates")}
        late = desk.do("PUT", "/rates/GOLD", RATE | {"at": ago(3600)})
        assert (late["taken"], late["source"], late["at"]) == (False, "feed", left["GOLD"]["at"])
        taken = desk.do("PUT", "/rates/GOLD", RATE)
        assert (taken["taken"], taken["source"]) == (True, "desk")
        shown = {rate["instrument"]: rate["source"] for rate in desk.all("/rates")}
        assert shown == {**dict.fromkeys(INSTRUMENTS, "feed"), "GOLD": "desk"}
