"""What everything that the desk keeps shares: an open transaction, and the few ways to ask it."""

from collections.abc import Sequence

from bullion.records.page import Page

from .engine import Row, Transaction, one_row
from .kept import Kept


class OpenTransaction:
    def __init__(self, transaction: Transaction, kept: Kept) -> None:
        self._transaction = transaction
        self._kept = kept

    async def now_us(self) -> int:
        """The store's clock."""
        return int((await one_row(self._transaction, "catalogue_state"))["clock_us"])

    async def _note(self, kind: str, broker: str, subject: str) -> None:
        await self._transaction.run("note_change", kind, broker, subject)

    async def _find(self, query: str, *names: str) -> Row | None:
        """One row by its name. Nothing has a NUL in its name, and PostgreSQL cannot even be asked for one."""
        if any("\0" in name for name in names):
            return None
        return await self._transaction.one(query, *names)

    async def _page(self, query: str, count: str, of: str | int, page: Page) -> tuple[Sequence[Row], int]:
        total = (await one_row(self._transaction, count, of))["total"]
        return await self._transaction.all(query, of, page.limit, page.offset), total
