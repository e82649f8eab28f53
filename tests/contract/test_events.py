"""The events of accounts on both engines: every one once, in order, without gaps, and as it was then."""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from bullion.accounts.switches import Switches
from bullion.allocation.book import account_of
from bullion.api.wire.events import event_json
from bullion.api.wire.orders import order_view
from bullion.books.verify import verify_books
from bullion.environment import Environment
from bullion.events.event import AccountEvent, EventsGone, EventType
from bullion.events.recent_orders import RecentOrders
from bullion.events.watch import EventWatch
from bullion.keys.key import Key
from bullion.orders.life import hidden
from bullion.orders.order import Order
from bullion.orders.status import Event
from bullion.records.clients import Allocation
from bullion.store.engine import Engine
from bullion.store.event_entering import EventEntering
from bullion.store.event_reader import DAY_US, StoredEvents
from bullion.store.postgres import PostgresEngine
from bullion.store.records import Records, RecordStore
from bullion.store.sqlite import SqliteEngine
from tests.booking.fixtures import GOLD, NOW_US, create_books, put, rows

from .dealings import Dealings
from .desk_over import desk_over

pytestmark = pytest.mark.anyio

ENTERED = {"open": "order.opened", "rejected": "order.rejected", "closing": "order.closing"} | {
    status: f"order.{status}" for status in ("closed", "deleted")
}


def stored(engine: Engine, days: int = 3650, now_us: int = NOW_US) -> StoredEvents:
    assert isinstance(engine, PostgresEngine | SqliteEngine)
    return StoredEvents(engine, days, lambda: now_us)


def entering(engine: Engine) -> EventEntering:
    return EventEntering(engine, 30, lambda: NOW_US, lambda: 1)


@pytest.fixture
async def dealings(engine: Engine) -> Dealings:
    return await Dealings.open(engine)


async def all_events(engine: Engine, book: int, limit: int = 200) -> list[AccountEvent]:
    """Read page by page, from the first."""
    found: list[AccountEvent] = []
    while page := await stored(engine).read(book, found[-1].number if found else None, limit):
        found += page
    return found


class History:
    """Does random things to a book, and notes what its account must be told."""

    def __init__(self, dealings: Dealings, seed: int) -> None:
        self.dealings = dealings
        self.book = dealings.books[0]
        self.random = random.Random(seed)  # noqa: S311 - no secret
        self.expected: list[tuple[str, Any]] = []
        self.orders: list[Order] = []

    async def act(self) -> None:
        self.dealings.now_us += self.random.randrange(3)
        await self.random.choice((self._place, self._place, self._place, self._change, self._tell))()

    async def _place(self) -> None:
        source = self.random.choice(("api", "api", "web"))
        order = await self.dealings.place(self.book, self.random.choice(("buy", "sell")), source=source)
        self._note("order.created", order)
        self.orders.append(order)

    async def _change(self) -> None:
        if not self.orders:
            return
        place = self.random.randrange(len(self.orders))
        before = self.orders[place]
        match before.status:
            case "pending" if self.random.random() < 0.7:
                now = await self.dealings.answer(before)
            case "pending":
                now = await self.dealings.lead(before, self.random.choice(("rejected", "deleted")))
            case "open":
                now = await self.dealings.change(before, self.random.choice((Event.CLOSE, Event.DELETE)))
            case "closing":
                now = await self.dealings.change(before, Event.COMPLETE, close_price_paise=7_000_001)
            case _:
                return
        self.orders[place] = now
        self._note(ENTERED[now.status], now)

    async def _tell(self) -> None:
        halted = self.random.random() < 0.5
        gold_e4 = self.random.randrange(10**11, 10**12)

        async def body(records: Records) -> bool:
            if gold_e4 % 2:
                await records.set_allocation(account_of(self.book), Allocation(gold_e4, 10**12))
                return False
            before = await records.switches("main") or Switches("main")
            await records.put_switches(Switches("main", halted=halted))
            return before.halted != halted

        if await RecordStore(self.dealings.engine).write("tell", body):
            assert await entering(self.dealings.engine).enter()
            self.expected.append(("trading.halted" if halted else "trading.resumed", {"halted": halted}))
        elif gold_e4 % 2:
            self.expected.append(("allocation.changed", gold_e4))

    def _note(self, kind: str, order: Order) -> None:
        if not hidden(order):
            self.expected.append((kind, order_view(order)))


def told(event: AccountEvent) -> tuple[str, Any]:
    if event.order is not None:
        return event.type, order_view(event.order)
    assert event.detail is not None
    if event.type is EventType.ALLOCATION_CHANGED:
        return event.type, event.detail["gold"][1]
    return event.type, event.detail


