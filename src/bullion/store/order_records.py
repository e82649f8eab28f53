"""Orders, books and traces for the desk, across all accounts of a broker."""

from collections.abc import Sequence
from dataclasses import astuple, replace
from typing import Literal

from bullion.allocation.book import Book, book_id
from bullion.environment import Environment
from bullion.orders.order import Order
from bullion.orders.order_id import ids_since
from bullion.orders.status import Status
from bullion.orders.trace import Trace
from bullion.records.orders import (
    AccountOrder,
    AccountTrace,
    DecisionCount,
    OrderEvent,
    OrderFilter,
    OrdersNotCounted,
    OrderSum,
    OrderTotal,
)
from bullion.records.page import Page
from bullion.records.refusals import CountedRefusals, RefusalFilter, RefusalPage, TracePlace

from . import account_orders, archive_reader, order_changes, order_rows, trace_reader, trace_search
from .account_orders import BookOrders, order_sort_key
from .desk_transaction import DeskTransaction
from .engine import Row, Value, one_row
from .newest_orders import has_status_index, newest_orders
from .order_timeline import AFTER_ALL_IDS, FIRST_ID, CountedList, IdRange

_FEW = 1_000
"""Up to this many matches are read book by book; more are found faster by reading back in time."""
_BEFORE_CALL_US, _AFTER_CALL_US = 5_000_000, 60_000_000
"""An order is recorded soon after its call arrived; the clocks of node and store may differ a little."""
_NO_BOOK = (-1, 0)


