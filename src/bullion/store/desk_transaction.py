"""What all records of the desk share: an open transaction, and what a process keeps in memory for it."""

from collections.abc import Sequence

from bullion.records.page import Page

from .account_names import AccountNames
from .engine import Engine, Row, Transaction, one_row
from .order_timeline import OrderTimeline


class DeskMemory:
    """What a process keeps in memory for the desk's reads over all accounts."""

    def __init__(self, engine: Engine) -> None:
        self.timeline = OrderTimeline(engine)
        self.names = AccountNames()


class DeskTransaction:
    def __init__(self, transaction: Transaction, memory: DeskMemory) -> None:
        self._transaction = transaction
        self._memory = memory

    async def now_us(self) -> int:
        """The store's clock."""
        return int((await one_row(self._transaction, "catalogue_state"))["clock_us"])

    async def _note(self, kind: str, broker: str, subject: str) -> None:
        await self._transaction.run("note_change", kind, broker, subject)

    async def _find(self, query: str, *names: str) -> Row | None:
        """One row by its name. No name contains a NUL, and PostgreSQL does not accept one as a value."""
        if any("\0" in name for name in names):
            return None
        return await self._transaction.one(query, *names)

    async def _page(self, query: str, count: str, of: str | int, page: Page) -> tuple[Sequence[Row], int]:
        total = (await one_row(self._transaction, count, of))["total"]
        return await self._transaction.all(query, of, page.limit, page.offset), total
