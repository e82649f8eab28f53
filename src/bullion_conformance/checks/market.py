"""Each refusal of the market, on both paths: with symbols, groups and accounts that the desk made for it."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from bullion_conformance.check import Need, check
from bullion_conformance.client import Client, refused, until
from bullion_conformance.context import Context
from bullion_conformance.samples import nothing_listed
from bullion_conformance.verdict import expect

BY_SYMBOL: dict[str, dict[str, Any]] = {
    "unknown_symbol": {"symbol_code": "NOWHERE"},
    "symbol_not_trading": {"symbol_code": "CLOSED"},
    "side_not_offered": {"symbol_code": "SELLONLY", "trade_type": "buy"},
    "no_live_price": {"symbol_code": "UNQUOTED"},
    "unpriced": {"symbol_code": "UNPRICED"},
    "stale_rate": {"symbol_code": "STALE"},
    "symbol_frozen": {"symbol_code": "FROZEN"},
    "quantity_rule": {"symbol_code": "SIZED", "quantity": 1},
    "price_moved": {"expected_price": 1},
}
BY_GROUP: dict[str, str] = {
    "group_trading_disabled": "closed",
    "group_quantity_rule": "sized",
    "pricing_unavailable": "unpriced",
}


def _need(environment: str) -> Need:
    return Need.DESK if environment == "test" else Need.PRODUCTION


def _refused(client: Client, code: str, **fields: Any) -> None:
    refused(client.place(**fields), code)
    nothing_listed(client, code)


def _by_symbol(environment: str, code: str, fields: dict[str, Any]) -> Callable[[Context], None]:
    def the_symbol_does_not_allow_it(c: Context) -> None:
        _refused(c.new_client(environment), code, **fields)

    return the_symbol_does_not_allow_it


def _by_group(environment: str, code: str, group: str) -> Callable[[Context], None]:
    def the_group_does_not_allow_it(c: Context) -> None:
        _refused(c.new_client(environment, group=group), code, quantity=2)

    return the_group_does_not_allow_it


def _halted(environment: str) -> Callable[[Context], None]:
    def halted_by_the_operator(c: Context) -> None:
        client = c.new_client(environment)
        with c.broker.switched({"halted": False}, halted=True):
            _refused(client, "trading_halted")
        client.placed()

    return halted_by_the_operator


def _too_much(environment: str) -> Callable[[Context], None]:
    def past_the_allocation(c: Context) -> None:
        client = c.new_client(environment, allocation={"gold": "1", "silver": "1"})
        _refused(client, "limit_exceeded", trade_type="buy", quantity=2)

    return past_the_allocation


for _environment in ("test", "production"):
    for _code, _fields in BY_SYMBOL.items():
        _need_of = Need.KEY if (_environment, _code) == ("test", "unknown_symbol") else _need(_environment)
        if _need_of is not Need.KEY:
            check(f"errors.{_environment}.{_code}", need=_need_of, orders=1)(
                _by_symbol(_environment, _code, _fields)
            )
    for _code, _group in BY_GROUP.items():
        check(f"errors.{_environment}.{_code}", need=_need(_environment), orders=1)(
            _by_group(_environment, _code, _group)
        )
    check(f"errors.{_environment}.trading_halted", need=_need(_environment), orders=2)(_halted(_environment))
    check(f"errors.{_environment}.limit_exceeded", need=_need(_environment), orders=1)(
        _too_much(_environment)
    )


@check("errors.test.unknown_symbol", orders=1)
def no_such_symbol(c: Context) -> None:
    client = c.test()
    refused(client.place(symbol_code=f"NO-{uuid4().hex[:8]}"), "unknown_symbol")


# --- Production alone -----------------------------------------------------------------------------------


def _by_the_venue(c: Context, code: str, symbol_code: str) -> None:
    """Within a second or so a node has the venue's word on a symbol."""
    client = c.new_client("production")
    until(
        lambda: client.place(symbol_code=symbol_code).code == code,
        f"Orders for a symbol that the venue does not trade were not refused with {code}.",
        clock=c.clock,
        sleep=c.sleep,
    )
    refused(client.place(symbol_code=symbol_code), code)
    nothing_listed(client, code)


@check("errors.production.tradeability_unverified", need=Need.PRODUCTION, orders=3)
def without_the_venues_word(c: Context) -> None:
    _by_the_venue(c, "tradeability_unverified", "UNWATCHED")


@check("errors.production.symbol_unavailable", need=Need.PRODUCTION, orders=3)
def suspended_by_the_venue(c: Context) -> None:
    _by_the_venue(c, "symbol_unavailable", "SUSPENDED")


@check("errors.production.out_of_stock", need=Need.PRODUCTION, orders=1)
def more_than_the_stock(c: Context) -> None:
    _refused(c.new_client("production"), "out_of_stock", symbol_code="SCARCE", trade_type="buy", quantity=3)


@check("errors.retry-same-key", need=Need.DESK, orders=2)
def the_same_key_once_the_rate_is_fresh(c: Context) -> None:
    client, key = c.new_client(), str(uuid4())
    refused(client.place(key, symbol_code="STALE", trade_type="buy"), "stale_rate")
    c.broker.desk.do("PATCH", "/symbols/STALE", {"rate_age_s_max": None})
    try:
        order = client.placed(key, symbol_code="STALE", trade_type="buy")
    finally:
        c.broker.desk.do("PATCH", "/symbols/STALE", {"rate_age_s_max": 30})
    expect(
        order.get("status") == "filled", f"The retried order is {order.get('status')!r}; expected 'filled'."
    )