@pytest.mark.parametrize("seed", range(3))
async def test_a_reader_finds_exactly_what_happened(dealings: Dealings, engine: Engine, seed: int) -> None:
    history = History(dealings, seed)
    await RecordStore(engine).write("switches", lambda records: records.put_switches(Switches("main")))
    for _ in range(60):
        await history.act()
    for limit in (1, 3, 200):
        found = await all_events(engine, history.book, limit)
        assert [told(event) for event in found] == history.expected
        assert [event.number for event in found] == list(range(1, len(found) + 1))
        assert len({event.id for event in found}) == len(found)
    reader = stored(engine)
    reader.recent = RecentOrders(lambda _book_id: True)
    for order in history.orders[1::2]:
        reader.recent.add(order)
    assert [told(event) for event in await reader.read(history.book, 0, 200)] == history.expected
    for after in range(len(history.expected) + 1):
        page = await stored(engine).read(history.book, after, 4)
        assert [told(event) for event in page] == history.expected[after : after + 4]
    assert (await stored(engine).newest([history.book]))[history.book] == len(history.expected)


async def test_an_event_never_changes(dealings: Dealings, engine: Engine) -> None:
    book = dealings.books[0]
    orders = [await dealings.place(book) for _ in range(3)]
    seen: dict[int, bytes] = {}
    for order, status in zip(orders, ("closed", "rejected", "deleted"), strict=True):
        await dealings.lead(order, status)
        now = {event.number: event_json(event) for event in await all_events(engine, book)}
        assert seen.items() <= now.items()
        seen = now
    assert len(seen) == 3 + 3 + 1 + 1


async def test_confirmations_of_one_batch_have_numbers_of_their_own(dealings: Dealings) -> None:
    """On PostgreSQL they are one statement, while other orders of the book are recorded."""
    book, engine = dealings.books[0], dealings.engine

    async def place_and_confirm(source: str) -> None:
        order = await dealings.place(book, source=source)
        await dealings.answer(order)

    sources = ["web" if each % 3 == 0 else "api" for each in range(24)]
    await asyncio.gather(*map(place_and_confirm, sources))
    found = await all_events(engine, book)
    assert [event.number for event in found] == list(range(1, len(found) + 1))
    kinds = [event.type for event in found]
    assert (kinds.count(EventType.ORDER_CREATED), kinds.count(EventType.ORDER_OPENED)) == (16, 24)
    for event in found:
        assert event.order is not None
        if event.type is EventType.ORDER_OPENED and event.order.source == "api":
            created = [
                each for each in found[: event.number] if each.order and each.order.id == event.order.id
            ]
            assert created[0].type is EventType.ORDER_CREATED


async def test_a_halt_is_told_to_every_account_once_and_to_new_ones_not(dealings: Dealings) -> None:
    engine = dealings.engine
    for halted in (False, True, True, False):
        await put(dealings.engine, Switches("main", halted=halted))
    await put(engine, replace(GOLD, frozen=True))
    assert await entering(engine).enter()
    assert await entering(engine).enter()
    for book in (dealings.books[0], dealings.books[1] - 1):
        found = await all_events(engine, book)
        assert [event.type for event in found] == ["trading.halted", "trading.resumed", "symbol.frozen"]
    (later,) = await create_books(engine, 1, login="later")
    assert await all_events(engine, later) == []


async def test_a_locked_book_is_told_when_it_is_free_again(dealings: Dealings, other_engine: Engine) -> None:
    if isinstance(dealings.engine, SqliteEngine):
        return  # There is one writer: nobody holds a book.
    engine, book = dealings.engine, dealings.books[0]
    for halted in (False, True):
        await put(dealings.engine, Switches("main", halted=halted))

    async def hold(transaction: Any) -> bool:
        await transaction.run("lock_book", book)
        return await entering(engine).enter()

    assert not await other_engine.write("hold", hold)
    assert [event.type for event in await all_events(engine, dealings.books[1])] == ["trading.halted"]
    assert await all_events(engine, book) == []
    assert await entering(engine).enter()
    assert [event.type for event in await all_events(engine, book)] == ["trading.halted"]


# --- What is kept -------------------------------------------------------------------------------------


