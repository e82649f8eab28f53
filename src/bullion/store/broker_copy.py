"""Copies one broker from a PostgreSQL store to another: all of it or nothing, compared row by row.

The caller has an open transaction in both stores: a snapshot of the one, and one to commit in the other.
"""

import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from bullion.allocation.book import ACCOUNTS_IN_RANGE
from bullion.orders.packed_orders import pack

from .archive_reader import packed_orders, packed_values
from .broker_place import MARK_STEP
from .broker_tables import COPIED, PACKS, STAYS, BrokerTable, Numbers, Turn
from .postgres_pool import Connection
from .store_copy import CopyRefused

_ROWS_AT_ONCE = 5_000
_COLUMNS = """
SELECT attributes.attrelid::REGCLASS::TEXT AS name, attributes.attname AS column,
    attributes.atttypid = 'TEXT'::REGTYPE AS is_text,
    array_position(keys.indkey::INT2 [], attributes.attnum) AS place
FROM pg_attribute AS attributes
JOIN pg_class AS tables ON tables.oid = attributes.attrelid AND tables.relkind IN ('r', 'p')
LEFT JOIN pg_index AS keys ON keys.indrelid = attributes.attrelid AND keys.indisprimary
WHERE
    tables.relnamespace = current_schema()::REGNAMESPACE AND attributes.attnum > 0
    AND NOT attributes.attisdropped
ORDER BY attributes.attnum
"""
_RANGES = f"""
SELECT DISTINCT id / {ACCOUNTS_IN_RANGE} FROM accounts WHERE broker = $1 OR CAST($1 AS TEXT) IS NULL
"""  # noqa: S608 - a number of ours
_PACK_COLUMNS = (
    "book_id",
    "first_ordinal",
    "last_ordinal",
    "from_us",
    "to_us",
    "plain_bytes",
    "packed_bytes",
    "packed",
)
"""In the order of `packed_values`."""

