"""Several nodes over the same few books: every order answered once, every book right in the end."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace

import asyncpg
import pytest

from bullion.booking.attempt import Booked, Outcome
from bullion.faults import OutcomeUnknown
from bullion.orders.order_id import order_id
from bullion.orders.request import PlaceOrder
from bullion.store.engine import Engine
from bullion.store.postgres import PostgresEngine
from tests.contract.conftest import MakeEngine
from tests.model import invariants
from tests.support.scale import SCALE

from .fixtures import (
    NOW_US,
    SWITCHES,
    Node,
    asked,
    code,
    create_books,
    failing,
    put,
    rows,
    set_limit,
    store_of,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
async def nodes(make_engine: MakeEngine, engine: Engine) -> AsyncIterator[list[Node]]:
    """Three, each with its own connections; the catalogue is loaded once the books are there."""
    engines = [engine]
    for _ in range(2):
        another = make_engine()
        await another.open()
        engines.append(another)
    yield [Node(each, batch_max=16) for each in engines]
    for each in engines[1:]:
        await each.close()


async def start(nodes: list[Node], books: int, gold_e4: int = 10**9, silver_e4: int = 10**9) -> list[int]:
    found = await create_books(nodes[0].engine, books, gold_e4, silver_e4)
    for node in nodes:
        await node.start()
    return found


async def test_three_nodes_fight_over_twenty_books(nodes: list[Node], engine: Engine) -> None:
    """Orders that grow and reduce, some keys sent to two nodes at once, some twice to the same."""
    books = await start(nodes, 20, gold_e4=60_000, silver_e4=60_000)
    chance = random.Random(20)  # noqa: S311
    calls: list[tuple[int, str, PlaceOrder]] = []
    for number in range(400 * SCALE):
        of = asked(
            chance.choice(["buy", "sell"]),
            chance.choice([10_000, 20_000, 30_000]),
            symbol_code=chance.choice(["GOLD", "SILVER"]),
            expected_price=chance.choice([None, None, None, "1"]),
        )
        calls += [(chance.choice(books), f"k{number}", of)] * chance.choice([1, 1, 1, 2, 3])
    chance.shuffle(calls)

    async def client(mine: list[tuple[int, str, PlaceOrder]]) -> list[tuple[int, str, Outcome]]:
        return [(book, key, await chance.choice(nodes).place(book, key, of)) for book, key, of in mine]

    done = await asyncio.gather(*(client(calls[each::48]) for each in range(48)))
    told = [each for some in done for each in some]
    assert len(told) == len(calls)
    tables = await invariants.check(
        store_of(engine), limits_e4=dict.fromkeys(books, (60_000, 60_000)), other_changes={}
    )
    stored = {(row["book_id"], row["idempotency_key"]): row["id"] for row in tables["orders"]}
    first: Counter[tuple[int, str]] = Counter()
    for book, key, outcome in told:
        if isinstance(outcome, Booked):
            assert stored[book, key] == outcome.order.id
            first[book, key] += not outcome.replayed
    assert set(first.values()) == {1}
    assert set(first) == set(stored)
    moved = {(row["book_id"], row["idempotency_key"]) for row in tables["price_moves"]}
    kinds = Counter(code(outcome) for _, _, outcome in told)
    assert kinds["price_moved"] == len(moved)
    assert set(kinds) == {"booked", "replayed", "limit_exceeded", "price_moved", "price_moved again"}


async def test_one_key_at_three_nodes_at_once_is_one_order(nodes: list[Node], engine: Engine) -> None:
    (book,) = await start(nodes, 1)
    for turn in range(10):
        outcomes = await asyncio.gather(*(node.place(book, f"k{turn}") for node in nodes for _ in range(5)))
        assert Counter(code(outcome) for outcome in outcomes) == {"booked": 1, "replayed": 14}
        assert len({outcome.order.id for outcome in outcomes if isinstance(outcome, Booked)}) == 1
    await invariants.check(store_of(engine), other_changes={})


async def test_one_allocation_at_three_nodes_at_once_is_never_exceeded(
    nodes: list[Node], engine: Engine
) -> None:
    (book,) = await start(nodes, 1, gold_e4=100_000, silver_e4=0)
    outcomes = await asyncio.gather(
        *(node.place(book, f"k{number} {id(node)}") for number in range(20) for node in nodes)
    )
    assert Counter(code(outcome) for outcome in outcomes) == {"booked": 10, "limit_exceeded": 50}
    tables = await invariants.check(store_of(engine), limits_e4={book: (100_000, 0)}, other_changes={})
    assert len(tables["orders"]) == 10


async def test_limits_that_change_all_the_time(nodes: list[Node], engine: Engine) -> None:
    """After every few orders, so that a quick machine meets as many changes as a slow one."""
    books = await start(nodes, 3, gold_e4=50_000, silver_e4=0)
    changes: Counter[int] = Counter()
    told: list[str] = []
    chance = random.Random(3)  # noqa: S311
    orders_each = 12

    async def desk() -> None:
        for orders in range(0, 12 * orders_each, 4):
            while len(told) < orders:
                await asyncio.sleep(0.001)
            book = chance.choice(books)
            await set_limit(engine, book, chance.choice([0, 20_000, 50_000]), 0)
            changes.update([book, book + 1])

    async def client(number: int) -> None:
        for each in range(orders_each):
            told.append(
                await chance.choice(nodes).told(
                    chance.choice(books), f"{number} {each}", asked(chance.choice(["buy", "sell"]))
                )
            )

    await asyncio.gather(desk(), *(client(number) for number in range(12)))
    assert set(told) == {"booked", "limit_exceeded"}
    await invariants.check(
        store_of(engine), limits_e4=dict.fromkeys(books, (50_000, 0)), other_changes=changes
    )


async def test_after_a_halt_is_committed_nobody_books(nodes: list[Node], engine: Engine) -> None:
    """On every node, with orders under way and without a catalogue_follower that follows by itself."""
    books = await start(nodes, 5)
    halted = asyncio.Event()

    async def client(number: int) -> list[tuple[bool, str]]:
        """Some orders, and more until one was sent after the halt."""
        told: list[tuple[bool, str]] = []
        while len(told) < 15 or not told[-1][0]:
            after = halted.is_set()
            node = nodes[(number + len(told)) % 3]
            told.append((after, await node.told(books[number % 5], f"{number} {len(told)}")))
        return told

    async def desk() -> None:
        await asyncio.sleep(0.03)
        await put(engine, replace(SWITCHES, halted=True))
        halted.set()

    told, _ = await asyncio.gather(asyncio.gather(*(client(number) for number in range(15))), desk())
    flat = [each for some in told for each in some]
    assert {word for after, word in flat if after} == {"trading_halted"}
    assert {word for _, word in flat} <= {"booked", "trading_halted"}
    await invariants.check(store_of(engine), other_changes={})


class Lost:
    """A booking whose node lost its connection, or died, and which the server goes on with."""

    def __init__(self, engine: PostgresEngine, book: int) -> None:
        self.engine = engine
        self.book = book

    async def begin(self) -> None:
        """Locked, moved and inserted, not yet committed: a commit can be parked for long."""
        self.connection = await asyncpg.connect(self.engine._url)
        self.transaction = self.connection.transaction()
        await self.transaction.start()
        await self.connection.execute(
            "UPDATE books SET gold_net_e4 = 10000, order_count = 1, last_order_at_us = $2, version = 2 "
            "WHERE id = $1",
            self.book,
            NOW_US,
        )
        await self.connection.execute(
            "INSERT INTO orders VALUES ($1, 1, $2, 'api', 'k', 'GOLD', 'buy', 10000, NULL, NULL, 'gold', "
            "7000000, 7000000, 'filled', NULL, 'mine', $3, '{}')",
            self.book,
            order_id(NOW_US, 1, 1),
            NOW_US,
        )

    async def commit(self) -> None:
        await self.transaction.commit()
        await self.connection.close()

    async def roll_back(self) -> None:
        await self.transaction.rollback()
        await self.connection.close()


@pytest.mark.parametrize("commits", [True, False])
async def test_a_retry_waits_for_what_became_of_a_lost_booking(
    postgres_engine: PostgresEngine, commits: bool
) -> None:
    """The book's lock is the fence: whoever could still commit this order holds it."""
    (book,) = await create_books(postgres_engine, 1)
    node = await Node(postgres_engine).start()
    lost = Lost(postgres_engine, book)

    async def lose() -> None:
        await lost.begin()
        raise OutcomeUnknown("the connection was lost")

    node.ledger.before.append(lose)
    answer = asyncio.create_task(node.told(book, "k", request_id="mine"))
    await asyncio.wait([answer], timeout=0.3)
    assert not answer.done()
    await (lost.commit() if commits else lost.roll_back())
    assert await answer == "booked"
    tables = await invariants.check(store_of(postgres_engine), other_changes={})
    assert len(tables["orders"]) == 1
    assert (tables["orders"][0]["id"] == order_id(NOW_US, 1, 1)) is commits


async def test_a_retry_is_not_told_that_nothing_was_booked_while_a_lost_booking_may_still_commit(
    postgres_engine: PostgresEngine,
) -> None:
    """The client got no answer, sends the key again, reads a refusal, and gives up. Then it is booked."""
    (book,) = await create_books(postgres_engine, 1)
    lost = Lost(postgres_engine, book)
    await lost.begin()
    await put(postgres_engine, replace(SWITCHES, halted=True))
    node = await Node(postgres_engine).start()
    answer = asyncio.create_task(node.told(book, "k", request_id="the same key again"))
    await asyncio.wait([answer], timeout=0.3)
    await lost.commit()
    assert len(await rows(postgres_engine, "SELECT 1 AS one FROM orders")) == 1
    assert await answer != "trading_halted"


async def test_batches_whose_answers_are_lost_on_every_node(nodes: list[Node], engine: Engine) -> None:
    books = await start(nodes, 4)
    for node in nodes:
        node.ledger.after.append(failing(OutcomeUnknown("lost")))
    told = await asyncio.gather(
        *(node.told(book, f"k{number}") for number in range(10) for book in books for node in nodes)
    )
    assert Counter(told) == {"booked": 40, "replayed": 80}
    await invariants.check(store_of(engine), other_changes={})
