"""Production read back: lists by status and channel, positions per symbol, stock, budgets, switches."""

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from bullion.refusals.desk import CONFLICT
from tests.support.node import Node, until
from tests.support.orders import BASE as TEST_BASE
from tests.support.orders import booked, problems, refused, replayed
from tests.support.production import (
    BASE,
    ME,
    ORDERS,
    PATIENCE_S,
    QUOTES,
    SYMBOLS,
    LiveMarket,
    LiveTrader,
    closed_by,
    opened,
    pending,
    rejected,
    sent_to_venue,
)

STATUSES = ("pending", "open", "closing", "closed", "rejected", "deleted")
SOURCES = ("api", "web", "mobile")


# --- Lists and visibility -----------------------------------------------------------------------------------


@dataclass
class Shelf:
    """An account with an order from each channel in each state, placed in this order."""

    market: LiveMarket
    trader: LiveTrader
    ids: dict[tuple[str, str], str]
    """By channel and status."""

    def shown(self) -> list[str]:
        """What `all` lists, newest first."""
        return [
            order_id
            for (source, status), order_id in reversed(self.ids.items())
            if status != "deleted" and (source == "api" or status not in ("pending", "rejected"))
        ]


@pytest.fixture(scope="module")
def shelf(node: Node) -> Iterator[Shelf]:
    with LiveMarket.open(node) as market:
        trader = market.trader()
        ids: dict[tuple[str, str], str] = {}

        def place(source: str, status: str) -> None:
            if source == "api":
                answer = trader.place(client_order_id=status)
            else:
                answer = market.elsewhere(trader.login_id, source=source, client_order_id=status)
            body = answer.json()
            ids[source, status] = body["detail"]["order_id"] if status == "rejected" else body["id"]

        for source in SOURCES:
            for status in ("open", "closing", "closed", "deleted"):
                place(source, status)
            market.act(ids[source, "closing"], "close")
            market.complete(ids[source, "closed"], "71300.00")
            market.act(ids[source, "deleted"], "delete")
        market.venue(mode="refuse")
        for source in SOURCES:
            place(source, "rejected")
        market.venue(mode="hold")
        for source in SOURCES:
            place(source, "pending")
        yield Shelf(market, trader, ids)


def listed(trader: LiveTrader, **filters: Any) -> list[str]:
    page = trader.orders(limit=200, **filters)
    ids = [order["id"] for order in page["items"]]
    assert page["total"] == len(ids)
    return ids


@pytest.mark.parametrize("status", STATUSES)
def test_the_list_of_one_status(shelf: Shelf, status: str) -> None:
    """With those of other channels, but for what is no deal yet or never became one."""
    visible = ("api",) if status in ("pending", "rejected") else SOURCES
    expected = [shelf.ids[source, status] for source in reversed(visible)]
    page = shelf.trader.orders(status=status)
    assert [order["id"] for order in page["items"]] == expected
    assert page["total"] == len(expected)
    assert {order["status"] for order in page["items"]} == {status}
    assert [order["source"] for order in page["items"]] == list(reversed(visible))
    for offset in range(len(expected) + 1):
        page = shelf.trader.orders(status=status, limit=1, offset=offset)
        assert [order["id"] for order in page["items"]] == expected[offset : offset + 1]
        assert page["total"] == len(expected)


def test_all_is_the_default_and_leaves_out_what_was_deleted(shelf: Shelf) -> None:
    expected = shelf.shown()
    assert listed(shelf.trader) == expected
    assert listed(shelf.trader, status="all") == expected
    for limit in (1, 4, 5):
        pages = [shelf.trader.orders(limit=limit, offset=offset) for offset in range(0, 12, limit)]
        assert [order["id"] for page in pages for order in page["items"]] == expected
        assert {page["total"] for page in pages} == {len(expected)}


