"""`POST /orders` in the test environment: what an accepted order answers, and what it costs."""

import json
import re
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest

from bullion.api.openapi import openapi
from tests.support.orders import BUY_PRICE, SELL_PRICE, Market, Trader, booked, refused
from tests.support.production import LiveTrader

FIELDS = {
    "id",
    "environment",
    "symbol_code",
    "trade_type",
    "quantity",
    "unit",
    "price",
    "total",
    "status",
    "client_order_id",
    "created_at",
    "deal_label",
}


def test_an_order_always_has_every_field_that_is_described(trader: Trader, live_trader: LiveTrader) -> None:
    for each, name in ((trader, "TestOrder"), (live_trader, "ProductionOrder")):
        described = list(openapi()["components"]["schemas"][name]["properties"])
        placed, again = (each.place("the same key").json() for _ in range(2))
        for order in (placed, again, each.order(placed["id"]).json(), *each.orders()["items"]):
            assert list(order) == described


def test_every_field_of_an_order(trader: Trader) -> None:
    before = datetime.now(UTC)
    answer = trader.place(quantity=12.5, client_order_id="mine 7")
    after = datetime.now(UTC)
    order = booked(answer)
    assert answer.headers["content-type"] == "application/json"
    assert order.keys() == FIELDS
    assert order["id"] == str(UUID(order["id"])), "in the one usual way to write it"
    assert order["environment"] == "test"
    assert order["symbol_code"] == "GOLD"
    assert order["trade_type"] == "buy"
    assert order["quantity"] == "12.5000"
    assert order["unit"] == "g"
    assert order["price"] == BUY_PRICE
    assert order["total"] == "89050.00"
    assert order["status"] == "filled"
    assert order["client_order_id"] == "mine 7"
    assert order["deal_label"] == "T-1"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", order["created_at"])
    slack = timedelta(seconds=5)  # The store's clock need not be ours to the moment.
    assert before - slack <= datetime.fromisoformat(order["created_at"]) <= after + slack


def test_a_sell_of_silver_is_told_in_kilograms(trader: Trader) -> None:
    order = trader.sell(2, "SILVER")
    assert (order["unit"], order["quantity"], order["trade_type"]) == ("kg", "2.0000", "sell")
    assert (order["price"], order["total"]) == ("89000.25", "178000.50")
    assert order["client_order_id"] is None


def test_labels_count_the_accounts_own_orders(market: Market) -> None:
    one, other = market.trader(), market.trader()
    labels = [each.buy(1)["deal_label"] for each in (one, one, other, one, other)]
    assert labels == ["T-1", "T-2", "T-1", "T-3", "T-2"]
    refused(one.place(symbol_code="NOWHERE"), "unknown_symbol")
    assert one.sell(1)["deal_label"] == "T-4", "a refused order takes no number"


def test_ids_are_never_the_same_and_times_never_run_back(trader: Trader) -> None:
    orders = [trader.buy(1) for _ in range(10)]
    assert len({order["id"] for order in orders}) == 10
    times = [order["created_at"] for order in orders]
    assert times == sorted(times)


def test_the_order_reads_back_as_it_was_answered(trader: Trader) -> None:
    order = trader.buy(3, client_order_id="again")
    answer = trader.order(order["id"])
    assert (answer.status_code, answer.json()) == (200, order)
    assert trader.orders()["items"] == [order]


def test_the_answer_has_the_order_budget_in_its_headers(trader: Trader) -> None:
    answer = trader.place()
    assert answer.headers["ratelimit-limit"] == "100000"
    assert int(answer.headers["ratelimit-remaining"]) < 100_000
    assert int(answer.headers["ratelimit-reset"]) >= 1
    assert "location" not in answer.headers


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("1", "1.0000"),
        ("1.0", "1.0000"),
        ("1e2", "100.0000"),
        ("1E+2", "100.0000"),
        ("100.00000", "100.0000"),
        ("0.0001", "0.0001"),
        ("1e-4", "0.0001"),
        ("10000000000000000000000e-22", "1.0000"),
        ("0.30000000000000000000", "0.3000"),
        ("999999.9999", "999999.9999"),
        ("1000000", "1000000.0000"),
        ("1000000.0000000", "1000000.0000"),
    ],
)
def test_a_quantity_is_read_exactly(market: Market, sent: str, shown: str) -> None:
    trader = market.trader(market.account(gold="1000000000"))
    body = f'{{"symbol_code": "GOLD", "trade_type": "buy", "quantity": {sent}}}'
    order = booked(trader.send(body.encode(), str(uuid4())))
    assert order["quantity"] == shown
    assert trader.net() == shown


