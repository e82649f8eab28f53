"""`POST /orders` in production: the three answers, their replays, and what is told of an order later on."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.support.orders import (
    BUY_PRICE,
    REPLAYED,
    SELL_PRICE,
    booked,
    refused,
    replayed,
)
from tests.support.orders import (
    ORDERS as TEST_ORDERS,
)
from tests.support.orders import (
    POSITIONS as TEST_POSITIONS,
)
from tests.support.production import (
    DETAILS,
    FIELDS,
    ORDERS,
    POSITIONS,
    LiveMarket,
    LiveTrader,
    opened,
    pending,
    rejected,
    sent_to_venue,
)

UNTIL_CLOSED = {"close_price": None, "realized_pnl": None, "closed_at": None}
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")


def check_form(order: dict[str, Any]) -> None:
    """What holds of an order in whichever state."""
    assert order.keys() == FIELDS
    assert order["id"] == str(UUID(order["id"]))
    assert order["environment"] == "production"
    assert INSTANT.fullmatch(order["created_at"])
    assert order["status_detail"] == DETAILS[order["status"]]
    assert order["status_detail"].lower() != order["status"], "the operator's own name, not a copy"


# --- 201, 202, 409 ------------------------------------------------------------------------------------------


def test_an_order_that_is_hedged_at_once_is_open(live_trader: LiveTrader) -> None:
    before = datetime.now(UTC)
    answer = live_trader.place(quantity=12.5, client_order_id="mine 7")
    after = datetime.now(UTC)
    order = opened(answer)
    check_form(order)
    told = {name: value for name, value in order.items() if name not in ("id", "created_at", "deal_no")}
    assert told == {
        "environment": "production",
        "symbol_code": "GOLD",
        "trade_type": "buy",
        "quantity": "12.5000",
        "unit": "g",
        "price": BUY_PRICE,
        "total": "89050.00",
        "status": "open",
        "client_order_id": "mine 7",
        "status_detail": "BOOKED",
        "source": "api",
        **UNTIL_CLOSED,
    }
    assert type(order["deal_no"]) is int
    assert order["deal_no"] >= 1
    slack = timedelta(seconds=5)  # The store's clock need not be ours to the moment.
    assert before - slack <= datetime.fromisoformat(order["created_at"]) <= after + slack
    assert live_trader.read(order["id"]) == order
    assert live_trader.orders() == {"items": [order], "total": 1}


def test_a_sell_of_silver_is_booked_in_kilograms(live_trader: LiveTrader) -> None:
    order = live_trader.sell(2.5, "SILVER")
    assert (order["unit"], order["quantity"], order["trade_type"]) == ("kg", "2.5000", "sell")
    assert (order["price"], order["total"]) == ("89000.25", "222500.63")
    assert order["client_order_id"] is None


def test_an_order_whose_hedge_still_confirms_is_pending_and_then_open(own_live_market: LiveMarket) -> None:
    market, name = own_live_market, str(uuid4())
    market.venue(mode="hold")
    trader = market.trader()
    order = pending(trader.place(name, quantity=3, client_order_id="waits"))
    check_form(order)
    assert order["status_detail"] == "HEDGE_WAIT"
    assert (order["price"], order["total"], order["deal_no"]) == (None, None, None), "not yet a deal"
    assert (order["quantity"], order["source"], order["client_order_id"]) == ("3.0000", "api", "waits")
    assert {field: order[field] for field in UNTIL_CLOSED} == UNTIL_CLOSED
    assert trader.read(order["id"]) == order
    assert trader.orders()["items"] == [order]
    assert replayed(trader.place(name, quantity=3, client_order_id="waits")) == order
    assert trader.net() == "3.0000", "it already counts"
    # The price was fixed when the order was accepted.
    market.change("GOLD", pricing={"kind": "fixed", "buy": "99999.00", "sell": "99998.00"})
    market.venue(mode="fill")
    now = trader.becomes(order["id"], "open")
    check_form(now)
    assert (now["price"], now["total"]) == (BUY_PRICE, "21372.00")
    assert type(now["deal_no"]) is int
    changed = ("price", "total", "deal_no", "status", "status_detail")
    assert {**now, **dict.fromkeys(changed)} == {**order, **dict.fromkeys(changed)}
    again = trader.place(name, quantity=3, client_order_id="waits")
    assert replayed(again) == now, "a replay answers with the order as it is now"
    assert trader.orders()["items"] == [now]
    assert trader.net() == "3.0000"
    (execution,) = market.executions(order_id=order["id"])
    assert (execution["outcome"], execution["quantity"]) == ("confirmed", "3.0000")


def test_an_order_that_the_hedge_refuses_is_rejected(own_live_market: LiveMarket) -> None:
    market, name = own_live_market, str(uuid4())
    market.venue(mode="refuse")
    trader = market.trader()
    answer = trader.place(name, quantity=4, client_order_id="no")
    order = rejected(answer)
    check_form(order)
    assert order["status_detail"] == "HEDGE_REFUSED"
    assert (order["price"], order["total"], order["deal_no"]) == (None, None, None), "nothing was booked"
    assert (order["quantity"], order["unit"], order["symbol_code"]) == ("4.0000", "g", "GOLD")
    assert (order["trade_type"], order["client_order_id"], order["source"]) == ("buy", "no", "api")
    assert {field: order[field] for field in UNTIL_CLOSED} == UNTIL_CLOSED
    assert trader.read(order["id"]) == order
    assert trader.orders()["items"] == [order]
    assert trader.net() == "0.0000"
    assert trader.positions()["symbols"] == []
    # Refused once and for all: also when the venue would take it today.
    market.venue(mode="fill")
    for _ in range(2):
        again = trader.place(name, quantity=4, client_order_id="no")
        assert rejected(again, again=True) == order
        assert again.json()["detail"] == answer.json()["detail"], "the same fields"
    refused(trader.place(name, quantity=5, client_order_id="no"), "idempotency_key_reused")
    assert [each["outcome"] for each in market.executions()] == ["refused"]
    opened(trader.place(quantity=4))


def test_an_order_that_is_refused_while_its_client_polls(own_live_market: LiveMarket) -> None:
    """The client heard 202; a retry of the same key answers 409 from then on."""
    market, name = own_live_market, str(uuid4())
    market.venue(mode="hold")
    trader = market.trader()
    order = pending(trader.place(name))
    market.venue(mode="refuse")
    now = trader.becomes(order["id"], "rejected")
    check_form(now)
    assert (now["price"], now["total"], now["deal_no"]) == (None, None, None)
    assert rejected(trader.place(name), again=True) == now
    assert trader.net() == "0.0000"


def test_replays_book_and_hedge_nothing(live_market: LiveMarket) -> None:
    trader, name = live_market.trader(), str(uuid4())
    order = opened(trader.place(name))
    for sent in (b'{"symbol_code":"GOLD","trade_type":"buy","quantity":1.0}',) * 3:
        assert replayed(trader.send(sent, name)) == order
    assert replayed(live_market.trader(trader.login_id).place(name)) == order, "whichever key sends it"
    refused(trader.place(name, quantity=2), "idempotency_key_reused")
    assert trader.orders()["total"] == 1
    assert trader.net() == "1.0000"
    assert len(live_market.executions(order_id=order["id"])) == 1


def test_a_replay_of_a_moved_price_is_told_as_one(live_market: LiveMarket) -> None:
    trader, name = live_market.trader(), str(uuid4())
    first = trader.place(name, expected_price=70000)
    message = refused(first, "price_moved")["message"]
    assert REPLAYED not in first.headers
    again = trader.place(name, expected_price=70000)
    assert refused(again, "price_moved")["message"] == message
    assert again.headers[REPLAYED] == "true"
    refused(trader.place(name, expected_price=71240), "idempotency_key_reused")
    assert trader.orders()["total"] == 0
    assert trader.net() == "0.0000"


def test_deal_numbers_rise_within_the_broker(live_market: LiveMarket) -> None:
    one, other = live_market.trader(), live_market.trader()
    numbers = [each.buy(1)["deal_no"] for each in (one, other, other, one)]
    assert numbers == sorted(set(numbers))


def test_deal_numbers_are_given_when_an_order_is_booked(own_live_market: LiveMarket) -> None:
    """A pending order has none, and a refused one never gets one."""
    market, trader = own_live_market, own_live_market.trader()
    market.venue(mode="hold")
    waiting = pending(trader.place())
    market.venue(mode="refuse")
    rejected(trader.place())
    trader.becomes(waiting["id"], "rejected")
    market.venue(mode="fill")
    numbers = [trader.buy(1)["deal_no"] for _ in range(3)]
    assert numbers == sorted(set(numbers))
    listed = {order["id"]: order["deal_no"] for order in trader.orders()["items"]}
    assert listed.pop(waiting["id"]) is None
    assert sorted(number for number in listed.values() if number is not None) == numbers


# --- Closing ------------------------------------------------------------------------------------------------


# Gold is quoted per 10 g, bought at 71240.00 and sold at 71230.00: a rupee of difference is 10 paise a gram.
CLOSES = [
    ("buy", "10", "71340.00", "100.00"),
    ("buy", "10", "71140.00", "-100.00"),
    ("sell", "10", "71130.00", "100.00"),
    ("sell", "10", "71330.00", "-100.00"),
    ("buy", "10", "71240.00", "0.00"),
    ("sell", "2.5", "71230.00", "0.00"),
    # Halves of a paisa, away from zero: 5 g of 0.01, 0.03 and 0.05 rupees are 0.5, 1.5 and 2.5 paise.
    ("buy", "5", "71240.01", "0.01"),
    ("buy", "5", "71239.99", "-0.01"),
    ("buy", "5", "71240.05", "0.03"),
    ("buy", "5", "71239.95", "-0.03"),
    ("sell", "5", "71229.97", "0.02"),
    ("sell", "5", "71230.03", "-0.02"),
    ("sell", "5", "71230.05", "-0.03"),
    # A little less than a half, and a little more.
    ("buy", "4.9999", "71240.01", "0.00"),
    ("buy", "4.9999", "71239.99", "0.00"),
    ("sell", "5.0001", "71230.01", "-0.01"),
]


def test_closing_tells_profit_and_loss_to_the_paisa(live_market: LiveMarket) -> None:
    trader = live_market.trader()
    expected = []
    for side, quantity, close_price, pnl in CLOSES:
        order = opened(trader.place(trade_type=side, quantity=float(quantity)))
        assert order["price"] == (BUY_PRICE if side == "buy" else SELL_PRICE)
        live_market.act(order["id"], "close")
        closing = trader.read(order["id"])
        assert closing == {**order, "status": "closing", "status_detail": "CLOSE_REQUESTED"}, "still open"
        live_market.act(order["id"], "complete", close_price=close_price)
        closed = trader.read(order["id"])
        check_form(closed)
        assert INSTANT.fullmatch(closed["closed_at"])
        assert closed["closed_at"] >= order["created_at"]
        assert closed == {
            **order,
            "status": "closed",
            "status_detail": "SETTLED",
            "close_price": close_price,
            "realized_pnl": pnl,
            "closed_at": closed["closed_at"],
        }, (side, quantity, close_price)
        expected.append(closed)
    assert trader.orders(status="closed")["items"] == expected[::-1]
    assert trader.net() == "0.0000"
    assert trader.positions()["symbols"] == []


def test_silver_closes_by_its_own_quoted_weight(live_market: LiveMarket) -> None:
    trader = live_market.trader()
    order = trader.buy(1.5, "SILVER")  # At 89100.50 a kilogram.
    live_market.complete(order["id"], "89100.53")
    assert trader.read(order["id"])["realized_pnl"] == "0.05", "4.5 paise"


def test_an_order_is_closed_by_the_quoted_weight_that_it_was_booked_with(live_market: LiveMarket) -> None:
    """Whatever the desk has made of the symbol since."""
    code = live_market.live("REQUOTED", pricing={"kind": "fixed", "buy": "100.00", "sell": "100.00"})
    trader = live_market.trader()
    order = trader.buy(10, code)
    live_market.change(code, quoted_weight="1")
    live_market.complete(order["id"], "101.00")
    assert trader.read(order["id"])["realized_pnl"] == "1.00"


def test_a_replay_answers_with_whatever_the_desk_has_made_of_the_order(live_market: LiveMarket) -> None:
    trader = live_market.trader()
    closing, closed, deleted = (str(uuid4()) for _ in range(3))
    orders = {name: opened(trader.place(name)) for name in (closing, closed, deleted)}
    live_market.act(orders[closing]["id"], "close")
    live_market.complete(orders[closed]["id"], "71241.00")
    live_market.act(orders[deleted]["id"], "delete")
    for name, status in ((closing, "closing"), (closed, "closed"), (deleted, "deleted")):
        now = replayed(trader.place(name))
        assert now["status"] == status
        assert now == trader.read(orders[name]["id"])
    assert trader.net() == "1.0000"


def test_a_deal_that_was_deleted_keeps_its_price_and_holds_no_position(live_market: LiveMarket) -> None:
    trader = live_market.trader()
    order = trader.buy(7)
    live_market.act(order["id"], "delete")
    assert trader.read(order["id"]) == {**order, "status": "deleted", "status_detail": "REMOVED"}
    assert trader.net() == "0.0000"


# --- Test and production never touch ------------------------------------------------------------------------


def test_the_books_of_test_and_production_never_touch(live_market: LiveMarket) -> None:
    live = live_market.trader(live_market.account(gold="10"))
    test = live_market.tester(live.login_id)
    real = live.buy(10)
    simulated = test.sell(4)
    assert (live.net(), test.net()) == ("10.0000", "-4.0000")
    refused(live.place(), "limit_exceeded")
    assert booked(test.place(quantity=14))["deal_label"] == "T-2"
    assert (live.net(), test.net()) == ("10.0000", "10.0000"), "each against the same allocation"
    refused(live.order(simulated["id"]), "order_not_found")
    refused(test.order(real["id"]), "order_not_found")
    assert live.orders()["items"] == [real]
    assert test.orders()["total"] == 2
    assert "symbols" in live.positions()
    assert test.get(TEST_POSITIONS).keys() == {"gold", "silver"}
    live_market.desk.do("POST", f"/accounts/{live.login_id}/test-book/reset")
    assert (live.net(), test.net()) == ("10.0000", "0.0000")
    assert live.orders()["items"] == [real]


def test_one_key_text_is_another_key_in_the_other_environment(live_market: LiveMarket) -> None:
    live = live_market.trader()
    test = live_market.tester(live.login_id)
    name = str(uuid4())
    opened(live.place(name))
    assert booked(test.place(name, quantity=2))["environment"] == "test"
    replayed(live.place(name))
    replayed(test.place(name, quantity=2))


def test_a_live_key_works_on_production_alone(live_market: LiveMarket) -> None:
    live = live_market.trader()
    test = live_market.tester(live.login_id)
    for path in (TEST_ORDERS, TEST_POSITIONS):
        refused(live.http.get(path), "wrong_environment")
    for path in (ORDERS, POSITIONS):
        refused(test.http.get(path), "wrong_environment")


@pytest.mark.parametrize("mode", ["fill", "refuse", "hold", "down"])
def test_no_test_order_is_ever_sent_to_the_venue(own_live_market: LiveMarket, mode: str) -> None:
    """Nor does a test order care how the venue is, or whether production is open."""
    market = own_live_market
    market.venue(mode=mode, delay_ms=300, instruments={"GOLD": "suspended", "SILVER": "unknown"})
    market.change("GOLD", stock="0")
    market.switch(production=False, paused=True)
    tester = market.tester()
    orders = [tester.buy(1), tester.sell(3), tester.buy(2, "SILVER")]
    assert [order["status"] for order in orders] == ["filled"] * 3
    assert (tester.net(), tester.net("silver")) == ("-2.0000", "2.0000")
    assert market.executions() == []
    assert sent_to_venue(market) == []
    assert market.desk.do("GET", "/hedge/queue")["total"] == 0
    assert market.stock() == "0.0000", "a stock is not drawn on by a test order"
