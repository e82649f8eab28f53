"""Lists of orders while a process has not counted all of them: `test_order_timeline.py` has when that is."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from bench.seed import seed
from bullion.desk.actions.orders import list_orders, sum_orders
from bullion.desk.desk import Desk
from bullion.records.orders import OrderFilter, OrdersNotCounted
from bullion.records.page import Page
from bullion.records.token import Actor, Role
from bullion.refusals.refusal import RefusalError
from tests.support.node import running, until

ORDERS = 10_100
"""More than a list looks at that is not counted yet."""

Call = Callable[[Desk, Actor, Mapping[str, str | None]], Awaitable[Any]]


class Records:
    """Of a store with too many orders."""

    async def orders(self, _broker: str, _wanted: OrderFilter, _page: Page) -> None:
        raise OrdersNotCounted


@dataclass
class Reads:
    """As much of a desk as these calls use."""

    action: object = None
    sent: object = None
    confirm: object = None
    can_undo: bool = False

    async def read(self, _actor: Actor, _name: str, work: Callable[[Records], Awaitable[Any]]) -> Any:
        return await work(Records())


@pytest.mark.anyio
@pytest.mark.parametrize(
    "call",
    [lambda desk, actor, filters: list_orders(desk, actor, filters, Page(20, 0)), sum_orders],
    ids=["list", "totals"],
)
async def test_it_is_refused_for_some_seconds(call: Call) -> None:
    desk = cast("Desk", Reads())
    with pytest.raises(RefusalError) as refused:
        await call(desk, Actor("asha", Role.VIEWER, "main"), {"source": "api"})
    assert "has not yet counted all orders" in refused.value.message
    assert (refused.value.refusal.status, refused.value.retry_after_s) == (503, 2)


@pytest.mark.slow
def test_a_node_refuses_the_list_until_it_has_counted(tmp_path: Path) -> None:
    with running(tmp_path) as node, node.desk() as desk:
        desk.add_group().account("client")
        desk.key("client")
    seed(tmp_path / "var" / "bullion.db", {("client", "test"): ORDERS}, lambda _: None)
    with running(tmp_path) as node, node.desk() as desk:
        refused = desk.get("/orders?source=api&limit=1")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
        assert refused.json()["detail"]["code"] == "service_unavailable"
        assert "has not yet counted all orders" in refused.json()["detail"]["message"]
        until(lambda: desk.get("/orders?source=api&limit=1").is_success, within_s=30)
        assert desk.get("/orders?source=api&limit=1").json()["total"] == ORDERS
