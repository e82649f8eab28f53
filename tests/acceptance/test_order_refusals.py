"""Every refusal of the specification's table, each for its real reason, in both environments.

A test is named for its code. The test environment is tried on SQLite and production on PostgreSQL; each code
is tried on both stacks in `test_order_precedence` or `test_production_precedence`. What needs a service of
its own to break is in `test_order_outages` and `test_production_outages`, and the faults of a store that
ends a booking in `tests/faults`.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import httpx
import pytest

from bullion.keys.text import secret_from
from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import Env
from tests.acceptance import test_order_outages, test_production_outages
from tests.support.node import Node, own_address, until
from tests.support.orders import Market, Trader, booked, refused, replayed
from tests.support.production import (
    PATIENCE_S,
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
DIRECT = {"kind": "direct", "instrument": "OURS"}


def test_each_code_of_the_table_has_its_test() -> None:
    specified = [row for row in CATALOGUE if row.specified]
    both = {row.code for row in specified if row.env is Env.BOTH}
    here = {name for name in globals() if name.startswith("test_")}
    assert {f"test_{code}" for code in both} <= here | vars(test_order_outages).keys()
    production = {row.code for row in specified} - STORE_FAULTS
    assert {f"test_{code}" for code in production} <= here | vars(test_production_outages).keys()


KINDS: dict[str, type[Market]] = {"test": Market, "production": LiveMarket}


@pytest.fixture(scope="module", params=list(KINDS))
def environment(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def standing_market(node: Node, environment: str) -> Iterator[Market]:
    with KINDS[environment].open(node) as market:
        yield market


@pytest.fixture
def market(standing_market: Market) -> Iterator[Market]:
    """For tests that leave its switches and symbols as they are."""
    with standing_market.visit() as market:
        yield market


@pytest.fixture
def own_market(node: Node, environment: str) -> Iterator[Market]:
    """For tests that turn its switches."""
    with KINDS[environment].open(node) as market:
        yield market


@pytest.fixture
def trader(market: Market) -> Iterator[Trader]:
    """A refused order leaves nothing in the book: what is in it at the end was booked knowingly."""
    trader = market.trader()
    yield trader
    only_meant(market, trader)


@pytest.fixture
def own_trader(own_market: Market) -> Iterator[Trader]:
    trader = own_market.trader()
    yield trader
    only_meant(own_market, trader)


@pytest.fixture
def own_live_trader(own_live_market: LiveMarket) -> Iterator[LiveTrader]:
    trader = own_live_market.trader()
    yield trader
    only_meant(own_live_market, trader)


def only_meant(market: Market, trader: Trader) -> None:
    reader = market.trader(trader.login_id)
    found = reader.orders(limit=200)["items"]
    if isinstance(market, LiveMarket):
        found += reader.orders(limit=200, status="deleted")["items"]
        mine = market.desk.do("GET", f"/orders?login_id={trader.login_id}&environment=production&limit=200")
        assert {order["id"] for order in mine["items"]} == {order["id"] for order in found}
    for order in found:
        assert order["client_order_id"] == "meant", order


def placed(answer: httpx.Response) -> dict[str, Any]:
    """The order of a call that was answered by a new one; in production its venue has filled it."""
    order = booked(answer)
    return opened(answer) if order["environment"] == "production" else order


def meant(trader: Trader, **body: Any) -> dict[str, Any]:
    """An order that is to be booked, to show that only the fault was in the way."""
    return placed(trader.place(client_order_id="meant", **body))


def with_key(market: Market, trader: Trader, text: str) -> Trader:
    return market.at_work(trader.login_id, {"key": text, "key_id": trader.key_id})


# --- The key ------------------------------------------------------------------------------------------------


def test_missing_credential(trader: Trader) -> None:
    del trader.http.headers["X-API-Key"]
    refused(trader.place(), "missing_credential")


def test_malformed_credential(market: Market, trader: Trader) -> None:
    for text in ("secret", trader.key[:-1], trader.key + "0", trader.key.upper()):
        refused(with_key(market, trader, text).place(), "malformed_credential")


def test_wrong_tenant(market: Market, own_trader: Trader) -> None:
    refused(with_key(market, own_trader, own_trader.key).place(), "wrong_tenant")
    own_trader.http.headers["Host"] = "somewhere.example"
    refused(own_trader.place(), "wrong_tenant")


def test_wrong_environment(market: Market, trader: Trader, environment: str) -> None:
    """A key of the other environment; and one that is only named as of this one."""
    other = "test" if environment == "production" else "production"
    key = market.desk.key(trader.login_id, environment=other)["key"]
    refused(with_key(market, trader, key).place(), "wrong_environment")
    renamed = trader.key.partition(".")[0] + "." + key.partition(".")[2]
    refused(with_key(market, trader, renamed).place(), "invalid_credential")


def test_invalid_credential(market: Market, trader: Trader) -> None:
    head, _, secret = trader.key.rpartition(".")
    wrong_secret = f"{head}.{secret_from(bytes(32))}"
    unknown_id = trader.key.replace(trader.key_id, "0" * 16)
    answers = [with_key(market, trader, text).place() for text in (wrong_secret, unknown_id)]
    for answer in answers:
        refused(answer, "invalid_credential")
        assert secret not in answer.text
    assert answers[0].content == answers[1].content


def test_credential_revoked(market: Market, trader: Trader) -> None:
    other = market.trader(trader.login_id)
    meant(other)
    market.desk.do("POST", f"/keys/{other.key_id}/revoke")
    refused(other.place(), "credential_revoked")


def test_credential_rotated(market: Market, trader: Trader) -> None:
    """An order's key survives the rotation of the API key that sent it."""
    old, name = market.trader(trader.login_id), str(uuid4())
    issued = market.desk.do("POST", f"/keys/{old.key_id}/rotate", {"overlap_s": 1})
    order = placed(old.place(name, client_order_id="meant"))
    successor = market.at_work(old.login_id, issued)
    meant(successor)
    time.sleep(1.1)
    refused(old.place(name, client_order_id="meant"), "credential_rotated")
    assert replayed(successor.place(name, client_order_id="meant")) == order


