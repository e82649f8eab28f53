"""Every refusal of the specification's table that the test environment has, each for its real reason.

A test is named for its code; those that need a service of their own to break are in `test_order_outages`.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from bullion.keys.text import secret_from
from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import Env
from tests.acceptance import test_order_outages
from tests.support.node import own_address
from tests.support.orders import ORDERS, POSITIONS, QUOTES, Market, Trader, booked, refused, replayed

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
    table = {row.code for row in CATALOGUE if row.env is Env.BOTH and row.specified}
    tests = {*globals(), *vars(test_order_outages)}
    assert {code for code in table if f"test_{code}" in tests} == table


@pytest.fixture
def own_trader(own_market: Market) -> Iterator[Trader]:
    """A refused order leaves nothing in the book: what is in it at the end was booked knowingly."""
    trader = own_market.trader()
    yield trader
    reader = own_market.trader(trader.login_id)
    for order in reader.orders(limit=200)["items"]:
        assert order["client_order_id"] == "meant", order


def meant(trader: Trader, **body: Any) -> dict[str, Any]:
    """An order that is to be booked, to show that only the fault was in the way."""
    return booked(trader.place(client_order_id="meant", **body))


def with_key(market: Market, trader: Trader, text: str) -> Trader:
    return market.at_work(trader.login_id, {"key": text, "key_id": trader.key_id})


def in_short() -> str:
    return (datetime.now(UTC) + timedelta(seconds=1)).isoformat()


# --- The key --------------------------------------------------------------------------------------------


def test_missing_credential(own_trader: Trader) -> None:
    del own_trader.http.headers["X-API-Key"]
    refused(own_trader.place(), "missing_credential")


def test_malformed_credential(own_market: Market, own_trader: Trader) -> None:
    for text in ("secret", own_trader.key[:-1], own_trader.key + "0", own_trader.key.upper()):
        refused(with_key(own_market, own_trader, text).place(), "malformed_credential")


def test_wrong_tenant(market: Market, own_trader: Trader) -> None:
    refused(with_key(market, own_trader, own_trader.key).place(), "wrong_tenant")
    own_trader.http.headers["Host"] = "somewhere.example"
    refused(own_trader.place(), "wrong_tenant")


def test_wrong_environment(own_market: Market, own_trader: Trader) -> None:
    live = own_market.trader(own_trader.login_id, environment="production")
    refused(live.place(), "wrong_environment")


def test_invalid_credential(own_market: Market, own_trader: Trader) -> None:
    head, _, secret = own_trader.key.rpartition(".")
    wrong_secret = f"{head}.{secret_from(bytes(32))}"
    unknown_id = own_trader.key.replace(own_trader.key_id, "0" * 16)
    answers = [with_key(own_market, own_trader, text).place() for text in (wrong_secret, unknown_id)]
    for answer in answers:
        refused(answer, "invalid_credential")
        assert secret not in answer.text
    assert answers[0].content == answers[1].content


def test_credential_revoked(own_market: Market, own_trader: Trader) -> None:
    other = own_market.trader(own_trader.login_id)
    meant(other)
    own_market.desk.do("POST", f"/keys/{other.key_id}/revoke")
    refused(other.place(), "credential_revoked")


def test_credential_rotated(own_market: Market, own_trader: Trader) -> None:
    old = own_market.trader(own_trader.login_id)
    issued = own_market.desk.do("POST", f"/keys/{old.key_id}/rotate", {"overlap_s": 1})
    meant(old)
    meant(own_market.at_work(old.login_id, issued))
    time.sleep(1.1)
    refused(old.place(), "credential_rotated")
    meant(own_market.at_work(old.login_id, issued))


def test_credential_expired(own_market: Market, own_trader: Trader) -> None:
    expiring = own_market.trader(own_trader.login_id, expires_at=in_short())
    meant(expiring)
    time.sleep(1.1)
    refused(expiring.place(), "credential_expired")


def test_api_access_disabled(own_market: Market, own_trader: Trader) -> None:
    own_market.desk.do("PATCH", f"/accounts/{own_trader.login_id}", {"api_access": False})
    refused(own_trader.place(), "api_access_disabled")
    own_market.desk.do("PATCH", f"/accounts/{own_trader.login_id}", {"api_access": True})
    meant(own_trader)


def test_account_inactive(own_market: Market, own_trader: Trader) -> None:
    own_market.desk.do("PATCH", f"/accounts/{own_trader.login_id}", {"active": False})
    refused(own_trader.place(), "account_inactive")
    refused(own_trader.http.get(ORDERS), "account_inactive")
    own_market.desk.do("PATCH", f"/accounts/{own_trader.login_id}", {"active": True})


def test_insufficient_scope(own_market: Market, own_trader: Trader) -> None:
    reader = own_market.trader(own_trader.login_id, scopes=["account:read", "orders:read"])
    assert "orders:write" in refused(reader.place(), "insufficient_scope")["message"]
    writer = own_market.trader(own_trader.login_id, scopes=["orders:write"])
    order = meant(writer)
    for path in (ORDERS, f"{ORDERS}/{order['id']}", POSITIONS, QUOTES):
        assert "orders:read" in refused(writer.http.get(path), "insufficient_scope")["message"]


def test_auth_throttled(own_market: Market, own_trader: Trader) -> None:
    address = own_address()
    issued = {"key": own_trader.key, "key_id": own_trader.key_id}
    here = own_market.at_work(own_trader.login_id, issued, address=address)
    here.http.headers["X-API-Key"] = "wrong"
    for _ in range(20):
        refused(here.place(), "malformed_credential")
    here.http.headers["X-API-Key"] = own_trader.key
    answer = here.place()
    refused(answer, "auth_throttled")
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    meant(own_trader)


# --- Budgets --------------------------------------------------------------------------------------------


def test_rate_limited(own_market: Market, own_trader: Trader) -> None:
    """Ten in ten seconds, as the specification has it: replays count, refusals count, a 429 does not."""
    own_market.switch(budgets={"orders_per_10_seconds": 10, "orders_per_minute": 60})
    name = str(uuid4())
    body: dict[str, Any] = {"client_order_id": "meant"}
    started = time.monotonic()
    first = own_trader.place(name, **body)
    order = booked(first)
    assert (first.headers["ratelimit-limit"], first.headers["ratelimit-remaining"]) == ("10", "9")
    for left in (8, 7, 6, 5):
        answer = own_trader.place(name, **body)
        assert replayed(answer) == order
        assert answer.headers["ratelimit-remaining"] == str(left)
    refused(own_trader.place(symbol_code="NOWHERE"), "unknown_symbol")
    refused(own_trader.place(quantity=0), "invalid_request")
    refused(own_trader.send(b"{}"), "idempotency_key_required")
    for left in (1, 0):
        answer = own_trader.place(**body)
        booked(answer)
        assert answer.headers["ratelimit-remaining"] == str(left)
    late = str(uuid4())
    for _ in range(5):
        answer = own_trader.place(late, **body)
        refused(answer, "rate_limited")
        assert (answer.headers["ratelimit-limit"], answer.headers["ratelimit-remaining"]) == ("10", "0")
        assert 1 <= int(answer.headers["retry-after"]) <= 10
    refused(own_trader.place(name, **body), "rate_limited")
    assert own_trader.orders()["total"] == 3, "reads have a budget of their own, and nothing was booked"
    meant(own_market.trader(own_trader.login_id))  # Another key has its own budget, in test.
    time.sleep(int(answer.headers["retry-after"]))
    assert time.monotonic() - started >= 10
    booked(own_trader.place(late, **body))


def test_rate_limited_by_the_minute(own_market: Market, own_trader: Trader) -> None:
    own_market.switch(budgets={"orders_per_10_seconds": 1000, "orders_per_minute": 60})
    for left in range(59, -1, -1):
        answer = own_trader.place(symbol_code="NOWHERE")
        refused(answer, "unknown_symbol")
        assert (answer.headers["ratelimit-limit"], answer.headers["ratelimit-remaining"]) == ("60", str(left))
    answer = own_trader.place()
    refused(answer, "rate_limited")
    assert answer.headers["ratelimit-limit"] == "60"
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    # The history stays when the desk changes the budget: what the 429 was refused has not been counted.
    own_market.switch(budgets={"orders_per_minute": 61})
    answer = own_trader.place(client_order_id="meant")
    booked(answer)
    assert answer.headers["ratelimit-remaining"] == "0"


# --- The request ----------------------------------------------------------------------------------------


def test_invalid_request(own_trader: Trader) -> None:
    (problem,) = refused(own_trader.place(quantity="1"), "invalid_request")["errors"]
    assert problem["loc"] == ["body", "quantity"]
    refused(own_trader.http.get(f"{ORDERS}?limit=0"), "invalid_request")


def test_idempotency_key_required(own_trader: Trader) -> None:
    answer = own_trader.send(b'{"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}')
    refused(answer, "idempotency_key_required")


def test_idempotency_key_reused(own_trader: Trader) -> None:
    name = str(uuid4())
    booked(own_trader.place(name, client_order_id="meant"))
    refused(own_trader.place(name, quantity=2), "idempotency_key_reused")


def test_order_not_found(own_market: Market, own_trader: Trader) -> None:
    order = meant(own_trader)
    refused(own_trader.order(str(uuid4())), "order_not_found")
    refused(own_market.trader().order(order["id"]), "order_not_found")


# --- The symbol -----------------------------------------------------------------------------------------


def test_unknown_symbol(own_market: Market, market: Market, own_trader: Trader) -> None:
    market.symbol("HIDDEN_SUFFIX")
    for code in ("NOWHERE", "gold", "GOLD ", "HIDDEN_SUFFIX", "'; DROP TABLE orders; --", "₹", "x" * 32):
        refused(own_trader.place(symbol_code=code), "unknown_symbol")


def test_symbol_not_trading(own_market: Market, own_trader: Trader) -> None:
    own_market.change("GOLD", trading=False)
    refused(own_trader.place(), "symbol_not_trading")
    meant(own_trader, symbol_code="SILVER")
    own_market.change("GOLD", trading=True)
    meant(own_trader)


def test_invalid_side(own_trader: Trader) -> None:
    for side in ("hold", "", "BUY", "Sell", " buy", "buy ", "x" * 1000, "ｂｕｙ"):
        refused(own_trader.place(trade_type=side), "invalid_side")


def test_side_not_offered(own_market: Market, own_trader: Trader) -> None:
    """By the symbol, by the fixed price that has no such side, and by the group's terms."""
    own_market.symbol("SELLONLY", sides=["sell"])
    own_market.symbol("ONEPRICE", pricing={"kind": "fixed", "buy": "100.00", "sell": None})
    refused(own_trader.place(symbol_code="SELLONLY"), "side_not_offered")
    meant(own_trader, symbol_code="SELLONLY", trade_type="sell")
    refused(own_trader.place(symbol_code="ONEPRICE", trade_type="sell"), "side_not_offered")
    meant(own_trader, symbol_code="ONEPRICE")
    group = own_market.group(terms={"GOLD": {"buy_premium": None, "sell_premium": "0"}})
    other = own_market.trader(own_market.account(group=group))
    refused(other.place(), "side_not_offered")
    booked(other.place(trade_type="sell"))
    booked(other.place(symbol_code="SILVER"))


