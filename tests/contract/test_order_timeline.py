"""Lists of the desk that are counted by time find the same as a full search, whatever happened since."""

import asyncio
from dataclasses import dataclass
from itertools import product
from random import Random
from time import time_ns

import pytest
from msgspec.structs import replace

from bullion.allocation.book import book_id
from bullion.booking.decide import Plan
from bullion.desk.actions.order_sums import sums
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.orders.order import Order
from bullion.orders.order_id import order_id
from bullion.orders.request import PlaceOrder
from bullion.orders.status import FINAL, TRANSITIONS, Status
from bullion.records.orders import AccountOrder, OrderFilter, OrdersNotCounted, OrderSum, OrderTotal
from bullion.records.page import Page
from bullion.store import newest_orders, order_changes, order_timeline
from bullion.store.engine import Engine, one_row
from bullion.store.ledger_postgres import PostgresLedger
from bullion.store.ledger_sqlite import SqliteLedger
from bullion.store.order_timeline import OrderTimeline
from bullion.store.postgres import PostgresEngine
from bullion.store.records import Records, RecordStore
from bullion.store.sqlite import SqliteEngine
from tests.booking.fixtures import rows

from .test_desk_orders import BROKERS, Placed, account_id_of, create_records

pytestmark = pytest.mark.anyio

AN_HOUR_US = 3_600_000_000
SOURCES = ("api", "api", "api", "web")
SYMBOLS = ("GOLD", "GOLD", "SILVER")