class OrderRecords(DeskTransaction):
    async def lock_book(self, account_id: int, environment: Environment) -> Book:
        """Lock a book until this transaction ends, and read it."""
        row = await one_row(self._transaction, "lock_book", book_id(account_id, environment))
        return order_rows.book(row)

    async def reset_book(self, book: Book) -> None:
        """Archive all orders of the book: positions and lists become empty, and the numbers continue."""
        await self._transaction.run("reset_book", book.id)
        await self._transaction.run("drop_counts", book.id)
        await self._transaction.run("count_reset")

    async def order(self, broker: str, order_id: str) -> AccountOrder | None:
        """Also archived orders."""
        row = await self._find("desk_order", order_id, broker)
        if row is None:
            return await archive_reader.order_of_id(self._transaction, broker, order_id)
        return account_order(row)

    async def lock_order(self, broker: str, order_id: str) -> AccountOrder | None:
        """Lock the order's book until this transaction ends, and read the order."""
        found = await self.order(broker, order_id)
        if found is None:
            return None
        held = await order_changes.lock(self._transaction, found.order.book_id, found.order.ordinal)
        # An archived order never changes.
        return found if held is None else replace(found, order=held)

    async def change_order(
        self, before: Order, now: Order, at_us: int, actor: str, words: str | None
    ) -> None:
        """Write a changed order that is locked, with the changes of its book and stock."""
        await order_changes.write(self._transaction, before, now, at_us, actor, words)

    async def next_deal_no(self, broker: str) -> int:
        return await order_changes.next_deal_no(self._transaction, broker)

    async def order_events(self, order: Order) -> list[OrderEvent]:
        """Oldest first, without the order's creation."""
        found = await self._transaction.all("order_events", order.book_id, order.ordinal)
        return [OrderEvent(row["status"], row["at_us"], row["actor"], row["words"]) for row in found]

    async def orders(self, broker: str, filters: OrderFilter, page: Page) -> tuple[list[AccountOrder], int]:
        """Newest first, without archived ones. May raise OrdersNotCounted, until all orders are counted."""
        if _has_nul(filters):
            return [], 0
        counted = await self._counted_list(broker, filters)
        if counted is None and filters.is_counted and not filters.only_by_kind:
            about = (*_kind(filters), broker, filters.environment, filters.login_id)
            found, total = await newest_orders(self._transaction, about, _ids(filters), page, count_all=True)
            if not total.exact:
                raise OrdersNotCounted
            return _sorted(found), total.number
        return await self._read_list(broker, filters, page, counted)

    async def orders_at_once(
        self, broker: str, filters: OrderFilter, page: Page
    ) -> tuple[list[AccountOrder], OrderTotal]:
        """The same before all orders are counted: a list may be shorter then, and its total is not exact."""
        if _has_nul(filters):
            return [], OrderTotal(0)
        if filters.status == Status.FILLED:
            if filters.environment is Environment.PRODUCTION:
                return [], OrderTotal(0)
            # The only status of test orders.
            filters = replace(filters, status=None, environment=Environment.TEST)
        counted = await self._counted_list(broker, filters)
        if counted is None and filters.is_counted and not filters.is_of_environment:
            about = (*_kind(filters), broker, filters.environment, filters.login_id)
            found, of = await newest_orders(self._transaction, about, _ids(filters), page)
            return _sorted(found), of
        orders, total = await self._read_list(broker, filters, page, counted)
        return orders, OrderTotal(total)

    async def newest_sums(self, broker: str, filters: OrderFilter, number: int) -> list[OrderSum]:
        """Sums of the newest orders of a list. It must have so many: see `orders_at_once` for its total."""
        if not filters.is_counted:
            found, _ = await self._read_list(broker, filters, Page(number, 0), None)
            return [OrderSum.of_one(each.order) for each in found]
        kind, scope = _kind(filters), (broker, filters.environment, filters.login_id)
        counted = await self._counted_list(broker, filters)
        rows: Sequence[Row]
        if counted is not None:
            rows, _ = await self._orders_by_time(kind, scope, counted, Page(number, 0), "desk_order_sums")
        else:
            # It ends with the last of them, so no start of the search is needed.
            query = "desk_status_order_sums" if has_status_index(filters.status) else "desk_order_sums"
            rows = await self._transaction.all(query, *kind, *scope, *_ids(filters), number, 0)
        return [order_rows.order_sum(row) for row in rows]

    async def _read_list(
        self, broker: str, filters: OrderFilter, page: Page, counted: CountedList | None
    ) -> tuple[list[AccountOrder], int]:
        kind, scope = _kind(filters), (broker, filters.environment, filters.login_id)
        if counted is not None:
            found, total = await self._orders_by_time(kind, scope, counted, page)
        elif filters.only_by_account:
            ranges = await self._books(broker, filters)
            of_account, total = await account_orders.page(self._transaction, ranges, page)
            return [AccountOrder(each, str(filters.login_id), archived=False) for each in of_account], total
        elif filters.only_by_kind:
            found, total = await self._orders_of_kind(kind, scope, filters, page)
        elif filters.client_order_id is not None:
            about = (*kind, *scope, filters.client_order_id)
            found, total = await self._counted(
                "desk_orders_by_reference", "desk_orders_by_reference_count", about, page
            )
        elif filters.login_id is not None and filters.request_id is None:
            about = (*kind, *_places(await self._books(broker, filters)))
            found, total = await self._counted(
                "desk_account_orders", "desk_account_orders_count", about, page
            )
        else:
            about = (*kind, *scope, *_ids(filters))
            found, total = await self._counted("desk_orders", "desk_orders_count", about, page)
        return _sorted(found), total

    async def newest_production_orders(self, broker: str, number: int) -> list[AccountOrder]:
        """Costs the same however many orders there are: nothing is counted."""
        found = await self._transaction.all("newest_production_orders", broker, number)
        return [account_order(row) for row in found]

    async def _counted_list(self, broker: str, filters: OrderFilter) -> CountedList | None:
        if not filters.is_counted:
            return None
        environment = None if filters.environment is None else filters.environment.value
        kind = (broker, environment, filters.source, filters.symbol_code, filters.status)
        return await self._cache.timeline.counted(self._transaction, kind, filters.since_us or 0)

    async def _orders_by_time(
        self,
        kind: Sequence[Value],
        scope: Sequence[Value],
        counted: CountedList,
        page: Page,
        query: Literal["desk_orders", "desk_order_sums"] = "desk_orders",
    ) -> tuple[Sequence[Row], int]:
        """Reads only the spans that hold the page, and counts only the two ends of the list."""

        def within(ids: IdRange) -> Sequence[Value]:
            return (*kind, *scope, ids.low, ids.high)

        async def count(ids: IdRange) -> int:
            return int((await one_row(self._transaction, "desk_orders_count", *within(ids)))["total"])

        newer = await count(counted.newer)
        total = newer + counted.counted + (0 if counted.older is None else await count(counted.older))
        limit = min(page.limit, total - page.offset)
        found: list[Row] = []
        read = 0
        while read < limit:
            ids, before = counted.newer, page.offset + read
            if before >= newer + counted.counted and counted.older is not None:
                ids, before = counted.older, before - newer - counted.counted
            elif before >= newer:
                ids, before = counted.range_at(before - newer)
            more = await self._transaction.all(query, *within(ids), limit - read, before)
            if not more:
                break
            found += more
            read += len(more) if query == "desk_orders" else sum(row["orders"] for row in more)
        return found, total

    async def _counted(
        self, query: str, count: str, about: Sequence[Value], page: Page
    ) -> tuple[Sequence[Row], int]:
        total = (await one_row(self._transaction, count, *about))["total"]
        return await self._some(query, about, page, total), total

    async def _some(self, query: str, about: Sequence[Value], page: Page, total: int) -> Sequence[Row]:
        """Limited to the total, so that the search ends with the last match."""
        limit = min(page.limit, total - page.offset)
        return await self._transaction.all(query, *about, limit, page.offset) if limit > 0 else ()

    async def _orders_of_kind(
        self, kind: Sequence[Value], scope: Sequence[Value], filters: OrderFilter, page: Page
    ) -> tuple[Sequence[Row], int]:
        """The counts give the total, and for few matches also the blocks that have them."""
        if filters.symbol_code is None and filters.status is None:
            found = await one_row(self._transaction, "desk_listed_count", *scope)
        else:
            found = await one_row(self._transaction, "desk_kinds_count", *kind, *scope)
        total = found["total"]
        query, about = "desk_orders", (*kind, *scope, *_ids(filters))
        if total <= _FEW:
            query, about = "desk_few_orders", (*kind, *scope, order_rows.BLOCK_SIZES[0])
        elif filters.login_id is not None:
            query, about = "desk_account_orders", (*kind, *_places(await self._books(str(scope[0]), filters)))
        return await self._some(query, about, page, total), total

    async def _books(self, broker: str, filters: OrderFilter) -> Sequence[BookOrders]:
        """The books of an account, with the range of ordinals to list."""
        account = await self._transaction.one("one_account", broker, filters.login_id)
        found = () if account is None else await self._transaction.all("books_of_account", account["id"])
        books = []
        for row in found:
            low, high = row["archived_count"] + 1, row["order_count"]
            if filters.since_us is not None and low <= high:
                since = (row["id"], low, high + 1, filters.since_us)
                low = (await one_row(self._transaction, "first_ordinal_since", *since))["ordinal"]
            if filters.environment in (None, row["environment"]):
                books.append(BookOrders(row["id"], low, high))
        return books

    async def trace(self, broker: str, request_id: str) -> AccountTrace | None:
        trace = await trace_reader.trace_of(self._transaction, broker, request_id)
        return None if trace is None else (await self._with_logins([trace]))[0]

    async def traces(
        self, broker: str, login_id: str | None, outcome: str | None, limit: int
    ) -> list[AccountTrace]:
        """Newest first, within a bounded number of rows."""
        account_id = None
        if login_id is not None:
            account = await self._find("one_account", broker, login_id)
            if account is None:
                return []
            account_id = account["id"]
        found = await trace_reader.newest_traces(self._transaction, broker, account_id, outcome, limit)
        return await self._with_logins(found)

    async def refusals(
        self, broker: str, wanted: RefusalFilter, before: TracePlace | None, limit: int
    ) -> RefusalPage:
        """Refused calls, newest first, within a bounded number of bytes."""
        oldest = await self._transaction.one("oldest_trace_row")
        kept_since_us = None if oldest is None else oldest["from_ms"] * 1000
        account_id = None
        if wanted.login_id is not None:
            account = await self._find("one_account", broker, wanted.login_id)
            if account is None:
                return RefusalPage([], None, kept_since_us)
            account_id = account["id"]
        found, older = await trace_search.refusals(
            self._transaction, broker, account_id, wanted, before, limit
        )
        return RefusalPage(await self._with_logins(found), older, kept_since_us)

    async def refusal_counts(self, broker: str) -> CountedRefusals:
        return await self._cache.refusals.read(self._transaction, broker, await self.now_us())

    async def decision_counts(
        self, broker: str, after_ordinal: int | None, since_us: int
    ) -> tuple[list[DecisionCount], int]:
        """Decisions since a time, counted by minute, oldest first; and the last ordinal that was read.

        With `after_ordinal`, which an earlier call returned, only those written since. Bounded: of very many,
        the newest.
        """
        return await trace_reader.decision_counts(self._transaction, broker, after_ordinal, since_us)

    async def _with_logins(self, traces: Sequence[Trace]) -> list[AccountTrace]:
        logins = {
            account_id: (await one_row(self._transaction, "login_of_account", account_id))["login_id"]
            for account_id in {trace.account_id for trace in traces}
        }
        return [AccountTrace(trace, logins[trace.account_id]) for trace in traces]