@pytest.mark.parametrize("status", [*STATUSES, "all"])
def test_filters_go_together_with_the_status(shelf: Shelf, status: str) -> None:
    everything = listed(shelf.trader, status=status)
    assert listed(shelf.trader, status=status, symbol_code="GOLD", trade_type="buy") == everything
    assert listed(shelf.trader, status=status, symbol_code="SILVER") == []
    assert listed(shelf.trader, status=status, trade_type="sell") == []
    first = shelf.trader.read(shelf.ids["api", "open"])["created_at"]
    assert listed(shelf.trader, status=status, since=first) == everything
    later = datetime.fromisoformat(first) + timedelta(days=1)
    assert listed(shelf.trader, status=status, since=later.isoformat()) == []
    newest = shelf.trader.read(everything[0])["created_at"]
    assert listed(shelf.trader, status=status, since=newest)[0] == everything[0], "`since` has its instant"
    for name in STATUSES:
        named = [each for each in everything if shelf.trader.read(each)["client_order_id"] == name]
        assert listed(shelf.trader, status=status, client_order_id=name) == named


def test_an_order_is_read_by_its_id_unless_the_api_hides_it(shelf: Shelf) -> None:
    hidden = 0
    for (source, status), order_id in shelf.ids.items():
        if source != "api" and status in ("pending", "rejected"):
            answer, nowhere = shelf.trader.order(order_id), shelf.trader.order(str(uuid4()))
            refused(answer, "order_not_found")
            assert answer.json() == nowhere.json(), "as if there were no such order"
            hidden += 1
        else:
            order = shelf.trader.read(order_id)
            assert (order["source"], order["status"]) == (source, status)
    assert hidden == 4


def test_hidden_orders_count_toward_the_position(shelf: Shelf) -> None:
    """For each channel one each of pending, open and closing."""
    assert shelf.trader.net() == "9.0000"
    assert shelf.trader.symbol_rows() == {"GOLD": ("9.0000", "0.0000", "9.0000")}


def test_another_account_sees_none_of_it(shelf: Shelf) -> None:
    with shelf.market.visit() as market:
        stranger = market.trader()
        assert listed(stranger) == []
        assert listed(stranger, status="deleted") == []
        for order_id in shelf.ids.values():
            refused(stranger.order(order_id), "order_not_found")


@pytest.mark.parametrize("status", ["", "filled", "OPEN", "open ", "all,open", "pending elsewhere"])
def test_a_status_that_there_is_not(live_trader: LiveTrader, status: str) -> None:
    ((where, _),) = problems(live_trader.http.get(ORDERS, params={"status": status}))
    assert where == ["query", "status"]


def test_a_status_sent_twice(live_trader: LiveTrader) -> None:
    ((where, kind),) = problems(live_trader.http.get(f"{ORDERS}?status=open&status=closed"))
    assert (where, kind) == (["query", "status"], "duplicate")


def test_an_order_of_another_channel_appears_once_it_is_confirmed(own_live_market: LiveMarket) -> None:
    market = own_live_market
    market.venue(mode="hold")
    trader = market.trader()
    mine = pending(trader.place())
    answer = market.elsewhere(trader.login_id, source="mobile", quantity="5", client_order_id="app")
    assert answer.status_code == 202, answer.text
    theirs = answer.json()["id"]
    refused(trader.order(theirs), "order_not_found")
    assert listed(trader) == [mine["id"]]
    assert trader.net() == "6.0000"
    market.venue(mode="fill")
    until(lambda: trader.order(theirs).status_code == 200, within_s=PATIENCE_S)
    order = trader.read(theirs)
    assert (order["status"], order["source"], order["client_order_id"]) == ("open", "mobile", "app")
    assert (order["price"], order["total"]) == ("71240.00", "35620.00")
    assert type(order["deal_no"]) is int
    trader.becomes(mine["id"], "open")
    assert listed(trader, status="open") == [theirs, mine["id"]]