def test_credential_expired(market: Market, trader: Trader) -> None:
    in_short = datetime.now(UTC) + timedelta(seconds=2)
    expiring = market.trader(trader.login_id, expires_at=in_short.isoformat())
    until(lambda: expiring.http.get(f"{expiring.base}/me").status_code == 401, within_s=PATIENCE_S)
    refused(expiring.place(), "credential_expired")


def test_api_access_disabled(market: Market, trader: Trader) -> None:
    market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"api_access": False})
    refused(trader.place(), "api_access_disabled")
    market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"api_access": True})
    meant(trader)


def test_account_inactive(market: Market, trader: Trader) -> None:
    market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"active": False})
    refused(trader.place(), "account_inactive")
    refused(trader.http.get(f"{trader.base}/orders"), "account_inactive")
    market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"active": True})
    meant(trader)


def test_insufficient_scope(market: Market, trader: Trader) -> None:
    reader = market.trader(trader.login_id, scopes=["account:read", "orders:read"])
    assert "orders:write" in refused(reader.place(), "insufficient_scope")["message"]
    writer = market.trader(trader.login_id, scopes=["orders:write"])
    order = meant(writer)
    paths = dict.fromkeys(("orders", f"orders/{order['id']}", "positions", "quotes"), "orders:read")
    for path, scope in [*paths.items(), ("me", "account:read")]:
        assert scope in refused(writer.http.get(f"{writer.base}/{path}"), "insufficient_scope")["message"]


def test_auth_throttled(market: Market, trader: Trader) -> None:
    address = own_address()
    issued = {"key": trader.key, "key_id": trader.key_id}
    here = market.at_work(trader.login_id, issued, address=address)
    here.http.headers["X-API-Key"] = "wrong"
    for _ in range(20):
        refused(here.place(), "malformed_credential")
    here.http.headers["X-API-Key"] = trader.key
    answer = here.place()
    refused(answer, "auth_throttled")
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    meant(trader)


