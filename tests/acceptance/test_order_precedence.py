"""When an order is at fault in two ways, the earlier fault in the ruled order answers.

Each fault is one change to an order that would be booked, or to what stands behind it: key, account, symbol,
group, switches. Two of them are put into the same order. Neighbours are all tried, others as a random sample.
"""

import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise
from typing import Any

import httpx
import pytest

from bullion.keys.text import secret_from
from bullion.refusals.catalogue import CATALOGUE
from tests.support.node import Node, own_address
from tests.support.orders import GOLD, ORDERS, UNBOUNDED, Market, Trader, booked, refused

KEY = "the one key"
SOON_S = 2.0


@dataclass
class Case:
    """An order that is booked unless something is changed here."""

    path: str = ORDERS
    method: str = "POST"
    key_fields: dict[str, Any] = field(default_factory=dict)
    alter: list[Callable[[str], str]] = field(default_factory=list)
    """Changes to the key's text."""
    at_desk: list[Callable[[Market, Trader], object]] = field(default_factory=list)
    """What the desk does last, with key and account."""
    account: dict[str, Any] = field(default_factory=dict)
    symbol: dict[str, Any] = field(default_factory=dict)
    pricing: dict[str, Any] = field(default_factory=dict)
    group: dict[str, Any] = field(default_factory=dict)
    terms: dict[str, Any] = field(default_factory=dict)
    switches: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str | None] = field(default_factory=dict)
    padding: int = 0
    fail_first: bool = False
    spend_budget: bool = False
    settle_key: bool = False
    expires: bool = False


Fault = Callable[[Case], object]


def _rotate(market: Market, trader: Trader) -> object:
    body = {"overlap_s": 0, "expires_at": None}
    return market.desk.do("POST", f"/keys/{trader.key_id}/rotate", body)


def _revoke(market: Market, trader: Trader) -> object:
    return market.desk.do("POST", f"/keys/{trader.key_id}/revoke")


def _last_changed(text: str) -> str:
    return text[:-1] + ("1" if text[-1] == "0" else "0")


def _of_nobody(text: str) -> str:
    environment, _, *rest = text.split(".")
    return ".".join([environment, "nobody", *rest])


def _other_secret(text: str) -> str:
    return f"{text.rpartition('.')[0]}.{secret_from(bytes(32))}"


FAULTS: dict[str, Fault] = {
    "not_found": lambda case: setattr(case, "path", f"{ORDERS}/a/b"),
    "method_not_allowed": lambda case: setattr(case, "method", "DELETE"),
    "auth_throttled": lambda case: setattr(case, "fail_first", True),
    "missing_credential": lambda case: case.headers.update({"X-API-Key": None}),
    "malformed_credential": lambda case: case.alter.append(_last_changed),
    "wrong_tenant": lambda case: case.alter.append(_of_nobody),
    "wrong_environment": lambda case: case.alter.append(lambda text: text.replace("key_test", "key_live")),
    "invalid_credential": lambda case: case.alter.append(_other_secret),
    "credential_revoked": lambda case: case.at_desk.append(_revoke),
    "credential_rotated": lambda case: case.at_desk.insert(0, _rotate),
    "credential_expired": lambda case: setattr(case, "expires", True),
    "address_not_allowed": lambda case: case.key_fields.update(allowed_addresses=["10.0.0.0/8"]),
    "api_access_disabled": lambda case: case.account.update(api_access=False),
    "account_inactive": lambda case: case.account.update(active=False),
    "insufficient_scope": lambda case: case.key_fields.update(scopes=["account:read", "orders:read"]),
    "rate_limited": lambda case: setattr(case, "spend_budget", True),
    "request_too_large": lambda case: setattr(case, "padding", 65 * 1024),
    "unsupported_encoding": lambda case: case.headers.update({"Content-Encoding": "gzip"}),
    "idempotency_key_required": lambda case: case.headers.update({"Idempotency-Key": None}),
    "invalid_request": lambda case: case.body.update(client_order_id=7),
    "idempotency_key_reused": lambda case: setattr(case, "settle_key", True),
    "unknown_symbol": lambda case: case.body.update(symbol_code="NOWHERE"),
    "symbol_not_trading": lambda case: case.symbol.update(trading=False),
    "invalid_side": lambda case: case.body.update(trade_type="hold"),
    "side_not_offered": lambda case: case.symbol.update(sides=["sell"]),
    "no_live_price": lambda case: case.pricing.update(spot="NOSPOT"),
    "unpriced": lambda case: case.pricing.update(currency="NOCURRENCY"),
    "stale_rate": lambda case: case.symbol.update(rate_age_s_max=30),
    "trading_halted": lambda case: case.switches.update(halted=True),
    "symbol_frozen": lambda case: case.symbol.update(frozen=True),
    "quantity_rule": lambda case: case.symbol.update(minimum="3"),
    "group_trading_disabled": lambda case: case.group.update(trading=False),
    "group_quantity_rule": lambda case: case.terms.update(minimum="2"),
    "pricing_unavailable": lambda case: case.terms.update(buy_premium="-99999999.00"),
    "limit_exceeded": lambda case: case.account.update(allocation={"gold": "0"}),
    "price_moved": lambda case: case.body.update(expected_price=1),
}
ORDER = list(FAULTS)
# The budget is spent by the key itself, which these keep from coming so far.
_BEFORE_BUDGET = {"address_not_allowed", "insufficient_scope"}
PRICING: dict[str, Any] = {
    "kind": "landed",
    "spot": "SPOT",
    "currency": "CURRENCY",
    "premium_usd": "0",
    "interbank": "0",
    "conversion": "0.3215",
    "duty": "gold",
    "margin": "0",
}


