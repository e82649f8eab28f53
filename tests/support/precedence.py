"""Orders that are at fault in several ways: a table of the faults, in the ruled order, and what makes them.

Each fault is one change to an order that would be booked, or to what stands behind it: key, account, symbol,
group, switches.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx

from bullion.keys.text import secret_from

from .node import own_address
from .orders import GOLD, MORE_FIELDS, REPLAYED, UNBOUNDED, Market, Trader, booked, refused
from .production import expire_key

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

    path: str = "/orders"
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
    settled_by: dict[str, Any] | None = None
    """The body that the key was settled with."""


Fault = Callable[[Case], object]


def _expire(market: Market, trader: Trader) -> None:
    expire_key(market.node, market.tag, trader.key_id)
    market.account()  # At every change by the desk, the node catches up with the store.


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
    "not_found": lambda case: setattr(case, "path", "/orders/a/b"),
    "method_not_allowed": lambda case: setattr(case, "method", "DELETE"),
    "auth_throttled": lambda case: setattr(case, "fail_first", True),
    "missing_credential": lambda case: case.headers.update({"X-API-Key": None}),
    "malformed_credential": lambda case: case.alter.append(_last_changed),
    "wrong_tenant": lambda case: case.alter.append(_of_nobody),
    "wrong_environment": lambda case: case.alter.append(lambda text: text.replace("key_test", "key_live")),
    "invalid_credential": lambda case: case.alter.append(_other_secret),
    "credential_revoked": lambda case: case.at_desk.append(_revoke),
    "credential_rotated": lambda case: case.at_desk.insert(0, _rotate),
    "credential_expired": lambda case: case.at_desk.append(_expire),
    "address_not_allowed": lambda case: case.key_fields.update(allowed_addresses=["10.0.0.0/8"]),
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
"""In the order in which they answer. A word after the code is a further field of the refusal."""
OF_PRODUCTION = {
    "production_trading_disabled global",
    "production_trading_disabled account",
    "production_prerequisites_unmet",
    "tradeability_unverified",
    "symbol_unavailable",
    "out_of_stock",
}
_BEFORE_BUDGET = {"address_not_allowed", "insufficient_scope"}
"""The budget is spent by the key itself, which these refuse from the start."""


def together(names: list[str]) -> list[str]:
    """Without those that cannot be in one order."""
    if _BEFORE_BUDGET & set(names):
        return [name for name in names if name != "rate_limited"]
    return names


def at_fault(*names: str) -> Case:
    """The first is put in last: where two set the same thing, it holds."""
    case = Case()
    for name in reversed(names):
        FAULTS[name](case)
    return case


class Exchange:
    """A market for all cases: each has an account of its own, and finds the rest as it wants it.

    It remembers how group, symbol and switches stand, and changes only what the next case wants otherwise.
    """

    def __init__(self, market: Market, instruments: Iterable[str] = ("SPOT",), **switches: Any) -> None:
        self.market = market
        self._switches = switches
        self._standing: dict[str, Any] = {}
        hour_ago = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
        for instrument in (*instruments, "CURRENCY"):
            bid, ask = ("90", "91") if instrument == "CURRENCY" else ("4000", "4001")
            market.desk.do("PUT", f"/rates/{instrument}", {"bid": bid, "ask": ask, "at": hour_ago})
        market.desk.do("PUT", "/duties/gold", [{"from": "2020-01-01", "rupees": "1.00"}])
        self._set_up(Case())

    def code_of(self, case: Case) -> str:
        """What the order is answered: its status, or the code of the refusal."""
        with self.market.visit() as market:
            return self._code_of(market, case)

    def _code_of(self, market: Market, case: Case) -> str:
        self._set_up(Case())
        trader = market.trader(**case.key_fields)
        name = str(uuid4())
        if case.settled_by is not None:
            booked(market.trader(trader.login_id).place(name, symbol_code="X", **case.settled_by))
        if case.spend_budget:
            self._set_up(Case(spend_budget=True))
            refused(trader.place(symbol_code="NOWHERE"), "unknown_symbol")
        self._set_up(case)
        if case.account:
            market.desk.do("PATCH", f"/accounts/{trader.login_id}", case.account)
        for step in case.at_desk:
            step(market, trader)
        code = _code(_send(market, case, trader, name))
        total = market.desk.do("GET", f"/orders?login_id={trader.login_id}")["total"]
        assert total == (case.settled_by is not None) + (code == "201"), "what was refused left nothing"
        return code

    def _set_up(self, case: Case) -> None:
        """Group, symbol and switches as the case wants them."""
        terms = {"buy_premium": "0", "sell_premium": "0", **case.terms}
        self._put("PUT", "/groups/retail", {"default_terms": terms, **case.group})
        self._put("PUT", "/symbols/X", {**GOLD, "pricing": PRICING | case.pricing, **case.symbol})
        budgets = UNBOUNDED | ({"orders_per_10_seconds": 1} if case.spend_budget else {})
        switches = {"halted": False, "budgets": budgets, **self._switches, **case.switches}
        self._put("PATCH", "/switches", switches)

    def _put(self, method: str, path: str, body: dict[str, Any]) -> None:
        if self._standing.get(path) != body:
            self.market.desk.do(method, path, body)
            self._standing[path] = body


def _send(market: Market, case: Case, trader: Trader, name: str) -> httpx.Response:
    address, key = own_address(), trader.key
    if case.fail_first:
        with market.node.api(address=address, Host=market.host) as failing:
            for _ in range(20):
                assert failing.get(f"{trader.base}/orders").status_code == 401
    for change in case.alter:
        key = change(key)
    http = market.at_work(trader.login_id, {"key_id": trader.key_id, "key": key}, address=address).http
    body = {"symbol_code": "X", "trade_type": "buy", "quantity": 1, **case.body}
    headers = {"Content-Type": "application/json", "Idempotency-Key": name, "X-API-Key": key, **case.headers}
    del http.headers["X-API-Key"]
    return http.request(
        case.method,
        f"{trader.base}{case.path}",
        content=json.dumps(body).encode() + b" " * case.padding,
        headers={name: value for name, value in headers.items() if value is not None},
    )


def _code(answer: httpx.Response) -> str:
    """With the further fields of the refusal, in words."""
    if answer.is_success:
        return str(answer.status_code)
    detail = answer.json()["detail"]
    if detail == "Not Found":
        return "not_found"
    refused(answer, detail["code"])
    assert REPLAYED not in answer.headers
    more = MORE_FIELDS.get(detail["code"], set()) - {"errors"}
    return " ".join(str(detail[each]) for each in ("code", *more))