# --- Budgets ------------------------------------------------------------------------------------------------


def test_rate_limited(node: Node) -> None:
    """Ten in ten seconds, as the specification has it: replays count, refusals count, a 429 does not."""
    with Market.open(node) as market:
        trader = market.trader()
        market.switch(budgets={"orders_per_10_seconds": 10, "orders_per_minute": 60})
        name = str(uuid4())
        body: dict[str, Any] = {"client_order_id": "meant"}
        started = time.monotonic()
        first = trader.place(name, **body)
        order = booked(first)
        assert (first.headers["ratelimit-limit"], first.headers["ratelimit-remaining"]) == ("10", "9")
        for left in (8, 7, 6, 5):
            answer = trader.place(name, **body)
            assert replayed(answer) == order
            assert answer.headers["ratelimit-remaining"] == str(left)
        refused(trader.place(symbol_code="NOWHERE"), "unknown_symbol")
        refused(trader.place(quantity=0), "invalid_request")
        refused(trader.send(b"{}"), "idempotency_key_required")
        for left in (1, 0):
            answer = trader.place(**body)
            booked(answer)
            assert answer.headers["ratelimit-remaining"] == str(left)
        late = str(uuid4())
        for _ in range(5):
            answer = trader.place(late, **body)
            refused(answer, "rate_limited")
            assert (answer.headers["ratelimit-limit"], answer.headers["ratelimit-remaining"]) == ("10", "0")
            assert 1 <= int(answer.headers["retry-after"]) <= 10
        refused(trader.place(name, **body), "rate_limited")
        assert trader.orders()["total"] == 3, "reads have a budget of their own, and nothing was booked"
        meant(market.trader(trader.login_id))  # Another key has its own budget, in test.
        time.sleep(int(answer.headers["retry-after"]))
        assert time.monotonic() - started >= 10
        booked(trader.place(late, **body))


def test_rate_limited_by_the_minute(node: Node) -> None:
    with Market.open(node) as market:
        trader = market.trader()
        market.switch(budgets={"orders_per_10_seconds": 1000, "orders_per_minute": 60})
        for left in range(59, -1, -1):
            answer = trader.place(symbol_code="NOWHERE")
            refused(answer, "unknown_symbol")
            assert (answer.headers["ratelimit-limit"], answer.headers["ratelimit-remaining"]) == (
                "60",
                str(left),
            )
        answer = trader.place()
        refused(answer, "rate_limited")
        assert answer.headers["ratelimit-limit"] == "60"
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        # The history stays when the desk changes the budget: what the 429 was refused has not been counted.
        market.switch(budgets={"orders_per_minute": 61})
        answer = trader.place(client_order_id="meant")
        booked(answer)
        assert answer.headers["ratelimit-remaining"] == "0"


def test_rate_limited_in_production(own_live_market: LiveMarket, own_live_trader: LiveTrader) -> None:
    """By the key's budget; that of the account is in `test_production_books`."""
    own_live_market.switch(budgets={"orders_per_10_seconds": 3})
    name = str(uuid4())
    order = opened(own_live_trader.place(name, client_order_id="meant"))
    assert replayed(own_live_trader.place(name, client_order_id="meant")) == order
    refused(own_live_trader.place(symbol_code="NOWHERE"), "unknown_symbol")
    for key in (name, str(uuid4())):
        answer = own_live_trader.place(key, client_order_id="meant")
        refused(answer, "rate_limited")
        assert (answer.headers["ratelimit-limit"], answer.headers["ratelimit-remaining"]) == ("3", "0")
        assert 1 <= int(answer.headers["retry-after"]) <= 10
    meant(own_live_market.trader(own_live_trader.login_id))


# --- Production's switches ----------------------------------------------------------------------------------


