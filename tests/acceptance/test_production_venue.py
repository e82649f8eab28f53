"""The venue behind production: filling late, refusing, holding, out of reach; and the desk in its place."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.support.node import running, until
from tests.support.orders import all_at_once, refused, replayed
from tests.support.production import (
    PATIENCE_S,
    SETTLES_S,
    LiveMarket,
    LiveTrader,
    opened,
    pending,
    rejected,
    sent_to_venue,
    store_says,
)
from tests.support.stacks import STACKS, stack

BUY: dict[str, Any] = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}


def submissions(market: LiveMarket) -> list[tuple[str, ...]]:
    """What the venue was asked for, in the order of the ids, with how often it was asked."""
    return store_says(
        market.node,
        "SELECT instrument, trade_type, quantity_e4, submissions FROM venue_orders "
        f"WHERE broker = '{market.tag}' ORDER BY order_id",
    )


def test_the_venue_is_asked_once_for_what_was_ordered(own_live_market: LiveMarket) -> None:
    market, trader = own_live_market, own_live_market.trader()
    market.live("OURS")
    market.symbol("LIVE", pricing={"kind": "direct", "instrument": "OURS"})
    market.desk.do("PUT", "/rates/OURS", {"bid": "100", "ask": "101"})
    orders = [trader.buy(12.5), trader.sell(0.0001, "SILVER"), trader.buy(3, "LIVE")]
    assert submissions(market) == [
        ("GOLD", "buy", "125000", "1"),
        ("SILVER", "sell", "1", "1"),
        ("OURS", "buy", "30000", "1"),
    ]
    executions = market.executions()
    assert [(each["order_id"], each["outcome"], each["quantity"]) for each in executions] == [
        (order["id"], "confirmed", order["quantity"]) for order in reversed(orders)
    ]
    assert len({each["execution_id"] for each in executions}) == 3


def test_what_was_refused_before_the_booking_is_never_sent(own_live_market: LiveMarket) -> None:
    market = own_live_market
    market.change("GOLD", stock="2")
    trader = market.trader(market.account(gold="5"))
    refused(trader.place(quantity=6), "limit_exceeded")
    refused(trader.place(quantity=3), "out_of_stock")
    refused(trader.place(expected_price=1), "price_moved")
    refused(trader.place(symbol_code="NOWHERE"), "unknown_symbol")
    refused(trader.place(quantity=0), "invalid_request")
    market.switch(production=False)
    refused(trader.place(), "production_trading_disabled")
    assert sent_to_venue(market) == []


def test_a_venue_that_takes_half_a_second_is_waited_for(own_live_market: LiveMarket) -> None:
    market, trader = own_live_market, own_live_market.trader()
    market.venue(mode="fill", delay_ms=500)
    answers = [trader.place() for _ in range(3)]  # On a busy machine one of them may take longer.
    assert 201 in [answer.status_code for answer in answers]
    for answer in answers:
        assert answer.is_success, answer.text
        trader.becomes(answer.json()["id"], "open")
    market.venue(mode="refuse")
    answers = [trader.place() for _ in range(3)]
    assert 409 in [answer.status_code for answer in answers]
    assert {row[-1] for row in submissions(market)} == {"1"}


def test_a_venue_that_takes_four_seconds_is_not_waited_for(own_live_market: LiveMarket) -> None:
    """The client hears 202; nobody has to ask for the order to become open."""
    market, trader, name = own_live_market, own_live_market.trader(), str(uuid4())
    market.venue(mode="fill", delay_ms=4000)
    order = pending(trader.place(name))
    assert replayed(trader.place(name)) == order
    assert trader.net() == "1.0000"
    now = trader.becomes(order["id"], "open")
    assert replayed(trader.place(name)) == now
    assert submissions(market) == [("GOLD", "buy", "10000", "1")], "sent once, and then asked about"
    assert len(market.executions()) == 1


def test_held_orders_wait_until_the_venue_decides(own_live_market: LiveMarket) -> None:
    market, trader = own_live_market, own_live_market.trader()
    market.venue(mode="hold")
    orders = [pending(trader.place(quantity=quantity)) for quantity in (1, 2, 3)]
    queue = market.desk.do("GET", "/hedge/queue")
    assert [each["order_id"] for each in queue["items"]] == [order["id"] for order in orders], "oldest first"
    assert market.executions() == [], "nothing is decided"
    assert trader.orders(status="pending")["total"] == 3
    market.venue(mode="fill")
    for order in orders:
        trader.becomes(order["id"], "open")
    until(lambda: market.desk.do("GET", "/hedge/queue")["total"] == 0, within_s=PATIENCE_S)
    assert trader.orders(status="pending")["total"] == 0
    assert len(market.executions()) == 3
    assert market.desk.do("GET", "/hedge/breaks")["total"] == 0


def test_an_order_that_a_lost_venue_never_saw_is_sent_when_it_is_back(own_live_market: LiveMarket) -> None:
    """Placed in the moment the venue is lost: refused, or kept as pending; never refused by a timer."""
    market, trader = own_live_market, own_live_market.trader()
    market.venue(mode="down")
    names = [str(uuid4()) for _ in range(3)]
    answers = {name: trader.place(name) for name in names}
    for answer in answers.values():
        if answer.status_code != 202:
            refused(answer, "production_prerequisites_unmet")
    until(lambda: trader.quote()["reason"] == "production_prerequisites_unmet", within_s=PATIENCE_S)
    refused(trader.place(), "production_prerequisites_unmet")
    kept = [answer.json()["id"] for answer in answers.values() if answer.status_code == 202]
    assert [trader.read(order_id)["status"] for order_id in kept] == ["pending"] * len(kept)
    assert sent_to_venue(market) == []
    market.venue(mode="fill")
    until(lambda: trader.orders(status="pending")["total"] == 0, within_s=SETTLES_S)
    assert [trader.read(order_id)["status"] for order_id in kept] == ["open"] * len(kept)
    market.ready("GOLD")
    for name in names:
        assert trader.place(name).is_success
    assert trader.orders()["total"] == 3
    assert sorted(sent_to_venue(market)) == sorted(order["id"] for order in trader.orders()["items"])
    assert {row[-1] for row in submissions(market)} == {"1"}


def test_an_order_deleted_before_the_venue_saw_it_is_never_sent(own_live_market: LiveMarket) -> None:
    market, trader = own_live_market, own_live_market.trader()
    market.venue(mode="down")
    answer = trader.place()
    if answer.status_code != 202:  # The node had noticed already.
        refused(answer, "production_prerequisites_unmet")
        return
    order_id = answer.json()["id"]
    market.act(order_id, "delete")
    market.venue(mode="fill")

    def words() -> str:
        return str(market.desk.do("GET", f"/orders/{order_id}")["hedge"]["words"])

    until(lambda: "So far the venue does not know it" in words(), PATIENCE_S)
    assert sent_to_venue(market) == []
    assert trader.read(order_id)["status"] == "deleted"
    assert market.desk.do("GET", "/hedge/breaks")["total"] == 0


def test_a_pending_order_outlives_a_venue_that_is_lost(own_live_market: LiveMarket) -> None:
    market, trader, name = own_live_market, own_live_market.trader(), str(uuid4())
    market.venue(mode="hold")
    order = pending(trader.place(name))
    market.venue(mode="down")
    until(lambda: trader.quote()["reason"] == "production_prerequisites_unmet", within_s=PATIENCE_S)
    assert replayed(trader.place(name)) == order
    market.venue(mode="hold")
    market.ready("GOLD")
    assert trader.read(order["id"]) == order
    market.venue(mode="fill")
    trader.becomes(order["id"], "open")
    assert submissions(market) == [("GOLD", "buy", "10000", "1")]


def test_many_orders_that_wait_for_a_lost_venue_are_all_settled(own_live_market: LiveMarket) -> None:
    market, trader = own_live_market, own_live_market.trader()
    market.venue(mode="hold")
    answers = all_at_once([trader], [(str(uuid4()), BUY) for _ in range(40)])
    assert [answer.status_code for answer in answers] == [202] * 40
    market.venue(mode="down")
    until(lambda: trader.quote()["reason"] == "production_prerequisites_unmet", within_s=PATIENCE_S)
    market.venue(mode="fill")
    until(lambda: trader.orders(status="pending")["total"] == 0, within_s=PATIENCE_S)
    assert trader.orders(status="open")["total"] == 40
    assert trader.net() == "40.0000"
    numbers = [order["deal_no"] for order in trader.orders(status="open", limit=200)["items"]]
    assert len(set(numbers)) == 40
    assert {row[-1] for row in submissions(market)} == {"1"}


def test_an_instrument_is_suspended_for_new_orders_alone(own_live_market: LiveMarket) -> None:
    market, trader = own_live_market, own_live_market.trader()
    market.venue(mode="hold")
    order = pending(trader.place())
    market.venue(mode="fill", instruments={"GOLD": "suspended"})
    trader.becomes(order["id"], "open")
    until(lambda: trader.quote()["reason"] == "symbol_unavailable", within_s=PATIENCE_S)
    refused(trader.place(), "symbol_unavailable")
    refused(trader.place(trade_type="sell"), "symbol_unavailable")


def test_a_venue_is_the_brokers_own(own_live_market: LiveMarket, live_market: LiveMarket) -> None:
    own_live_market.venue(mode="refuse", instruments={"SILVER": "suspended"})
    rejected(own_live_market.trader().place())
    opened(live_market.trader().place())
    opened(live_market.trader().place(symbol_code="SILVER"))


# --- The desk in the venue's place --------------------------------------------------------------------------


@pytest.fixture(scope="module", params=STACKS)
def by_hand(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveMarket]:
    settings = stack(request.param, request)
    folder = tmp_path_factory.mktemp("by-hand")
    with (
        running(folder, BULLION_PRODUCTION="on", BULLION_HEDGE="desk", **settings) as node,
        LiveMarket.open(node) as market,
    ):
        yield market


@pytest.fixture
def client(by_hand: LiveMarket) -> Iterator[LiveTrader]:
    with by_hand.visit() as market:
        yield market.trader()


def test_the_desk_confirms(by_hand: LiveMarket, client: LiveTrader) -> None:
    name = str(uuid4())
    order = pending(client.place(name, quantity=5))
    assert (order["price"], order["deal_no"]) == (None, None)
    assert client.net() == "5.0000"
    assert order["id"] in [each["order_id"] for each in by_hand.desk.do("GET", "/hedge/queue")["items"]]
    by_hand.act(order["id"], "confirm")
    now = client.read(order["id"])
    assert (now["status"], now["price"], now["total"]) == ("open", "71240.00", "35620.00")
    assert type(now["deal_no"]) is int
    assert replayed(client.place(name, quantity=5)) == now
    assert order["id"] not in [each["order_id"] for each in by_hand.desk.do("GET", "/hedge/queue")["items"]]
    (execution,) = by_hand.executions(order_id=order["id"])
    assert execution["outcome"] == "confirmed"
    for what in ("confirm", "refuse"):
        assert by_hand.desk.post(f"/orders/{order['id']}/{what}").status_code == 409
    assert client.read(order["id"]) == now
    by_hand.complete(order["id"], "71241.00")
    assert client.read(order["id"])["realized_pnl"] == "0.50"


def test_the_desk_refuses(by_hand: LiveMarket, client: LiveTrader) -> None:
    name = str(uuid4())
    order = pending(client.place(name, quantity=5))
    by_hand.act(order["id"], "refuse", reason="no cover")
    now = client.read(order["id"])
    assert now == {**order, "status": "rejected", "status_detail": "HEDGE_REFUSED"}
    assert rejected(client.place(name, quantity=5), again=True) == now
    assert client.net() == "0.0000"
    assert client.positions()["symbols"] == []
    (execution,) = by_hand.executions(order_id=order["id"])
    assert execution["outcome"] == "refused"
    for what in ("confirm", "refuse", "close", "delete"):
        assert by_hand.desk.post(f"/orders/{order['id']}/{what}").status_code == 409
    assert client.read(order["id"]) == now
    assert "no cover" not in client.order(order["id"]).text, "what the desk says to itself"


def test_another_channels_order_appears_when_the_desk_confirms_it(
    by_hand: LiveMarket, client: LiveTrader
) -> None:
    theirs = [by_hand.elsewhere(client.login_id, quantity="2").json()["id"] for _ in range(2)]
    assert client.orders()["total"] == 0
    assert client.net() == "4.0000"
    by_hand.act(theirs[0], "confirm")
    by_hand.act(theirs[1], "refuse")
    assert [order["id"] for order in client.orders()["items"]] == theirs[:1]
    assert client.read(theirs[0])["status"] == "open"
    refused(client.order(theirs[1]), "order_not_found")
    assert client.net() == "2.0000"


def test_every_instrument_is_tradable_by_hand_and_there_is_no_venue_to_set(
    by_hand: LiveMarket, client: LiveTrader
) -> None:
    assert [quote["reason"] for quote in client.get(f"{client.base}/quotes")["items"]] == [None, None]
    for behaviour in ({"mode": "down"}, {"instruments": {"GOLD": "suspended"}}):
        assert by_hand.desk.patch("/hedge", json=behaviour).status_code == 409
    pending(client.place())


def test_a_pending_order_that_the_desk_deleted_cannot_be_confirmed(
    by_hand: LiveMarket, client: LiveTrader
) -> None:
    order = pending(client.place())
    by_hand.act(order["id"], "delete")
    assert by_hand.desk.post(f"/orders/{order['id']}/confirm").status_code == 409
    assert client.read(order["id"]) == {**order, "status": "deleted", "status_detail": "REMOVED"}
    assert client.net() == "0.0000"
    assert by_hand.executions(order_id=order["id"]) == []
