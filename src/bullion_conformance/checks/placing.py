"""POST /orders: its headers and the bounds of its body."""

import gzip
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import uuid4

from bullion_conformance.check import Need, check
from bullion_conformance.client import (
    CREATED,
    LEFT_OUT,
    Client,
    Literal,
    body_of,
    encoded,
    error_places,
    invalid,
    refused,
    rejected,
)
from bullion_conformance.context import Context
from bullion_conformance.samples import gold_buy, nothing_listed
from bullion_conformance.shapes import decimal_of, value_of
from bullion_conformance.verdict import expect, expect_equal

LONG_SYMBOL = "X" * 32
NAN = Literal("NaN")
INVALID: dict[str, tuple[dict[str, Any], ...]] = {
    "orders.symbol_code.required": ({"symbol_code": LEFT_OUT},),
    "orders.quantity.required": ({"quantity": LEFT_OUT},),
    "orders.quantity.positive": ({"quantity": 0}, {"quantity": -1}),
    "orders.expected_price.positive": ({"expected_price": 0}, {"expected_price": -1}),
    "bullion.number-strings": tuple({"quantity": value} for value in ("1", True, None, NAN)),
}
"""Bodies that are 422 invalid_request, by requirement."""
ON_BOTH_PATHS: tuple[dict[str, Any], ...] = (
    {"symbol_code": LEFT_OUT},
    {"symbol_code": LONG_SYMBOL + "X"},
    {"quantity": LEFT_OUT},
    {"quantity": 0},
    {"quantity": -1},
    {"quantity": Literal("1000000.0001")},
    {"quantity": Literal("1.00005")},
    {"expected_price": 0},
    {"client_order_id": "x" * 65},
)


def _are_invalid(bodies: tuple[dict[str, Any], ...], c: Context) -> None:
    client = c.test()
    for fields in bodies:
        invalid(client.place(**fields))


for _id, _bodies in INVALID.items():
    check(_id, orders=len(_bodies))(partial(_are_invalid, _bodies))


def _not_invalid(client: Client, **fields: Any) -> None:
    """Accepted, or refused by the market; but the body itself is valid."""
    answer = client.place(**fields)
    message = f"{answer.call} answered {answer.reply} to a body within its bounds: {answer.sent}"
    expect(answer.code != "invalid_request", message)


# --- Headers --------------------------------------------------------------------------------------------


@check("orders.key.length", orders=3)
def a_key_has_up_to_64_characters(c: Context) -> None:
    client = c.test()
    body_of(client.place(uuid4().hex * 2), CREATED)
    body_of(client.place("-" if c.setup.broker else uuid4().hex), CREATED)
    rejected(client.send(encoded(client.order_body()), uuid4().hex * 2 + "x"))


@check("bullion.blank-key", orders=3)
def an_empty_key_is_missing(c: Context) -> None:
    client = c.test()
    content = encoded(client.order_body())
    refused(client.send(content, ""), "idempotency_key_required")
    found = error_places(client.send(content, "x" * 65))
    expect_equal(found, [["header", "Idempotency-Key"]], "The place of the problem with a long key")


@check("orders.content-type", orders=2)
def an_order_has_content_type_json(c: Context) -> None:
    client = c.test()
    for label in ("text/plain", ""):
        rejected(client.send(encoded(client.order_body()), str(uuid4()), **{"Content-Type": label}))


@check("bullion.content-type", orders=3)
def another_content_type_is_invalid(c: Context) -> None:
    client = c.test()
    for label in ("text/plain", "application/json; charset=latin-1", ""):
        content = encoded(client.order_body())
        refused(client.send(content, str(uuid4()), **{"Content-Type": label}), "invalid_request")


# --- The body -------------------------------------------------------------------------------------------


@check("conventions.json.requests", orders=2)
def a_body_that_is_not_json_is_refused(c: Context) -> None:
    for content in (b"symbol_code=GOLD&trade_type=buy&quantity=1", b'{"symbol_code": "GOLD",'):
        rejected(c.test().send(content, str(uuid4())))


@check("bullion.not-utf8", orders=3)
def a_body_is_json_in_utf8(c: Context) -> None:
    client = c.test()
    for content in (b"\xff\xfe{}", b"", b"[" * 5000):
        refused(client.send(content, str(uuid4())), "invalid_request")


@check("bullion.body-size", orders=1)
def a_body_has_up_to_64_kib(c: Context) -> None:
    client = c.test()
    answer = client.send(encoded(client.order_body()).ljust(65 * 1024), str(uuid4()))
    expect_equal((answer.status, answer.code), (413, "request_too_large"), "The response to 65 KiB")


@check("bullion.compressed", orders=1)
def a_body_is_not_compressed(c: Context) -> None:
    client = c.test()
    content = gzip.compress(encoded(client.order_body()))
    answer = client.send(content, str(uuid4()), **{"Content-Encoding": "gzip"})
    expect_equal((answer.status, answer.code), (415, "unsupported_encoding"), "The response to a gzip body")


