"""The fields of an order, one by one, in both environments."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from bullion_conformance.check import Need, check
from bullion_conformance.client import Literal
from bullion_conformance.context import Context
from bullion_conformance.desk import BUY_PRICE, QUOTED_WEIGHT
from bullion_conformance.samples import (
    deals,
    gold_buy,
    gold_sell,
    silver_buy,
    silver_sell,
    whole_account,
)
from bullion_conformance.shapes import (
    SIDES,
    STATUSES,
    decimal,
    decimal_of,
    decimals,
    in_paise,
    instant,
    one_of,
    text_of,
    uuid,
    value_of,
    whole,
)
from bullion_conformance.verdict import CheckFailed, expect, expect_equal

Order = dict[str, Any]
Look = Callable[[Any, Order], object]


def _side(value: Any, sent: Order) -> None:
    one_of(value, SIDES, "trade_type")
    expect_equal(value, sent["trade_type"], "`trade_type`")


def _price(value: Any, _sent: Order) -> None:
    if value is not None:
        decimal(value, "price")
        expect(decimals(value) == 2, f"`price` is {value!r}; expected two decimals.")


IN_BOTH: dict[str, Look] = {
    "id": lambda value, _: uuid(value, "id"),
    "symbol_code": lambda value, sent: expect_equal(value, sent["symbol_code"], "`symbol_code`"),
    "trade_type": _side,
    "quantity": lambda value, sent: expect_equal(
        decimal(value, "quantity"), Decimal(sent["quantity"]), "`quantity`"
    ),
    "price": _price,
    "total": lambda value, _: value is None or decimal(value, "total"),
    "client_order_id": lambda value, sent: expect_equal(
        value, sent.get("client_order_id"), "`client_order_id`"
    ),
    "created_at": lambda value, _: value is None or instant(value, "created_at"),
}
"""Looks at the value of a field, given the body that was sent."""


def _check_field(name: str, look: Look) -> None:
    @check(f"order.{name}")
    def of_test_orders(c: Context) -> None:
        for make in (gold_buy, gold_sell, silver_buy, silver_sell):
            look(value_of(c.once(make).order, name), c.once(make).sent)

    check(f"production-order.{name}", need=Need.PRODUCTION)(
        lambda c: look(value_of(c.once(deals).open, name), c.once(deals).sent)
    )


for _name, _look in IN_BOTH.items():
    _check_field(_name, _look)


@check("order.environment", "test-order.environment")
def environment_of_test_orders(c: Context) -> None:
    found = value_of(c.once(gold_buy).order, "environment")
    expect_equal(found, "test", "`environment` of a test order")


@check("order.status", "test-order.status")
def test_orders_are_filled(c: Context) -> None:
    sample = c.once(gold_buy)
    for order in (sample.order, sample.client.read(sample.order["id"]), *sample.client.everything()):
        expect_equal(value_of(order, "status"), "filled", "`status` of a test order")


@check("overview.units", "order.unit")
def units_in_test(c: Context) -> None:
    for found, unit in ((c.once(gold_buy), "g"), (c.once(silver_buy), "kg")):
        expect_equal(value_of(found.order, "unit"), unit, f"`unit` of {found.sent['symbol_code']}")
    c.once(gold_sell)
    c.once(silver_sell)


@check("order.client_order_id.none")
def no_reference_is_null(c: Context) -> None:
    found = value_of(c.once(gold_sell).order, "client_order_id")
    expect_equal(found, None, "`client_order_id` of an order without one")


@check("order.price.quoted", need=Need.DESK)
def price_is_for_the_quoted_weight(c: Context) -> None:
    found = decimal_of(c.once(gold_buy).order, "price")
    expect_equal(found, Decimal(BUY_PRICE), f"`price` for {QUOTED_WEIGHT} g")


@check("order.total.value", need=Need.DESK)
def total_is_the_value_of_the_order(c: Context) -> None:
    found = c.once(gold_buy)
    price, total = decimal_of(found.order, "price"), decimal_of(found.order, "total")
    worth = in_paise(price * found.sent["quantity"] / Decimal(QUOTED_WEIGHT))
    expect(abs(total - worth) <= Decimal("0.01"), f"`total` is {total}; the order is worth {worth}.")


@check("bullion.total", need=Need.DESK, orders=1)
def total_is_rounded_half_up(c: Context) -> None:
    order = c.new_client().placed(trade_type="buy", quantity=Literal("0.0007"))
    worth = Decimal(BUY_PRICE) * Decimal("0.0007") / Decimal(QUOTED_WEIGHT)
    expect_equal(order["total"], f"{in_paise(worth)}", f"`total` of {worth}")


@check("test-order.deal_label")
def test_orders_have_a_label(c: Context) -> None:
    found = text_of(c.once(gold_buy).order, "deal_label")
    expect(bool(re.fullmatch(r"T-[0-9]+", found)), f"`deal_label` is {found!r}; expected T- and a number.")


@check("bullion.deal-label", need=Need.DESK)
def labels_count_from_one(c: Context) -> None:
    labels = [order["deal_label"] for order in c.once(whole_account).everything()]
    expect_equal(labels, ["T-3", "T-2", "T-1"], "The list of labels, newest first,")


@check("test-order.no-deal-number")
def test_orders_have_no_deal_number(c: Context) -> None:
    expect_equal(c.once(gold_buy).order.get("deal_no"), None, "`deal_no` of a test order")


# --- Production -----------------------------------------------------------------------------------------


@check("production-order.required", need=Need.PRODUCTION)
def required_fields_are_not_null(c: Context) -> None:
    found = c.once(deals)
    for order in (found.open, found.closing, found.closed, found.deleted, found.web):
        for name in ("id", "symbol_code", "trade_type", "quantity", "unit", "status", "status_detail"):
            expect(value_of(order, name) is not None, f"`{name}` of a production order is null.")


@check("production-order.environment", need=Need.PRODUCTION)
def environment_of_production_orders(c: Context) -> None:
    found = c.once(deals).open.get("environment", "production")
    expect_equal(found, "production", "`environment` of a production order")


@check("production-order.unit", need=Need.PRODUCTION, orders=1)
def units_in_production(c: Context) -> None:
    silver = c.new_client("production").placed(symbol_code=c.silver.code, quantity=c.silver.quantity)
    for order, unit in ((c.once(deals).open, "g"), (silver, "kg")):
        expect_equal(value_of(order, "unit"), unit, "`unit`")


@check("production-order.status", need=Need.PRODUCTION)
def statuses_in_production(c: Context) -> None:
    for status in ("open", "closing", "closed", "deleted"):
        found = value_of(getattr(c.once(deals), status), "status")
        one_of(found, STATUSES, "status")
        expect_equal(found, status, "`status`")


@check("production-order.deal_no", need=Need.PRODUCTION)
def deal_numbers_are_whole(c: Context) -> None:
    found = value_of(c.once(deals).open, "deal_no")
    if found is not None:
        whole(found, "deal_no")


@check("production-order.deal_no.own", need=Need.PRODUCTION)
def deal_numbers_are_not_shared(c: Context) -> None:
    found = c.once(deals)
    orders = (found.open, found.closing, found.closed, found.lost, found.deleted, found.web)
    numbers = [order["deal_no"] for order in orders if order.get("deal_no") is not None]
    expect(len(set(numbers)) == len(numbers), f"`deal_no` of {len(numbers)} orders is {numbers}.")


@check("production-order.status_detail", need=Need.PRODUCTION)
def every_state_has_its_detail(c: Context) -> None:
    found = c.once(deals)
    refused = found.rejection.detail.get("order")
    if not isinstance(refused, dict):
        raise CheckFailed("order_rejected came without `detail.order`.")
    for order in (found.open, found.closing, found.closed, found.deleted, found.web, refused):
        expect(bool(text_of(order, "status_detail")), "`status_detail` is empty.")


@check("bullion.status-detail", need=Need.PRODUCTION)
def details_are_not_copies(c: Context) -> None:
    found = c.once(deals)
    for order in (found.open, found.closing, found.closed, found.deleted):
        copied = order["status_detail"].lower() == order["status"]
        expect(not copied, f"`status_detail` copies {order['status']!r}.")


@check("production-order.source.api", need=Need.PRODUCTION)
def source_of_an_order_through_the_api(c: Context) -> None:
    expect_equal(value_of(c.once(deals).open, "source"), "api", "`source` of an order through the API")


@check("production-order.source.other", need=Need.PRODUCTION)
def source_of_an_order_from_the_web(c: Context) -> None:
    expect_equal(value_of(c.once(deals).web, "source"), "web", "`source` of an order from the web")


@check("production-order.close-nulls", need=Need.PRODUCTION)
def closing_fields_are_null_until_closed(c: Context) -> None:
    found = c.once(deals)
    for order in (found.open, found.closing, found.was_closing, found.web):
        for name in ("close_price", "realized_pnl", "closed_at"):
            expect_equal(order.get(name), None, f"`{name}` of an order that is {order['status']}")
