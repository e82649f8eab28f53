"""Gets the venue's final answer to pending orders, right after they were recorded or by later retries.

No transaction is open during a call to the venue. If the answer to an order was lost with a connection or a
node, the venue is asked for the order's status; only an id that the venue does not know is sent again.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from bullion.faults import StoreFault
from bullion.hedge.venue import (
    Confirmed,
    Declined,
    Duplicate,
    HedgeRequest,
    OutcomeReport,
    PartiallyFilled,
    StatusAnswer,
    SubmitAnswer,
    Unconfirmed,
    UnknownOrder,
    Venue,
    VenueUnreachable,
)
from bullion.last_success import note_start, note_success
from bullion.orders.order import Order
from bullion.orders.status import Status

from .attempt import ToHedge
from .cover_sending import CoverSending
from .hedge_requests import LEASE_US, Claimed, HedgeBacklog, HedgeRequests
from .house_book import HouseBook
from .venue_calls import CALL_S, call_venue, pause_us

WAIT_S = 2.0
"""How long a client waits for the venue before the answer is that its order is pending."""
_CALL_S = CALL_S
_EVERY_S = 0.5
_REPORTS_PAUSE_S = 0.5
_WATCH_EVERY_TURNS = 10
_CLAIMED_MAX = 200
_CALLS_AT_ONCE = 16
_OLD_US = 30_000_000
LATE_US = 60_000_000
"""How long the venue is asked for a deleted order that it does not know. The reconciliation, which reads all
executions of the venue, finds a fill after that."""
_US_PER_S = 1_000_000

T = TypeVar("T")

_log = structlog.get_logger("hedge")


class Hedging:
    def __init__(
        self,
        venue: Venue,
        requests: HedgeRequests,
        now_us: Callable[[], int],
        report: Callable[[HedgeBacklog], None] = lambda _: None,
        house_book: HouseBook | None = None,
        covers: CoverSending | None = None,
    ) -> None:
        """`report` is called now and then with the number of requests that wait for the venue.

        `house_book` answers the orders that are not sent to the venue. None: there are no such orders.
        `covers` takes the venue's reports of covers.
        """
        self._venue = venue
        self._requests = requests
        self._now_us = now_us
        self._report = report
        self._house_book = house_book
        self._covers = covers
        self._sending: dict[str, asyncio.Task[Order]] = {}
        self._alarmed = False
        self._more_due = False

    async def hedge(self, to_hedge: ToHedge) -> Order:
        """Send an order that this node just recorded. Returns the order as it is after a short wait."""
        order = to_hedge.order
        if not self._lease_outlasts_call(order.created_at_us + LEASE_US):
            return order  # Recording took too long: another node may claim the request.
        send = self._judge(to_hedge) if to_hedge.in_book else self._send(to_hedge)
        task = asyncio.get_running_loop().create_task(send)
        self._sending[order.id] = task
        task.add_done_callback(lambda _: self._sending.pop(order.id, None))
        return await self._wait(task, order)

    async def outcome(self, order: Order) -> Order:
        """A pending order, after its first call to the venue has ended, if this node makes that call."""
        task = self._sending.get(order.id)
        return order if task is None else await self._wait(task, order)

    async def run(self) -> None:
        """Finish requests that this or another node left, in the background, until cancelled."""
        note_start("hedging")
        note_start("hedge_watch")
        for turn in itertools.count():
            await self._try(self.settle, "hedging")
            if turn % _WATCH_EVERY_TURNS == 0:  # Also if settling fails.
                await self._try(self._watch, "hedge_watch")
            # No pause if more is due: an order must not wait behind the many of another broker.
            await asyncio.sleep(0 if self._more_due else _EVERY_S)

    async def review_books(self) -> None:
        """Confirm orders that wait for room, in the background, until cancelled.

        Apart from `run`: a venue that does not answer must not keep them waiting.
        """
        note_start("book_review")
        while True:
            await self._try(self._review, "book_review")
            await asyncio.sleep(_EVERY_S)

    async def _try(self, duty: Callable[[], Awaitable[None]], task: str) -> None:
        try:
            await duty()
            note_success(task)
        except StoreFault as fault:
            _log.warning("hedging_failed", task=task, fault=repr(fault))
        except Exception:  # noqa: BLE001 - one request must not end the node
            _log.exception("hedging_failed", task=task)

    async def take_reports(self) -> None:
        """Apply the answers that the venue sends by itself, in the background, until cancelled."""
        while True:
            try:
                async for report in self._venue.reports():
                    await self._take(report)
            except StoreFault as fault:
                _log.warning("hedging_failed", task="reports", fault=repr(fault))
            except Exception:  # noqa: BLE001 - a report that is lost here is asked for
                _log.exception("reports_failed")
            await asyncio.sleep(_REPORTS_PAUSE_S)

    async def _take(self, report: OutcomeReport) -> None:
        to_hedge = await self._requests.find(report.order_id)
        if to_hedge is not None:
            await self._requests.answer(to_hedge, report.answer)
        elif self._covers is None or not await self._covers.take(report):
            _log.warning("report_of_unknown_order", order_id=report.order_id)

    async def _review(self) -> None:
        if self._house_book is not None:
            await self._house_book.review()

    async def settle(self) -> None:
        """Claim the requests that are due, and get the venue's answers."""
        self._more_due = False
        claimed = await self._requests.claim(self._now_us(), _CLAIMED_MAX)
        turns = asyncio.Semaphore(_CALLS_AT_ONCE)
        unreachable: dict[str, str] = {}
        """By broker, with the error."""

        async def one(request: Claimed) -> None:
            broker = request.to_hedge.broker
            async with turns:
                if broker not in unreachable:
                    try:
                        await self._settle(request)
                    except VenueUnreachable as error:
                        unreachable[broker] = str(error)
                    else:
                        return
            # The broker's other requests are postponed too, without a call each.
            await self._postpone(request.to_hedge.order, request.tries, unreachable[broker])

        for result in await asyncio.gather(*map(one, claimed), return_exceptions=True):
            if isinstance(result, Exception):
                raise result
        self._more_due = len(claimed) == _CLAIMED_MAX

    async def _settle(self, claimed: Claimed) -> None:
        to_hedge, order = claimed.to_hedge, claimed.to_hedge.order
        if not self._lease_outlasts_call(claimed.until_us):
            return
        answer: SubmitAnswer | StatusAnswer = await self._order_status(to_hedge)
        if isinstance(answer, UnknownOrder):
            if order.status != Status.PENDING:
                await self._withdraw_when_late(order, claimed.tries)
                return
            if not self._lease_outlasts_call(claimed.until_us):
                return
            answer = await self._submit(to_hedge)
        await self._handle(to_hedge, answer, claimed.tries)

    async def _withdraw_when_late(self, order: Order, tries: int) -> None:
        """The order was deleted, and the venue does not know it; but a call may still be on its way there."""
        if self._now_us() < order.created_at_us + LATE_US:
            await self._postpone(order, tries, "The order was deleted. So far the venue does not know it.")
        else:
            await self._requests.withdraw(order)

    def _lease_outlasts_call(self, until_us: int) -> bool:
        """Whether a call to the venue would time out before another node may claim the request."""
        return self._now_us() <= until_us - int(_CALL_S * _US_PER_S)

    async def _send(self, to_hedge: ToHedge) -> Order:
        try:
            try:
                return await self._handle(to_hedge, await self._submit(to_hedge), 0)
            except VenueUnreachable as error:
                _log.warning("venue_did_not_answer", order_id=to_hedge.order.id, error=str(error))
                # Our call has ended: the next one need not wait for the end of the lease.
                await self._postpone(to_hedge.order, 0, str(error))
        except StoreFault as fault:
            _log.warning("hedging_failed", task="submit", order_id=to_hedge.order.id, fault=repr(fault))
        except Exception:  # noqa: BLE001 - the order is recorded, and `settle` goes on with it
            _log.exception("hedging_failed", task="submit", order_id=to_hedge.order.id)
        return to_hedge.order

    async def _judge(self, to_hedge: ToHedge) -> Order:
        """Let the house's book answer. If it cannot now, its next review does."""
        try:
            if self._house_book is not None:
                return await self._house_book.judge(to_hedge)
        except StoreFault as fault:
            _log.warning("hedging_failed", task="book", order_id=to_hedge.order.id, fault=repr(fault))
        except Exception:  # noqa: BLE001 - the order is recorded, and the next review goes on with it
            _log.exception("hedging_failed", task="book", order_id=to_hedge.order.id)
        return to_hedge.order

    async def _submit(self, to_hedge: ToHedge) -> SubmitAnswer | StatusAnswer:
        answer = await self._call(self._venue.submit, to_hedge)
        return await self._order_status(to_hedge) if isinstance(answer, Duplicate) else answer

    async def _order_status(self, to_hedge: ToHedge) -> StatusAnswer:
        return await self._call(self._venue.order_status, to_hedge)

    async def _call(self, call: Callable[[HedgeRequest], Awaitable[T]], to_hedge: ToHedge) -> T:
        return await call_venue(call, to_hedge.request(), _CALL_S)

    async def _handle(self, to_hedge: ToHedge, answer: SubmitAnswer | StatusAnswer, tries: int) -> Order:
        """Apply the venue's answer. Returns the order as it is then."""
        match answer:
            case Confirmed() | Declined() | PartiallyFilled():
                return await self._requests.answer(to_hedge, answer)
            case Unconfirmed():
                await self._postpone(to_hedge.order, tries, answer.message)
            case Duplicate() | UnknownOrder():
                contradiction = "The venue contradicts itself: it has the order, and does not know it."
                await self._postpone(to_hedge.order, tries, contradiction)
        return to_hedge.order

    async def _postpone(self, order: Order, tries: int, message: str) -> None:
        await self._requests.postpone(order, self._now_us() + pause_us(tries), message)

    async def _wait(self, task: "asyncio.Task[Order]", order: Order) -> Order:
        # Not `asyncio.wait`, which takes twice as long: every production order waits here.
        loop = asyncio.get_running_loop()
        over: asyncio.Future[None] = loop.create_future()

        def end(_: object = None) -> None:
            if not over.done():
                over.set_result(None)

        timer = loop.call_later(WAIT_S, end)
        task.add_done_callback(end)
        try:
            await over
        finally:
            timer.cancel()
            task.remove_done_callback(end)
        return task.result() if task.done() else order

    async def _watch(self) -> None:
        """Log when orders have waited too long, and when none has any more."""
        backlog = await self._requests.backlog()
        self._report(backlog)
        oldest_at_us = backlog.oldest_at_us
        old = oldest_at_us is not None and self._now_us() - oldest_at_us > _OLD_US
        if old and not self._alarmed:
            oldest_s = (self._now_us() - (oldest_at_us or 0)) // _US_PER_S
            _log.error("hedge_backlog_late", requests=backlog.requests, oldest_s=oldest_s)
        if self._alarmed and not old:
            _log.info("hedge_backlog_cleared", requests=backlog.requests)
        self._alarmed = old
