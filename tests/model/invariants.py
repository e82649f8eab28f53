"""What must be true of the tables at every committed point, read with statements of its own.

Nothing of the service is imported here: a mistake of its code must not hide itself.
"""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import asyncpg

HOLDING = {"filled", "pending", "open", "closing"}
TABLES = {
    "books": "SELECT * FROM books ORDER BY id",
    "accounts": "SELECT id, broker, login_id FROM accounts",
    "keys": "SELECT key_id, account_id, environment FROM keys",
    "orders": "SELECT * FROM orders ORDER BY book_id, ordinal",
    "price_moves": "SELECT * FROM price_moves",
    "block_counts": "SELECT * FROM block_counts",
    "block_levels": "SELECT level, size FROM block_levels",
}

Rows = dict[str, list[dict[str, Any]]]


async def read(store: str | Path, tables: Mapping[str, str] = TABLES) -> Rows:
    """All tables from one snapshot: of an SQLite file, or of a PostgreSQL address."""
    if isinstance(store, Path):
        return _read_sqlite(store, tables)
    connection = await asyncpg.connect(store)
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            return {name: [dict(row) for row in await connection.fetch(sql)] for name, sql in tables.items()}
    finally:
        await connection.close()


def _read_sqlite(path: Path, tables: Mapping[str, str]) -> Rows:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    try:
        connection.execute("BEGIN")
        return {name: [dict(row) for row in connection.execute(sql)] for name, sql in tables.items()}
    finally:
        connection.close()


async def check(store: str | Path, **options: Any) -> Rows:
    """Raise AssertionError with everything that is wrong; give what was read."""
    tables = await read(store)
    wrong = problems(tables, **options)
    assert not wrong, "\n".join(wrong[:30])
    return tables


def check_now(store: str | Path, **options: Any) -> Rows:
    return asyncio.run(check(store, **options))


def problems(
    tables: Rows,
    *,
    limits_e4: Mapping[int, tuple[int, int]] | None = None,
    other_changes: Mapping[int, int] | None = None,
) -> list[str]:
    """What is wrong, in sentences.

    `limits_e4`: the highest limits (gold, silver) that a book has ever had, for those to be judged by.
    `other_changes`: how often something else than an order changed a book; 0 for one that is not named, or
    not known at all if it is None.
    """
    found = [*_keys(tables), *_strangers(tables)]
    orders: dict[int, list[dict[str, Any]]] = {}
    for order in tables["orders"]:
        orders.setdefault(order["book_id"], []).append(order)
    moves = Counter(move["book_id"] for move in tables["price_moves"])
    for book in tables["books"]:
        own = orders.get(book["id"], [])
        found += [*_sequence(book, own), *_nets(book, own)]
        if limits_e4 is not None and book["id"] in limits_e4:
            found += _limits(book, own, limits_e4[book["id"]])
        changes = None if other_changes is None else other_changes.get(book["id"], 0)
        found += _version(book, own, moves[book["id"]], changes)
    return [*found, *counts(tables)]


def _keys(tables: Rows) -> list[str]:
    """1. A key is settled once, by an order or by a moved price; an id is one order's."""
    settled = Counter(
        (row["book_id"], row["source"], row["idempotency_key"])
        for row in [*tables["orders"], *tables["price_moves"]]
    )
    ids = Counter(row["id"] for row in tables["orders"])
    return [
        *(f"key {name} is settled {times} times" for name, times in settled.items() if times > 1),
        *(f"order id {each} is there {times} times" for each, times in ids.items() if times > 1),
    ]


def _strangers(tables: Rows) -> list[str]:
    """10. Every book is one account's in one environment; what is in it was put there by its own keys."""
    accounts = {row["id"] for row in tables["accounts"]}
    books = {row["id"]: row for row in tables["books"]}
    keys = {row["key_id"]: row for row in tables["keys"]}
    found = []
    for book in books.values():
        number = 2 * book["account_id"] + (book["environment"] == "production")
        if book["id"] != number or book["account_id"] not in accounts:
            found.append(f"book {book['id']} is not that of account {book['account_id']}")
    for row in [*tables["orders"], *tables["price_moves"], *tables["block_counts"]]:
        if row["book_id"] not in books:
            found.append(f"a row of book {row['book_id']}, which there is not: {row}")
    for order in tables["orders"]:
        if order["book_id"] not in books:
            continue
        book, key = books[order["book_id"]], keys.get(order["key_id"])
        if order["key_id"] is not None and (
            key is None
            or (key["account_id"], key["environment"]) != (book["account_id"], book["environment"])
        ):
            found.append(f"order {order['id']} was placed with another book's key {order['key_id']}")
        if (order["status"] == "filled") != (book["environment"] == "test"):
            found.append(f"order {order['id']} is {order['status']} in a {book['environment']} book")
    return found


