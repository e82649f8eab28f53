"""Group commit: what arrives while a batch is being recorded goes together into the next one.

No book is in two batches at once, so batches of this node never fight each other. Against other nodes: a book
is moved only if it is still as it was when its orders were decided; else they are decided again.

Where real metal hangs on it, an answer of the store that was lost is found out (`verify`), and nothing is
tried again.
"""

import asyncio
from collections import deque
from collections.abc import Collection, Coroutine, Iterable, Mapping, MutableMapping, Sequence
from random import getrandbits
from typing import Any

import structlog

from bullion.allocation.book import Book
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.keeper import Keeper
from bullion.faults import OutcomeUnknown, StoreBusy, StoreConflict, StoreFault, StoreUnavailable
from bullion.orders.order_id import RANDOM_BITS, order_id

from .decide import Plan, decide, takes_stock
from .lanes import Lanes
from .ledger import Ledger, Recorded
from .placing import Booked, KeyName, Outcome, Placing, StockName
from .replay import replay
from .verify import Verifier

DEADLINE_S = 6.0
"""How long an order waits for the store. What then becomes of it, the same key tells."""
_LOOK_EVERY_S = 0.25
_OPTIMISTIC_TRIES = 2
_HELD_AT_ONCE = 3
_TRIES_MAX = 20
_BOOKS_KEPT_MAX = 50_000

Answers = Sequence[tuple[Placing, Outcome]]

_log = structlog.get_logger("booking")