Progress = Callable[[int, int], None]
Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table, by name, and those of its primary key as an order that both servers share."""

    names: tuple[str, ...]
    order: str


@dataclass(frozen=True, slots=True)
class Copied:
    rows: int
    accounts: int
    renumbered_by: int


async def copy_broker(broker: str, here: Connection, there: Connection, progress: Progress) -> Copied:
    """Copy all rows of the broker, and compare each with the original. May raise CopyRefused."""
    columns = await _shared_columns(here, there)
    copy = _Copy(broker, here, there, columns, progress)
    ranges = await _free_ranges(here, there, broker)
    await copy.count_rows()
    for turn in (Turn.FIRST, Turn.VENUE):
        await copy.run(turn, Numbers(ranges))
    # From here on, nodes of the other store wait for this transaction: it ends at once. The order is that of
    # the desk, which locks the catalogue before all else.
    await there.execute("SELECT 1 FROM catalogue WHERE one = 1 FOR UPDATE")
    await _raise_execution_numbers(there)
    version = await there.fetchval("UPDATE rates SET version = version + 1 WHERE one = 1 RETURNING version")
    numbers = Numbers(ranges, version)
    await copy.run(Turn.LAST, numbers)
    await there.execute("UPDATE migrations SET oldest_level = number WHERE number = $1", MARK_STEP)
    await _show_to_nodes(there)
    return Copied(copy.rows, copy.counts["accounts"], numbers.accounts_by)


async def _raise_execution_numbers(there: Connection) -> None:
    """Above all that were copied. Nodes lock the table before they take a number, so none is lost here."""
    highest = await there.fetchval("SELECT coalesce(max(execution_no), 0) FROM venue_orders")
    await there.execute("LOCK TABLE venue_orders IN SHARE ROW EXCLUSIVE MODE")
    await there.execute(
        "SELECT setval('venue_execution_numbers', greatest(last_value, CAST($1 AS BIGINT)))"
        " FROM venue_execution_numbers WHERE CAST($1 AS BIGINT) > 0"
        " AND (NOT is_called OR last_value < CAST($1 AS BIGINT))",
        highest,
    )


async def _show_to_nodes(there: Connection) -> None:
    """Nodes read the whole catalogue again, and the desk counts all orders again."""
    await there.execute("UPDATE catalogue SET version = version + 1, oldest_change = version + 1")
    await there.execute(
        "INSERT INTO deployment (name, value) VALUES ('test_book_resets', '1') ON CONFLICT (name)"
        " DO UPDATE SET value = CAST(CAST(deployment.value AS BIGINT) + 1 AS TEXT)"
    )
    await there.execute("SELECT pg_notify('bullion_catalogue', '')")


class _Copy:
    def __init__(
        self,
        broker: str,
        here: Connection,
        there: Connection,
        columns: dict[str, Columns],
        progress: Progress,
    ) -> None:
        self._broker = broker
        self._here = here
        self._there = there
        self._columns = columns
        self._progress = progress
        self._done = 0
        self.counts: dict[str, int] = {}
        """How many rows of each table the broker has."""

    @property
    def rows(self) -> int:
        return sum(self.counts.values())

    async def count_rows(self) -> None:
        counts = (
            f"SELECT '{table.name}', count(*) FROM {table.name} WHERE {table.of_broker}"  # noqa: S608 - our names
            for table in COPIED
        )
        self.counts = dict(await self._here.fetch(" UNION ALL ".join(counts), self._broker))

    async def run(self, turn: Turn, numbers: Numbers) -> None:
        """Copy the tables of a turn, and compare them."""
        tables = [table for table in COPIED if table.turn is turn and self.counts[table.name]]
        for table in tables:
            columns = self._columns[table.name].names
            async for batch in self._originals(table, numbers):
                await self._there.copy_records_to_table(table.name, columns=columns, records=batch)
                self._add(len(batch))
        for table in tables:
            await self._compare(table, numbers)

    async def _compare(self, table: BrokerTable, numbers: Numbers) -> None:
        """Every value of every row, in the order of the primary key."""
        originals, copies = self._originals(table, numbers), self._batches(self._there, table, None)
        while True:
            wanted: list[Values] = await anext(originals, [])
            found: list[Values] = await anext(copies, [])
            if wanted != found:
                pairs = zip(wanted, found, strict=False)
                row = next((one for one, two in pairs if one != two), "the end")
                raise CopyRefused(f"The copy of {table.name} differs from the original at {row}.")
            if not wanted:
                return
            self._add(len(wanted))

    async def _originals(self, table: BrokerTable, numbers: Numbers) -> AsyncIterator[list[Values]]:
        """The rows as they have to be in the other store."""
        async for batch in self._batches(self._here, table, numbers):
            packed = table.name == PACKS and numbers.books_by != 0
            names = self._columns[table.name].names
            yield [_packed_again(names, row) for row in batch] if packed else batch

    async def _batches(
        self, store: Connection, table: BrokerTable, numbers: Numbers | None
    ) -> AsyncIterator[list[Values]]:
        columns = self._columns[table.name]
        names = columns.names if numbers is None else [table.value(each, numbers) for each in columns.names]
        query = (
            f"SELECT {', '.join(names)} FROM {table.name} WHERE {table.of_broker} "  # noqa: S608 - as above
            f"ORDER BY {columns.order}"
        )
        rows = await store.cursor(query, self._broker)
        while batch := [tuple(row) for row in await rows.fetch(_ROWS_AT_ONCE)]:
            yield batch

    def _add(self, rows: int) -> None:
        self._done += rows
        self._progress(self._done, 2 * self.rows)


def _packed_again(names: Sequence[str], row: Values) -> Values:
    """A pack of archived orders, each of which has the id of its book. The row has the new one already."""
    packed = packed_orders(dict(zip(names, row, strict=True)))
    try:
        orders = [msgspec.structs.replace(order, book_id=packed.book_id) for order in packed.orders()]
        again = dict(zip(_PACK_COLUMNS, packed_values(pack(orders)), strict=True))
    except (ValueError, zlib.error, msgspec.DecodeError) as error:
        raise CopyRefused(
            f"Archived orders cannot be read: run 'bullion books verify' ({packed.first_ordinal} to "
            f"{packed.last_ordinal} of a book)."
        ) from error
    return tuple(again[name] for name in names)


async def _shared_columns(here: Connection, there: Connection) -> dict[str, Columns]:
    """Of every table. Both stores have the same tables and columns, and we know whose each is."""
    found, other = [await _columns(store) for store in (here, there)]
    if found != other:
        raise CopyRefused("The two stores have different schemas. Run 'bullion migrate' on both.")
    unknown = found.keys() - {table.name for table in COPIED} - STAYS.keys()
    if unknown:
        raise CopyRefused(f"The store has tables of a newer version: {', '.join(sorted(unknown))}.")
    return found


async def _columns(store: Connection) -> dict[str, Columns]:
    names: dict[str, list[str]] = {}
    keys: dict[str, list[tuple[int, str]]] = {}
    for row in await store.fetch(_COLUMNS):
        names.setdefault(row["name"], []).append(row["column"])
        if row["place"] is not None:
            ordered = f'{row["column"]} COLLATE "C"' if row["is_text"] else row["column"]
            keys.setdefault(row["name"], []).append((row["place"], ordered))
    return {
        name: Columns(tuple(sorted(each)), ", ".join(column for _, column in sorted(keys.get(name, ()))))
        for name, each in names.items()
    }


async def _free_ranges(here: Connection, there: Connection, broker: str) -> int:
    """By how many ranges the broker's accounts have to go up so that their numbers are free.

    In a store with brokers they leave the first range, where new accounts are created meanwhile.
    """
    own, taken = await _ranges(here, broker), await _ranges(there, None)
    ranges = int(await there.fetchval("SELECT EXISTS (SELECT 1 FROM brokers)"))
    while taken & {each + ranges for each in own}:
        ranges += 1
    return ranges


async def _ranges(store: Connection, broker: str | None) -> set[int]:
    rows = await store.fetch(_RANGES, broker)
    return {row[0] for row in rows}
