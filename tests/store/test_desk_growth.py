"""What the desk's lists and search cost the store does not grow with the orders and accounts that it has.

Cost is what the engine does for the queries of one read, not time: steps of SQLite's virtual machine, and the
buffers that PostgreSQL touches.
"""

import asyncio
import contextlib
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
import pytest

from bench.seed import seed
from bench.store import make_store
from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group
from bullion.desk.actions.order_sorting import sorted_page
from bullion.environment import Environment
from bullion.hedge.contracts_seed import seed_contracts
from bullion.hedge.cover import OPEN, BookCover
from bullion.hedge.venue import Fill
from bullion.metals.metal import Metal
from bullion.orders.status import Status
from bullion.records.clients import Allocation, KeyTimes
from bullion.records.hedge_book import BookPosition, CoverDeal
from bullion.records.orders import OrderFilter
from bullion.records.page import Page
from bullion.refusals.refusal import RefusalError
from bullion.store import cover_records, newest_orders, queries
from bullion.store.cover_records import add_deal
from bullion.store.desk_transaction import DeskCache
from bullion.store.engine import Engine, Row, Transaction, Value
from bullion.store.order_timeline import _SPAN
from bullion.store.postgres import _CUSTOM_PLANS, _SERVER_SETTINGS, PostgresEngine
from bullion.store.records import Records
from bullion.store.sqlite import SqliteEngine
from tests.booking.fixtures import rows
from tests.support.migrated_store import copy_migrated
from tests.support.servers import Postgres

SMALL, GROWN = 10, 120
"""Accounts."""
ORDERS = 256
"""How many orders each account has: spans of either store end at the same distance from its end."""
BIG = "client0000"
"""Has as many again as all others, half in either environment."""
Read = Callable[[Records], Awaitable[object]]


@dataclass
class Journal:
    """A transaction that notes what is asked of it."""

    transaction: Transaction
    asked: list[tuple[str, Sequence[Value]]] = field(default_factory=list)

    async def all(self, query: str, *values: Value) -> Sequence[Row]:
        self.asked.append((query, values))
        return await self.transaction.all(query, *values)

    async def one(self, query: str, *values: Value) -> Row | None:
        found = await self.all(query, *values)
        return found[0] if found else None

    async def run(self, query: str, *values: Value) -> None:
        await self.all(query, *values)


@dataclass
class Store:
    """A store with so many accounts, and the process that serves the desk."""

    place: Path | str
    engine: Engine
    memory: DeskCache

    @classmethod
    async def make(cls, place: Path | str, accounts: int) -> "Store":
        engine = SqliteEngine(place) if isinstance(place, Path) else PostgresEngine(place)
        await engine.open()
        store = cls(place, engine, DeskCache(engine))

        async def create_records(transaction: Transaction) -> None:
            records = Records(transaction, store.memory)
            await records.put_broker(Broker("main", "Main"))
            await records.put_group(Group("main", "retail", trading=True, terms={}, default_terms=None))
            flags: dict[str, Any] = dict.fromkeys(("active", "api_access", "production_trading"), True)
            for number in range(accounts):
                new = Account(0, "main", f"client{number:04}", f"Firm {number}", "retail", **flags)
                await records.insert_account(new, Allocation(0, 0))

        await engine.write("create_records", create_records)
        return store

    async def cost(self, read: Read) -> int:
        async def body(transaction: Transaction) -> list[tuple[str, Sequence[Value]]]:
            journal = Journal(transaction)
            await read(Records(journal, self.memory))
            return journal.asked

        return await self.cost_of(await self.engine.read("read", body, custom_plans=True))

    async def cost_of(self, asked: list[tuple[str, Sequence[Value]]]) -> int:
        if isinstance(self.place, Path):
            return _sqlite_steps(self.place, asked)
        return await _postgres_buffers(self.place, asked)


