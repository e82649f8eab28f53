"""The service as a whole: base paths, environments, paths, methods, and the calls that Bullion adds."""

from decimal import Decimal
from typing import Any
from uuid import uuid4

from bullion_conformance.check import Need, check
from bullion_conformance.client import JSON, OK, Client, body_of, refused
from bullion_conformance.connection import PRODUCTION_PATH, TEST_PATH
from bullion_conformance.context import Context
from bullion_conformance.samples import gold_buy, nothing_listed
from bullion_conformance.shapes import decimal_of, instant, value_of, values_of
from bullion_conformance.verdict import expect, expect_equal

NO_ORDER = "/orders/00000000-0000-4000-8000-000000000000"
READS = ("/me", "/orders", "/positions")


@check("overview.place-and-read", "read.answers")
def an_order_is_read_back(c: Context) -> None:
    found = c.once(gold_buy)
    again = found.client.read(value_of(found.order, "id"))
    for name in ("id", "symbol_code", "trade_type", "quantity", "status"):
        expect_equal(again.get(name), found.order.get(name), f"`{name}` of the order that was read")


def _all_reads_exist(client: Client) -> None:
    for path in READS:
        body_of(client.call("GET", path), OK)
    refused(client.call("GET", NO_ORDER), "order_not_found")


check("overview.test.base-path", "endpoints.test", "versioning.path")(lambda c: _all_reads_exist(c.test()))
check("overview.production.base-path", "endpoints.production", need=Need.LIVE_KEY)(
    lambda c: _all_reads_exist(c.live())
)


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


@check("overview.production.per-account", need=Need.PRODUCTION, orders=3)
def production_is_opened_for_one_account(c: Context) -> None:
    client = c.new_client("production", production_trading=False)
    refused(client.place(), "production_trading_disabled")
    c.new_client("production").placed()
    c.broker.change(client.account, production_trading=True)
    client.placed()


@check("bullion.reads-while-closed", need=Need.DESK)
def production_is_read_while_closed(c: Context) -> None:
    client = c.new_client("production", production_trading=False)
    for answer in (client.me(), client.orders(), client.positions()):
        body_of(answer, OK)


@check("overview.no-closing")
def nothing_closes_an_order(c: Context) -> None:
    found = c.once(gold_buy)
    path = f"/orders/{found.order['id']}"
    for method, target in (("DELETE", path), ("POST", f"{path}/cancel"), ("POST", f"{path}/close")):
        answer = found.client.call(method, target)
        expect(400 <= answer.status < 500, f"{answer.call} answered {answer.reply}; expected a 4xx.")
    status = found.client.read(found.order["id"])["status"]
    expect_equal(status, "filled", "After these calls, `status`")


def _all_401(c: Context, base: str) -> None:
    calls = [("GET", path, None) for path in (*READS, NO_ORDER)] + [("POST", "/orders", b"{}")]
    for method, path, content in calls:
        headers = JSON | {"Idempotency-Key": str(uuid4())} if content else {}
        answer = c.connection.send(method, f"{base}{path}", headers=headers, content=content)
        expect(answer.status == 401, f"{answer.call} without a key answered {answer.reply}; expected 401.")


check("overview.key-needed.test", need=Need.NOTHING, refusals=5)(lambda c: _all_401(c, TEST_PATH))
check("overview.key-needed.production", need=Need.NOTHING, refusals=5)(lambda c: _all_401(c, PRODUCTION_PATH))


@check("conventions.weights", orders=1)
def a_quantity_is_a_weight(c: Context) -> None:
    client = c.test()
    before = decimal_of(client.position("gold"), "net")
    order = client.placed()
    sent = c.gold.quantity if order["trade_type"] == "buy" else -c.gold.quantity
    moved = decimal_of(client.position("gold"), "net") - before
    expect(moved == sent, f"An order of {sent} {order.get('unit')} moved the position by {moved}.")


# --- Paths and methods ----------------------------------------------------------------------------------


@check("bullion.paths")
def unknown_paths(c: Context) -> None:
    for path in ("/orders/", "/nothing", "/me/"):
        answer = c.test().call("GET", path)
        expected = (404, {"detail": "Not Found"})
        expect_equal((answer.status, answer.body), expected, f"The response to {answer.call}")


@check("bullion.methods")
def wrong_methods(c: Context) -> None:
    calls = (("DELETE", "/orders"), ("POST", "/positions"), ("HEAD", "/me"), ("OPTIONS", "/orders"))
    for method, path in calls:
        answer = c.test().call(method, path)
        code = None if method == "HEAD" else "method_not_allowed"
        expect_equal((answer.status, answer.code), (405, code), f"The response to {answer.call}")
        expect(bool(answer.headers.get("allow")), f"{answer.call} answered 405 without Allow.")


# --- What Bullion adds ----------------------------------------------------------------------------------


def _item(body: dict[str, Any], code: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = [
        item for item in values_of(body, "items") if item.get("symbol_code") == code
    ]
    expect(len(found) == 1, f"{code} is {len(found)} times in the list.")
    return found[0]


@check("bullion.symbols")
def symbols_are_listed(c: Context) -> None:
    item = _item(body_of(c.test().call("GET", "/symbols"), OK), c.gold.code)
    for name in ("quoted_weight", "minimum", "maximum", "step"):
        decimal_of(item, name)
    expect_equal((item.get("metal"), item.get("unit")), ("gold", "g"), f"The metal and unit of {c.gold.code}")
    expect(set(values_of(item, "sides")) <= {"buy", "sell"}, f"`sides` are {item['sides']}.")
    expect(isinstance(value_of(item, "trading"), bool), f"`trading` is {item['trading']!r}.")


@check("bullion.quotes", orders=1)
def quotes_have_both_prices(c: Context) -> None:
    item = _item(body_of(c.test().call("GET", "/quotes", symbol_code=c.gold.code), OK), c.gold.code)
    expect((item.get("tradable"), item.get("reason")) == (True, None), f"The quote says {item}.")
    if value_of(item, "at") is not None:
        instant(item["at"], "at")
    buy, sell = decimal_of(item, "buy"), decimal_of(item, "sell")
    expect(buy >= sell > Decimal(0), f"Clients buy at {buy} and sell at {sell}.")


@check("bullion.description", need=Need.NOTHING)
def the_interface_is_described(c: Context) -> None:
    described = body_of(c.connection.send("GET", "/openapi.json", headers={}), OK)
    expect_equal(described.get("info", {}).get("version"), "1.0.0", "The version in /openapi.json")
    page = c.connection.send("GET", "/docs", headers={})
    expect(page.status == OK, f"GET /docs answered {page.reply}; expected 200.")