# --- Rates ----------------------------------------------------------------------------------------------


def rate(market: Market, instrument: str, bid: str, ask: str, ago_s: float = 0) -> None:
    at = datetime.now(UTC) - timedelta(seconds=ago_s) if ago_s else None
    body = {"bid": bid, "ask": ask, "at": None if at is None else at.isoformat()}
    market.desk.do("PUT", f"/rates/{instrument}", body)


def test_no_live_price(own_market: Market, own_trader: Trader) -> None:
    own_market.symbol("LIVE", pricing={"kind": "direct", "instrument": "OURS"})
    own_market.symbol("IMPORT", pricing=LANDED)
    refused(own_trader.place(symbol_code="LIVE"), "no_live_price")
    refused(own_trader.place(symbol_code="IMPORT"), "no_live_price")
    rate(own_market, "OURS", "71234.50", "71240.00")
    assert meant(own_trader, symbol_code="LIVE")["price"] == "71240.00"
    assert meant(own_trader, symbol_code="LIVE", trade_type="sell")["price"] == "71234.50"


def test_unpriced(own_market: Market, own_trader: Trader) -> None:
    """A landed price without the currency, without any duty, with one from next year on; then with all."""
    own_market.symbol("IMPORT", pricing=LANDED)
    rate(own_market, "SPOT", "4000", "4001")
    refused(own_trader.place(symbol_code="IMPORT"), "unpriced")
    rate(own_market, "CURRENCY", "90", "90.1")
    refused(own_trader.place(symbol_code="IMPORT"), "unpriced")
    next_year = f"{datetime.now(UTC).year + 1}-12-31"
    own_market.desk.do("PUT", "/duties/gold", [{"from": next_year, "rupees": "1.00"}])
    refused(own_trader.place(symbol_code="IMPORT"), "unpriced")
    duties = [{"from": "2020-01-01", "rupees": "5000.00"}, {"from": next_year, "rupees": "1.00"}]
    own_market.desk.do("PUT", "/duties/gold", duties)
    # (4001 + 1.25) × (90.1 + 0.05) × 0.3215 + 5000 + 100, and the bid's likewise.
    assert meant(own_trader, symbol_code="IMPORT")["price"] == "121098.11"
    assert meant(own_trader, symbol_code="IMPORT", trade_type="sell")["price"] == "120940.49"
    own_market.symbol("WORTHLESS", pricing=LANDED | {"margin": "-999999.00"})
    refused(own_trader.place(symbol_code="WORTHLESS"), "unpriced")
    own_market.symbol("BACKWARDS", pricing=LANDED | {"premium_usd": "-5000", "interbank": "-100"})
    refused(own_trader.place(symbol_code="BACKWARDS"), "unpriced")