@pytest.mark.parametrize("client_order_id", ["", "x" * 64, "₹" * 64, "\U0001f947" * 64, " a ", "null", None])
def test_a_client_order_id_is_echoed(trader: Trader, client_order_id: str | None) -> None:
    order = trader.buy(1, client_order_id=client_order_id)
    assert order["client_order_id"] == client_order_id
    assert trader.order(order["id"]).json()["client_order_id"] == client_order_id


def test_a_client_order_id_need_not_be_unique(trader: Trader) -> None:
    assert trader.buy(1, client_order_id="same")["id"] != trader.buy(1, client_order_id="same")["id"]


# --- What it costs --------------------------------------------------------------------------------------


def half_up(value: Decimal) -> str:
    return str(value.quantize(Decimal("0.01"), ROUND_HALF_UP))


@pytest.mark.parametrize(
    ("quoted_weight", "price", "quantity", "total"),
    [
        ("10", "71240.00", "0.0001", "0.71"),
        ("10", "0.05", "1", "0.01"),  # 0.005 exactly: up.
        ("10", "0.04", "1", "0.00"),
        ("10", "0.15", "1", "0.02"),  # 0.015 exactly: up, where half to even would too.
        ("10", "0.25", "1", "0.03"),  # 0.025 exactly: up, where half to even would not.
        ("3", "100.00", "1", "33.33"),
        ("3", "100.00", "2", "66.67"),
        ("11.6638", "83100.00", "11.6638", "83100.00"),
        ("11.6638", "83100.00", "1", "7124.61"),
        ("31.1035", "221578.33", "0.0001", "0.71"),
        ("31.1035", "221578.33", "99999.9999", "712390341.21"),
        ("0.0001", "0.01", "1000000", "100000000.00"),
        ("7.7777", "99999.99", "1.2345", "15872.30"),
    ],
)
def test_totals_are_rounded_half_up(
    market: Market, quoted_weight: str, price: str, quantity: str, total: str
) -> None:
    code = f"W{quoted_weight}P{price}"
    market.symbol(code, quoted_weight=quoted_weight, pricing={"kind": "fixed", "buy": price, "sell": price})
    trader = market.trader()
    for side in ("buy", "sell"):
        body = f'{{"symbol_code": "{code}", "trade_type": "{side}", "quantity": {quantity}}}'
        order = booked(trader.send(body.encode(), str(uuid4())))
        assert order["price"] == price
        assert order["total"] == total
        assert order["total"] == half_up(Decimal(price) * Decimal(quantity) / Decimal(quoted_weight))


@pytest.mark.parametrize(
    ("buy_premium", "sell_premium", "buy", "sell"),
    [
        ("0", "0", BUY_PRICE, SELL_PRICE),
        ("12.50", "-7.25", "71252.50", "71222.75"),
        ("-4.50", "5.25", "71235.50", "71235.25"),
        ("-71239.99", "-71229.99", "0.01", "0.01"),
    ],
)
def test_a_buy_is_at_the_ask_and_a_sell_at_the_bid_each_with_its_premium(
    market: Market, buy_premium: str, sell_premium: str, buy: str, sell: str
) -> None:
    terms = {"GOLD": {"buy_premium": buy_premium, "sell_premium": sell_premium}}
    group = market.group(terms=terms, default_terms={"buy_premium": "1", "sell_premium": "1"})
    trader = market.trader(market.account(group=group))
    assert trader.buy(1)["price"] == buy
    assert trader.sell(1)["price"] == sell
    quote = trader.quote()
    assert (quote["buy"], quote["sell"]) == (buy, sell)
    assert trader.buy(1, "SILVER")["price"] == "89101.50", "the terms that are there for all other symbols"


