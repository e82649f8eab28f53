"""The house's book in the store: its position moves with the orders, and its limit holds orders back."""

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable

import msgspec
import pytest

from bullion.booking.attempt import ToHedge
from bullion.books.verify import verify_books
from bullion.hedge.venue import Fill, PartiallyFilled
from bullion.metals.fine_weight import fine_mg
from bullion.metals.metal import Metal
from bullion.orders.order import Order
from bullion.orders.status import Event
from bullion.records.hedge_book import BookPosition
from bullion.store import prepared_queries
from bullion.store.book_records import clients_mg
from bullion.store.engine import Engine, Row, Transaction, one_row
from bullion.store.house_book import StoredHouseBook
from bullion.store.postgres import PostgresEngine
from bullion.store.records import Records, RecordStore
from tests.booking.conftest import postgres_engine  # noqa: F401 - fixtures

from .dealings import PRICED, Dealings
from .desk_over import desk_over

pytestmark = pytest.mark.anyio

GRAM = 999
"""The fine milligrams of a gram of usual gold."""
SIDES = ("buy", "buy", "sell")


class House:
    """A broker's dealings with a hedge book."""

    def __init__(self, dealings: Dealings) -> None:
        self.dealings = dealings
        ticks = itertools.count()
        self.book = StoredHouseBook(dealings.engine, lambda: dealings.now_us + next(ticks))

    async def open(self, metal: Metal = Metal.GOLD, limit_mg: int = 100 * GRAM, policy: str = "book") -> None:
        broker = self.dealings.broker
        wanted = BookPosition(broker, metal, policy, limit_mg, 0)

        async def body(records: Records) -> None:
            if await records.lock_book_position(broker, metal) is None:
                await records.open_book(wanted)
            else:
                await records.set_book_terms(wanted)

        await RecordStore(self.dealings.engine).write("open book", body)

    async def position(self, metal: Metal = Metal.GOLD) -> BookPosition:
        async def body(records: Records) -> BookPosition:
            return (await records.book_positions(self.dealings.broker))[metal]

        return await RecordStore(self.dealings.engine).read("position", body)

    async def place(self, book: int, side: str, grams: int) -> ToHedge:
        """An order that the book must confirm, recorded and not judged yet."""
        entry = self.dealings.entry(book, side, grams * 10_000)
        entry.verdict = msgspec.structs.replace(PRICED["GOLD"], in_book=True)
        (plan,), recorded = await self.dealings.record_locked(entry)
        assert recorded.books[book].recorded
        return plan.to_hedge[0]

    async def deal(self, book: int, side: str, grams: int) -> Order:
        return await self.book.judge(await self.place(book, side, grams))

    async def sound(self) -> None:
        """H2, and that each position is the sum of its entries."""
        for metal, position in (await self.metals()).items():
            assert position.client_mg == await self.clients_mg(metal)
            entries = await self.dealings.rows(
                "SELECT ordinal, client_mg, cover_mg FROM book_entries WHERE metal = $1 ORDER BY ordinal",
                metal.value,
            )
            assert [row["ordinal"] for row in entries] == list(range(1, position.version + 1))
            assert sum(row["client_mg"] for row in entries) == position.client_mg
            assert sum(row["cover_mg"] for row in entries) == position.cover_mg
            assert (position.open_since_us is None) == (position.residual_mg == 0)
        assert await self.differences() == []
        await self.dealings.sound()

    async def differences(self) -> list[str]:
        """What `books verify` finds. Without the trail, which these dealings do not write."""
        report = await verify_books(self.dealings.engine, desk_over(self.dealings.engine).chain)
        return [str(each) for each in report.differences if each.kind != "audit"]

    async def clients_mg(self, metal: Metal) -> int:
        return await self.dealings.engine.read(
            "clients", lambda open_: clients_mg(open_, "main", metal.value)
        )

    async def metals(self) -> dict[Metal, BookPosition]:
        return await RecordStore(self.dealings.engine).read(
            "positions", lambda records: records.book_positions("main")
        )


@pytest.fixture
async def house(engine: Engine) -> House:
    return House(await Dealings.open(engine, 4))


async def test_on_postgresql_who_looks_whether_there_is_a_book_does_not_wait_for_its_position(
    postgres_engine: PostgresEngine,  # noqa: F811
) -> None:
    """Otherwise confirmations, who have locked books of clients by then, could close a circle of waits."""
    await House(await Dealings.open(postgres_engine, 1)).open()

    async def body(transaction: Transaction) -> Row:
        await one_row(transaction, "lock_book_position", "main", Metal.GOLD.value)
        look = postgres_engine.write("look", lambda other: one_row(other, "keeps_books"))
        return await asyncio.wait_for(look, 3)

    assert (await postgres_engine.write("hold", body))["kept"] == 1