@dataclass
class Fixture:
    """Two brokers with orders, the same orders in a list, and the process that serves their desks."""

    engine: Engine
    records: RecordStore
    books: dict[tuple[str, str, Environment], int]
    placed: list[Placed]
    begin_us: int
    chance: Random

    @property
    def timeline(self) -> OrderTimeline:
        return self.records._cache.timeline

    async def trade(
        self, number: int, begin_us: int, book: tuple[str, str, Environment] | None = None
    ) -> None:
        """Orders of books by chance, several in a millisecond and in a microsecond."""
        at_us, new = begin_us, list[Placed]()
        for _ in range(number):
            at_us += self.chance.choice([0, 1, 300, 1_000, 250_000])
            owner = book or self.chance.choice(list(self.books))
            new.append(Placed(*owner, self._order(owner, at_us, new)))
        await self._record(new)
        self.placed += new

    def _order(self, owner: tuple[str, str, Environment], at_us: int, new: list[Placed]) -> Order:
        in_book = self.books[owner]
        ordinal = 1 + sum(each.order.book_id == in_book for each in (*self.placed, *new))
        return Order(
            book_id=in_book,
            ordinal=ordinal,
            id=order_id(at_us, ordinal, self.chance.getrandbits(34)),
            source=self.chance.choice(SOURCES),
            idempotency_key=f"key {in_book} {ordinal}",
            asked=PlaceOrder(self.chance.choice(SYMBOLS), "buy", 10_000, None, None),
            metal=Metal.GOLD,
            price_paise=100,
            total_paise=10,
            status="filled"
            if owner[2] is Environment.TEST
            else self.chance.choice(["open", "open", "pending"]),
            key_id=None,
            request_id=f"{at_us // 1000:012x}{ordinal:012x}",
            created_at_us=at_us,
            price_anatomy="{}",
        )

    async def _record(self, new: list[Placed]) -> None:
        engine = self.engine
        assert isinstance(engine, SqliteEngine | PostgresEngine)
        ledger = SqliteLedger(engine) if isinstance(engine, SqliteEngine) else PostgresLedger(engine)
        orders = {each.order.book_id: list[Order]() for each in new}
        for each in new:
            orders[each.order.book_id].append(each.order)
        known = await ledger.books(list(orders))
        version = await self.engine.read("version", lambda open_: one_row(open_, "catalogue_state"))
        plans = []
        for in_book, found in orders.items():
            before, last = known[in_book], found[-1]
            after = replace(before, order_count=last.ordinal, last_order_at_us=last.created_at_us)
            plans.append(Plan(before, after, orders=found))
        recorded = await ledger.record(plans, [], version["version"])
        assert all(seen.recorded for seen in recorded.books.values())

    async def reset(self, owner: tuple[str, str, Environment]) -> None:
        account_id = await account_id_of(self.engine, *owner[:2])

        async def work(records: Records) -> None:
            await records.reset_book(await records.lock_book(account_id, owner[2]))

        # By another process: this one is not told.
        await RecordStore(self.engine).write("reset", work)
        for each in self.placed:
            if (each.broker, each.login_id, each.environment) == owner:
                each.broker = "archived"

    async def change(self, number: int) -> None:
        """Other processes change the status of orders by chance, also of old ones."""
        can_change = [
            each for each in self.placed if Status(each.order.status) not in (Status.FILLED, *FINAL)
        ]
        for each in self.chance.sample(can_change, number):
            before = each.order
            status = self.chance.choice(
                [froms[Status(before.status)] for froms in TRANSITIONS.values() if before.status in froms]
            )
            each.order = replace(before, status=status.value)

            async def work(records: Records, before: Order = before, now: Order = each.order) -> None:
                await records.change_order(before, now, await records.now_us(), "somebody", None)

            await RecordStore(self.engine).write("change", work, catalogue=False)

    async def orders(self, broker: str, wanted: OrderFilter, page: Page) -> tuple[list[AccountOrder], int]:
        return await self.records.read("orders", lambda records: records.orders(broker, wanted, page))

    async def at_once(
        self, broker: str, wanted: OrderFilter, page: Page
    ) -> tuple[list[AccountOrder], OrderTotal]:
        return await self.records.read("orders", lambda records: records.orders_at_once(broker, wanted, page))

    async def newest_sums(self, broker: str, wanted: OrderFilter, number: int) -> list[OrderSum]:
        return await self.records.read("sums", lambda records: records.newest_sums(broker, wanted, number))

    def expected(self, broker: str, wanted: OrderFilter, page: Page) -> tuple[list[AccountOrder], int]:
        found = sorted(
            (each for each in self.placed if each.matches(broker, wanted)),
            key=lambda each: each.order.id,
            reverse=True,
        )
        # Pages are cut by id, which knows milliseconds; each is sorted by the whole time.
        shown = sorted(
            found[page.offset : page.offset + page.limit],
            key=lambda each: (each.order.created_at_us, each.order.ordinal, each.order.id),
            reverse=True,
        )
        return [AccountOrder(each.order, each.login_id, archived=False) for each in shown], len(found)

    async def check(self, number: int = 120) -> None:
        times = [None, None, 0, self.begin_us, self.begin_us + 10 * AN_HOUR_US]
        times += [
            each.order.created_at_us + off
            for each in self.chance.sample(self.placed, 12)
            for off in (-1, 0, 1, 500)
        ]
        for _ in range(number):
            broker = self.chance.choice(list(BROKERS))
            wanted = OrderFilter(
                environment=self.chance.choice([None, None, *Environment]),
                symbol_code=self.chance.choice([None, None, "GOLD", "SILVER", "NONE"]),
                source=self.chance.choice([None, None, "api", "web", "phone"]),
                status=self.chance.choice([None, None, "open", *Status]),
                since_us=self.chance.choice(times),
            )
            offset = self.chance.choice([0, 0, 1, 7, len(self.placed) // 3, len(self.placed), 2**62])
            page = Page(self.chance.choice([1, 5, 50]), offset)
            assert await self.orders(broker, wanted, page) == self.expected(broker, wanted, page), (
                wanted,
                page,
            )


@pytest.fixture
async def fixture(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Fixture:
    async def nothing(*_: object) -> None:
        """The orders of these tests are recorded without weights, so that there is nothing to release."""

    monkeypatch.setattr(order_changes, "_release_weight", nothing)
    monkeypatch.setattr(order_timeline, "_SPAN", 7)
    await RecordStore(engine).write("create_records", create_records)
    books = {
        (broker, login_id, each): book_id(await account_id_of(engine, broker, login_id), each)
        for broker, logins in BROKERS.items()
        for login_id in logins
        for each in Environment
    }
    begin_us = time_ns() // 1000 - AN_HOUR_US
    return Fixture(engine, RecordStore(engine), books, [], begin_us, Random(11))  # noqa: S311 - the same each time


def use_only_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a list is read without them."""

    async def never(*_: object) -> None:
        raise AssertionError("this list was not counted by time")

    monkeypatch.setattr("bullion.store.order_records.OrderRecords._orders_of_kind", never)
    monkeypatch.setattr("bullion.store.order_records.OrderRecords._counted", never)


async def test_every_list_is_that_of_a_full_search(fixture: Fixture, monkeypatch: pytest.MonkeyPatch) -> None:
    await fixture.trade(200, fixture.begin_us)
    await fixture.timeline.update()
    use_only_counts(monkeypatch)
    await fixture.check(300)


async def test_orders_that_come_later_are_counted(fixture: Fixture, monkeypatch: pytest.MonkeyPatch) -> None:
    await fixture.trade(40, fixture.begin_us)
    await fixture.timeline.update()
    use_only_counts(monkeypatch)
    await fixture.trade(
        30, fixture.begin_us + AN_HOUR_US // 2
    )  # Old enough to be settled, and not settled yet.
    await fixture.check()
    await fixture.trade(15, fixture.begin_us + AN_HOUR_US - 1_000_000)  # Too new to be settled.
    await fixture.check()
    await fixture.timeline.update()
    await fixture.check()


async def test_changes_of_status_are_seen_at_once(fixture: Fixture, monkeypatch: pytest.MonkeyPatch) -> None:
    await fixture.trade(200, fixture.begin_us)
    await fixture.change(10)
    await fixture.timeline.update()
    use_only_counts(monkeypatch)
    for turn in range(6):
        await fixture.change(4)
        await fixture.check(20)
        await fixture.trade(20, fixture.begin_us + AN_HOUR_US // 2 + turn * 60_000_000)
        await fixture.change(4)
        await fixture.timeline.update()
        await fixture.change(2)
        await fixture.check(20)


async def test_more_changes_than_a_list_counts_are_left_to_the_background(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_timeline, "_RECOUNTED_MAX", 3)
    monkeypatch.setattr(order_timeline, "_SPANS_AT_ONCE", 4)
    await fixture.trade(200, fixture.begin_us)
    await fixture.timeline.update()
    await fixture.change(60)
    wanted, page = OrderFilter(status="open"), Page(50, 0)
    assert await fixture.orders("main", wanted, page) == fixture.expected("main", wanted, page)
    await fixture.timeline.update()
    use_only_counts(monkeypatch)
    await fixture.check()


async def test_changes_long_ago_are_no_longer_looked_at(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fixture.trade(100, fixture.begin_us)
    await fixture.timeline.update()
    await fixture.change(10)
    monkeypatch.setattr(order_timeline, "_CHANGES_KEPT_US", -1_000_000)
    await fixture.timeline.update()
    spans = fixture.timeline._spans
    assert spans is not None
    assert not spans.seen
    use_only_counts(monkeypatch)
    await fixture.check()


async def test_a_list_that_began_before_a_change_was_counted_does_not_undo_that(fixture: Fixture) -> None:
    """PostgreSQL has several readers at once, and each sees the orders as they were when it began."""
    await fixture.trade(100, fixture.begin_us)
    await fixture.timeline.update()
    wanted, page = OrderFilter(status="open"), Page(50, 0)
    if isinstance(fixture.engine, SqliteEngine):
        pytest.skip("SQLite has one reader")
    before = fixture.expected("main", wanted, page)

    async def read(records: Records) -> tuple[list[AccountOrder], int]:
        await records.now_us()  # It sees the store as of now.
        await fixture.change(3)
        assert await fixture.orders("main", wanted, page) == fixture.expected("main", wanted, page)
        return await records.orders("main", wanted, page)

    # One snapshot for the whole transaction, as every read of the desk has.
    assert await fixture.records.read("old", read) == before
    assert await fixture.orders("main", wanted, page) == fixture.expected("main", wanted, page)
    await fixture.check()


async def test_the_newest_production_orders_are_found_without_counts(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_only_counts(monkeypatch)
    await fixture.trade(80, fixture.begin_us)
    for broker, number in product(BROKERS, (1, 5, 16, 100)):
        everything = sorted(
            (each for each in fixture.placed if (each.broker, each.environment) == (broker, "production")),
            key=lambda each: (each.order.created_at_us, each.order.ordinal, each.order.id),
            reverse=True,
        )

        async def read(records: Records, broker: str = broker, number: int = number) -> list[AccountOrder]:
            return await records.newest_production_orders(broker, number)

        found = await fixture.records.read("newest", read)
        assert [each.order for each in found] == [each.order for each in everything[:number]]
        assert [each.login_id for each in found] == [each.login_id for each in everything[:number]]


async def test_lists_need_no_counts(fixture: Fixture) -> None:
    """As in a command, or before all orders are counted."""
    await fixture.trade(40, fixture.begin_us)
    for broker, source in product(BROKERS, (None, "web")):
        wanted = OrderFilter(source=source)
        assert await fixture.orders(broker, wanted, Page(50, 0)) == fixture.expected(
            broker, wanted, Page(50, 0)
        )


@pytest.mark.parametrize("counted_max", [5, 1_000])
async def test_the_newest_of_a_list_are_found_before_all_are_counted(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch, counted_max: int
) -> None:
    use_only_counts(monkeypatch)
    monkeypatch.setattr(newest_orders, "COUNTED_MAX", counted_max)
    await fixture.trade(120, fixture.begin_us)
    await fixture.change(30)
    times = (None, fixture.placed[60].order.created_at_us)
    wanted_lists = [
        OrderFilter(environment, status=status, symbol_code=symbol, source=source, since_us=since_us)
        for environment, status, symbol, source, since_us in product(
            (None, *Environment), (None, *Status), (None, "SILVER"), (None, "web"), times
        )
        if (symbol, source, since_us) != (None, None, None) or status not in (None, Status.FILLED)
    ]
    for wanted in fixture.chance.sample(wanted_lists, 60):
        broker, offset = fixture.chance.choice(list(BROKERS)), fixture.chance.choice([0, 4])
        expected, number = fixture.expected(broker, wanted, Page(min(3, counted_max - offset), offset))
        total = OrderTotal(min(number, counted_max), exact=number <= counted_max)
        assert await fixture.at_once(broker, wanted, Page(3, offset)) == (expected, total), wanted


async def test_sums_of_the_newest_are_the_same_before_and_after_all_are_counted(fixture: Fixture) -> None:
    await fixture.trade(120, fixture.begin_us)
    await fixture.change(30)
    since_us = fixture.placed[60].order.created_at_us
    wanted_lists = [
        OrderFilter(),
        OrderFilter(Environment.TEST),
        OrderFilter(status="open"),
        OrderFilter(Environment.PRODUCTION, symbol_code="SILVER", since_us=since_us),
        OrderFilter(source="web", status="filled"),
        OrderFilter(login_id="one", status="open"),
    ]
    for counted in (False, True):
        if counted:
            await fixture.timeline.update()
        for wanted in wanted_lists:
            newest, number = fixture.expected("main", wanted, Page(20, 0))
            summed = await fixture.newest_sums("main", wanted, min(20, number))
            assert number > 0
            assert sum(each.orders for each in summed) == len(newest)
            assert sums(summed) == sums(OrderSum.of_one(each.order) for each in newest), wanted


async def test_test_orders_are_counted_by_their_books(fixture: Fixture) -> None:
    await fixture.trade(60, fixture.begin_us)
    wanted, page = OrderFilter(status="filled"), Page(5, 2)
    found, total = await fixture.at_once("main", wanted, page)
    assert (found, total.number) == fixture.expected("main", wanted, page)
    assert total.exact
    none = OrderFilter(Environment.PRODUCTION, status="filled")
    assert await fixture.at_once("main", none, page) == ([], OrderTotal(0))
    assert await fixture.at_once("main", OrderFilter(symbol_code="\0"), page) == ([], OrderTotal(0))


async def test_a_search_ends_after_so_many_orders_until_all_are_counted(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newest_orders, "_LOOKED_AT_MAX", 10)
    await fixture.trade(100, fixture.begin_us)
    wanted, page = OrderFilter(source="web"), Page(50, 0)
    looked_at = sorted((each.order for each in fixture.placed), key=lambda each: each.id)[-11:]
    found, total = await fixture.at_once("main", wanted, page)
    whole, number = fixture.expected("main", wanted, page)
    assert [each.order for each in found] == [each.order for each in whole if each.order in looked_at]
    assert total == OrderTotal(len(found), exact=False)
    with pytest.raises(OrdersNotCounted):
        await fixture.orders("main", wanted, page)
    # No other broker's orders, nor those of another status, use up the search of one status.
    wanted = OrderFilter(status="pending", source="web", since_us=fixture.placed[-8].order.created_at_us)
    found, total = await fixture.at_once("main", wanted, page)
    assert (found, total.number) == fixture.expected("main", wanted, page)
    assert total.exact
    await fixture.timeline.update()
    found, total = await fixture.at_once("main", OrderFilter(source="web"), page)
    assert (found, total) == (whole, OrderTotal(number))
    assert await fixture.orders("main", OrderFilter(source="web"), page) == (whole, number)


async def test_a_reset_is_seen_at_once(fixture: Fixture, monkeypatch: pytest.MonkeyPatch) -> None:
    await fixture.trade(120, fixture.begin_us)
    await fixture.timeline.update()
    await fixture.reset(("main", "one", Environment.TEST))
    wanted, page = OrderFilter(environment=Environment.TEST), Page(50, 0)
    assert await fixture.orders("main", wanted, page) == fixture.expected("main", wanted, page)
    await fixture.timeline.update()
    use_only_counts(monkeypatch)
    await fixture.check()


async def test_a_booking_that_was_committed_late_is_found(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, *others = fixture.books
    for each in others:
        await fixture.trade(12, fixture.begin_us + 10_000_000, each)
    await fixture.timeline.update()
    await fixture.trade(1, fixture.begin_us, late)
    await fixture.timeline.check()
    await fixture.timeline.update()
    use_only_counts(monkeypatch)
    await fixture.check()


async def test_right_counts_are_kept(fixture: Fixture) -> None:
    await fixture.trade(60, fixture.begin_us)
    await fixture.timeline.update()
    spans = fixture.timeline._spans
    await fixture.trade(20, fixture.begin_us + AN_HOUR_US // 2)
    await fixture.timeline.check()
    await fixture.timeline.update()
    assert fixture.timeline._spans is spans


async def test_counts_are_not_used_after_the_clock_was_set_back(fixture: Fixture) -> None:
    await fixture.trade(60, fixture.begin_us)
    await fixture.timeline.update()
    spans = fixture.timeline._spans
    assert spans is not None
    later_us = time_ns() // 1000 + AN_HOUR_US
    spans.counts.append({})
    spans.ends.append(order_id(later_us, 1, 0))
    wanted, page = OrderFilter(source="api"), Page(50, 0)
    assert await fixture.orders("main", wanted, page) == fixture.expected("main", wanted, page)
    await fixture.timeline.update()
    assert fixture.timeline._spans is not spans


async def test_pages_of_one_account_are_merged_from_its_books(fixture: Fixture) -> None:
    await fixture.trade(150, fixture.begin_us)
    await fixture.reset(("main", "two", Environment.TEST))
    await fixture.trade(150, fixture.begin_us + 60_000_000)
    times = [None, *(each.order.created_at_us for each in fixture.chance.sample(fixture.placed, 3))]
    for login_id, environment, since_us in product(("one", "two", "nobody"), (None, *Environment), times):
        wanted = OrderFilter(login_id=login_id, environment=environment, since_us=since_us)
        expected = sorted(
            (each.order for each in fixture.placed if each.matches("main", wanted)),
            key=lambda order: (order.created_at_us, order.ordinal, order.id),
            reverse=True,
        )
        for offset in (0, 1, 2, 17, 40, 80, len(expected) - 1, len(expected), 2**62):
            found, total = await fixture.orders("main", wanted, Page(5, max(0, offset)))
            shown = expected[max(0, offset) : max(0, offset) + 5]
            assert (total, [each.order for each in found]) == (len(expected), shown), (wanted, offset)
            assert all((each.login_id, each.archived) == (login_id, False) for each in found)


async def test_a_primary_that_lacks_the_last_changes_is_counted_anew(
    fixture: Fixture, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fixture.trade(200, fixture.begin_us)
    await fixture.timeline.update()
    before = {each.order.id: each.order for each in fixture.placed}
    await fixture.change(4)
    await fixture.check(20)
    # A standby takes over that never had these changes.
    await rows(engine, "DELETE FROM order_events")
    for each in fixture.placed:
        lost, each.order = each.order, before[each.order.id]
        if lost is not each.order:
            await rows(
                engine, "UPDATE orders SET status = $1 WHERE id = $2", each.order.status, each.order.id
            )
    monkeypatch.setattr(engine, "failovers", engine.failovers + 1)
    await fixture.check(20)
    async with asyncio.timeout(10):
        await fixture.timeline.update()
    use_only_counts(monkeypatch)
    await fixture.check()