@check("bullion.unknown-field", orders=1)
def an_unknown_field_is_named(c: Context) -> None:
    found = error_places(c.test().place(expectedprice=1))
    expect_equal(found, [["body", "expectedprice"]], "The place of the unknown field")


@check("bullion.duplicate-field", orders=1)
def a_field_appears_once(c: Context) -> None:
    content = b'{"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1, "quantity": 2}'
    refused(c.test().send(content, str(uuid4())), "invalid_request")


@check("bullion.errors", orders=1)
def all_problems_are_listed_at_once(c: Context) -> None:
    answer = c.test().place(quantity=0, symbol_code="", client_order_id="x" * 65)
    expected = [["body", name] for name in ("client_order_id", "quantity", "symbol_code")]
    expect_equal(sorted(error_places(answer)), expected, "The list of the three wrong fields")
    for problem in answer.detail["errors"]:
        expect(problem.keys() == {"loc", "msg", "type"}, f"A problem has the fields {', '.join(problem)}.")


@check("orders.trade_type.required", orders=1)
def a_side_is_required(c: Context) -> None:
    rejected(c.test().place(trade_type=LEFT_OUT))


@check("orders.trade_type.values", orders=2)
def a_side_is_buy_or_sell(c: Context) -> None:
    client = c.test()
    for side in ("hold", "purchase"):
        refused(client.place(trade_type=side), "invalid_side")


@check("bullion.side-case", orders=3)
def a_side_is_lower_case(c: Context) -> None:
    client = c.test()
    for side in ("BUY", "buy "):
        refused(client.place(trade_type=side), "invalid_side")
    refused(client.place(trade_type=1), "invalid_request")


@check("orders.symbol_code.length", orders=2)
def a_symbol_has_up_to_32_characters(c: Context) -> None:
    client = c.test()
    _not_invalid(client, symbol_code=LONG_SYMBOL)
    invalid(client.place(symbol_code=LONG_SYMBOL + "X"))


@check("orders.quantity.maximum", orders=2)
def a_quantity_is_a_million_at_most(c: Context) -> None:
    client = c.test()
    _not_invalid(client, quantity=1_000_000, trade_type="sell", symbol_code=LONG_SYMBOL)
    invalid(client.place(quantity=Literal("1000000.0001")))


@check("orders.quantity.decimals", orders=2)
def a_quantity_has_four_decimals_at_most(c: Context) -> None:
    client = c.test()
    _not_invalid(client, quantity=Literal("1.0005"), symbol_code=LONG_SYMBOL)
    invalid(client.place(quantity=Literal("1.00005")))


@check("bullion.exact-numbers", need=Need.DESK, orders=4)
def quantities_are_read_exactly(c: Context) -> None:
    client = c.new_client()
    for number in ("1e2", "100.00000", "0.0001"):
        found = Decimal(client.placed(quantity=Literal(number))["quantity"])
        expect_equal(found, Decimal(number), f"`quantity` of an order of {number}")
    refused(client.place(quantity=Literal("1.00000000000000000001")), "invalid_request")


@check("conventions.numbers-in", "orders.expected_price.optional", orders=1)
def numbers_are_sent_as_numbers(c: Context) -> None:
    found = c.once(gold_buy)
    price, quantity = decimal_of(found.order, "price"), Literal(f"{c.gold.quantity:f}")
    order = found.client.placed(trade_type="buy", quantity=quantity, expected_price=price)
    expect_equal(decimal_of(order, "quantity"), c.gold.quantity, "`quantity`")


@check("orders.expected_price.moved", orders=2)
def far_from_the_expected_price(c: Context) -> None:
    client = c.test()
    price = decimal_of(c.once(gold_buy).order, "price")
    before = client.listed()["total"]
    for factor in ("0.5", "2"):
        refused(client.place(expected_price=price * Decimal(factor)), "price_moved")
    expect_equal(client.listed()["total"], before, "After price_moved, the number of orders")


@check("bullion.tolerance", need=Need.DESK, orders=2)
def the_edge_of_the_tolerance(c: Context) -> None:
    """With a tolerance of 25 percent, a price of 71240 is exactly at the edge of an expected 56992."""
    client = c.new_client()
    with c.broker.switched({"price_tolerance_percent": "0.5"}, price_tolerance_percent="25"):
        client.placed(trade_type="buy", expected_price=56992)
        refused(client.place(trade_type="buy", expected_price=Literal("56991.99")), "price_moved")


@check("orders.client_order_id.length", orders=2)
def a_reference_has_up_to_64_characters(c: Context) -> None:
    client, reference = c.test(), uuid4().hex * 2
    shown = value_of(client.placed(client_order_id=reference), "client_order_id")
    expect_equal(shown, reference, "`client_order_id`")
    invalid(client.place(client_order_id=reference + "x"))


@check("orders.same-bounds", need=Need.PRODUCTION, orders=len(ON_BOTH_PATHS) + 1)
def production_has_the_same_bounds(c: Context) -> None:
    client = c.new_client("production")
    for fields in ON_BOTH_PATHS:
        invalid(client.place(**fields))
    refused(client.send(encoded(client.order_body())), "idempotency_key_required")
    nothing_listed(client, "bodies that are invalid")
