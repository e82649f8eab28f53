"""Reads the events of accounts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from bullion.events.event import OF_STATUS, AccountEvent, EventsGone, EventType, as_it_was
from bullion.events.sequence import START, Mark, Place, arrange, place_of
from bullion.faults import StoreUnavailable
from bullion.orders.order import Order
from bullion.orders.status import Status

from .engine import Engine, Transaction
from .order_reader import StoredOrders
from .postgres import PostgresEngine
from .sqlite import SqliteEngine

DAY_US = 86_400 * 1_000_000

_decode_detail = msgspec.json.Decoder(dict[str, Any]).decode


class _Span(msgspec.Struct, frozen=True):
    """What a book has, from one snapshot."""

    newest: int
    orders: int
    floor: int
    """Numbers up to this one cannot be read."""


class StoredEvents:
    def __init__(
        self, engine: PostgresEngine | SqliteEngine, kept_days: int, now_us: Callable[[], int]
    ) -> None:
        self._engine: Engine = engine
        self._orders = StoredOrders(engine)
        self._kept_us = kept_days * DAY_US
        self._now_us = now_us

    async def range(self, book_id: int) -> tuple[int, int]:
        span = await self._engine.read("event_range", lambda transaction: self._span(transaction, book_id))
        return await self._oldest(book_id, span), span.newest

    async def read(self, book_id: int, after: int | None, limit: int) -> Sequence[AccountEvent]:
        if after is None:
            oldest, _ = await self.range(book_id)
            after = oldest - 1
        span, events = await self._read(book_id, after, limit)
        too_old = bool(events) and events[0].at_us < self._kept_since_us
        if too_old or not span.floor <= after <= span.newest:
            oldest = await self._oldest(book_id, span)
            if not oldest - 1 <= after <= span.newest:
                raise EventsGone(oldest, span.newest)
        return events

    async def newest(self, book_ids: Sequence[int]) -> Mapping[int, int]:
        if isinstance(self._engine, SqliteEngine):
            rows = self._engine.look_up_for("newest_events", [(each,) for each in book_ids])
        else:
            assert isinstance(self._engine, PostgresEngine)  # noqa: S101 - the only other engine
            rows = list(await self._engine.statement("newest_events", book_ids))
        return {row["id"]: row["newest"] for row in rows}

    @property
    def _kept_since_us(self) -> int:
        return self._now_us() - self._kept_us

    async def _span(self, transaction: Transaction, book_id: int) -> _Span:
        row = await transaction.one("event_range", book_id)
        if row is None:
            raise StoreUnavailable("a book is missing from the store")
        # Rows before the first one may have been deleted, so its number is the first that is certain.
        since_us = self._kept_since_us
        begins = row["first_kind"] == START or (row["first_at_us"] or since_us) < since_us
        floor = row["first_number"] if begins else 0
        return _Span(row["order_count"] + row["event_shift"], row["order_count"], floor)

    async def _oldest(self, book_id: int, span: _Span) -> int:
        """The first number that is kept. Times rise with the numbers, but for small differences of clocks."""
        since_us = self._kept_since_us
        low, high = span.floor + 1, span.newest + 1
        while low < high:
            middle = (low + high) // 2 if low > span.floor + 1 else low
            _, events = await self._read(book_id, middle - 1, 1)
            if not events or events[0].at_us >= since_us:
                high = middle
            else:
                low = middle + 1
        return low

    async def _read(self, book_id: int, after: int, limit: int) -> tuple[_Span, list[AccountEvent]]:
        async def body(transaction: Transaction) -> tuple[_Span, list[Place]]:
            span = await self._span(transaction, book_id)
            places: list[Place] = []
            read = after
            while len(places) < limit and span.floor <= read < span.newest:
                # Not always all at once: rows of hidden orders count toward the limit of rows.
                places += await _next_places(transaction, book_id, span, read, limit - len(places))
                read = places[-1].number
            return span, places

        span, places = await self._engine.read("events", body)
        ordinals = list({place.ordinal for place in places if place.ordinal is not None})
        # Read later than the places: nothing is lost, because the status is taken from the event.
        orders = await self._orders.orders(book_id, ordinals) if ordinals else {}
        return span, [_event(book_id, place, orders) for place in places]


async def _next_places(
    transaction: Transaction, book_id: int, span: _Span, after: int, limit: int
) -> list[Place]:
    marks = [Mark(*row) for row in await transaction.all("event_marks", book_id, after, limit)]
    base = max((mark for mark in marks if mark.number <= after), key=place_of, default=None)
    following = [mark for mark in marks if mark.number > after]
    tables = (
        [mark for mark in following if mark.ordinal is None],
        [mark for mark in following if mark.ordinal is not None],
    )
    return arrange(base, tables, after, (span.newest, span.orders), limit)


def _event(book_id: int, place: Place, orders: Mapping[int, Order]) -> AccountEvent:
    mark = place.mark
    if place.ordinal is None:
        if mark is None or mark.detail is None:
            raise ValueError(f"event {place.number} has neither an order nor a detail")
        detail = _decode_detail(mark.detail)
        return AccountEvent(book_id, place.number, EventType(mark.kind), mark.at_us, detail=detail)
    order = orders.get(place.ordinal)
    if order is None:
        raise StoreUnavailable("an order is missing from the store")
    if mark is None:
        first = Status.FILLED if order.status == Status.FILLED else Status.PENDING
        created = as_it_was(order, first)
        return AccountEvent(book_id, place.number, EventType.ORDER_CREATED, order.created_at_us, created)
    was = as_it_was(order, mark.kind)
    return AccountEvent(book_id, place.number, OF_STATUS[mark.kind], mark.at_us, was)
