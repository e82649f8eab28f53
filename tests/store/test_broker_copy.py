"""One broker is copied between two stores: a row of every table, and no row of another broker."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from bullion.allocation.book import ACCOUNTS_IN_RANGE
from bullion.orders.packed_orders import PackedOrders, pack
from bullion.orders.status import Status
from bullion.store.archive_reader import packed_orders
from bullion.store.broker_copy import Copied, copy_broker
from bullion.store.broker_tables import COPIED, PACKS, BrokerTable
from bullion.store.postgres import PostgresEngine
from bullion.store.store_copy import CopyRefused
from tests.orders.orders import order_in
from tests.support.servers import Postgres

pytestmark = pytest.mark.anyio

_COLUMNS = """
SELECT column_name, data_type FROM information_schema.columns
WHERE table_schema = 'public' AND table_name = $1
"""
_CHECKED: dict[str | tuple[str, str], str] = {
    "currency": "INR",
    "environment": "production",
    "metal": "gold",
    "outcome": "confirmed",
    "policy": "each",
    "reason": "differs",
    "required": "off",
    "role": "viewer",
    "side": "buy",
    "status": "open",
    "step": "minute",
    "trade_type": "buy",
    **dict.fromkeys(("secret_hash", "hash", "code_hash"), "0" * 64),
    ("book_entries", "kind"): "fill",
    ("covers", "state"): "filled",
    ("hedge_contracts", "mode"): "suggest",
    ("hedge_requests", "state"): "answered",
    ("line_orders", "state"): "final",
    ("venues", "mode"): "fill",
    ("webhooks", "state"): "on",
}
"""Values that the schema allows, by column, or by table and column."""

_WAITING = """
SELECT EXISTS (
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
)
"""


@dataclass(frozen=True)
class Made:
    """A broker with one row in every table, and with one account."""

    broker: str
    account: int

    @property
    def books(self) -> tuple[int, int]:
        return 2 * self.account, 2 * self.account + 1

    def values(self, table: BrokerTable, columns: Mapping[str, str]) -> dict[str, Any]:
        if table.name == PACKS:
            return self._pack()
        found: dict[str, Any] = {}
        for name, kind in columns.items():
            plain: str | int = f"{self.broker}'s" if kind == "text" else self.account
            found[name] = _CHECKED.get((table.name, name), _CHECKED.get(name, plain))
            if kind == "bigint" and name not in table.account_columns:
                found[name] = self.books[1] if name in table.book_columns else 1
        named = {"broker": self.broker, "tag": self.broker}
        return found | {name: value for name, value in named.items() if name in found}

    def _pack(self) -> dict[str, Any]:
        orders = [order_in(Status.FILLED, book_id=self.books[0], ordinal=ordinal) for ordinal in (1, 2)]
        packed = pack(orders)
        fields = {name: getattr(packed, name) for name in PackedOrders.__struct_fields__}
        return fields | {"packed_bytes": len(packed.packed)}


@asynccontextmanager
async def store(postgres: Postgres, template: str) -> AsyncIterator[Any]:
    engine = PostgresEngine(postgres.new_database(template))
    async with engine.connection_without_timeouts() as connection:
        yield connection


async def fill(connection: Any, *made: Made) -> None:
    for table in COPIED:
        columns = {row[0]: row[1] for row in await connection.fetch(_COLUMNS, table.name)}
        found = [each.values(table, columns) for each in made]
        if table.name == "books":  # The test book, of the archived orders.
            found += [row | {"id": row["id"] - 1, "environment": "test"} for row in found]
        for values in found:
            places = ", ".join(f"${number}" for number, _ in enumerate(values, 1))
            insert = f"INSERT INTO {table.name} ({', '.join(values)}) VALUES ({places})"
            await connection.execute(insert, *values.values())


async def rows(connection: Any, table: BrokerTable, broker: str) -> list[dict[str, Any]]:
    found = await connection.fetch(f"SELECT * FROM {table.name} WHERE {table.of_broker} ORDER BY 1", broker)
    return [dict(row) for row in found]


async def test_a_row_of_every_table_is_copied_and_of_no_other_broker(
    postgres: Postgres, schema_template: str
) -> None:
    async with store(postgres, schema_template) as here, store(postgres, schema_template) as there:
        await fill(here, Made("moves", 7), Made("stays", 8))
        await fill(there, Made("there", 7))
        await there.execute("UPDATE rates SET version = 41; UPDATE catalogue SET version = 51")
        async with here.transaction(isolation="repeatable_read", readonly=True), there.transaction():
            copied = await copy_broker("moves", here, there, lambda _done, _of: None)
        assert (copied.rows, copied.accounts) == (len(COPIED) + 1, 1)
        assert copied.renumbered_by == ACCOUNTS_IN_RANGE
        for table in COPIED:
            originals, copies = [await rows(each, table, "moves") for each in (here, there)]
            packs = ("packed", "packed_bytes", "plain_bytes") if table.name == PACKS else ()
            for original, copy in zip(originals, copies, strict=True):
                for name in table.account_columns:
                    assert copy.pop(name) == original.pop(name) + ACCOUNTS_IN_RANGE
                for name in table.book_columns:
                    assert copy.pop(name) == original.pop(name) + 2 * ACCOUNTS_IN_RANGE
                if table.name == "ticks":
                    assert copy["version"] == 42
                for name in (*table.fixed, *packs):
                    del copy[name], original[name]
                assert copy == original, table.name
            # With those of the broker that was there before.
            assert await there.fetchval(f"SELECT count(*) FROM {table.name}") == 2 * len(originals), (
                table.name
            )
        assert await there.fetchrow("SELECT version, oldest_change FROM catalogue") == (52, 52)
        # Code that does not know moved brokers cannot use this store any more.
        assert await there.fetchval("SELECT oldest_level FROM migrations WHERE number = 27") == 27
        (pack_there,) = await rows(there, next(each for each in COPIED if each.name == PACKS), "moves")
        book_ids = {each.book_id for each in packed_orders(pack_there).orders()}
        assert book_ids == {14 + 2 * ACCOUNTS_IN_RANGE}


async def copy_moves(here: Any, there: Any) -> Copied:
    async with here.transaction(isolation="repeatable_read", readonly=True), there.transaction():
        return await copy_broker("moves", here, there, lambda _done, _of: None)


async def test_a_store_with_a_broker_keeps_the_first_numbers(
    postgres: Postgres, schema_template: str
) -> None:
    """It has no accounts yet. They may be created during the copy."""
    async with store(postgres, schema_template) as here, store(postgres, schema_template) as there:
        await fill(here, Made("moves", 7))
        await there.execute("INSERT INTO brokers (tag, name, created_at_us) VALUES ('there', 'There', 1)")
        assert (await copy_moves(here, there)).renumbered_by == ACCOUNTS_IN_RANGE


class Seen:
    """A connection, and which tables were compared before each was copied."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.read_before: dict[str, set[str]] = {}
        self._read: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def copy_records_to_table(self, name: str, **more: Any) -> None:
        self.read_before[name] = set(self._read)
        await self._connection.copy_records_to_table(name, **more)

    async def cursor(self, query: str, *values: Any) -> Any:
        self._read.add(query.partition(" FROM ")[2].split()[0])
        return await self._connection.cursor(query, *values)


