"""Reads the events of accounts."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from bullion.events.event import OF_STATUS, AccountEvent, EventsGone, EventType, as_it_was
from bullion.events.reader import Start
from bullion.events.recent_orders import RecentOrders
from bullion.events.sequence import START, Mark, Place, arrange, place_of
from bullion.faults import StoreUnavailable
from bullion.orders.order import Order
from bullion.orders.status import Status

from .engine import Engine, Row
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
        self.recent: RecentOrders | None = None
        """Orders that need not be read."""

    async def range(self, book_id: int) -> tuple[int, int]:
        if isinstance(self._engine, SqliteEngine):
            rows: Sequence[Row] = self._engine.look_up("event_range", book_id)
        else:
            assert isinstance(self._engine, PostgresEngine)  # noqa: S101 - the only other engine
            rows = await self._engine.statement("event_range", book_id)
        if not rows:
            raise _missing()
        span = self._span(rows[0])
        return await self._oldest(book_id, span), span.newest

    async def read(self, book_id: int, after: int | None, limit: int) -> Sequence[AccountEvent]:
        if after is None:
            oldest, _ = await self.range(book_id)
            after = oldest - 1
        events: list[AccountEvent] = []
        while True:
            # Not always all at once: rows of hidden orders count toward the limit of rows.
            span, places = (await self._places([(book_id, after)], limit - len(events)))[0]
            events += await self._checked(book_id, after, span, places)
            after = events[-1].number if events else after
            if len(events) >= limit or not places or after >= span.newest:
                return events

    async def read_many(
        self, starts: Sequence[Start], limit: int
    ) -> Sequence[Sequence[AccountEvent] | EventsGone]:
        found = await self._places(starts, limit)

        async def one(start: Start, span: _Span, places: list[Place]) -> Sequence[AccountEvent] | EventsGone:
            try:
                return await self._checked(*start, span, places)
            except EventsGone as gone:
                return gone

        # In turn: a read that is large must not take all connections of the store.
        return [await one(start, *each) for start, each in zip(starts, found, strict=True)]

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

    async def _places(self, starts: Sequence[Start], limit: int) -> list[tuple[_Span, list[Place]]]:
        """For each book and number the next places, of up to as many rows as the limit."""
        if isinstance(self._engine, SqliteEngine):
            pages: list[Sequence[Row]] = [self._engine.look_up("event_page", *each, limit) for each in starts]
        else:
            assert isinstance(self._engine, PostgresEngine)  # noqa: S101 - the only other engine
            books, numbers = [each[0] for each in starts], [each[1] for each in starts]
            rows = await self._engine.statement("event_pages", books, numbers, limit)
            by_place = {place: list(page) for place, page in groupby(rows, lambda row: row["place"])}
            pages = [by_place.get(place, ()) for place in range(1, len(starts) + 1)]
        if not all(pages):
            raise _missing()
        return [
            (span := self._span(page[0]), _next_places(page, span, after, limit))
            for page, (_, after) in zip(pages, starts, strict=True)
        ]

    def _span(self, row: Row) -> _Span:
        floor = row["first_number"] if row["first_kind"] == START else 0
        return _Span(row["order_count"] + row["event_shift"], row["order_count"], floor)

    async def _oldest(self, book_id: int, span: _Span) -> int:
        """The first number that is kept. Times rise with the numbers, but for small differences of clocks."""
        since_us = self._kept_since_us
        low, high = span.floor + 1, span.newest + 1
        while low < high:
            middle = (low + high) // 2 if low > span.floor + 1 else low
            ((_, places),) = await self._places([(book_id, middle - 1)], 1)
            events = await self._events(book_id, places)
            if not events or events[0].at_us >= since_us:
                high = middle
            else:
                low = middle + 1
        return low

    async def _checked(
        self, book_id: int, after: int, span: _Span, places: list[Place]
    ) -> Sequence[AccountEvent]:
        """The events at these places. May raise EventsGone."""
        events = await self._events(book_id, places)
        too_old = bool(events) and events[0].at_us < self._kept_since_us
        if too_old or not span.floor <= after <= span.newest:
            oldest = await self._oldest(book_id, span)
            if not oldest - 1 <= after <= span.newest:
                raise EventsGone(oldest, span.newest)
        return events

    async def _events(self, book_id: int, places: list[Place]) -> list[AccountEvent]:
        created = [place.ordinal for place in places if place.ordinal is not None and place.mark is None]
        known = {} if self.recent is None else self.recent.find(book_id, created)
        # What an order is at first does not change; its later states are in the store alone.
        ordinals = list(
            {
                place.ordinal
                for place in places
                if place.ordinal is not None and (place.mark is not None or place.ordinal not in known)
            }
        )
        # Read later than the places: nothing is lost, because the status is taken from the event.
        orders = {**known, **(await self._orders.orders(book_id, ordinals) if ordinals else {})}
        return [_event(book_id, place, orders) for place in places]


def _missing() -> StoreUnavailable:
    return StoreUnavailable("a book is missing from the store")


def _next_places(rows: Sequence[Row], span: _Span, after: int, limit: int) -> list[Place]:
    if not span.floor <= after < span.newest:
        return []
    marks = [_mark(row) for row in rows if row["number"] is not None]
    base = max((mark for mark in marks if mark.number <= after), key=place_of, default=None)
    following = [mark for mark in marks if mark.number > after]
    tables = (
        [mark for mark in following if mark.ordinal is None],
        [mark for mark in following if mark.ordinal is not None],
    )
    return arrange(base, tables, after, (span.newest, span.orders), limit)


def _mark(row: Row) -> Mark:
    names = ("number", "orders_through", "kind", "at_us", "ordinal", "detail")
    return Mark(*(row[name] for name in names))


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
