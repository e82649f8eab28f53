"""PostgreSQL: the server that takes over lacks the last commits, because it replicated asynchronously.

Then a book may have a version again that a node has seen before, with other orders behind it.
"""

import asyncio
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from bullion.accounts.account import Account
from bullion.api.orders import Orders
from bullion.api.request import Request
from bullion.booking.attempt import Booked
from bullion.booking.reconciliation import Reconciliation
from bullion.environment import Environment
from bullion.events.event import EventType
from bullion.events.recent_orders import RecentOrders
from bullion.hedge.venue import ListedExecution
from bullion.metals.metal import Metal
from bullion.metals.symbol import SizeRule
from bullion.rates.board import Board
from bullion.rates.follower import BoardFollower
from bullion.rates.tick import Tick
from bullion.records.clients import AccountSummary, Allocation, KeyTimes
from bullion.store import postgres
from bullion.store.engine import Row
from bullion.store.event_entering import EventEntering
from bullion.store.event_reader import StoredEvents
from bullion.store.execution_records import StoredExecutionRecords
from bullion.store.order_reader import StoredOrders
from bullion.store.postgres import PostgresEngine
from bullion.store.postgres_pool import Connection, Pool
from bullion.store.postgres_timeline import Timeline
from bullion.store.rates import StoredRates
from bullion.store.records import RecordStore
from tests.model import invariants

from .fixtures import GOLD, SWITCHES, Node, asked, put, rows, store_of

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["postgres"])
def engine_name(request: pytest.FixtureRequest) -> str:
    """As a parameter, from which `--quick` sees that these tests need a server."""
    return str(request.param)


@dataclass
class Failover:
    """Puts a book back to what it was, as if a standby without the newest commits had taken over."""

    node: Node
    book: int
    before: Row
    timeline: int = 1

    async def happen(self) -> None:
        engine = self.node.engine
        for table in ("orders", "price_moves"):
            await rows(engine, f"DELETE FROM {table} WHERE book_id = $1", self.book)
        names = ("gold_net_e4", "order_count", "last_order_at_us", "version")
        put_back = ", ".join(f"{name} = {self.before[name]}" for name in names)
        await rows(engine, f"UPDATE books SET {put_back} WHERE id = $1", self.book)

    def meet(self, node: Node) -> None:
        """The node loses its connections, and finds the new primary with the next ones."""
        self.pool(node).close_all_but(lambda _: False)
        self.timeline = 2

    def pool(self, node: Node) -> Pool:
        assert isinstance(node.engine, PostgresEngine)
        assert node.engine._pool is not None
        return node.engine._pool

    async def read_timeline(self, *_: object) -> Timeline:
        return Timeline(7, f"{self.timeline:08X}")


@pytest.fixture
async def failover(node: Node, books: list[int], monkeypatch: pytest.MonkeyPatch) -> Failover:
    (before,) = await rows(node.engine, "SELECT * FROM books WHERE id = $1", books[0])
    made = Failover(node, books[0], before)
    assert isinstance(node.engine, PostgresEngine)
    monkeypatch.setattr(postgres, "read_timeline", made.read_timeline)
    node.engine._fence.admit(await made.read_timeline())
    return made


async def test_an_order_is_not_decided_on_a_book_that_was_lost(
    node: Node, other_node: Node, failover: Failover
) -> None:
    book = failover.book
    assert await node.told(book, "lost", asked("buy", 50_000)) == "booked"
    await failover.happen()
    assert await other_node.told(book, "kept", asked("sell", 30_000)) == "booked"
    failover.meet(node)
    assert await node.told(book, "next", asked("buy", 10_000)) == "booked"
    await invariants.check(store_of(node.engine), other_changes={})
    (row,) = await rows(node.engine, "SELECT gold_net_e4 FROM books WHERE id = $1", book)
    assert row["gold_net_e4"] == -20_000


async def test_a_key_that_a_moved_price_settled_is_found(
    node: Node, other_node: Node, failover: Failover
) -> None:
    book = failover.book
    assert await node.told(book, "lost") == "booked"
    await failover.happen()
    assert await other_node.told(book, "moved", asked(expected_price="1")) == "price_moved"
    failover.meet(node)
    assert await node.told(book, "moved") == "idempotency_key_reused"