def _sequence(book: dict[str, Any], orders: list[dict[str, Any]]) -> list[str]:
    """Ordinals without gaps, times that never run backwards, ids that begin with their time."""
    found = []
    name = f"book {book['id']}"
    if [order["ordinal"] for order in orders] != list(range(1, book["order_count"] + 1)):
        ordinals = [order["ordinal"] for order in orders]
        found.append(f"{name} counts {book['order_count']} orders and has the ordinals {ordinals[:50]}")
    if not 0 <= book["archived_count"] <= book["order_count"]:
        found.append(f"{name} has {book['archived_count']} archived of {book['order_count']} orders")
    last_us = 0
    for order in orders:
        if order["created_at_us"] < last_us:
            found.append(f"{name}: order {order['ordinal']} is older than the one before it")
        last_us = order["created_at_us"]
        digits = order["id"].replace("-", "")
        if int(digits[:12], 16) != last_us // 1000 or digits[12] != "7":
            found.append(f"{name}: the id {order['id']} was not made at {last_us}")
    if orders and book["last_order_at_us"] < last_us:
        found.append(f"{name} says {book['last_order_at_us']}, its last order {last_us}")
    return found


def _signed(order: dict[str, Any]) -> int:
    return int(order["quantity_e4"]) * (1 if order["trade_type"] == "buy" else -1)


def _nets(book: dict[str, Any], orders: list[dict[str, Any]]) -> list[str]:
    """2. Net = signed sum of what is held."""
    nets = {"gold": 0, "silver": 0}
    for order in orders:
        if order["ordinal"] > book["archived_count"] and order["status"] in HOLDING:
            nets[order["metal"]] += _signed(order)
    return [
        f"book {book['id']} says {book[f'{metal}_net_e4']} {metal}, its orders say {net}"
        for metal, net in nets.items()
        if book[f"{metal}_net_e4"] != net
    ]


def _limits(book: dict[str, Any], orders: list[dict[str, Any]], limits_e4: tuple[int, int]) -> list[str]:
    """3. In the order in which they were booked, none grew exposure past the highest limit there was.

    Of a book that was reset twice the first time is not known any more: not for those.
    """
    found = []
    nets = {"gold": 0, "silver": 0}
    for order in orders:
        metal = order["metal"]
        before, after = nets[metal], nets[metal] + _signed(order)
        if abs(after) > limits_e4[metal == "silver"] and abs(after) >= abs(before):
            found.append(f"book {book['id']}: order {order['ordinal']} took {metal} from {before} to {after}")
        nets[metal] = after
        if order["ordinal"] == book["archived_count"]:
            nets = {"gold": 0, "silver": 0}
    return found


def _version(
    book: dict[str, Any], orders: list[dict[str, Any]], moves: int, other_changes: int | None
) -> list[str]:
    """Every recorded batch moved it by one: at least one for each time, at most one for each row."""
    steps = book["version"] - 1
    least = len({order["created_at_us"] for order in orders}) + (other_changes or 0)
    if steps < least or (other_changes is not None and steps > len(orders) + moves + other_changes):
        return [f"book {book['id']} moved {steps} times for {len(orders)} orders and {moves} moved prices"]
    return []


def counts(tables: Rows) -> list[str]:
    """The counts of the blocks that are summed, which are full, are what a recount finds."""
    books = {book["id"]: book for book in tables["books"]}
    sizes = [(row["level"], row["size"]) for row in tables["block_levels"]]
    found = [
        f"book {book['id']} is summed up to {book['unsummed_from']}, and has {book['order_count']} orders"
        for book in books.values()
        if not book["archived_count"] < book["unsummed_from"] <= book["order_count"] + 1
    ]
    recount: Counter[tuple[Any, ...]] = Counter(
        (order["book_id"], level, order["ordinal"] // size, *kind)
        for order in tables["orders"]
        for book in [books.get(order["book_id"])]
        if book is not None and book["archived_count"] < order["ordinal"] < book["unsummed_from"]
        for kind in _kinds(order)
        for level, size in sizes
    )
    columns = ("book_id", "level", "block", "symbol_code", "trade_type", "status")
    kept = {
        tuple(row[name] for name in columns): row["orders"] for row in tables["block_counts"] if row["orders"]
    }
    return found + [
        f"count {name}: kept {kept.get(name, 0)}, there are {recount[name]}"
        for name in sorted(kept.keys() | recount.keys())
        if kept.get(name, 0) != recount[name]
    ]


def _kinds(order: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What the API hides is counted apart, and what it shows unasked once more, all together."""
    hidden = order["source"] != "api" and order["status"] in ("pending", "rejected")
    status = f"{order['status']} elsewhere" if hidden else order["status"]
    own = (order["symbol_code"], order["trade_type"], status)
    return [own] if hidden or status == "deleted" else [own, ("", "", "shown")]
