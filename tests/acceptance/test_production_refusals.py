"""Every refusal of the specification's table on the production path, each for its real reason.

A test is named for its code; those that need a service of their own are in `test_production_outages`, and the
faults of a store that ends a booking in `tests/faults`.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from bullion.keys.text import secret_from
from bullion.refusals.catalogue import CATALOGUE
from tests.acceptance import test_production_outages
from tests.support.node import own_address, until
from tests.support.orders import refused, replayed
from tests.support.production import (
    BASE,
    ME,
    ORDERS,
    PATIENCE_S,
    POSITIONS,
    QUOTES,
    LiveMarket,
    LiveTrader,
    closed_by,
    opened,
    pending,
    rejected,
    sent_to_venue,
)

STORE_FAULTS = {
    "booking_busy",
    "booking_unavailable",
    "booking_not_completed",
    "booking_outcome_unknown",
}
LANDED = {
    "kind": "landed",
    "spot": "SPOT",
    "currency": "CURRENCY",
    "premium_usd": "1.25",
    "interbank": "0.05",
    "conversion": "0.3215",
    "duty": "gold",
    "margin": "100.00",
}


def test_each_code_of_the_table_has_its_test() -> None:
    table = {row.code for row in CATALOGUE if row.specified} - STORE_FAULTS
    tests = {*globals(), *vars(test_production_outages)}
    assert {code for code in table if f"test_{code}" in tests} == table


@pytest.fixture
def trader(live_market: LiveMarket) -> Iterator[LiveTrader]:
    """On the market that tests share; an order that is there at the end was booked knowingly."""
    trader = live_market.trader()
    yield trader
    only_meant(live_market, trader)


@pytest.fixture
def own_trader(own_live_market: LiveMarket) -> Iterator[LiveTrader]:
    trader = own_live_market.trader()
    yield trader
    only_meant(own_live_market, trader)


def only_meant(market: LiveMarket, trader: LiveTrader) -> None:
    reader = market.trader(trader.login_id)
    found = [*reader.orders(limit=200)["items"], *reader.orders(limit=200, status="deleted")["items"]]
    for order in found:
        assert order["client_order_id"] == "meant", order
    ids = {order["id"] for order in found}
    mine = market.desk.do("GET", f"/orders?login_id={trader.login_id}&environment=production&limit=200")
    assert {order["id"] for order in mine["items"]} == ids


def meant(trader: LiveTrader, **body: Any) -> dict[str, Any]:
    """An order that is to be booked, to show that only the fault was in the way."""
    return opened(trader.place(client_order_id="meant", **body))


def with_key(market: LiveMarket, trader: LiveTrader, text: str) -> LiveTrader:
    return market.at_work(trader.login_id, {"key": text, "key_id": trader.key_id})


# --- The key ------------------------------------------------------------------------------------------------


def test_missing_credential(trader: LiveTrader) -> None:
    del trader.http.headers["X-API-Key"]
    refused(trader.place(), "missing_credential")


def test_malformed_credential(live_market: LiveMarket, trader: LiveTrader) -> None:
    for text in ("secret", trader.key[:-1], trader.key + "0", trader.key.upper()):
        refused(with_key(live_market, trader, text).place(), "malformed_credential")


def test_wrong_tenant(live_market: LiveMarket, trader: LiveTrader) -> None:
    trader.http.headers["Host"] = "somewhere.example"
    refused(trader.place(), "wrong_tenant")


def test_wrong_environment(live_market: LiveMarket, trader: LiveTrader) -> None:
    test_key = live_market.tester(trader.login_id).key
    refused(with_key(live_market, trader, test_key).place(), "wrong_environment")
    renamed = test_key.replace("key_test.", "key_live.")
    refused(with_key(live_market, trader, renamed).place(), "invalid_credential")


def test_invalid_credential(live_market: LiveMarket, trader: LiveTrader) -> None:
    wrong_secret = f"{trader.key.rpartition('.')[0]}.{secret_from(bytes(32))}"
    unknown_id = trader.key.replace(trader.key_id, "0" * 16)
    answers = [with_key(live_market, trader, text).place() for text in (wrong_secret, unknown_id)]
    for answer in answers:
        refused(answer, "invalid_credential")
    assert answers[0].content == answers[1].content


def test_credential_revoked(live_market: LiveMarket, trader: LiveTrader) -> None:
    other = live_market.trader(trader.login_id)
    meant(other)
    live_market.desk.do("POST", f"/keys/{other.key_id}/revoke")
    refused(other.place(), "credential_revoked")


def test_credential_rotated(live_market: LiveMarket, trader: LiveTrader) -> None:
    """An order's key survives the rotation of the API key that sent it."""
    old, name = live_market.trader(trader.login_id), str(uuid4())
    order = opened(old.place(name, client_order_id="meant"))
    issued = live_market.desk.do("POST", f"/keys/{old.key_id}/rotate", {"overlap_s": 0})
    until(lambda: old.place(name, client_order_id="meant").status_code == 401, within_s=PATIENCE_S)
    refused(old.place(name, client_order_id="meant"), "credential_rotated")
    successor = live_market.at_work(old.login_id, issued)
    assert replayed(successor.place(name, client_order_id="meant")) == order


