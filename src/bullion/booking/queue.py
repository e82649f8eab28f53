"""Group commit: orders that arrive while a batch is being recorded go together into the next one.

A book is never in two batches of this node at once, so they do not conflict. Conflicts with other nodes are
detected by the book's version: a plan is recorded only if the version has not moved since its orders were
decided. Otherwise they are decided again.

Production orders are verified: if the store's answer to a commit was lost, the queue reads what was committed
(`verify`) and does not try again.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine, Iterable, Mapping, MutableMapping, Sequence
from random import getrandbits
from typing import Any

import structlog

from bullion.allocation.book import Book
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.follower import CatalogueFollower
from bullion.faults import (
    NotSent,
    OutcomeUnknown,
    StoreBusy,
    StoreConflict,
    StoreFault,
    StoreUnavailable,
)
from bullion.orders.order_id import RANDOM_BITS, order_id
from bullion.orders.verdict import Priced
from bullion.request_ids import CURRENT

from .attempt import Booked, KeyName, OrderAttempt, OrderCheck, Outcome, QueueEntry, StockName
from .batch_slots import BatchSlots
from .booking_counts import BookingCounts, RetryReason
from .decide import Plan, decide, takes_stock
from .known_books import KnownBooks
from .ledger import Ledger, Recorded
from .replay import replay
from .verify import Verifier

DEADLINE_S = 6.0
"""How long an order waits for the store. After that, a retry with the same key returns the outcome."""
_DEADLINE_CHECK_S = 0.25
_VERDICT_S = 0.25
"""How long an order may wait for its batch at the price that it had when it arrived."""
_OPTIMISTIC_TRIES = 2
_LOCKED_BATCHES_MAX = 3
_TRIES_MAX = 20

Outcomes = Sequence[tuple[QueueEntry, Outcome]]


class _PrimaryReplaced(Exception):
    """Another server has become the primary. It uses versions a second time: nothing was sent to it."""


_log = structlog.get_logger("booking")


class BookingQueue:
    def __init__(
        self,
        ledger: Ledger,
        catalogue: Catalogue,
        catalogue_follower: CatalogueFollower,
        *,
        slots: int,
        batch_max: int,
        verifies: bool = False,
        locks_first: bool = False,
    ) -> None:
        """`verifies`: if the response to a commit is lost, read what was committed instead of retrying.

        `locks_first`: lock the books before orders are decided. For a store where that costs nothing extra.
        An order that waits for the lock is then known not to have been sent.
        """
        self._ledger = ledger
        self._verifier = Verifier(ledger) if verifies else None
        self._locks_first = locks_first
        self._catalogue = catalogue
        self._catalogue_follower = catalogue_follower
        self.counts = BookingCounts()
        self._known_failovers = ledger.failovers
        self._slots = BatchSlots(slots, self._start_batches)
        self._batch_max = batch_max
        self._waiting: dict[int, deque[QueueEntry]] = {}
        """By book, in the order in which the books began to wait."""
        self._waiting_number = 0
        self._running: set[QueueEntry] = set()
        self._running_books: set[int] = set()
        self._in_flight: dict[KeyName, asyncio.Future[Outcome]] = {}
        self._books = KnownBooks(ledger)
        self._locked_batches = asyncio.Semaphore(_LOCKED_BATCHES_MAX)
        self._start_scheduled = False
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def waiting_number(self) -> int:
        """How many orders wait for a batch."""
        return self._waiting_number

    def place(self, attempt: OrderAttempt, check: OrderCheck) -> Coroutine[Any, Any, Outcome]:
        """The outcome of the attempt. May raise StoreFault.

        Then nothing was recorded, except after OutcomeUnknown: a retry with the same key returns the outcome.
        """
        entry = QueueEntry(attempt, check, check.check(attempt), self._catalogue.serial)
        if self._verifier is None:
            return self._place(entry)
        return self._verifier.place(entry, self._place)

    async def _place(self, entry: QueueEntry) -> Outcome:
        loop = asyncio.get_running_loop()
        entry.since_s = loop.time()
        book_id, key_name = entry.attempt.book_id, entry.attempt.key_name
        while (earlier := self._in_flight.get(key_name)) is not None:
            known = await _outcome_of_earlier(earlier, entry)
            if known is not None:
                return known
            entry.catalogue_serial = None  # Time has passed: check it again when its batch starts.
        outcome: asyncio.Future[Outcome] = loop.create_future()
        entry.outcome = self._in_flight[key_name] = outcome
        waiting = self._waiting.get(book_id)
        if waiting is None:
            waiting = self._waiting[book_id] = deque()
        waiting.append(entry)
        self._waiting_number += 1
        if not self._start_scheduled:
            # Not at once: orders that arrive in the same turn of the loop join the batch.
            self._start_scheduled = True
            loop.call_soon(self._start_batches)
        try:
            return await outcome
        finally:
            del self._in_flight[key_name]

    async def run(self) -> None:
        """Enforce the deadline of waiting callers in the background, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_DEADLINE_CHECK_S)
            too_old = loop.time() - DEADLINE_S
            waiting = [entry for entries in self._waiting.values() for entry in entries]
            for entry in [*waiting, *self._running]:
                if entry.since_s < too_old and not entry.given_up:
                    self._give_up(entry)

    def _give_up(self, entry: QueueEntry) -> None:
        if entry.give_up():
            entry.fail(StoreBusy("the booking's deadline has passed"))
        elif self._verifier is not None:
            self._start_task(self._verifier.resolve([entry]))
        else:
            entry.fail(OutcomeUnknown("the store did not answer before the booking's deadline"))

    def _start_batches(self) -> None:
        self._start_scheduled = False
        while self._waiting and self._slots.free(full=self._waiting_number >= self._batch_max):
            batch = self._next_batch()
            if not batch:
                return
            self._start_task(self._run(batch, self._slots.take()))

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _next_batch(self) -> list[QueueEntry]:
        batch: list[QueueEntry] = []
        for book_id in [each for each in self._waiting if each not in self._running_books]:
            waiting = self._waiting.pop(book_id)
            self._running_books.add(book_id)
            while waiting and len(batch) < self._batch_max:
                batch.append(waiting.popleft())
            if waiting:
                self._waiting[book_id] = waiting  # At the end: other books have waited as long.
            if len(batch) >= self._batch_max:
                break
        self._waiting_number -= len(batch)
        return batch

    async def _run(self, batch: list[QueueEntry], slot: float) -> None:
        """Run a batch. Orders that need a lock first are deferred, and wait outside of the batch's slot."""
        deferred: Sequence[QueueEntry] = ()
        outcomes: Outcomes = ()
        _set_request_ids(batch)
        self.counts.add_batch(len([entry for entry in batch if not entry.found_locked]))
        self._running.update(batch)
        try:
            deferred, outcomes = await self._record(batch, locked=self._locks_first)
        except StoreUnavailable as fault:
            self._fail(batch, fault)
        except Exception as error:  # noqa: BLE001 - whatever it is, no caller may wait for ever
            await self._recover(error, batch)
        finally:
            deferred_books = {entry.attempt.book_id for entry in deferred}
            self._finish(
                [entry for entry in batch if entry.attempt.book_id not in deferred_books]
                if deferred
                else batch
            )
            self._slots.release(slot)
            for book_id in deferred_books:
                self._run_deferred(book_id, [entry for entry in batch if entry.attempt.book_id == book_id])
            self._start_batches()
            # After the next batch has started: the store works on it while these callers are answered.
            _answer_all(outcomes)

    def _run_deferred(self, book_id: int, entries: list[QueueEntry]) -> None:
        if any(entry.waits_for_lock for entry in entries):
            self._start_task(self._run_locked(entries))
            return
        # Into the next batch: by then the other node has most likely committed. To wait for its lock would
        # take a transaction for this book alone.
        self._finish(entries)
        self._waiting[book_id] = deque([*entries, *self._waiting.get(book_id, ())])
        self._waiting_number += len(entries)

    async def _run_locked(self, entries: list[QueueEntry]) -> None:
        """Run the orders of one book, waiting for its lock."""
        _set_request_ids(entries)
        async with self._locked_batches:  # A few at a time: each keeps a connection of the store waiting.
            try:
                _, outcomes = await self._record(entries, locked=True)
                _answer_all(outcomes)
            except (StoreBusy, StoreConflict, StoreUnavailable) as fault:
                self._fail(entries, fault)
            except Exception as error:  # noqa: BLE001 - as above
                await self._recover(error, entries)
            finally:
                self._finish(entries)
                self._start_batches()

    def _finish(self, entries: Sequence[QueueEntry]) -> None:
        self._running.difference_update(entries)
        self._running_books.difference_update({entry.attempt.book_id for entry in entries})

    async def _recover(self, error: Exception, entries: Sequence[QueueEntry]) -> None:
        """After a batch failed for a reason that its orders may not share."""
        self._forget_books(entries)
        self.counts.retries[RetryReason.FAILED] += 1
        _log.warning("batch_failed", orders=len(entries), error=repr(error))
        if self._verifier is not None and isinstance(error, OutcomeUnknown):
            await self._verifier.resolve(entries)
        else:
            await self._record_one_by_one(entries)

    async def _record_one_by_one(self, batch: Sequence[QueueEntry]) -> None:
        """One order must not fail the others. Repeating is safe: a recorded order is found by its key."""
        for entry in batch:
            entry.sent = False
            _set_request_ids([entry])
            try:
                _, outcomes = await self._record([entry], locked=True)
                _answer_all(outcomes)
            except OutcomeUnknown as unknown:
                if self._verifier is not None:
                    await self._verifier.resolve([entry])
                else:
                    entry.fail(unknown)
            except StoreFault as fault:
                entry.fail(fault)
            except Exception as own_error:  # noqa: BLE001 - as above
                _log.exception("booking_failed")
                entry.fail(own_error)
            finally:
                self._forget_books([entry])

    async def _record(
        self, batch: Sequence[QueueEntry], *, locked: bool = False
    ) -> tuple[Sequence[QueueEntry], Outcomes]:
        """Decide and record until every order has its outcome, except for deferred orders.

        An order is deferred if another node has locked its book, or if its book takes from a stock. With
        `locked`, only for a stock, and only beside orders of other books. Returns the deferred orders, and
        outcomes that the caller must answer with.
        """
        misses = 0
        deferred: list[QueueEntry] = []
        for _ in range(_TRIES_MAX):
            batch = [entry for entry in batch if entry.is_open and entry not in deferred]
            if not batch:
                return deferred, ()
            await self._follow_primary(batch)
            failovers, version = self._known_failovers, self._catalogue.version or 0
            _check_again(batch, self._catalogue.serial)
            if not locked or len({entry.attempt.book_id for entry in batch}) > 1:
                batch, with_stock = _split_by_stock(batch)
                deferred += with_stock
                if not batch:
                    return deferred, ()
            try:
                plans, recorded = await self._try_to_record(
                    batch, version, failovers, locked=locked or misses >= _OPTIMISTIC_TRIES, again=misses > 0
                )
            except _PrimaryReplaced:
                continue
            if recorded.catalogue_version != version:
                self.counts.retries[RetryReason.CATALOGUE] += 1
                if recorded.catalogue_version != self._catalogue.version:
                    await self._catalogue_follower.catch_up()
                continue
            locked_by_others = [plan for plan in plans if plan.before.id not in recorded.books]
            if locked_by_others:
                self.counts.retries[RetryReason.LOCKED] += 1
                deferred += self._locked_out(locked_by_others)
            tried = [plan for plan in plans if plan.before.id in recorded.books]
            current = [plan for plan in tried if self._is_current(plan, recorded)]
            outcomes = [answer for plan in current for answer in plan.outcomes]
            if len(current) == len(tried):
                return deferred, outcomes
            self.counts.retries[RetryReason.CONFLICT] += 1
            misses += 1
            _answer_all(outcomes)
            # After the recorded orders are answered: a fault here must affect only callers that still wait.
            await self._find_settled(plans, recorded)
        raise StoreBusy("other nodes kept changing the book")

    async def _follow_primary(self, batch: Sequence[QueueEntry]) -> None:
        """Read the catalogue again, whatever its version, before anything is decided for a new primary."""
        failovers = self._ledger.failovers
        if failovers != self._known_failovers:
            for entry in batch:
                entry.sent, entry.settled = False, None
            await self._catalogue_follower.catch_up()
            self._known_failovers = failovers

    def _require_no_failover(self, failovers: int) -> None:
        if self._ledger.failovers != failovers:
            raise _PrimaryReplaced

    async def _try_to_record(
        self, batch: Sequence[QueueEntry], version: int, failovers: int, *, locked: bool, again: bool
    ) -> tuple[Sequence[Plan], Recorded]:
        """May raise _PrimaryReplaced."""
        by_book: dict[int, list[QueueEntry]] = {}
        for entry in batch:
            by_book.setdefault(entry.attempt.book_id, []).append(entry)
        self.counts.decisions += len(batch)
        names = [entry.attempt.key_name for entry in batch if entry.settled is None]

        def plan(books: Mapping[int, Book], stock: MutableMapping[StockName, int]) -> list[Plan]:
            now_us = self._catalogue.now_us()
            return [
                decide(books[book_id], [each for each in entries if each.mark_sent()], now_us, _new_id, stock)
                for book_id, entries in by_book.items()
            ]

        def check_and_plan(
            books: Mapping[int, Book], stock: MutableMapping[StockName, int]
        ) -> Sequence[Plan]:
            if _on_event_loop():
                self._require_no_failover(failovers)
                _check_again(batch, self._catalogue.serial)  # The lock may have been waited for.
            return plan(books, stock)

        async def record_locked() -> tuple[Sequence[Plan], Recorded]:
            stocks = sorted({entry.attempt.stock_name for entry in batch if _takes_stock(entry)})
            return await self._ledger.record_locked(sorted(by_book), stocks, names, version, check_and_plan)

        if locked:
            answer = await record_locked()
        else:
            books = await self._books.for_decision(by_book, again=again)
            self._require_no_failover(failovers)
            plans = plan(books, {})
            try:
                answer = plans, await self._ledger.record(plans, names, version)
            except NotSent:
                self._require_no_failover(failovers)
                answer = await record_locked()
        for entry in batch:
            entry.sent = False
        return answer

    def _locked_out(self, plans: Sequence[Plan]) -> Sequence[QueueEntry]:
        """The orders of books that are locked. The second time, they wait for the lock."""
        entries = [entry for plan in plans for entry, _ in plan.outcomes]
        for entry in entries:
            entry.waits_for_lock, entry.found_locked = entry.found_locked, True
        for plan in plans:
            self._books.note_locked(plan.before.id)
        return entries

    def _is_current(self, plan: Plan, recorded: Recorded) -> bool:
        """Whether the plan's orders can be answered as decided; otherwise they must be decided again.

        This includes refusals: the book's lock proves that no other call is about to record an order under
        one of these keys.
        """
        result = recorded.books[plan.before.id]
        moved = result.book.version != plan.before.version
        if moved:
            self._books.note_conflict(result.book)
        else:
            self._books.note(plan.after if result.recorded else result.book)
        return not moved and not result.settled

    async def _find_settled(self, plans: Sequence[Plan], recorded: Recorded) -> None:
        """Read the orders under the settled keys that kept a plan from being recorded."""
        books = {book_id for book_id, result in recorded.books.items() if result.settled}
        entries = [
            entry
            for plan in plans
            if plan.before.id in books
            for entry, _ in plan.outcomes
            if entry.settled is None
        ]
        if not entries:
            return
        try:
            found = await self._ledger.settled([entry.attempt.key_name for entry in entries])
        except StoreFault as fault:
            if self._verifier is None:
                raise
            # One of the keys may have an order, so "nothing was booked" could be false.
            raise OutcomeUnknown(*fault.args) from fault
        for entry in entries:
            entry.settled = found.get(entry.attempt.key_name)

    def _forget_books(self, entries: Iterable[QueueEntry]) -> None:
        self._books.forget(entry.attempt.book_id for entry in entries)

    def _fail(self, entries: Iterable[QueueEntry], fault: StoreFault) -> None:
        for entry in entries:
            self._books.forget([entry.attempt.book_id])
            entry.fail(fault)


