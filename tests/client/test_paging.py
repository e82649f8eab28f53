"""Walking through a list while orders come and go: none twice, none missed that was there all the time."""

import random
from typing import Any

import pytest

from bullion_client import AsyncClient, Client, OrderPage, TestOrder
from bullion_client.pagination import Pager
from bullion_client.responses import Answer, read
from tests.client.scripted_network import TEST_ORDER, answer


def order(number: int) -> TestOrder:
    return read(TestOrder, Answer(answer(200, {}), TEST_ORDER | {"id": str(number)}))


class Book:
    """A list on the other side, newest first."""

    def __init__(self, count: int) -> None:
        self.ids = list(range(count, 0, -1))
        self._next = count + 1

    def page(self, limit: int, offset: int) -> OrderPage:
        return OrderPage(tuple(map(order, self.ids[offset : offset + limit])), len(self.ids))

    def arrive(self, count: int) -> None:
        for _ in range(count):
            self.ids.insert(0, self._next)
            self._next += 1

    def leave(self, *ids: int) -> None:
        self.ids = [each for each in self.ids if each not in ids]


def walked(book: Book, page_size: int, between: Any = lambda: None, most: int = 2000) -> list[int]:
    pager, shown = Pager(page_size), []
    for _ in range(most):
        shown += [int(each.id) for each in pager.take(book.page(pager.page_size, pager.offset))]
        if pager.done:
            return shown
        between()
    raise AssertionError("the pager does not end")


@pytest.mark.parametrize("count", [0, 1, 2, 3, 9, 10, 11, 19, 20, 21, 100])
@pytest.mark.parametrize("page_size", [2, 3, 10, 200])
def test_a_list_that_stands_still_is_shown_as_it_is(count: int, page_size: int) -> None:
    assert walked(Book(count), page_size) == list(range(count, 0, -1))


@pytest.mark.parametrize("arriving", [1, 3, 8])
def test_new_orders_shift_the_pages_and_nothing_is_shown_twice(arriving: int) -> None:
    book = Book(95)
    assert walked(book, 10, lambda: book.arrive(arriving)) == list(range(95, 0, -1))


def test_so_many_new_orders_that_the_next_page_is_all_new() -> None:
    book, came = Book(95), iter([500])
    shown = walked(book, 10, lambda: book.arrive(next(came, 0)))
    assert [number for number in shown if number <= 95] == list(range(95, 0, -1))
    assert len(set(shown)) == len(shown)


def test_orders_that_leave_pull_none_past_the_walk() -> None:
    book = Book(100)
    leaving = iter([(100, 99, 98), (91,), tuple(range(80, 60, -1))])
    shown = walked(book, 10, lambda: book.leave(*next(leaving, ())))
    assert set(range(1, 61)) <= set(shown)
    assert set(range(81, 101)) <= set(shown)
    assert len(set(shown)) == len(shown)


def test_all_that_were_seen_may_leave() -> None:
    book, leaving = Book(50), iter([range(41, 51)])
    assert walked(book, 10, lambda: book.leave(*next(leaving, ()))) == list(range(50, 0, -1))


def test_a_list_that_is_emptied_under_the_walk_ends_it() -> None:
    book = Book(50)
    assert walked(book, 10, lambda: book.leave(*range(1, 51))) == list(range(50, 40, -1))


@pytest.mark.parametrize("seed", range(40))
def test_whatever_comes_and_goes(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    book = Book(chance.randrange(0, 200))
    started, stayed = set(book.ids), set(book.ids)

    def between() -> None:
        book.arrive(chance.choice([0, 0, 1, 2, 5]))
        for _ in range(chance.choice([0, 0, 1, 3])):
            if book.ids:
                gone = chance.choice(book.ids)
                book.leave(gone)
                stayed.discard(gone)

    shown = walked(book, chance.choice([2, 5, 10, 50]) + 6, between)
    assert len(set(shown)) == len(shown)
    assert stayed & started <= set(shown)


@pytest.mark.parametrize("page_size", [0, 1, 201])
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_page_size_that_cannot_be_is_told_at_once(kind: Any, page_size: int) -> None:
    client = kind("https://trading.example", "key_test.x")
    with pytest.raises(ValueError, match="page_size must be from 2 to 200"):
        client.orders(page_size=page_size)