def test_credential_expired(live_market: LiveMarket, trader: LiveTrader) -> None:
    at = datetime.now(UTC) + timedelta(seconds=1)
    expiring = live_market.trader(trader.login_id, expires_at=at.isoformat())
    until(lambda: expiring.http.get(ME).status_code == 401, within_s=PATIENCE_S)
    refused(expiring.place(), "credential_expired")


def test_api_access_disabled(live_market: LiveMarket, trader: LiveTrader) -> None:
    live_market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"api_access": False})
    refused(trader.place(), "api_access_disabled")
    live_market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"api_access": True})
    meant(trader)


def test_account_inactive(live_market: LiveMarket, trader: LiveTrader) -> None:
    live_market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"active": False})
    refused(trader.place(), "account_inactive")
    refused(trader.http.get(ORDERS), "account_inactive")
    live_market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"active": True})
    meant(trader)


def test_insufficient_scope(live_market: LiveMarket, trader: LiveTrader) -> None:
    reader = live_market.trader(trader.login_id, scopes=["account:read", "orders:read"])
    assert "orders:write" in refused(reader.place(), "insufficient_scope")["message"]
    writer = live_market.trader(trader.login_id, scopes=["orders:write"])
    order = meant(writer)
    for path in (ORDERS, f"{ORDERS}/{order['id']}", POSITIONS, QUOTES):
        assert "orders:read" in refused(writer.http.get(path), "insufficient_scope")["message"]
    assert "account:read" in refused(writer.http.get(ME), "insufficient_scope")["message"]


def test_auth_throttled(live_market: LiveMarket, trader: LiveTrader) -> None:
    issued = {"key": trader.key, "key_id": trader.key_id}
    here = live_market.at_work(trader.login_id, issued, address=own_address())
    here.http.headers["X-API-Key"] = "wrong"
    for _ in range(20):
        refused(here.place(), "malformed_credential")
    here.http.headers["X-API-Key"] = trader.key
    answer = here.place()
    refused(answer, "auth_throttled")
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    meant(trader)


def test_rate_limited(own_live_market: LiveMarket, own_trader: LiveTrader) -> None:
    """By the key's budget; that of the account is in `test_production_books`."""
    own_live_market.switch(budgets={"orders_per_10_seconds": 3})
    name = str(uuid4())
    order = opened(own_trader.place(name, client_order_id="meant"))
    assert replayed(own_trader.place(name, client_order_id="meant")) == order
    refused(own_trader.place(symbol_code="NOWHERE"), "unknown_symbol")
    for key in (name, str(uuid4())):
        answer = own_trader.place(key, client_order_id="meant")
        refused(answer, "rate_limited")
        assert (answer.headers["ratelimit-limit"], answer.headers["ratelimit-remaining"]) == ("3", "0")
        assert 1 <= int(answer.headers["retry-after"]) <= 10
    meant(own_live_market.trader(own_trader.login_id))


# --- Production's switches ----------------------------------------------------------------------------------


def test_production_trading_disabled(own_live_market: LiveMarket, own_trader: LiveTrader) -> None:
    """For the broker, or for the account alone; for the deployment see `test_production_outages`."""
    market = own_live_market
    market.switch(production=False)
    assert closed_by(own_trader.place()) == "global"
    market.switch(production=True)
    market.desk.do("PATCH", f"/accounts/{own_trader.login_id}", {"production_trading": False})
    assert closed_by(own_trader.place()) == "account"
    opened(market.trader().place())
    market.desk.do("PATCH", f"/accounts/{own_trader.login_id}", {"production_trading": True})
    meant(own_trader)


