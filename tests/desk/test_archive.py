"""Archiving over HTTP: nobody who trades notices, and the trail has it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.desk import Office, nothing_changed
from tests.support.orders import REPLAYED, Trader, all_at_once, booked, refused

EVER = {"before": "2099-01-01"}
NEVER = "01a1de14-d0ac-74ff-b60f-dff545fade43"


def place(trader: Trader, number: int) -> list[dict[str, Any]]:
    return [booked(trader.place(f"key {each}", quantity=each + 1)) for each in range(number)]


def reset(office: Office, login_id: str = "client") -> None:
    office.desk.do("POST", f"/accounts/{login_id}/test-book/reset")


def test_an_archived_order_is_read_and_replayed_byte_for_byte(office: Office, trader: Trader) -> None:
    old = place(trader, 4)
    before = [trader.order(order["id"]).content for order in old]
    shown = [office.desk.do("GET", f"/orders/{order['id']}") for order in old]
    reset(office)
    new = trader.buy(3)
    lists = trader.orders(), trader.orders(symbol_code="GOLD"), trader.net(), office.desk.all("/orders")
    done = office.desk.do("POST", "/archive/orders", EVER)
    assert done == {
        "before": "2099-01-01T00:00:00.000000+00:00",
        "login_id": None,
        "orders": 4,
        "accounts": 1,
        "more": False,
    }
    assert [trader.order(order["id"]).content for order in old] == before
    for each, order in enumerate(old):
        again = trader.place(f"key {each}", quantity=each + 1)
        assert (again.status_code, again.headers[REPLAYED], again.content) == (200, "true", before[each])
        assert json.loads(before[each]) == order
        refused(trader.place(f"key {each}", quantity=99), "idempotency_key_reused")
        found = office.desk.do("GET", f"/orders/{order['id']}")
        assert {**found, "trace": None} == {**shown[each], "archived": True, "trace": None}
    now = trader.orders(), trader.orders(symbol_code="GOLD"), trader.net(), office.desk.all("/orders")
    assert now == lists
    assert trader.buy(1)["deal_label"] == "T-6"
    assert new["deal_label"] == "T-5"
    assert office.desk.do("POST", "/archive/orders", EVER)["orders"] == 0


def test_what_there_is_to_archive_is_told_before(
    office: Office, trader: Trader, trader_of: Callable[..., Trader]
) -> None:
    neighbour = trader_of(office, "neighbour")
    for each in (trader, neighbour):
        place(each, 3)
    reset(office)
    reset(office, "neighbour")
    assert office.desk.do("GET", "/archive")["to_archive"] == {"orders": 6, "accounts": 2}
    assert office.desk.do("GET", "/archive?before=1h")["to_archive"] == {"orders": 0, "accounts": 0}
    assert office.desk.do("GET", "/archive?login_id=client")["to_archive"]["orders"] == 3
    assert office.desk.do("POST", "/archive/orders", {"before": "1h"})["orders"] == 0
    done = office.desk.do("POST", "/archive/orders", {**EVER, "login_id": "neighbour", "limit": 2})
    assert (done["login_id"], done["orders"], done["more"]) == ("neighbour", 2, True)
    found = office.desk.do("GET", "/archive?login_id=neighbour")
    assert found["to_archive"] == {"orders": 1, "accounts": 1}
    archived = found["archived"]
    assert (archived["orders"], archived["packs"]) == (2, 1)
    assert 0 < archived["packed_bytes"] < archived["plain_bytes"]
    assert office.desk.do("GET", "/archive?login_id=client")["archived"]["orders"] == 0


def test_the_trail_has_it_twice(office: Office, trader: Trader) -> None:
    place(trader, 2)
    reset(office)
    office.desk.do("POST", "/archive/orders", {**EVER, "login_id": "client"})
    last, first = office.desk.do("GET", "/audit?limit=2")["items"]
    assert (first["action"], last["action"]) == ("archive_orders", "archived_orders")
    assert first["subject"] == last["subject"] == "client"
    assert (last["after"]["orders"], first["after"]["before"]) == (2, last["after"]["before"])


def test_who_may_not_and_what_is_not_understood(office: Office, trader: Trader) -> None:
    place(trader, 1)
    reset(office)
    dealer = office.hire("dealer")
    with nothing_changed(office.desk):
        dealer.refused("POST", "/archive/orders", EVER, status=403, code="role_too_low")
        dealer.do("GET", "/archive")
        for body in (
            {},
            {"before": "yesterday"},
            {"before": "30"},
            {"before": "-1d"},
            {"before": None},
            {**EVER, "limit": 0},
            {**EVER, "limit": 100_001},
            {**EVER, "listed": True},
        ):
            office.desk.refused("POST", "/archive/orders", body)
        for query in ("before=soon", "before=1d&before=2d"):
            office.desk.refused("GET", f"/archive?{query}")
        nobody = {**EVER, "login_id": "nobody"}
        office.desk.refused("POST", "/archive/orders", nobody, status=404, code="not_found")
        office.desk.refused("GET", "/archive?login_id=nobody", status=404, code="not_found")
    assert office.desk.do("GET", "/archive")["archived"]["orders"] == 0


def test_the_archive_of_another_broker_is_not_there(office: Office, other: Office, trader: Trader) -> None:
    (order,) = place(trader, 1)
    reset(office)
    assert other.desk.do("POST", "/archive/orders", EVER)["orders"] == 0
    office.desk.do("POST", "/archive/orders", EVER)
    other.desk.refused("GET", f"/orders/{order['id']}", status=404, code="not_found")
    assert other.desk.do("GET", "/archive")["archived"]["orders"] == 0
    refused(trader.order(NEVER), "order_not_found")


@pytest.mark.parametrize(("verb", "body"), [("close", None), ("delete", {"reason": "a mistake"})])
def test_nothing_can_be_done_to_one(office: Office, trader: Trader, verb: str, body: object) -> None:
    (order,) = place(trader, 1)
    path = f"/orders/{order['id']}/{verb}"
    before = office.desk.refused("POST", path, body, status=409, code="conflict")
    reset(office)
    office.desk.do("POST", "/archive/orders", EVER)
    assert office.desk.refused("POST", path, body, status=409, code="conflict") == before


def test_clients_trade_on_while_it_goes_on(office: Office, trader: Trader) -> None:
    placed = [(f"key {each}", body(each)) for each in range(40)]
    assert {answer.status_code for answer in all_at_once([trader], placed)} == {201}
    reset(office)
    before = trader.orders()["total"]
    again = [*placed, *((f"new {each}", body(1)) for each in range(10))]
    half = len(again) // 2
    first = all_at_once([trader], again[:half])
    office.desk.do("POST", "/archive/orders", {**EVER, "limit": 30})
    rest = all_at_once([trader], again[half:])
    office.desk.do("POST", "/archive/orders", EVER)
    last = all_at_once([trader], again)
    told = [answer.status_code for answer in (*first, *rest)]
    assert told == [200] * 40 + [201] * 10
    assert {answer.status_code for answer in last} == {200}
    assert [answer.json() for answer in last] == [answer.json() for answer in (*first, *rest)]
    assert (before, trader.orders()["total"]) == (0, 10)


def body(number: int) -> dict[str, Any]:
    return {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1 + number % 3}
