"""Archived orders: moved whole or not at all, read as before, and their keys never book again."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bullion.accounts.broker import Broker
from bullion.desk.actions import archive
from bullion.desk.actions.archive import ArchiveSelection
from bullion.faults import ConstraintViolation
from bullion.orders.listing import ListQuery
from bullion.orders.order import Order
from bullion.orders.packed_orders import pack
from bullion.orders.verdict import Refusal, Verdict
from bullion.refusals.catalogue import TRADING_HALTED
from bullion.refusals.refusal import RefusalError
from bullion.store import postgres as postgres_module
from bullion.store import sqlite as sqlite_module
from bullion.store.engine import Engine
from bullion.store.event_reader import StoredEvents
from bullion.store.order_reader import PostgresReads, SqliteReads, StoredOrders
from bullion.store.postgres import PostgresEngine
from bullion.store.records import RecordStore
from bullion.store.sqlite import SqliteEngine
from tests.booking.conftest import (  # noqa: F401 - fixtures
    books,
    node,
    other_node,
    postgres_engine,
)
from tests.booking.fixtures import Node, asked, create_books, reset, rows
from tests.contract.archiving import ADMIN, EVER, archive_all, check, desk_on, place, put, read_again

pytestmark = pytest.mark.anyio

PLAIN = ListQuery(limit=50, offset=0)


class Killed(BaseException):
    """Nothing that anybody would catch."""


@pytest.fixture(autouse=True)
def _small_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that few orders make many of them."""
    monkeypatch.setattr(archive, "PACK_SIZE_MAX", 8)
    monkeypatch.setattr(archive, "_PAUSE_S_MIN", 0)


async def set_aside(node: Node, book: int, number: int) -> list[Order]:  # noqa: F811
    placed = await place(node, book, number)
    await reset(node.engine, book)
    return placed


async def test_they_are_read_and_replayed_as_before(node: Node, books: list[int]) -> None:  # noqa: F811
    book = books[0]
    old = await set_aside(node, book, 20)
    new = await place(node, book, 3, "n")
    reader = StoredOrders(node.engine)  # type: ignore[arg-type]
    before = await reader.book(book), await reader.page_ordinals(book, PLAIN)
    done = await archive_all(node.engine)
    assert (done["orders"], done["accounts"], done["more"]) == (20, 1, False)
    await check(node.engine, book, [*old, *new])
    assert await rows(node.engine, "SELECT ordinal FROM orders WHERE ordinal <= 20") == []
    assert (await reader.book(book), await reader.page_ordinals(book, PLAIN)) == before
    for each, order in enumerate(old):
        again = await node.place(book, order.idempotency_key, order.asked)
        assert (again.order, again.replayed) == (order, True), each  # type: ignore[union-attr]
    other_body = asked("buy", 77)
    assert await node.told(book, "k3", other_body) == "idempotency_key_reused"
    assert await node.told(book, "another") == "booked"
    assert await node.told(books[1], "k3", other_body) == "booked"


async def test_a_node_that_has_not_heard_of_the_reset_replays_them_too(
    node: Node,  # noqa: F811
    other_node: Node,  # noqa: F811
    books: list[int],  # noqa: F811
) -> None:
    """In its memory the book was never reset, so it does not think of the archive at first."""
    old = [await place(node, book, 2) for book in books[:2]]
    for book in books[:2]:
        assert await other_node.told(book, "k0", old[0][0].asked) == "replayed"
        await reset(node.engine, book)
    await archive_all(node.engine)
    assert await other_node.told(books[0], "k1", old[0][1].asked) == "replayed"

    def denied() -> Verdict:
        return Refusal(TRADING_HALTED)

    assert await other_node.told(books[1], "k1", old[1][1].asked, verdict=denied) == "replayed"
    assert await other_node.told(books[1], "new", verdict=denied) == TRADING_HALTED.code


async def test_what_is_still_listed_stays_and_so_does_what_is_young(
    node: Node,  # noqa: F811
    books: list[int],  # noqa: F811
) -> None:
    listed, aside = books[:2]
    kept = await place(node, listed, 5)
    old = await set_aside(node, aside, 12)
    middle = ArchiveSelection(old[7].created_at_us)
    assert (await archive.archive_status(desk_on(node.engine), ADMIN, middle))["to_archive"] == {
        "orders": 7,
        "accounts": 1,
    }
    assert (await archive_all(node.engine, middle))["orders"] == 7
    await check(node.engine, aside, old)
    (left,) = await rows(node.engine, "SELECT count(*) AS n FROM orders WHERE book_id = $1", aside)
    assert left["n"] == 5
    assert (await archive_all(node.engine))["orders"] == 5
    for book, orders in ((listed, kept), (aside, old)):
        await check(node.engine, book, orders)
    assert (await rows(node.engine, "SELECT DISTINCT book_id FROM archived_orders"))[0]["book_id"] == aside
    with pytest.raises(ConstraintViolation):
        await put(node.engine, kept)
    await check(node.engine, listed, kept)