def test_production_prerequisites_unmet(own_live_market: LiveMarket, own_trader: LiveTrader) -> None:
    """Paused by the desk, or without its venue; with an older schema see `test_production_outages`."""
    market, name = own_live_market, str(uuid4())
    market.switch(paused=True)
    refused(own_trader.place(name, client_order_id="meant"), "production_prerequisites_unmet")
    market.switch(paused=False)
    order = opened(own_trader.place(name, client_order_id="meant"))
    market.venue(mode="down")
    until(lambda: own_trader.quote()["reason"] == "production_prerequisites_unmet", within_s=PATIENCE_S)
    answer = own_trader.place()
    refused(answer, "production_prerequisites_unmet")
    assert replayed(own_trader.place(name, client_order_id="meant")) == order
    assert sent_to_venue(market) == [order["id"]]
    market.venue(mode="fill")
    market.ready("GOLD")
    meant(own_trader)


# --- The request --------------------------------------------------------------------------------------------


def test_invalid_request(trader: LiveTrader) -> None:
    (problem,) = refused(trader.place(quantity="1"), "invalid_request")["errors"]
    assert problem["loc"] == ["body", "quantity"]
    for name in ("status", "price", "deal_no", "source"):
        (problem,) = refused(trader.place(**{name: "open"}), "invalid_request")["errors"]
        assert problem["loc"] == ["body", name]
    refused(trader.http.get(f"{ORDERS}?limit=0"), "invalid_request")


def test_idempotency_key_required(trader: LiveTrader) -> None:
    body = b'{"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}'
    refused(trader.send(body), "idempotency_key_required")


def test_idempotency_key_reused(trader: LiveTrader) -> None:
    name = str(uuid4())
    opened(trader.place(name, client_order_id="meant"))
    others: list[dict[str, Any]] = [
        {"quantity": 2},
        {"trade_type": "sell"},
        {"trade_type": "hold"},
        {"symbol_code": "NOWHERE"},
        {"expected_price": 71240},
        {"client_order_id": "other"},
    ]
    for other in others:
        refused(trader.place(name, **{"client_order_id": "meant", **other}), "idempotency_key_reused")


def test_order_not_found(live_market: LiveMarket, trader: LiveTrader) -> None:
    order = meant(trader)
    refused(live_market.trader().order(order["id"]), "order_not_found")
    for order_id in (str(uuid4()), "1", order["id"][:-1], order["id"] + "0", order["id"].replace("-", "")):
        refused(trader.order(order_id), "order_not_found")
    assert trader.order(order["id"].upper()).json() == order


# --- The symbol and its rates -------------------------------------------------------------------------------


def test_unknown_symbol(trader: LiveTrader) -> None:
    for code in ("NOWHERE", "gold", "GOLD ", "'; DROP TABLE orders; --", "₹", "x" * 32):
        refused(trader.place(symbol_code=code), "unknown_symbol")


def test_symbol_not_trading(live_market: LiveMarket, trader: LiveTrader) -> None:
    code = live_market.live("PAUSING")
    live_market.change(code, trading=False)
    refused(trader.place(symbol_code=code), "symbol_not_trading")
    live_market.change(code, trading=True)
    meant(trader, symbol_code=code)


def test_invalid_side(trader: LiveTrader) -> None:
    for side in ("hold", "", "BUY", " buy"):
        refused(trader.place(trade_type=side), "invalid_side")


def test_side_not_offered(live_market: LiveMarket, trader: LiveTrader) -> None:
    code = live_market.live("SELLONLY", sides=["sell"])
    refused(trader.place(symbol_code=code), "side_not_offered")
    meant(trader, symbol_code=code, trade_type="sell")


def rate(market: LiveMarket, instrument: str, bid: str, ask: str, ago_s: float = 0) -> None:
    at = datetime.now(UTC) - timedelta(seconds=ago_s) if ago_s else None
    body = {"bid": bid, "ask": ask, "at": None if at is None else at.isoformat()}
    market.desk.do("PUT", f"/rates/{instrument}", body)


