"""A broker with a few clients in a real store, nodes that book for them, and a ledger that can go wrong."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group, Terms
from bullion.accounts.switches import Switches
from bullion.allocation.book import Book, book_id
from bullion.booking.attempt import (
    Booked,
    KeyName,
    OrderAttempt,
    Outcome,
    QueueEntry,
    Settled,
    StockName,
)
from bullion.booking.decide import Plan
from bullion.booking.ledger import Ledger, Planner, Recorded
from bullion.booking.queue import BookingQueue
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.follower import CatalogueFollower
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.metals.pricing import Fixed
from bullion.metals.symbol import Side, SizeRule, Symbol
from bullion.orders.market import Market
from bullion.orders.request import PlaceOrder
from bullion.orders.verdict import Refusal, Verdict
from bullion.rates.board import Board
from bullion.records.clients import Allocation
from bullion.store import prepared_queries
from bullion.store.catalogue_source import StoreSource
from bullion.store.engine import Engine, Row
from bullion.store.ledger_postgres import PostgresLedger
from bullion.store.ledger_sqlite import SqliteLedger
from bullion.store.order_sums import sum_blocks
from bullion.store.postgres import PostgresEngine
from bullion.store.records import Records, RecordStore
from bullion.store.sqlite import SqliteEngine

GOLD = Symbol(
    broker="main",
    code="GOLD",
    metal=Metal.GOLD,
    quoted_weight_e4=100_000,
    trading=True,
    sides=frozenset(Side),
    frozen=False,
    size=SizeRule(1, 10**10, 1),
    rate_age_s_max=None,
    freeze_after_s=None,
    pricing=Fixed(7_000_000, 6_990_000),
)
SILVER = replace(
    GOLD, code="SILVER", metal=Metal.SILVER, quoted_weight_e4=10_000, pricing=Fixed(9_000_000, 8_900_000)
)
GROUP = Group("main", "retail", trading=True, terms={}, default_terms=Terms(0, 0))
SWITCHES = Switches("main")
NOW_US = 1_800_000_000_000_000
_requests = count(1)


def ledger_of(engine: Engine) -> Ledger:
    if isinstance(engine, PostgresEngine):
        return PostgresLedger(engine)
    assert isinstance(engine, SqliteEngine)
    return SqliteLedger(engine)


async def create_books(
    engine: Engine,
    accounts: int = 3,
    gold_e4: int = 10**9,
    silver_e4: int = 10**9,
    broker: str = "main",
    login: str = "c",
) -> list[int]:
    """The test books of that many new clients."""

    async def body(records: Records) -> list[int]:
        await records.put_broker(Broker(broker, broker.capitalize()))
        await records.put_switches(replace(SWITCHES, broker=broker))
        await records.put_group(replace(GROUP, broker=broker))
        for symbol in (GOLD, SILVER):
            await records.put_symbol(replace(symbol, broker=broker))
        books = []
        for number in range(1, accounts + 1):
            new = Account(
                0,
                broker,
                f"{login}{number}",
                None,
                "retail",
                active=True,
                api_access=True,
                production_trading=False,
            )
            await records.insert_account(new, Allocation(gold_e4, silver_e4))
            client = await records.client(broker, new.login_id)
            assert client is not None
            books.append(book_id(client.account.id, Environment.TEST))
        return books

    return await RecordStore(engine).write("create_books", body)


async def put(engine: Engine, *things: Symbol | Switches | Group) -> None:
    """What the desk does."""

    async def body(records: Records) -> None:
        for thing in things:
            match thing:
                case Symbol():
                    await records.put_symbol(thing)
                case Switches():
                    await records.put_switches(thing)
                case Group():
                    await records.put_group(thing)

    await RecordStore(engine).write("put", body)


async def set_limit(engine: Engine, book: int, gold_e4: int, silver_e4: int) -> None:
    await RecordStore(engine).write(
        "limit", lambda records: records.set_allocation(book // 2, Allocation(gold_e4, silver_e4))
    )


async def rows(engine: Engine, sql: str, *values: Any) -> list[Row]:
    """Whatever a person would ask the store, in their own words."""
    assert isinstance(engine, SqliteEngine | PostgresEngine)
    name = f"test {sql}"
    engine._queries[name] = sql
    return list(await engine.write("look", lambda transaction: transaction.all(name, *values)))


def asked(trade_type: str = "buy", quantity_e4: int = 10_000, **fields: Any) -> PlaceOrder:
    given = {"symbol_code": "GOLD", "expected_price": None, "client_order_id": None, **fields}
    return PlaceOrder(trade_type=trade_type, quantity_e4=quantity_e4, **given)


def code(outcome: Outcome | BaseException) -> str:
    """In one word what became of an order."""
    match outcome:
        case Booked():
            return "replayed" if outcome.replayed else "booked"
        case Refusal():
            return f"{outcome.refusal.code}{' again' if outcome.replayed else ''}"
    return type(outcome).__name__


Hook = Callable[[], Awaitable[None]]


@dataclass
class Between:
    """A ledger between the queue and the real one, where things happen just then. Hooks run once each."""

    inner: Ledger
    before: list[Hook] = field(default_factory=list)
    after: list[Hook] = field(default_factory=list)
    before_books: list[Hook] = field(default_factory=list)
    before_settled: list[Hook] = field(default_factory=list)
    batches: list[list[KeyName]] = field(default_factory=list)
    locked: int = 0
    verified: int = 0
    before_verify: list[Hook] = field(default_factory=list)
    poison: set[str] = field(default_factory=set)
    """Keys that make whatever they are part of fail."""
    poison_fault: Exception | None = None

    @property
    def failovers(self) -> int:
        return self.inner.failovers

    async def books(self, book_ids: Sequence[int]) -> Mapping[int, Book]:
        await _next(self.before_books)
        return await self.inner.books(book_ids)

    async def settled(self, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
        await _next(self.before_settled)
        return await self.inner.settled(names)

    async def record(
        self, plans: Sequence[Plan], names: Sequence[KeyName], catalogue_version: int
    ) -> Recorded:
        self.batches.append(list(names))
        await _next(self.before)
        self._taste(names)
        recorded = await self.inner.record(plans, names, catalogue_version)
        await _next(self.after)
        return recorded

    async def record_locked(
        self,
        book_ids: Sequence[int],
        stocks: Sequence[StockName],
        names: Sequence[KeyName],
        catalogue_version: int,
        plan: Planner,
    ) -> tuple[Sequence[Plan], Recorded]:
        self.batches.append(list(names))
        self.locked += 1
        await _next(self.before)
        self._taste(names)
        done = await self.inner.record_locked(book_ids, stocks, names, catalogue_version, plan)
        await _next(self.after)
        return done

    async def verify(self, book_id: int, names: Sequence[KeyName]) -> Mapping[KeyName, Settled]:
        self.verified += 1
        await _next(self.before_verify)
        return await self.inner.verify(book_id, names)

    def _taste(self, names: Sequence[KeyName]) -> None:
        if self.poison_fault is not None and any(key in self.poison for _, _, key in names):
            raise self.poison_fault


async def _next(hooks: list[Hook]) -> None:
    if hooks:
        await hooks.pop(0)()


def failing(error: Exception) -> Hook:
    async def hook() -> None:
        raise error

    return hook


@dataclass(frozen=True)
class CheckBy:
    """An `OrderCheck` that is a function of the test."""

    function: Callable[[], Verdict]

    def check(self, _: OrderAttempt) -> Verdict:
        return self.function()


def checked(attempt: OrderAttempt, verdict: Verdict, settled: Settled | None = None) -> QueueEntry:
    """An entry of the queue with that verdict; it is not checked again."""

    def never() -> Verdict:
        raise AssertionError("nobody checks it again")

    return QueueEntry(attempt, CheckBy(never), verdict, settled=settled)


class Node:
    """What one node has of the way into the book, without its sockets."""

    def __init__(self, engine: Engine, *, slots: int = 2, batch_max: int = 32) -> None:
        self.engine = engine
        self.catalogue = Catalogue()
        self.catalogue_follower = CatalogueFollower(self.catalogue, StoreSource(engine))
        board = Board()
        board.apply([], 1)
        self.market = Market(self.catalogue, board)
        self.ledger = Between(ledger_of(engine))
        self.queue = BookingQueue(
            self.ledger, self.catalogue, self.catalogue_follower, slots=slots, batch_max=batch_max
        )

    async def start(self) -> "Node":
        await self.catalogue_follower.catch_up()
        return self

    def attempt(
        self, book: int, key: str, of: PlaceOrder | None = None, request_id: str | None = None
    ) -> OrderAttempt:
        request_id = request_id or f"{next(_requests):032x}"
        return OrderAttempt(book, "main", "api", key, of or asked(), None, request_id)

    def check(self, attempt: OrderAttempt) -> Verdict:
        """The node is itself the `OrderCheck` of its orders: by the market alone."""
        return self.market.check(self.catalogue.accounts[attempt.book_id // 2], attempt.asked)

    def entry(self, attempt: OrderAttempt) -> QueueEntry:
        return QueueEntry(attempt, self, self.check(attempt))

    async def place(
        self,
        book: int,
        key: str,
        of: PlaceOrder | None = None,
        *,
        verdict: Callable[[], Verdict] | None = None,
        request_id: str | None = None,
    ) -> Outcome:
        check = self if verdict is None else CheckBy(verdict)
        return await self.queue.place(self.attempt(book, key, of, request_id), check)

    async def told(self, book: int, key: str, of: PlaceOrder | None = None, **options: Any) -> str:
        """What the caller is told, in one word, also when it is a fault."""
        try:
            return code(await self.place(book, key, of, **options))
        except Exception as error:  # noqa: BLE001
            return code(error)

    async def quiet(self) -> None:
        """Until nothing is under way any more."""
        while self.queue._tasks or self.queue._waiting:
            await asyncio.sleep(0.005)


def store_of(engine: Engine) -> Any:
    """Where the engine's store is, for those who look without it."""
    if isinstance(engine, PostgresEngine):
        return engine._url
    assert isinstance(engine, SqliteEngine)
    return engine._path


