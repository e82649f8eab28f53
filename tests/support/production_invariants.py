"""What must be true of the tables at every committed point once there are production orders.

Read with statements of its own, and judged by rules of its own: nothing of the service is imported here.
"""

import asyncio
import shutil
import sqlite3
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import asyncpg

from tests.model import invariants

Row = dict[str, Any]
Rows = dict[str, list[Row]]
Place = tuple[int, int]
"""Book and ordinal."""

TABLES = {
    **invariants.TABLES,
    "order_events": "SELECT * FROM order_events ORDER BY book_id, ordinal, at_us",
    "open_weights": "SELECT * FROM open_weights",
    "hedge_requests": "SELECT * FROM hedge_requests",
    "deals": "SELECT * FROM deals",
    "stocks": "SELECT * FROM stocks",
    "venue_orders": "SELECT * FROM venue_orders",
    "unmatched_executions": "SELECT * FROM unmatched_executions",
    "hedge_fills": "SELECT * FROM hedge_fills",
    "hedge_parts": "SELECT * FROM hedge_parts ORDER BY book_id, ordinal, child",
    "hedge_rests": "SELECT * FROM hedge_rests",
}
HOLDING = {"pending", "open", "closing"}
DEALS = {"open", "closing", "closed"}
LIVES: dict[str, list[tuple[str, ...]]] = {
    "pending": [()],
    "open": [("open",)],
    "closing": [("open", "closing")],
    "closed": [("open", "closing", "closed")],
    "rejected": [("rejected",)],
    "deleted": [("deleted",), ("open", "deleted"), ("open", "closing", "deleted")],
}
"""By status: what may have become of an order one after the other, from `pending` on."""


def read(store: str | Path, *, dead: bool = False) -> Rows:
    """All tables from one snapshot: of an SQLite file, or of a PostgreSQL address.

    `dead`: no node is running. Then the file is copied first, with its log: a look must not mend it.
    """
    if isinstance(store, str):
        return asyncio.run(_read_postgres(store))
    if not dead:
        return _read_sqlite(f"file:{store}?mode=ro")
    with tempfile.TemporaryDirectory() as folder:
        for part in ("", "-wal"):
            if Path(f"{store}{part}").exists():
                shutil.copy(f"{store}{part}", f"{folder}/copy{part}")
        return _read_sqlite(f"file:{folder}/copy")


async def _read_postgres(url: str) -> Rows:
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            return {name: [dict(row) for row in await connection.fetch(sql)] for name, sql in TABLES.items()}
    finally:
        await connection.close()


def _read_sqlite(uri: str) -> Rows:
    connection = sqlite3.connect(uri, uri=True)
    connection.row_factory = sqlite3.Row
    try:
        connection.execute("BEGIN")
        return {name: [dict(row) for row in connection.execute(sql)] for name, sql in TABLES.items()}
    finally:
        connection.close()


_PENDING = """
SELECT count(*)
FROM orders
WHERE
    status = 'pending'
    AND NOT EXISTS (SELECT 1 FROM hedge_requests WHERE order_id = orders.id AND broker = $1)
"""


def pending(store: str | Path, but: str = "") -> int:
    """How many orders are pending, but for those of one broker; a node is running on the store."""
    if isinstance(store, str):
        return asyncio.run(_pending_postgres(store, but))
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        (found,) = connection.execute(_PENDING, {"1": but}).fetchone()
        return int(found)
    finally:
        connection.close()


async def _pending_postgres(url: str, but: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval(_PENDING, but))
    finally:
        await connection.close()


def check(store: str | Path, *, dead: bool = False, **options: Any) -> Rows:
    """Raise AssertionError with everything that is wrong; give what was read."""
    tables = read(store, dead=dead)
    wrong = problems(tables, **options)
    assert not wrong, "\n".join(wrong[:30])
    return tables


