"""The floors of the stores write what an order is: its row and its book."""

from pathlib import Path

import pytest

from bench import bookings, pgbench, sqlite_floor
from bench.bookings import running_bookings
from bench.faults import CallFailed
from bench.pgbench import Pgbench
from bench.rows import RowSizes
from bench.sqlite_floor import SqliteFloor
from bench.store import add_traders, make_store, opened
from bullion.keys.text import KeyText, read_key
from bullion.wiring.store import Hashers
from tests.support.node import SECRET
from tests.support.servers import Postgres

SIZES = RowSizes(key_id=16, request_id=24, price_anatomy=400)
CLIENTS, EACH = 4, 10

LEFT_BEHIND = """
SELECT
    (SELECT count(*) FROM orders),
    (SELECT sum(order_count) FROM books),
    (SELECT count(*) FROM books WHERE order_count <> (SELECT count(*) FROM orders WHERE book_id = books.id)),
    (SELECT count(*) FROM books WHERE version <> order_count + 1),
    (SELECT min(length(id) + length(idempotency_key) + length(key_id) + length(request_id)
        + length(price_anatomy)) FROM orders)
"""
TEXTS = 36 + 36 + SIZES.key_id + SIZES.request_id + SIZES.price_anatomy


def test_pgbench_writes_whole_orders(postgres: Postgres) -> None:
    url = postgres.new_database()
    make_store(url, pgbench.BOOKS)

    outcome = Pgbench(url, SIZES).measure(CLIENTS, transactions=EACH)

    assert outcome.requests == CLIENTS * EACH
    assert outcome.requests_per_s > 0
    left = postgres.sql(LEFT_BEHIND, url.rpartition("/")[2]).split("|")
    assert [int(each) for each in left] == [*[CLIENTS * EACH] * 2, 0, 0, TEXTS]


def test_pgbench_that_fails_is_told(postgres: Postgres) -> None:
    with pytest.raises(CallFailed, match="pgbench failed"):
        Pgbench(postgres.new_database(), SIZES).measure(CLIENTS, transactions=EACH)


def test_sqlite_floor_writes_whole_orders(tmp_path: Path) -> None:
    path = tmp_path / "floor.db"
    make_store(path, sqlite_floor.BOOKS)

    outcome = SqliteFloor(path, SIZES).measure(0.05)

    assert outcome.requests > 0
    with opened(path) as connection:
        left = connection.execute(LEFT_BEHIND).fetchone()
    assert list(left) == [*[outcome.requests] * 2, 0, 0, TEXTS]


def test_traders_have_keys_that_a_service_knows(tmp_path: Path) -> None:
    path = tmp_path / "traders.db"
    make_store(path, 0)

    texts = add_traders(path, 3)

    keys = [read_key([text.encode("ascii")]) for text in texts]
    hasher = Hashers.of(SECRET.encode()).keys
    expected = [
        (number, each.key_id, hasher.hash(each.secret).hex())
        for number, each in enumerate(keys, 1)
        if isinstance(each, KeyText)
    ]
    assert len(expected) == len(texts)
    with opened(path) as connection:
        stored = connection.execute("SELECT account_id, key_id, secret_hash FROM keys").fetchall()
    assert set(expected) <= set(stored)


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_the_way_into_the_book_alone_records_what_it_counts(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address: Path | str = tmp_path / "bookings.db"
    if engine == "postgres":
        address = request.getfixturevalue("postgres").new_database()
    make_store(address, bookings.BOOKS)
    with running_bookings(address if isinstance(address, str) else f"sqlite:///{address}") as booked:
        first, second = booked.measure(0.1), booked.measure(1.5)

    assert first.requests > 0
    assert second.requests > bookings.AT_ONCE  # As long as it has time, each places another.
    if isinstance(address, Path):
        with opened(address) as connection:
            left = connection.execute(LEFT_BEHIND).fetchone()
    else:
        server: Postgres = request.getfixturevalue("postgres")
        left = server.sql(LEFT_BEHIND, address.rpartition("/")[2]).split("|")
    assert [int(each) for each in left[:3]] == [*[first.requests + second.requests] * 2, 0]