class BookingQueue:
    def __init__(
        self,
        ledger: Ledger,
        catalogue: Catalogue,
        keeper: Keeper,
        *,
        lanes: int,
        batch_max: int,
        verifies: bool = False,
        locks_first: bool = False,
    ) -> None:
        """`verifies`: what became of a commit whose answer was lost is read, and nothing is tried again.

        `locks_first`: orders are decided with their books locked. For a store where that is no detour: one
        that waits for the lock is then known not to have been sent.
        """
        self._ledger = ledger
        self._verifier = Verifier(ledger) if verifies else None
        self._locks_first = locks_first
        self._catalogue = catalogue
        self._keeper = keeper
        self._lanes = Lanes(lanes, self._depart)
        self._batch_max = batch_max
        self._waiting: dict[int, deque[Placing]] = {}
        """By book, in the order in which the books came to wait."""
        self._waiting_number = 0
        self._busy: set[int] = set()
        self._in_flight: dict[KeyName, asyncio.Future[Outcome]] = {}
        self._books: dict[int, Book] = {}
        self._under_way: set[Placing] = set()
        self._holding = asyncio.Semaphore(_HELD_AT_ONCE)
        self._departing = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def place(self, placing: Placing) -> Outcome:
        """What became of it. May raise StoreFault.

        Nothing was recorded then, unless it is OutcomeUnknown: sending the same key again tells.
        """
        if self._verifier is None:
            return await self._place(placing)
        return await self._verifier.place(placing, self._place)

    async def _place(self, placing: Placing) -> Outcome:
        loop = asyncio.get_running_loop()
        placing.since_s = loop.time()
        name = placing.key_name
        while (ahead := self._in_flight.get(name)) is not None:
            known = await _followed(ahead, placing)
            if known is not None:
                return known
            placing.judged_by = None  # Whatever it was then: it is judged when its turn has come.
        outcome: asyncio.Future[Outcome] = loop.create_future()
        placing.outcome = self._in_flight[name] = outcome
        waiting = self._waiting.get(placing.book_id)
        if waiting is None:
            waiting = self._waiting[placing.book_id] = deque()
        waiting.append(placing)
        self._waiting_number += 1
        if not self._departing:
            # Not at once: whoever else arrives in this turn of the loop goes along.
            self._departing = True
            loop.call_soon(self._depart)
        try:
            return await outcome
        finally:
            del self._in_flight[name]

    async def keep(self) -> None:
        """Run for as long as the node does: nobody waits longer than the deadline."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            too_old = loop.time() - DEADLINE_S
            waiting = [placing for placings in self._waiting.values() for placing in placings]
            for placing in [*waiting, *self._under_way]:
                if placing.since_s < too_old and not placing.given_up:
                    self._give_up(placing)

    def _give_up(self, placing: Placing) -> None:
        if placing.give_up():
            _fail([placing], StoreBusy("the booking's deadline has passed"))
        elif self._verifier is not None:
            self._begin(self._verifier.find_out([placing]))
        else:
            _fail([placing], OutcomeUnknown("the store did not answer before the booking's deadline"))

    def _depart(self) -> None:
        self._departing = False
        while self._waiting and self._lanes.free(full=self._waiting_number >= self._batch_max):
            batch = self._next_batch()
            if not batch:
                return
            self._begin(self._run(batch, self._lanes.take()))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _next_batch(self) -> list[Placing]:
        batch: list[Placing] = []
        for book_id in [each for each in self._waiting if each not in self._busy]:
            waiting = self._waiting.pop(book_id)
            self._busy.add(book_id)
            while waiting and len(batch) < self._batch_max:
                batch.append(waiting.popleft())
            if waiting:
                self._waiting[book_id] = waiting  # Behind the others, who have waited as long.
            if len(batch) >= self._batch_max:
                break
        self._waiting_number -= len(batch)
        return batch

    async def _run(self, batch: list[Placing], lane: float) -> None:
        """A batch in its lane. Books that somebody else holds are waited for apart from it."""
        held: Sequence[Placing] = ()
        answers: Answers = ()
        self._under_way.update(batch)
        try:
            held, answers = await self._record(batch, locked=self._locks_first)
        except StoreUnavailable as fault:
            self._forget(batch)
            _fail(batch, fault)
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must not wait for ever
            await self._after(error, batch)
        finally:
            held_books = {placing.book_id for placing in held}
            self._leave([placing for placing in batch if placing.book_id not in held_books])
            self._lanes.give_back(lane)
            for book_id in held_books:
                self._begin(self._run_held([placing for placing in batch if placing.book_id == book_id]))
            self._depart()
            # Only now: while these are answered, the store is busy with the next batch.
            _tell(answers)

    async def _run_held(self, placings: list[Placing]) -> None:
        async with self._holding:  # A few at a time: each keeps a connection of the store waiting.
            try:
                _, answers = await self._record(placings, locked=True)
                _tell(answers)
            except (StoreBusy, StoreConflict, StoreUnavailable) as fault:
                self._forget(placings)
                _fail(placings, fault)
            except Exception as error:  # noqa: BLE001 - as above
                await self._after(error, placings)
            finally:
                self._leave(placings)
                self._depart()

    def _leave(self, placings: Sequence[Placing]) -> None:
        self._under_way.difference_update(placings)
        self._busy.difference_update({placing.book_id for placing in placings})

    async def _after(self, error: Exception, placings: Sequence[Placing]) -> None:
        """A batch has failed, and not for a reason that all its orders share."""
        self._forget(placings)
        _log.warning("batch_failed", orders=len(placings), error=repr(error))
        if self._verifier is not None and isinstance(error, OutcomeUnknown):
            await self._verifier.find_out(placings)
        else:
            await self._record_singly(placings)

    async def _record_singly(self, batch: Sequence[Placing]) -> None:
        """One order must not fail the others. Repeating is safe: what was recorded is found by its key."""
        for placing in batch:
            placing.sent = False
            try:
                _, answers = await self._record([placing], locked=True)
                _tell(answers)
            except OutcomeUnknown as unknown:
                if self._verifier is not None:
                    await self._verifier.find_out([placing])
                else:
                    _fail([placing], unknown)
            except StoreFault as fault:
                _fail([placing], fault)
            except Exception as own_error:  # noqa: BLE001 - as above
                _log.exception("booking_failed")
                _fail([placing], own_error)
            finally:
                self._forget([placing])

    async def _record(
        self, batch: Sequence[Placing], *, locked: bool = False
    ) -> tuple[Sequence[Placing], Answers]:
        """Decide and record until every order has its outcome, but for those whose book somebody else holds.

        With `locked` their books are waited for too. The last outcomes are still to be told.
        """
        misses = 0
        held: list[Placing] = []
        for _ in range(_TRIES_MAX):
            batch = [
                placing for placing in batch if placing.waits and not placing.given_up and placing not in held
            ]
            if not batch:
                return held, ()
            version = self._catalogue.version or 0
            _judge_anew(batch, version)
            if not locked:
                batch, apart = _stocks_apart(batch)
                held += apart
                if not batch:
                    return held, ()
            plans, recorded = await self._try(batch, version, locked=locked or misses >= _OPTIMISTIC_TRIES)
            if recorded.catalogue_version != version:
                if recorded.catalogue_version != self._catalogue.version:
                    await self._keeper.catch_up()
                continue
            held += [
                placing
                for plan in plans
                if plan.before.id not in recorded.books
                for placing, _ in plan.outcomes
            ]
            seen = [plan for plan in plans if plan.before.id in recorded.books]
            good = [plan for plan in seen if self._holds(plan, recorded)]
            answers = [answer for plan in good for answer in plan.outcomes]
            if len(good) == len(seen):
                return held, answers
            misses += len(seen) - len(good)
            _tell(answers)
            # Only once all that was recorded is answered: a fault in this is told to those who still wait.
            await self._find_settled(plans, recorded)
        raise StoreBusy("the book was changed by others again and again")

    async def _try(
        self, batch: Sequence[Placing], version: int, *, locked: bool
    ) -> tuple[Sequence[Plan], Recorded]:
        by_book: dict[int, list[Placing]] = {}
        for placing in batch:
            by_book.setdefault(placing.book_id, []).append(placing)
        now_us = self._catalogue.now_us()
        names = [placing.key_name for placing in batch if placing.settled is None]

        def plan(books: Mapping[int, Book], stock: MutableMapping[StockName, int]) -> list[Plan]:
            return [
                decide(books[book_id], [each for each in orders if each.send()], now_us, _new_id, stock)
                for book_id, orders in by_book.items()
            ]

        if locked:
            stocks = sorted({placing.stock_name for placing in batch if takes_stock(placing)})
            answer = await self._ledger.record_locked(sorted(by_book), stocks, names, version, plan)
        else:
            plans = plan(await self._look(by_book), {})
            answer = plans, await self._ledger.record(plans, names, version)
        for placing in batch:
            placing.sent = False
        return answer

    def _holds(self, plan: Plan, recorded: Recorded) -> bool:
        """Whether a plan's orders can be answered as it has them; else they must be decided again.

        A refusal too is given only if the book, seen under its lock, has not moved: whoever could still
        record an order under one of these keys holds that lock.
        """
        book_id = plan.before.id
        seen = recorded.books[book_id]
        self._books[book_id] = plan.after if seen.recorded else seen.book
        return not seen.settled and seen.book.version == plan.before.version

    async def _find_settled(self, plans: Sequence[Plan], recorded: Recorded) -> None:
        """Read what the keys are settled by that kept a plan from being recorded."""
        books = {book_id for book_id, seen in recorded.books.items() if seen.settled}
        placings = [
            placing
            for plan in plans
            if plan.before.id in books
            for placing, _ in plan.outcomes
            if placing.settled is None
        ]
        if not placings:
            return
        try:
            found = await self._ledger.settled([placing.key_name for placing in placings])
        except StoreFault as fault:
            if (
                self._verifier is not None
            ):  # There is an order under one of them: "nothing booked" would not be true.
                raise OutcomeUnknown(*fault.args) from fault
            raise
        for placing in placings:
            placing.settled = found.get(placing.key_name)

    async def _look(self, book_ids: Collection[int]) -> Mapping[int, Book]:
        known = {book_id: self._books[book_id] for book_id in book_ids if book_id in self._books}
        unknown = [book_id for book_id in book_ids if book_id not in known]
        if not unknown:
            return known
        if len(self._books) + len(unknown) > _BOOKS_KEPT_MAX:
            self._books.clear()
        found = await self._ledger.books(unknown)
        self._books |= found
        return known | dict(found)

    def _forget(self, placings: Iterable[Placing]) -> None:
        for placing in placings:
            self._books.pop(placing.book_id, None)


def _tell(answers: Answers) -> None:
    for placing, outcome in answers:
        placing.answer(outcome)


def _judge_anew(batch: Sequence[Placing], version: int) -> None:
    """Where memory has moved on since: a switch that was changed before an order holds for it."""
    for placing in batch:
        if placing.judged_by != version:
            placing.verdict = placing.judge()
            placing.judged_by = version


def _stocks_apart(batch: Sequence[Placing]) -> tuple[Sequence[Placing], Sequence[Placing]]:
    """A stock is shared by all accounts: it is drawn on by one book at a time, under its lock."""
    books = {placing.book_id for placing in batch if takes_stock(placing)}
    if not books:
        return batch, ()
    apart = [placing for placing in batch if placing.book_id in books]
    return [placing for placing in batch if placing.book_id not in books], apart


async def _followed(ahead: "asyncio.Future[Outcome]", placing: Placing) -> Outcome | None:
    """The outcome for a call whose key is in flight already; None if that one left the key free."""
    left_s = placing.since_s + DEADLINE_S - asyncio.get_running_loop().time()
    done, _ = await asyncio.wait([ahead], timeout=max(0.0, left_s))
    if not done:
        raise StoreConflict("the same key is being booked by another call")
    await asyncio.sleep(0)  # Whoever is ahead clears the way first.
    if ahead.cancelled() or ahead.exception() is not None:
        return None  # It is told to whom it belongs; this call is judged on its own.
    outcome = ahead.result()
    return replay(outcome.order, placing.asked, placing.request_id) if isinstance(outcome, Booked) else None


def _fail(placings: Iterable[Placing], error: Exception) -> None:
    for placing in placings:
        placing.fail(error)


def _new_id(at_us: int, ordinal: int) -> str:
    return order_id(at_us, ordinal, getrandbits(RANDOM_BITS))
