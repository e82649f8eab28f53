"""A desk on a bare store, and what has to be true of its archive whatever was done to it."""

from collections.abc import Sequence
from typing import Any

from bullion.booking.attempt import Booked
from bullion.desk.actions import archive
from bullion.desk.actions.archive import ArchiveSelection
from bullion.desk.desk import Desk, View
from bullion.keys.hashing import Hasher
from bullion.keys.issuer import KeyIssuer
from bullion.orders.order import Order
from bullion.orders.packed_orders import pack
from bullion.records.audit import Chain
from bullion.records.token import Actor, Role
from bullion.store.archive_reader import packed_orders
from bullion.store.engine import Engine
from bullion.store.order_reader import StoredOrders
from bullion.store.postgres import PostgresEngine
from bullion.store.records import RecordStore
from bullion.store.sqlite import SqliteEngine
from tests.booking.fixtures import Node, asked, rows

SECRET = b"0" * 32
ADMIN = Actor("an admin", Role.ADMIN, "main", first=True)
EVER = ArchiveSelection(4_000_000_000_000_000)


async def _nothing() -> None:
    return


def desk_on(engine: Engine) -> Desk:
    chain, keys, lanes, tokens = (Hasher(SECRET, each) for each in ("audit", "keys", "lanes", "tokens"))
    return Desk(RecordStore(engine), Chain(chain), KeyIssuer(keys, lanes), tokens, _nothing)


async def archive_all(engine: Engine, selection: ArchiveSelection = EVER, **options: Any) -> View:
    return await archive.archive_orders(desk_on(engine), ADMIN, selection, **options)


async def place(node: Node, book: int, number: int, prefix: str = "k") -> list[Order]:
    """That many orders of all kinds, one after the other: their keys are the prefix and a number from 0."""
    placed = []
    for each in range(number):
        of = asked(
            "sell" if each % 3 else "buy",
            10_000 + each,
            client_order_id=None if each % 2 else f"ref \u20b9 {each}\n",
        )
        outcome = await node.place(book, f"{prefix}{each}", of)
        assert isinstance(outcome, Booked)
        placed.append(outcome.order)
    return placed


async def put(engine: Engine, orders: Sequence[Order]) -> None:
    """Into the archive, whatever they are."""
    packed = pack(orders)
    await RecordStore(engine).write(
        "archive", lambda records: records.archive_orders(packed), catalogue=False
    )


async def read_again(engine: Engine, orders: Sequence[Order]) -> list[Order | None]:
    assert isinstance(engine, SqliteEngine | PostgresEngine)
    reader = StoredOrders(engine)
    return [await reader.order(order.book_id, order.id) for order in orders]


async def check(engine: Engine, book: int, orders: Sequence[Order]) -> None:
    """Each of these orders is in one place and one only, and so is its key."""
    hot = await rows(engine, "SELECT ordinal FROM orders WHERE book_id = $1 ORDER BY ordinal", book)
    found = await rows(engine, "SELECT * FROM archived_orders WHERE book_id = $1 ORDER BY 2", book)
    keys = await rows(engine, "SELECT * FROM archived_keys WHERE book_id = $1", book)
    cold = [order for row in found for order in packed_orders(row).orders()]
    assert [order.ordinal for order in cold] + [row["ordinal"] for row in hot] == [
        order.ordinal for order in orders
    ]
    assert cold == list(orders[: len(cold)])
    assert {(row["source"], row["idempotency_key"], row["ordinal"], row["made_at_ms"]) for row in keys} == {
        (order.source, order.idempotency_key, order.ordinal, order.created_at_us // 1000) for order in cold
    }
    assert len(keys) == len(cold)
    assert await read_again(engine, orders) == list(orders)
