"""Each error code, once on each path that has it.

Codes of keys, accounts and requests are provoked with the kit's own keys; codes of the market with symbols,
groups and accounts that the desk made for it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

from bullion_conformance.check import Need, Phase, check
from bullion_conformance.checks.auth import OTHER_PATH, is_ended
from bullion_conformance.client import Client, encoded, refused
from bullion_conformance.context import Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.samples import deals, gold_buy, nothing_listed
from bullion_conformance.verdict import NotChecked, expect_equal

Provoke = Callable[[str, Context], object]
"""Provokes a code on the path of an environment."""


def _client(environment: str, c: Context) -> Client:
    return c.test() if environment == "test" else c.live()


# --- Keys -----------------------------------------------------------------------------------------------


def _other_environment(environment: str, c: Context) -> None:
    client = _client(environment, c)
    refused(client.me_as(client.key, OTHER_PATH[environment]), "wrong_environment")


def _other_broker(environment: str, c: Context) -> None:
    client = _client(environment, c)
    with c.at_second_broker():
        answer = client.me_as(client.key)
    refused(answer, "wrong_tenant")


def _wrong_secret(environment: str, c: Context) -> None:
    """The id of one key with the secret of another."""
    one, other = c.new_client(environment), c.new_client(environment)
    mixed = ".".join([*one.key.split(".")[:-1], other.key.rsplit(".", 1)[1]])
    refused(one.me_as(mixed), "invalid_credential")


def _revoked(environment: str, c: Context) -> None:
    login_id = c.broker.account()
    issued = c.broker.key(login_id, environment)
    c.broker.revoke(issued)
    client = c.with_key(issued, login_id, environment)
    refused(client.me_as(client.key), "credential_revoked")


def _throttled(environment: str, c: Context) -> None:
    client = _client(environment, c)
    with c.budgets(failed_auth_per_minute=1):
        client.me_as("not-a-key")
        refused(client.me(), "auth_throttled")


_WITH_A_KEY: dict[str, Provoke] = {
    "missing_credential": lambda e, c: refused(_client(e, c).me_as(None), "missing_credential"),
    "malformed_credential": lambda e, c: refused(_client(e, c).me_as("not-a-key"), "malformed_credential"),
    "wrong_environment": _other_environment,
}
_WITH_THE_DESK: dict[str, Provoke] = {
    "wrong_tenant": _other_broker,
    "invalid_credential": _wrong_secret,
    "credential_revoked": _revoked,
    "credential_rotated": lambda e, c: is_ended(e, "rotated", c),
    "credential_expired": lambda e, c: is_ended(e, "expired", c),
}
check("auth.other-broker", need=Need.DESK, refusals=1)(partial(_other_broker, "test"))

# --- Accounts and requests ------------------------------------------------------------------------------


_BY_ACCOUNT: dict[str, dict[str, Any]] = {
    "api_access_disabled": {"api_access": False},
    "account_inactive": {"active": False},
    "insufficient_scope": {"key": {"scopes": ["account:read"]}},
}


def _refused_to_account(code: str, environment: str, c: Context) -> None:
    refused(c.new_client(environment, **_BY_ACCOUNT[code]).place(), code)


def _reused_key(environment: str, c: Context) -> None:
    client, key = _client(environment, c), str(uuid4())
    body = client.order_body()
    client.placed(key, **body)
    refused(client.place(key, **{**body, "client_order_id": "other"}), "idempotency_key_reused")


def _missing_idempotency_key(environment: str, c: Context) -> None:
    client = _client(environment, c)
    refused(client.send(encoded(client.order_body())), "idempotency_key_required")


_BY_ORDER: dict[str, Provoke] = {
    "idempotency_key_required": _missing_idempotency_key,
    "invalid_request": lambda e, c: refused(_client(e, c).place(quantity=0), "invalid_request"),
    "idempotency_key_reused": _reused_key,
    "invalid_side": lambda e, c: refused(_client(e, c).place(trade_type="hold"), "invalid_side"),
}
check("orders.key.required", orders=1)(partial(_missing_idempotency_key, "test"))
check("idempotency.reused", orders=2)(partial(_reused_key, "test"))


def _not_found(environment: str, c: Context) -> None:
    refused(_client(environment, c).order(str(uuid4())), "order_not_found")


check("errors.test.order_not_found", "read.unknown")(partial(_not_found, "test"))
check("errors.production.order_not_found", need=Need.LIVE_KEY)(partial(_not_found, "production"))


# --- The market -----------------------------------------------------------------------------------------

_BY_MARKET: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "unknown_symbol": ({}, {"symbol_code": "NOWHERE"}),
    "symbol_not_trading": ({}, {"symbol_code": "CLOSED"}),
    "side_not_offered": ({}, {"symbol_code": "SELLONLY", "trade_type": "buy"}),
    "no_live_price": ({}, {"symbol_code": "UNQUOTED"}),
    "unpriced": ({}, {"symbol_code": "UNPRICED"}),
    "stale_rate": ({}, {"symbol_code": "STALE"}),
    "symbol_frozen": ({}, {"symbol_code": "FROZEN"}),
    "quantity_rule": ({}, {"symbol_code": "SIZED", "quantity": 1}),
    "price_moved": ({}, {"expected_price": 1}),
    "group_trading_disabled": ({"group": "closed"}, {"quantity": 2}),
    "group_quantity_rule": ({"group": "sized"}, {"quantity": 2}),
    "pricing_unavailable": ({"group": "unpriced"}, {"quantity": 2}),
    "limit_exceeded": (
        {"allocation": {"gold": "1", "silver": "1"}},
        {"trade_type": "buy", "quantity": 2},
    ),
    "out_of_stock": ({}, {"symbol_code": "SCARCE", "trade_type": "buy", "quantity": 3}),
}
"""What the account is made with, and the fields of the order that meets the code."""
_OTHERWISE_IN_TEST = ("unknown_symbol", "out_of_stock")
"""A test key is enough for the one, and the other is only in production."""


def _refused_and_not_listed(client: Client, code: str, **fields: Any) -> None:
    refused(client.place(**fields), code)
    nothing_listed(client, code)


def _refused_by_market(code: str, environment: str, c: Context) -> None:
    account, fields = _BY_MARKET[code]
    _refused_and_not_listed(c.new_client(environment, **account), code, **fields)


def _halted(environment: str, c: Context) -> None:
    client = c.new_client(environment)
    with c.broker.switched({"halted": False}, halted=True):
        _refused_and_not_listed(client, "trading_halted")
    client.placed()


@check("errors.test.unknown_symbol", orders=1)
def unknown_symbol(c: Context) -> None:
    refused(c.test().place(symbol_code=f"NO-{uuid4().hex[:8]}"), "unknown_symbol")


def _refused_by_venue(code: str, symbol_code: str, c: Context) -> None:
    """A node has the venue's state of a symbol within about a second."""
    client = c.new_client("production")
    message = f"Orders for a symbol that the venue does not trade were not refused with {code}."
    c.until(lambda: client.place(symbol_code=symbol_code).code == code, message)
    _refused_and_not_listed(client, code, symbol_code=symbol_code)


