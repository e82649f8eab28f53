"""The same key again: replayed, refused, or free."""

import json
from typing import Any
from uuid import uuid4

import pytest

from tests.support.orders import (
    ORDERS,
    REPLAYED,
    Market,
    Trader,
    booked,
    problems,
    refused,
    replayed,
)

pytestmark = pytest.mark.both_stacks

BODY: dict[str, Any] = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}


def key() -> str:
    return str(uuid4())


def test_the_same_key_and_body_replay_the_order(trader: Trader) -> None:
    name = key()
    order = booked(trader.place(name))
    for _ in range(3):
        assert replayed(trader.place(name)) == order
    assert trader.orders()["total"] == 1
    assert trader.net() == "1.0000"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            '{"symbol_code":"GOLD","trade_type":"buy","quantity":1}',
            ' { "quantity" : 1.0 , "trade_type" : "buy" ,\n "symbol_code":"GOLD" } ',
        ),
        (
            '{"symbol_code":"GOLD","trade_type":"buy","quantity":100}',
            '{"symbol_code":"GOLD","trade_type":"buy","quantity":1e2}',
        ),
        (
            '{"symbol_code":"GOLD","trade_type":"buy","quantity":1}',
            '{"symbol_code":"\\u0047OLD","trade_type":"bu\\u0079","quantity":10E-1,"client_order_id":null}',
        ),
        (
            '{"symbol_code":"GOLD","trade_type":"buy","quantity":0.5,"expected_price":71240}',
            '{"symbol_code":"GOLD","trade_type":"buy","quantity":0.50000,"expected_price":7124000.00e-2}',
        ),
    ],
)
def test_bodies_are_compared_by_value(trader: Trader, first: str, second: str) -> None:
    for one, other in ((first, second), (second, first)):
        name = key()
        order = booked(trader.send(one.encode(), name))
        assert replayed(trader.send(other.encode(), name)) == order


@pytest.mark.parametrize(
    "change",
    [
        {"quantity": 1.0001},
        {"trade_type": "sell"},
        {"trade_type": "hold"},
        {"trade_type": ""},
        {"symbol_code": "SILVER"},
        {"symbol_code": "gold"},
        {"symbol_code": "NOWHERE"},
        {"expected_price": 71240},
        {"expected_price": 1},
        {"client_order_id": ""},
        {"client_order_id": "x"},
    ],
)
def test_the_same_key_with_another_body_is_refused_and_books_nothing(
    trader: Trader, change: dict[str, Any]
) -> None:
    name = key()
    order = booked(trader.place(name))
    answer = trader.place(name, **change)
    refused(answer, "idempotency_key_reused")
    assert REPLAYED not in answer.headers
    assert trader.orders()["items"] == [order]
    assert trader.net() == "1.0000"
    assert replayed(trader.place(name)) == order, "the key still stands for the first one"


def test_a_body_that_is_invalid_is_told_so_before_its_key_is_looked_up(trader: Trader) -> None:
    name = key()
    booked(trader.place(name))
    assert problems(trader.place(name, quantity=0)) == [(["body", "quantity"], "too_small")]


def test_keys_are_case_sensitive_and_any_printable_text(trader: Trader) -> None:
    names = ["k", "K", "a b", "!~ \"'\\;--", "x" * 64, "0", "null", "T-1"]
    orders = [booked(trader.place(name)) for name in names]
    assert len({order["id"] for order in orders}) == len(names)
    for name, order in zip(names, orders, strict=True):
        assert replayed(trader.place(name)) == order


def test_blanks_around_a_key_are_no_part_of_it(trader: Trader) -> None:
    order = booked(trader.place("abc"))
    body = json.dumps(BODY).encode()
    answer = trader.raw(body, b"Content-Type: application/json", b"Idempotency-Key:  \t abc\t ")
    assert replayed(answer) == order


# --- Whose key it is ------------------------------------------------------------------------------------


def test_a_key_is_the_accounts_whichever_api_key_sends_it(market: Market) -> None:
    login = market.account()
    one, other = market.trader(login), market.trader(login)
    name = key()
    order = booked(one.place(name))
    assert replayed(other.place(name)) == order
    refused(other.place(name, quantity=2), "idempotency_key_reused")


def test_it_survives_the_rotation_of_the_api_key(market: Market) -> None:
    old = market.trader()
    name = key()
    order = booked(old.place(name))
    issued = market.desk.do("POST", f"/keys/{old.key_id}/rotate", {"overlap_s": 0})
    new = market.at_work(old.login_id, issued)
    refused(old.place(name), "credential_rotated")
    assert replayed(new.place(name)) == order
    assert new.orders()["total"] == 1


