"""Hedge requests in the store. See `bullion.booking.hedge_requests`."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import msgspec
import structlog

from bullion.booking.attempt import ToHedge
from bullion.booking.breaks import contradicts, second_execution
from bullion.booking.hedge_requests import LEASE_US, BookState, Claimed, HedgeBacklog
from bullion.booking.partial_fills import CHILDREN_MAX, Part, part_of
from bullion.faults import AlreadyExists, ConstraintViolation, StoreUnavailable
from bullion.hedge.venue import Confirmed, Declined, FinalAnswer, PartiallyFilled
from bullion.hedge.venues import SIMULATED
from bullion.orders import life
from bullion.orders.order import Order
from bullion.orders.order_id import made_at_us
from bullion.orders.status import Event, Status

from . import order_changes, order_rows, prepared_queries
from .batch_loader import BatchLoader
from .confirmations import VENUE, Answered, Confirmations, fills_of
from .engine import Engine, Transaction, one_row
from .execution_records import insert_unmatched
from .sent_orders import find_sent

_SLOTS = 2
NEVER_US = 2**53
"""The due time of a request that waits for the desk."""


Postponed = tuple[int, int, int, str]
"""Book, ordinal, due time and the venue's message."""

_log = structlog.get_logger("hedge")
_encode = msgspec.json.Encoder().encode