async def test_of_one_account_and_no_more_than_asked_for(
    node: Node,  # noqa: F811
    books: list[int],  # noqa: F811
) -> None:
    old = [await set_aside(node, book, 11) for book in books]
    one = ArchiveSelection(EVER.before_us, "c2")
    done = await archive_all(node.engine, one, limit=9)
    assert (done["orders"], done["accounts"], done["more"]) == (9, 1, True)
    done = await archive_all(node.engine, one, limit=9)
    assert (done["orders"], done["more"]) == (2, False)
    done = await archive_all(node.engine, limit=15)
    assert (done["orders"], done["accounts"], done["more"]) == (15, 2, True)
    assert (await archive_all(node.engine, limit=15))["orders"] == 7
    assert (await archive_all(node.engine))["orders"] == 0
    for book, orders in zip(books, old, strict=True):
        await check(node.engine, book, orders)
    shown = await rows(node.engine, "SELECT * FROM readable_archived_orders WHERE login_id = 'c1'")
    assert [(row["first_ordinal"], row["last_ordinal"]) for row in shown] == [(1, 8), (9, 11)]
    assert all(row["packed_bytes"] < row["plain_bytes"] for row in shown)
    size = (await archive.archive_status(desk_on(node.engine), ADMIN, EVER))["archived"]
    assert (size["orders"], size["packs"]) == (33, 7)
    with pytest.raises(RefusalError):
        await archive.resolve_selection(desk_on(node.engine), ADMIN, "30d", "nobody")


async def test_the_trail_has_what_was_meant_and_what_was_done(node: Node, books: list[int]) -> None:  # noqa: F811
    await set_aside(node, books[0], 9)
    await archive_all(node.engine)
    found = await rows(node.engine, "SELECT action, subject, after FROM audit ORDER BY ordinal")
    assert [(row["action"], row["subject"]) for row in found] == [
        ("archive_orders", "all accounts"),
        ("archived_orders", "all accounts"),
    ]
    assert '"orders":9' in found[1]["after"]


@pytest.mark.parametrize(
    "place_of_death", ["insert_archived_orders", "insert_archived_keys", "drop_archived_orders", "after"]
)
@pytest.mark.parametrize("time", [2])
async def test_one_that_is_killed_leaves_nothing_half_done_and_is_gone_on_with(
    node: Node,  # noqa: F811
    books: list[int],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    place_of_death: str,
    time: int,
) -> None:
    book = books[0]
    old = await set_aside(node, book, 30)
    reached = 0

    def die() -> None:
        nonlocal reached
        reached += 1
        if reached == time:
            raise Killed

    with monkeypatch.context() as dying:
        if place_of_death == "after":
            move = archive._move

            async def moved(*values: Any) -> bool:
                done = await move(*values)
                die()
                return done

            dying.setattr(archive, "_move", moved)
        else:
            watch(dying, node.engine, place_of_death, die)
        with pytest.raises(Killed):
            await archive_all(node.engine)
    await check(node.engine, book, old)
    (cold,) = await rows(node.engine, "SELECT count(*) AS n FROM archived_keys")
    assert cold["n"] == (time if place_of_death == "after" else time - 1) * 8
    assert await node.told(book, "k0", old[0].asked) == "replayed"
    assert await node.told(book, "k29", old[29].asked) == "replayed"
    assert (await archive_all(node.engine))["orders"] == 30 - cold["n"]
    await check(node.engine, book, old)


def watch(dying: pytest.MonkeyPatch, engine: Engine, query: str, then: Callable[[], None]) -> None:
    """Right after this query, with the transaction that it is in still open."""
    owner: Any = postgres_module._OpenTransaction
    if isinstance(engine, SqliteEngine):
        owner = sqlite_module.SqliteTransaction
    inner = owner.all

    async def watching(self: Any, name: str, *values: Any) -> Any:
        found = await inner(self, name, *values)
        if name == query:
            then()
        return found

    dying.setattr(owner, "all", watching)


async def test_two_who_archive_at_once_lose_and_double_nothing(
    node: Node,  # noqa: F811
    other_node: Node,  # noqa: F811
    books: list[int],  # noqa: F811
) -> None:
    old = [await set_aside(node, book, 40) for book in books]
    await archive_all(
        node.engine, ArchiveSelection(0)
    )  # A trail begins with its broker, before anybody meets there.
    done = await asyncio.gather(*(archive_all(each.engine) for each in (node, other_node, node)))
    assert sum(each["orders"] for each in done) + (await archive_all(node.engine))["orders"] == 120
    for book, orders in zip(books, old, strict=True):
        await check(node.engine, book, orders)