def test_production_trading_disabled(own_live_market: LiveMarket, own_live_trader: LiveTrader) -> None:
    """For the broker, or for the account alone; for the deployment see `test_production_outages`."""
    market = own_live_market
    market.switch(production=False)
    assert closed_by(own_live_trader.place()) == "global"
    market.switch(production=True)
    market.desk.do("PATCH", f"/accounts/{own_live_trader.login_id}", {"production_trading": False})
    assert closed_by(own_live_trader.place()) == "account"
    opened(market.trader().place())
    market.desk.do("PATCH", f"/accounts/{own_live_trader.login_id}", {"production_trading": True})
    meant(own_live_trader)


def test_production_prerequisites_unmet(own_live_market: LiveMarket, own_live_trader: LiveTrader) -> None:
    """Paused by the desk, or without its venue; with an older schema see `test_production_outages`."""
    market, name = own_live_market, str(uuid4())
    market.switch(paused=True)
    refused(own_live_trader.place(name, client_order_id="meant"), "production_prerequisites_unmet")
    market.switch(paused=False)
    order = opened(own_live_trader.place(name, client_order_id="meant"))
    market.venue(mode="down")
    until(lambda: own_live_trader.quote()["reason"] == "production_prerequisites_unmet", within_s=PATIENCE_S)
    answer = own_live_trader.place()
    refused(answer, "production_prerequisites_unmet")
    assert replayed(own_live_trader.place(name, client_order_id="meant")) == order
    assert sent_to_venue(market) == [order["id"]]
    market.venue(mode="fill")
    market.ready("GOLD")
    meant(own_live_trader)


# --- The request --------------------------------------------------------------------------------------------


def test_invalid_request(trader: Trader) -> None:
    (problem,) = refused(trader.place(quantity="1"), "invalid_request")["errors"]
    assert problem["loc"] == ["body", "quantity"]
    for name in ("status", "price", "deal_no", "source"):
        (problem,) = refused(trader.place(**{name: "open"}), "invalid_request")["errors"]
        assert problem["loc"] == ["body", name]
    refused(trader.http.get(f"{trader.base}/orders?limit=0"), "invalid_request")


def test_idempotency_key_required(trader: Trader) -> None:
    body = b'{"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}'
    refused(trader.send(body), "idempotency_key_required")


def test_idempotency_key_reused(trader: Trader) -> None:
    name = str(uuid4())
    placed(trader.place(name, client_order_id="meant"))
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


def test_order_not_found(market: Market, trader: Trader) -> None:
    order = meant(trader)
    refused(market.trader().order(order["id"]), "order_not_found")
    for order_id in (str(uuid4()), "1", order["id"][:-1], order["id"] + "0", order["id"].replace("-", "")):
        refused(trader.order(order_id), "order_not_found")
    assert trader.order(order["id"].upper()).json() == order


# --- The symbol ---------------------------------------------------------------------------------------------


def test_unknown_symbol(market: Market, own_trader: Trader) -> None:
    market.symbol("ELSEWHERE")
    for code in ("NOWHERE", "gold", "GOLD ", "ELSEWHERE", "'; DROP TABLE orders; --", "₹", "x" * 32):
        refused(own_trader.place(symbol_code=code), "unknown_symbol")


def test_symbol_not_trading(own_market: Market, own_trader: Trader) -> None:
    own_market.change("GOLD", trading=False)
    refused(own_trader.place(), "symbol_not_trading")
    meant(own_trader, symbol_code="SILVER")
    own_market.change("GOLD", trading=True)
    meant(own_trader)


def test_invalid_side(trader: Trader) -> None:
    for side in ("hold", "", "BUY", "Sell", " buy", "buy ", "x" * 1000, "ｂｕｙ"):
        refused(trader.place(trade_type=side), "invalid_side")


def test_side_not_offered(own_market: Market, own_trader: Trader) -> None:
    """By the symbol, by the fixed price that has no such side, and by the group's terms."""
    own_market.live("SELLONLY", sides=["sell"])
    own_market.live("ONEPRICE", pricing={"kind": "fixed", "buy": "100.00", "sell": None})
    refused(own_trader.place(symbol_code="SELLONLY"), "side_not_offered")
    meant(own_trader, symbol_code="SELLONLY", trade_type="sell")
    refused(own_trader.place(symbol_code="ONEPRICE", trade_type="sell"), "side_not_offered")
    meant(own_trader, symbol_code="ONEPRICE")
    group = own_market.group(terms={"GOLD": {"buy_premium": None, "sell_premium": "0"}})
    other = own_market.trader(own_market.account(group=group))
    refused(other.place(), "side_not_offered")
    placed(other.place(trade_type="sell"))
    placed(other.place(symbol_code="SILVER"))