def test_unpriced_is_what_is_too_large_to_be_stored(own_market: Market, own_trader: Trader) -> None:
    """A price, by its rates or by a premium, and a total. The quotes say the same. No wait would help."""
    most = "999999999"
    rate(own_market, "SPOT", most, most)
    rate(own_market, "CURRENCY", most, most)
    own_market.desk.do("PUT", "/duties/gold", [{"from": "2020-01-01", "rupees": "1.00"}])
    own_market.symbol("IMPORT", pricing=LANDED)
    own_market.symbol("DEAR", quoted_weight="0.0001", pricing={"kind": "direct", "instrument": "SPOT"})
    for order in ({"symbol_code": "IMPORT"}, {"symbol_code": "DEAR", "quantity": 1_000_000}):
        answer = own_trader.place(**order)
        assert "too large" in refused(answer, "unpriced")["message"]
        assert answer.status_code == 400
    (quote,) = own_trader.get(QUOTES, symbol_code="IMPORT")["items"]
    assert (quote["buy"], quote["sell"], quote["tradable"], quote["reason"]) == (
        None,
        None,
        False,
        "unpriced",
    )
    (quote,) = own_trader.get(QUOTES, symbol_code="DEAR")["items"]
    assert (quote["buy"], quote["tradable"], quote["reason"]) == ("999999999.00", True, None)
    assert meant(own_trader, symbol_code="DEAR", quantity=1)["total"] == "9999999990000.00"


