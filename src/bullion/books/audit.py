"""Verifies every audit trail from its first entry to its head, and sums the desk's changes of stocks."""

import msgspec

from bullion.metals.weight import weight_e4
from bullion.records.audit import Break, Chain, ChainVerifier, Entry
from bullion.store.engine import Transaction
from bullion.store.records import audit_head, audit_pages

_SETS_STOCK = frozenset({"put_symbol", "patch_symbol"})

StockName = tuple[str, str]
"""Broker and symbol."""


class AuditCheck:
    def __init__(self, transaction: Transaction, chain: Chain) -> None:
        self._transaction = transaction
        self._chain = chain
        self.entries = 0
        self.stocks_set_e4: dict[StockName, int] = {}
        """The sum of the desk's changes of each stock. Each entry has the stock right before and after the
        change, so the sum does not depend on when orders took from the stock."""
        self.stocks_unknown: set[StockName] = set()
        """Stocks that were switched off at some time: what orders returned meanwhile was not counted."""

    async def run(self) -> list[Break]:
        breaks: list[Break] = []
        for row in await self._transaction.all("audit_brokers"):
            breaks += await self._verify(row["broker"])
        return breaks

    async def _verify(self, broker: str) -> list[Break]:
        verifier = ChainVerifier(self._chain, broker)
        breaks: list[Break] = []
        async for entries in audit_pages(self._transaction, broker):
            breaks += verifier.check(entries)
            for entry in entries:
                self._add_stock(entry)
            self.entries += len(entries)
        head = audit_head(await self._transaction.one("audit_head", broker))
        return [*breaks, *verifier.check_head(head)]

    def _add_stock(self, entry: Entry) -> None:
        if entry.action not in _SETS_STOCK:
            return
        name = (entry.broker, entry.subject)
        try:
            before, after = _stock(entry.before), _stock(entry.after)
        except (ValueError, KeyError, TypeError, msgspec.DecodeError):
            self.stocks_unknown.add(name)
            return
        if before is not None and after is None:
            self.stocks_unknown.add(name)
        self.stocks_set_e4[name] = self.stocks_set_e4.get(name, 0) + (after or 0) - (before or 0)


def _stock(view: str | None) -> int | None:
    """None: there was no symbol, or no stock of it was kept."""
    text = None if view is None else msgspec.json.decode(view)["stock"]
    return None if text is None else weight_e4(text)