async def test_without_a_book_nothing_is_entered(house: House) -> None:
    order = await house.dealings.place(house.dealings.books[0])
    await house.dealings.lead(order, "closed")
    assert await house.dealings.rows("SELECT * FROM book_entries") == []
    assert await house.metals() == {}


async def test_a_book_opens_with_the_deals_that_there_are_and_counts_them_as_covered(house: House) -> None:
    dealings = house.dealings
    for side, grams in (("buy", 50), ("sell", 8)):
        await dealings.answer(await dealings.place(dealings.books[0], side, grams * 10_000))
    await dealings.place(dealings.books[1], "buy", 70_000)  # Pending: no deal yet.
    await house.open()
    position = await house.position()
    assert (position.client_mg, position.residual_mg) == (-42 * GRAM, 0)
    await house.sound()


async def test_a_book_that_opens_while_orders_are_confirmed_misses_none(house: House) -> None:
    dealings = house.dealings
    orders = [await dealings.place(book, "buy", 10_000) for _ in range(6) for book in dealings.books]
    first, later = orders[: len(orders) // 2], orders[len(orders) // 2 :]

    async def answer_later() -> None:
        for order in later:
            await dealings.answer(order)

    await asyncio.gather(*map(dealings.answer, first), answer_later(), house.open(policy="each"))
    position = await house.position()
    assert position.client_mg == -len(orders) * GRAM
    assert position.residual_mg == 0
    await house.sound()


async def test_under_each_a_confirmation_moves_clients_and_cover_together(house: House) -> None:
    await house.open(policy="each")
    dealings = house.dealings
    order = await dealings.answer(await dealings.place(dealings.books[0], "buy", 30_000))
    position = await house.position()
    assert (position.client_mg, position.cover_mg) == (-3 * GRAM, 3 * GRAM)
    await dealings.close(order, complete=True)
    position = await house.position()
    assert (position.client_mg, position.cover_mg) == (0, 3 * GRAM)  # The cover must be unwound.
    assert position.open_since_us == dealings.now_us
    await house.sound()


async def test_an_order_that_weighs_less_than_a_milligram_is_sound(house: House) -> None:
    await house.open(policy="each")
    dealings = house.dealings
    for quantity_e4 in (1, 5, 6):
        await dealings.answer(await dealings.place(dealings.books[0], "buy", quantity_e4))
    assert (await house.position()).client_mg == -1
    await house.sound()


async def test_a_rest_that_the_venue_cannot_deal_stays_in_the_residual(house: House) -> None:
    await house.open(policy="each")
    dealings = house.dealings
    for side, left in (("buy", -2 * GRAM), ("sell", 0)):
        order = await dealings.place(dealings.books[0], side, 100_000)
        fill = Fill(f"F-{side}", 8_0000_0000, 71_000_000_000, 5)
        rest = PartiallyFilled(f"P-{side}", (fill,), 2 * GRAM, "below the step", below_step=True)
        done = await dealings.requests.answer(await dealings.to_hedge(order), rest)
        assert done.status == "open"
        assert (await house.position()).residual_mg == left
    await house.sound()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE book_positions SET client_mg = client_mg + 1",
        "UPDATE book_positions SET cover_mg = cover_mg + 1",
        "UPDATE book_entries SET cover_mg = cover_mg + 1 WHERE ordinal = 2",
        "DELETE FROM book_entries WHERE ordinal = 2",
    ],
)
async def test_a_falsified_book_is_found(house: House, change: str) -> None:
    await house.open()
    await house.deal(house.dealings.books[0], "buy", 5)
    await house.sound()
    await house.dealings.rows(change)
    assert await house.differences() != []


