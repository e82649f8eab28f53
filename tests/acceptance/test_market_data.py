"""The extensions: the symbols that an account can trade, and its quotes."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.orders import ORDERS, POSITIONS, QUOTES, SYMBOLS, Market, Trader, booked, problems, refused


def symbols_of(trader: Trader) -> dict[str, Any]:
    answer = trader.get(SYMBOLS)
    assert answer.keys() == {"items"}
    return {item["symbol_code"]: item for item in answer["items"]}


# --- Symbols --------------------------------------------------------------------------------------------


def test_symbols_with_every_field(own_market: Market) -> None:
    trader = own_market.trader()
    assert trader.get(SYMBOLS) == {
        "items": [
            {
                "symbol_code": "GOLD",
                "metal": "gold",
                "unit": "g",
                "quoted_weight": "10.0000",
                "minimum": "0.0001",
                "maximum": "1000000.0000",
                "step": "0.0001",
                "sides": ["buy", "sell"],
                "trading": True,
            },
            {
                "symbol_code": "SILVER",
                "metal": "silver",
                "unit": "kg",
                "quoted_weight": "1.0000",
                "minimum": "0.0001",
                "maximum": "1000000.0000",
                "step": "0.0001",
                "sides": ["buy", "sell"],
                "trading": True,
            },
        ]
    }


@pytest.mark.parametrize(
    ("terms", "shown", "good", "bad"),
    [
        ({}, ("2.0000", "20.0000", "0.5000"), [2, 20, 2.5], [1.5, 20.5, 2.25]),
        ({"minimum": "4"}, ("4.0000", "20.0000", "0.5000"), [4, 4.5], [3.5]),
        ({"minimum": "1"}, ("2.0000", "20.0000", "0.5000"), [2], [1]),
        ({"maximum": "10"}, ("2.0000", "10.0000", "0.5000"), [10], [10.5]),
        ({"maximum": "100"}, ("2.0000", "20.0000", "0.5000"), [20], [20.5]),
        ({"step": "1"}, ("2.0000", "20.0000", "1.0000"), [3], [2.5]),
        ({"step": "0.25"}, ("2.0000", "20.0000", "0.5000"), [2.5], [2.25]),
        ({"step": "0.75"}, ("2.0000", "20.0000", "1.5000"), [3, 4.5], [2, 2.25, 2.5, 3.75]),
        (
            {"minimum": "3", "maximum": "9", "step": "3"},
            ("3.0000", "9.0000", "3.0000"),
            [3, 6, 9],
            [2, 4, 12],
        ),
    ],
)
def test_sizes_are_those_after_the_groups_terms_and_orders_obey_them(
    market: Market,
    terms: dict[str, str],
    shown: tuple[str, str, str],
    good: list[float],
    bad: list[float],
) -> None:
    market.symbol("BARS", minimum="2", maximum="20", step="0.5")
    group = market.group(terms={"BARS": {"buy_premium": "0", "sell_premium": "0", **terms}})
    trader = market.trader(market.account(group=group))
    bars = symbols_of(trader)["BARS"]
    assert (bars["minimum"], bars["maximum"], bars["step"]) == shown
    for quantity in good:
        trader.buy(quantity, "BARS")
    for quantity in bad:
        answer = trader.place(symbol_code="BARS", quantity=quantity)
        assert answer.json()["detail"]["code"] in ("quantity_rule", "group_quantity_rule")


def test_sides_that_are_offered_and_symbols_that_trade(own_market: Market) -> None:
    own_market.symbol("SELLONLY", sides=["sell"])
    own_market.symbol("ONEPRICE", pricing={"kind": "fixed", "buy": "100.00", "sell": None})
    own_market.symbol("OFF", trading=False)
    group = own_market.group(terms={"GOLD": {"buy_premium": None, "sell_premium": "0"}})
    trader = own_market.trader(own_market.account(group=group))
    found = symbols_of(trader)
    assert {code: item["sides"] for code, item in found.items()} == {
        "GOLD": ["sell"],
        "OFF": ["buy", "sell"],
        "ONEPRICE": ["buy"],
        "SELLONLY": ["sell"],
        "SILVER": ["buy", "sell"],
    }
    assert [code for code, item in found.items() if not item["trading"]] == ["OFF"]
    assert list(found) == sorted(found)


def test_symbols_are_the_brokers_own(own_market: Market, market: Market) -> None:
    own_market.symbol("OURS")
    assert "OURS" in symbols_of(own_market.trader())
    assert "OURS" not in symbols_of(market.trader())


# --- Quotes ---------------------------------------------------------------------------------------------


def test_a_quote_with_every_field(market: Market) -> None:
    group = market.group(default_terms={"buy_premium": "1.00", "sell_premium": "-1.00"})
    trader = market.trader(market.account(group=group))
    assert trader.get(QUOTES, symbol_code="GOLD") == {
        "items": [
            {
                "symbol_code": "GOLD",
                "buy": "71241.00",
                "sell": "71229.00",
                "at": None,
                "tradable": True,
                "reason": None,
            }
        ]
    }


def test_quotes_of_all_symbols_or_of_one(own_market: Market) -> None:
    trader = own_market.trader()
    assert [item["symbol_code"] for item in trader.get(QUOTES)["items"]] == ["GOLD", "SILVER"]
    assert [item["symbol_code"] for item in trader.get(QUOTES, symbol_code="SILVER")["items"]] == ["SILVER"]
    assert trader.get(QUOTES, symbol_code="NOWHERE") == {"items": []}
    assert trader.get(QUOTES, symbol_code="gold") == {"items": []}
    assert trader.get(QUOTES, symbol_code="") == {"items": []}
    assert trader.get(QUOTES, other="x") == trader.get(QUOTES)
    answer = trader.http.get(QUOTES, params={"symbol_code": "x" * 33})
    assert problems(answer) == [(["query", "symbol_code"], "too_long")]


def test_the_time_of_a_quote_is_its_oldest_ticks(own_market: Market) -> None:
    pricing = {"kind": "landed", "spot": "S", "currency": "C", "premium_usd": "0", "interbank": "0"}
    pricing |= {"conversion": "1", "duty": "d", "margin": "0"}
    own_market.symbol("IMPORT", pricing=pricing)
    own_market.desk.do("PUT", "/duties/d", [{"from": "2020-01-01", "rupees": "0.50"}])
    older, newer = (
        (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(timespec="microseconds")
        for seconds in (20, 10)
    )
    own_market.desk.do("PUT", "/rates/S", {"bid": "10", "ask": "11", "at": older})
    own_market.desk.do("PUT", "/rates/C", {"bid": "2", "ask": "3", "at": newer})
    trader = own_market.trader()
    quote = trader.quote("IMPORT")
    assert (quote["at"], quote["buy"], quote["sell"]) == (older, "33.50", "20.50")
    assert trader.buy(1, "IMPORT")["price"] == "33.50"


Fields = dict[str, Any]
LIVE: Fields = {"pricing": {"kind": "direct", "instrument": "QUIET"}}
CASES: dict[str, tuple[Fields, Fields, Fields]] = {
    # What the symbol, the group and the switches are like.
    "symbol_not_trading": ({"trading": False}, {}, {}),
    "side_not_offered": ({}, {"default_terms": {"buy_premium": None, "sell_premium": None}}, {}),
    "no_live_price": (LIVE, {}, {}),
    "trading_halted": ({}, {}, {"halted": True}),
    "symbol_frozen": ({"frozen": True}, {}, {}),
    "group_trading_disabled": ({}, {"trading": False}, {}),
    "group_quantity_rule": (
        {"minimum": "1"},
        {"default_terms": {"buy_premium": "0", "sell_premium": "0", "maximum": "0.5"}},
        {},
    ),
    "pricing_unavailable": ({}, {"default_terms": None}, {}),
}


@pytest.mark.parametrize("code", CASES)
def test_the_reason_is_the_code_that_an_order_meets(own_market: Market, code: str) -> None:
    symbol, group, switches = CASES[code]
    own_market.symbol("X", **symbol)
    trader = own_market.trader(own_market.account(group=own_market.group(**group)))
    if switches:
        own_market.switch(**switches)
    quote = trader.quote("X")
    assert (quote["tradable"], quote["reason"]) == (False, code)
    for side in ("buy", "sell"):
        refused(trader.place(symbol_code="X", trade_type=side), code)


def test_a_quote_goes_stale_and_comes_back(own_market: Market) -> None:
    own_market.symbol("LIVE", rate_age_s_max=1, pricing={"kind": "direct", "instrument": "OURS"})
    trader = own_market.trader()
    own_market.desk.do("PUT", "/rates/OURS", {"bid": "100", "ask": "101"})
    assert trader.quote("LIVE")["tradable"] is True
    time.sleep(1.1)
    quote = trader.quote("LIVE")
    assert (quote["tradable"], quote["reason"]) == (False, "stale_rate")
    own_market.desk.do("PUT", "/rates/OURS", {"bid": "100", "ask": "102"})
    quote = trader.quote("LIVE")
    assert (quote["tradable"], quote["reason"], quote["buy"]) == (True, None, "102.00")


def test_a_one_sided_symbol_is_tradable_and_has_one_price(own_market: Market) -> None:
    own_market.symbol("SELLONLY", sides=["sell"])
    own_market.symbol("ONEPRICE", pricing={"kind": "fixed", "buy": "100.00", "sell": None})
    trader = own_market.trader()
    quote = trader.quote("ONEPRICE")
    assert (quote["buy"], quote["sell"], quote["tradable"]) == ("100.00", None, True)
    quote = trader.quote("SELLONLY")
    assert (quote["buy"], quote["sell"], quote["tradable"]) == (None, "71230.00", True)


def test_the_reason_of_a_one_sided_symbol_is_that_of_the_side_it_has(own_market: Market) -> None:
    own_market.symbol("SELLONLY", sides=["sell"])
    trader = own_market.trader()
    own_market.switch(halted=True)
    refused(trader.place(symbol_code="SELLONLY", trade_type="sell"), "trading_halted")
    assert trader.quote("SELLONLY")["reason"] == "trading_halted"


def test_the_smallest_good_size_is_what_a_quote_is_about(own_market: Market) -> None:
    """The minimum need not be a multiple of the step."""
    own_market.symbol("ODD", minimum="1", maximum="10", step="0.7")
    trader = own_market.trader()
    assert trader.quote("ODD")["tradable"] is True
    trader.buy(1.4, "ODD")
    refused(trader.place(symbol_code="ODD", quantity=1), "quantity_rule")


@pytest.mark.parametrize("path", [SYMBOLS, QUOTES, POSITIONS])
def test_reads_take_get_alone_and_their_own_scope(market: Market, path: str) -> None:
    trader = market.trader(scopes=["account:read", "orders:write"])
    refused(trader.http.get(path), "insufficient_scope")
    answer = trader.http.post(path, json={})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    assert trader.http.get(f"{path}/").status_code == 404
    assert trader.http.get(f"{path}/GOLD").status_code == 404


@pytest.mark.parametrize("path", [SYMBOLS, QUOTES, POSITIONS, ORDERS])
def test_reads_share_one_budget(own_market: Market, path: str) -> None:
    own_market.switch(budgets={"reads_per_minute": 2})
    trader = own_market.trader()
    assert trader.http.get(path).headers["ratelimit-remaining"] == "1"
    assert trader.http.get("/api/trading/test/v1/me").headers["ratelimit-remaining"] == "0"
    refused(trader.http.get(path), "rate_limited")
    booked(trader.place())


# --- A reset of the test book -----------------------------------------------------------------------------


def test_a_reset_empties_list_and_positions_and_nothing_else(own_market: Market) -> None:
    trader = own_market.trader(own_market.account(gold="3", silver="3"))
    first = booked(trader.place("one", client_order_id="a"))
    second = booked(trader.place("two", quantity=2))
    trader.sell(3, "SILVER")
    own_market.desk.do("POST", f"/accounts/{trader.login_id}/test-book/reset")
    assert trader.orders() == {"items": [], "total": 0}
    for filters in (
        {"symbol_code": "GOLD"},
        {"trade_type": "buy"},
        {"client_order_id": "a"},
        {"since": "2000-01-01"},
    ):
        assert trader.orders(**filters) == {"items": [], "total": 0}
    positions = trader.get(POSITIONS)
    assert {metal: (each["net"], each["free"]) for metal, each in positions.items()} == {
        "gold": ("0.0000", "3.0000"),
        "silver": ("0.0000", "3.0000"),
    }
    assert trader.order(first["id"]).json() == first, "still readable by id"
    replay = trader.place("two", quantity=2)
    assert (replay.status_code, replay.json()) == (200, second), "and still replayed"
    refused(trader.place("two", quantity=1), "idempotency_key_reused")
    fourth = trader.buy(3)
    assert fourth["deal_label"] == "T-4", "labels go on"
    assert trader.orders() == {"items": [fourth], "total": 1}
    assert trader.orders(symbol_code="GOLD", trade_type="buy") == {"items": [fourth], "total": 1}
    assert trader.net() == "3.0000"


def test_what_the_desk_reads_of_an_order_is_what_the_client_was_told(own_market: Market) -> None:
    trader = own_market.trader()
    order = trader.buy(2, client_order_id="seen")
    (listed,) = own_market.desk.do("GET", f"/orders?login_id={trader.login_id}")["items"]
    told = json.loads(json.dumps(order))
    assert {name: listed[name] for name in told if name in listed} == {
        name: value for name, value in told.items() if name in listed
    }
    assert listed["id"] == order["id"]
    assert own_market.desk.do("GET", f"/orders/{order['id']}")["id"] == order["id"]