def problems(
    tables: Rows,
    *,
    stocks_e4: Mapping[tuple[str, str], int] | None = None,
    submitted_once: bool = False,
    settled: bool = False,
) -> list[str]:
    """What is wrong, in sentences.

    `stocks_e4`: what each stock (broker, symbol) held before any order. `submitted_once`: nothing has
    failed, so no order was sent twice. `settled`: no order waits any more, and no execution is unseen.
    """
    found = [*invariants._keys(tables), *invariants._strangers(tables)]
    orders: dict[int, list[Row]] = defaultdict(list)
    for order in tables["orders"]:
        orders[order["book_id"]].append(order)
    for book in tables["books"]:
        own = orders[book["id"]]
        found += [*invariants._sequence(book, own), *invariants._nets(book, own)]
        found += invariants._version(book, own, 0, None)
    found += [
        *invariants.counts(tables),
        *_open_weights(tables),
        *_limits(tables),
        *_deals(tables),
        *_lives(tables),
    ]
    found += [*_requests(tables), *_venue(tables), *_parts(tables), *_stocks(tables, stocks_e4 or {})]
    if submitted_once:
        found += [
            f"order {row['order_id']} was sent {row['submissions']} times"
            for row in tables["venue_orders"]
            if row["submissions"] != 1
        ]
    if settled:
        found += [f"order {row['id']} is pending" for row in tables["orders"] if row["status"] == "pending"]
        found += _unaccounted(tables)
    return found


def production(tables: Rows) -> list[Row]:
    """The orders of production books."""
    books = {row["id"] for row in tables["books"] if row["environment"] == "production"}
    return [order for order in tables["orders"] if order["book_id"] in books]


def place(row: Row) -> Place:
    return row["book_id"], row["ordinal"]


def by_place(rows: Iterable[Row]) -> dict[Place, Row]:
    return {place(row): row for row in rows}


def _open_weights(tables: Rows) -> Iterator[str]:
    """2. Per symbol too: what is bought and sold by pending, open and closing orders."""
    sums: dict[tuple[Any, ...], dict[str, int]] = defaultdict(lambda: {"buy": 0, "sell": 0})
    for order in production(tables):
        if order["status"] in HOLDING:
            name = (order["book_id"], order["symbol_code"], order["metal"])
            sums[name][order["trade_type"]] += order["quantity_e4"]
    kept = {
        (row["book_id"], row["symbol_code"], row["metal"]): {"buy": row["buy_e4"], "sell": row["sell_e4"]}
        for row in tables["open_weights"]
    }
    for name in sums.keys() | kept.keys():
        if sums[name] != kept.get(name, {"buy": 0, "sell": 0}):
            yield f"open weights of {name}: kept {kept.get(name)}, the orders say {sums[name]}"


def _limits(tables: Rows) -> Iterator[str]:
    """3. For books that only buy: what is held is never above the limit."""
    sellers = {order["book_id"] for order in tables["orders"] if order["trade_type"] == "sell"}
    for book in tables["books"]:
        for metal in ("gold", "silver"):
            if book["id"] not in sellers and book[f"{metal}_net_e4"] > book[f"{metal}_limit_e4"]:
                yield f"book {book['id']} holds more {metal} than its limit"


def _deals(tables: Rows) -> Iterator[str]:
    """8. A deal has a number, once within its broker; what is not a deal has none, and nothing of a close."""
    brokers = {row["id"]: row["broker"] for row in tables["accounts"]}
    accounts = {row["id"]: row["account_id"] for row in tables["books"]}
    last = {row["broker"]: row["last_deal_no"] for row in tables["deals"]}
    numbers: Counter[tuple[str, int]] = Counter()
    for order in tables["orders"]:
        number, status = order["deal_no"], order["status"]
        if (number is not None) != (status in DEALS) and status != "deleted":
            yield f"order {order['id']} is {status} and has the deal number {number}"
        closing = [order[name] for name in ("close_price_paise", "realized_pnl_paise", "closed_at_us")]
        if any(each is None for each in closing) if status == "closed" else any(closing):
            yield f"order {order['id']} is {status} and was closed with {closing}"
        if number is not None:
            broker = brokers[accounts[order["book_id"]]]
            numbers[broker, number] += 1
            if number > last.get(broker, 0):
                yield f"order {order['id']} has a deal number that was not given yet: {number}"
    yield from (f"deal number {name} is there {times} times" for name, times in numbers.items() if times > 1)


