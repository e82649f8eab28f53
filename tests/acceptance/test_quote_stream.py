"""`GET /quotes/stream`: off by default, all prices at first, then those that change, once in an interval."""

import time

import pytest

from tests.support.event_streams import StreamReader, streaming
from tests.support.node import Node
from tests.support.orders import BASE, QUOTES, Market, Trader, problems, refused

STREAM = f"{QUOTES}/stream"
LIVE_STREAM = "/api/trading/v1/quotes/stream"


@pytest.fixture
def market(own_market: Market) -> Market:
    own_market.switch(quote_stream_interval_ms=100)
    return own_market


def first_quotes(reader: StreamReader) -> dict[str, str]:
    """The price to buy of each symbol."""
    found = reader.take(2)
    assert {each.event for each in found} == {"quote"}
    return {each.data["symbol_code"]: each.data["buy"] for each in found}


def gold_at(market: Market, buy: str) -> None:
    market.change("GOLD", pricing={"kind": "fixed", "buy": buy, "sell": "71000.00"})


def test_it_is_refused_until_the_broker_turns_it_on(own_market: Market) -> None:
    trader = own_market.trader()
    refused(trader.http.get(STREAM), "quote_stream_disabled")
    own_market.switch(quote_stream_interval_ms=1000)
    with streaming(trader.http, STREAM) as reader:
        assert reader.retry_ms == 1000
        assert [each.data for each in reader.take(2)] == trader.get(QUOTES)["items"]
        own_market.switch(quote_stream_interval_ms=None)
        (last,) = reader.rest()
        assert (last.event, last.data["code"]) == ("end", "quote_stream_disabled")
    refused(trader.http.get(STREAM), "quote_stream_disabled")


def test_only_what_changes_is_sent_and_at_most_once_in_an_interval(market: Market) -> None:
    trader = market.trader()
    market.switch(quote_stream_interval_ms=1500)
    with streaming(trader.http, STREAM) as reader:
        assert first_quotes(reader) == {"GOLD": "71240.00", "SILVER": "89100.50"}
        began = time.monotonic()
        for number in range(5):
            gold_at(market, f"7124{number}.50")
        changed = reader.next()
        while changed.data["buy"] != "71244.50":  # An interval may end between two changes.
            assert changed.data["symbol_code"] == "GOLD"
            changed = reader.next()
        assert time.monotonic() - began > 0.5
        assert changed.data == trader.quote()
        market.change("SILVER", frozen=True)
        last = reader.next()
        assert (last.data["symbol_code"], last.data["reason"]) == ("SILVER", "symbol_frozen")


def test_each_group_has_its_own_prices_and_a_filter_leaves_out_the_rest(market: Market) -> None:
    dear = market.group(default_terms={"buy_premium": "100", "sell_premium": "0"})
    usual, other, one = market.trader(), market.trader(market.account(group=dear)), market.trader()
    with (
        streaming(usual.http, STREAM) as first,
        streaming(other.http, STREAM) as second,
        streaming(one.http, f"{STREAM}?symbol_code=GOLD") as third,
    ):
        assert first_quotes(first)["GOLD"] == third.next().data["buy"] == "71240.00"
        assert first_quotes(second)["GOLD"] == "71340.00"
        market.change("SILVER", frozen=True)
        assert first.next().data["symbol_code"] == second.next().data["symbol_code"] == "SILVER"
        gold_at(market, "71300.00")
        assert [each.next().data["buy"] for each in (first, second, third)] == [
            "71300.00",
            "71400.00",
            "71300.00",
        ]


def test_a_query_that_cannot_be_read_is_refused(market: Market) -> None:
    answer = market.trader().http.get(STREAM, params={"symbol_code": "x" * 40})
    assert problems(answer) == [(["query", "symbol_code"], "too_long")]


def test_production_has_the_reason_why_it_is_closed(market: Market) -> None:
    login = market.account()
    issued = market.desk.key(login, "production")
    with (
        market.node.api(issued["key"], Host=market.host) as http,
        streaming(http, f"{LIVE_STREAM}?symbol_code=GOLD") as reader,
    ):
        assert reader.next().data["reason"] == "production_trading_disabled"


def test_the_scope_and_the_method_are_checked(market: Market) -> None:
    trader = market.trader(scopes=["account:read"])
    refused(trader.http.get(STREAM), "insufficient_scope")
    refused(market.trader().http.post(STREAM), "method_not_allowed")


# --- The limits of a key --------------------------------------------------------------------------------