async def test_bookings_and_replays_go_on_meanwhile(
    node: Node,  # noqa: F811
    other_node: Node,  # noqa: F811
    books: list[int],  # noqa: F811
) -> None:
    book = books[0]
    old = await set_aside(node, book, 64)
    archiving = asyncio.ensure_future(archive_all(other_node.engine))
    told: dict[str, set[str]] = {"old": set(), "new": set(), "other": set()}
    number = 0
    while not archiving.done() or number < 8:
        each = old[number % len(old)]
        new = asyncio.gather(node.told(book, f"n{number}"), other_node.told(book, f"n{number}"))
        replays = asyncio.gather(
            *(from_.told(book, each.idempotency_key, each.asked) for from_ in (node, other_node))
        )
        told["other"].add(await node.told(book, each.idempotency_key, asked("buy", 5)))
        told["old"] |= set(await replays)
        told["new"].add(" ".join(sorted(await new)))
        number += 1
    assert (await archiving)["orders"] == 64
    assert told == {"old": {"replayed"}, "other": {"idempotency_key_reused"}, "new": {"booked replayed"}}
    listed = await rows(node.engine, "SELECT * FROM orders WHERE book_id = $1 ORDER BY ordinal", book)
    assert [row["ordinal"] for row in listed] == list(range(65, 65 + number))
    assert await read_again(node.engine, old) == old


async def test_a_page_that_was_chosen_before_is_still_read_whole(node: Node, books: list[int]) -> None:  # noqa: F811
    book = books[0]
    old = await place(node, book, 10)
    reader = StoredOrders(node.engine)  # type: ignore[arg-type]
    ordinals, _ = await reader.page_ordinals(book, PLAIN)
    await reset(node.engine, book)
    await archive_all(node.engine)
    assert await reader.orders(book, ordinals) == {order.ordinal: order for order in old}


async def test_the_desk_finds_them_by_id_and_another_desk_does_not(
    node: Node,  # noqa: F811
    books: list[int],  # noqa: F811
) -> None:
    old = [await set_aside(node, book, 3) for book in books]
    await archive_all(node.engine)
    records = RecordStore(node.engine)

    async def find(broker: str, order_id: str, *, hold: bool = False) -> Any:
        return await records.write(
            "find",
            lambda open_: (open_.lock_order if hold else open_.order)(broker, order_id),
            catalogue=False,
        )

    for number, orders in enumerate(old, start=1):
        for order in orders:
            found = await find("main", order.id)
            assert (found.order, found.login_id, found.archived) == (order, f"c{number}", True)
            assert await find("main", order.id, hold=True) == found
            assert await find("other", order.id) is None
    nearly = f"{old[0][0].id[:14]}{'0' if old[0][0].id[14] != '0' else '1'}{old[0][0].id[15:]}"
    assert await find("main", nearly) is None
    reader = StoredOrders(node.engine)  # type: ignore[arg-type]
    assert await reader.order(books[0], nearly) is None
    assert await reader.order(books[1], old[0][0].id) is None


async def test_a_book_that_is_reset_and_archived_again_and_again(node: Node, books: list[int]) -> None:  # noqa: F811
    book = books[0]
    every: list[Order] = []
    for time in range(4):
        every += await place(node, book, 5 + time, f"round {time} ")
        await reset(node.engine, book)
        await archive_all(node.engine)
        await check(node.engine, book, every)
    assert every[-1].ordinal == len(every) == 26


async def test_packing_keeps_every_order_as_it_is(node: Node, books: list[int]) -> None:  # noqa: F811
    placed = await place(node, books[0], 9)
    packed = pack(placed)
    assert list(packed.orders()) == placed
    assert [packed.order(each) for each in range(11)] == [None, *placed, None]
    for wrong in ([placed[0], placed[2]], placed[::-1]):
        with pytest.raises(ValueError, match="without a gap"):
            pack(wrong)
    assert packed.packed.isascii()
    assert len(packed.packed) < packed.plain_bytes / 2


async def test_brokers_archive_their_own(engine: Engine) -> None:
    await create_books(engine)
    records = RecordStore(engine)
    await records.write("broker", lambda open_: open_.put_broker(Broker("other", "Other")))
    found = await records.read("books", lambda open_: open_.books_to_archive("other", "", 50, 2**60))
    assert found == []
    mine = await records.read("books", lambda open_: open_.books_to_archive("main", "", 50, 2**60))
    assert [(book.login_id, book.count) for book in mine] == [("c1", 0), ("c2", 0), ("c3", 0)]


async def test_events_of_archived_orders_are_as_before_and_read_each_pack_once(
    node: Node,  # noqa: F811
    books: list[int],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = node.engine
    assert isinstance(engine, SqliteEngine | PostgresEngine)
    await place(node, books[0], 20)
    events = StoredEvents(engine, 36_500, lambda: 0)
    before = await events.read(books[0], 0, 200)
    await reset(engine, books[0])
    await archive_all(engine)
    assert await rows(engine, "SELECT 1 FROM orders WHERE book_id = $1", books[0]) == []
    reads = SqliteReads if isinstance(engine, SqliteEngine) else PostgresReads
    read_pack, asked_for = reads.archived_pack, []

    async def noted(self: Any, book_id: int, ordinal: int) -> Any:
        asked_for.append(ordinal)
        return await read_pack(self, book_id, ordinal)

    monkeypatch.setattr(reads, "archived_pack", noted)
    assert await events.read(books[0], 0, 200) == before
    assert (len(before), asked_for) == (20, [1, 9, 17])