def _lives(tables: Rows) -> Iterator[str]:
    """8. Only legal transitions, and the last one led to where the order is."""
    lives: dict[Place, list[Row]] = defaultdict(list)
    for event in tables["order_events"]:
        lives[place(event)].append(event)
    for order in production(tables):
        told = lives.pop(place(order), [])
        if not any(sorted(life) == sorted(row["status"] for row in told) for life in LIVES[order["status"]]):
            yield f"order {order['id']} is {order['status']} after {[row['status'] for row in told]}"
    yield from (f"events of {name}, which is no production order" for name in lives)


def _requests(tables: Rows) -> Iterator[str]:
    """Every production order has its request; it waits for as long as the order is pending, and no longer."""
    requests = by_place(tables["hedge_requests"])
    for order in production(tables):
        request = requests.pop(place(order), None)
        if request is None:
            yield f"order {order['id']} has no hedge request"
            continue
        words = f"order {order['id']} is {order['status']}, its request is {request['state']}"
        words += f", {request['outcome']}"
        if request["order_id"] != order["id"]:
            yield f"{words} and names {request['order_id']}"
        match request["state"], request["outcome"]:
            case "waiting", None:
                right = order["status"] in ("pending", "deleted")
            case "answered", "confirmed":
                right = order["status"] in (*DEALS, "deleted")
            case "answered", "refused":
                right = order["status"] in ("rejected", "deleted")
            case "withdrawn", None:
                right = order["status"] == "deleted"
            case _:
                right = False
        if not right:
            yield words
    yield from (f"a hedge request for {name}, which is no production order" for name in requests)


def _venue(tables: Rows) -> Iterator[str]:
    """1. The venue executed what is a deal, once, and refused what is rejected; it knows nothing else."""
    orders = {order["id"]: order for order in production(tables)}
    requests = by_place(tables["hedge_requests"])
    executions: Counter[str] = Counter()
    at_venue = {row["order_id"]: row for row in tables["venue_orders"]}
    shown = {row["execution_id"] for row in tables["unmatched_executions"]}
    rests = by_place(tables["hedge_rests"])
    for row in at_venue.values():
        order = orders.get(row["order_id"]) or orders.get(row["order_id"][:-1])
        if order is None and row["execution_id"] not in shown:
            yield f"the venue has {row['order_id']}, which is no production order"
        if (row["outcome"] is None) != (row["execution_id"] is None):
            yield f"the venue's order {row['order_id']} is half decided"
        if row["execution_id"] is not None:
            executions[row["execution_id"]] += 1
    yield from (f"execution {name} is there {times} times" for name, times in executions.items() if times > 1)
    for order in orders.values():
        outcome = at_venue.get(order["id"], {}).get("outcome")
        request = requests.get(place(order), {})
        if place(order) in rests:
            continue  # It was filled in parts: see `_parts`.
        if order["status"] in DEALS and outcome != "confirmed":
            yield f"order {order['id']} is {order['status']}, and the venue says {outcome}"
        if order["status"] == "rejected" and outcome != "refused":
            yield f"order {order['id']} is rejected, and the venue says {outcome}"
        known = at_venue.get(order["id"], {}).get("execution_id")
        if request.get("state") == "answered" and request["execution_id"] != known:
            yield f"order {order['id']} was executed as {known}, and noted as {request['execution_id']}"


def _parts_of(tables: Rows) -> dict[Place, list[Row]]:
    parts: dict[Place, list[Row]] = defaultdict(list)
    for row in tables["hedge_parts"]:
        parts[place(row)].append(row)
    return parts


