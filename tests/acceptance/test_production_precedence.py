"""When a production order is at fault in two ways, the earlier fault in the ruled order answers.

As in `test_order_precedence`, each fault is one change to an order that would be booked. Here all faults from
one place of the table to its end are put into the same order; what the gate looks at first is tried there. An
exact replay is answered whatever the market and production's switches say.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from bullion.refusals.catalogue import CATALOGUE
from tests.support.node import Node, until
from tests.support.orders import GOLD, MORE_FIELDS, REPLAYED, refused, replayed
from tests.support.production import (
    ORDERS,
    PATIENCE_S,
    WIDE_OPEN,
    LiveMarket,
    LiveTrader,
    closed_by,
    opened,
)

INSTRUMENTS = {"SPOT": "tradable", "UNKNOWN": "unknown", "SUSPENDED": "suspended"}
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


@dataclass
class Case:
    """An order that is booked unless something is changed here."""

    key_fields: dict[str, Any] = field(default_factory=dict)
    account: dict[str, Any] = field(default_factory=dict)
    symbol: dict[str, Any] = field(default_factory=dict)
    pricing: dict[str, Any] = field(default_factory=dict)
    group: dict[str, Any] = field(default_factory=dict)
    terms: dict[str, Any] = field(default_factory=dict)
    switches: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str | None] = field(default_factory=dict)
    padding: int = 0
    spend_budget: bool = False
    settled_by: dict[str, Any] | None = None
    """The body that the key was settled with."""


Fault = Callable[[Case], object]

FAULTS: dict[str, Fault] = {
    "api_access_disabled": lambda case: case.account.update(api_access=False),
    "account_inactive": lambda case: case.account.update(active=False),
    "insufficient_scope": lambda case: case.key_fields.update(scopes=["account:read", "orders:read"]),
    "rate_limited": lambda case: setattr(case, "spend_budget", True),
    "request_too_large": lambda case: setattr(case, "padding", 65 * 1024),
    "unsupported_encoding": lambda case: case.headers.update({"Content-Encoding": "gzip"}),
    "production_trading_disabled global": lambda case: case.switches.update(production=False),
    "production_trading_disabled account": lambda case: case.account.update(production_trading=False),
    "production_prerequisites_unmet": lambda case: case.switches.update(paused=True),
    "idempotency_key_required": lambda case: case.headers.update({"Idempotency-Key": None}),
    "invalid_request": lambda case: case.body.update(client_order_id=7),
    "idempotency_key_reused": lambda case: setattr(case, "settled_by", {"quantity": 5}),
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
    "tradeability_unverified": lambda case: case.pricing.update(spot="UNKNOWN"),
    "symbol_unavailable": lambda case: case.pricing.update(spot="SUSPENDED"),
    "group_trading_disabled": lambda case: case.group.update(trading=False),
    "group_quantity_rule": lambda case: case.terms.update(minimum="2"),
    "pricing_unavailable": lambda case: case.terms.update(buy_premium="-99999999.00"),
    "limit_exceeded": lambda case: case.account.update(allocation={"gold": "0"}),
    "out_of_stock": lambda case: case.symbol.update(stock="0.9999"),
    "price_moved": lambda case: case.body.update(expected_price=1),
}
ORDER = list(FAULTS)
NOT_OF_THE_MARKET = ORDER.index("production_trading_disabled global")
HIDDEN_BY_NO_FAULT = [
    name
    for name in ORDER[NOT_OF_THE_MARKET:]
    if name not in ("idempotency_key_required", "invalid_request", "idempotency_key_reused")
    and name not in ("unknown_symbol", "invalid_side", "price_moved")  # In the body: not the same order.
]


@pytest.fixture(scope="module")
def exchange(node: Node) -> Iterator[LiveMarket]:
    """Whose venue trades one instrument, has suspended another, and says nothing of a third."""
    with LiveMarket.open(node) as market:
        hour_ago = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
        for instrument in (*INSTRUMENTS, "CURRENCY"):
            body = {"bid": "90", "ask": "91", "at": hour_ago}
            market.desk.do("PUT", f"/rates/{instrument}", body)
        market.desk.do("PUT", "/duties/gold", [{"from": "2020-01-01", "rupees": "1.00"}])
        market.venue(instruments=INSTRUMENTS)
        with market.visit() as visited:
            watcher = visited.trader()
            for instrument, word in INSTRUMENTS.items():
                market.symbol(f"ON-{instrument}", pricing={"kind": "direct", "instrument": instrument})
                expected = {"tradable": None, "suspended": "symbol_unavailable"}
                code = expected.get(word, "tradeability_unverified")
                name = f"ON-{instrument}"
                until(lambda: watcher.quote(name)["reason"] == code, within_s=PATIENCE_S)  # noqa: B023
        market.symbol("X", pricing=PRICING)
        market.ready("X")
        yield market


def code_of(exchange: LiveMarket, case: Case) -> str:
    with exchange.visit() as market:
        _set_up(market, Case())
        trader = market.trader(**case.key_fields)
        name = str(uuid4())
        if case.settled_by is not None:
            opened(market.trader(trader.login_id).place(name, symbol_code="X", **case.settled_by))
        if case.spend_budget:
            market.switch(budgets={"orders_per_10_seconds": 1})
            refused(trader.place(symbol_code="NOWHERE"), "unknown_symbol")
        _set_up(market, case)
        if case.account:
            market.desk.do("PATCH", f"/accounts/{trader.login_id}", case.account)
        code = _send(trader, name, case)
        _set_up(market, Case())
        total = market.desk.do("GET", f"/orders?login_id={trader.login_id}")["total"]
        assert total == (case.settled_by is not None) + (code == "201"), "what was refused left nothing"
        return code


def _set_up(market: LiveMarket, case: Case) -> None:
    """All that the exchange has, as the case wants it."""
    terms = {"buy_premium": "0", "sell_premium": "0", **case.terms}
    market.desk.do("PUT", "/groups/retail", {"default_terms": terms, **case.group})
    market.desk.do("PUT", "/symbols/X", {**GOLD, "pricing": PRICING | case.pricing, **case.symbol})
    budgets = WIDE_OPEN | ({"orders_per_10_seconds": 1} if case.spend_budget else {})
    market.switch(
        **{"production": True, "paused": False, "halted": False, "budgets": budgets, **case.switches}
    )


def _send(trader: LiveTrader, name: str, case: Case) -> str:
    body = {"symbol_code": "X", "trade_type": "buy", "quantity": 1, **case.body}
    headers = {"Content-Type": "application/json", "Idempotency-Key": name, **case.headers}
    answer = trader.http.post(
        ORDERS,
        content=json.dumps(body).encode() + b" " * case.padding,
        headers={key: value for key, value in headers.items() if value is not None},
    )
    if answer.is_success:
        return f"{answer.status_code}"
    detail = answer.json()["detail"]
    refused(answer, detail["code"])
    assert REPLAYED not in answer.headers
    return " ".join(
        str(detail[each]) for each in ("code", *MORE_FIELDS.get(detail["code"], ())) if each != "errors"
    )


def at_fault(*names: str) -> Case:
    """The first is put in last: where two set the same thing, it holds."""
    case = Case()
    for name in reversed(names):
        FAULTS[name](case)
    return case


def together(names: list[str]) -> list[str]:
    """Without those that cannot be there: the budget is spent by a key that has no such scope."""
    if "insufficient_scope" in names:
        return [name for name in names if name != "rate_limited"]
    return names


def test_the_faults_stand_in_the_order_of_the_catalogue() -> None:
    catalogue = [row.code for row in CATALOGUE]
    faults = [name.partition(" ")[0] for name in ORDER]
    assert faults == sorted(faults, key=catalogue.index)


def test_every_market_check_is_tried() -> None:
    codes = [row.code for row in CATALOGUE if row.specified]
    market = codes[codes.index("unknown_symbol") : codes.index("price_moved") + 1]
    assert [code for code in market if code not in ORDER] == ["rates_not_ready"]


def test_without_any_fault_the_order_is_booked(exchange: LiveMarket) -> None:
    assert code_of(exchange, Case()) == "201"


@pytest.mark.parametrize("fault", ORDER)
def test_each_fault_alone_answers_its_own_code(exchange: LiveMarket, fault: str) -> None:
    assert code_of(exchange, at_fault(fault)) == fault


@pytest.mark.parametrize("start", range(len(ORDER)), ids=ORDER)
def test_the_first_of_all_faults_from_here_on_answers(exchange: LiveMarket, start: int) -> None:
    assert code_of(exchange, at_fault(*together(ORDER[start:]))) == ORDER[start]


@pytest.mark.parametrize("fault", [*HIDDEN_BY_NO_FAULT, "all of them"])
def test_nothing_hides_an_order_that_exists(exchange: LiveMarket, fault: str) -> None:
    case = at_fault(*(HIDDEN_BY_NO_FAULT if fault == "all of them" else [fault]))
    case.settled_by = {"quantity": 1}
    assert code_of(exchange, case) == "200"


CLOSED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "global": ({"production": False}, {}),
    "account": ({}, {"production_trading": False}),
    "prerequisites": ({"paused": True}, {}),
    "global, though the account's is off and the desk has paused": (
        {"production": False, "paused": True},
        {"production_trading": False},
    ),
    "account, though the desk has paused": ({"paused": True}, {"production_trading": False}),
}


@pytest.mark.parametrize("how", CLOSED)
def test_while_production_is_closed_only_an_exact_replay_of_an_order_is_answered(
    own_live_market: LiveMarket, how: str
) -> None:
    """Whatever else is told would be read as: nothing was booked, and nothing will be."""
    market, trader = own_live_market, own_live_market.trader()
    placed, settled, other, free = (str(uuid4()) for _ in range(4))
    order = opened(trader.place(placed))
    elsewhere = opened(trader.place(other, quantity=2, client_order_id="other"))
    refused(trader.place(settled, expected_price=1), "price_moved")
    switches, account = CLOSED[how]
    if switches:
        market.switch(**switches)
    if account:
        market.desk.do("PATCH", f"/accounts/{trader.login_id}", account)

    def closed(answer: Any) -> None:
        if how == "prerequisites":
            refused(answer, "production_prerequisites_unmet")
            assert REPLAYED not in answer.headers
        else:
            assert closed_by(answer) == how.partition(",")[0]

    closed(trader.place(free))
    closed(trader.place(placed, quantity=2))
    closed(trader.place(placed, trade_type="hold"))
    closed(trader.place(placed, quantity="1"))
    closed(trader.place(other))
    closed(trader.place(settled, expected_price=1))
    closed(trader.place(settled, expected_price=2))
    closed(trader.send(b"x"))
    closed(trader.send(b"x", placed))
    closed(trader.send(b'{"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}'))
    closed(trader.send(b'{"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}', "x" * 65))
    closed(trader.place(free, symbol_code="NOWHERE"))
    closed(trader.send(b"{}", free, **{"Content-Type": "text/plain"}))
    assert replayed(trader.place(placed)) == order
    assert replayed(trader.place(other, quantity=2, client_order_id="other")) == elsewhere
    assert trader.orders()["items"] == [elsewhere, order]
    market.switch(production=True, paused=False)
    market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"production_trading": True})
    # Nothing that was said meanwhile has settled a key, or freed one.
    opened(trader.place(free))
    refused(trader.place(placed, quantity=2), "idempotency_key_reused")
    again = trader.place(settled, expected_price=1)
    refused(again, "price_moved")
    assert again.headers[REPLAYED] == "true"


def test_a_refused_order_replays_as_refused_while_production_is_off(own_live_market: LiveMarket) -> None:
    market, trader, name = own_live_market, own_live_market.trader(), str(uuid4())
    market.venue(mode="refuse")
    first = trader.place(name)
    refused(first, "order_rejected")
    market.switch(production=False)
    again = trader.place(name)
    refused(again, "order_rejected")
    assert again.headers[REPLAYED] == "true"
    assert again.json() == first.json()
    assert closed_by(trader.place(name, quantity=2)) == "global"
