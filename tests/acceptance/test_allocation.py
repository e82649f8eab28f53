"""The weight allocation: what passes, what does not, and what is told of it."""

import pytest

from tests.support.orders import POSITIONS, Market, Trader, booked, refused


def trader_with(market: Market, gold: str, silver: str = "0") -> Trader:
    return market.trader(market.account(gold=gold, silver=silver))


def test_positions_of_an_account_that_has_not_traded(market: Market) -> None:
    assert trader_with(market, "1000", "50.5").get(POSITIONS) == {
        "gold": {"net": "0.0000", "limit": "1000.0000", "used": "0.0000", "free": "1000.0000", "unit": "g"},
        "silver": {"net": "0.0000", "limit": "50.5000", "used": "0.0000", "free": "50.5000", "unit": "kg"},
    }


def test_buys_and_sells_net_off(market: Market) -> None:
    trader = trader_with(market, "100", "10")
    trader.buy(30)
    trader.sell(12.5)
    trader.sell(4, "SILVER")
    assert trader.get(POSITIONS) == {
        "gold": {"net": "17.5000", "limit": "100.0000", "used": "17.5000", "free": "82.5000", "unit": "g"},
        "silver": {"net": "-4.0000", "limit": "10.0000", "used": "4.0000", "free": "6.0000", "unit": "kg"},
    }
    trader.sell(17.5)
    assert trader.net() == "0.0000", "never -0"


@pytest.mark.parametrize("side", ["buy", "sell"])
def test_up_to_the_limit_and_not_a_ten_thousandth_past_it(market: Market, side: str) -> None:
    trader = trader_with(market, "10")
    refused(trader.place(trade_type=side, quantity=10.0001), "limit_exceeded")
    booked(trader.place(trade_type=side, quantity=9.9999))
    refused(trader.place(trade_type=side, quantity=0.0002), "limit_exceeded")
    booked(trader.place(trade_type=side, quantity=0.0001))
    refused(trader.place(trade_type=side, quantity=0.0001), "limit_exceeded")
    position = trader.get(POSITIONS)["gold"]
    assert (position["used"], position["free"]) == ("10.0000", "0.0000")
    assert position["net"] == ("10.0000" if side == "buy" else "-10.0000")


def test_the_message_names_metal_free_weight_limit_and_unit(market: Market) -> None:
    trader = trader_with(market, "10", "2.5")
    trader.buy(7)
    message = refused(trader.place(quantity=4), "limit_exceeded")["message"]
    for part in ("gold", "3.0000 g", "10.0000 g"):
        assert part in message
    message = refused(trader.place(symbol_code="SILVER", quantity=2.6), "limit_exceeded")["message"]
    for part in ("silver", "2.5000 kg"):
        assert part in message
    assert "gold" not in message


def test_an_allocation_of_nothing_takes_nothing(market: Market) -> None:
    trader = trader_with(market, "0")
    for side in ("buy", "sell"):
        refused(trader.place(trade_type=side, quantity=0.0001), "limit_exceeded")


def test_the_metals_are_measured_apart(market: Market) -> None:
    trader = trader_with(market, "1", "1")
    trader.buy(1)
    trader.sell(1, "SILVER")
    refused(trader.place(quantity=1), "limit_exceeded")
    refused(trader.place(symbol_code="SILVER", trade_type="sell", quantity=1), "limit_exceeded")
    assert (trader.net("gold"), trader.net("silver")) == ("1.0000", "-1.0000")


def test_symbols_of_one_metal_share_its_allocation(market: Market) -> None:
    market.symbol("GOLD995")
    trader = trader_with(market, "10")
    trader.buy(6)
    refused(trader.place(symbol_code="GOLD995", quantity=5), "limit_exceeded")
    trader.buy(4, "GOLD995")
    trader.sell(20, "GOLD995")
    assert trader.net() == "-10.0000"


def test_an_order_may_cross_zero_within_the_limit(market: Market) -> None:
    trader = trader_with(market, "10")
    trader.buy(10)
    refused(trader.place(trade_type="sell", quantity=20.0001), "limit_exceeded")
    trader.sell(20)
    assert trader.net() == "-10.0000"


@pytest.mark.parametrize(("opening", "closing"), [("buy", "sell"), ("sell", "buy")])
def test_above_a_lowered_limit_only_reductions_pass(market: Market, opening: str, closing: str) -> None:
    trader = trader_with(market, "100")
    booked(trader.place(trade_type=opening, quantity=100))
    market.allocate(trader.login_id, gold="10")
    position = trader.get(POSITIONS)["gold"]
    assert (position["used"], position["limit"], position["free"]) == ("100.0000", "10.0000", "0.0000")
    refused(trader.place(trade_type=opening, quantity=0.0001), "limit_exceeded")
    booked(trader.place(trade_type=closing, quantity=0.0001))
    # Across zero: to the other side of the same size is no reduction, a hair less is, though above the limit.
    refused(trader.place(trade_type=closing, quantity=199.9998), "limit_exceeded")
    booked(trader.place(trade_type=closing, quantity=199.9997))
    assert trader.get(POSITIONS)["gold"]["used"] == "99.9998"
    refused(trader.place(trade_type=closing, quantity=1), "limit_exceeded")
    booked(trader.place(trade_type=opening, quantity=99.9998))
    assert trader.net() == "0.0000"


def test_a_limit_holds_from_the_next_order_on(market: Market) -> None:
    trader = trader_with(market, "1")
    for limit in range(2, 8):
        trader.buy(1)
        refused(trader.place(quantity=1), "limit_exceeded")
        market.allocate(trader.login_id, gold=str(limit))
        assert trader.get(POSITIONS)["gold"]["free"] == "1.0000"
    market.allocate(trader.login_id, gold="6.5")
    refused(trader.place(quantity=1), "limit_exceeded")
    trader.buy(0.5)


def test_a_limit_set_for_one_metal_leaves_the_other(market: Market) -> None:
    trader = trader_with(market, "1", "2")
    market.allocate(trader.login_id, silver="3")
    positions = trader.get(POSITIONS)
    assert (positions["gold"]["limit"], positions["silver"]["limit"]) == ("1.0000", "3.0000")


def test_refused_orders_move_nothing(market: Market) -> None:
    trader = trader_with(market, "10")
    refused(trader.place(expected_price=1), "price_moved")
    refused(trader.place(quantity=11), "limit_exceeded")
    refused(trader.place(symbol_code="NOWHERE"), "unknown_symbol")
    assert trader.net() == "0.0000"
    assert trader.orders() == {"items": [], "total": 0}


def test_past_the_limit_is_told_before_a_moved_price_and_leaves_the_key_free(market: Market) -> None:
    trader = trader_with(market, "1")
    body = {"quantity": 2, "expected_price": 1}
    refused(trader.place("both", **body), "limit_exceeded")
    market.allocate(trader.login_id, gold="2")
    refused(trader.place("both", **body), "price_moved")


def test_positions_are_the_accounts_whichever_key_reads_them(market: Market) -> None:
    login = market.account(gold="5")
    one, other = market.trader(login), market.trader(login, scopes=["orders:read"])
    one.buy(5)
    assert other.net() == "5.0000"
    refused(market.trader(login, scopes=["account:read"]).http.get(POSITIONS), "insufficient_scope")