async def reset(engine: Engine, book: int) -> None:
    async def body(records: Records) -> None:
        await records.reset_book(await records.lock_book(book // 2, Environment.TEST))

    await RecordStore(engine).write("reset", body)


async def summed(ledger: Ledger) -> None:
    """Once the counts of all full blocks are there: on PostgreSQL they come behind the bookings."""
    if isinstance(ledger, PostgresLedger):
        await ledger._sums.done()


async def stand_at(engine: Engine, book_id: int, ordinals: int) -> None:
    """A book that has so many orders already: rows written as they would have been, in one statement."""
    numbers = (
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $2)"
        if "Sqlite" in type(engine).__name__
        else "WITH numbers AS (SELECT generate_series(1, CAST($2 AS BIGINT)) AS n)"
    )
    await rows(
        engine,
        f"""{numbers}
        INSERT INTO orders (
            book_id, ordinal, id, source, idempotency_key, symbol_code, trade_type, quantity_e4, metal,
            price_paise, total_paise, status, request_id, created_at_us, price_anatomy
        ) SELECT
            CAST($1 AS BIGINT), n, 'id' || n, 'api', 'k' || n,
            CASE WHEN n % 3 = 0 THEN 'SILVER' ELSE 'GOLD' END, CASE WHEN n % 2 = 0 THEN 'buy' ELSE 'sell' END,
            1, CASE WHEN n % 3 = 0 THEN 'silver' ELSE 'gold' END, 1, 1, 'filled', 'r',
            {NOW_US} - 1000000 + n, '{{}}' FROM numbers""",
        book_id,
        ordinals,
    )
    await rows(
        engine,
        f"UPDATE books SET order_count = $2, last_order_at_us = {NOW_US} - 1000000 + $2 WHERE id = $1",
        book_id,
        ordinals,
    )
    await engine.write(
        "sum", lambda transaction: sum_blocks(transaction, book_id), holding=prepared_queries.SUM
    )
    for metal in ("gold", "silver"):
        await rows(
            engine,
            f"""UPDATE books SET {metal}_net_e4 = (
                SELECT CAST(sum(quantity_e4 * (CASE trade_type WHEN 'buy' THEN 1 ELSE -1 END)) AS BIGINT)
                FROM orders WHERE book_id = $1 AND metal = '{metal}') WHERE id = $1""",
            book_id,
        )