def test_stale_rate(own_market: Market, own_trader: Trader) -> None:
    own_market.symbol("LIVE", rate_age_s_max=1, pricing={"kind": "direct", "instrument": "OURS"})
    own_market.symbol("PATIENT", rate_age_s_max=3600, pricing={"kind": "direct", "instrument": "OURS"})
    own_market.symbol("ANYAGE", rate_age_s_max=None, pricing={"kind": "direct", "instrument": "OURS"})
    rate(own_market, "OURS", "100", "101")
    meant(own_trader, symbol_code="LIVE")
    time.sleep(1.1)
    refused(own_trader.place(symbol_code="LIVE"), "stale_rate")
    meant(own_trader, symbol_code="PATIENT")
    rate(own_market, "OURS", "100", "101")
    meant(own_trader, symbol_code="LIVE")
    # A price is as old as the oldest tick in it.
    own_market.symbol("IMPORT", rate_age_s_max=30, pricing=LANDED)
    own_market.desk.do("PUT", "/duties/gold", [{"from": "2020-01-01", "rupees": "1.00"}])
    rate(own_market, "CURRENCY", "90", "90.1", ago_s=60)
    rate(own_market, "SPOT", "4000", "4001")
    refused(own_trader.place(symbol_code="IMPORT"), "stale_rate")
    rate(own_market, "CURRENCY", "90", "90.1")
    meant(own_trader, symbol_code="IMPORT")
    meant(own_trader, symbol_code="ANYAGE")


