"""The base of the desk's records: an open transaction, and caches of the process."""

from collections.abc import Sequence

from bullion.records.page import Page

from .account_names import AccountNames
from .channels import Channels
from .engine import Engine, Row, Transaction, one_row
from .order_timeline import OrderTimeline
from .refusal_counts import RefusalCounts


class DeskCache:
    """Caches for the desk's reads over all accounts."""

    def __init__(self, engine: Engine) -> None:
        self.timeline = OrderTimeline(engine)
        self.names = AccountNames(lambda: engine.failovers)
        self.refusals = RefusalCounts()
        self.channels = Channels()


class DeskTransaction:
    def __init__(self, transaction: Transaction, cache: DeskCache) -> None:
        self._transaction = transaction
        self._cache = cache

    async def now_us(self) -> int:
        """The store's clock."""
        return int((await one_row(self._transaction, "catalogue_state"))["clock_us"])

    async def _record_change(self, kind: str, broker: str, subject: str) -> None:
        await self._transaction.run("record_change", kind, broker, subject)

    async def _find(self, query: str, *names: str) -> Row | None:
        """One row by its name. No name contains a NUL, and PostgreSQL does not accept one as a value."""
        if any("\0" in name for name in names):
            return None
        return await self._transaction.one(query, *names)

    async def _page(self, query: str, count: str, of: str | int, page: Page) -> tuple[Sequence[Row], int]:
        total = (await one_row(self._transaction, count, of))["total"]
        return await self._transaction.all(query, of, page.limit, page.offset), total