def test_an_order_of_another_channel_that_is_refused_stays_hidden(own_live_market: LiveMarket) -> None:
    market = own_live_market
    trader = market.trader()
    market.venue(mode="refuse")
    answer = market.elsewhere(trader.login_id)
    theirs = answer.json()["detail"]["order_id"]
    assert refused_at_desk(answer) == "order_rejected"
    refused(trader.order(theirs), "order_not_found")
    assert [listed(trader, status=status) for status in (*STATUSES, "all")] == [[]] * 7
    assert trader.net() == "0.0000"


def refused_at_desk(answer: Any) -> str:
    assert answer.is_error, answer.text
    code: str = answer.json()["detail"]["code"]
    return code


def test_an_order_deleted_while_it_was_hidden_reads_as_deleted(own_live_market: LiveMarket) -> None:
    market = own_live_market
    market.venue(mode="hold")
    trader = market.trader()
    theirs = market.elsewhere(trader.login_id, quantity="5").json()["id"]
    market.act(theirs, "delete")
    order = trader.read(theirs)
    assert (order["status"], order["status_detail"], order["source"]) == ("deleted", "REMOVED", "web")
    assert (order["price"], order["total"], order["deal_no"]) == (None, None, None)
    assert listed(trader) == []
    assert trader.net() == "0.0000"
    assert trader.positions()["symbols"] == []


def test_a_pending_order_that_the_desk_deleted_stays_so_and_its_late_fill_is_a_break(
    own_live_market: LiveMarket,
) -> None:
    market, name = own_live_market, str(uuid4())
    market.venue(mode="hold")
    trader = market.trader()
    order = pending(trader.place(name))
    market.act(order["id"], "delete")
    deleted = trader.read(order["id"])
    assert deleted["status"] == "deleted"
    assert replayed(trader.place(name)) == deleted
    assert listed(trader, status="deleted") == [order["id"]]
    market.venue(mode="fill")
    until(lambda: market.desk.do("GET", "/hedge/breaks")["total"] == 1, within_s=PATIENCE_S)
    (broken,) = market.desk.do("GET", "/hedge/breaks")["items"]
    assert (broken["order_id"], broken["outcome"]) == (order["id"], "confirmed")
    assert trader.read(order["id"]) == deleted, "a deleted order never changes"
    assert trader.net() == "0.0000"


def test_a_key_of_another_channel_never_meets_a_clients(live_market: LiveMarket) -> None:
    trader, name = live_market.trader(), str(uuid4())
    mine = opened(trader.place(name, quantity=2))
    theirs = [
        live_market.elsewhere(trader.login_id, source=source, idempotency_key=name).json()["id"]
        for source in ("web", "mobile")
    ]
    assert len({mine["id"], *theirs}) == 3
    assert replayed(trader.place(name, quantity=2)) == mine
    again = live_market.elsewhere(trader.login_id, source="web", idempotency_key=name)
    assert replayed(again)["id"] == theirs[0]
    assert trader.orders()["total"] == 3


def test_only_what_may_be_done_to_an_order_is_done(live_market: LiveMarket) -> None:
    """Closed, rejected and deleted orders never change, and no state is skipped."""
    trader = live_market.trader()
    orders = [trader.buy(1) for _ in range(3)]
    live_market.complete(orders[1]["id"], "71300.00")
    live_market.act(orders[2]["id"], "delete")
    before = [trader.read(order["id"]) for order in orders]
    forbidden = {
        0: ("complete", "confirm", "refuse"),
        1: ("close", "complete", "delete"),
        2: ("close", "delete"),
    }
    for number, actions in forbidden.items():
        for what in actions:
            body = {"close_price": "1.00"} if what == "complete" else None
            answer = live_market.desk.post(f"/orders/{orders[number]['id']}/{what}", json=body)
            assert answer.status_code == CONFLICT.status, answer.text
    assert [trader.read(order["id"]) for order in orders] == before


# --- Positions ----------------------------------------------------------------------------------------------


