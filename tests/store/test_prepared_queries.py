"""What a node asks while it holds a book or the traces is known to PostgreSQL before a transaction begins."""

import ast
import inspect
from collections.abc import Iterator, Sequence
from types import ModuleType
from unittest.mock import patch

import asyncpg
import pytest

from bullion.store import (
    account_events,
    book_ages,
    book_entries,
    cover_planning,
    cover_records,
    cover_sending,
    execution_records,
    hedge_requests,
    house_book,
    ledger_postgres,
    order_changes,
    order_sums,
    prepared_queries,
    queries,
    traces,
)
from bullion.store.engine import Transaction
from bullion.store.postgres import PostgresEngine
from tests.support.servers import Postgres

pytestmark = pytest.mark.anyio

HOLDERS = (
    ledger_postgres,
    hedge_requests,
    house_book,
    book_ages,
    cover_planning,
    cover_records,
    cover_sending,
    execution_records,
    order_changes,
    account_events,
    book_entries,
    order_sums,
    traces,
)
NOT_HELD = {
    "accounted_executions",
    "all_book_positions",
    "books_to_plan",
    "claim_covers",
    "claimed_covers",
    "count_covers_of_state",
    "cover_by_id",
    "cover_due",
    "covers_waiting",
    "covers_with_fills",
    "execution_cursor",
    "hedge_due",
    "hedged_order",
    "hedges_broken",
    "hedges_elsewhere",
    "hedges_waiting",
    "insert_broker_event",
    "move_execution_cursor",
    "one_lease",
    "postpone_cover",
    "price_cover",
}
"""Asked in a transaction that holds no book."""


def asked_in(module: ModuleType) -> Iterator[str]:
    """The queries that a module's transactions ask by name."""
    for call in ast.walk(ast.parse(inspect.getsource(module))):
        if not isinstance(call, ast.Call):
            continue
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Name("transaction" | "open_"), attr="run" | "one" | "all"),
                args=[ast.Constant(str() as name), *_],
            ):
                yield name
            case ast.Call(func=ast.Name("one_row"), args=[_, ast.Constant(str() as name), *_]):
                yield name


def test_nothing_else_is_asked_while_a_book_or_the_traces_are_held() -> None:
    asked = {name for module in HOLDERS for name in asked_in(module)}
    assert {"lock_book", "lock_books", "record_plans", "answer_hedge"} <= asked
    assert asked - NOT_HELD == set(prepared_queries.ALL)


async def _engine_of_one_connection(postgres: Postgres) -> PostgresEngine:
    engine = PostgresEngine(postgres.new_database(), pool_size=1)
    await engine.open()
    await engine.migrate()
    return engine


async def test_a_transaction_finds_prepared_what_it_asks_while_it_holds_a_book(postgres: Postgres) -> None:
    engine = await _engine_of_one_connection(postgres)

    async def body(transaction: Transaction) -> set[str]:
        before = await _known(transaction)
        await transaction.run("lock_book", 1)
        assert await _known(transaction) == before
        return before

    known = await engine.write("held", body, holding=prepared_queries.ANSWER)
    assert _missing(prepared_queries.ANSWER, known) == set()
    assert _missing(prepared_queries.PLAN, known) != set()  # Each costs time and memory.
    known = await engine.write("held", body, holding=prepared_queries.ALL)
    assert _missing(prepared_queries.ALL, known) == set()
    await engine.close()


async def test_one_that_was_dropped_is_prepared_again(postgres: Postgres) -> None:
    """A connection keeps a limited number, and none of them expires while a transaction is open."""
    engine = await _engine_of_one_connection(postgres)
    await engine.write("held", _known, holding=prepared_queries.SUM)

    async def others(transaction: Transaction) -> int:
        connection: asyncpg.Connection = transaction._connection  # type: ignore[attr-defined]
        assert connection._stmt_cache.get_max_lifetime() == 0  # type: ignore[attr-defined]
        for number in range(300):
            await connection.fetch(f"SELECT {number}")
        return len(await _known(transaction))

    assert await engine.read("others", others) < 300
    known = await engine.write("held", _known, holding=prepared_queries.SUM)
    await engine.close()
    assert _missing(prepared_queries.SUM, known) == set()


async def test_what_is_prepared_costs_no_message(postgres: Postgres) -> None:
    """A transaction that answers an order names some forty queries. Each message would delay it."""
    engine = await _engine_of_one_connection(postgres)
    await engine.write("held", _known, holding=prepared_queries.ANSWER)
    with patch.object(asyncpg.Connection, "executemany", side_effect=AssertionError("a message")):
        await engine.write("held", _known, holding=prepared_queries.ANSWER)
        with pytest.raises(AssertionError, match="a message"):
            await engine.write("held", _known, holding=prepared_queries.PLAN)
    await engine.close()


def _missing(names: Sequence[str], known: set[str]) -> set[str]:
    texts = queries.load("postgres")
    return {name for name in names if texts[name] not in known}


async def _known(transaction: Transaction) -> set[str]:
    connection: asyncpg.Connection = transaction._connection  # type: ignore[attr-defined]
    return {
        row["statement"] for row in await connection.fetch("SELECT statement FROM pg_prepared_statements")
    }
