"""On PostgreSQL: keys that the unique index cannot find are looked up, and all of them after it found one."""

from collections.abc import Sequence
from typing import Any

import pytest

from bullion.allocation.book import Book
from bullion.allocation.position import Position
from bullion.booking.attempt import KeyName
from bullion.booking.decide import Plan
from bullion.faults import AlreadyExists
from bullion.store import key_lookups
from bullion.store.engine import Engine, Row
from bullion.store.key_lookups import KeyLookups
from bullion.store.ledger_postgres import PostgresLedger
from bullion.store.postgres import PostgresEngine
from tests.booking.fixtures import asked, create_books, reset, store_of
from tests.contract.test_ledger import entry, names, planned, version_of
from tests.model import invariants

pytestmark = pytest.mark.anyio

BOOK = Book(4, Position(0, 10**9), Position(0, 10**9), 0, 0, 0, 7)


@pytest.fixture(params=["postgres"])
def engine_name(request: pytest.FixtureRequest) -> str:
    """As a parameter, from which `--quick` sees that these tests need a server."""
    return str(request.param)


class Watched(PostgresLedger):
    """A node's ledger, with what it asked of the store."""

    def __init__(self, engine: Engine) -> None:
        assert isinstance(engine, PostgresEngine)
        super().__init__(engine)
        self.asked: list[str] = []
        """Statements by name, with `!` for those that failed."""

    async def _try_to_record(self, *given: Any) -> Row:
        before = self._engine.statement

        async def statement(query: str, *values: Any, **options: Any) -> Sequence[Row]:
            try:
                found = await before(query, *values, **options)
            except AlreadyExists:
                self.asked.append(f"{query}!")
                raise
            self.asked.append(query)
            return found

        self._engine.statement = statement  # type: ignore[method-assign]
        try:
            return await super()._try_to_record(*given)
        finally:
            self._engine.statement = before  # type: ignore[method-assign]


class Node:
    def __init__(self, engine: Engine) -> None:
        self.engine, self.ledger = engine, Watched(engine)
        self.books: dict[int, Book] = {}

    async def place(self, keys: dict[int, str], *, price: str | None = None) -> dict[int, str]:
        """An order under a key in each book, decided on what this node saw last."""
        unknown = [book for book in keys if book not in self.books]
        if unknown:
            self.books |= await self.ledger.books(unknown)
        plans = [
            planned(self.books[book], entry(book, key, asked(expected_price=price)))
            for book, key in keys.items()
        ]
        done = await self.ledger.record(plans, names(*plans), await version_of(self.engine))
        for plan in plans:
            seen = done.books[plan.before.id]
            self.books[plan.before.id] = plan.after if seen.recorded else seen.book
        return {
            book: "recorded" if seen.recorded else "settled" if seen.settled else "stale"
            for book, seen in done.books.items()
        }

    def asked(self) -> list[str]:
        asked, self.ledger.asked = self.ledger.asked, []
        return asked


@pytest.fixture
async def books(engine: Engine) -> list[int]:
    return await create_books(engine)


@pytest.fixture
def node(engine: Engine) -> Node:
    return Node(engine)


@pytest.fixture
def other(other_engine: Engine) -> Node:
    return Node(other_engine)


async def test_a_replay_neither_fails_nor_repeats_the_orders_beside_it(
    node: Node, books: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed, *others = books
    assert await node.place(dict.fromkeys(books, "a")) == dict.fromkeys(books, "recorded")
    assert node.asked() == ["record_orders"]
    expected = dict.fromkeys(others, "recorded") | {replayed: "settled"}

    assert await node.place(dict.fromkeys(others, "b") | {replayed: "a"}) == expected
    assert node.asked() == ["record_orders!", "record_plans"]
    for again in "cde":  # Whoever goes on replaying costs one look-up a key, and no statement.
        assert await node.place(dict.fromkeys(others, again) | {replayed: "a"}) == expected
    assert node.asked() == ["record_plans"] * 3

    monkeypatch.setattr(key_lookups, "monotonic", lambda: 10**12)
    assert await node.place(dict.fromkeys(books, "f")) == dict.fromkeys(books, "recorded")
    assert node.asked() == ["record_orders"]
    await invariants.check(store_of(node.engine), other_changes={})


async def test_a_price_move_of_another_node_is_found(node: Node, other: Node, books: list[int]) -> None:
    book = books[0]
    assert await node.place({book: "a"}) == {book: "recorded"}
    assert await other.place({book: "x"}, price="1") == {book: "recorded"}
    assert await node.place({book: "x"}) == {book: "stale"}
    assert await node.place({book: "x"}) == {book: "settled"}
    assert await node.place({book: "b"}) == {book: "recorded"}
    assert await node.place({book: "x"}) == {book: "settled"}
    assert node.asked() == ["record_orders", "record_orders", *["record_plans"] * 3]
    await invariants.check(store_of(node.engine), other_changes={})


async def test_a_node_that_reads_a_book_with_price_moves_looks_its_keys_up(
    node: Node, other: Node, books: list[int]
) -> None:
    book = books[0]
    assert await other.place({book: "x"}, price="1") == {book: "recorded"}
    assert await node.place({book: "x"}) == {book: "settled"}
    assert node.asked() == ["record_plans"]


async def test_an_order_of_another_node_is_found(node: Node, other: Node, books: list[int]) -> None:
    book = books[0]
    assert await node.place({book: "a"}) == {book: "recorded"}
    assert await other.place({book: "x"}) == {book: "recorded"}
    assert await node.place({book: "x"}) == {book: "stale"}
    assert await node.place({book: "x"}) == {book: "settled"}
    assert await node.place({book: "b"}) == {book: "recorded"}
    assert await node.place({book: "c"}) == {book: "recorded"}
    # A book that others moved is looked at once, and then known again.
    assert node.asked()[-3:] == ["record_plans", "record_plans", "record_orders"]
    await invariants.check(store_of(node.engine), other_changes={})


async def test_keys_of_a_book_that_was_reset_are_looked_up(node: Node, books: list[int]) -> None:
    book = books[0]
    assert await node.place({book: "a"}) == {book: "recorded"}
    await reset(node.engine, book)
    assert await node.place({book: "a"}) == {book: "stale"}
    node.asked()
    for _ in range(2):
        assert await node.place({book: "a"}) == {book: "settled"}
    assert await node.place({book: "b"}) == {book: "recorded"}
    assert await node.place({book: "c"}) == {book: "recorded"}
    assert node.asked() == ["record_plans"] * 4


def test_keys_that_no_index_finds_are_looked_up() -> None:
    lookups = KeyLookups()
    order = planned(BOOK, entry(4, "a"))
    refusal = planned(BOOK, entry(4, "b"), entry(4, "c", asked("buy", 10**10)))
    assert needed(lookups, order) == ["a"]
    lookups.read(4, 7, has_price_moves=True)
    assert needed(lookups, order) == ["a"]
    lookups.read(4, 7, has_price_moves=False)
    assert needed(lookups, order) == []
    assert needed(lookups, refusal) == ["b", "c"]
    lookups.recorded(order, [])
    assert needed(lookups, order) == ["a"]
    assert needed(lookups, planned(order.after, entry(4, "d"))) == []
    move = planned(order.after, entry(4, "e", asked(expected_price="1")))
    lookups.recorded(move, [])
    assert needed(lookups, planned(move.after, entry(4, "f"))) == ["f"]


def needed(lookups: KeyLookups, *plans: Plan) -> list[str]:
    found: Sequence[KeyName] = lookups.needed(plans, names(*plans))
    return [key for _, _, key in found]