def _has_nul(filters: OrderFilter) -> bool:
    """No order has one, and PostgreSQL does not accept it as a value."""
    return any(isinstance(each, str) and "\0" in each for each in astuple(filters))


def _sorted(found: Sequence[Row]) -> list[AccountOrder]:
    """Sorted again: ids do not order the orders of one millisecond."""
    return sorted(map(account_order, found), key=lambda each: order_sort_key(each.order), reverse=True)


def _kind(filters: OrderFilter) -> tuple[Value, ...]:
    """The first parameters of the desk's list queries: filters on columns of the order itself."""
    return (filters.symbol_code, filters.status, filters.source, filters.request_id, filters.since_us or 0)


def _ids(filters: OrderFilter) -> tuple[str, str]:
    """The range of ids of all filters orders: ids begin with their time."""
    low, high = FIRST_ID, AFTER_ALL_IDS
    if filters.request_id is not None:
        at_us = trace_reader.time_ms(filters.request_id) * 1000
        low, high = ids_since(at_us - _BEFORE_CALL_US), ids_since(at_us + _AFTER_CALL_US)
    if filters.since_us is not None and filters.since_us > 0:
        low = max(low, ids_since(filters.since_us))
    return low, high


def _places(books: Sequence[BookOrders]) -> Sequence[int]:
    """Query parameters for two books, each with its first filters ordinal."""
    return (*[value for each in books for value in (each.book_id, each.low)], *_NO_BOOK, *_NO_BOOK)[:4]


def account_order(row: Row) -> AccountOrder:
    order = order_rows.order(row)
    return AccountOrder(order, row["login_id"], order.ordinal <= row["archived_count"])
