"""Writes the venue's confirmations, which most of its answers are, many at once."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec

from bullion.booking.attempt import ToHedge
from bullion.booking.house_book import deal_entry
from bullion.hedge.venue import Confirmed, Declined, FinalAnswer
from bullion.orders import life
from bullion.orders.order import Order
from bullion.orders.status import Event

from .confirming_sqlite import confirm_orders
from .engine import Engine
from .postgres import PostgresEngine
from .sqlite import SqliteConnection, SqliteEngine

VENUE = "venue"
"""Who changes the orders, in their events."""
_TRIES, _PAUSE_S = 3, 0.003
_encode = msgspec.json.Encoder().encode


class Answered(msgspec.Struct, eq=False):
    """Compared by identity: comparing orders field by field would take longer than writing them."""

    to_hedge: ToHedge
    answer: FinalAnswer


class Confirmations:
    def __init__(self, engine: Engine, now_us: Callable[[], int], venue: str) -> None:
        self._engine = engine
        self._now_us = now_us
        self._venue = venue
        self._keep_books: set[str] = set()
        """Brokers that keep a hedge book, as far as is known here. No broker ends its book."""

    async def write(self, answers: Sequence[Answered]) -> Mapping[Answered, Order]:
        """Make deals of the pending orders among them that the venue confirms as a whole."""
        confirmed = {
            (each.to_hedge.order.book_id, each.to_hedge.order.ordinal): each
            for each in answers
            if isinstance(each.answer, Confirmed) and each.to_hedge.rest is None
        }
        if not confirmed:
            return {}
        fills = [values for each in confirmed.values() for values in fills_of(each, self._venue)]
        if isinstance(self._engine, PostgresEngine):
            return await self._on_postgres(self._engine, confirmed, fills)
        if isinstance(self._engine, SqliteEngine):
            return await self._on_sqlite(self._engine, confirmed, fills)
        return {}

    async def _on_postgres(
        self,
        engine: PostgresEngine,
        confirmed: Mapping[tuple[int, int], Answered],
        fills: Sequence[tuple[int | str, ...]],
    ) -> Mapping[Answered, Order]:
        """In one statement. Retried, because this node's own bookings often lock a book for a moment.

        The short statement does for most orders; the last try is with the one for all.
        """
        found: dict[Answered, Order] = {}
        if fills:
            # Before the confirmation: if this node dies in between, the venue is asked again.
            await engine.statement("insert_fills", _encode(fills).decode(), writes=True)
        for turn in range(_TRIES):
            left = {name: each for name, each in confirmed.items() if each not in found}
            if not left:
                break
            if turn:
                await asyncio.sleep(_PAUSE_S)
            rows = [
                confirmation_row(place, each.to_hedge, each.answer.execution_id, covered=True)
                for place, each in enumerate(left.values())
            ]
            books, at_us = list({book_id for book_id, _ in left}), self._now_us()
            values = (_encode(rows).decode(), books, at_us, VENUE)
            keeps_book = any(each.to_hedge.broker in self._keep_books for each in left.values())
            query = "confirm_orders" if keeps_book or turn == _TRIES - 1 else "confirm_newest"
            for row in await engine.statement(query, *values, writes=True):
                if row["deal_no"] is None:
                    self._keep_books.add(row["keeps_book"])
                    continue
                each = left[row["book_id"], row["ordinal"]]
                found[each] = life.after(each.to_hedge.order, Event.CONFIRM, at_us, deal_no=row["deal_no"])
        return found

    async def _on_sqlite(
        self,
        engine: SqliteEngine,
        confirmed: Mapping[tuple[int, int], Answered],
        fills: Sequence[tuple[int | str, ...]],
    ) -> Mapping[Answered, Order]:
        rows = [(each.to_hedge, each.answer.execution_id) for each in confirmed.values()]

        def work(connection: SqliteConnection) -> Mapping[Answered, Order]:
            for values in fills:
                connection.fetch("insert_fill", values)
            deals = confirm_orders(connection, rows, self._now_us(), VENUE, covered=True)
            return {confirmed[name]: deal for name, deal in deals.items()}

        return await engine.run_in_writer("confirm_orders", work, patient=True)


def confirmation_row(
    place: int, to_hedge: ToHedge, execution_id: str, *, covered: bool
) -> tuple[int | str, ...]:
    """A row of the first parameter of `confirm_orders`. `covered`: whether the venue covered the order."""
    order = to_hedge.order
    entry = deal_entry(order, to_hedge.fineness_e4, covered=covered)
    name = (order.book_id, order.ordinal, to_hedge.broker)
    return *name, execution_id, entry.client_mg, entry.cover_mg, place


def fills_of(answered: Answered, venue: str) -> list[tuple[int | str, ...]]:
    """The values of `insert_fill` for each fill of an answer."""
    to_hedge, answer = answered.to_hedge, answered.answer
    if isinstance(answer, Declined) or not answer.fills:
        return []
    order, sent_id = to_hedge.order, to_hedge.request().order_id
    return [
        (
            order.book_id,
            order.ordinal,
            fill.execution_id,
            to_hedge.broker,
            venue,
            sent_id,
            fill.quantity_e8,
            fill.price_e6,
            fill.at_us,
        )
        for fill in answer.fills
    ]