def test_a_key_may_have_five_streams(market: Market) -> None:
    trader, other = market.trader(), market.trader()
    opened = [trader.http.stream("GET", STREAM) for _ in range(5)]
    answers = [each.__enter__() for each in opened]
    assert [each.status_code for each in answers] == [200] * 5
    answer = trader.http.get(STREAM)
    detail = refused(answer, "too_many_streams")
    assert "5 streams" in detail["message"]
    assert answer.headers["ratelimit-limit"] == "30"
    with streaming(other.http, STREAM):
        pass  # Another key's streams are not counted with them.
    opened[0].__exit__(None, None, None)
    give_up = time.monotonic() + 10
    while trader.http.get(STREAM, params={"symbol_code": "x" * 40}).status_code == 429:
        assert time.monotonic() < give_up
        time.sleep(0.1)
    for each in opened[1:]:
        each.__exit__(None, None, None)


def test_opening_has_a_budget_of_its_own(market: Market) -> None:
    trader = market.trader()
    wrong = {"symbol_code": "x" * 40}
    for left in range(29, -1, -1):
        answer = trader.http.get(STREAM, params=wrong)
        assert answer.status_code == 422
        assert answer.headers["ratelimit-limit"] == "30"
        assert answer.headers["ratelimit-remaining"] == str(left)
    refused(trader.http.get(STREAM), "rate_limited")
    assert trader.http.get(f"{BASE}/me").status_code == 200  # Reads are counted apart.


# --- The end --------------------------------------------------------------------------------------------


ENDS = {
    "credential_revoked": lambda market, trader: market.desk.do("POST", f"/keys/{trader.key_id}/revoke"),
    "credential_rotated": lambda market, trader: market.desk.do(
        "POST", f"/keys/{trader.key_id}/rotate", {"overlap_s": 0}
    ),
    "account_inactive": lambda market, trader: market.desk.do(
        "PATCH", f"/accounts/{trader.login_id}", {"active": False}
    ),
    "api_access_disabled": lambda market, trader: market.desk.do(
        "PATCH", f"/accounts/{trader.login_id}", {"api_access": False}
    ),
}


@pytest.mark.parametrize("code", ENDS)
def test_a_caller_who_is_refused_from_now_on_is_told_within_a_second(market: Market, code: str) -> None:
    trader, other = market.trader(), market.trader()
    with streaming(trader.http, STREAM) as reader, streaming(other.http, STREAM) as stays:
        first_quotes(reader)
        first_quotes(stays)
        began = time.monotonic()
        ENDS[code](market, trader)
        (last,) = reader.rest()
        assert time.monotonic() - began < 1.5  # The change itself takes a part of it.
        assert last.event == "end"
        assert last.data["code"] == code
        assert refused(trader.http.get(STREAM), code)["message"] == last.data["message"]
        gold_at(market, "71250.00")
        assert stays.next().data["buy"] == "71250.00"


def test_a_key_that_expires_ends_its_stream(market: Market) -> None:
    trader = market.trader()
    new = market.desk.do("POST", f"/keys/{trader.key_id}/rotate", {"overlap_s": 2})
    with streaming(trader.http, STREAM) as reader:
        first_quotes(reader)
        began = time.monotonic()
        (last,) = reader.rest()
        assert last.data["code"] == "credential_rotated"
        assert 0.5 < time.monotonic() - began < 4
    successor: Trader = market.at_work(trader.login_id, new)
    with streaming(successor.http, STREAM) as reader:
        assert first_quotes(reader)


def test_streams_are_counted(node: Node, market: Market) -> None:
    trader = market.trader()

    def value(line: str) -> float:
        with node.desk() as desk:
            text = desk.get(f"{node.desk_url}/metrics").text
        (found,) = [each for each in text.splitlines() if each.startswith(line)]
        return float(found.rpartition(" ")[2])

    open_before = value('bullion_streams_open{kind="quotes"}')
    sent_before = value('bullion_stream_events_total{kind="quotes"}')
    ended = 'bullion_streams_ended_total{kind="quotes",reason="refused"}'
    ended_before = value(ended)
    with streaming(trader.http, STREAM) as reader:
        first_quotes(reader)
        assert value('bullion_streams_open{kind="quotes"}') == open_before + 1
        assert value('bullion_stream_events_total{kind="quotes"}') == sent_before + 2
        market.desk.do("POST", f"/keys/{trader.key_id}/revoke")
        reader.rest()
    assert value(ended) == ended_before + 1
    (entry,) = [each for each in node.entries("stream_ended") if each["key_id"] == trader.key_id]
    assert (entry["why"], entry["kind"], entry["events"]) == ("refused", "quotes", 2)
    assert entry["request_id"] == reader.answer.headers["x-request-id"]