def test_no_live_price(own_live_market: LiveMarket, own_trader: LiveTrader) -> None:
    own_live_market.live("OURS")  # So that the venue's word on it is there.
    own_live_market.symbol("LIVE", pricing={"kind": "direct", "instrument": "OURS"})
    refused(own_trader.place(symbol_code="LIVE"), "no_live_price")
    rate(own_live_market, "OURS", "71234.50", "71240.00")
    assert meant(own_trader, symbol_code="LIVE")["price"] == "71240.00"
    assert meant(own_trader, symbol_code="LIVE", trade_type="sell")["price"] == "71234.50"


def test_unpriced(own_live_market: LiveMarket, own_trader: LiveTrader) -> None:
    own_live_market.live("SPOT")
    own_live_market.symbol("IMPORT", pricing=LANDED)
    rate(own_live_market, "SPOT", "4000", "4001")
    refused(own_trader.place(symbol_code="IMPORT"), "unpriced")
    rate(own_live_market, "CURRENCY", "90", "90.1")
    refused(own_trader.place(symbol_code="IMPORT"), "unpriced")
    own_live_market.desk.do("PUT", "/duties/gold", [{"from": "2020-01-01", "rupees": "5000.00"}])
    assert meant(own_trader, symbol_code="IMPORT")["price"] == "121098.11"


def test_stale_rate(own_live_market: LiveMarket, own_trader: LiveTrader) -> None:
    own_live_market.live("OURS")
    direct = {"kind": "direct", "instrument": "OURS"}
    own_live_market.symbol("LIVE", rate_age_s_max=30, pricing=direct)
    own_live_market.symbol("PATIENT", rate_age_s_max=3600, pricing=direct)
    rate(own_live_market, "OURS", "100", "101", ago_s=60)
    refused(own_trader.place(symbol_code="LIVE"), "stale_rate")
    meant(own_trader, symbol_code="PATIENT")
    rate(own_live_market, "OURS", "100", "101")
    meant(own_trader, symbol_code="LIVE")


def test_trading_halted(own_live_market: LiveMarket, own_trader: LiveTrader) -> None:
    own_live_market.switch(halted=True)
    refused(own_trader.place(), "trading_halted")
    own_live_market.switch(halted=False)
    meant(own_trader)
    never = {"zone": "Asia/Kolkata", "week": {}, "holidays": []}
    own_live_market.switch(trading_hours=never)
    refused(own_trader.place(), "trading_halted")
    own_live_market.switch(trading_hours=None)
    meant(own_trader)


def test_symbol_frozen(own_live_market: LiveMarket, own_trader: LiveTrader) -> None:
    own_live_market.change("GOLD", frozen=True)
    refused(own_trader.place(), "symbol_frozen")
    own_live_market.change("GOLD", frozen=False)
    meant(own_trader)
    own_live_market.live("OURS")
    own_live_market.symbol("LIVE", freeze_after_s=1, pricing={"kind": "direct", "instrument": "OURS"})
    rate(own_live_market, "OURS", "100", "101")
    meant(own_trader, symbol_code="LIVE")
    time.sleep(1.05)  # The price stands still for longer than it may.
    rate(own_live_market, "OURS", "100", "101")
    refused(own_trader.place(symbol_code="LIVE"), "symbol_frozen")
    rate(own_live_market, "OURS", "100", "101.000001")
    meant(own_trader, symbol_code="LIVE")


# --- Sizes, the venue's word, groups and the book -----------------------------------------------------------


def test_quantity_rule(live_market: LiveMarket, trader: LiveTrader) -> None:
    code = live_market.live("SIZED", minimum="2", maximum="10", step="0.5")
    for quantity in (1.5, 10.5, 2.25, 2.0001):
        refused(trader.place(symbol_code=code, quantity=quantity), "quantity_rule")
    for quantity in (2, 2.5, 10):
        meant(trader, symbol_code=code, quantity=quantity)


def test_tradeability_unverified(own_live_market: LiveMarket, own_trader: LiveTrader) -> None:
    market = own_live_market
    market.venue(instruments={"GOLD": "unknown"})
    until(lambda: own_trader.quote()["reason"] is not None, within_s=PATIENCE_S)
    refused(own_trader.place(), "tradeability_unverified")
    meant(own_trader, symbol_code="SILVER")
    market.venue(instruments={"GOLD": "tradable"})
    market.ready("GOLD")
    meant(own_trader)


