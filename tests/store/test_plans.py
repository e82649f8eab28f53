"""Every query behind a call of the trading API is led by the account's book, and by all it knows of a row.

On PostgreSQL that also goes for what nodes do with production orders, and for plans made on a store without
statistics, or with those of empty tables: they are kept until there are others. What the desk and the
reconciliation read is planned anew for each read: `test_desk_growth` measures what that costs.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from bullion.store import queries
from bullion.store.postgres import PostgresEngine
from bullion.store.sqlite import SqliteEngine
from tests.store.hot_calls import Run, hot_runs
from tests.store.plans import (
    Access,
    Index,
    Plan,
    postgres_indexes,
    postgres_plans,
    sqlite_indexes,
    sqlite_plans,
)
from tests.support.servers import Postgres

BOOK_OF = {
    "books": "id",
    "orders": "book_id",
    "block_counts": "book_id",
    "price_moves": "book_id",
    "archived_keys": "book_id",
    "archived_orders": "book_id",
    "open_weights": "book_id",
    "order_events": "book_id",
    "account_events": "book_id",
    "late_events": "book_id",
    "hedge_requests": "book_id",
    "hand_covers": "book_id",
    "hedge_parts": "book_id",
    "hedge_rests": "book_id",
    "webhooks": "book_id",
    "webhook_attempts": "book_id",
    "webhook_dead_events": "book_id",
}
"""The tables that grow with orders, and the column of each that names the book."""
NOT_THE_ACCOUNTS = {
    "catalogue": "one row",
    "book_entries": "written for brokers that keep a hedge book, and read by the desk",
    "book_positions": "at most two rows for each broker: its hedge book",
    "deals": "one row for each broker: its deal numbers",
    "hedge_fills": "the venue's fills, each with an id that is unique for the broker",
    "stocks": "one row for each symbol of a broker",
    "venue_orders": "the simulated venue's own book, which knows no accounts",
    "venues": "one row for each broker, of the simulated venue",
}
NOT_LED_BY_BOOK = {
    "orders_by_id": "the desk's; ids begin with their time, so that every order goes to its end",
    "orders_by_deal_no": "the desk's; has only deals, which are numbered one after the other",
    "orders_by_status": "the desk's; has no test orders, and new ones of a status go to its end",
    "account_events_by_time": "for deleting the oldest; has few rows of each account",
    "order_events_by_time": "the desk's; has only changes that the desk makes",
    "archived_keys_by_time": "the desk's; written when orders are archived, and by no order itself",
    "webhooks_due": "has one entry for each webhook",
    "hedge_requests_due": "has only what waits for the venue now",
    "hedge_requests_waiting": "has only what waits for the venue now",
    "hedge_requests_broken": "has only what a person has to look at",
}
"""Indexes that orders are written to, none of them unique."""
PRODUCTION = (
    "answer_hedge",
    "archived_by_key",
    "book_of_order",
    "change_order",
    "confirm_in_book",
    "confirm_orders",
    "count_order",
    "decide_venue_order",
    "fence_book",
    "hedge_due",
    "hold_hedge",
    "lock_book",
    "lock_stock",
    "lock_books",
    "move_stock",
    "next_deal_no",
    "event_pages",
    "event_range",
    "newest_events",
    "number_event",
    "number_execution",
    "one_hedge",
    "one_venue_order",
    "order_at",
    "order_events",
    "postpone_hedges",
    "release_symbol_weight",
    "release_weight",
    "resolve_break",
    "return_stock",
    "sum_blocks",
    "take_venue_order",
    "take_venue_orders",
    "uncount_order",
    "unnumbered_executions",
    "venue_executions_of_brokers",
    "withdraw_hedge",
)
"""What becomes of production orders, and what a call seldom needs: explained without being run."""
BY_WHAT_WAITS = {"hedge_due"}
"""Those that ask for requests of all accounts, in an index of those that wait."""
READS_WHAT_WAITS = {"confirm_in_book"}
"""Those that may read such an index whole: while it is small, this costs no more than a part of another."""
WAITING = {"hedge_requests_due", "hedge_requests_waiting"}
ORDER_NAMES = (
    {"ordinal"},
    {"source", "idempotency_key"},
    {"client_order_id"},
    {"status", "symbol_code", "trade_type"},
    {"id"},
)
"""What leads to orders besides the book: by a book alone, a whole account would be read."""


@dataclass(frozen=True, slots=True)
class Explained:
    engine: str
    runs: list[Run]
    plans: list[Plan]
    indexes: Mapping[str, Index]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def explained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Explained:
    """Plans of a store with orders, and those that a new one would make and keep."""
    if request.param == "sqlite":
        folder = tmp_path_factory.mktemp("plans")
        runs = hot_runs(folder / "full" / "bullion.db")
        asyncio.run(_migrate(SqliteEngine(folder / "new" / "bullion.db")))
        paths = [folder / name / "bullion.db" for name in ("full", "new")]
        plans = [plan for path in paths for plan in sqlite_plans(path, runs)]
        return Explained("sqlite", runs, plans, sqlite_indexes(paths[0]))
    server: Postgres = request.getfixturevalue("postgres")
    full, new, empty = (server.new_database() for _ in range(3))
    runs = hot_runs(full)
    named = queries.load("postgres")
    kept = [*runs, *(Run(name, named[name], None) for name in PRODUCTION)]

    async def explain() -> list[Plan]:
        await _migrate(PostgresEngine(new))
        await _migrate(PostgresEngine(empty))
        for analyzed in (full, empty):
            server.sql("ANALYZE", analyzed.rpartition("/")[2])
        return [plan for each in (full, new, empty) for plan in await postgres_plans(each, kept)]

    return Explained("postgres", runs, asyncio.run(explain()), asyncio.run(postgres_indexes(full)))


async def _migrate(engine: PostgresEngine | SqliteEngine) -> None:
    await engine.open()
    await engine.migrate()
    await engine.close()


def test_calls_ran_what_we_know_they_need(explained: Explained) -> None:
    """Or the journal has holes."""
    names = {run.query for run in explained.runs}
    wanted = {
        "order_kinds",
        "shown_orders",
        "ordinals_from_page_start",
        "order_kinds_since",
        "shown_orders_since",
        "first_ordinal_since",
        "ordinals_with_reference",
    }
    wanted |= {
        "ordinals_of_kinds",
        "orders_of_kinds",
        "ordinals_between",
        "orders_by_ordinal",
        "book_with_weights",
    }
    wanted |= (
        {"record_orders", "record_plans", "some_orders", "take_venue_orders", "confirm_newest"}
        if explained.engine == "postgres"
        else {"insert_orders", "one_order", "insert_venue_orders", "open_orders"}
    )
    assert wanted <= names


def test_every_way_to_a_table_is_led_by_the_book(explained: Explained) -> None:
    for plan in explained.plans:
        for access in plan.accesses:
            assert _led(access, plan), f"{plan.run.query}: {access}\n{plan.words}"


def _reads_what_waits(access: Access, plan: Plan) -> bool:
    index = access.index
    return plan.run.query in READS_WHAT_WAITS and index is not None and index.name in WAITING


def _led(access: Access, plan: Plan) -> bool:
    if _reads_what_waits(access, plan):
        return True
    if plan.run.query in BY_WHAT_WAITS and access.index is not None and access.index.name in NOT_LED_BY_BOOK:
        return access.index.first_column in access.used
    column = BOOK_OF.get(access.table)
    if column is None:
        return access.table in NOT_THE_ACCOUNTS and (access.index is not None or access.by_row_number)
    if access.by_row_number:
        # Of books it is the key itself. Of others the rows were found by an index, in the same plan.
        return access.table == "books" or any(
            each.table == access.table and each.index is not None for each in plan.accesses
        )
    return access.index is not None and access.index.first_column == column and column in access.asks


def test_every_way_to_a_table_uses_all_that_is_known_of_its_rows(explained: Explained) -> None:
    """Also where the plan was made while there were no rows, and reading all of none looked just as quick."""
    for plan in explained.plans if explained.engine == "postgres" else ():
        for access in plan.accesses:
            known = _reads_what_waits(access, plan) or _by_all_it_knows(access, explained)
            assert known, f"{plan.run.query}: {access}\n{plan.words}"


def _by_all_it_knows(access: Access, explained: Explained) -> bool:
    if access.index is None:
        return access.by_row_number
    if access.table == "orders" and not any(names <= access.used for names in ORDER_NAMES):
        return False
    known = access.used | access.fixed
    led_by = access.index.led_by(access.used)
    if access.index.unique and access.index.led_by(access.used & access.fixed) == len(access.index.columns):
        return True
    rivals = [index for index in explained.indexes.values() if index.table == access.table]
    return led_by > 0 and led_by >= max(index.led_by(known) for index in rivals)


def test_no_orders_are_sorted_but_those_of_a_block(explained: Explained) -> None:
    for plan in explained.plans:
        assert not plan.sorts_orders, f"{plan.run.query}\n{plan.words}"


def test_every_unique_rule_that_an_order_meets_is_led_by_the_book(explained: Explained) -> None:
    for index in explained.indexes.values():
        column = BOOK_OF.get(index.table)
        if column is None or index.table == "books":
            continue
        if index.unique:
            assert index.first_column == column, index
        else:
            assert index.first_column == column or index.name in NOT_LED_BY_BOOK, index


def test_exceptions_are_still_there(explained: Explained) -> None:
    assert set(NOT_LED_BY_BOOK) <= set(explained.indexes)


def test_reads_by_time_alone_would_be_found_out(tmp_path: Path) -> None:
    """The test of the test: a query that is led by something else, and one that sorts a whole book."""
    path = tmp_path / "bullion.db"
    asyncio.run(_migrate(SqliteEngine(path)))
    by_id = Run("by_id", "SELECT * FROM orders WHERE id = $1", {"1": "x"})
    everything = Run("everything", "SELECT count(*) FROM orders WHERE symbol_code = $1", {"1": "x"})
    by_price = Run("by_price", "SELECT * FROM orders WHERE book_id = $1 ORDER BY price_paise", {"1": 1})

    found = sqlite_plans(path, [by_id, everything, by_price])

    assert not any(_led(access, plan) for plan in found[:2] for access in plan.accesses)
    assert all(plan.accesses for plan in found)
    assert [plan.sorts_orders for plan in found] == [False, False, True]


def test_many_requests_that_wait_for_one_brokers_venue_are_not_read_for_another(postgres: Postgres) -> None:
    address = postgres.new_database()
    asyncio.run(_migrate(PostgresEngine(address)))
    postgres.sql(
        "INSERT INTO hedge_requests"
        " (book_id, ordinal, order_id, broker, instrument, took_stock, venue, holder, due_at_us, tries)"
        " SELECT 1, number, number, 'other', 'XAUUSD', 0, 'fix', 'a node', number, 1"
        " FROM generate_series(1, 5000) AS number; ANALYZE",
        address.rpartition("/")[2],
    )
    runs = [Run(name, queries.load("postgres")[name], None) for name in sorted(READS_WHAT_WAITS)]

    for plan in asyncio.run(postgres_plans(address, runs)):
        indexes = {access.index.name for access in plan.accesses if access.index is not None}
        assert indexes & WAITING == {"hedge_requests_waiting"}, plan.words


POLLED = {
    "any_plan": {"book_rules_pkey", "covers_open"},
    "cover_due": {"covers_due"},
    "hedge_due": {"hedge_requests_due"},
    "held_order": {"hedge_requests_due"},
    "ticks_since": {"rates_pkey", "ticks_by_version"},
    "webhook_on": {"webhooks_due"},
}
"""What every node asks several times a second, each with the indexes that lead to what is of interest."""
_WHAT_IS_OVER = """
INSERT INTO hedge_requests
    (book_id, ordinal, order_id, broker, instrument, took_stock, venue, state, holder, due_at_us)
