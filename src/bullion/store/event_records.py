"""Tells accounts what the desk changed, in the transaction of the change."""

from bullion.accounts.switches import Switches
from bullion.allocation.book import book_id
from bullion.events.event import EventType
from bullion.keys.key import Key
from bullion.metals.symbol import Symbol

from . import order_rows
from .account_events import add_broker_event, add_event, add_event_soon
from .desk_transaction import DeskTransaction


class EventRecords(DeskTransaction):
    async def _tell_halt(self, switches: Switches) -> None:
        kind = EventType.TRADING_HALTED if switches.halted else EventType.TRADING_RESUMED
        detail = {"halted": switches.halted}
        await add_broker_event(self._transaction, switches.broker, kind, await self.now_us(), detail)

    async def _tell_freeze(self, symbol: Symbol) -> None:
        kind = EventType.SYMBOL_FROZEN if symbol.frozen else EventType.SYMBOL_RESUMED
        detail = {
            "symbol_code": symbol.code,
            "metal": symbol.metal.value,
            "unit": symbol.metal.unit,
            "frozen": symbol.frozen,
        }
        await add_broker_event(self._transaction, symbol.broker, kind, await self.now_us(), detail)

    async def _tell_allocation(self, account_id: int) -> None:
        """To both environments: they have the same allocation. The books are locked."""
        at_us = await self.now_us()
        for row in await self._transaction.all("books_of_account", account_id):
            book = order_rows.book(row)
            weights = await self._transaction.all("book_with_weights", book.id)
            detail = {
                "gold": (book.gold.net_e4, book.gold.limit_e4),
                "silver": (book.silver.net_e4, book.silver.limit_e4),
                "symbols": [
                    (each["symbol_code"], each["metal"], each["buy_e4"], each["sell_e4"])
                    for each in weights
                    if each["symbol_code"] is not None
                ],
            }
            await add_event(self._transaction, book.id, EventType.ALLOCATION_CHANGED, at_us, detail)

    async def _tell_key(self, kind: EventType, key: Key, at_us: int) -> None:
        detail = {
            "key_id": key.key_id,
            "key_name": key.name,
            "scopes": sorted(key.scopes),
            "replaced_by": key.replaced_by,
            "overlap_ends_at_us": key.overlap_ends_at_us,
        }
        # A revocation waits for nothing.
        book = book_id(key.account_id, key.environment)
        await add_event_soon(self._transaction, book, kind, at_us, detail)
