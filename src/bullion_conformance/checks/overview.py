"""What the service does, and the conventions that one call can show."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

from bullion_conformance.check import Need, check
from bullion_conformance.client import JSON, OK, Literal, body_of, refused, rejected, value_of
from bullion_conformance.connection import PRODUCTION_PATH, TEST_PATH
from bullion_conformance.context import Context
from bullion_conformance.samples import gold_buy, gold_sell, nothing_listed, silver_buy, silver_sell
from bullion_conformance.shapes import decimal, instant
from bullion_conformance.verdict import expect

READS = ("/me", "/orders", "/orders/00000000-0000-4000-8000-000000000000", "/positions")


@check("overview.place-and-read", "read.answers")
def an_order_is_read_back(c: Context) -> None:
    found = c.once(gold_buy)
    again = found.client.read(value_of(found.order, "id"))
    for name in ("id", "symbol_code", "trade_type", "quantity", "status"):
        expect(
            again.get(name) == found.order.get(name),
            f"The order was placed with {name} {found.order.get(name)!r} and reads {again.get(name)!r}.",
        )


@check("overview.test.base-path", "endpoints.test", "versioning.path")
def the_test_path_is_there(c: Context) -> None:
    client = c.test()
    for path in ("/me", "/orders", "/positions"):
        body_of(client.call("GET", path), OK)
    refused(client.call("GET", READS[2]), "order_not_found")


@check("overview.production.base-path", "endpoints.production", need=Need.LIVE_KEY)
def the_production_path_is_there(c: Context) -> None:
    client = c.live()
    for path in ("/me", "/orders", "/positions"):
        body_of(client.call("GET", path), OK)
    refused(client.call("GET", READS[2]), "order_not_found")


@check("overview.test.simulated", need=Need.DESK, orders=1)
def a_test_order_leaves_no_trace(c: Context) -> None:
    client = c.new_client()
    order = client.placed()
    live = c.new_client("production", client.account)
    nothing_listed(live, "a test order")
    refused(live.order(order["id"]), "order_not_found")


@check("overview.test.on-request", need=Need.DESK)
def the_desk_opens_the_api(c: Context) -> None:
    client = c.new_client(api_access=False)
    refused(client.me(), "api_access_disabled")
    c.broker.change(client.account, api_access=True)
    body_of(client.me(), OK)


@check("overview.production.closed", need=Need.DESK, orders=1)
def closed_production_takes_no_order(c: Context) -> None:
    client = c.new_client("production")
    with c.broker.switched({"production": True}, production=False):
        refused(client.place(), "production_trading_disabled")
    nothing_listed(client, "a refusal")


@check("overview.production.per-account", need=Need.PRODUCTION, orders=3)
def production_is_opened_for_one_account(c: Context) -> None:
    client = c.new_client("production", production_trading=False)
    refused(client.place(), "production_trading_disabled")
    c.new_client("production").placed()
    c.broker.change(client.account, production_trading=True)
    client.placed()


@check("overview.no-closing")
def nothing_closes_an_order(c: Context) -> None:
    found = c.once(gold_buy)
    order_id = found.order["id"]
    for method, path in (
        ("DELETE", f"/orders/{order_id}"),
        ("POST", f"/orders/{order_id}/cancel"),
        ("POST", f"/orders/{order_id}/close"),
    ):
        answer = found.client.call(method, path)
        expect(
            400 <= answer.status < 500, f"{answer.call} answered {answer.reply}; no such call is expected."
        )
    status = found.client.read(order_id)["status"]
    expect(status == "filled", f"After these calls the order reads {status}; expected filled.")


@check("overview.key-needed.test", need=Need.NOTHING, refusals=5)
def no_test_call_without_a_key(c: Context) -> None:
    _all_401(c, TEST_PATH)


@check("overview.key-needed.production", need=Need.NOTHING, refusals=5)
def no_production_call_without_a_key(c: Context) -> None:
    _all_401(c, PRODUCTION_PATH)


def _all_401(c: Context, base: str) -> None:
    calls = [("GET", path, None) for path in READS] + [("POST", "/orders", b"{}")]
    for method, path, content in calls:
        headers = JSON | {"Idempotency-Key": str(uuid4())} if content else {}
        answer = c.connection.send(method, f"{base}{path}", headers=headers, content=content)
        expect(answer.status == 401, f"{answer.call} without a key answered {answer.reply}; expected 401.")


@check("overview.allocation", "positions.limit", need=Need.DESK)
def the_operator_sets_the_allocation(c: Context) -> None:
    client = c.new_client(allocation={"gold": "7", "silver": "3.5"})
    for gold in ("7", "9"):
        c.broker.change(client.account, allocation={"gold": gold})
        for metal, limit in (("gold", gold), ("silver", "3.5")):
            found = decimal(value_of(client.position(metal), "limit"), "limit")
            expect(found == Decimal(limit), f"The limit of {metal} reads {found}; the desk set {limit}.")


@check("overview.units", "order.unit")
def gold_in_grams_silver_in_kilograms(c: Context) -> None:
    for found, unit in ((c.once(gold_buy), "g"), (c.once(silver_buy), "kg")):
        shown = value_of(found.order, "unit")
        expect(
            shown == unit, f"An order for {found.sent['symbol_code']} has unit {shown!r}; expected {unit!r}."
        )
    c.once(gold_sell)
    c.once(silver_sell)


# --- Conventions ----------------------------------------------------------------------------------------


@check("conventions.json.requests", orders=2)
def a_body_that_is_not_json_is_refused(c: Context) -> None:
    client = c.test()
    for content in (b"symbol_code=GOLD&trade_type=buy&quantity=1", b'{"symbol_code": "GOLD",'):
        rejected(client.send(content, str(uuid4())))


@check("conventions.numbers-in", "orders.expected_price.optional", orders=1)
def numbers_are_sent_as_numbers(c: Context) -> None:
    found = c.once(gold_buy)
    price = decimal(value_of(found.order, "price"), "price")
    order = found.client.placed(
        trade_type="buy", quantity=Literal(f"{c.gold.quantity:f}"), expected_price=price
    )
    expect(
        decimal(order["quantity"], "quantity") == c.gold.quantity,
        "The order has another quantity than was sent.",
    )


@check("conventions.weights", orders=1)
def a_quantity_is_a_weight(c: Context) -> None:
    client = c.test()
    before = decimal(value_of(client.position("gold"), "net"), "net")
    order = client.placed()
    sent = c.gold.quantity if order["trade_type"] == "buy" else -c.gold.quantity
    moved = decimal(value_of(client.position("gold"), "net"), "net") - before
    expect(moved == sent, f"An order of {sent} {order.get('unit')} moved the position by {moved}.")


@check("conventions.since-utc")
def since_without_a_zone_is_utc(c: Context) -> None:
    found = c.once(gold_buy)
    made = instant(value_of(found.order, "created_at"), "created_at")
    for shift, there in ((timedelta(seconds=-1), True), (timedelta(seconds=1), False)):
        since = (made + shift).replace(tzinfo=None).isoformat()
        listed = {order["id"] for order in found.client.everything(since=since)}
        expect(
            (found.order["id"] in listed) == there,
            f"With since={since} the order made at {made.isoformat()} is {'not ' if there else ''}listed; "
            f"expected it {'' if there else 'not '}to be.",
        )