def test_positions_of_an_account_that_has_not_traded(live_market: LiveMarket) -> None:
    trader = live_market.trader(live_market.account(gold="1000", silver="50.5"))
    assert trader.positions() == {
        "gold": {"net": "0.0000", "limit": "1000.0000", "used": "0.0000", "free": "1000.0000", "unit": "g"},
        "silver": {"net": "0.0000", "limit": "50.5000", "used": "0.0000", "free": "50.5000", "unit": "kg"},
        "symbols": [],
    }


def test_positions_per_symbol(live_market: LiveMarket) -> None:
    """Two symbols of one metal net off in the metal, and are told apart beside it."""
    bars = live_market.live("BARS")
    trader = live_market.trader(live_market.account(gold="100", silver="10"))
    trader.buy(30)
    trader.sell(12.5)
    trader.sell(20, bars)
    trader.sell(4, "SILVER")
    assert trader.positions() == {
        "gold": {"net": "-2.5000", "limit": "100.0000", "used": "2.5000", "free": "97.5000", "unit": "g"},
        "silver": {"net": "-4.0000", "limit": "10.0000", "used": "4.0000", "free": "6.0000", "unit": "kg"},
        "symbols": [
            {
                "symbol_code": "BARS",
                "metal": "gold",
                "buy": "0.0000",
                "sell": "20.0000",
                "net": "-20.0000",
                "unit": "g",
            },
            {
                "symbol_code": "GOLD",
                "metal": "gold",
                "buy": "30.0000",
                "sell": "12.5000",
                "net": "17.5000",
                "unit": "g",
            },
            {
                "symbol_code": "SILVER",
                "metal": "silver",
                "buy": "0.0000",
                "sell": "4.0000",
                "net": "-4.0000",
                "unit": "kg",
            },
        ],
    }


def test_a_symbol_with_open_orders_is_listed_also_when_its_net_is_nothing(live_market: LiveMarket) -> None:
    trader = live_market.trader()
    bought, sold = trader.buy(5), trader.sell(5)
    assert trader.symbol_rows() == {"GOLD": ("5.0000", "5.0000", "0.0000")}
    assert trader.net() == "0.0000"
    live_market.act(bought["id"], "close")
    assert trader.symbol_rows() == {"GOLD": ("5.0000", "5.0000", "0.0000")}, "closing is still open"
    live_market.act(bought["id"], "complete", close_price="71240.00")
    assert trader.symbol_rows() == {"GOLD": ("0.0000", "5.0000", "-5.0000")}
    live_market.act(sold["id"], "delete")
    assert trader.symbol_rows() == {}


def test_what_counts_toward_the_position_in_each_state(own_live_market: LiveMarket) -> None:
    market = own_live_market
    trader = market.trader(market.account(gold="10"))
    market.venue(mode="hold")
    waiting = pending(trader.place(quantity=10))
    assert trader.symbol_rows() == {"GOLD": ("10.0000", "0.0000", "10.0000")}
    refused(trader.place(), "limit_exceeded")
    pending(trader.place(trade_type="sell", quantity=1))
    market.venue(mode="refuse")
    trader.becomes(waiting["id"], "rejected")
    until(lambda: trader.net() == "0.0000", within_s=PATIENCE_S)
    assert trader.positions()["symbols"] == []
    rejected(trader.place(quantity=10))
    assert trader.net() == "0.0000"
    market.venue(mode="fill")
    full = trader.buy(10)
    refused(trader.place(), "limit_exceeded")
    market.complete(full["id"], "71300.00")
    assert trader.net() == "0.0000"
    again = trader.buy(10)
    market.act(again["id"], "delete")
    assert trader.net() == "0.0000"
    trader.buy(10)


def test_a_reduction_is_allowed_above_the_limit(live_market: LiveMarket) -> None:
    trader = live_market.trader(live_market.account(gold="10"))
    trader.buy(10)
    live_market.allocate(trader.login_id, gold="2")
    refused(trader.place(quantity=0.0001), "limit_exceeded")
    trader.sell(1)
    trader.sell(15)  # Across zero, to 6 on the other side: less than 9 still.
    assert trader.net() == "-6.0000"
    refused(trader.place(trade_type="sell", quantity=0.0001), "limit_exceeded")