def _parts(tables: Rows) -> Iterator[str]:
    """Of an order that was filled in parts, what was filled and what is left is all of it."""
    parts, rests = _parts_of(tables), by_place(tables["hedge_rests"])
    requests, at_venue = (
        by_place(tables["hedge_requests"]),
        {r["order_id"]: r for r in tables["venue_orders"]},
    )
    for order in production(tables):
        own, rest = parts.pop(place(order), []), rests.pop(place(order), None)
        words = f"order {order['id']} is {order['status']}"
        if bool(own) != (rest is not None):
            yield f"{words}, with {len(own)} parts and the rest {rest}"
        if rest is not None:
            yield from _shares(words, order, own, rest)
            if rest["stopped"] and requests[place(order)]["state"] != "waiting":
                yield f"{words}, and its rest waits for the desk"
        for part in own:
            yield from _part_at_venue(words, part, at_venue.get(part["order_id"]))
    yield from (f"parts of {name}, which is no production order" for name in [*parts, *rests])
    for row in tables["hedge_fills"]:
        if at_venue.get(row["order_id"], {}).get("outcome", "confirmed") != "confirmed":
            yield f"fill {row['execution_id']} of {row['order_id']}, which the venue did not execute"


def _shares(words: str, order: Row, own: list[Row], rest: Row) -> Iterator[str]:
    filled_e4 = sum(part["quantity_e4"] for part in own)
    if filled_e4 + rest["quantity_e4"] != order["quantity_e4"]:
        yield f"{words}: {filled_e4} filled and {rest['quantity_e4']} left of {order['quantity_e4']}"
    if [part["child"] for part in own] != list(range(len(own))):
        yield f"{words}, with the children {[part['child'] for part in own]}"
    if order["status"] in DEALS and rest["quantity_e4"] and rest["fine_mg_taken"] != rest["fine_mg"]:
        yield f"{words}, and {rest['fine_mg']} mg of it are neither covered nor taken"


def _part_at_venue(words: str, part: Row, known: Row | None) -> Iterator[str]:
    """Weights are rounded to milligrams and back, so they may differ a little."""
    if known is None:
        return  # Another venue filled it.
    executed_e4 = 0
    if known["outcome"] == "confirmed":
        executed_e4 = known["quantity_e4"] if known["filled_e4"] is None else known["filled_e4"]
    if known["execution_id"] != part["execution_id"] or abs(executed_e4 - part["quantity_e4"]) > 20:
        yield f"{words}: part {part['order_id']} is not what the venue executed"


def _unaccounted(tables: Rows) -> Iterator[str]:
    """Every deal that the venue made is known to a request, or shown to the desk as a break of its own."""
    known = {row["execution_id"] for row in tables["unmatched_executions"]}
    known |= {row["execution_id"] for row in tables["hedge_requests"] if row["outcome"] == "confirmed"}
    known |= {row["execution_id"] for row in tables["hedge_parts"]}
    for row in tables["venue_orders"]:
        if row["outcome"] == "confirmed" and row["execution_id"] not in known:
            yield f"execution {row['execution_id']} of {row['order_id']} is in none of our books"


def _stocks(tables: Rows, stocks_e4: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """What is in stock, and what is held by buys that took from it, is always the same."""
    requests = by_place(tables["hedge_requests"])
    left = {(row["broker"], row["symbol_code"]): row["weight_e4"] for row in tables["stocks"]}
    taken: Counter[tuple[str, str]] = Counter()
    for order in production(tables):
        request = requests.get(place(order))
        if request is not None and request["took_stock"] and order["status"] in HOLDING:
            taken[request["broker"], order["symbol_code"]] += order["quantity_e4"]
    for name, weight_e4 in stocks_e4.items():
        if left[name] + taken[name] != weight_e4 or left[name] < 0:
            yield f"stock {name}: {left[name]} left and {taken[name]} taken of {weight_e4}"
