"""Rulings on what is sent in an order, and on what a key settles."""

import gzip
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from uuid import uuid4

from bullion_conformance.check import Need, check
from bullion_conformance.client import (
    CREATED,
    REPLAYED,
    Client,
    Literal,
    body_of,
    encoded,
    refused,
    replayed,
)
from bullion_conformance.context import Context
from bullion_conformance.desk import BUY_PRICE, QUOTED_WEIGHT
from bullion_conformance.exchange import Exchange
from bullion_conformance.samples import deals
from bullion_conformance.verdict import expect

BODY = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}


def places(answer: Exchange) -> list[Any]:
    """Where the problems of an invalid request are."""
    return [each.get("loc") for each in refused(answer, "invalid_request").get("errors", [])]


# --- The body -------------------------------------------------------------------------------------------


@check("bullion.unknown-field", orders=1)
def an_unknown_field_is_named(c: Context) -> None:
    found = places(c.test().place(expectedprice=1))
    expect(found == [["body", "expectedprice"]], f"The unknown field is told at {found}.")


@check("bullion.duplicate-field", orders=1)
def a_field_twice(c: Context) -> None:
    content = b'{"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1, "quantity": 2}'
    refused(c.test().send(content, str(uuid4())), "invalid_request")


@check("bullion.errors", orders=1)
def all_problems_at_once(c: Context) -> None:
    answer = c.test().place(quantity=0, symbol_code="", client_order_id="x" * 65)
    found = {tuple(place) for place in places(answer)}
    expected = {("body", name) for name in ("quantity", "symbol_code", "client_order_id")}
    expect(found == expected, f"Three fields are wrong; told are {sorted(found)}.")
    for problem in answer.detail["errors"]:
        expect(problem.keys() == {"loc", "msg", "type"}, f"A problem has the fields {', '.join(problem)}.")


@check("bullion.exact-numbers", need=Need.DESK, orders=4)
def quantities_are_read_exactly(c: Context) -> None:
    client = c.new_client()
    for number in ("1e2", "100.00000", "0.0001"):
        found = client.placed(quantity=Literal(number))["quantity"]
        expect(Decimal(found) == Decimal(number), f"{number} was sent; `quantity` is {found}.")
    refused(client.place(quantity=Literal("1.00000000000000000001")), "invalid_request")


@check("bullion.number-strings", orders=4)
def a_number_is_no_string(c: Context) -> None:
    client = c.test()
    for value in ("1", True, None):
        refused(client.place(quantity=value), "invalid_request")
    refused(client.place(quantity=Literal("NaN")), "invalid_request")


@check("bullion.not-utf8", orders=3)
def a_body_is_json_in_utf8(c: Context) -> None:
    client = c.test()
    for content in (b"\xff\xfe{}", b"", b"[" * 5000):
        refused(client.send(content, str(uuid4())), "invalid_request")


@check("bullion.content-type", orders=3)
def a_body_is_labelled(c: Context) -> None:
    client = c.test()
    for label in ("text/plain", "application/json; charset=latin-1", ""):
        refused(
            client.send(encoded(client.order_body()), str(uuid4()), **{"Content-Type": label}),
            "invalid_request",
        )


@check("bullion.body-size", orders=1)
def a_body_has_up_to_64_kib(c: Context) -> None:
    client = c.test()
    answer = client.send(encoded(client.order_body()).ljust(65 * 1024), str(uuid4()))
    expect(
        (answer.status, answer.code) == (413, "request_too_large"),
        f"A body of 65 KiB answered {answer.reply}.",
    )


@check("bullion.compressed", orders=1)
def a_body_is_not_compressed(c: Context) -> None:
    client = c.test()
    content = gzip.compress(encoded(client.order_body()))
    answer = client.send(content, str(uuid4()), **{"Content-Encoding": "gzip"})
    expect(
        (answer.status, answer.code) == (415, "unsupported_encoding"),
        f"A gzip body answered {answer.reply}.",
    )


@check("bullion.side-case", orders=3)
def a_side_is_written_small(c: Context) -> None:
    client = c.test()
    for side in ("BUY", "buy "):
        refused(client.place(trade_type=side), "invalid_side")
    refused(client.place(trade_type=1), "invalid_request")


@check("bullion.blank-key", orders=3)
def a_blank_key_is_none(c: Context) -> None:
    client = c.test()
    content = encoded(client.order_body())
    refused(client.send(content, ""), "idempotency_key_required")
    found = places(client.send(content, "x" * 65))
    expect(found == [["header", "Idempotency-Key"]], f"A key that is too long is told at {found}.")


# --- Keys of orders -------------------------------------------------------------------------------------


@check("bullion.key-case", orders=2)
def keys_differ_in_case(c: Context) -> None:
    client, key = c.test(), f"a{uuid4().hex}"
    client.placed(key)
    client.placed(key.upper())