def _sqlite_steps(path: Path, asked: list[tuple[str, Sequence[Value]]]) -> int:
    named, steps = queries.load("sqlite"), 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    connection = sqlite3.connect(path)
    connection.set_progress_handler(step, 10)
    for query, values in asked:
        bound = {str(place): value for place, value in enumerate(values, 1)}
        connection.execute(named[query], bound).fetchall()
    connection.close()
    return steps


async def _postgres_buffers(address: str, asked: list[tuple[str, Sequence[Value]]]) -> int:
    named, buffers = queries.load("postgres"), 0
    connection = await asyncpg.connect(address, server_settings=_SERVER_SETTINGS)
    async with connection.transaction():
        await connection.execute(_CUSTOM_PLANS.removeprefix("; "))
        for number, (query, values) in enumerate(asked):
            # Prepared, as by the service.
            await connection.execute(f"PREPARE run{number} AS {named[query]}")
            given = f"({', '.join(map(_literal, values))})" if values else ""
            explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE run{number} {given}"
            plan = msgspec.json.decode(await connection.fetchval(explain))[0]["Plan"]
            buffers += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    await connection.close()
    return buffers


def _literal(value: Value) -> str:
    assert value is None or isinstance(value, str | int)
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"


def orders(wanted: OrderFilter, offset: int = 0) -> Read:
    return lambda records: records.orders("main", wanted, Page(50, offset))


def orders_at_once(wanted: OrderFilter) -> Read:
    return lambda records: records.orders_at_once("main", wanted, Page(20, 0))


def reads_at_once(begin_us: int) -> dict[str, Read]:
    """Reads that are as cheap before the orders are counted."""
    since_us = begin_us + 86_400_000_000
    return {
        **{f"{each} orders": orders_at_once(OrderFilter(status=each)) for each in Status if each != "filled"},
        "open orders in production": orders_at_once(OrderFilter(Environment.PRODUCTION, status="open")),
        "closed orders of a rare symbol": orders_at_once(OrderFilter(status="closed", symbol_code="RARE")),
        "orders of a symbol": orders_at_once(OrderFilter(symbol_code="GOLD")),
        "orders of a rare symbol": orders_at_once(OrderFilter(symbol_code="RARE")),
        "orders of a channel that nobody used": orders_at_once(OrderFilter(source="phone")),
        "orders since an old time": orders_at_once(OrderFilter(since_us=since_us)),
    }


def sorted_orders(wanted: OrderFilter, sort: str) -> Read:
    """Too many to sort are counted, and refused."""

    async def read(records: Records) -> None:
        with contextlib.suppress(RefusalError):
            await sorted_page(records, "main", wanted, Page(50, 0), sort)

    return read


def search(text: str) -> Read:
    return lambda records: records.account_summaries("main", text, "", KeyTimes(0, 0), 51)