SELECT 1, number, number, 'main', 'XAUUSD', 0, 'book', 'answered', 'a node', number
FROM generate_series(1, 5000) AS number;
INSERT INTO covers
    (id, broker, metal, contract, terms, venue, side, quantity_e8, fine_mg, rule, made_by, state,
    created_at_us, holder, due_at_us)
SELECT number, 'main', 'gold', 'GOLD', '{}', 'fix', 'buy', 1, 1, 'flat', 'rule', 'filled', number, '', number
FROM generate_series(1, 5000) AS number;
ANALYZE
"""


def test_what_nodes_poll_for_reads_nothing_that_is_over(postgres: Postgres, tmp_path: Path) -> None:
    """`Engine.one` and `all` run outside of transactions: with the plans of a session, which may be old."""
    named = queries.load("postgres")
    runs = [Run(name, named[name], None) for name in POLLED]
    new, empty, full = (postgres.new_database() for _ in range(3))
    for address in (new, empty, full):
        asyncio.run(_migrate(PostgresEngine(address)))
    postgres.sql("ANALYZE", empty.rpartition("/")[2])
    postgres.sql(_WHAT_IS_OVER, full.rpartition("/")[2])
    plans = [plan for address in (new, empty, full) for plan in asyncio.run(postgres_plans(address, runs))]
    assert not [plan.words for plan in plans if "Sort" in plan.words]

    path = tmp_path / "bullion.db"
    asyncio.run(_migrate(SqliteEngine(path)))
    named = queries.load("sqlite")
    plans += sqlite_plans(path, [Run(name, named[name], {"1": 1, "2": "fix"}) for name in POLLED])

    for plan in plans:
        led = {access.index.name if access.index else None for access in plan.accesses}
        keys = {None if name is None or name.startswith("sqlite_autoindex") else name for name in led}
        assert keys - {None} <= POLLED[plan.run.query], f"{plan.run.query}: {led}\n{plan.words}"
        if plan.run.query != "any_plan":
            assert led & POLLED[plan.run.query], plan.words


def test_plans_that_know_more_than_they_use_would_be_found_out(postgres: Postgres) -> None:
    """The test of that one, with two queries as they were before."""
    address = postgres.new_database()
    asyncio.run(_migrate(PostgresEngine(address)))
    postgres.sql("ANALYZE", address.rpartition("/")[2])
    runs = [
        Run("order_at", "SELECT * FROM orders WHERE book_id = $1 AND ordinal = $2", None),
        Run(
            "some_requests",
            "SELECT * FROM unnest($1::BIGINT [], $2::BIGINT []) AS asked (book_id, ordinal)"
            " INNER JOIN hedge_requests USING (book_id, ordinal)",
            None,
        ),
    ]

    plans = asyncio.run(postgres_plans(address, runs))

    explained = Explained("postgres", runs, plans, asyncio.run(postgres_indexes(address)))
    for plan in plans:
        (access,) = plan.accesses
        assert not _by_all_it_knows(access, explained)
        assert access.fixed == {"book_id", "ordinal"}
