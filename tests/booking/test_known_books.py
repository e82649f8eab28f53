"""Which books are read before orders are decided, and which are known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import pytest

from bullion.allocation.book import Book
from bullion.allocation.position import Position
from bullion.booking import known_books
from bullion.booking.known_books import KnownBooks
from bullion.booking.ledger import Ledger

pytestmark = pytest.mark.anyio


@dataclass
class Store:
    failovers: int = 0
    versions: dict[int, int] = field(default_factory=lambda: {1: 1, 2: 1, 3: 1})
    reads: list[list[int]] = field(default_factory=list)

    async def books(self, book_ids: Sequence[int]) -> Mapping[int, Book]:
        self.reads.append(list(book_ids))
        return {each: self.book(each) for each in book_ids}

    def book(self, book_id: int) -> Book:
        nothing = Position(0, 0)
        return Book(book_id, nothing, nothing, 0, 0, 0, self.versions[book_id])


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def known(store: Store) -> KnownBooks:
    return KnownBooks(cast("Ledger", store))


async def test_a_book_is_read_once(known: KnownBooks, store: Store) -> None:
    for _ in range(3):
        assert await known.for_decision([1, 2], again=False) == {1: store.book(1), 2: store.book(2)}
    assert store.reads == [[1, 2]]


async def test_after_a_conflict_it_is_read_each_time_until_nobody_else_changes_it(
    known: KnownBooks, store: Store
) -> None:
    await known.for_decision([1, 2], again=False)
    store.versions[1] = 5
    known.note_conflict(store.book(1))
    store.reads.clear()
    # The answer that told of the conflict has the book as it is: the second try needs no read.
    assert (await known.for_decision([1, 2], again=True))[1].version == 5
    assert not store.reads
    store.versions[1] = 6
    assert (await known.for_decision([1, 2], again=False))[1].version == 6
    assert store.reads == [[1]]
    for _ in range(20):
        await known.for_decision([1, 2], again=False)
    assert store.reads == [[1]] * (1 + known_books._READS_WITHOUT_CHANGE)


async def test_what_this_node_recorded_is_no_change_of_another(known: KnownBooks, store: Store) -> None:
    known.note_conflict(store.book(1))
    for version in range(2, 30):
        await known.for_decision([1], again=False)
        store.versions[1] = version
        known.note(store.book(1))
    assert len(store.reads) == known_books._READS_WITHOUT_CHANGE


async def test_a_locked_book_is_read_once_and_more_often_only_if_it_has_changed(
    known: KnownBooks, store: Store
) -> None:
    await known.for_decision([1], again=False)
    known.note_locked(1)  # By a transaction of this node, which does not change it.
    store.reads.clear()
    for _ in range(5):
        await known.for_decision([1], again=False)
    assert store.reads == [[1]]
    known.note_locked(1)
    store.versions[1] = 9  # By another node.
    for _ in range(20):
        assert (await known.for_decision([1], again=False))[1].version == 9
    assert len(store.reads) == 2 + known_books._READS_WITHOUT_CHANGE


async def test_a_lock_does_not_end_the_reads_after_a_conflict(known: KnownBooks, store: Store) -> None:
    await known.for_decision([1], again=False)
    known.note_conflict(store.book(1))
    known.note_locked(1)
    store.reads.clear()
    for _ in range(20):
        await known.for_decision([1], again=False)
    assert len(store.reads) == known_books._READS_WITHOUT_CHANGE


async def test_only_so_many_are_kept_and_those_that_are_needed_are_there(
    known: KnownBooks, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_books, "_BOOKS_KEPT_MAX", 2)
    await known.for_decision([1, 2], again=False)
    assert set(await known.for_decision([1, 2, 3], again=False)) == {1, 2, 3}
    assert [known.knows(each) for each in (1, 2, 3)] == [False, False, True]