def test_another_accounts_key_of_the_same_text_is_another(market: Market) -> None:
    one, other = market.trader(), market.trader()
    name = key()
    first = booked(one.place(name, quantity=1))
    second = booked(other.place(name, quantity=2))
    assert first["id"] != second["id"]
    assert replayed(one.place(name, quantity=1)) == first
    assert replayed(other.place(name, quantity=2)) == second
    assert (one.net(), other.net()) == ("1.0000", "2.0000")


# --- What leaves a key free -----------------------------------------------------------------------------


def test_a_refusal_leaves_the_key_free(own_market: Market) -> None:
    """One key is refused for one reason after the other, and books in the end, once."""
    market = own_market
    group = market.group(trading=False)
    trader = market.trader(market.account(gold="0", group=group))
    name = key()
    refused(trader.place(name, symbol_code="LATER"), "unknown_symbol")
    market.symbol("LATER", trading=False, frozen=True, sides=["sell"], minimum="5", maximum="6")
    refused(trader.place(name, symbol_code="LATER"), "symbol_not_trading")
    market.change("LATER", trading=True)
    refused(trader.place(name, symbol_code="LATER", trade_type="hold"), "invalid_side")
    refused(trader.place(name, symbol_code="LATER"), "side_not_offered")
    market.change("LATER", sides=["buy", "sell"])
    market.switch(halted=True)
    refused(trader.place(name, symbol_code="LATER"), "trading_halted")
    market.switch(halted=False)
    refused(trader.place(name, symbol_code="LATER"), "symbol_frozen")
    market.change("LATER", frozen=False)
    refused(trader.place(name, symbol_code="LATER"), "quantity_rule")
    market.change("LATER", minimum="1")
    refused(trader.place(name, symbol_code="LATER"), "group_trading_disabled")
    refused(trader.place(name, symbol_code="LATER", quantity=-1), "invalid_request")
    refused(trader.send(b"{", name), "invalid_request")
    market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"group": "retail"})
    refused(trader.place(name, symbol_code="LATER"), "limit_exceeded")
    market.allocate(trader.login_id, gold="1")
    order = booked(trader.place(name, symbol_code="LATER"))
    assert order["deal_label"] == "T-1"
    assert replayed(trader.place(name, symbol_code="LATER")) == order


def test_a_refused_body_does_not_bind_the_key(trader: Trader) -> None:
    name = key()
    refused(trader.place(name, symbol_code="NOWHERE"), "unknown_symbol")
    booked(trader.place(name, trade_type="sell", quantity=2))


# --- What price_moved settles ---------------------------------------------------------------------------


def test_price_moved_settles_the_key(market: Market) -> None:
    code = market.symbol("MOVER", pricing={"kind": "fixed", "buy": "100.00", "sell": "100.00"})
    trader = market.trader()
    name = key()
    body = {"symbol_code": code, "expected_price": 99}
    first = trader.place(name, **body)
    detail = refused(first, "price_moved")
    assert REPLAYED not in first.headers
    market.change(code, pricing={"kind": "fixed", "buy": "99.00", "sell": "99.00"})
    for _ in range(2):
        again = trader.place(name, **body)
        assert refused(again, "price_moved") == detail, "although the price has come back"
        assert again.headers[REPLAYED] == "true"
    refused(trader.place(name, symbol_code=code), "idempotency_key_reused")
    refused(trader.place(name, symbol_code=code, expected_price=100), "idempotency_key_reused")
    assert trader.orders()["total"] == 0
    assert trader.net() == "0.0000"
    assert booked(trader.place(**body))["deal_label"] == "T-1", "a new key is judged anew"


def test_a_settled_price_moved_is_replayed_whatever_became_of_the_market(own_market: Market) -> None:
    trader = own_market.trader()
    name = key()
    refused(trader.place(name, expected_price=1), "price_moved")
    own_market.switch(halted=True)
    own_market.change("GOLD", trading=False)
    own_market.allocate(trader.login_id, gold="0")
    answer = trader.place(name, expected_price=1)
    refused(answer, "price_moved")
    assert answer.headers[REPLAYED] == "true"


def test_price_moved_is_settled_for_the_accounts_other_keys_too(market: Market) -> None:
    login = market.account()
    name = key()
    refused(market.trader(login).place(name, expected_price=1), "price_moved")
    answer = market.trader(login).place(name, expected_price=1)
    refused(answer, "price_moved")
    assert answer.headers[REPLAYED] == "true"
    assert booked(market.trader().place(name, expected_price=71240)), "another account's key is free"