def _set_request_ids(entries: Iterable[QueueEntry]) -> None:
    """From here on, this task works for the calls of these entries."""
    CURRENT.set(tuple([entry.attempt.request_id for entry in entries]))


def _answer_all(outcomes: Outcomes) -> None:
    for entry, outcome in outcomes:
        entry.answer(outcome)


def _check_again(batch: Sequence[QueueEntry], serial: int) -> None:
    """Check entries again if the catalogue has changed, so that a switch turned off meanwhile stops them.

    And those that have waited: the live price is that of now, and may have moved or become stale.
    """
    too_old_s = asyncio.get_running_loop().time() - _VERDICT_S
    for entry in batch:
        if entry.catalogue_serial != serial or entry.since_s < too_old_s:
            entry.verdict = entry.check.check(entry.attempt)
            entry.catalogue_serial = serial


def _on_event_loop() -> bool:
    """False on the writer's thread of SQLite: memory changes while that runs, and must not be read there."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _takes_stock(entry: QueueEntry) -> bool:
    return takes_stock(entry.attempt, entry.verdict)


def _split_by_stock(batch: Sequence[QueueEntry]) -> tuple[Sequence[QueueEntry], Sequence[QueueEntry]]:
    """Split off the books that take from a stock. All accounts share it, so it must be locked first.

    Each of these books is then decided by itself. In one batch, an order that is not recorded in the end,
    such as a repeated one, would take its weight from the stock that the next account is judged by.
    """
    kept = [entry for entry in batch if isinstance(entry.verdict, Priced) and entry.verdict.stock_kept]
    books = {entry.attempt.book_id for entry in kept if _takes_stock(entry)}
    if not books:
        return batch, ()
    with_stock = [entry for entry in batch if entry.attempt.book_id in books]
    for entry in with_stock:
        entry.waits_for_lock = True
    return [entry for entry in batch if entry.attempt.book_id not in books], with_stock


async def _outcome_of_earlier(earlier: "asyncio.Future[Outcome]", entry: QueueEntry) -> Outcome | None:
    """The outcome for a call whose key an earlier call is booking; None if that one left the key free."""
    left_s = entry.since_s + DEADLINE_S - asyncio.get_running_loop().time()
    done, _ = await asyncio.wait([earlier], timeout=max(0.0, left_s))
    if not done:
        raise StoreConflict("the same key is being booked by another call")
    await asyncio.sleep(0)  # Let the earlier call remove its key from `_in_flight`.
    if earlier.cancelled() or earlier.exception() is not None:
        return None  # The error belongs to the earlier call; this one is booked on its own.
    outcome = earlier.result()
    return replay(outcome.order, entry) if isinstance(outcome, Booked) else None


def _new_id(at_us: int, ordinal: int) -> str:
    return order_id(at_us, ordinal, getrandbits(RANDOM_BITS))
