"""Covers that were sent, in the store. See `bullion.booking.cover_sending`."""

from collections.abc import Callable, Sequence

import msgspec
import structlog

from bullion.booking.cover_fills import (
    as_settled,
    counted_fills,
    has_execution,
    taken_back,
    takes_back,
    unlike_settled,
    unmatched_cover,
)
from bullion.booking.cover_sending import LEASE_US, ClaimedCover, MarketPrice
from bullion.hedge.cover import FILLED, PARTLY, REFUSED, SENT, BookCover
from bullion.hedge.venue import Declined, Fill, FinalAnswer, PartiallyFilled, given_again
from bullion.records.hedge_book import CoverDeal

from . import prepared_queries
from .cover_records import add_deal, cover_of
from .engine import Engine, Transaction
from .execution_records import insert_unmatched

_encode = msgspec.json.Encoder().encode
_log = structlog.get_logger("hedge")


class StoredSentCovers:
    def __init__(self, engine: Engine, holder: str, now_us: Callable[[], int], venue: str) -> None:
        """`venue`: covers that were sent to another one are not claimed."""
        self._engine = engine
        self._holder = holder
        self._now_us = now_us
        self._venue = venue

    async def claim(self, now_us: int, limit: int) -> Sequence[ClaimedCover]:
        if await self._engine.one("cover_due", now_us, self._venue) is None:
            return ()
        lease = (self._holder, now_us + LEASE_US)

        async def body(transaction: Transaction) -> list[ClaimedCover]:
            await transaction.run("claim_covers", *lease, now_us, limit, self._venue)
            found = await transaction.all("claimed_covers", *lease)
            return [ClaimedCover(cover_of(row), lease[1]) for row in found]

        return await self._engine.write("claim_covers", body, custom_plans=True)

    async def price(self, claimed: ClaimedCover, price: MarketPrice) -> BookCover | None:
        values = (claimed.cover.id, self._holder, claimed.until_us, price.reference_e6, price.dollar_e6)

        async def body(transaction: Transaction) -> BookCover | None:
            if await transaction.one("price_cover", *values) is None:
                return None
            row = await transaction.one("cover_by_id", claimed.cover.id)
            return None if row is None else cover_of(row)

        return await self._engine.write("price_cover", body)

    async def postpone(self, cover: BookCover, due_at_us: int, message: str) -> None:
        values = (cover.id, self._holder, due_at_us, message)
        await self._engine.write("postpone_cover", lambda open_: open_.run("postpone_cover", *values))

    async def find(self, cover_id: str) -> BookCover | None:
        row = await self._engine.read("cover_by_id", lambda open_: open_.one("cover_by_id", cover_id))
        return None if row is None else cover_of(row)

    async def answer(self, cover: BookCover, answer: FinalAnswer) -> str | None:
        async def body(transaction: Transaction) -> str | None:
            row = await transaction.one("lock_cover", cover.id, cover.broker)
            if row is None:
                return None
            now, at_us = cover_of(row), self._now_us()
            if now.state != SENT:
                await self._compare(transaction, now, answer, at_us)
                return None
            return await self._write(transaction, now, answer, at_us)

        return await self._engine.write("answer_cover", body, holding=prepared_queries.ANSWER_COVER)

    async def _write(
        self, transaction: Transaction, cover: BookCover, answer: FinalAnswer, at_us: int
    ) -> str:
        if isinstance(answer, Declined):
            values = (REFUSED, answer.execution_id, answer.message, at_us)
            await transaction.run("finish_cover", cover.id, *values)
            return REFUSED
        if await transaction.one("lock_book_position", cover.broker, cover.metal.value) is None:
            raise LookupError(f"the hedge book of the cover {cover.id} is not open")
        filled_e8 = 0
        for fill in counted_fills(cover, answer, at_us):
            if await self._add(transaction, cover, fill, at_us):
                filled_e8 += fill.quantity_e8
        state = FILLED if filled_e8 == cover.quantity_e8 else PARTLY
        message = answer.message if isinstance(answer, PartiallyFilled) else None
        await transaction.run("finish_cover", cover.id, state, answer.execution_id, message, at_us)
        return state

    async def _add(self, transaction: Transaction, cover: BookCover, fill: Fill, at_us: int) -> bool:
        """False: the execution counts for another cover, and the reconciliation makes a break of this one."""
        name = (cover.broker, cover.contract.venue, fill.execution_id)
        known = await transaction.one("one_cover_fill", *name)
        if known is not None and fill.at_us not in (known["at_us"], at_us):
            # Made at another time. A fill that the venue told no time of has that of its answer.
            fill = msgspec.structs.replace(fill, execution_id=given_again(fill.execution_id, cover.id))
        elif known is not None:
            _log.error("cover_fill_counted_before", cover_id=cover.id, execution_id=fill.execution_id)
            return False
        await add_deal(transaction, cover, CoverDeal(fill, 0, cover.dollar_e6 or 0), at_us)
        return True

    async def _compare(
        self, transaction: Transaction, cover: BookCover, answer: FinalAnswer, at_us: int
    ) -> None:
        """A cover that has its answer, or was never sent, and an answer of the venue for it."""
        if isinstance(answer, Declined):
            if not takes_back(cover, answer):
                return
            dealt = await self._dealt(transaction, cover)
            made = taken_back(cover, sum(each.quantity_e8 for each in dealt), answer, at_us)
        elif cover.settled_by is not None:
            dealt = await self._dealt(transaction, cover)
            if as_settled(cover, dealt, answer, at_us):
                await transaction.run("adopt_execution", cover.id, answer.execution_id)
                return
            made = unlike_settled(cover, dealt, answer, at_us)
        elif has_execution(cover, answer.execution_id):
            return
        else:
            made = unmatched_cover(cover, answer, at_us)
        await insert_unmatched(transaction, cover.broker, self._venue, made, at_us)

    async def _dealt(self, transaction: Transaction, cover: BookCover) -> list[Fill]:
        """What the book counts for the cover."""
        rows = await transaction.all("fills_of_covers", _encode([cover.id]).decode())
        return [Fill(row["execution_id"], row["quantity_e8"], row["price_e6"], row["at_us"]) for row in rows]