def test_symbol_unavailable(own_live_market: LiveMarket, own_trader: LiveTrader) -> None:
    """Hedged in one instrument, two symbols are unavailable together."""
    market = own_live_market
    market.live("OURS")
    market.symbol("LIVE", pricing={"kind": "direct", "instrument": "OURS"})
    rate(market, "OURS", "100", "101")
    market.venue(instruments={"OURS": "suspended"})
    for code in ("OURS", "LIVE"):
        until(lambda code=code: own_trader.quote(code)["reason"] is not None, within_s=PATIENCE_S)
        refused(own_trader.place(symbol_code=code), "symbol_unavailable")
    meant(own_trader)
    market.venue(instruments={"OURS": "tradable"})
    market.ready("LIVE")
    meant(own_trader, symbol_code="LIVE")


def test_group_trading_disabled(live_market: LiveMarket, trader: LiveTrader) -> None:
    group = live_market.group(trading=False)
    live_market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"group": group})
    refused(trader.place(), "group_trading_disabled")
    live_market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"group": "retail"})
    meant(trader)


def test_group_quantity_rule(live_market: LiveMarket, trader: LiveTrader) -> None:
    terms = {"buy_premium": "0", "sell_premium": "0", "minimum": "4", "maximum": "8", "step": "1"}
    group = live_market.group(terms={"GOLD": terms})
    live_market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"group": group})
    for quantity in (2, 8.5, 4.5):
        refused(trader.place(quantity=quantity), "group_quantity_rule")
    meant(trader, quantity=5)


def test_pricing_unavailable(live_market: LiveMarket, trader: LiveTrader) -> None:
    group = live_market.group(
        default_terms=None, terms={"SILVER": {"buy_premium": "10.50", "sell_premium": "-89000.25"}}
    )
    live_market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"group": group})
    refused(trader.place(), "pricing_unavailable")
    refused(trader.place(symbol_code="SILVER", trade_type="sell"), "pricing_unavailable")
    assert meant(trader, symbol_code="SILVER")["price"] == "89111.00"


def test_limit_exceeded(live_market: LiveMarket, trader: LiveTrader) -> None:
    live_market.allocate(trader.login_id, gold="2", silver="3")
    meant(trader, quantity=1.5)
    message = refused(trader.place(), "limit_exceeded")["message"]
    for part in ("gold", "0.5000 g", "2.0000 g"):
        assert part in message
    meant(trader, quantity=0.5)


def test_out_of_stock(live_market: LiveMarket, trader: LiveTrader) -> None:
    code = live_market.live("SCARCE", stock="2")
    refused(trader.place(symbol_code=code, quantity=2.0001), "out_of_stock")
    meant(trader, symbol_code=code, quantity=2)
    refused(trader.place(symbol_code=code, quantity=0.0001), "out_of_stock")
    meant(trader, symbol_code=code, trade_type="sell", quantity=5)
    live_market.change(code, stock="0.5")
    meant(trader, symbol_code=code, quantity=0.5)


def test_price_moved(trader: LiveTrader) -> None:
    message = refused(trader.place(expected_price=70000), "price_moved")["message"]
    for part in ("71240.00", "0.5", "70000"):
        assert part in message
    meant(trader, expected_price=71000)


def test_order_rejected(own_live_market: LiveMarket) -> None:
    """At once, and after a time of waiting."""
    market, trader = own_live_market, own_live_market.trader()
    market.venue(mode="refuse")
    order = rejected(trader.place())
    market.venue(mode="refuse", delay_ms=300)
    late = rejected(trader.place())
    assert [each["id"] for each in trader.orders(status="rejected")["items"]] == [late["id"], order["id"]]
    market.venue(mode="hold", delay_ms=0)
    name = str(uuid4())
    waiting = pending(trader.place(name))
    market.venue(mode="refuse")
    trader.becomes(waiting["id"], "rejected")
    assert rejected(trader.place(name), again=True)["id"] == waiting["id"]
    assert trader.net() == "0.0000"


def test_paths_that_there_are_not_carry_no_code(live_trader: LiveTrader) -> None:
    for path in (f"{BASE}/orders/", f"{BASE}/order", f"{BASE}/orders/a/b", "/api/trading/v2/orders"):
        answer = live_trader.http.get(path)
        assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})
    for method, path in (("DELETE", ORDERS), ("PATCH", f"{ORDERS}/{uuid4()}"), ("POST", POSITIONS)):
        answer = live_trader.http.request(method, path)
        assert refused(answer, "method_not_allowed")
        assert answer.headers["allow"]
