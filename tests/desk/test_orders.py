"""The desk looks through the orders of all its accounts: newest first, by any filter, and its own alone."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.desk import Caller, Office
from tests.support.node import Node, until
from tests.support.orders import GOLD, SILVER, UNBOUNDED, Trader

ITEM = {
    "id", "environment", "login_id", "symbol_code", "trade_type", "quantity", "unit", "price", "total",
    "status", "status_detail", "client_order_id", "source", "deal_no", "deal_label", "close_price",
    "realized_pnl", "created_at", "closed_at", "request_id", "key_id", "firm_name",
}  # fmt: skip
COVER = {"cover_price", "cover_reference"}
"""In a list of orders; one order has them in its hedge."""
OF_PRODUCTION = {
    "status_detail": "SIMULATED", "deal_no": None, "close_price": None, "realized_pnl": None,
    "closed_at": None, "firm_name": None, "cover_price": None, "cover_reference": None,
}  # fmt: skip
"""What the desk is told of test orders too, though it says nothing of them."""


@pytest.fixture(scope="module")
def busy(node: Node, first: Caller) -> Iterator[tuple[Office, list[dict[str, Any]]]]:
    """An office with two clients that traded in turn; with it their orders, newest first."""
    office = Office.open(node, first)
    office.desk.do("PUT", "/symbols/GOLD", GOLD)
    office.desk.do("PUT", "/symbols/SILVER", SILVER)
    office.desk.do("PATCH", "/switches", {"budgets": UNBOUNDED})
    orders = []
    with ExitStack() as clients:
        traders = []
        for login_id in ("one", "two"):
            office.desk.account(login_id, allocation={"gold": "1000", "silver": "1000"})
            issued = office.desk.key(login_id)
            http = clients.enter_context(node.api(issued["key"], Host=f"{office.broker}.example"))
            traders.append(Trader(http, login_id, issued))
        for number in range(10):
            trader = traders[number % 2]
            symbol, reference = ("GOLD", f"ref-{number % 3}") if number % 5 else ("SILVER", None)
            answer = trader.place(symbol_code=symbol, quantity=1 + number, client_order_id=reference)
            assert answer.status_code == 201
            whose = {"login_id": trader.login_id, "request_id": answer.headers["x-request-id"]}
            whose |= {"key_id": trader.key_id, "source": "api"}
            orders.append({**answer.json(), **whose, **OF_PRODUCTION})
        yield office, orders[::-1]
    office.close()


def test_every_order_is_listed_newest_first(busy: tuple[Office, list[dict[str, Any]]]) -> None:
    office, orders = busy
    listed = office.desk.do("GET", "/orders")
    assert listed == {"items": orders, "total": 10}
    assert all(set(item) == ITEM | COVER for item in listed["items"])


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("environment=test", {}),
        ("environment=production", None),
        ("login_id=one", {"login_id": "one"}),
        ("login_id=nobody", None),
        ("status=filled", {}),
        ("status=open", None),
        ("symbol_code=SILVER", {"symbol_code": "SILVER"}),
        ("symbol_code=silver", None),
        ("source=api", {}),
        ("source=web", None),
        ("client_order_id=ref-1", {"client_order_id": "ref-1"}),
        ("client_order_id=", None),
        ("client_order_id=%00", None),
        ("login_id=o%00ne", None),
        ("client_order_id=ref-1&login_id=two", {"client_order_id": "ref-1", "login_id": "two"}),
        ("client_order_id=ref-1&environment=production", None),
        ("login_id=two&environment=test", {"login_id": "two"}),
        ("login_id=two&environment=production", None),
        ("login_id=two&source=api", {"login_id": "two"}),
        ("login_id=two&source=api&environment=production", None),
        ("login_id=two&symbol_code=GOLD&status=filled", {"login_id": "two", "symbol_code": "GOLD"}),
        ("symbol_code=GOLD&source=api", {"symbol_code": "GOLD"}),
        ("since=2020-01-01", {}),
        ("since=2999-01-01T00:00:00Z", None),
        ("since=1970-01-01&login_id=one", {"login_id": "one"}),
    ],
)
def test_filters(
    busy: tuple[Office, list[dict[str, Any]]], query: str, matches: dict[str, str] | None
) -> None:
    """`matches` is what the orders found have in common; None: there are none."""
    office, orders = busy
    expected = [] if matches is None else [order for order in orders if order.items() >= matches.items()]
    assert office.desk.do("GET", f"/orders?{query}") == {"items": expected, "total": len(expected)}
    page = office.desk.do("GET", f"/orders?{query}&limit=2&offset=1")
    assert page == {"items": expected[1:3], "total": len(expected)}
    assert office.desk.do("GET", f"/orders?{query}&offset=10") == {"items": [], "total": len(expected)}


@pytest.mark.parametrize("whose", ["", "&login_id={login_id}", "&login_id={login_id}&environment=test"])
def test_since_includes_its_instant(busy: tuple[Office, list[dict[str, Any]]], whose: str) -> None:
    office, orders = busy
    for order in orders:
        more = whose.format(login_id=order["login_id"])
        expected = [
            each
            for each in orders
            if each["created_at"] >= order["created_at"]
            and (not whose or each["login_id"] == order["login_id"])
        ]
        # The plus sign of the offset arrives as a space, and is forgiven.
        for since in (order["created_at"], order["created_at"].replace("+", "%2B")):
            assert office.desk.do("GET", f"/orders?since={since}{more}")["items"] == expected


def test_an_order_is_found_by_its_call(busy: tuple[Office, list[dict[str, Any]]]) -> None:
    office, orders = busy
    for order in orders:
        request = f"request_id={order['request_id']}"
        assert office.desk.do("GET", f"/orders?{request}") == {"items": [order], "total": 1}
        assert office.desk.do("GET", f"/orders?{request}&login_id={order['login_id']}")["total"] == 1
        assert office.desk.do("GET", f"/orders?{request}&login_id=nobody")["total"] == 0
    for never in ("0" * 24, "f" * 24):
        assert office.desk.do("GET", f"/orders?request_id={never}") == {"items": [], "total": 0}


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("environment=live", "environment"),
        ("environment=", "environment"),
        ("environment=test&environment=test", "environment"),
        ("status=done", "status"),
        ("status=all", "status"),
        ("since=yesterday", "since"),
        ("since=", "since"),
        ("since=1", "since"),
        ("since=9999-12-31", "since"),
        ("request_id=x", "request_id"),
        ("request_id=" + "F" * 24, "request_id"),
        ("login_id=a&login_id=b", "login_id"),
        ("limit=0", "limit"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(standing: Office, query: str, named: str) -> None:
    assert named in standing.desk.refused("GET", f"/orders?{query}")


def test_brokers_do_not_see_each_others_orders(
    busy: tuple[Office, list[dict[str, Any]]], other: Office
) -> None:
    _, orders = busy
    for query in ("", "?login_id=one", "?client_order_id=ref-1", "?since=2020-01-01", "?source=api"):
        assert other.desk.do("GET", f"/orders{query}") == {"items": [], "total": 0}
    assert other.desk.do("GET", f"/orders?request_id={orders[0]['request_id']}")["total"] == 0
    theirs = other.desk.get(f"/orders/{orders[0]['id']}")
    never = other.desk.get("/orders/01a1de14-d0ac-74ff-b60f-dff545fade43")
    assert theirs.status_code == never.status_code == 404
    assert theirs.json() == never.json()


def test_one_order_with_all_that_is_known(busy: tuple[Office, list[dict[str, Any]]]) -> None:
    office, orders = busy
    listed = orders[0]
    until(lambda: office.desk.do("GET", f"/orders/{listed['id']}")["trace"], within_s=5)
    order = office.desk.do("GET", f"/orders/{listed['id'].upper()}")
    assert {name: order[name] for name in ITEM} == {name: listed[name] for name in ITEM}
    assert order.keys() - ITEM == {
        "idempotency_key", "expected_price", "archived", "events", "hedge", "price_anatomy", "trace",
    }  # fmt: skip
    assert order["archived"] is False
    assert order["events"] == [{"at": listed["created_at"], "status": "filled", "by": "api", "words": None}]
    assert order["hedge"] is None
    assert order["price_anatomy"]["price"] == listed["price"]
    assert order["trace"] == office.desk.do("GET", f"/traces/{listed['request_id']}")
    assert order["trace"]["outcome"] == "filled"


@pytest.mark.parametrize("order_id", ["x", "1", "%00", "01a1de14d0ac74ffb60fdff545fade43", "..", "%F0%9F"])
def test_what_is_no_order_is_not_found(standing: Office, order_id: str) -> None:
    answer = standing.desk.get(f"/orders/{order_id}")
    assert answer.status_code == 404