def possible(first: str, second: str) -> bool:
    return not (second == "rate_limited" and first in _BEFORE_BUDGET)


def sample() -> list[tuple[str, str]]:
    """All neighbours, and some others; the seed is fixed so that a failure can be seen again."""
    near = list(pairwise(ORDER))
    far = [pair for pair in combinations(ORDER, 2) if pair not in near]
    return [pair for pair in near + random.Random(11).sample(far, 60) if possible(*pair)]  # noqa: S311


@pytest.fixture(scope="module")
def exchange(node: Node) -> Iterator[Market]:
    """A market for all cases: each has an account of its own, and finds the rest as it should be."""
    with Market.open(node) as market:
        hour_ago = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
        for instrument, bid, ask in (("SPOT", "4000", "4001"), ("CURRENCY", "90", "91")):
            market.desk.do("PUT", f"/rates/{instrument}", {"bid": bid, "ask": ask, "at": hour_ago})
        market.desk.do("PUT", "/duties/gold", [{"from": "2020-01-01", "rupees": "1.00"}])
        yield market


def code_of(exchange: Market, case: Case) -> str:
    with exchange.visit() as market:
        return _code_of(market, case)


def _code_of(market: Market, case: Case) -> str:
    _set_up(market, Case())
    login_id = market.account()
    expires_at = datetime.now(UTC) + timedelta(seconds=SOON_S)
    if case.expires:
        case.key_fields["expires_at"] = expires_at.isoformat()
    trader = market.trader(login_id, **case.key_fields)
    if case.settle_key:
        booked(market.trader(trader.login_id).place(KEY, symbol_code="X", quantity=5))
    if case.spend_budget:
        market.switch(budgets={"orders_per_10_seconds": 1})
        refused(trader.place(symbol_code="NOWHERE"), "unknown_symbol")
    _set_up(market, case)
    if case.account:
        market.desk.do("PATCH", f"/accounts/{trader.login_id}", case.account)
    for step in case.at_desk:
        step(market, trader)
    address = own_address()
    if case.fail_first:
        with market.node.api(address=address, Host=market.host) as failing:
            for _ in range(20):
                assert failing.get(ORDERS).status_code == 401
    if case.expires:
        time.sleep(max(0.0, (expires_at - datetime.now(UTC)).total_seconds()))
    answer = _send(market, case, trader.key, address)
    if answer.is_success:
        return f"{answer.status_code}"
    detail = answer.json()["detail"]
    return "not_found" if detail == "Not Found" else str(detail["code"])


