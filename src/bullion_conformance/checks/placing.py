"""POST /orders: its headers and its body's bounds."""

from collections.abc import Callable
from decimal import Decimal
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
    refused,
    rejected,
    value_of,
)
from bullion_conformance.context import Context
from bullion_conformance.samples import gold_buy, nothing_listed
from bullion_conformance.shapes import decimal
from bullion_conformance.verdict import expect

LONG_SYMBOL = "X" * 32
BAD_BODIES: tuple[dict[str, Any], ...] = (
    {"symbol_code": LEFT_OUT},
    {"symbol_code": "X" * 33},
    {"quantity": LEFT_OUT},
    {"quantity": 0},
    {"quantity": -1},
    {"quantity": Literal("1000000.0001")},
    {"quantity": Literal("1.00005")},
    {"expected_price": 0},
    {"client_order_id": "x" * 65},
)


def invalid(client: Client, **fields: Any) -> None:
    detail = refused(client.place(**fields), "invalid_request")
    expect(bool(detail.get("errors")), "invalid_request came without `detail.errors`.")


def not_invalid(client: Client, **fields: Any) -> None:
    """Taken, or refused by the market; but the body itself is in order."""
    answer = client.place(**fields)
    expect(
        answer.code != "invalid_request",
        f"{answer.call} answered {answer.reply} to a body within its bounds: {answer.sent}",
    )


# --- Headers --------------------------------------------------------------------------------------------


@check("orders.key.required", orders=1)
def an_order_needs_its_key(c: Context) -> None:
    client = c.test()
    refused(client.send(encoded(client.order_body())), "idempotency_key_required")


@check("orders.key.length", orders=3)
def a_key_has_up_to_64_characters(c: Context) -> None:
    client = c.test()
    body_of(client.place(uuid4().hex * 2), CREATED)
    body_of(client.place("-" if c.setup.broker else uuid4().hex), CREATED)
    rejected(client.send(encoded(client.order_body()), uuid4().hex * 2 + "x"))


@check("orders.content-type", orders=2)
def an_order_is_labelled_json(c: Context) -> None:
    client = c.test()
    content = encoded(client.order_body())
    for label in ("text/plain", ""):
        rejected(client.send(content, str(uuid4()), **{"Content-Type": label}))


# --- Fields ---------------------------------------------------------------------------------------------


def _required(name: str) -> Callable[[Context], None]:
    def is_required(c: Context) -> None:
        invalid(c.test(), **{name: LEFT_OUT})

    return is_required


for _name in ("symbol_code", "quantity"):
    check(f"orders.{_name}.required", orders=1)(_required(_name))


@check("orders.trade_type.required", orders=1)
def a_side_is_required(c: Context) -> None:
    rejected(c.test().place(trade_type=LEFT_OUT))


@check("orders.symbol_code.length", orders=2)
def a_symbol_has_up_to_32_characters(c: Context) -> None:
    client = c.test()
    not_invalid(client, symbol_code=LONG_SYMBOL)
    invalid(client, symbol_code=LONG_SYMBOL + "X")


@check("orders.trade_type.values", orders=2)
def a_side_is_buy_or_sell(c: Context) -> None:
    client = c.test()
    for side in ("hold", "purchase"):
        refused(client.place(trade_type=side), "invalid_side")


@check("orders.quantity.positive", orders=2)
def a_quantity_is_above_zero(c: Context) -> None:
    client = c.test()
    for quantity in (0, -1):
        invalid(client, quantity=quantity)


@check("orders.quantity.maximum", orders=2)
def a_quantity_is_a_million_at_most(c: Context) -> None:
    client = c.test()
    not_invalid(client, quantity=1_000_000, trade_type="sell", symbol_code=LONG_SYMBOL)
    invalid(client, quantity=Literal("1000000.0001"))


@check("orders.quantity.decimals", orders=2)
def a_quantity_has_four_decimals_at_most(c: Context) -> None:
    client = c.test()
    not_invalid(client, quantity=Literal("1.0005"), symbol_code=LONG_SYMBOL)
    invalid(client, quantity=Literal("1.00005"))


@check("orders.expected_price.positive", orders=2)
def an_expected_price_is_above_zero(c: Context) -> None:
    client = c.test()
    for price in (0, -1):
        invalid(client, expected_price=price)


@check("orders.expected_price.moved", orders=2)
def far_from_the_expected_price(c: Context) -> None:
    client = c.test()
    price = decimal(value_of(c.once(gold_buy).order, "price"), "price")
    before = client.listed()["total"]
    for factor in ("0.5", "2"):
        refused(client.place(expected_price=price * Decimal(factor)), "price_moved")
    after = client.listed()["total"]
    expect(after == before, f"price_moved was answered, but the account lists {after - before} more orders.")


@check("orders.client_order_id.length", orders=2)
def a_reference_has_up_to_64_characters(c: Context) -> None:
    client = c.test()
    reference = uuid4().hex * 2
    shown = value_of(client.placed(client_order_id=reference), "client_order_id")
    expect(shown == reference, f"A reference of 64 characters comes back as {shown!r}.")
    invalid(client, client_order_id=reference + "x")


@check("orders.same-bounds", need=Need.PRODUCTION, orders=len(BAD_BODIES) + 1)
def production_has_the_same_bounds(c: Context) -> None:
    client = c.new_client("production")
    for fields in BAD_BODIES:
        invalid(client, **fields)
    refused(client.send(encoded(client.order_body())), "idempotency_key_required")
    nothing_listed(client, "bodies that are invalid")