async def test_what_others_wait_for_is_copied_after_all_else(
    postgres: Postgres, schema_template: str
) -> None:
    async with store(postgres, schema_template) as here, store(postgres, schema_template) as there:
        await fill(here, Made("moves", 7))
        seen = Seen(there)
        await copy_moves(here, seen)
        assert {table.name for table in COPIED} - seen.read_before["venue_orders"] == {
            "venue_orders",
            "ticks",
        }
        assert {table.name for table in COPIED} - seen.read_before["ticks"] == {"ticks"}


async def test_the_copy_waits_for_the_desk_before_it_locks_what_the_desk_needs(
    postgres: Postgres, schema_template: str
) -> None:
    """A change of the set-up locks the catalogue, then others. The copy would be in its way."""
    async with store(postgres, schema_template) as here:
        await fill(here, Made("moves", 7))
        engine = PostgresEngine(postgres.new_database(schema_template))
        async with (
            engine.connection_without_timeouts() as there,
            engine.connection_without_timeouts() as desk,
        ):
            async with desk.transaction():
                await desk.execute("UPDATE catalogue SET version = version + 1")
                copying = asyncio.create_task(copy_moves(here, there))
                while not await desk.fetchval(_WAITING):
                    assert not copying.done()
                await desk.execute("SET LOCAL lock_timeout = '2s'")
                await desk.execute("UPDATE rates SET version = version + 1")
                await desk.execute("LOCK TABLE venue_orders IN ROW EXCLUSIVE MODE")
            assert (await copying).accounts == 1


async def test_a_pack_that_cannot_be_read_ends_the_copy(postgres: Postgres, schema_template: str) -> None:
    async with store(postgres, schema_template) as here, store(postgres, schema_template) as there:
        await fill(here, Made("moves", 7))
        await fill(there, Made("there", 7))
        await here.execute(f"UPDATE {PACKS} SET packed = 'no pack'")
        with pytest.raises(CopyRefused, match="Archived orders cannot be read"):
            async with here.transaction(isolation="repeatable_read", readonly=True), there.transaction():
                await copy_broker("moves", here, there, lambda _done, _of: None)
        assert await there.fetchval("SELECT count(*) FROM brokers") == 1


async def test_a_copy_that_differs_ends_the_copy(postgres: Postgres, schema_template: str) -> None:
    """As if the other server changed what it was given."""
    async with store(postgres, schema_template) as here, store(postgres, schema_template) as there:
        await fill(here, Made("moves", 7))
        await there.execute(
            "CREATE FUNCTION other() RETURNS TRIGGER LANGUAGE plpgsql AS"
            " $$ BEGIN NEW.last_deal_no = 2; RETURN NEW; END $$;"
            "CREATE TRIGGER other BEFORE INSERT ON deals FOR EACH ROW EXECUTE FUNCTION other()"
        )
        with pytest.raises(CopyRefused, match="The copy of deals differs from the original at"):
            async with here.transaction(isolation="repeatable_read", readonly=True), there.transaction():
                await copy_broker("moves", here, there, lambda _done, _of: None)
        assert await there.fetchval("SELECT count(*) FROM deals") == 0


async def test_stores_with_other_columns_are_refused(postgres: Postgres, schema_template: str) -> None:
    async with store(postgres, schema_template) as here, store(postgres, schema_template) as there:
        for changed, said in (
            ("ALTER TABLE deals ADD COLUMN newer BIGINT", "different schemas"),
            ("CREATE TABLE newer (id BIGINT)", "different schemas"),
        ):
            await there.execute(changed)
            with pytest.raises(CopyRefused, match=said):
                async with here.transaction(), there.transaction():
                    await copy_broker("moves", here, there, lambda _done, _of: None)
        for statement in ("ALTER TABLE deals ADD COLUMN newer BIGINT", "CREATE TABLE newer (id BIGINT)"):
            await here.execute(statement)
        with pytest.raises(CopyRefused, match="tables of a newer version: newer"):
            async with here.transaction(), there.transaction():
                await copy_broker("moves", here, there, lambda _done, _of: None)
