"""The fields of an order, one by one, in both environments."""

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from bullion_conformance.check import Need, check
from bullion_conformance.client import value_of
from bullion_conformance.context import Context
from bullion_conformance.desk import BUY_PRICE, QUOTED_WEIGHT
from bullion_conformance.samples import deals, gold_buy, gold_sell, silver_buy, silver_sell
from bullion_conformance.shapes import SIDES, STATUSES, decimal, decimals, instant, one_of, text, uuid, whole
from bullion_conformance.verdict import CheckFailed, expect

Order = dict[str, Any]
CLOSE_FIELDS = ("close_price", "realized_pnl", "closed_at")


def _id(order: Order, _sent: Order) -> None:
    uuid(value_of(order, "id"), "id")


def _symbol(order: Order, sent: Order) -> None:
    _as_sent(order, sent, "symbol_code")


def _side(order: Order, sent: Order) -> None:
    one_of(value_of(order, "trade_type"), SIDES, "trade_type")
    _as_sent(order, sent, "trade_type")


def _quantity(order: Order, sent: Order) -> None:
    found = decimal(value_of(order, "quantity"), "quantity")
    expect(found == sent["quantity"], f"`quantity` is {found}; {sent['quantity']} was sent.")


def _price(order: Order, _sent: Order) -> None:
    price = value_of(order, "price")
    if price is not None:
        decimal(price, "price")
        expect(decimals(price) == 2, f"`price` is {price!r}; expected two decimals.")


def _total(order: Order, _sent: Order) -> None:
    total = value_of(order, "total")
    if total is not None:
        decimal(total, "total")


def _reference(order: Order, sent: Order) -> None:
    found = value_of(order, "client_order_id")
    expected = sent.get("client_order_id")
    expect(found == expected, f"`client_order_id` is {found!r}; {expected!r} was sent.")


def _created(order: Order, _sent: Order) -> None:
    created = value_of(order, "created_at")
    if created is not None:
        instant(created, "created_at")


def _as_sent(order: Order, sent: Order, name: str) -> None:
    found = text(value_of(order, name), name)
    expect(found == sent[name], f"`{name}` is {found!r}; {sent[name]!r} was sent.")


BOTH: dict[str, Callable[[Order, Order], None]] = {
    "id": _id,
    "symbol_code": _symbol,
    "trade_type": _side,
    "quantity": _quantity,
    "price": _price,
    "total": _total,
    "client_order_id": _reference,
    "created_at": _created,
}


def _of_test(look: Callable[[Order, Order], None]) -> Callable[[Context], None]:
    def a_field_of_test_orders(c: Context) -> None:
        for found in (c.once(gold_buy), c.once(gold_sell), c.once(silver_buy), c.once(silver_sell)):
            look(found.order, found.sent)

    return a_field_of_test_orders


def _of_production(look: Callable[[Order, Order], None]) -> Callable[[Context], None]:
    def a_field_of_production_orders(c: Context) -> None:
        found = c.once(deals)
        look(found.open, found.sent)

    return a_field_of_production_orders


for _name, _look in BOTH.items():
    check(f"order.{_name}")(_of_test(_look))
    check(f"production-order.{_name}", need=Need.PRODUCTION)(_of_production(_look))


@check("order.environment", "test-order.environment")
def test_orders_say_test(c: Context) -> None:
    found = value_of(c.once(gold_buy).order, "environment")
    expect(found == "test", f"`environment` of a test order is {found!r}; expected 'test'.")


@check("order.status", "test-order.status")
def test_orders_are_filled(c: Context) -> None:
    sample = c.once(gold_buy)
    for order in (sample.order, sample.client.read(sample.order["id"]), *sample.client.everything()):
        found = value_of(order, "status")
        expect(found == "filled", f"`status` of a test order is {found!r}; expected 'filled'.")


@check("order.client_order_id.none")
def no_reference_is_null(c: Context) -> None:
    found = value_of(c.once(gold_sell).order, "client_order_id")
    expect(found is None, f"`client_order_id` is {found!r} although none was sent; expected null.")


@check("order.price.quoted", need=Need.DESK)
def the_price_is_for_the_quoted_weight(c: Context) -> None:
    price = decimal(value_of(c.once(gold_buy).order, "price"), "price")
    expect(
        price == Decimal(BUY_PRICE),
        f"The desk asks {BUY_PRICE} rupees for {QUOTED_WEIGHT} g; the order's `price` is {price}.",
    )