async def test_a_revocation_does_not_wait_for_a_locked_book(dealings: Dealings, other_engine: Engine) -> None:
    engine, book = dealings.engine, dealings.books[0]
    store = RecordStore(engine)
    key = Key(
        "k1", "main", account_of(book), Environment.PRODUCTION, "n", frozenset(), b"\0" * 32, (), NOW_US
    )
    await store.write("key", lambda records: records.insert_key(key))

    async def revoke_while_held(transaction: Any) -> None:
        await transaction.run("lock_book", book)
        await store.write("revoke", lambda records: records.revoke_key(key, NOW_US))
        assert not await entering(engine).enter()

    if isinstance(engine, SqliteEngine):  # There is one writer: nobody holds a book.
        await store.write("revoke", lambda records: records.revoke_key(key, NOW_US))
    else:
        await other_engine.write("hold", revoke_while_held)
        assert await all_events(engine, book) == []
    await dealings.place(book)
    assert await entering(engine).enter()
    kinds = [event.type for event in await all_events(engine, book)]
    assert sorted(kinds) == ["key.revoked", "order.created"]
    assert await entering(engine).enter()
    assert len(await all_events(engine, book)) == 2
    await dealings.sound()


async def test_old_events_and_unknown_numbers_are_gone(dealings: Dealings, engine: Engine) -> None:
    book = dealings.books[0]
    for day in range(5):
        dealings.now_us = NOW_US + day * DAY_US
        await dealings.lead(await dealings.place(book), "open")
    reader = stored(engine, days=2, now_us=dealings.now_us)
    assert await reader.range(book) == (5, 10)
    assert [event.number for event in await reader.read(book, None, 99)] == [5, 6, 7, 8, 9, 10]
    assert [event.number for event in await reader.read(book, 4, 1)] == [5]
    for after in (0, 3, 11):
        with pytest.raises(EventsGone) as gone:
            await reader.read(book, after, 99)
        assert (gone.value.oldest, gone.value.newest) == (5, 10)
    assert await reader.read(book, 10, 99) == []


async def test_deleting_old_events_keeps_the_numbers_of_the_others(
    dealings: Dealings, engine: Engine
) -> None:
    book = dealings.books[0]
    store = RecordStore(engine)
    for day in range(40):
        dealings.now_us = NOW_US + day * DAY_US
        await dealings.place(book, source="api" if day % 2 else "web")
        await store.write(
            "limit", lambda records: records.set_allocation(account_of(book), Allocation(10**12, 10**12))
        )
        # The desk takes the store's own clock, which this test cannot move.
        await rows(
            engine, "UPDATE account_events SET at_us = $1 WHERE at_us < $2", dealings.now_us, NOW_US - DAY_US
        )
    reader = stored(engine, days=30, now_us=dealings.now_us)
    before = await reader.read(book, None, 200)
    cleaning = EventEntering(engine, 30, lambda: dealings.now_us, lambda: 1)
    await cleaning._delete_old()
    kept = await rows(engine, "SELECT kind FROM account_events WHERE book_id = $1 ORDER BY number", book)
    assert 40 < len(kept) < 60
    assert [row["kind"] for row in kept].count("start") == 1
    assert await reader.read(book, None, 200) == before
    assert await reader.range(book) == (before[0].number, before[-1].number)
    # A longer time does not bring back what was deleted.
    longer = stored(engine, days=90, now_us=dealings.now_us)
    oldest, newest = await longer.range(book)
    assert 1 < oldest < before[0].number
    assert newest == before[-1].number
    assert (await longer.read(book, None, 200))[-len(before) :] == before
    with pytest.raises(EventsGone):
        await longer.read(book, oldest - 2, 200)
    report = await verify_books(engine, desk_over(engine).chain)
    assert [each for each in report.differences if each.kind == "event"] == []


# --- Waiting ------------------------------------------------------------------------------------------


@pytest.fixture
async def watch(engine: Engine) -> AsyncIterator[EventWatch]:
    watch = EventWatch(stored(engine))
    running = asyncio.create_task(watch.run())
    yield watch
    running.cancel()


async def test_who_waits_is_told_at_once(dealings: Dealings, watch: EventWatch) -> None:
    waiting = asyncio.create_task(watch.wait_beyond(dealings.books[0], 0, 30))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    await dealings.place(dealings.books[0])
    assert await asyncio.wait_for(waiting, 10)
    assert await watch.wait_beyond(dealings.books[0], 0, 30), "it has happened already"
    assert not await watch.wait_beyond(dealings.books[0], 1, 0.3)
    with watch.watch(dealings.books[0], lambda _: None):
        assert not await watch.wait_beyond(dealings.books[0], 7, 0.3), "the store has less than was read"


async def test_nobody_waits_for_a_node_that_stops(dealings: Dealings, watch: EventWatch) -> None:
    waiting = asyncio.create_task(watch.wait_beyond(dealings.books[0], 0, 30))
    await asyncio.sleep(0.05)
    watch.stop()
    assert not await asyncio.wait_for(waiting, 5)