def daylight() -> datetime:
    """Now, in some zone where it is far from midnight."""
    for zone in ("Asia/Kolkata", "America/Los_Angeles", "Pacific/Auckland"):
        local = datetime.now(ZoneInfo(zone))
        if 5 <= local.hour < 19:
            return local
    raise AssertionError("it is night everywhere")


def hours(local: datetime, start_h: int, end_h: int, *holidays: str) -> dict[str, Any]:
    """Every day from and to so many hours from now."""
    span = [f"{local + timedelta(hours=start_h):%H:%M}", f"{local + timedelta(hours=end_h):%H:%M}"]
    week = {day: [span] for day in ("mon", "tue", "wed", "thu", "fri", "sat", "sun")}
    return {"zone": str(local.tzinfo), "week": week, "holidays": list(holidays)}


def test_trading_halted(own_market: Market, own_trader: Trader) -> None:
    """By the desk's switch, outside the hours, on a holiday, and on a day without hours."""
    own_market.switch(halted=True)
    refused(own_trader.place(), "trading_halted")
    own_market.switch(halted=False)
    meant(own_trader)
    local = daylight()
    own_market.switch(trading_hours=hours(local, 2, 4))
    refused(own_trader.place(), "trading_halted")
    own_market.switch(trading_hours=hours(local, -4, -2))
    refused(own_trader.place(), "trading_halted")
    own_market.switch(trading_hours=hours(local, -2, 4))
    meant(own_trader)
    own_market.switch(trading_hours=hours(local, -2, 4, f"{local:%Y-%m-%d}"))
    refused(own_trader.place(), "trading_halted")
    own_market.switch(trading_hours=hours(local, -2, 4, f"{local - timedelta(days=1):%Y-%m-%d}"))
    meant(own_trader)
    weekday = f"{local:%a}".lower()
    table = hours(local, -2, 4)
    own_market.switch(trading_hours=table | {"week": {weekday: table["week"][weekday]}})
    meant(own_trader)
    del table["week"][weekday]
    own_market.switch(trading_hours=table)
    refused(own_trader.place(), "trading_halted")
    own_market.switch(trading_hours=None)
    meant(own_trader)


def test_symbol_frozen(own_market: Market, own_trader: Trader) -> None:
    """By the desk; and by a feed that goes on telling the same price for too long."""
    own_market.change("GOLD", frozen=True)
    refused(own_trader.place(), "symbol_frozen")
    own_market.change("GOLD", frozen=False)
    meant(own_trader)
    own_market.symbol("LIVE", freeze_after_s=1, pricing={"kind": "direct", "instrument": "OURS"})
    rate(own_market, "OURS", "100", "101")
    meant(own_trader, symbol_code="LIVE")
    time.sleep(0.55)
    rate(own_market, "OURS", "100", "101")
    meant(own_trader, symbol_code="LIVE")
    time.sleep(0.55)
    rate(own_market, "OURS", "100.000", "101.0")
    refused(own_trader.place(symbol_code="LIVE"), "symbol_frozen")
    rate(own_market, "OURS", "100", "101.000001")
    meant(own_trader, symbol_code="LIVE")