class StoredHedgeRequests:
    def __init__(
        self, engine: Engine, holder: str, now_us: Callable[[], int], venue: str = SIMULATED
    ) -> None:
        """`venue`: only requests for this venue are claimed."""
        self._engine = engine
        self._venue = venue
        self._holder = holder
        self._now_us = now_us
        self._confirmations = Confirmations(engine, now_us, venue)
        self._answers: BatchLoader[Answered, Order] = BatchLoader(self._answer_all, slots=_SLOTS)
        self._postponed: BatchLoader[Postponed, bool] = BatchLoader(self._postpone_all, slots=1)

    async def claim(self, now_us: int, limit: int) -> Sequence[Claimed]:
        if await self._engine.one("hedge_due", now_us, self._venue) is None:
            return ()
        lease = (self._holder, now_us + LEASE_US)

        async def body(transaction: Transaction) -> list[Claimed]:
            await transaction.run("claim_hedges", *lease, now_us, limit, self._venue)
            found = await transaction.all("claimed_hedges", *lease)
            return [
                Claimed(
                    order_rows.to_hedge(row),
                    row["tries"],
                    lease[1],
                )
                for row in found
            ]

        return await self._engine.write(
            "claim_hedges", body, custom_plans=True, holding=prepared_queries.HEDGE
        )

    async def postpone(self, order: Order, due_at_us: int, message: str) -> None:
        await self._postponed.get((order.book_id, order.ordinal, due_at_us, message))

    async def _postpone_all(self, postponed: Sequence[Postponed]) -> Mapping[Postponed, bool]:
        async def body(transaction: Transaction) -> dict[Postponed, bool]:
            rows = _encode(sorted(postponed)).decode()
            await transaction.run("postpone_hedges", rows, self._holder, NEVER_US)
            return dict.fromkeys(postponed, True)

        return await self._engine.write("postpone_hedges", body, holding=prepared_queries.HEDGE)

    async def withdraw(self, order: Order) -> None:
        name = (order.book_id, order.ordinal)
        at_us = self._now_us()
        await self._engine.write("withdraw_hedge", lambda open_: open_.run("withdraw_hedge", *name, at_us))

    async def find(self, sent_id: str) -> ToHedge | None:
        found = await self._engine.read(
            "hedged_order", lambda open_: find_sent(open_, sent_id), custom_plans=True
        )
        return None if found is None else found[0]

    async def answer(self, to_hedge: ToHedge, answer: FinalAnswer) -> Order:
        order = await self._answers.get(Answered(to_hedge, answer))
        if order is None:
            raise StoreUnavailable("the order is missing from the store, or could not be written")
        return order

    async def _answer_all(self, answers: Sequence[Answered]) -> Mapping[Answered, Order]:
        """Answers that arrive together are written in one transaction."""
        found: Mapping[Answered, Order] = {}
        with suppress(ConstraintViolation, AlreadyExists):  # One of them cannot be written: logged below.
            found = await self._confirmations.write(answers)
        rest = [each for each in answers if each not in found]
        return {**found, **await self._answer_separately(rest)} if rest else found

    async def _answer_separately(self, answers: Sequence[Answered]) -> Mapping[Answered, Order]:
        """An answer that cannot be written must not block the others."""
        try:
            return await self._answer_one_by_one(answers)
        except (ConstraintViolation, AlreadyExists) as fault:
            if len(answers) == 1:
                order = answers[0].to_hedge.order
                _log.error(
                    "hedge_answer_not_written",
                    request_id=order.request_id,
                    order_id=order.id,
                    fault=repr(fault),
                )
                return {}
        alone = [await self._answer_separately([each]) for each in answers]
        return {each: order for found in alone for each, order in found.items()}

    async def _answer_one_by_one(self, answers: Sequence[Answered]) -> Mapping[Answered, Order]:
        """Locks in the same order as everywhere: books by id, stocks (for refusals), then deal numbers."""
        in_order = sorted(answers, key=_lock_order)

        async def body(transaction: Transaction) -> dict[Answered, Order]:
            for book_id in sorted({each.to_hedge.order.book_id for each in in_order}):
                await transaction.run("lock_book", book_id)
            books_kept = await transaction.one("keeps_books") is not None
            found: dict[Answered, Order] = {}
            for each in in_order:
                order = await self._answer(transaction, each.to_hedge, each.answer, books_kept=books_kept)
                if order is not None:
                    found[each] = order
            return found

        return await self._engine.write("answer_hedges", body, holding=prepared_queries.ANSWER)

    async def _answer(
        self, transaction: Transaction, to_hedge: ToHedge, answer: FinalAnswer, *, books_kept: bool
    ) -> Order | None:
        name = (to_hedge.order.book_id, to_hedge.order.ordinal)
        row = await transaction.one("order_at", *name)
        if row is None:
            return None
        order, at_us = order_rows.order(row), self._now_us()
        for fill in fills_of(Answered(to_hedge, answer), self._venue):
            await transaction.run("insert_fill", *fill)
        if (
            to_hedge.rest is not None
            or isinstance(answer, PartiallyFilled)
            or await transaction.one("one_part", *name, 0) is not None
        ):
            return await self._answer_part(transaction, to_hedge, order, answer, at_us)
        state = "answered"
        if order.status == Status.PENDING:
            before, message = order, _message(answer)
            order = await self._settled(transaction, to_hedge.broker, order, answer, at_us)
            await order_changes.write(
                transaction, before, order, at_us, VENUE, message, books_kept=books_kept
            )
        else:
            known = await one_row(transaction, "one_hedge", *name)
            if known["execution_id"] == answer.execution_id:
                return order  # Another node has recorded this answer.
            broken = known["state"] == "broken"
            if isinstance(answer, Confirmed) and (broken or known["outcome"] == "confirmed"):
                second = second_execution(to_hedge, answer.execution_id, at_us)
                await insert_unmatched(transaction, to_hedge.broker, self._venue, second, at_us)
                return order
            if broken:
                return order
            if contradicts(order, answer, known["execution_id"]):
                state = "broken"
        outcome = "confirmed" if isinstance(answer, Confirmed) else "refused"
        await transaction.run(
            "answer_hedge", *name, state, outcome, answer.execution_id, _message(answer), at_us
        )
        return order

    async def _answer_part(
        self, transaction: Transaction, to_hedge: ToHedge, order: Order, answer: FinalAnswer, at_us: int
    ) -> Order:
        """Record a partial fill, or the answer for a child."""
        name, request = (order.book_id, order.ordinal), to_hedge.request()
        known = await transaction.one("one_part", *name, to_hedge.child)
        if known is not None and known["execution_id"] == answer.execution_id:
            return order  # Another node has recorded this answer.
        part, declined = part_of(request, answer), isinstance(answer, Declined)
        hedge = await one_row(transaction, "one_hedge", *name)
        if known is not None or hedge["state"] not in ("waiting", "withdrawn"):
            if not declined:
                filled_e4 = part.filled_e4 or (0 if known is None else known["quantity_e4"])
                second = second_execution(to_hedge, answer.execution_id, at_us, filled_e4)
                await insert_unmatched(transaction, to_hedge.broker, self._venue, second, at_us)
            return order
        await transaction.run(
            "insert_part",
            *name,
            to_hedge.child,
            request.order_id,
            answer.execution_id,
            part.filled_e4,
            part.filled_fine_mg,
            at_us,
        )
        if order.status != Status.PENDING:
            await self._break_part(transaction, to_hedge, answer, part, at_us)
            return order
        below_step = isinstance(answer, PartiallyFilled) and answer.below_step
        if part.left_e4 and not below_step:
            await self._send_rest(transaction, to_hedge, answer, part, at_us)
            return order
        left = (part.left_e4, part.left_fine_mg)
        await transaction.run("put_rest", *name, to_hedge.child, *left, 0, part.left_fine_mg)
        message = _message(answer)
        deal_no = await order_changes.next_deal_no(transaction, to_hedge.broker)
        deal = life.after(order, Event.CONFIRM, at_us, deal_no=deal_no)
        await order_changes.write(transaction, order, deal, at_us, VENUE, message)
        await transaction.run(
            "answer_hedge", *name, "answered", "confirmed", answer.execution_id, message, at_us
        )
        return deal

    async def _send_rest(
        self, transaction: Transaction, to_hedge: ToHedge, answer: FinalAnswer, part: Part, at_us: int
    ) -> None:
        """The rest is due under the id of the next child; after too many, or a refusal, the desk decides."""
        name, child = (to_hedge.order.book_id, to_hedge.order.ordinal), to_hedge.child
        stopped = isinstance(answer, Declined) or child >= CHILDREN_MAX
        rest = (child if stopped else child + 1, part.left_e4, part.left_fine_mg, int(stopped), 0)
        await transaction.run("put_rest", *name, *rest)
        await transaction.run("wait_for_rest", *name, NEVER_US if stopped else at_us, _message(answer))

    async def _break_part(
        self, transaction: Transaction, to_hedge: ToHedge, answer: FinalAnswer, part: Part, at_us: int
    ) -> None:
        """The order was deleted meanwhile. Whatever was filled for it is a break."""
        name = (to_hedge.order.book_id, to_hedge.order.ordinal)
        await transaction.run("put_rest", *name, to_hedge.child, part.left_e4, part.left_fine_mg, 0, 0)
        if isinstance(answer, Declined):
            await transaction.run("withdraw_hedge", *name, at_us)
        else:
            broken = ("broken", "confirmed", answer.execution_id, _message(answer), at_us)
            await transaction.run("answer_hedge", *name, *broken)

    async def _settled(
        self, transaction: Transaction, broker: str, order: Order, answer: FinalAnswer, at_us: int
    ) -> Order:
        if isinstance(answer, Confirmed):
            deal_no = await order_changes.next_deal_no(transaction, broker)
            return life.after(order, Event.CONFIRM, at_us, deal_no=deal_no)
        return life.after(order, Event.REFUSE, at_us)

    async def backlog(self) -> HedgeBacklog:
        async def body(transaction: Transaction) -> HedgeBacklog:
            row = await one_row(transaction, "hedges_waiting")
            oldest = row["oldest"]
            marked = await one_row(transaction, "hedges_broken")
            covers = await one_row(transaction, "covers_waiting")
            since_us = [] if oldest is None else [made_at_us(oldest)]
            since_us += [] if covers["oldest_at_us"] is None else [covers["oldest_at_us"]]
            books = [
                BookState(
                    each["broker"], each["metal"], each["client_mg"] + each["cover_mg"], each["limit_mg"]
                )
                for each in await transaction.all("all_book_positions")
            ]
            return HedgeBacklog(
                row["requests"] + covers["covers"],
                min(since_us, default=None),
                marked["breaks"],
                marked["partly_covered"],
                tuple(books),
            )

        return await self._engine.read("hedges_waiting", body)


async def waiting_elsewhere(engine: Engine, venue: str) -> dict[str, int]:
    """How many orders wait for venues that nodes which hedge at this one do not ask."""
    rows = await engine.read(
        "hedges_elsewhere", lambda open_: open_.all("hedges_elsewhere", venue), custom_plans=True
    )
    return {row["venue"]: row["orders"] for row in rows}


def _lock_order(answered: Answered) -> tuple[bool, str, int, int]:
    order = answered.to_hedge.order
    return not isinstance(answered.answer, Declined), order.asked.symbol_code, order.book_id, order.ordinal


def _message(answer: FinalAnswer) -> str:
    return f"execution {answer.execution_id}" if isinstance(answer, Confirmed) else answer.message