@check("order.total.value", need=Need.DESK)
def the_total_is_the_orders_value(c: Context) -> None:
    found = c.once(gold_buy)
    price = decimal(value_of(found.order, "price"), "price")
    worth = (price * found.sent["quantity"] / Decimal(QUOTED_WEIGHT)).quantize(Decimal("0.01"), ROUND_HALF_UP)
    total = decimal(value_of(found.order, "total"), "total")
    expect(
        abs(total - worth) <= Decimal("0.01"),
        f"{found.sent['quantity']} g at {price} for {QUOTED_WEIGHT} g come to {worth}; `total` is {total}.",
    )


@check("test-order.deal_label")
def test_orders_have_a_label(c: Context) -> None:
    found = text(value_of(c.once(gold_buy).order, "deal_label"), "deal_label")
    expect(bool(re.fullmatch(r"T-[0-9]+", found)), f"`deal_label` is {found!r}; expected T- and a number.")


@check("test-order.no-deal-number")
def test_orders_have_no_deal_number(c: Context) -> None:
    found = c.once(gold_buy).order.get("deal_no")
    expect(found is None, f"A test order has `deal_no` {found!r}; expected none.")


# --- Production -----------------------------------------------------------------------------------------


@check("production-order.required", need=Need.PRODUCTION)
def what_a_production_order_must_have(c: Context) -> None:
    found = c.once(deals)
    for order in (found.open, found.closing, found.closed, found.deleted, found.web):
        for name in ("id", "symbol_code", "trade_type", "quantity", "unit", "status", "status_detail"):
            expect(value_of(order, name) is not None, f"`{name}` of a production order is null.")


@check("production-order.environment", need=Need.PRODUCTION)
def production_orders_say_production(c: Context) -> None:
    found = c.once(deals).open.get("environment", "production")
    expect(found == "production", f"`environment` of a production order is {found!r}.")


@check("production-order.unit", need=Need.PRODUCTION, orders=1)
def units_in_production(c: Context) -> None:
    silver = c.new_client("production").placed(symbol_code=c.silver.code, quantity=c.silver.quantity)
    for order, unit in ((c.once(deals).open, "g"), (silver, "kg")):
        expect(value_of(order, "unit") == unit, f"`unit` is {order['unit']!r}; expected {unit!r}.")


@check("production-order.status", need=Need.PRODUCTION)
def statuses_in_production(c: Context) -> None:
    found = c.once(deals)
    for order, status in (
        (found.open, "open"),
        (found.closing, "closing"),
        (found.closed, "closed"),
        (found.deleted, "deleted"),
    ):
        one_of(value_of(order, "status"), STATUSES, "status")
        expect(order["status"] == status, f"`status` is {order['status']!r}; expected {status!r}.")


@check("production-order.deal_no", need=Need.PRODUCTION)
def deal_numbers_are_whole(c: Context) -> None:
    found = value_of(c.once(deals).open, "deal_no")
    if found is not None:
        whole(found, "deal_no")


@check("production-order.status_detail", need=Need.PRODUCTION)
def every_state_has_its_detail(c: Context) -> None:
    found = c.once(deals)
    refused = found.rejection.detail.get("order")
    if not isinstance(refused, dict):
        raise CheckFailed("The refusal of the hedge has no `detail.order`.")
    for order in (found.open, found.closing, found.closed, found.deleted, found.web, refused):
        expect(bool(text(value_of(order, "status_detail"), "status_detail")), "`status_detail` is empty.")


@check("production-order.source.api", need=Need.PRODUCTION)
def our_orders_come_from_the_api(c: Context) -> None:
    found = value_of(c.once(deals).open, "source")
    expect(found == "api", f"`source` of an order placed through the API is {found!r}; expected 'api'.")


@check("production-order.source.other", need=Need.PRODUCTION)
def other_orders_name_their_channel(c: Context) -> None:
    found = value_of(c.once(deals).web, "source")
    expect(found == "web", f"`source` of an order from the web is {found!r}; expected 'web'.")


@check("production-order.close-nulls", need=Need.PRODUCTION)
def not_closed_has_no_close_fields(c: Context) -> None:
    found = c.once(deals)
    for order in (found.open, found.closing, found.was_closing, found.web):
        for name in CLOSE_FIELDS:
            expect(
                order.get(name) is None,
                f"`{name}` of an order that is {order['status']} is {order.get(name)!r}.",
            )