# --- A replay comes first -------------------------------------------------------------------------------

HIDING: dict[str, tuple[str, Any]] = {
    "trading_halted": ("switch", {"halted": True}),
    "symbol_not_trading": ("change", {"trading": False}),
    "symbol_frozen": ("change", {"frozen": True}),
    "side_not_offered": ("change", {"sides": ["sell"]}),
    "quantity_rule": ("change", {"minimum": "50"}),
    "no_live_price": ("change", {"pricing": {"kind": "direct", "instrument": "NOTHING"}}),
    "limit_exceeded": ("allocate", {"gold": "0"}),
    "group_trading_disabled": ("group", {"trading": False}),
    "pricing_unavailable": ("group", {"default_terms": None}),
    "group_quantity_rule": (
        "group",
        {"default_terms": {"buy_premium": "0", "sell_premium": "0", "minimum": "50"}},
    ),
}


@pytest.mark.parametrize("code", HIDING)
def test_nothing_hides_an_order_that_exists(own_market: Market, code: str) -> None:
    trader = own_market.trader()
    name = key()
    order = booked(trader.place(name, client_order_id="kept"))
    what, fields = HIDING[code]
    if what == "switch":
        own_market.switch(**fields)
    elif what == "change":
        own_market.change("GOLD", **fields)
    elif what == "allocate":
        own_market.allocate(trader.login_id, **fields)
    else:
        own_market.desk.do("PUT", "/groups/retail", fields)
    refused(trader.place(), code)
    assert replayed(trader.place(name, client_order_id="kept")) == order
    refused(trader.place(name, client_order_id="other"), "idempotency_key_reused")
    assert trader.order(order["id"]).json() == order


def test_a_replay_has_the_price_of_its_day(own_market: Market) -> None:
    trader = own_market.trader()
    name = key()
    order = booked(trader.place(name))
    own_market.change("GOLD", pricing={"kind": "fixed", "buy": "1.00", "sell": "1.00"}, quoted_weight="1")
    assert replayed(trader.place(name)) == order
    assert trader.order(order["id"]).json() == order


def test_a_replay_needs_the_key_the_scope_and_the_switches_of_every_call(market: Market) -> None:
    trader = market.trader()
    name = key()
    booked(trader.place(name))
    reader = market.trader(trader.login_id, scopes=["orders:read"])
    refused(reader.place(name), "insufficient_scope")
    market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"api_access": False})
    refused(trader.place(name), "api_access_disabled")


# --- The header -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [[], [b""], [b" "], [b" \t "], [b"", b" "]])
def test_without_a_key_nothing_is_read_further(trader: Trader, sent: list[bytes]) -> None:
    for content in (json.dumps(BODY).encode(), b"not json"):
        headers = [b"Idempotency-Key:" + value for value in sent]
        refused(trader.raw(content, b"Content-Type: application/json", *headers), "idempotency_key_required")
    assert trader.orders()["total"] == 0


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (b"x" * 65, "too_long"),
        (b"caf\xc3\xa9", "bad_character"),
        (b"\xff", "bad_character"),
        (b"a\tb", "bad_character"),
    ],
)
def test_a_bad_key_is_a_problem_of_the_request(trader: Trader, sent: bytes, kind: str) -> None:
    answer = trader.http.post(ORDERS, json=BODY, headers={b"Idempotency-Key": sent})
    assert problems(answer) == [(["header", "Idempotency-Key"], kind)]


@pytest.mark.parametrize("second", ["one", "two", ""])
def test_two_keys_are_one_too_many(trader: Trader, second: str) -> None:
    headers = [("Idempotency-Key", "one"), ("idempotency-key", second)]
    answer = trader.http.post(ORDERS, json=BODY, headers=headers)
    assert problems(answer) == [(["header", "Idempotency-Key"], "duplicate")]
    assert trader.orders()["total"] == 0


def test_the_problems_of_header_and_body_are_told_together(trader: Trader) -> None:
    answer = trader.send(b'{"trade_type": 1, "quantity": "1", "price": 5}', "x" * 65)
    assert problems(answer) == [
        (["header", "Idempotency-Key"], "too_long"),
        (["body", "symbol_code"], "missing"),
        (["body", "trade_type"], "not_a_string"),
        (["body", "quantity"], "not_a_number"),
        (["body", "price"], "unknown_field"),
    ]