async def test_an_order_that_waits_for_the_new_primary_is_decided_again(
    node: Node, other_node: Node, failover: Failover, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was decided before the old one was lost, and is sent to the new one."""
    book = failover.book
    assert await node.told(book, "lost", asked("buy", 50_000)) == "booked"
    pool = failover.pool(node)
    acquire = pool.acquire

    async def wait_for_primary() -> Connection:
        monkeypatch.undo()
        monkeypatch.setattr(postgres, "read_timeline", failover.read_timeline)
        await failover.happen()
        assert await other_node.told(book, "kept", asked("sell", 30_000)) == "booked"
        failover.meet(node)
        return await acquire()

    monkeypatch.setattr(pool, "acquire", wait_for_primary)
    assert await node.told(book, "next", asked("buy", 10_000)) == "booked"
    await invariants.check(store_of(node.engine), other_changes={})


async def test_a_list_does_not_show_an_order_that_was_lost(
    node: Node, other_node: Node, failover: Failover
) -> None:
    """The next order of the book has its number, and its place in the list."""
    engine, book = node.engine, failover.book
    assert isinstance(engine, PostgresEngine)
    unused = cast("Any", None)
    orders = Orders(unused, unused, StoredOrders(engine), unused, unused)

    async def listed() -> list[str]:
        response = await orders.list_orders(_request(book))
        return [each["quantity"] for each in msgspec.json.decode(response.body)["items"]]

    assert await node.told(book, "lost", asked("buy", 50_000)) == "booked"
    assert await listed() == ["5.0000"]
    await failover.happen()
    failover.meet(node)
    assert await node.told(book, "next", asked("buy", 10_000)) == "booked"
    assert await listed() == ["1.0000"]


async def test_an_event_does_not_tell_of_an_order_that_was_lost(
    node: Node, other_node: Node, failover: Failover
) -> None:
    engine, book = node.engine, failover.book
    assert isinstance(engine, PostgresEngine)
    events = StoredEvents(engine, 30, node.catalogue.now_us)
    events.recent = RecentOrders(lambda _: True, failovers=lambda: engine.failovers)
    lost = await node.place(book, "lost", asked("buy", 50_000))
    assert isinstance(lost, Booked)
    events.recent.add(lost.order)
    await failover.happen()
    assert await other_node.told(book, "kept", asked("sell", 30_000)) == "booked"
    failover.meet(node)
    (event,) = await events.read(book, 0, 10)
    assert event.type is EventType.ORDER_CREATED
    assert event.order is not None
    assert event.order.idempotency_key == "kept"


async def test_rates_that_were_lost_are_forgotten(node: Node, other_node: Node, failover: Failover) -> None:
    def tick(instrument: str, at_us: int) -> Tick:
        return Tick(instrument, 1_000, 1_005, at_us, at_us)

    rates, there = StoredRates(node.engine), StoredRates(other_node.engine)
    board = Board()
    follower = BoardFollower(board, rates)
    await rates.publish("one", 5, [tick("GOLD", 10), tick("SILVER", 10)])
    await rates.publish("one", 5, [tick("GOLD", 20)])
    await follower.catch_up()
    await rows(node.engine, "UPDATE rates SET version = 1")
    await rows(node.engine, "UPDATE ticks SET version = 1, at_us = 10, moved_at_us = 10")
    await there.publish("one", 5, [tick("SILVER", 30)])
    failover.meet(node)
    for _ in range(2):
        await follower.catch_up()
    assert {each.instrument: each.at_us for _, each in board.held()} == {"GOLD": 10, "SILVER": 30}


async def test_a_change_of_the_desk_that_was_lost_is_forgotten(
    node: Node, other_node: Node, failover: Failover
) -> None:
    """And the change that has its version now holds."""
    engine, book = node.engine, failover.book
    (before,) = await rows(engine, "SELECT version FROM catalogue")
    await put(engine, replace(GOLD, size=SizeRule(2, 10**10, 1)))
    await node.catalogue_follower.catch_up()
    assert await node.told(failover.book, "before") == "booked"
    await rows(engine, "UPDATE catalogue SET version = $1", before["version"])
    await rows(engine, "DELETE FROM changes WHERE version > $1", before["version"])
    await rows(engine, "UPDATE symbols SET minimum_e4 = 1 WHERE code = 'GOLD'")
    await put(other_node.engine, replace(SWITCHES, halted=True))
    failover.meet(node)
    for _ in range(2):
        await node.catalogue_follower.catch_up()
    assert await node.told(book, "halted") == "trading_halted"
    assert node.catalogue.symbols["main", "GOLD"].size.minimum_e4 == 1


@pytest.mark.parametrize("met", ["by the order", "before it", "at the lock"])
async def test_the_first_order_at_a_new_primary_is_checked_by_what_is_there(
    node: Node, other_node: Node, failover: Failover, met: str
) -> None:
    engine, book = node.engine, failover.book
    await put(engine, replace(GOLD, size=SizeRule(2, 10**10, 1)))
    await node.catalogue_follower.catch_up()
    assert await node.told(book, "before") == "booked"
    await rows(engine, "DELETE FROM changes WHERE version = (SELECT version FROM catalogue)")
    await rows(engine, "UPDATE catalogue SET version = version - 1")
    await put(other_node.engine, replace(SWITCHES, halted=True))
    failover.meet(node)
    if met == "before it":
        await rows(engine, "SELECT 1")
    elif met == "at the lock":
        node.queue._locks_first = True
    assert await node.told(book, "halted") == "trading_halted"


async def test_a_halt_is_told_although_a_lost_change_had_its_version(
    node: Node, other_node: Node, failover: Failover
) -> None:
    async def told() -> int:
        found = await rows(
            other_node.engine,
            "SELECT count(*) AS number FROM account_events WHERE book_id = $1 AND kind = 'trading.halted'",
            failover.book,
        )
        return int(found[0]["number"])

    entering = EventEntering(node.engine, 30, node.catalogue.now_us, lambda: node.catalogue.serial)
    await put(node.engine, replace(GOLD, size=SizeRule(2, 10**10, 1)))
    await node.catalogue_follower.catch_up()
    lost = node.catalogue.version
    entered = asyncio.create_task(entering.run())
    try:
        await asyncio.sleep(0.1)
        await rows(node.engine, "UPDATE catalogue SET version = version - 1")
        await rows(node.engine, "DELETE FROM changes WHERE version = $1", lost)
        await put(other_node.engine, replace(SWITCHES, halted=True))
        failover.meet(node)
        for _ in range(2):
            await node.catalogue_follower.catch_up()
        assert node.catalogue.version == lost
        async with asyncio.timeout(5):
            while not await told():
                await asyncio.sleep(0.05)
    finally:
        entered.cancel()


async def test_the_desk_finds_an_account_although_a_lost_one_had_its_version(
    node: Node, other_node: Node, failover: Failover
) -> None:
    def opened(login_id: str) -> Account:
        return Account(
            0, "main", login_id, None, "retail", active=True, api_access=True, production_trading=False
        )

    async def opens(on: Node, login_id: str) -> None:
        await RecordStore(on.engine).write(
            "open", lambda records: records.insert_account(opened(login_id), Allocation(0, 0))
        )

    async def found(part: str) -> list[str]:
        summaries = await desk.read(
            "search", lambda records: records.account_summaries("main", part, "", KeyTimes(0, 0), 10)
        )
        return [each.account.login_id for each in summaries if isinstance(each, AccountSummary)]

    desk = RecordStore(node.engine)
    await opens(node, "new-lost")
    assert await found("lost") == ["new-lost"]
    for table, column in (("books", "account_id"), ("accounts", "id")):
        await rows(
            node.engine,
            f"DELETE FROM {table} WHERE {column} = (SELECT id FROM accounts WHERE login_id = 'new-lost')",
        )
    await rows(node.engine, "DELETE FROM changes WHERE version = (SELECT version FROM catalogue)")
    await rows(node.engine, "UPDATE catalogue SET version = version - 1")
    await opens(other_node, "new-kept")
    failover.meet(node)
    assert (await found("lost"), await found("kept")) == ([], ["new-kept"])


async def test_a_break_that_was_lost_is_found_again(node: Node, failover: Failover) -> None:
    """Although the venue lists nothing new."""

    async def executions(_broker: str, after: str, _limit: int) -> list[ListedExecution]:
        traded = ListedExecution("X1", "of a lost order", "GOLD", "buy", 10_000, 1, cursor="1")
        return [] if after else [traded]

    async def breaks() -> list[str]:
        return [row["execution_id"] for row in await rows(node.engine, "SELECT * FROM unmatched_executions")]

    records = StoredExecutionRecords(node.engine, "simulated", node.catalogue.now_us)
    unused = cast("Any", None)
    venue = cast("Any", SimpleNamespace(executions=executions))
    reconciliation = Reconciliation(venue, unused, records, list, lambda *_: Metal.GOLD)
    for _ in range(2):
        await reconciliation.reconcile("main")
    assert await breaks() == ["X1"]
    for table in ("unmatched_executions", "execution_cursors"):
        await rows(node.engine, f"DELETE FROM {table}")
    failover.meet(node)
    assert await breaks() == []
    for _ in range(2):
        await reconciliation.reconcile("main")
    assert await breaks() == ["X1"]


def _request(book: int) -> Request:
    key = SimpleNamespace(environment=Environment.TEST)
    caller = SimpleNamespace(account=SimpleNamespace(id=book // 2), key=key)
    return cast("Request", SimpleNamespace(caller=caller, scope={"query_string": b""}))