def test_a_live_price_is_what_the_feed_says(market: Market) -> None:
    """The simulated market moves all the time; buys must be above sells, and near what was quoted."""
    market.symbol("LIVE", rate_age_s_max=30, pricing={"kind": "direct", "instrument": "GOLD"})
    trader = market.trader()
    quote = trader.quote("LIVE")
    assert quote["tradable"] is True
    assert datetime.fromisoformat(quote["at"]).tzinfo is UTC
    bought, sold = trader.buy(1, "LIVE"), trader.sell(1, "LIVE")
    assert Decimal(bought["price"]) > Decimal(sold["price"])
    for order, side in ((bought, "buy"), (sold, "sell")):
        assert abs(Decimal(order["price"]) / Decimal(quote[side]) - 1) < Decimal("0.01")


# --- The expected price ---------------------------------------------------------------------------------


def with_price(text: str, trade_type: str = "buy") -> bytes:
    body = {"symbol_code": "ROUND", "trade_type": trade_type, "quantity": 1}
    return json.dumps(body).encode()[:-1] + b', "expected_price": ' + text.encode() + b"}"


@pytest.mark.parametrize("side", ["buy", "sell"])
@pytest.mark.parametrize(
    ("expected", "moved"),
    [
        # The price is 1000 and the tolerance 0.5 percent of what is expected: 1000 = e × (1 ± 0.005).
        ("1000", False),
        ("995.02487562189054727", False),  # 1000 ÷ 1.005 = 995.024875621890547263…: a hair inside.
        ("995.02487562189054726", True),
        ("1005.0251256281407035", False),  # 1000 ÷ 0.995 = 1005.02512562814070351…
        ("1005.0251256281407036", True),
        ("0.00000000000000000001", True),
        ("1e30", True),
        ("99999999999999999999", True),
        ("1000.0000000000000000", False),
        ("100000000000000000e-14", False),
    ],
)
def test_the_tolerance_holds_to_the_last_digit(market: Market, side: str, expected: str, moved: bool) -> None:
    market.symbol("ROUND", pricing={"kind": "fixed", "buy": "1000.00", "sell": "1000.00"})
    trader = market.trader()
    answer = trader.send(with_price(expected, side), str(uuid4()))
    if moved:
        refused(answer, "price_moved")
        assert trader.orders()["total"] == 0
    else:
        assert booked(answer)["price"] == "1000.00"


@pytest.mark.parametrize(
    ("price", "passes"),
    [
        ("1005.00", True),  # Exactly at the tolerance of an expected 1000, above and below.
        ("995.00", True),
        ("1005.01", False),
        ("994.99", False),
    ],
)
def test_at_exactly_the_tolerance_an_order_passes(market: Market, price: str, passes: bool) -> None:
    code = f"AT{price}"
    market.symbol(code, pricing={"kind": "fixed", "buy": price, "sell": price})
    trader = market.trader()
    for side in ("buy", "sell"):
        answer = trader.place(symbol_code=code, trade_type=side, expected_price=1000)
        if passes:
            assert booked(answer)["price"] == price
        else:
            message = refused(answer, "price_moved")["message"]
            assert price in message
            assert "1000" in message


def test_the_tolerance_is_the_desks(own_market: Market) -> None:
    trader = own_market.trader()
    body: dict[str, Any] = {"expected_price": 71000}
    own_market.switch(price_tolerance_percent="0")
    refused(trader.place(**body), "price_moved")
    assert booked(trader.place(expected_price=71240))
    own_market.switch(price_tolerance_percent="0.338")
    refused(trader.place(**body), "price_moved")
    own_market.switch(price_tolerance_percent="0.3381")
    assert booked(trader.place(**body)), "240 is 0.33802… percent of 71000"


@pytest.mark.parametrize("text", ["1234567890.12345678901", "1e101", "1e-101", "123456789012345678901"])
def test_more_than_twenty_digits_or_an_absurd_size_is_invalid(trader: Trader, text: str) -> None:
    refused(trader.send(with_price(text), str(uuid4())), "invalid_request")