# --- Stock --------------------------------------------------------------------------------------------------


def test_stock_falls_with_a_buy_and_comes_back(own_live_market: LiveMarket) -> None:
    market = own_live_market
    market.change("GOLD", stock="10")
    trader, other = market.trader(), market.trader()
    trader.sell(3)
    assert market.stock() == "10.0000", "sells do not change it"
    first, second = trader.buy(4), other.buy(2.5)
    assert market.stock() == "3.5000"
    refused(trader.place(quantity=3.5001), "out_of_stock")
    third = trader.buy(3.5)
    assert market.stock() == "0.0000"
    market.act(first["id"], "close")
    assert market.stock() == "0.0000"
    market.act(first["id"], "complete", close_price="71300.00")
    assert market.stock() == "4.0000"
    market.act(second["id"], "delete")
    assert market.stock() == "6.5000"
    market.venue(mode="refuse")
    rejected(trader.place(quantity=6.5))
    assert market.stock() == "6.5000", "nothing was booked"
    market.venue(mode="hold")
    waiting = pending(trader.place(quantity=6))
    assert market.stock() == "0.5000", "a pending buy has its stock already"
    refused(other.place(), "out_of_stock")
    market.venue(mode="refuse")
    trader.becomes(waiting["id"], "rejected")
    assert market.stock() == "6.5000"
    market.act(third["id"], "delete")
    assert market.stock() == "10.0000"


def test_what_was_bought_without_a_stock_does_not_come_back_into_one(live_market: LiveMarket) -> None:
    code = live_market.live("STOCKED")
    trader = live_market.trader()
    before = trader.buy(5, code)
    live_market.change(code, stock="1")
    live_market.act(before["id"], "delete")
    assert live_market.stock(code) == "1.0000"
    within = trader.buy(1, code)
    live_market.change(code, stock=None)
    live_market.act(within["id"], "delete")
    trader.buy(100, code)


# --- The account's budget -----------------------------------------------------------------------------------


def test_the_account_has_sixty_orders_a_minute_by_default(own_live_market: LiveMarket) -> None:
    assert own_live_market.desk.do("GET", "/switches")["budgets"]["account_orders_per_minute"] == 100_000
    with own_live_market.node.desk() as desk:
        assert desk.do("GET", "/switches")["budgets"]["account_orders_per_minute"] == 60


def test_all_keys_of_an_account_share_its_budget(own_live_market: LiveMarket) -> None:
    """Replays and refusals count; test orders and other accounts have no part in it."""
    market = own_live_market
    market.switch(budgets={"account_orders_per_minute": 6})
    first = market.trader()
    second = market.trader(first.login_id)
    tester, stranger = market.tester(first.login_id), market.trader()
    name = str(uuid4())
    for _ in range(8):
        booked(tester.place())
    answer = first.place(name)
    opened(answer)
    assert (answer.headers["ratelimit-limit"], answer.headers["ratelimit-remaining"]) == ("6", "5")
    replayed(second.place(name))
    refused(second.place(symbol_code="NOWHERE"), "unknown_symbol")
    refused(first.send(b"{}"), "idempotency_key_required")
    opened(second.place())
    answer = first.place()
    opened(answer)
    assert answer.headers["ratelimit-remaining"] == "0"
    for trader in (first, second):
        for key in (name, str(uuid4())):
            answer = trader.place(key)
            refused(answer, "rate_limited")
            assert (answer.headers["ratelimit-limit"], answer.headers["ratelimit-remaining"]) == ("6", "0")
            assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert trader.orders()["total"] == 3, "reads have a budget of their own"
    booked(tester.place())
    opened(stranger.place())
    market.switch(budgets={"account_orders_per_minute": 7})
    opened(second.place())
    refused(first.place(), "rate_limited")


