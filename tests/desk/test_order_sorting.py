"""The desk's list of orders sorted, with firms and covers, and their sums."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bullion.desk.actions.order_sorting import SORTED_MAX, SORTS, sorted_page
from bullion.records.orders import AccountOrder, OrderFilter
from bullion.records.page import Page
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records
from tests.support.dealing import Dealing

FIRM = "Kalyani Jewellers"


@pytest.fixture
def orders(dealing: Dealing) -> Dealing:
    """Six deals of a firm: gold and silver, both sides; one closed with a loss, one deleted."""
    dealing.desk.do("PATCH", "/accounts/client", {"firm_name": FIRM})
    dealing.placed(quantity="30")
    closed = dealing.placed(quantity="10")
    dealing.placed(quantity="20", trade_type="sell")
    dealing.placed(symbol_code="SILVER", quantity="2")
    deleted = dealing.placed(quantity="99")
    dealing.placed(quantity="5")
    dealing.do(deleted, "delete")
    dealing.do(closed, "close")
    dealing.do(closed, "complete", {"close_price": "71000"})
    return dealing


def listed(dealing: Dealing, more: str) -> list[str]:
    found = dealing.desk.do("GET", f"/orders?login_id=client&{more}")
    return [each["quantity"].rstrip("0").rstrip(".") for each in found["items"]]


def test_orders_are_sorted_over_all_pages(orders: Dealing) -> None:
    assert listed(orders, "") == listed(orders, "sort=-time") == ["5", "99", "2", "20", "10", "30"]
    assert listed(orders, "sort=time") == ["30", "10", "20", "2", "99", "5"]
    assert listed(orders, "sort=time&limit=2&offset=3") == ["2", "99"]
    assert listed(orders, "sort=time&limit=4&offset=4") == ["99", "5"]
    assert listed(orders, "sort=time&offset=6") == []
    # Of one metal before the other: grams and kilograms are not compared.
    assert listed(orders, "sort=weight") == ["5", "10", "20", "30", "99", "2"]
    assert listed(orders, "sort=-weight&limit=3") == ["2", "99", "30"]
    assert listed(orders, "sort=result")[0] == "10"
    assert listed(orders, "sort=time&status=open") == ["30", "20", "2", "5"]
    for sort in SORTS:
        assert len(listed(orders, f"sort={sort}")) == 6
    words = orders.desk.refused("GET", "/orders?sort=colour")
    assert "sort: is one of time, -time" in words


def test_each_row_names_its_firm_and_its_cover(orders: Dealing, by_hand: Dealing) -> None:
    (usher,) = orders.desk.do("GET", "/orders?login_id=usher")["items"]
    assert usher["firm_name"] is None
    assert {each["firm_name"] for each in orders.desk.all("/orders?login_id=client")} == {FIRM}
    waiting = by_hand.placed(quantity="3")
    (queued,) = [each for each in by_hand.desk.all("/hedge/queue") if each["order_id"] == waiting["id"]]
    assert (queued["firm_name"], queued["venue"]) == (None, "desk")
    by_hand.do(waiting, "confirm", {"cover_reference": "LM-7"})
    (row,) = [each for each in by_hand.desk.all("/orders?login_id=client") if each["id"] == waiting["id"]]
    assert (row["cover_price"], row["cover_reference"]) == (None, "LM-7")


def test_sums_by_metal_and_side(orders: Dealing) -> None:
    found = orders.desk.do("GET", "/orders/totals?login_id=client")
    assert (found["orders"], found["summed"]) == (6, 6)
    sums = {(each["metal"], each["trade_type"]): each for each in found["items"]}
    assert set(sums) == {("gold", "buy"), ("gold", "sell"), ("silver", "buy")}
    bought = sums["gold", "buy"]
    # 30 + 10 + 5; what is deleted is not booked.
    assert (bought["orders"], bought["quantity"], bought["unit"]) == (3, "45.0000", "g")
    assert (bought["total"], bought["realized_pnl"]) == ("320580.00", "-240.00")
    assert {each["environment"] for each in found["items"]} == {"production"}
    assert orders.desk.do("GET", "/orders/totals?login_id=client&status=deleted")["items"] == []


@pytest.mark.parametrize(("sort", "filters"), [("-weight", {}), ("time", {"client_order_id": "a"})])
def test_too_many_orders_are_counted_and_not_read(sort: str, filters: dict[str, Any]) -> None:
    asked: list[Page] = []

    async def orders(_broker: str, _wanted: OrderFilter, page: Page) -> tuple[list[AccountOrder], int]:
        asked.append(page)
        return [], SORTED_MAX + 1

    records = cast("Records", SimpleNamespace(orders=orders))
    with pytest.raises(RefusalError) as refused:
        asyncio.run(sorted_page(records, "main", OrderFilter(**filters), Page(50, 0), sort))
    assert "takes at most 1000 orders, and 1001 match" in refused.value.message
    assert [page.limit for page in asked] == [0]
