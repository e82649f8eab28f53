"""Sends the covers of hedge books to the venue, under their own ids, and records what became of them.

As with orders: a cover is recorded before it is sent, no transaction is open during a call to the venue, one
node at a time works on a cover, and only an id that the venue does not know is sent again. Whether the venue
may have it is known from the reference price, which is recorded before the first submission.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
import structlog

from bullion.faults import StoreFault
from bullion.hedge.contract import DOLLARS, Contract
from bullion.hedge.cover import BookCover
from bullion.hedge.venue import (
    Confirmed,
    CoverTerms,
    Declined,
    Duplicate,
    FinalAnswer,
    HedgeRequest,
    OutcomeReport,
    PartiallyFilled,
    StatusAnswer,
    SubmitAnswer,
    UnknownOrder,
    Venue,
    VenueUnreachable,
)
from bullion.last_success import note_start, note_success

from .venue_calls import CALL_S, US_PER_S, call_venue, pause_us

LEASE_US = 5_000_000
"""How long a cover belongs to its holder alone."""
_EVERY_S = 0.5
_CLAIMED_MAX = 100
_CALLS_AT_ONCE = 16

_log = structlog.get_logger("hedge")


class ClaimedCover(msgspec.Struct, frozen=True):
    """A cover that this node handles."""

    cover: BookCover
    until_us: int
    """The time from which another node may claim it."""


class MarketPrice(msgspec.Struct, frozen=True):
    """What a contract and a dollar cost now."""

    reference_e6: int
    dollar_e6: int
    """0 for a contract in rupees."""


class SentCovers(Protocol):
    """The covers in the store. Every method may raise StoreFault."""

    async def claim(self, now_us: int, limit: int) -> Sequence[ClaimedCover]:
        """Claim covers that were sent and are due, for the length of a lease."""

    async def price(self, claimed: ClaimedCover, price: MarketPrice) -> BookCover | None:
        """Record the reference before the first submission. None: another node has claimed the cover."""

    async def postpone(self, cover: BookCover, due_at_us: int, message: str) -> None:
        """Retry at that time. No-op if another node has claimed the cover, or it has its answer."""

    async def find(self, cover_id: str) -> BookCover | None: ...

    async def answer(self, cover: BookCover, answer: FinalAnswer) -> str | None:
        """Record the final answer, and the fills in the book with it. Returns the cover's new state.

        None: it had its answer before. If this one contradicts it, that is recorded as a break.
        """


class CoverSending:
    def __init__(
        self,
        venue: Venue,
        covers: SentCovers,
        now_us: Callable[[], int],
        price_of: Callable[[str, Contract], MarketPrice | None],
    ) -> None:
        """`price_of`: what a broker's contract costs now; None without fresh rates."""
        self._venue = venue
        self._covers = covers
        self._now_us = now_us
        self._price_of = price_of
        self._more_due = False
        self.outcomes: Counter[tuple[str, str]] = Counter()
        """How many covers this node recorded the outcome of, by rule and outcome."""

    async def run(self) -> None:
        """Handle covers that are due, in the background, until cancelled."""
        note_start("cover_sending")
        while True:
            try:
                await self.settle()
                note_success("cover_sending")
            except StoreFault as fault:
                _log.warning("cover_sending_failed", fault=repr(fault))
            except Exception:  # noqa: BLE001 - one cover must not end the node
                _log.exception("cover_sending_failed")
            await asyncio.sleep(0 if self._more_due else _EVERY_S)

    async def settle(self) -> None:
        """Claim the covers that are due, and get the venue's answers."""
        self._more_due = False
        if self._venue.abilities.by_hand:
            return
        claimed = await self._covers.claim(self._now_us(), _CLAIMED_MAX)
        turns = asyncio.Semaphore(_CALLS_AT_ONCE)
        unreachable: dict[str, str] = {}
        """By broker, with the error."""

        async def one(each: ClaimedCover) -> None:
            broker = each.cover.broker
            async with turns:
                if broker not in unreachable:
                    try:
                        await self._settle(each)
                    except VenueUnreachable as error:
                        unreachable[broker] = str(error)
                    else:
                        return
            # The broker's other covers are postponed too, without a call each.
            await self._postpone(each.cover, unreachable[broker])

        for result in await asyncio.gather(*map(one, claimed), return_exceptions=True):
            if isinstance(result, Exception):
                raise result
        self._more_due = len(claimed) == _CLAIMED_MAX

    async def take(self, report: OutcomeReport) -> bool:
        """Apply an answer that the venue sent by itself. False: no cover has that id."""
        cover = await self._covers.find(report.order_id)
        if cover is None:
            return False
        await self.answer(cover, report.answer)
        return True

    async def answer(self, cover: BookCover, answer: FinalAnswer) -> None:
        """Record the venue's final answer. A repeated answer changes nothing."""
        outcome = await self._covers.answer(cover, answer)
        if outcome is None:
            return
        self.outcomes[cover.rule, outcome] += 1
        told = {
            "broker": cover.broker,
            "cover_id": cover.id,
            "contract": cover.contract.code,
            "outcome": outcome,
            "execution_id": answer.execution_id,
        }
        if isinstance(answer, Declined):
            _log.warning("cover_answered", **told, words=answer.message)
        else:
            _log.info("cover_answered", **told)

    async def _settle(self, claimed: ClaimedCover) -> None:
        cover = claimed.cover
        answer: SubmitAnswer | StatusAnswer = UnknownOrder()
        if cover.reference_e6 is None:
            priced = await self._price(claimed)
            if priced is None:
                return
            cover = priced
        elif not self._lease_outlasts_call(claimed):
            return
        else:
            answer = await call_venue(self._venue.order_status, cover_request(cover))
        if isinstance(answer, UnknownOrder):
            if not self._lease_outlasts_call(claimed):
                return
            answer = await self._submit(cover)
        match answer:
            case Confirmed() | Declined() | PartiallyFilled():
                await self.answer(cover, answer)
            case Duplicate() | UnknownOrder():
                contradiction = "The venue contradicts itself: it has the cover, and does not know it."
                await self._postpone(cover, contradiction)
            case _:
                await self._postpone(cover, answer.message)

    async def _price(self, claimed: ClaimedCover) -> BookCover | None:
        """The cover with its reference; None if it cannot be sent now."""
        cover = claimed.cover
        price = self._price_of(cover.broker, cover.contract)
        if price is None:
            await self._postpone(cover, no_rate(cover.contract))
            return None
        return await self._covers.price(claimed, price)

    async def _submit(self, cover: BookCover) -> SubmitAnswer | StatusAnswer:
        request = cover_request(cover)
        answer = await call_venue(self._venue.submit, request)
        if isinstance(answer, Duplicate):
            return await call_venue(self._venue.order_status, request)
        return answer

    def _lease_outlasts_call(self, claimed: ClaimedCover) -> bool:
        """Whether a call to the venue would time out before another node may claim the cover."""
        return self._now_us() <= claimed.until_us - int(CALL_S * US_PER_S)

    async def _postpone(self, cover: BookCover, message: str) -> None:
        await self._covers.postpone(cover, self._now_us() + pause_us(cover.tries), message)


def no_rate(contract: Contract) -> str:
    rates = f"{contract.instrument} and the dollar" if contract.currency == DOLLARS else contract.instrument
    return f"It waits for a fresh rate of {rates}, to measure its price by."


def cover_request(cover: BookCover) -> HedgeRequest:
    """What is sent for a cover. It is the same each time, because its reference is recorded first."""
    contract, reference_e6 = cover.contract, cover.reference_e6 or 0
    return HedgeRequest(
        order_id=cover.id,
        broker=cover.broker,
        instrument=contract.instrument,
        trade_type=cover.side,
        quantity_e4=max(contract.gross_e4(cover.quantity_e8), 1),
        price_paise=0,
        metal=cover.metal.value,
        fine_mg=cover.fine_mg,
        contract=contract.code,
        cover=CoverTerms(contract, cover.quantity_e8, reference_e6),
    )