# --- Switches -----------------------------------------------------------------------------------------------


def test_the_hint_follows_every_switch_alike_on_both_paths(own_live_market: LiveMarket) -> None:
    market = own_live_market
    live = market.trader()
    test = market.tester(live.login_id)
    market.venue(mode="down")
    for production, paused, enabled in itertools.product((False, True), repeat=3):
        market.switch(production=production, paused=paused)
        market.desk.do("PATCH", f"/accounts/{live.login_id}", {"production_trading": enabled})
        hints = [live.get(ME), test.get(f"{TEST_BASE}/me")]
        expected = production and not paused and enabled
        assert [hint["production_trading_available"] for hint in hints] == [expected] * 2
    market.desk.do("PATCH", f"/accounts/{live.login_id}", {"api_access": False})
    refused(live.http.get(ME), "api_access_disabled")


def test_reads_work_while_production_is_off(own_live_market: LiveMarket) -> None:
    market = own_live_market
    trader = market.trader()
    order = trader.buy(3)
    offs: list[dict[str, Any]] = [{"production": False}, {"production": True, "paused": True}]
    for switches in offs:
        market.switch(**switches)
        assert trader.orders()["items"] == [order]
        assert trader.orders(status="open")["total"] == 1
        assert trader.read(order["id"]) == order
        assert trader.net() == "3.0000"
        assert trader.get(ME)["production_trading_available"] is False
        assert {symbol["symbol_code"] for symbol in trader.get(SYMBOLS)["items"]} == {"GOLD", "SILVER"}
        quote = trader.quote()
        assert (quote["buy"], quote["sell"], quote["tradable"]) == ("71240.00", "71230.00", False)
        assert quote["reason"] in ("production_trading_disabled", "production_prerequisites_unmet")
        assert market.tester(trader.login_id).quote()["reason"] is None
    market.act(order["id"], "close")
    assert trader.read(order["id"])["status"] == "closing"


def test_what_is_pending_when_production_is_switched_off_is_settled(own_live_market: LiveMarket) -> None:
    market, name = own_live_market, str(uuid4())
    market.venue(mode="hold")
    trader = market.trader()
    order = pending(trader.place(name))
    market.switch(production=False)
    assert replayed(trader.place(name)) == order
    market.venue(mode="fill")
    assert replayed_once(trader, name, trader.becomes(order["id"], "open"))
    assert closed_by(trader.place()) == "global"


def replayed_once(trader: LiveTrader, name: str, order: dict[str, Any]) -> bool:
    return replayed(trader.place(name)) == order


def test_quotes_name_the_refusal_that_an_order_would_meet(own_live_market: LiveMarket) -> None:
    market = own_live_market
    trader = market.trader()

    def told_and_met(code: str) -> None:
        until(lambda: trader.quote()["reason"] == code, within_s=PATIENCE_S)
        refused(trader.place(), code)

    market.venue(instruments={"GOLD": "suspended"})
    told_and_met("symbol_unavailable")
    market.venue(instruments={"GOLD": "unknown"})
    told_and_met("tradeability_unverified")
    assert trader.quote("SILVER")["tradable"] is True
    market.venue(mode="down")
    told_and_met("production_prerequisites_unmet")
    market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"production_trading": False})
    told_and_met("production_trading_disabled")
    assert Counter(quote["reason"] for quote in trader.get(QUOTES)["items"]) == {
        "production_trading_disabled": 2
    }
    assert sent_to_venue(market) == []


def test_both_environments_have_the_same_paths(live_market: LiveMarket) -> None:
    live = live_market.trader()
    test = live_market.tester(live.login_id)
    for path in ("me", "orders", "positions", "symbols", "quotes"):
        assert live.http.get(f"{BASE}/{path}").status_code == 200
        assert test.http.get(f"{TEST_BASE}/{path}").status_code == 200