@check("bullion.same-value", need=Need.DESK, orders=4)
def bodies_are_compared_by_value(c: Context) -> None:
    client, key = c.new_client(), str(uuid4())
    order = body_of(client.send(encoded(BODY), key), CREATED)
    for body in (
        {**BODY, "quantity": Literal("1.0")},
        dict(reversed(BODY.items())),
        {**BODY, "client_order_id": None, "expected_price": None},
    ):
        replayed(client.send(encoded(body), key), order)


@check("bullion.key-environment", need=Need.PRODUCTION, orders=2)
def environments_have_their_own_keys(c: Context) -> None:
    client, key = c.new_client(), str(uuid4())
    client.placed(key)
    c.new_client("production", client.account).placed(key)


@check("bullion.moved-settles", orders=2)
def a_moved_price_settles_the_key(c: Context) -> None:
    client, key = c.test(), str(uuid4())
    body = client.order_body(expected_price=1)
    first, again = client.place(key, **body), client.place(key, **body)
    refused(first, "price_moved")
    refused(again, "price_moved")
    marked = (first.headers.get(REPLAYED), again.headers.get(REPLAYED))
    expect(marked == (None, "true"), f"Idempotent-Replayed of the two answers is {marked}.")


@check("bullion.refusal-frees", orders=2)
def a_refusal_leaves_the_key_free(c: Context) -> None:
    client, key = c.test(), str(uuid4())
    refused(client.place(key, symbol_code=f"NO-{key[:8]}"), "unknown_symbol")
    client.placed(key)


@check("bullion.replay-first", need=Need.DESK, orders=2)
def a_replay_while_halted(c: Context) -> None:
    client, key = c.new_client(), str(uuid4())
    body = client.order_body()
    order = client.placed(key, **body)
    with c.broker.switched({"halted": False}, halted=True):
        replayed(client.place(key, **body), order)


@check("bullion.replay-while-closed", need=Need.PRODUCTION, orders=2)
def a_replay_while_closed(c: Context) -> None:
    client, key = c.new_client("production"), str(uuid4())
    body = client.order_body()
    order = client.placed(key, **body)
    with c.broker.switched({"production": True}, production=False):
        replayed(client.place(key, **body), order)
        expect(
            client.read(order["id"])["status"] == "open",
            "An open order reads otherwise while production is closed.",
        )


# --- Prices and the allocation --------------------------------------------------------------------------


@check("bullion.total", need=Need.DESK, orders=1)
def totals_are_rounded_half_up(c: Context) -> None:
    order = c.new_client().placed(trade_type="buy", quantity=Literal("0.0007"))
    worth = Decimal(BUY_PRICE) * Decimal("0.0007") / Decimal(QUOTED_WEIGHT)
    expected = f"{worth.quantize(Decimal('0.01'), ROUND_HALF_UP)}"
    expect(order["total"] == expected, f"{worth} rupees are shown as {order['total']}; expected {expected}.")


@check("bullion.tolerance", need=Need.DESK, orders=2)
def the_edge_of_the_tolerance(c: Context) -> None:
    """With a tolerance of 25 percent, the price of 71240 is just as far as may be from 56992."""
    client = c.new_client()
    with c.broker.switched({"price_tolerance_percent": "0.5"}, price_tolerance_percent="25"):
        client.placed(trade_type="buy", expected_price=56992)
        refused(client.place(trade_type="buy", expected_price=Literal("56991.99")), "price_moved")


@check("bullion.reducing-across", need=Need.DESK, orders=3)
def a_reduction_may_cross_zero(c: Context) -> None:
    client = c.new_client(allocation={"gold": "10", "silver": "0"})
    client.placed(trade_type="buy", quantity=10)
    c.broker.change(client.account, allocation={"gold": "2"})
    refused(client.place(trade_type="sell", quantity=20), "limit_exceeded")
    client.placed(trade_type="sell", quantity=19)


@check("bullion.status-detail", need=Need.PRODUCTION)
def the_house_has_its_own_names(c: Context) -> None:
    found = c.once(deals)
    for order in (found.open, found.closing, found.closed, found.deleted):
        expect(
            order["status_detail"].lower() != order["status"], f"`status_detail` copies {order['status']!r}."
        )


def whole_account(c: Context) -> Client:
    """An account whose orders are all the kit's, three of them."""
    client = c.new_client()
    for number in range(3):
        client.placed(trade_type="buy", quantity=number + 1, client_order_id=f"order-{number}")
    return client


@check("bullion.deal-label", need=Need.DESK)
def labels_count_from_one(c: Context) -> None:
    labels = [order["deal_label"] for order in c.once(whole_account).everything()]
    expect(
        labels == ["T-3", "T-2", "T-1"], f"Three test orders are labelled {', '.join(labels)}, newest first."
    )
