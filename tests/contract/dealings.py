"""A broker's production books in a real store, with everything that is done to their orders."""

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from bullion.accounts.broker import Broker
from bullion.allocation.book import Book
from bullion.booking.attempt import OrderAttempt, QueueEntry, StockName, ToHedge
from bullion.booking.decide import Plan, decide
from bullion.booking.ledger import Ledger, Recorded
from bullion.hedge.venue import Confirmed, Declined, FinalAnswer
from bullion.metals.metal import Metal
from bullion.orders import life
from bullion.orders.order import Order
from bullion.orders.order_id import order_id
from bullion.orders.status import Event
from bullion.orders.verdict import Priced
from bullion.store import order_changes, prepared_queries
from bullion.store.engine import Engine, Transaction
from bullion.store.hedge_requests import StoredHedgeRequests
from bullion.store.ledger_postgres import PostgresLedger
from bullion.store.ledger_sqlite import SqliteLedger
from bullion.store.order_reader import StoredOrders
from bullion.store.postgres import PostgresEngine
from bullion.store.records import Records, RecordStore
from bullion.store.sqlite import SqliteEngine
from tests.booking.fixtures import GOLD, NOW_US, asked, checked, create_books, put, rows, store_of, summed
from tests.model import invariants, production_invariants

ANATOMY = '{"quoted_weight":"10.0000"}'
PRICED = {
    "GOLD": Priced(Metal.GOLD, 7_000_000, 70_000_000, 5_000, ANATOMY, None, instrument="XAUUSD"),
    "COIN": Priced(
        Metal.GOLD, 7_100_000, 71_000_000, 5_000, ANATOMY, None, instrument="COIN", stock_kept=True
    ),
    "SILVER": Priced(Metal.SILVER, 9_000_000, 9_000_000, 5_000, ANATOMY, 17, instrument="XAGUSD"),
}
DAY_US = 86_400 * 10**6
_numbers = count(1)


async def trades_by_day(store: RecordStore, venue: str, days: int) -> list[list[str]]:
    """The ids of the trades at a venue on the first days after 1970-01-01."""

    async def body(records: Records) -> list[list[str]]:
        spans = [(day * DAY_US, (day + 1) * DAY_US) for day in range(1, days + 1)]
        trades = [await records.venue_trades("main", venue, *span, 9) for span in spans]
        return [[each.execution_id for each in day] for day in trades]

    return await store.read("trades", body)