# --- Rates --------------------------------------------------------------------------------------------------


def rate(market: Market, instrument: str, bid: str, ask: str, ago_s: float = 0) -> None:
    at = datetime.now(UTC) - timedelta(seconds=ago_s) if ago_s else None
    body = {"bid": bid, "ask": ask, "at": None if at is None else at.isoformat()}
    market.desk.do("PUT", f"/rates/{instrument}", body)


def test_no_live_price(own_market: Market, own_trader: Trader) -> None:
    own_market.live("OURS")  # So that the venue's word on it is there.
    own_market.symbol("LIVE", pricing=DIRECT)
    own_market.symbol("IMPORT", pricing=LANDED)
    refused(own_trader.place(symbol_code="LIVE"), "no_live_price")
    refused(own_trader.place(symbol_code="IMPORT"), "no_live_price")
    rate(own_market, "OURS", "71234.50", "71240.00")
    assert meant(own_trader, symbol_code="LIVE")["price"] == "71240.00"
    assert meant(own_trader, symbol_code="LIVE", trade_type="sell")["price"] == "71234.50"


def test_unpriced(own_market: Market, own_trader: Trader) -> None:
    """A landed price without the currency, without any duty, with one from next year on; then with all."""
    own_market.live("SPOT")
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
    own_market.live("SPOT")
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
    (quote,) = own_trader.get(f"{own_trader.base}/quotes", symbol_code="IMPORT")["items"]
    assert (quote["buy"], quote["sell"], quote["tradable"], quote["reason"]) == (
        None,
        None,
        False,
        "unpriced",
    )
    (quote,) = own_trader.get(f"{own_trader.base}/quotes", symbol_code="DEAR")["items"]
    assert (quote["buy"], quote["tradable"], quote["reason"]) == ("999999999.00", True, None)
    assert meant(own_trader, symbol_code="DEAR", quantity=1)["total"] == "9999999990000.00"


def test_stale_rate(own_market: Market, own_trader: Trader) -> None:
    own_market.live("OURS")
    own_market.live("SPOT")
    own_market.symbol("LIVE", rate_age_s_max=1, pricing=DIRECT)
    own_market.symbol("PATIENT", rate_age_s_max=3600, pricing=DIRECT)
    own_market.symbol("ANYAGE", rate_age_s_max=None, pricing=DIRECT)
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
    own_market.live("OURS")
    own_market.symbol("LIVE", freeze_after_s=2, pricing=DIRECT)
    rate(own_market, "OURS", "100", "101")
    meant(own_trader, symbol_code="LIVE")
    time.sleep(1.05)
    rate(own_market, "OURS", "100", "101")
    meant(own_trader, symbol_code="LIVE")
    time.sleep(1.05)
    rate(own_market, "OURS", "100.000", "101.0")
    refused(own_trader.place(symbol_code="LIVE"), "symbol_frozen")
    rate(own_market, "OURS", "100", "101.000001")
    meant(own_trader, symbol_code="LIVE")


# --- Sizes, the venue's word, groups and the book -----------------------------------------------------------


def test_quantity_rule(own_market: Market, own_trader: Trader) -> None:
    own_market.live("BARS", minimum="2", maximum="10", step="0.5")
    for quantity in (1.5, 1.9999, 10.5, 2.25, 2.0001, 0.0001, 1_000_000):
        message = refused(own_trader.place(symbol_code="BARS", quantity=quantity), "quantity_rule")["message"]
        for part in ("2.0000", "10.0000", "0.5000"):
            assert part in message
    for quantity in (2, 2.5, 10):
        meant(own_trader, symbol_code="BARS", quantity=quantity)