for _code, _symbol in (("tradeability_unverified", "UNWATCHED"), ("symbol_unavailable", "SUSPENDED")):
    check(f"errors.production.{_code}", need=Need.PRODUCTION, orders=3)(
        partial(_refused_by_venue, _code, _symbol)
    )


# --- Production's switches ------------------------------------------------------------------------------


@check("errors.production.production_trading_disabled", need=Need.DESK, orders=1)
def closed_for_the_account(c: Context) -> None:
    refused(c.new_client("production", production_trading=False).place(), "production_trading_disabled")


@check("overview.production.closed", need=Need.DESK, orders=1)
def closed_for_everybody(c: Context) -> None:
    client = c.new_client("production")
    with c.broker.switched({"production": True}, production=False):
        refused(client.place(), "production_trading_disabled")
    nothing_listed(client, "a refusal")


def _has_reason(expected: str, c: Context, **account: Any) -> None:
    detail = refused(c.new_client("production", **account).place(), "production_trading_disabled")
    expect_equal(detail.get("reason"), expected, "`detail.reason`")


@check("errors.reason.deploy", need=Need.DESK, orders=1)
def closed_by_the_deployment(c: Context) -> None:
    if c.setup.production_open:
        raise NotChecked("this deployment is open for production; it needs one that is closed")
    if c.broker.venue != "simulated":
        raise NotChecked(c.setup.production_closed)
    _has_reason("deploy", c)


@check("errors.reason.global", need=Need.PRODUCTION, orders=1)
def closed_by_the_operator(c: Context) -> None:
    with c.broker.switched({"production": True}, production=False):
        _has_reason("global", c)


check("errors.reason.account", need=Need.PRODUCTION, orders=1)(
    lambda c: _has_reason("account", c, production_trading=False)
)


