"""Every table of the schema is known to the move of a broker, with every column that names an account."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from bullion.store.broker_tables import BROKER, COPIED, STAYS, BrokerTable
from bullion.store.sqlite import SqliteEngine
from tests.docs.markdown import ROOT, prose
from tests.docs.tables import tables_of

ACCOUNTS = {"account_id"} | {("accounts", "id")}
BOOKS = {"book_id"} | {("books", "id")}


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Of each table of a store: the columns, each with the table that it refers to, or nothing."""
    path = tmp_path_factory.mktemp("schema") / "bullion.db"

    async def migrate() -> None:
        engine = SqliteEngine(path)
        await engine.open()
        await engine.migrate()
        await engine.close()

    asyncio.run(migrate())
    with closing(sqlite3.connect(path)) as store:
        return {
            name: {row[1]: "" for row in store.execute(f"PRAGMA table_info({name})")}
            | {row[3]: row[2] for row in store.execute(f"PRAGMA foreign_key_list({name})")}
            for name in tables_of("sqlite")
        }


def test_every_table_is_copied_or_stays() -> None:
    """A new table goes into COPIED or STAYS, and into the table of docs/scaling.md."""
    assert sorted([*(table.name for table in COPIED), *STAYS]) == sorted(tables_of("postgres"))


def test_a_table_with_a_broker_an_account_or_a_book_is_copied(columns: dict[str, dict[str, str]]) -> None:
    led = {name for name, each in columns.items() if {"broker", "account_id", "book_id"} & each.keys()}
    assert led - {table.name for table in COPIED} == {"changes", "desk_sessions"}


def test_all_numbers_of_accounts_and_ids_of_books_move(columns: dict[str, dict[str, str]]) -> None:
    for table in COPIED:
        found = columns[table.name]
        assert {*table.account_columns, *table.book_columns, table.column, *table.fixed} <= found.keys()
        assert set(table.account_columns) == {
            name for name in found if {name, (table.name, name)} & ACCOUNTS
        }, table.name
        assert set(table.book_columns) == {name for name in found if {name, (table.name, name)} & BOOKS}, (
            table.name
        )
        assert not set(table.account_columns) & set(table.book_columns)


def test_a_row_comes_after_those_that_it_refers_to(columns: dict[str, dict[str, str]]) -> None:
    order = [table.name for table in COPIED]
    for place, name in enumerate(order):
        others = {other for other in columns[name].values() if other}
        assert others <= {*order[:place], name}, name


def test_the_page_says_of_every_table_what_becomes_of_it() -> None:
    text = prose(ROOT / "docs/scaling.md").partition("| Tables | Whose |")[2].partition("\n\n")[0]
    told = {}
    for line in text.splitlines()[2:]:
        names, whose, copied, *_ = (cell.strip() for cell in line.strip("|").split("|"))
        for name in names.replace("`", "").split(","):
            told[name.strip()] = (whose, copied)
    assert told.keys() == {table.name for table in COPIED} | STAYS.keys()
    for table in COPIED:
        assert told[table.name] == (_whose(table), "yes"), table.name
    for name in STAYS:
        assert told[name] == ("the store's", "no"), name


def _whose(table: BrokerTable) -> str:
    return "the broker's" if table.led_by == BROKER else f"by {table.led_by}"
