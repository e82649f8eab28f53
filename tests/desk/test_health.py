"""The health of what orders need: seen by nodes, told by the desk with its meaning and its remedy."""

import json
import resource
import signal
from pathlib import Path
from typing import Any

import httpx

from tests.support.command import bullion
from tests.support.dealing import Dealing
from tests.support.desk import Caller, Office, first_caller
from tests.support.node import SECRET, running, until
from tests.support.orders import GOLD
from tests.support.servers import Redis
from tests.support.tcp_proxy import tcp_proxy

WITHIN_S = 5
"""Trouble is red this soon, also on the console."""


def lights(desk: Caller) -> list[Any]:
    found: list[Any] = desk.do("GET", "/health")["items"]
    return found


def light(desk: Caller, name: str) -> Any:
    (found,) = [each for each in lights(desk) if each["name"] == name]
    return found


def test_all_is_well_and_nothing_covers_orders(office: Office) -> None:
    # The node asks the venue for a new broker within half a second, and connects to Redis when it starts.
    until(lambda: {each["state"] for each in lights(office.desk)} == {"ok"}, within_s=WITHIN_S)
    found = {each["name"]: each for each in lights(office.desk)}
    assert [*found] == ["Venue", "Store", "Limiter", "Schema", "Workers"]
    assert {each["since"] for each in found.values()} == {None}
    assert found["Venue"]["text"] == "SIMULATED: nothing is covered"
    assert found["Venue"]["simulated"] is True
    assert found["Workers"]["text"] == "1 of 1"


def test_a_venue_that_is_down_is_told_with_its_time_and_its_meaning(office: Office) -> None:
    dealing = Dealing(office)
    until(lambda: light(office.desk, "Venue")["state"] == "ok", within_s=WITHIN_S)
    dealing.venue(mode="down")
    until(lambda: light(office.desk, "Venue")["state"] == "bad", within_s=WITHIN_S)
    found = light(office.desk, "Venue")
    assert found["text"] == "down: live orders are refused"
    assert "production_prerequisites_unmet" in found["clients"]
    assert found["remedy"] == "It is simulated: set its behaviour under Market, Venue."
    assert dealing.place().status_code == 503
    # It stays the time at which it went down.
    since = found["since"]
    assert since is not None
    dealing.desk.do("PUT", "/groups/other", {"default_terms": {"buy_premium": "1"}})
    assert light(office.desk, "Venue")["since"] == since
    dealing.venue(mode="fill")
    until(lambda: light(office.desk, "Venue")["state"] == "ok", within_s=WITHIN_S)
    assert light(office.desk, "Venue")["since"] is None


def test_each_instrument_that_a_traded_symbol_needs_has_a_light(office: Office) -> None:
    desk = office.desk
    by_metal = {**GOLD, "rate_age_s_max": 600, "pricing": {"kind": "direct", "instrument": "METAL"}}
    desk.do("PUT", "/symbols/GOLD", by_metal)
    assert light(desk, "METAL")["state"] == "bad"
    assert light(desk, "METAL")["text"] == "no rate yet"
    desk.do("PUT", "/rates/METAL", {"bid": "100", "ask": "101"})
    found = light(desk, "METAL")
    assert (found["state"], found["clients"]) == ("ok", "GOLD can be priced.")
    desk.do("PUT", "/symbols/GOLD", {**by_metal, "rate_age_s_max": 1})
    until(lambda: light(desk, "METAL")["state"] == "bad", within_s=WITHIN_S)
    found = light(desk, "METAL")
    assert found["clients"] == "Orders in GOLD are refused with stale_rate."
    assert found["since"] == desk.do("GET", "/rates")["items"][0]["at"]
    assert found["remedy"] == "Set the rate of METAL under Market, Rates."
    # Nobody needs the rate of a symbol that is not traded.
    desk.do("PUT", "/symbols/GOLD", {**by_metal, "trading": False})
    assert "METAL" not in {each["name"] for each in lights(desk)}


def test_a_store_that_can_be_read_and_not_written(tmp_path: Path) -> None:
    """As on a full disk. The node notices it by its own writes."""
    with running(tmp_path, BULLION_FEED="desk") as node, first_caller(node) as desk:
        before = resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE)
        assert light(desk, "Store")["state"] == "ok"
        resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE, (0, before[1]))
        try:
            until(lambda: light(desk, "Store")["state"] == "bad", within_s=WITHIN_S)
            assert "booking_unavailable" in light(desk, "Store")["clients"]
        finally:
            resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE, before)
        until(lambda: light(desk, "Store")["state"] == "ok", within_s=WITHIN_S)


def test_redis_that_answers_and_cannot_count(redis: Redis, tmp_path: Path) -> None:
    assert redis.command("PING") == "+PONG\r\n"  # There can be one.
    own = Redis().start()
    try:
        settings = {"BULLION_FEED": "desk", "BULLION_REDIS_URL": own.url}
        with running(tmp_path, **settings) as node, first_caller(node) as desk:
            until(lambda: light(desk, "Limiter")["text"] == "counts in Redis", within_s=WITHIN_S)
            own.command("CONFIG", "SET", "maxmemory", "1")
            until(lambda: light(desk, "Limiter")["state"] == "bad", within_s=WITHIN_S)
            assert 'bullion_limiter_up{kind="redis"} 0.0' in httpx.get(f"{node.desk_url}/metrics").text
            assert len(node.entries("rate_limiter_failed")) == 1
            own.command("CONFIG", "SET", "maxmemory", "0")
            until(lambda: light(desk, "Limiter")["state"] == "ok", within_s=WITHIN_S)
    finally:
        own.remove()


def test_redis_that_is_cut_off_and_a_node_that_was_killed(redis: Redis, tmp_path: Path) -> None:
    with tcp_proxy(redis.port) as line:
        url = f"redis://127.0.0.1:{line.port}/0"
        with running(tmp_path, BULLION_FEED="desk", BULLION_REDIS_URL=url) as node:
            with first_caller(node) as desk:
                until(lambda: light(desk, "Limiter")["text"] == "counts in Redis", within_s=WITHIN_S)
                line.cut()
                until(lambda: light(desk, "Limiter")["state"] == "bad", within_s=WITHIN_S)
                found = light(desk, "Limiter")
                assert found["since"] is not None
                assert "rate_limiter_unavailable" in found["clients"]
                line.restore()
                until(lambda: light(desk, "Limiter")["state"] == "ok", within_s=WITHIN_S)
            node.stop(signal.SIGKILL)

    def seen_by_command() -> dict[str, Any]:
        done = bullion(tmp_path, "desk", "--json", "health", BULLION_SECRET=SECRET)
        assert done.returncode == 0, done.stderr
        return {each["name"]: each for each in json.loads(done.stdout)["items"]}

    until(lambda: seen_by_command()["Workers"]["state"] == "bad", within_s=20)
    found = seen_by_command()
    assert found["Workers"]["text"] == "no node reports"
    assert found["Workers"]["since"] is not None
    assert {found[name]["state"] for name in ("Venue", "Limiter", "Schema")} == {"unknown"}
    # One that starts again, and stops as it should, is not missed.
    with running(tmp_path, BULLION_FEED="desk"):
        until(lambda: seen_by_command()["Workers"]["state"] == "ok", within_s=20)
    assert seen_by_command()["Workers"]["text"] == "no node reports"
