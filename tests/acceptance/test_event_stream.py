"""`GET /events/stream`: what happens as it happens, in order, without a gap and nothing twice."""

import time
from typing import Any

import pytest

from tests.support.event_streams import Message, StreamReader, streaming
from tests.support.orders import BASE, Market, Placed, Trader, all_at_once, problems, refused, unique
from tests.support.production import LiveMarket

EVENTS = f"{BASE}/events"
STREAM = f"{EVENTS}/stream"
LIVE_STREAM = "/api/trading/v1/events/stream"


def listed(trader: Trader, after: int = 0) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = trader.get(EVENTS, after=after, limit=200)["items"]
    return items


def check(found: list[Message], expected: list[dict[str, Any]]) -> None:
    """They are those of the list, each with its number and type."""
    assert [each.data for each in found] == expected
    assert [each.id for each in found] == [str(each["number"]) for each in expected]
    assert [each.event for each in found] == [each["type"] for each in expected]


def orders(number: int) -> list[Placed]:
    body = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}
    return [(unique("order"), body) for _ in range(number)]


@pytest.mark.both_stacks
def test_it_begins_with_what_happens_from_now_on(trader: Trader) -> None:
    before = trader.buy(1)
    with streaming(trader.http, STREAM) as reader, streaming(trader.http, STREAM) as other:
        assert reader.last_id == str(listed(trader)[-1]["number"])
        after = trader.sell(2)
        found = reader.next()
        assert found.event == "order.created"
        assert found.data["data"] == after != before
        check([found, *reader.take(0)], listed(trader)[-1:])
        assert other.next() == found
        trader.buy(3)
        check([reader.next()], listed(trader)[-1:])


@pytest.mark.both_stacks
def test_a_client_that_comes_back_misses_nothing_and_gets_nothing_twice(trader: Trader) -> None:
    all_at_once([trader], orders(110))
    expected = listed(trader)
    expected += listed(trader, expected[-1]["number"])
    last: str | None = None
    found: list[Message] = []
    for number in (3, 0, 104, 2):  # The third is more than the service reads at once.
        position = {} if last is None else {"Last-Event-ID": last}
        with streaming(trader.http, f"{STREAM}?after=0", **position) as reader:
            assert reader.last_id == (last or "0")
            found += reader.take(number)
            last = reader.last_id
    trader.buy(1)
    with streaming(trader.http, STREAM, **{"Last-Event-ID": str(expected[-3]["number"])}) as reader:
        found = found[: len(expected) - 2] + reader.take(3)
    check(found, expected + listed(trader, expected[-1]["number"]))


@pytest.mark.both_stacks
def test_streams_at_different_places_all_end_up_with_everything(market: Market) -> None:
    login = market.account()
    traders = [market.trader(login) for _ in range(4)]
    all_at_once(traders, orders(10))
    positions = [0, 3, 9, 10]
    opened = [
        traders[place].http.stream("GET", f"{STREAM}?after={after}") for place, after in enumerate(positions)
    ]
    readers = [StreamReader(each.__enter__()).begin() for each in opened]
    all_at_once(traders, orders(30))
    newest = listed(traders[0])[-1]["number"]
    for reader, after in zip(readers, positions, strict=True):
        check(reader.take(newest - after), listed(traders[0], after))
    for each in opened:
        each.__exit__(None, None, None)


def test_production_orders_are_followed_to_their_end(live_market: LiveMarket) -> None:
    trader = live_market.trader()
    with (
        live_market.node.api(trader.key, Host=live_market.host) as http,
        streaming(http, LIVE_STREAM) as reader,
    ):
        order = trader.buy(1)
        created, opened = reader.take(2)
        assert [created.event, opened.event] == ["order.created", "order.opened"]
        assert created.data["data"]["status"] == "pending"
        assert opened.data["data"] == order
        live_market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"allocation": {"gold": "7"}})
        changed = reader.next()
        assert changed.event == "allocation.changed"
        assert changed.data["data"]["gold"]["limit"] == "7.0000"
        assert int(changed.id or 0) == int(opened.id or 0) + 1


# --- Refusals -------------------------------------------------------------------------------------------


def test_a_place_that_is_not_kept_is_refused(trader: Trader) -> None:
    newest = listed(trader)[-1]["number"] if listed(trader) else 0
    answer = trader.http.get(STREAM, headers={"Last-Event-ID": str(newest + 5)})
    assert answer.status_code == 410
    detail = answer.json()["detail"]
    assert (detail["code"], detail["newest"]) == ("events_gone", newest)
    with streaming(trader.http, f"{STREAM}?after={detail['newest']}"):
        pass


@pytest.mark.parametrize("sent", ["-1", "one", "1.0", "٣", "1 2"])
def test_a_place_that_is_no_number_is_refused(trader: Trader, sent: str) -> None:
    answer = trader.http.get(STREAM, headers={b"Last-Event-ID": sent.encode()})
    assert problems(answer) == [(["header", "Last-Event-ID"], "not_an_integer")]
    kind = "too_small" if sent == "-1" else "not_an_integer"
    assert problems(trader.http.get(STREAM, params={"after": sent})) == [(["query", "after"], kind)]


def test_an_empty_place_is_none(trader: Trader) -> None:
    with streaming(trader.http, STREAM, **{"Last-Event-ID": ""}) as reader:
        trader.buy(1)
        assert reader.next().event == "order.created"


def test_streams_of_both_kinds_are_counted_together(own_market: Market) -> None:
    own_market.switch(quote_stream_interval_ms=1000)
    trader = own_market.trader()
    paths = [STREAM, f"{BASE}/quotes/stream"]
    opened = [trader.http.stream("GET", paths[number % 2]) for number in range(5)]
    assert [each.__enter__().status_code for each in opened] == [200] * 5
    for path in paths:
        refused(trader.http.get(path), "too_many_streams")
    for each in opened:
        each.__exit__(None, None, None)


def test_the_scope_is_checked_and_there_are_scenarios(market: Market) -> None:
    refused(market.trader(scopes=["account:read"]).http.get(STREAM), "insufficient_scope")
    trader = market.trader(market.account(scenarios=True))
    for code in ("too_many_streams", "service_unavailable"):
        answer = trader.http.get(STREAM, headers={"X-Bullion-Scenario": code})
        assert answer.headers["x-bullion-scenario"] == code
        assert answer.json()["detail"]["code"] == code


def test_a_revoked_key_ends_its_stream_and_its_successor_goes_on(market: Market) -> None:
    trader = market.trader()
    with streaming(trader.http, STREAM) as reader:
        trader.buy(1)
        first = reader.next()
        new = market.desk.do("POST", f"/keys/{trader.key_id}/rotate", {"overlap_s": 0})
        began = time.monotonic()
        *_, last = reader.rest()
        assert time.monotonic() - began < 1
        assert (last.event, last.data["code"]) == ("end", "credential_rotated")
    successor = market.at_work(trader.login_id, new)
    successor.sell(1)
    with streaming(successor.http, STREAM, **{"Last-Event-ID": first.id or ""}) as reader:
        check(reader.take(2), listed(successor, first.data["number"]))