@check("bullion.closed-before-body", need=Need.DESK, orders=2)
def closed_production_is_checked_before_the_body(c: Context) -> None:
    client = c.new_client("production", production_trading=False)
    refused(client.send(b"{}"), "production_trading_disabled")
    refused(client.place(quantity=0), "production_trading_disabled")


@check("errors.production.production_prerequisites_unmet", need=Need.PRODUCTION, orders=1)
def paused_by_the_operator(c: Context) -> None:
    client = c.new_client("production")
    with c.broker.switched({"paused": False}, paused=True):
        refused(client.place(), "production_prerequisites_unmet")
    nothing_listed(client, "a refusal")


check("errors.production.order_rejected", need=Need.PRODUCTION)(
    lambda c: refused(c.once(deals).rejection, "order_rejected")
)


# --- Budgets --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limited:
    """A key whose budget of two orders in ten seconds is used up, and the order that was refused for it."""

    client: Client
    idempotency_key: str
    body: dict[str, Any]
    answer: Exchange
    at: float


def used_up(c: Context, environment: str = "test") -> Limited:
    client, key = c.new_client(environment), str(uuid4())
    # In production it is an order that could not be booked even if it were accepted.
    body = client.order_body(**({} if environment == "test" else {"symbol_code": "NOWHERE"}))
    with c.budgets(orders_per_10_seconds=2):
        for _ in range(2):
            client.place(symbol_code="NOWHERE")
        return Limited(client, key, body, client.place(key, **body), c.clock())


check("errors.test.rate_limited", need=Need.DESK, phase=Phase.BURNS_FIRST, orders=3)(
    lambda c: refused(c.once(used_up).answer, "rate_limited")
)
check("errors.production.rate_limited", need=Need.DESK, phase=Phase.BURNS, orders=3)(
    lambda c: refused(used_up(c, "production").answer, "rate_limited")
)


# --- A check of each code on each path ------------------------------------------------------------------

for _environment in ("test", "production"):
    _test = _environment == "test"
    _errors = f"errors.{_environment}."
    _market_need = Need.DESK if _test else Need.PRODUCTION
    for _code, _provoke in _WITH_A_KEY.items():
        check(_errors + _code, need=Need.KEY if _test else Need.LIVE_KEY, refusals=1)(
            partial(_provoke, _environment)
        )
    for _code, _provoke in _WITH_THE_DESK.items():
        check(_errors + _code, need=Need.DESK, refusals=1)(partial(_provoke, _environment))
    for _code in _BY_ACCOUNT:
        check(_errors + _code, need=Need.DESK, orders=1)(partial(_refused_to_account, _code, _environment))
    for _code, _provoke in _BY_ORDER.items():
        check(_errors + _code, need=Need.KEY if _test else Need.PRODUCTION, orders=2)(
            partial(_provoke, _environment)
        )
    for _code in _BY_MARKET:
        if _test and _code in _OTHERWISE_IN_TEST:
            continue
        check(_errors + _code, need=_market_need, orders=1)(partial(_refused_by_market, _code, _environment))
    check(f"{_errors}trading_halted", need=_market_need, orders=2)(partial(_halted, _environment))
    check(f"{_errors}auth_throttled", need=Need.DESK, phase=Phase.BURNS, refusals=1)(
        partial(_throttled, _environment)
    )


# --- In general -----------------------------------------------------------------------------------------


@check("errors.retry-same-key", need=Need.DESK, orders=2)
def the_same_key_once_the_rate_is_fresh(c: Context) -> None:
    client, key = c.new_client(), str(uuid4())
    refused(client.place(key, symbol_code="STALE", trade_type="buy"), "stale_rate")
    c.broker.desk.do("PATCH", "/symbols/STALE", {"rate_age_s_max": None})
    try:
        order = client.placed(key, symbol_code="STALE", trade_type="buy")
    finally:
        c.broker.desk.do("PATCH", "/symbols/STALE", {"rate_age_s_max": 30})
    expect_equal(order.get("status"), "filled", "`status` of the retried order")


@check("errors.wrong-path")
def a_wrong_path_has_no_code(c: Context) -> None:
    for path in ("/order", f"/orders/{uuid4()}/more"):
        answer = c.test().call("GET", path)
        expect_equal((answer.status, answer.code), (404, None), f"The response to {answer.call}")


@check("errors.price-moved-new-key", orders=2)
def a_new_key_after_price_moved(c: Context) -> None:
    client = c.once(gold_buy).client
    body = client.order_body()
    refused(client.place(**body, expected_price=1), "price_moved")
    client.placed(**body)
