"""Each code that is decided before the market is asked: once on each path that has it.

Keys of the kit's own are spoilt here in every way that a key can be.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from bullion_conformance.check import Need, Phase, check
from bullion_conformance.checks.auth import ended_keys
from bullion_conformance.client import Client, encoded, refused
from bullion_conformance.connection import PRODUCTION_PATH, TEST_PATH
from bullion_conformance.context import Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.samples import deals, nothing_listed
from bullion_conformance.verdict import NotChecked, expect

BOTH = ("test", "production")
OTHER = {"test": PRODUCTION_PATH, "production": TEST_PATH}


def client_of(c: Context, environment: str) -> Client:
    return c.test() if environment == "test" else c.live()


def _key_for(environment: str) -> Need:
    return Need.KEY if environment == "test" else Need.LIVE_KEY


# --- Keys -----------------------------------------------------------------------------------------------


def _no_key(c: Context, environment: str) -> None:
    refused(client_of(c, environment).me_as(None), "missing_credential")


def _no_shape(c: Context, environment: str) -> None:
    refused(client_of(c, environment).me_as("not-a-key"), "malformed_credential")


def _other_environment(c: Context, environment: str) -> None:
    client = client_of(c, environment)
    refused(client.me_as(client.key, OTHER[environment]), "wrong_environment")


_BY_KEY: dict[str, Callable[[Context, str], None]] = {
    "missing_credential": _no_key,
    "malformed_credential": _no_shape,
    "wrong_environment": _other_environment,
}


def _other_broker(c: Context, environment: str) -> None:
    client = client_of(c, environment)
    with c.at_second_broker():
        answer = client.me_as(client.key)
    refused(answer, "wrong_tenant")


def _unknown(c: Context, environment: str) -> None:
    """The head of one key with the secret of another."""
    one, other = c.new_client(environment), c.new_client(environment)
    mixed = ".".join([*one.key.split(".")[:-1], other.key.rsplit(".", 1)[1]])
    refused(one.me_as(mixed), "invalid_credential")


def _revoked(c: Context, environment: str) -> None:
    login_id = c.broker.account()
    issued = c.broker.key(login_id, environment)
    c.broker.revoke(issued)
    client = c.with_key(issued, login_id, environment)
    refused(client.me_as(client.key), "credential_revoked")


def _rotated(c: Context, environment: str) -> None:
    client = c.once(ended_keys)[environment, "rotated"]
    refused(client.me_as(client.key), "credential_rotated")


def _expired(c: Context, environment: str) -> None:
    client = c.once(ended_keys)[environment, "expired"]
    refused(client.me_as(client.key), "credential_expired")


_BY_DESK: dict[str, Callable[[Context, str], None]] = {
    "wrong_tenant": _other_broker,
    "invalid_credential": _unknown,
    "credential_revoked": _revoked,
    "credential_rotated": _rotated,
    "credential_expired": _expired,
}


# --- Accounts, scopes and requests ----------------------------------------------------------------------


def _no_access(c: Context, environment: str) -> None:
    refused(c.new_client(environment, api_access=False).place(), "api_access_disabled")


def _not_active(c: Context, environment: str) -> None:
    refused(c.new_client(environment, active=False).place(), "account_inactive")


def _no_scope(c: Context, environment: str) -> None:
    refused(c.new_client(environment, key={"scopes": ["account:read"]}).place(), "insufficient_scope")


_BY_ACCOUNT: dict[str, Callable[[Context, str], None]] = {
    "api_access_disabled": _no_access,
    "account_inactive": _not_active,
    "insufficient_scope": _no_scope,
}


def _no_idempotency_key(client: Client) -> None:
    refused(client.send(encoded(client.order_body())), "idempotency_key_required")


def _bad_body(client: Client) -> None:
    refused(client.place(quantity=0), "invalid_request")


def _other_body(client: Client) -> None:
    key, body = str(uuid4()), client.order_body()
    client.placed(key, **body)
    refused(client.place(key, **{**body, "client_order_id": "other"}), "idempotency_key_reused")


def _no_side(client: Client) -> None:
    refused(client.place(trade_type="hold"), "invalid_side")


_BY_ORDER: dict[str, Callable[[Client], None]] = {
    "idempotency_key_required": _no_idempotency_key,
    "invalid_request": _bad_body,
    "idempotency_key_reused": _other_body,
    "invalid_side": _no_side,
}

# --- A check for each, on each path ---------------------------------------------------------------------


def _on(environment: str, provoke: Callable[[Context, str], None]) -> Callable[[Context], None]:
    def is_refused_so(c: Context) -> None:
        provoke(c, environment)

    return is_refused_so


def _order_on(environment: str, provoke: Callable[[Client], None]) -> Callable[[Context], None]:
    def is_refused_so(c: Context) -> None:
        provoke(client_of(c, environment))

    return is_refused_so


for _environment in BOTH:
    for _code, _provoke in _BY_KEY.items():
        check(f"errors.{_environment}.{_code}", need=_key_for(_environment), refusals=1)(
            _on(_environment, _provoke)
        )
    for _code, _provoke in _BY_DESK.items():
        check(f"errors.{_environment}.{_code}", need=Need.DESK, refusals=1)(_on(_environment, _provoke))
    for _code, _provoke in _BY_ACCOUNT.items():
        check(f"errors.{_environment}.{_code}", need=Need.DESK, orders=1)(_on(_environment, _provoke))
    for _code, _place in _BY_ORDER.items():
        check(
            f"errors.{_environment}.{_code}",
            need=Need.KEY if _environment == "test" else Need.PRODUCTION,
            orders=2,
        )(_order_on(_environment, _place))


@check("errors.test.order_not_found")
def no_such_test_order(c: Context) -> None:
    refused(c.test().order(str(uuid4())), "order_not_found")


@check("errors.production.order_not_found", need=Need.LIVE_KEY)
def no_such_production_order(c: Context) -> None:
    refused(c.live().order(str(uuid4())), "order_not_found")


# --- Production's switches ------------------------------------------------------------------------------


@check("errors.production.production_trading_disabled", need=Need.DESK, orders=1)
def closed_for_the_account_or_all(c: Context) -> None:
    refused(c.new_client("production", production_trading=False).place(), "production_trading_disabled")


def _reason(c: Context, expected: str, **account: Any) -> None:
    detail = refused(c.new_client("production", **account).place(), "production_trading_disabled")
    found = detail.get("reason")
    expect(found == expected, f"`detail.reason` is {found!r}; expected {expected!r}.")


@check("errors.reason.deploy", need=Need.DESK, orders=1)
def closed_by_the_deployment(c: Context) -> None:
    if c.setup.production_open:
        raise NotChecked("this deployment is open for production; it can be seen on one that is closed")
    if c.broker.venue != "simulated":
        raise NotChecked(c.setup.production_closed)
    _reason(c, "deploy")


@check("errors.reason.global", need=Need.PRODUCTION, orders=1)
def closed_by_the_operator(c: Context) -> None:
    with c.broker.switched({"production": True}, production=False):
        _reason(c, "global")


@check("errors.reason.account", need=Need.PRODUCTION, orders=1)
def closed_for_the_account(c: Context) -> None:
    _reason(c, "account", production_trading=False)


@check("errors.production.production_prerequisites_unmet", need=Need.PRODUCTION, orders=1)
def paused_by_the_operator(c: Context) -> None:
    client = c.new_client("production")
    with c.broker.switched({"paused": False}, paused=True):
        refused(client.place(), "production_prerequisites_unmet")
    nothing_listed(client, "a refusal")


@check("errors.production.order_rejected", need=Need.PRODUCTION)
def refused_by_the_hedge(c: Context) -> None:
    refused(c.once(deals).rejection, "order_rejected")


# --- Budgets --------------------------------------------------------------------------------------------


def _throttled(environment: str) -> Callable[[Context], None]:
    def too_many_bad_keys(c: Context) -> None:
        client = client_of(c, environment)
        with c.budgets(failed_auth_per_minute=1):
            client.me_as("not-a-key")
            refused(client.me(), "auth_throttled")

    return too_many_bad_keys


@dataclass(frozen=True, slots=True)
class Limited:
    """A key whose budget of two orders in ten seconds is used up, and an order that was refused for it."""

    client: Client
    idempotency_key: str
    body: dict[str, Any]
    answer: Exchange
    at: float


def used_up(c: Context, environment: str = "test") -> Limited:
    client, key = c.new_client(environment), str(uuid4())
    # In production it is one that could not be booked even if it were taken.
    body = client.order_body(**({} if environment == "test" else {"symbol_code": "NOWHERE"}))
    with c.budgets(orders_per_10_seconds=2):
        for _ in range(2):
            client.place(symbol_code="NOWHERE")
        return Limited(client, key, body, client.place(key, **body), c.clock())


@check("errors.test.rate_limited", need=Need.DESK, phase=Phase.BURNS_FIRST, orders=3)
def too_many_test_orders(c: Context) -> None:
    refused(c.once(used_up).answer, "rate_limited")


@check("errors.production.rate_limited", need=Need.DESK, phase=Phase.BURNS, orders=3)
def too_many_production_orders(c: Context) -> None:
    refused(used_up(c, "production").answer, "rate_limited")


for _environment in BOTH:
    check(f"errors.{_environment}.auth_throttled", need=Need.DESK, phase=Phase.BURNS, refusals=1)(
        _throttled(_environment)
    )
