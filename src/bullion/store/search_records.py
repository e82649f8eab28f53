"""The desk's search for orders, accounts and keys by what somebody typed: whole, or the beginning of it.

A text is looked up in the indexes that there are. Where the store does not compare texts byte by byte
(PostgreSQL with a collation other than C), texts with one beginning are not next to each other in an index.
Then client order ids and idempotency keys are found whole only.
"""

from collections.abc import Sequence

import msgspec

from bullion.accounts.account import Account
from bullion.orders.order_id import ids_since
from bullion.orders.trace import Trace
from bullion.records.clients import UsedKey
from bullion.records.orders import AccountOrder, AccountTrace
from bullion.unreadable import Unreadable

from . import row_decoders, trace_search
from .engine import Row, one_row
from .order_records import OrderRecords, account_order
from .order_timeline import AFTER_ALL_IDS
from .trace_reader import time_ms

_TIME_DIGITS = 12
_BEFORE_CALL_MS, _AFTER_CALL_MS = 5_000, 60_000
"""An order is recorded soon after its call arrived; the clocks of node and store may differ a little."""
_AFTER_HEX = "g"
_LAST_CHARACTER = "\U0010ffff"
_encode = msgspec.json.Encoder().encode


class SearchRecords(OrderRecords):
    async def search_deals(self, broker: str, deal_no: int, limit: int) -> list[AccountOrder]:
        return await self._orders("search_deals", broker, deal_no, limit)

    async def search_test_orders(self, broker: str, number: int, limit: int) -> list[AccountOrder]:
        """Those with the label `T-<number>`, newest first. Each account may have one."""
        return await self._orders("search_test_orders", broker, number, limit)

    async def search_order_ids(self, broker: str, beginning: str, limit: int) -> list[AccountOrder]:
        """Newest first. An id begins with its time, so a beginning of 8 digits stands for a minute."""
        ids = (beginning, beginning + _AFTER_HEX)
        return await self._orders("search_order_ids", broker, *ids, "", _AFTER_HEX, limit)

    async def search_request_ids(self, broker: str, beginning: str, limit: int) -> list[AccountOrder]:
        """Newest first. Request ids begin with their time too, and order ids are found by that."""
        first_ms, last_ms = _times_ms(beginning)
        low = ids_since((first_ms - _BEFORE_CALL_MS) * 1000)
        high = min(ids_since((last_ms + _AFTER_CALL_MS) * 1000), AFTER_ALL_IDS)
        return await self._orders(
            "search_order_ids", broker, low, high, beginning, beginning + _AFTER_HEX, limit
        )

    async def search_client_order_ids(self, broker: str, text: str, limit: int) -> list[AccountOrder]:
        return await self._beginning(
            "search_client_order_ids", "search_same_client_order_id", broker, text, (), limit
        )

    async def search_idempotency_keys(self, broker: str, text: str, limit: int) -> list[AccountOrder]:
        """An index has each key behind its book and channel, so each channel is searched."""
        query, query_same = "search_idempotency_keys", "search_same_idempotency_key"
        found: list[AccountOrder] = []
        for channel in await self._cache.channels.names(self._transaction, broker):
            found += await self._beginning(query, query_same, broker, text, (channel,), limit)
        return found

    async def _beginning(
        self, query: str, query_same: str, broker: str, text: str, more: tuple[str, ...], limit: int
    ) -> list[AccountOrder]:
        """Orders by the beginning of a text. Those with the whole text are always among them."""
        if await self._is_bytewise():
            found = await self._orders(query, broker, text, text + _LAST_CHARACTER, *more, limit)
            if len(found) < limit:
                return found
        else:
            found = []
        return [*await self._orders(query_same, broker, text, *more, limit), *found]

    async def search_keys(self, broker: str, beginning: str, limit: int) -> list[UsedKey | Unreadable]:
        rows = await self._transaction.all("search_keys", broker, beginning, beginning + _AFTER_HEX, limit)
        return [row_decoders.used_key(row) for row in rows]

    async def search_accounts(
        self, broker: str, text: str, limit: int
    ) -> list[tuple[Account | Unreadable, bool]]:
        """Accounts with the text in login or firm, each with whether it is the whole of one. Best first."""
        best = await self._cache.names.best(self._transaction, broker, text, limit)
        ids = _encode([each for each, _ in best]).decode()
        rows = {row["id"]: row for row in await self._transaction.all("search_accounts", ids)}
        return [(_account(rows[each]), exact) for each, exact in best if each in rows]

    async def search_decisions(self, broker: str, text: str, limit: int) -> list[AccountTrace]:
        """Decisions whose client order id or Idempotency-Key begins so, newest first.

        Only the newest decisions are searched: see `trace_search.SEARCHED_BYTES_MAX`.
        """
        beginning = _encode(text).decode()[:-1]

        def matches(trace: Trace) -> bool:
            named = (trace.idempotency_key, None if trace.asked is None else trace.asked.client_order_id)
            return any(each is not None and each.startswith(text) for each in named)

        found = await trace_search.newest_matching(self._transaction, broker, matches, [beginning], limit)
        return await self._with_logins(found)

    async def search_decided_requests(self, broker: str, beginning: str, limit: int) -> list[AccountTrace]:
        """Decisions on requests whose ids begin so, newest first."""
        found = await trace_search.of_requests(
            self._transaction, broker, beginning, _times_ms(beginning), limit
        )
        return await self._with_logins(found)

    async def _orders(self, query: str, *values: str | int) -> list[AccountOrder]:
        rows: Sequence[Row] = await self._transaction.all(query, *values)
        return [account_order(row) for row in rows]

    async def _is_bytewise(self) -> bool:
        return bool((await one_row(self._transaction, "search_order_is_bytewise"))["bytewise"])


def _times_ms(beginning: str) -> tuple[int, int]:
    """The first and the last time that ids with this beginning can have."""
    return time_ms(beginning.ljust(_TIME_DIGITS, "0")), time_ms(beginning.ljust(_TIME_DIGITS, "f"))


def _account(row: Row) -> Account | Unreadable:
    account, unreadable = row_decoders.account(row)
    return account if unreadable is None else unreadable