class Dealings:
    """One node's way to the production books of a few accounts."""

    def __init__(
        self, engine: Engine, test_books: Sequence[int], holder: str = "this node", broker: str = "main"
    ) -> None:
        assert isinstance(engine, PostgresEngine | SqliteEngine)
        self.engine = engine
        self.books = [book + 1 for book in test_books]
        self.holder = holder
        self.broker = broker
        self.now_us = NOW_US
        self.ledger: Ledger = (
            PostgresLedger(engine, holder)
            if isinstance(engine, PostgresEngine)
            else SqliteLedger(engine, holder)
        )
        self.requests = StoredHedgeRequests(engine, holder, lambda: self.now_us)
        self.reader = StoredOrders(engine)
        self.stocks_e4: dict[StockName, int] = {}

    @classmethod
    async def open(cls, engine: Engine, accounts: int = 2, broker: str = "main") -> "Dealings":
        books = await create_books(engine, accounts, gold_e4=10**12, silver_e4=10**12, broker=broker)
        await put(engine, replace(GOLD, broker=broker, code="COIN", stock_kept=True))
        return cls(engine, books, broker=broker)

    async def open_other_broker(self) -> None:
        """A broker `other` that sells coins too."""

        async def body(records: Records) -> None:
            await records.put_broker(Broker("other", "Other"))
            await records.put_symbol(replace(GOLD, broker="other", code="COIN", stock_kept=True))

        await RecordStore(self.engine).write("other broker", body)

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        return [dict(row) for row in await rows(self.engine, sql, *values)]

    async def version(self) -> int:
        (row,) = await self.rows("SELECT version FROM catalogue")
        return int(row["version"])

    async def book(self, book: int) -> Book:
        return (await self.ledger.books([book]))[book]

    # --- Placing --------------------------------------------------------------------------------------

    def entry(
        self,
        book: int,
        trade_type: str = "buy",
        quantity_e4: int = 10_000,
        symbol: str = "GOLD",
        *,
        source: str = "api",
        key: str | None = None,
        **fields: Any,
    ) -> QueueEntry:
        verdict = PRICED[symbol]
        of = asked(trade_type, quantity_e4, symbol_code=symbol, **fields)
        number = next(_numbers)
        name = key or f"k{number}"
        return checked(OrderAttempt(book, self.broker, source, name, of, None, f"r{number}"), verdict)

    def planned(
        self,
        book: Book,
        *entries: QueueEntry,
        stock: MutableMapping[StockName, int] | None = None,
    ) -> Plan:
        return decide(
            book,
            entries,
            self.now_us,
            lambda at_us, ordinal: order_id(at_us, ordinal, next(_numbers)),
            stock,
        )

    async def record(self, *plans: Plan, version: int | None = None) -> Recorded:
        names = [entry.attempt.key_name for plan in plans for entry, _ in plan.outcomes]
        recorded = await self.ledger.record(
            plans, names, await self.version() if version is None else version
        )
        await summed(self.ledger)
        return recorded

    async def record_locked(
        self, *entries: QueueEntry, version: int | None = None
    ) -> tuple[Sequence[Plan], Recorded]:
        """With the stocks of the buys in hand, as the queue does it."""
        by_book: dict[int, list[QueueEntry]] = {}
        for entry in entries:
            by_book.setdefault(entry.attempt.book_id, []).append(entry)
        attempts = [entry.attempt for entry in entries]
        stocks = sorted({each.stock_name for each in attempts if PRICED[each.asked.symbol_code].stock_kept})

        def plan(books: Mapping[int, Book], stock: MutableMapping[StockName, int]) -> list[Plan]:
            return [self.planned(books[book], *own, stock=stock) for book, own in by_book.items()]

        names = [attempt.key_name for attempt in attempts]
        if version is None:
            version = await self.version()
        recorded = await self.ledger.record_locked(sorted(by_book), stocks, names, version, plan)
        await summed(self.ledger)
        return recorded

    async def place(self, book: int, *about: Any, **options: Any) -> Order:
        """One that is recorded, and pending."""
        (plan,), recorded = await self.record_locked(self.entry(book, *about, **options))
        assert recorded.books[book].recorded
        (order,) = plan.orders
        return order

    # --- What becomes of an order ---------------------------------------------------------------------

    async def change(self, order: Order, event: Event, **values: Any) -> Order:
        """As the desk does it."""

        async def body(transaction: Transaction) -> Order:
            before = await order_changes.lock(transaction, order.book_id, order.ordinal)
            assert before is not None
            now = life.after(before, event, self.now_us, **values)
            await order_changes.write(transaction, before, now, self.now_us, "dealer", f"to {now.status}")
            return now

        return await self.engine.write("change", body, holding=prepared_queries.ANSWER)

    async def answer(self, order: Order, word: FinalAnswer | None = None) -> Order:
        """As the node does that got the venue's word: a confirmation unless it is another."""
        return await self.requests.answer(await self.to_hedge(order), word or Confirmed(f"E{next(_numbers)}"))

    async def to_hedge(self, order: Order) -> ToHedge:
        row = await self.request(order)
        return ToHedge(order, row["broker"], row["instrument"], bool(row["took_stock"]), row["fineness_e4"])

    async def lead(self, order: Order, status: str) -> Order:
        """The shortest way to a state."""
        match status:
            case "pending":
                return order
            case "rejected":
                return await self.answer(order, Declined(f"E{next(_numbers)}", "no"))
            case "deleted":
                return await self.change(order, Event.DELETE)
        order = await self.answer(order)
        return order if status == "open" else await self.close(order, complete=status == "closed")

    async def close(self, order: Order, *, complete: bool) -> Order:
        order = await self.change(order, Event.CLOSE)
        return await self.change(order, Event.COMPLETE, close_price_paise=7_000_001) if complete else order

    # --- Stock, and what must be true -----------------------------------------------------------------

    async def put_stock(self, symbol: str, weight_e4: int | None, broker: str = "main") -> None:
        await RecordStore(self.engine).write(
            "stock", lambda records: records.put_stock(broker, symbol, weight_e4)
        )
        if weight_e4 is not None:
            self.stocks_e4[broker, symbol] = weight_e4

    async def stock(self, symbol: str, broker: str = "main") -> int | None:
        found = await self.rows(
            "SELECT weight_e4 FROM stocks WHERE broker = $1 AND symbol_code = $2", broker, symbol
        )
        return int(found[0]["weight_e4"]) if found else None

    async def request(self, order: Order) -> dict[str, Any]:
        (row,) = await self.rows(
            "SELECT * FROM hedge_requests WHERE book_id = $1 AND ordinal = $2", order.book_id, order.ordinal
        )
        return row

    async def read(self) -> invariants.Rows:
        """Everything that there is."""
        return await production_invariants.read(store_of(self.engine))

    async def sound(self, **options: Any) -> invariants.Rows:
        """By the checker that knows nothing of the code."""
        tables = await self.read()
        options = {"stocks_e4": self.stocks_e4, **options}
        assert production_invariants.problems(tables, **options) == []
        return tables