def test_tradeability_unverified(own_live_market: LiveMarket, own_live_trader: LiveTrader) -> None:
    market = own_live_market
    market.venue(instruments={"GOLD": "unknown"})
    until(lambda: own_live_trader.quote()["reason"] is not None, within_s=PATIENCE_S)
    refused(own_live_trader.place(), "tradeability_unverified")
    meant(own_live_trader, symbol_code="SILVER")
    market.venue(instruments={"GOLD": "tradable"})
    market.ready("GOLD")
    meant(own_live_trader)


def test_symbol_unavailable(own_live_market: LiveMarket, own_live_trader: LiveTrader) -> None:
    """Hedged in one instrument, two symbols are unavailable together."""
    market = own_live_market
    market.live("OURS")
    market.symbol("LIVE", pricing=DIRECT)
    rate(market, "OURS", "100", "101")
    market.venue(instruments={"OURS": "suspended"})
    for code in ("OURS", "LIVE"):
        until(lambda code=code: own_live_trader.quote(code)["reason"] is not None, within_s=PATIENCE_S)
        refused(own_live_trader.place(symbol_code=code), "symbol_unavailable")
    meant(own_live_trader)
    market.venue(instruments={"OURS": "tradable"})
    market.ready("LIVE")
    meant(own_live_trader, symbol_code="LIVE")


def test_group_trading_disabled(market: Market, trader: Trader) -> None:
    group = market.group(trading=False)
    market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"group": group})
    refused(trader.place(), "group_trading_disabled")
    market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"group": "retail"})
    meant(trader)


def test_group_quantity_rule(own_market: Market, own_trader: Trader) -> None:
    own_market.live("BARS", minimum="2", maximum="10", step="0.5")
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
    own_market.live("CHEAP", pricing={"kind": "fixed", "buy": "100.01", "sell": "100.00"})
    own_market.desk.do("PATCH", f"/accounts/{own_trader.login_id}", {"group": group})
    refused(own_trader.place(), "pricing_unavailable")
    meant(own_trader, symbol_code="SILVER")
    refused(own_trader.place(symbol_code="CHEAP", trade_type="sell"), "pricing_unavailable")
    assert meant(own_trader, symbol_code="CHEAP")["price"] == "0.01"
    own_market.change("CHEAP", pricing={"kind": "fixed", "buy": "100.00", "sell": "100.00"})
    refused(own_trader.place(symbol_code="CHEAP"), "pricing_unavailable")


def test_limit_exceeded(market: Market, trader: Trader) -> None:
    market.allocate(trader.login_id, gold="2", silver="3")
    meant(trader, quantity=1.5)
    message = refused(trader.place(), "limit_exceeded")["message"]
    for part in ("gold", "0.5000 g", "2.0000 g"):
        assert part in message
    meant(trader, quantity=0.5)


def test_out_of_stock(live_market: LiveMarket, live_trader: LiveTrader) -> None:
    code = live_market.live("SCARCE", stock="2")
    refused(live_trader.place(symbol_code=code, quantity=2.0001), "out_of_stock")
    meant(live_trader, symbol_code=code, quantity=2)
    refused(live_trader.place(symbol_code=code, quantity=0.0001), "out_of_stock")
    meant(live_trader, symbol_code=code, trade_type="sell", quantity=5)
    live_market.change(code, stock="0.5")
    meant(live_trader, symbol_code=code, quantity=0.5)


def test_price_moved(trader: Trader) -> None:
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
    orders = f"{live_trader.base}/orders"
    for path in (
        f"{live_trader.base}/orders/",
        f"{live_trader.base}/order",
        f"{live_trader.base}/orders/a/b",
        "/api/trading/v2/orders",
    ):
        answer = live_trader.http.get(path)
        assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})
    for method, path in (
        ("DELETE", orders),
        ("PATCH", f"{orders}/{uuid4()}"),
        ("POST", f"{live_trader.base}/positions"),
    ):
        answer = live_trader.http.request(method, path)
        assert refused(answer, "method_not_allowed")
        assert answer.headers["allow"]
