"""Gets the venue's word on pending orders: right after one was recorded, and later, for as long as it takes.

No transaction is open while the venue is spoken to. What became of an order that was sent, and whose answer
was lost with a connection or a node, is asked for; only an id that the venue does not know is sent again.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from bullion.faults import StoreFault
from bullion.hedge.venue import (
    Asked,
    Confirmed,
    Declined,
    Duplicate,
    HedgeRequest,
    NotKnown,
    Submitted,
    Unconfirmed,
    Venue,
    VenueUnreachable,
    cancelled_from_within,
)
from bullion.orders.order import Order
from bullion.orders.status import Status

from .attempt import ToHedge
from .hedge_requests import LEASE_US, Claimed, HedgeRequests, Waiting

WAIT_S = 2.0
"""How long a client waits for the venue before it is told that its order is pending."""
_CALL_S = 3.0
"""How long the venue may take for one call. Less than a lease: whoever is next must not meet us there."""
_EVERY_S = 0.5
_WATCH_EVERY = 10
"""Turns."""
_CLAIMED_MAX = 200
_AT_ONCE = 16
_FIRST_PAUSE_S, _PAUSE_S_MAX = 1.0, 4.0
_OLD_US = 30_000_000
LATE_US = 60_000_000
"""For so long a deleted order that the venue does not know is asked for. A fill after that is found by the
reconciliation, which reads all executions of the venue."""
_US_PER_S = 1_000_000

T = TypeVar("T")

_log = structlog.get_logger("hedge")


class Hedging:
    def __init__(
        self,
        venue: Venue,
        requests: HedgeRequests,
        now_us: Callable[[], int],
        report: Callable[[Waiting], None] = lambda _: None,
    ) -> None:
        """`report` is told now and then how many wait for the venue's word."""
        self._venue = venue
        self._requests = requests
        self._now_us = now_us
        self._report = report
        self._under_way: dict[str, asyncio.Task[Order]] = {}
        self._alarmed = False
        self._more_due = False

    async def hedge(self, to_hedge: ToHedge) -> Order:
        """Send an order that this node just recorded. The order as it is after a short wait."""
        order = to_hedge.order
        if not self._still_ours(order.created_at_us + LEASE_US):
            return order  # It was long in being recorded.
        task = asyncio.get_running_loop().create_task(self._send(to_hedge))
        self._under_way[order.id] = task
        task.add_done_callback(lambda _: self._under_way.pop(order.id, None))
        return await self._wait(task, order)

    async def outcome(self, order: Order) -> Order:
        """A pending order as it is once its first call to the venue, if that is this node's, is over."""
        task = self._under_way.get(order.id)
        return order if task is None else await self._wait(task, order)

    async def keep(self) -> None:
        """Run for as long as the node does: finish what was left unfinished, by whichever node."""
        for turn in itertools.count():
            await self._try(self.settle)
            if turn % _WATCH_EVERY == 0:  # Also when nothing can be settled: then above all.
                await self._try(self._watch)
            # Where more is due, at once: nobody's order waits behind the many of another broker.
            await asyncio.sleep(0 if self._more_due else _EVERY_S)

    async def _try(self, duty: Callable[[], Awaitable[None]]) -> None:
        try:
            await duty()
        except StoreFault as fault:
            _log.warning("not_settled", fault=repr(fault))
        except Exception:  # noqa: BLE001 - one request that cannot be dealt with must not end the node
            _log.exception("not_settled")

    async def settle(self) -> None:
        """One turn: claim what is due and ask for it."""
        self._more_due = False
        claimed = await self._requests.claim(self._now_us(), _CLAIMED_MAX)
        turns = asyncio.Semaphore(_AT_ONCE)
        unreachable: dict[str, str] = {}
        """By broker, in whose words."""

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
            # The others need not find out for themselves, nor wait until their lease ends.
            await self._postpone(request.to_hedge.order, request.tries, unreachable[broker])

        for result in await asyncio.gather(*map(one, claimed), return_exceptions=True):
            if isinstance(result, Exception):
                raise result
        self._more_due = len(claimed) == _CLAIMED_MAX

    async def _settle(self, claimed: Claimed) -> None:
        to_hedge, order = claimed.to_hedge, claimed.to_hedge.order
        if not self._still_ours(claimed.until_us):
            return
        word: Submitted | Asked = await self._ask(to_hedge)
        if isinstance(word, NotKnown):
            if order.status != Status.PENDING:
                await self._give_up(order, claimed.tries)
                return
            if not self._still_ours(claimed.until_us):
                return
            word = await self._submit(to_hedge)
        await self._take(to_hedge, word, claimed.tries)

    async def _give_up(self, order: Order, tries: int) -> None:
        """The order is gone, and the venue does not know it; not yet, perhaps: a call may be under way."""
        if self._now_us() < order.created_at_us + LATE_US:
            await self._postpone(order, tries, "The order was deleted; so far the venue has not had it.")
        else:
            await self._requests.withdraw(order)

    def _still_ours(self, until_us: int) -> bool:
        """Whether a call to the venue would be over before another node may take the request over."""
        return self._now_us() <= until_us - int(_CALL_S * _US_PER_S)

    async def _send(self, to_hedge: ToHedge) -> Order:
        try:
            try:
                return await self._take(to_hedge, await self._submit(to_hedge), 0)
            except VenueUnreachable as error:
                _log.warning("venue_did_not_answer", order_id=to_hedge.order.id, error=str(error))
                # Our call is over: whoever asks next need not wait for the lease to end.
                await self._postpone(to_hedge.order, 0, str(error))
        except StoreFault as fault:
            _log.warning("not_settled", order_id=to_hedge.order.id, fault=repr(fault))
        except Exception:  # noqa: BLE001 - whatever it is: the order is recorded, and the timer goes on with it
            _log.exception("not_settled", order_id=to_hedge.order.id)
        return to_hedge.order

    async def _submit(self, to_hedge: ToHedge) -> Submitted | Asked:
        word = await self._call(self._venue.submit, to_hedge)
        return await self._ask(to_hedge) if isinstance(word, Duplicate) else word

    async def _ask(self, to_hedge: ToHedge) -> Asked:
        return await self._call(self._venue.ask, to_hedge)

    async def _call(self, call: Callable[[HedgeRequest], Awaitable[T]], to_hedge: ToHedge) -> T:
        try:
            async with asyncio.timeout(_CALL_S):
                return await call(to_hedge.request())
        except TimeoutError:
            raise VenueUnreachable(f"no answer within {_CALL_S:g} seconds") from None
        except StoreFault as fault:  # The simulated venue keeps its book in the store.
            raise VenueUnreachable(f"its book cannot be reached: {fault}") from fault
        except asyncio.CancelledError as error:
            if not cancelled_from_within():
                raise
            raise VenueUnreachable("no answer: the adapter gave the call up") from error

    async def _take(self, to_hedge: ToHedge, word: Submitted | Asked, tries: int) -> Order:
        """Do as the venue says. The order as it is then."""
        match word:
            case Confirmed() | Declined():
                return await self._requests.answer(to_hedge, word)
            case Unconfirmed():
                await self._postpone(to_hedge.order, tries, word.words)
            case Duplicate() | NotKnown():
                await self._postpone(
                    to_hedge.order, tries, "The venue contradicts itself: it has it, and has not."
                )
        return to_hedge.order

    async def _postpone(self, order: Order, tries: int, words: str) -> None:
        pause_s = min(_FIRST_PAUSE_S * 2 ** min(tries, 8), _PAUSE_S_MAX)
        await self._requests.postpone(order, self._now_us() + int(pause_s * _US_PER_S), words)

    async def _wait(self, task: "asyncio.Task[Order]", order: Order) -> Order:
        # Rather than `asyncio.wait`, which takes twice as long: every production order waits here.
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
        """Tell the operator when orders wait for long, and when they no longer do."""
        waiting = await self._requests.waiting()
        self._report(waiting)
        oldest_at_us = waiting.oldest_at_us
        old = oldest_at_us is not None and self._now_us() - oldest_at_us > _OLD_US
        if old and not self._alarmed:
            oldest_s = (self._now_us() - (oldest_at_us or 0)) // _US_PER_S
            _log.error("hedge_waits_long", requests=waiting.requests, oldest_s=oldest_s)
        if self._alarmed and not old:
            _log.info("hedge_waits_no_longer", requests=waiting.requests)
        self._alarmed = old