def _send(market: Market, case: Case, key: str, address: str) -> httpx.Response:
    for change in case.alter:
        key = change(key)
    body = {"symbol_code": "X", "trade_type": "buy", "quantity": 1, **case.body}
    headers = {"Content-Type": "application/json", "Idempotency-Key": KEY, "X-API-Key": key, **case.headers}
    with market.node.api(address=address, Host=market.host) as api:
        return api.request(
            case.method,
            case.path,
            content=json.dumps(body).encode() + b" " * case.padding,
            headers={name: value for name, value in headers.items() if value is not None},
        )


def _set_up(market: Market, case: Case) -> None:
    """Group, symbol and switches as the case wants them."""
    terms = {"buy_premium": "0", "sell_premium": "0", **case.terms}
    market.desk.do("PUT", "/groups/retail", {"default_terms": terms, **case.group})
    market.desk.do("PUT", "/symbols/X", {**GOLD, "pricing": PRICING | case.pricing, **case.symbol})
    budgets = UNBOUNDED | ({"orders_per_10_seconds": 1} if case.spend_budget else {})
    market.switch(**{"halted": False, "budgets": budgets, **case.switches})


def at_fault(*names: str) -> Case:
    """The first is put in last, so that a malformed key is spoilt after it was made wrong otherwise."""
    case = Case()
    for name in reversed(names):
        FAULTS[name](case)
    return case


def test_the_faults_stand_in_the_order_of_the_catalogue() -> None:
    catalogue = [row.code for row in CATALOGUE]
    faults = [code for code in ORDER if code != "not_found"]
    assert faults == sorted(faults, key=catalogue.index)


def test_without_any_fault_the_order_is_booked(exchange: Market) -> None:
    assert code_of(exchange, Case()) == "201"


@pytest.mark.parametrize("fault", ORDER)
def test_each_fault_alone_answers_its_own_code(exchange: Market, fault: str) -> None:
    assert code_of(exchange, at_fault(fault)) == fault


@pytest.mark.stacks_in_turn
@pytest.mark.parametrize(("first", "second"), sample())
def test_the_earlier_of_two_faults_answers(exchange: Market, first: str, second: str) -> None:
    assert code_of(exchange, at_fault(first, second)) == first


@pytest.mark.parametrize("start", range(len(ORDER)))
def test_the_first_of_all_faults_from_here_on_answers(exchange: Market, start: int) -> None:
    """Everything at once that can be: an order with every fault from one place of the table to its end."""
    # An expiry is waited for: once is enough.
    names = [name for name in ORDER[start:] if name != "credential_expired" or name == ORDER[start]]
    if "rate_limited" in names and _BEFORE_BUDGET & set(names):
        names.remove("rate_limited")
    assert code_of(exchange, at_fault(*names)) == ORDER[start]


@pytest.mark.parametrize("encoding_first", [True, False])
def test_too_large_comes_before_compressed_in_whichever_order_the_headers_are(
    market: Market, encoding_first: bool
) -> None:
    trader = market.trader()
    body = b"{" + b" " * 65 * 1024
    headers = [b"Content-Encoding: gzip", b"Content-Length: %d" % len(body)]
    ordered = headers if encoding_first else headers[::-1]
    answer = trader.raw(body, b"Content-Type: application/json", *ordered, framed=False)
    refused(answer, "request_too_large")


def test_budgets_are_taken_before_the_body_is_judged(own_market: Market) -> None:
    """Refused bodies are paid for, whatever is wrong with them."""
    own_market.switch(budgets=UNBOUNDED | {"orders_per_10_seconds": 4})
    trader = own_market.trader()
    refused(trader.send(b"x" * 70_000, KEY), "request_too_large")
    refused(trader.send(b"x"), "idempotency_key_required")
    refused(trader.send(b"x", KEY), "invalid_request")
    refused(trader.place(KEY, symbol_code="NOWHERE"), "unknown_symbol")
    refused(trader.send(b"x" * 70_000, KEY), "rate_limited")