@pytest.mark.parametrize("seed", range(2))
async def test_after_a_random_history_the_position_is_the_sum_of_the_orders(house: House, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    dealings = house.dealings
    await house.open(limit_mg=60 * GRAM)
    await house.open(Metal.SILVER, limit_mg=10**9, policy="each")
    live: list[Order] = []
    for _ in range(60):
        book = chance.choice(dealings.books)
        match chance.choice(["book", "book", "each", "each", "change", "change", "review"]):
            case "book":
                live.append(await house.deal(book, chance.choice(["buy", "sell"]), chance.randint(1, 40)))
            case "each":
                symbol, side = chance.choice(["GOLD", "SILVER"]), chance.choice(["buy", "sell"])
                order = await dealings.place(book, side, chance.randint(1, 99_999), symbol)
                live.append(await dealings.lead(order, chance.choice(["open", "rejected", "deleted"])))
            case "change" if live:
                order = live.pop(chance.randrange(len(live)))
                if order.status == "open":
                    way = chance.choice(["delete", "complete", "close"])
                    if way == "delete":
                        await dealings.change(order, Event.DELETE)
                    else:
                        await dealings.close(order, complete=way == "complete")
            case "review":
                await house.book.review()
    await house.sound()


async def test_the_limit_holds_back_what_enlarges_the_residual_and_nothing_else(house: House) -> None:
    await house.open(limit_mg=100 * GRAM)
    first, second, third, fourth = house.dealings.books
    assert (await house.deal(first, "buy", 90)).status == "open"
    elder = await house.deal(second, "buy", 20)
    assert elder.status == "pending"
    assert (
        await house.deal(third, "buy", 5)
    ).status == "pending"  # It would fit, but it is behind its elder.
    assert (await house.position()).client_mg == -90 * GRAM
    assert (await house.deal(fourth, "sell", 10)).status == "open"  # Which makes room for the elder.
    assert (await house.dealings.reader.order(second, elder.id)).status == "open"  # type: ignore[union-attr]
    assert (await house.position()).client_mg == -100 * GRAM
    await house.sound()


async def test_an_order_beyond_the_whole_limit_is_confirmed_when_it_reduces_the_residual(
    house: House,
) -> None:
    await house.open(limit_mg=10 * GRAM)
    large = await house.deal(house.dealings.books[0], "buy", 500)
    assert large.status == "pending"
    assert await house.book.review() == 0
    await house.dealings.rows("UPDATE book_positions SET cover_mg = cover_mg + $1", 500 * GRAM)
    assert await house.book.review() == 1
    assert (await house.position()).residual_mg == 0


async def test_orders_that_fit_only_together_are_confirmed_together(house: House) -> None:
    await house.open(limit_mg=10 * GRAM)
    first, second, *_ = house.dealings.books
    elder = await house.deal(first, "buy", 25)
    assert elder.status == "pending"
    assert (await house.deal(second, "sell", 24)).status == "open"
    assert (await house.dealings.reader.order(first, elder.id)).status == "open"  # type: ignore[union-attr]
    assert (await house.position()).residual_mg == -GRAM
    await house.sound()


async def test_an_order_of_a_node_that_stopped_is_confirmed_by_the_next_review(house: House) -> None:
    await house.open()
    left = await house.place(house.dealings.books[0], "buy", 5)
    assert await house.book.review() == 0  # Its node may still be working on it.
    house.dealings.now_us += 6_000_000
    assert await house.book.review() == 1
    assert (
        await house.book.judge(left)
    ).status == "pending"  # The caller's memory: it is not confirmed twice.
    assert (await house.position()).client_mg == -5 * GRAM
    await house.sound()


async def test_an_order_that_is_to_go_to_the_venue_is_not_confirmed_by_the_book(house: House) -> None:
    await house.open()
    dealings = house.dealings
    order = await dealings.place(dealings.books[0], "buy", 10_000)
    to_hedge = await dealings.to_hedge(order)
    assert (await house.book.judge(to_hedge)).status == "pending"
    assert (await dealings.request(order))["tries"] == 0


async def test_on_postgresql_orders_with_plenty_of_room_take_one_statement(
    postgres_engine: PostgresEngine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House(await Dealings.open(postgres_engine, 3))
    await house.open()
    placed = [
        await house.place(book, side, 30) for book, side in zip(house.dealings.books, SIDES, strict=True)
    ]
    with monkeypatch.context() as patched:
        patched.delattr(PostgresEngine, "write")
        orders = await asyncio.gather(*map(house.book.judge, placed))
    assert [order.status for order in orders] == ["open"] * 3
    assert sorted(order.deal_no or 0 for order in orders) == [1, 2, 3]
    assert (await house.position()).client_mg == -30 * GRAM
    entered = await house.dealings.rows("SELECT name FROM book_entries WHERE kind = 'deal' ORDER BY ordinal")
    assert [row["name"] for row in entered] == sorted(order.id for order in orders)
    await house.sound()


Changes = Callable[[Transaction], Awaitable[None]]


async def judged_while(house: House, order: ToHedge, changes: Changes, more: Changes | None = None) -> Order:
    """The order, judged while a transaction has made these changes and is not committed yet.

    `more`: what the transaction does when the order waits for it.
    """
    engine = house.dealings.engine
    waiting = (
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() "
        "AND wait_event_type = 'Lock' AND query LIKE '-- confirm_in_book%'"
    )

    async def body(transaction: Transaction) -> asyncio.Task[Order]:
        await changes(transaction)
        judged = asyncio.create_task(house.book.judge(order))
        while not await house.dealings.rows(waiting):
            assert not judged.done()
            await asyncio.sleep(0.01)
        if more is not None:
            await more(transaction)
        return judged

    return await asyncio.wait_for(await engine.write("changes", body, holding=prepared_queries.ALL), 10)


async def test_on_postgresql_an_order_does_not_pass_one_that_is_held_back_at_the_same_time(
    postgres_engine: PostgresEngine,  # noqa: F811
) -> None:
    house = House(await Dealings.open(postgres_engine, 2))
    await house.open()
    first, second = house.dealings.books
    elder, younger = await house.place(first, "buy", 101), await house.place(second, "buy", 10)

    async def hold_elder(transaction: Transaction) -> None:
        await transaction.run("lock_deals", "main")
        await transaction.run("hold_hedge", elder.order.book_id, elder.order.ordinal, "It waits.")

    assert (await judged_while(house, younger, hold_elder)).status == "pending"
    assert (await house.position()).client_mg == 0
    assert (await house.dealings.request(younger.order))["tries"] == 1
    await house.sound()


async def test_on_postgresql_an_order_does_not_take_room_that_is_taken_away_at_the_same_time(
    postgres_engine: PostgresEngine,  # noqa: F811
) -> None:
    house = House(await Dealings.open(postgres_engine, 1))
    await house.open()
    order = await house.place(house.dealings.books[0], "buy", 10)

    async def lower_limit(transaction: Transaction) -> None:
        await transaction.run("set_book_terms", "main", Metal.GOLD.value, "book", 9 * GRAM, 0)

    assert (await judged_while(house, order, lower_limit)).status == "pending"
    assert (await house.position()).client_mg == 0
    await house.sound()


async def test_on_postgresql_an_order_whose_statement_ends_in_a_deadlock_is_judged_all_the_same(
    postgres_engine: PostgresEngine,  # noqa: F811
) -> None:
    """PostgreSQL ends the one that has waited longer. Nothing of ours takes locks in this order."""
    house = House(await Dealings.open(postgres_engine, 1))
    await house.open()
    order = await house.place(house.dealings.books[0], "buy", 10)

    async def lock_position(transaction: Transaction) -> None:
        await transaction.one("lock_book_position", "main", Metal.GOLD.value)

    async def lock_book(transaction: Transaction) -> None:
        await transaction.run("lock_book", order.order.book_id)

    assert (await judged_while(house, order, lock_position, lock_book)).status == "open"
    assert (await house.position()).client_mg == -10 * GRAM
    await house.sound()


async def test_on_postgresql_orders_of_books_that_stay_locked_are_waited_for(
    postgres_engine: PostgresEngine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first book is free again right before the last try, and the second one after it has begun."""
    monkeypatch.setattr("bullion.store.house_book._PAUSE_S", 0.2)
    house = House(await Dealings.open(postgres_engine, 2))
    await house.open()
    placed = [await house.place(book, "buy", 10) for book in house.dealings.books]

    async def lock(book: int, seconds: float) -> None:
        async def body(transaction: Transaction) -> None:
            await transaction.run("lock_book", book)
            await asyncio.sleep(seconds)

        await postgres_engine.write("lock", body)

    books = zip(house.dealings.books, (0.5, 1.0), strict=True)
    locking = [asyncio.create_task(lock(book, seconds)) for book, seconds in books]
    await asyncio.sleep(0.05)
    orders = await asyncio.gather(*map(house.book.judge, placed))
    await asyncio.gather(*locking)
    assert [order.status for order in orders] == ["open", "open"]
    await house.sound()


async def test_the_limit_holds_while_a_hundred_clients_deal_at_once(engine: Engine) -> None:
    house = House(await Dealings.open(engine, 100))
    limit_mg = 300 * GRAM
    await house.open(limit_mg=limit_mg)
    chance = random.Random(7)  # noqa: S311 - as above
    placed = [
        await house.place(book, chance.choice(["buy", "buy", "sell"]), chance.randint(1, 30))
        for book in house.dealings.books
    ]
    orders = await asyncio.gather(*(house.book.judge(each) for each in placed))
    await house.sound()
    entries = await house.dealings.rows(
        "SELECT client_mg, cover_mg, at_us FROM book_entries WHERE kind = 'deal' ORDER BY ordinal"
    )
    residual_mg = 0
    # Those of one transaction have the same time.
    for _, together in itertools.groupby(entries, lambda row: row["at_us"]):
        after_mg = residual_mg + sum(row["client_mg"] + row["cover_mg"] for row in together)
        assert abs(after_mg) <= max(limit_mg, abs(residual_mg))
        residual_mg = after_mg
    held = [order for order in orders if order.status == "pending"]
    assert len(entries) + len(held) == 100
    # None waits that the limit allows, except behind an elder in the same direction.
    for side in ("buy", "sell"):
        own = sorted((each.id, each) for each in held if each.asked.trade_type == side)
        for _, oldest in own[:1]:
            weight_mg = fine_mg(oldest.asked.quantity_e4, oldest.metal, 9990)
            assert abs(residual_mg + (-weight_mg if side == "buy" else weight_mg)) > limit_mg
