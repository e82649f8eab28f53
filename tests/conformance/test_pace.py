"""The kit keeps within budgets: by what the service tells, else by the defaults."""

import time
from dataclasses import dataclass, field

import httpx
import pytest

from bullion_conformance.client import Client
from bullion_conformance.connection import Connection
from bullion_conformance.pace import ORDERS, READS, Pace, Payer
from bullion_conformance.setup import GOLD
from tests.support.node import Node, own_address
from tests.support.orders import GOLD as GOLD_BODY

READ, ORDER = (
    Payer("key", "account", order=False, shared=False),
    Payer("key", "account", order=True, shared=False),
)


@dataclass
class Clock:
    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def sent_at(pace: Pace, clock: Clock, payer: Payer, times: int) -> list[float]:
    """When so many calls go out, as soon as each may."""
    found = []
    for _ in range(times):
        pace.before(payer)
        found.append(clock.now)
        pace.after(payer, {})
    return found


@pytest.mark.parametrize(("payer", "windows"), [(READ, READS), (ORDER, ORDERS)])
def test_without_headers_no_default_budget_is_ever_passed(
    payer: Payer, windows: tuple[tuple[int, float], ...]
) -> None:
    clock = Clock()
    times = sent_at(Pace(lambda: clock.now, clock.sleep), clock, payer, 350)
    for count, seconds in windows:
        for first, beyond in zip(times, times[count:], strict=False):
            assert beyond - first > seconds
    assert times[min(count for count, _ in windows) - 1] == 0, "up to the budget nothing is waited for"


def test_headers_are_believed_where_they_are() -> None:
    clock = Clock()
    pace = Pace(lambda: clock.now, clock.sleep)
    for left in (50, 1):
        pace.before(ORDER)
        pace.after(ORDER, {"ratelimit-remaining": str(left), "ratelimit-reset": "7"})
    assert sent_at(pace, clock, READ, 1) == [0]
    pace.before(ORDER)
    assert clock.slept == []
    pace.after(ORDER, {"ratelimit-remaining": "0", "ratelimit-reset": "7"})
    pace.before(ORDER)
    assert clock.slept == [pytest.approx(7, abs=0.1)]


def test_keys_that_share_an_accounts_budget_are_counted_together() -> None:
    clock = Clock()
    pace = Pace(lambda: clock.now, clock.sleep)
    one, other = (Payer(key, "account", order=True, shared=True) for key in ("one", "other"))
    pace.after(one, {"ratelimit-remaining": "2", "ratelimit-reset": "30"})
    for _ in range(2):
        pace.after(other, {"ratelimit-remaining": "9", "ratelimit-reset": "30"})
    pace.before(other)
    assert clock.slept == []
    pace.before(one)
    assert len(clock.slept) == 1


def test_fewer_than_twenty_bad_keys_a_minute() -> None:
    clock = Clock()
    pace = Pace(lambda: clock.now, clock.sleep)
    times = []
    for _ in range(60):
        pace.before_refusal()
        times.append(clock.now)
        pace.after_refusal()
    for first, twentieth in zip(times, times[19:], strict=False):
        assert twentieth - first > 60


def test_a_429_that_nobody_asked_for_is_waited_out_and_told() -> None:
    answers = [httpx.Response(429, headers={"Retry-After": "3"}), httpx.Response(200, json={})]
    clock = Clock()
    pace = Pace(lambda: clock.now, clock.sleep)
    transport = httpx.MockTransport(lambda _request: answers.pop(0))
    with httpx.Client(base_url="http://service.example", transport=transport) as http:
        line = Connection(http, pace)
        assert Client(line, "test", "key_test.x", "account", GOLD).me().status == 200
    assert clock.slept == [3]
    assert (pace.throttled, len(line.seen)) == (1, 1)


class Waits(Exception):
    """Raised where the kit would wait, so that the test need not."""


def test_the_kit_waits_just_where_a_real_budget_ends(closed_node: Node) -> None:
    """With a key whose budgets nobody raised: ten orders go out at once, and the eleventh would be a 429."""
    with closed_node.desk() as desk:
        desk.do("PUT", "/brokers/slow", {"name": "Slow", "hosts": ["slow.example"]})
        token = desk.do("POST", "/tokens", {"name": "an admin", "role": "admin", "broker": "slow"})["token"]
    with closed_node.desk(token) as desk:
        desk.add_group()
        desk.do("PUT", "/symbols/GOLD", GOLD_BODY)
        desk.account("client", allocation={"gold": "1000", "silver": "1000"})
        key = desk.key("client")["key"]

    def sleep(seconds: float) -> None:
        raise Waits(seconds)

    transport = httpx.HTTPTransport(local_address=own_address())
    with httpx.Client(base_url=closed_node.api_url, transport=transport) as http:
        line = Connection(http, Pace(time.monotonic, sleep), host="slow.example")
        client = Client(line, "test", key, "client", GOLD)
        for _ in range(10):
            client.placed()
        with pytest.raises(Waits) as waits:
            client.placed()
        assert 5 < waits.value.args[0] <= 10.1
        assert (len(line.seen), line.pace.throttled) == (10, 0)
        line.unpaced = True
        assert client.place().code == "rate_limited"
