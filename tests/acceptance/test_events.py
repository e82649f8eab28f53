"""`GET /events`: what an account is told, over HTTP."""

import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.support.node import until
from tests.support.orders import Market, Trader, booked, problems, refused
from tests.support.production import PATIENCE_S, LiveMarket, LiveTrader, opened, store_says

FIELDS = {"id", "number", "type", "timestamp", "environment", "data"}


def page(trader: Trader, **parameters: Any) -> dict[str, Any]:
    found: dict[str, Any] = trader.get(f"{trader.base}/events", **parameters)
    assert found.keys() == {"items", "next_after", "has_more"}
    return found


def events(trader: Trader, **parameters: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = page(trader, limit=200, **parameters)["items"]
    assert all(item.keys() == FIELDS for item in items)
    return items


def kinds(trader: Trader) -> list[str]:
    return [item["type"] for item in events(trader)]


def asked(trader: Trader, query: str) -> httpx.Response:
    return trader.http.get(f"{trader.base}/events?{query}")


def test_a_test_order_is_an_event_with_the_order_as_it_was_answered(trader: Trader) -> None:
    assert page(trader) == {"items": [], "next_after": 0, "has_more": False}
    orders = [booked(trader.place(client_order_id=f"n{number}")) for number in range(3)]
    found = events(trader)
    assert [item["data"] for item in found] == orders
    assert [item["number"] for item in found] == [1, 2, 3]
    assert {item["type"] for item in found} == {"order.created"}
    assert {item["environment"] for item in found} == {"test"}
    assert [item["timestamp"] for item in found] == [order["created_at"] for order in orders]
    assert len({item["id"] for item in found}) == 3
    assert page(trader, after=1, limit=1) == {"items": found[1:2], "next_after": 2, "has_more": True}
    assert page(trader, after=2, limit=1) == {"items": found[2:], "next_after": 3, "has_more": False}
    assert page(trader, after=3) == {"items": [], "next_after": 3, "has_more": False}


def test_orders_of_a_reset_test_book_are_still_told(own_market: Market) -> None:
    trader = own_market.trader()
    trader.buy(1)
    before = events(trader)
    own_market.desk.do("POST", f"/accounts/{trader.login_id}/test-book/reset")
    trader.buy(2)
    assert events(trader)[:1] == before
    assert kinds(trader) == ["order.created"] * 2


def test_the_whole_life_of_a_production_order(live_market: LiveMarket) -> None:
    trader = live_market.trader()
    order = opened(trader.place())
    live_market.complete(order["id"], "71000.00")
    found = events(trader)
    assert [item["type"] for item in found] == [
        "order.created",
        "order.opened",
        "order.closing",
        "order.closed",
    ]
    assert [item["data"]["status"] for item in found] == ["pending", "open", "closing", "closed"]
    created, open_, closing, closed = (item["data"] for item in found)
    assert (created["price"], created["deal_no"], created["status_detail"]) == (None, None, "HEDGE_WAIT")
    assert open_ == order
    assert closing == order | {"status": "closing", "status_detail": "CLOSE_REQUESTED"}
    assert closed == trader.read(order["id"])


def test_an_order_of_another_channel_is_told_when_it_can_be_read(own_live_market: LiveMarket) -> None:
    market = own_live_market
    trader = market.trader()
    market.venue(mode="hold")
    placed = market.elsewhere(trader.login_id).json()
    trader.place()
    assert kinds(trader) == ["order.created"]
    assert events(trader)[0]["data"]["source"] == "api"
    market.venue(mode="fill")
    until(lambda: kinds(trader).count("order.opened") == 2, within_s=PATIENCE_S)
    found = events(trader)
    assert [item["number"] for item in found] == [1, 2, 3]
    (other,) = (item for item in found if item["data"]["id"] == placed["id"])
    assert (other["type"], other["data"]["source"]) == ("order.opened", "web")
    market.venue(mode="refuse")
    market.elsewhere(trader.login_id)
    refused(trader.place(), "order_rejected")
    until(lambda: kinds(trader)[3:] == ["order.created", "order.rejected"], within_s=PATIENCE_S)


def test_what_the_desk_changes_is_told(own_live_market: LiveMarket) -> None:
    market = own_live_market
    trader = market.trader()
    order = opened(trader.place())
    market.act(order["id"], "delete", reason="placed by mistake")
    market.allocate(trader.login_id, gold="5")
    issued = market.desk.do("POST", f"/keys/{trader.key_id}/rotate", {"overlap_s": 60})
    deleted, changed, rotated = events(trader)[2:]
    assert (deleted["type"], deleted["data"]["status"]) == ("order.deleted", "deleted")
    assert (changed["type"], changed["data"]) == ("allocation.changed", trader.positions())
    assert changed["data"]["gold"]["limit"] == "5.0000"
    assert rotated["type"] == "key.rotated"
    assert rotated["data"]["key_id"] == trader.key_id
    assert rotated["data"]["replaced_by"] == issued["key_id"]
    assert rotated["data"]["overlap_ends_at"] > rotated["timestamp"]
    other = market.at_work(trader.login_id, issued)
    market.desk.do("POST", f"/keys/{trader.key_id}/revoke")
    assert events(other)[-1]["type"] == "key.revoked"
    assert events(other)[-1]["data"]["key_id"] == trader.key_id
    tester = market.tester(trader.login_id)
    assert kinds(tester) == ["allocation.changed"]
    assert events(tester)[0]["data"] == tester.get(f"{tester.base}/positions")


def test_halts_and_frozen_symbols_are_told_to_every_account(own_market: Market) -> None:
    first, second = own_market.trader(), own_market.trader()
    own_market.switch(halted=True)
    own_market.switch(halted=False)
    own_market.change("GOLD", frozen=True)
    own_market.change("GOLD", frozen=False)
    wanted = ["trading.halted", "trading.resumed", "symbol.frozen", "symbol.resumed"]
    for trader in (first, second):
        until(lambda trader=trader: kinds(trader) == wanted, within_s=PATIENCE_S)
    halted, resumed, frozen, _ = (item["data"] for item in events(first))
    assert (halted, resumed) == ({"halted": True}, {"halted": False})
    assert frozen == {"symbol_code": "GOLD", "metal": "gold", "unit": "g", "frozen": True}


# --- Waiting ------------------------------------------------------------------------------------------


def waiting(ask: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(ask()))
    thread.start()
    return thread, found


def test_a_call_that_waits_is_answered_when_something_happens(market: Market) -> None:
    login = market.account()
    trader, other = market.trader(login), market.trader(login)
    thread, found = waiting(lambda: page(other, after=0, wait=30))
    thread.join(0.3)
    assert thread.is_alive()
    order = booked(trader.place())
    thread.join(20)
    (answer,) = found
    assert [item["data"] for item in answer["items"]] == [order]
    assert page(trader, after=1, wait=1) == {"items": [], "next_after": 1, "has_more": False}


def test_a_call_that_waits_ends_with_the_key(own_market: Market) -> None:
    login = own_market.account()
    trader, other = own_market.trader(login), own_market.trader(login)
    thread, found = waiting(lambda: asked(other, "after=0&wait=30"))
    thread.join(0.3)
    own_market.desk.do("POST", f"/keys/{other.key_id}/revoke")
    trader.buy(1)
    thread.join(20)
    refused(found[0], "credential_revoked")


# --- Refusals -----------------------------------------------------------------------------------------


def test_events_that_are_not_kept_are_gone(market: Market) -> None:
    trader = market.trader()
    for quantity in (1, 2, 3):
        trader.buy(quantity)
    detail = refused(asked(trader, "after=4"), "events_gone")
    assert (detail["oldest"], detail["newest"]) == (1, 3)
    store_says(
        market.node,
        "UPDATE orders SET created_at_us = 1 WHERE ordinal = 1 AND key_id = "
        f"'{trader.key_id}' RETURNING ordinal",
    )
    detail = refused(asked(trader, "after=0"), "events_gone")
    assert (detail["oldest"], detail["newest"]) == (2, 3)
    assert [item["number"] for item in events(trader)] == [2, 3]


@pytest.mark.parametrize(
    ("query", "name", "kind"),
    [
        ("after=-1", "after", "too_small"),
        ("after=x", "after", "not_an_integer"),
        ("after=", "after", "empty"),
        ("after=1&after=2", "after", "duplicate"),
        ("limit=201", "limit", "too_large"),
        ("limit=0", "limit", "too_small"),
        ("wait=31", "wait", "too_large"),
        ("wait=-1", "wait", "too_small"),
        ("wait=1.5", "wait", "not_an_integer"),
    ],
)
def test_a_query_that_cannot_be_read(trader: Trader, query: str, name: str, kind: str) -> None:
    assert problems(asked(trader, query)) == [(["query", name], kind)]


def test_a_huge_number_is_gone_too(trader: Trader) -> None:
    refused(asked(trader, f"after={'9' * 400}"), "events_gone")


def test_events_need_the_scope_of_reads(market: Market) -> None:
    trader = market.trader(scopes=["account:read", "orders:write"])
    refused(asked(trader, ""), "insufficient_scope")


def test_events_of_others_are_not_told(live_market: LiveMarket, live_trader: LiveTrader) -> None:
    opened(live_trader.place())
    assert kinds(live_market.trader()) == []