def reads(accounts: int, begin_us: int, order_id: str) -> dict[str, Read]:
    """The same reads of a store with so many accounts, whose orders began at a time, and one of those."""
    number = (2 * accounts - 1) * ORDERS
    day_us = 86_400_000_000
    return {
        "everything": orders(OrderFilter()),
        "a channel that nobody used": orders(OrderFilter(source="phone")),
        "a channel that everybody uses": orders(OrderFilter(source="api")),
        "an old time": orders(OrderFilter(since_us=begin_us + day_us)),
        "an old time and a symbol": orders(OrderFilter(since_us=begin_us + day_us, symbol_code="GOLD")),
        "one of the last pages": orders(OrderFilter(), number - 2 * _SPAN),
        "one of the last pages of a symbol": orders(OrderFilter(symbol_code="GOLD"), number // 2),
        "an old time of one account": orders(OrderFilter(login_id=BIG, since_us=begin_us + day_us)),
        "one of the last pages of one account": orders(OrderFilter(login_id=BIG), accounts * ORDERS - 100),
        "a reference of one account": orders(OrderFilter(login_id=BIG, client_order_id="nobody's")),
        "a status": orders(OrderFilter(status="open")),
        "a status of an environment": orders(OrderFilter(Environment.PRODUCTION, status="closed")),
        "one of the last pages of a status": orders(OrderFilter(status="filled"), accounts * ORDERS - 100),
        "an old time and a status": orders(OrderFilter(since_us=begin_us + day_us, status="closed")),
        "a status that no order has": orders(OrderFilter(Environment.PRODUCTION, status="closing")),
        "the oldest of a status": sorted_orders(OrderFilter(status="open"), "time"),
        "a status of one account": orders(OrderFilter(login_id="client0001", status="filled")),
        "a symbol of one account": orders(OrderFilter(login_id="client0001", symbol_code="GOLD")),
        "the oldest of all": sorted_orders(OrderFilter(), "time"),
        "the oldest of a symbol since a time": sorted_orders(
            OrderFilter(since_us=begin_us + day_us, symbol_code="GOLD"), "time"
        ),
        "the oldest of one account": sorted_orders(OrderFilter(login_id=BIG), "time"),
        "the heaviest of few": sorted_orders(OrderFilter(login_id="client0001", status="filled"), "-weight"),
        "too many to sort by weight": sorted_orders(OrderFilter(), "-weight"),
        "the newest thousand": lambda records: records.orders("main", OrderFilter(), Page(1_000, 0)),
        "firms": lambda records: records.firm_names("main", ["client0001", "client0002"]),
        "a page of accounts": lambda records: records.account_summaries("main", None, "", KeyTimes(0, 0), 10),
        "an order": lambda records: records.order("main", order_id),
        "hedges that wait": lambda records: records.hedge_queue("main", Page(50, 0)),
        "broken hedges": lambda records: records.hedge_breaks("main", Page(50, 0)),
        "what is to be archived": lambda records: records.books_to_archive("main", "", 10, begin_us),
        "a hedged order": asked("hedged_order", order_id),
        "executions": asked("accounted_executions", f'[["{order_id}", "none", "buy", 1]]', "main"),
        "requests of a node": asked("claimed_hedges", "node", 1),
    }


def asked(query: str, *values: Value) -> Read:
    """What nodes ask by themselves, planned anew like the desk's reads."""
    return lambda records: records._transaction.all(query, *values)


@pytest.fixture(params=["sqlite", "postgres"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path | str]:
    if request.param == "sqlite":
        files = [tmp_path / name / "bullion.db" for name in ("small", "grown")]
        for file in files:
            copy_migrated(file)
        return [*files]
    server: Postgres = request.getfixturevalue("postgres")
    template: str = request.getfixturevalue("schema_template")
    return [server.new_database(template) for _ in range(2)]


def _seeded(place: Path | str, accounts: int) -> int:
    """Give each account its orders. When the first was made."""
    names = {(f"client{number:04}", "test"): ORDERS for number in range(accounts)}
    names[BIG, "test"] = names[BIG, "production"] = accounts * ORDERS // 2
    return min(book.made_at_us(1) for book in seed(place, names, lambda _: None).values())


@pytest.mark.slow
def test_reads_cost_the_same_however_many_orders_there_are(
    places: list[Path | str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The smaller store has more than these.
    monkeypatch.setattr(newest_orders, "COUNTED_MAX", 50)
    monkeypatch.setattr(newest_orders, "_LOOKED_AT_MAX", 100)
    costs: list[dict[str, int]] = []
    uncounted: list[int] = []

    async def make(place: Path | str, accounts: int) -> None:
        await (await Store.make(place, accounts)).engine.close()

    async def measure(place: Path | str, accounts: int, begin_us: int) -> None:
        engine = SqliteEngine(place) if isinstance(place, Path) else PostgresEngine(place)
        await engine.open()
        if isinstance(place, str):
            # By itself it would do so within a minute: for one of the two stores, but not yet for the other.
            connection = await asyncpg.connect(place)
            await connection.execute("VACUUM ANALYZE")
            await connection.close()
        store = Store(place, engine, DeskCache(engine))
        with monkeypatch.context() as without_bound:
            without_bound.setattr(newest_orders, "_LOOKED_AT_MAX", 10**9)
            uncounted.append(await store.cost(orders(OrderFilter(source="phone"))))
        at_once = {name: await store.cost(read) for name, read in reads_at_once(begin_us).items()}
        await store.memory.timeline.update()
        (row,) = await rows(engine, "SELECT id FROM orders WHERE book_id = 3 ORDER BY ordinal LIMIT 1")
        all_reads = reads(accounts, begin_us, row["id"])
        costs.append(at_once | {name: await store.cost(read) for name, read in all_reads.items()})
        await engine.close()

    for place, accounts in zip(places, (SMALL, GROWN), strict=True):
        asyncio.run(make(place, accounts))
        asyncio.run(measure(place, accounts, _seeded(place, accounts)))
    small, grown = costs
    # Not 1: where many orders share a millisecond, PostgreSQL touches a buffer for each instead of each page.
    assert {name: (small[name], grown[name]) for name in small if grown[name] > 3 * small[name]} == {}
    # The measure sees growth where there is some: if a list looked at all orders.
    assert uncounted[1] > 5 * uncounted[0]


def test_the_newest_orders_cost_the_same_however_many_there_are(places: list[Path | str]) -> None:
    """They do grow with the accounts: each is looked at once."""

    async def measure(place: Path | str) -> int:
        engine = SqliteEngine(place) if isinstance(place, Path) else PostgresEngine(place)
        await engine.open()
        store = Store(place, engine, DeskCache(engine))
        cost = await store.cost(lambda records: records.newest_production_orders("main", 16))
        await engine.close()
        return cost

    async def make(place: Path | str) -> None:
        await (await Store.make(place, SMALL)).engine.close()

    costs = []
    for place, number in zip(places, (20, 1_000), strict=True):
        asyncio.run(make(place))
        names = {(f"client{each:04}", of): number for each in range(SMALL) for of in ("test", "production")}
        seed(place, names, lambda _: None)
        costs.append(asyncio.run(measure(place)))
    assert costs[1] < 2 * costs[0]


class _Undone(Exception):
    """Takes a transaction back."""


MADE = """
WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < {number})
INSERT INTO covers (
    id, broker, metal, contract, terms, venue, side, quantity_e8, fine_mg, rule, made_by, state,
    created_at_us, holder, due_at_us
)
SELECT
    'C' || number, 'main', 'gold', 'GOLDM', '', 'desk', 'buy', 100000000, 99500, 'by_hand', 'dealer',
    'filled', number, '', 0
FROM numbers
"""
DEALT = """
INSERT INTO cover_fills (
    broker, venue, execution_id, cover_id, quantity_e8, price_e6, reference_e6, fee_minor, dollar_e6, fine_mg,
    at_us
)
SELECT broker, venue, id, id, quantity_e8, 1, 1, 0, 0, fine_mg, created_at_us FROM covers
"""
HELD = "INSERT INTO held_contracts SELECT broker, contract, sum(quantity_e8) FROM covers GROUP BY 1, 2"


def test_a_fill_of_a_cover_costs_the_same_however_many_came_before(places: list[Path | str]) -> None:
    contract = next(each for each in seed_contracts() if each.code == "GOLDM")
    new = BookCover(
        "N", "main", Metal.GOLD, contract, "buy", 10**8, 99_500, "by_hand", "dealer", "n", "sent", 1
    )

    async def measure(place: Path | str, number: int) -> int:
        store = await Store.make(place, 0)
        opened = BookPosition("main", Metal.GOLD, "book", 10**9, 0)
        await store.engine.write(
            "open", lambda transaction: Records(transaction, store.memory).open_book(opened)
        )
        for statement in (MADE.format(number=number), DEALT, HELD):
            await rows(store.engine, statement)
        await store.engine.write(
            "cover", lambda transaction: Records(transaction, store.memory).insert_book_cover(new)
        )

        async def fill(transaction: Transaction) -> None:
            journal = Journal(transaction)
            await add_deal(journal, new, CoverDeal(Fill("F", 10**8, 10**6, 1), 0, 0), 1)
            raise _Undone(journal.asked)

        with pytest.raises(_Undone) as undone:
            await store.engine.write("fill", fill)
        cost = await store.cost_of(undone.value.args[0])
        await store.engine.close()
        return cost

    few, many = (
        asyncio.run(measure(place, number)) for place, number in zip(places, (20, 2_000), strict=True)
    )
    assert many < 2 * few


TRAIL = """
WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < {number})
INSERT INTO audit (broker, ordinal, at_us, actor, action, subject, hash)
SELECT 'main', number, number, 'dealer', 'put_group', 'retail', '{hash}' FROM numbers
"""


def test_a_page_of_the_audit_trail_costs_the_same_however_long_the_trail_is(places: list[Path | str]) -> None:
    async def measure(place: Path | str, number: int) -> tuple[int, int]:
        store = await Store.make(place, 0)
        await rows(store.engine, TRAIL.format(number=number, hash=64 * "0"))

        async def total(transaction: Transaction) -> int:
            return (await Records(transaction, store.memory).audit("main", Page(10, 0)))[1]

        cost = await store.cost(lambda records: records.audit("main", Page(10, 0)))
        found = await store.engine.read("total", total)
        await store.engine.close()
        return cost, found

    few, many = (
        asyncio.run(measure(place, number)) for place, number in zip(places, (100, 3_000), strict=True)
    )
    assert many[0] < 2 * few[0]
    assert (few[1], many[1]) == (100, 3_000)


def test_lists_of_covers_cost_the_same_however_many_ended(
    places: list[Path | str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cover_records, "COUNTED_MAX", 50)
    page, contract = Page(10, 0), next(each for each in seed_contracts() if each.code == "GOLDM")

    def covers(state: str | None) -> Read:
        return lambda records: records.book_covers("main", page, state)

    async def measure(place: Path | str, number: int) -> tuple[list[int], list[int]]:
        store = await Store.make(place, 0)
        await rows(store.engine, MADE.format(number=number))
        await rows(store.engine, "UPDATE covers SET terms = $1", msgspec.json.encode(contract).decode())

        async def totals(transaction: Transaction) -> list[int]:
            records = Records(transaction, store.memory)
            pages = [
                (page, None),
                (page, "filled"),
                (page, "sent"),
                (page, OPEN),
                (Page(10, number - 15), None),
            ]
            return [(await records.book_covers("main", *each))[1] for each in pages]

        costs = [await store.cost(covers(each)) for each in (None, "filled", "refused", OPEN)]
        found = await store.engine.read("totals", totals)
        await store.engine.close()
        return costs, found

    (few, counted), (many, counted_of_many) = (
        asyncio.run(measure(place, number)) for place, number in zip(places, (100, 3_000), strict=True)
    )
    assert all(most < 3 * least for least, most in zip(few, many, strict=True)), (few, many)
    # Whoever reads page after page sees that there are more, to the end.
    assert counted == [50, 50, 0, 0, 96]
    assert counted_of_many == [50, 50, 0, 0, 2_996]


def test_a_search_costs_the_same_however_many_accounts_there_are(places: list[Path | str]) -> None:
    async def measure(place: Path | str) -> tuple[int, int]:
        store = await Store.make(place, 0)
        first, again = await store.cost(search("lient0000299")), await store.cost(search("IENT0000298"))
        await store.engine.close()
        return first, again

    costs = []
    for place, accounts in zip(places, (300, 3_600), strict=True):
        make_store(place, accounts)
        costs.append(asyncio.run(measure(place)))
    small, grown = costs
    assert grown[1] < 2 * small[1]
    # The names are read once.
    assert grown[0] > 5 * grown[1]
