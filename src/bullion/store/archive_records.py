"""The archive for the desk: moving orders into it, reading it, and deleting exported traces."""

import msgspec

from bullion.faults import ConstraintViolation
from bullion.orders.order import Order
from bullion.orders.packed_orders import PackedOrders
from bullion.orders.trace import Trace
from bullion.records.archive import ArchiveSize, BookToArchive, TraceBatch
from bullion.records.orders import AccountTrace

from . import order_rows
from .archive_reader import packed_orders, packed_values
from .desk_transaction import DeskTransaction
from .engine import Row, one_row
from .trace_reader import time_ms

_decode = msgspec.json.Decoder(list[Trace]).decode
_encode = msgspec.json.Encoder().encode


class ArchiveRecords(DeskTransaction):
    async def books_to_archive(
        self, broker: str, login_id: str, limit: int, before_us: int, *, this_too: bool = False
    ) -> list[BookToArchive]:
        """The archivable orders made before a time, for accounts after a login.

        Also accounts that have nothing to archive.
        """
        found = await self._transaction.all("books_to_archive", broker, login_id, int(this_too), limit)
        return [
            BookToArchive(
                row["login_id"],
                row["book_id"],
                row["first_ordinal"],
                await self._last_before(row, before_us),
            )
            for row in found
        ]

    async def _last_before(self, row: Row, before_us: int) -> int:
        first, after = row["first_ordinal"], row["last_ordinal"] + 1
        if first >= after:
            return int(first) - 1
        since = await one_row(
            self._transaction, "first_ordinal_since", row["book_id"], first, after, before_us
        )
        return int(since["ordinal"]) - 1

    async def orders_to_archive(self, book_id: int, first_ordinal: int, last_ordinal: int) -> list[Order]:
        """Oldest first."""
        found = await self._transaction.all("orders_to_archive", book_id, first_ordinal, last_ordinal)
        return [order_rows.order(row) for row in found]

    async def archive_orders(self, packed: PackedOrders) -> bool:
        """Move these orders out of the working tables. False: another process was first; nothing was done."""
        taken = await self._transaction.one("insert_archived_orders", *packed_values(packed))
        if taken is None:
            return False
        within = (packed.book_id, packed.first_ordinal, packed.last_ordinal)
        await self._transaction.run("insert_archived_keys", *within)
        gone = await self._transaction.all("drop_archived_orders", *within)
        if len(gone) != packed.count:
            raise ConstraintViolation("some of these orders are missing, or were not archived by a reset")
        return True

    async def archived_packs(self, book_id: int, after_ordinal: int, limit: int) -> list[PackedOrders]:
        """The packs of a book that begin after this ordinal, oldest first."""
        found = await self._transaction.all("archived_packs", book_id, after_ordinal, limit)
        return [packed_orders(row) for row in found]

    async def archive_size(self, broker: str, login_id: str | None) -> ArchiveSize:
        row = await one_row(self._transaction, "archive_size", broker, login_id)
        return ArchiveSize(row["orders"], row["packs"], row["plain_bytes"], row["packed_bytes"])

    async def trace_batches(
        self, broker: str, after_ordinal: int, before_us: int, limit: int
    ) -> list[TraceBatch]:
        """Batches that may contain traces from before a time, oldest first."""
        before_ms = before_us // 1000
        logins: dict[int, str] = {}
        batches = []
        for row in await self._transaction.all("trace_batches_after", after_ordinal, before_ms, limit):
            matching: list[AccountTrace] = []
            rest: list[Trace] = []
            for trace in _decode(row["traces"]):
                if trace.broker == broker and time_ms(trace.request_id) < before_ms:
                    matching.append(AccountTrace(trace, await self._login(trace.account_id, logins)))
                else:
                    rest.append(trace)
            batches.append(TraceBatch(row["ordinal"], row["traces"], matching, rest))
        return batches

    async def _login(self, account_id: int, known: dict[int, str]) -> str:
        if account_id not in known:
            found = await one_row(self._transaction, "login_of_account", account_id)
            known[account_id] = found["login_id"]
        return known[account_id]

    async def delete_traces(self, batch: TraceBatch) -> None:
        """Delete the matching traces of a batch. No-op if the batch has changed since it was read."""
        named = (batch.ordinal, batch.written)
        newest = await self._transaction.one("trace_row_before", None)
        # The newest row stays, if need be without traces: the next one gets the ordinal after it.
        if batch.rest or (newest is not None and newest["ordinal"] == batch.ordinal):
            await self._transaction.run("shorten_trace_batch", *named, _encode(batch.rest).decode())
        else:
            await self._transaction.run("drop_trace_batch", *named)