# --- Sizes, groups and the book -------------------------------------------------------------------------


def test_quantity_rule(own_market: Market, own_trader: Trader) -> None:
    own_market.symbol("BARS", minimum="2", maximum="10", step="0.5")
    for quantity in (1.5, 1.9999, 10.5, 2.25, 2.0001, 0.0001, 1_000_000):
        message = refused(own_trader.place(symbol_code="BARS", quantity=quantity), "quantity_rule")["message"]
        for part in ("2.0000", "10.0000", "0.5000"):
            assert part in message
    for quantity in (2, 2.5, 10):
        meant(own_trader, symbol_code="BARS", quantity=quantity)


def test_group_trading_disabled(own_market: Market, own_trader: Trader) -> None:
    group = own_market.group(trading=False)
    own_market.desk.do("PATCH", f"/accounts/{own_trader.login_id}", {"group": group})
    refused(own_trader.place(), "group_trading_disabled")
    own_market.desk.do("PATCH", f"/accounts/{own_trader.login_id}", {"group": "retail"})
    meant(own_trader)


def test_group_quantity_rule(own_market: Market, own_trader: Trader) -> None:
    own_market.symbol("BARS", minimum="2", maximum="10", step="0.5")
    terms = {"buy_premium": "0", "sell_premium": "0", "minimum": "4", "maximum": "8", "step": "1"}
    group = own_market.group(terms={"BARS": terms})
    own_market.desk.do("PATCH", f"/accounts/{own_trader.login_id}", {"group": group})
    for quantity in (2, 3.5, 8.5, 10, 4.5):
        answer = own_trader.place(symbol_code="BARS", quantity=quantity)
        refused(answer, "group_quantity_rule")
    refused(own_trader.place(symbol_code="BARS", quantity=11), "quantity_rule")
    for quantity in (4, 5, 8):
        meant(own_trader, symbol_code="BARS", quantity=quantity)


def test_pricing_unavailable(own_market: Market, own_trader: Trader) -> None:
    """No terms for the symbol; and premiums that leave nothing of the price."""
    group = own_market.group(
        default_terms=None,
        terms={
            "SILVER": {"buy_premium": "0", "sell_premium": "0"},
            "CHEAP": {"buy_premium": "-100.00", "sell_premium": "-100.01"},
        },
    )
    own_market.symbol("CHEAP", pricing={"kind": "fixed", "buy": "100.01", "sell": "100.00"})
    own_market.desk.do("PATCH", f"/accounts/{own_trader.login_id}", {"group": group})
    refused(own_trader.place(), "pricing_unavailable")
    meant(own_trader, symbol_code="SILVER")
    refused(own_trader.place(symbol_code="CHEAP", trade_type="sell"), "pricing_unavailable")
    assert meant(own_trader, symbol_code="CHEAP")["price"] == "0.01"
    own_market.change("CHEAP", pricing={"kind": "fixed", "buy": "100.00", "sell": "100.00"})
    refused(own_trader.place(symbol_code="CHEAP"), "pricing_unavailable")


def test_limit_exceeded(own_market: Market, own_trader: Trader) -> None:
    own_market.allocate(own_trader.login_id, gold="2", silver="3")
    meant(own_trader, quantity=1.5)
    message = refused(own_trader.place(), "limit_exceeded")["message"]
    for part in ("gold", "0.5000 g", "2.0000 g"):
        assert part in message


def test_price_moved(own_trader: Trader) -> None:
    message = refused(own_trader.place(expected_price=70000), "price_moved")["message"]
    for part in ("71240.00", "0.5", "70000"):
        assert part in message
    meant(own_trader, expected_price=71000)
