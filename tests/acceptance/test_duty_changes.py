"""A duty entry is replaced or removed from today on, or while no production order was priced by it."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.support.orders import booked
from tests.support.production import LiveMarket, LiveTrader, opened
from tests.support.unreadable import LANDED

OLD = {"from": "2020-01-01", "rupees": "100.00"}
LATER = {"from": "2021-01-01", "rupees": "200.00"}


def india(days: int = 0) -> str:
    """The date in India, so many days from now."""
    today: date = (datetime.now(UTC) + timedelta(hours=5, minutes=30)).date()
    return (today + timedelta(days=days)).isoformat()


class Table:
    """The duty table `customs` of a market with a symbol that it is in the price of."""

    def __init__(self, market: LiveMarket) -> None:
        self.market = market
        market.desk.do("PUT", "/rates/SPOT", {"bid": "2000", "ask": "2001"})
        market.desk.do("PUT", "/rates/CURRENCY", {"bid": "83", "ask": "84"})
        self.put(OLD, LATER)
        market.live("LANDED", pricing=LANDED)
        self.trader: LiveTrader = market.trader()

    def order(self, symbol_code: str = "LANDED") -> str:
        return str(opened(self.trader.place(symbol_code=symbol_code))["id"])

    def put(self, *rows: dict[str, str], name: str = "customs") -> Any:
        return self.market.desk.do("PUT", f"/duties/{name}", list(rows))

    def refused(self, *rows: dict[str, str]) -> str:
        """Why the table cannot be so; it stays as it is."""
        before = self.market.desk.do("GET", "/duties")
        answer = self.market.desk.put("/duties/customs", json=list(rows))
        assert answer.status_code == httpx.codes.CONFLICT, answer.text
        assert answer.json()["detail"]["code"] == "conflict"
        assert self.market.desk.do("GET", "/duties") == before
        return str(answer.json()["detail"]["message"])


@pytest.fixture
def table(own_live_market: LiveMarket) -> Table:
    return Table(own_live_market)


def test_an_entry_that_priced_a_production_order_on_a_past_day_stays(table: Table) -> None:
    order_id = table.order()
    for rows in (
        [OLD, {**LATER, "rupees": "201"}],
        [OLD],
        [OLD, {**LATER, "from": "2021-01-02"}],
        [OLD, LATER, {"from": "2022-01-01", "rupees": "300"}],
    ):
        message = table.refused(*rows)
        assert f"from 2021-01-01 stays as it is: the production order deal 1 ({order_id}) was" in message
    table.order()
    assert f"2 production orders, the first of them deal 1 ({order_id}), were" in table.refused(OLD)


def test_an_entry_that_priced_nothing_is_replaced_and_removed(table: Table) -> None:
    table.order()
    table.put({**OLD, "rupees": "101"}, LATER)
    table.put(LATER)
    trail = table.market.desk.do("GET", "/audit?limit=1")["items"][0]
    assert trail["before"]["duties"] == [{**OLD, "rupees": "101.00"}, LATER]
    assert trail["after"]["duties"] == [LATER]


def test_an_entry_of_today_or_later_is_replaced_and_removed_whatever_it_priced(table: Table) -> None:
    today = {"from": india(), "rupees": "300.00"}
    coming = {"from": india(5), "rupees": "400.00"}
    table.put(OLD, LATER, today, coming)
    table.order()
    table.put(OLD, LATER, {**today, "rupees": "301"}, {**coming, "rupees": "401"})
    table.order()
    assert table.put(OLD, LATER)["in_force"] == LATER


def test_orders_of_the_test_environment_do_not_count(table: Table) -> None:
    booked(table.market.tester().place(symbol_code="LANDED"))
    table.put({**OLD, "rupees": "1"}, {**LATER, "rupees": "2"})
    table.put({**LATER, "rupees": "2"})


def test_orders_of_symbols_with_another_table_do_not_count(table: Table) -> None:
    table.put(LATER, name="other")
    table.market.live("ELSEWHERE", pricing={**LANDED, "duty": "other"})
    table.order("ELSEWHERE")
    table.put(OLD)


def test_orders_of_a_symbol_that_is_priced_otherwise_by_now_count(table: Table) -> None:
    table.order()
    table.market.symbol("LANDED", pricing={"kind": "fixed", "buy": "70000", "sell": "69000"})
    assert "was priced by it" in table.refused(OLD)
