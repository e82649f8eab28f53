"""Hedge requests, breaks, executions and the simulated venue's behaviour, for the desk."""

from collections.abc import Sequence

import msgspec

from bullion.booking.breaks import Mismatch, UnmatchedExecution
from bullion.booking.partial_fills import Part, Rest
from bullion.hedge.simulated import VenueBehaviour
from bullion.hedge.venue import Fill, ListedExecution
from bullion.metals.metal import Metal
from bullion.orders.order import Order
from bullion.records.hedges import (
    ANSWERED,
    Cover,
    Execution,
    Exposure,
    Hedge,
    OrderFill,
    OrderHedge,
    UnmatchedBreak,
)
from bullion.records.page import Page

from . import row_decoders
from .decoding import readable
from .desk_transaction import DeskTransaction
from .engine import Row, one_row
from .hedge_requests import NEVER_US
from .order_records import account_order


class HedgeRecords(DeskTransaction):
    async def hedge(self, order: Order) -> Hedge | None:
        """The hedge request of an order; None if it has none, as a test order."""
        row = await self._transaction.one("hedge_with_rest", order.book_id, order.ordinal)
        return None if row is None else _hedge(row)

    async def answer_hedge(self, order: Order, execution: Execution, words: str | None) -> None:
        """Record the answer to a request, which closes it."""
        answer = (ANSWERED, execution.outcome, execution.execution_id, words, execution.at_us)
        await self._transaction.run("answer_hedge", order.book_id, order.ordinal, *answer)
        await self._transaction.run("release_rest", order.book_id, order.ordinal)

    async def first_fill(self, order: Order) -> str | None:
        """The execution of the first part of a partly filled order."""
        row = await one_row(self._transaction, "first_filled_part", order.book_id, order.ordinal)
        return None if row["execution_id"] is None else str(row["execution_id"])

    async def take_rest(self, order: Order) -> None:
        """Leave the rest of a partly covered order to the hedge book."""
        await self._transaction.run("take_rest", order.book_id, order.ordinal)

    async def send_rest_again(self, order: Order, at_us: int, words: str) -> None:
        """Send the rest of a partly covered order under the id of one more child."""
        name = (order.book_id, order.ordinal)
        await self._transaction.run("send_rest_again", *name)
        await self._transaction.run("release_rest", *name)
        await self._transaction.run("wait_for_rest", *name, at_us, words)

    async def insert_fill(self, broker: str, order: Order, of: OrderFill) -> None:
        """A fill that is known does not change."""
        fill = of.fill
        await self._transaction.run(
            "insert_fill",
            order.book_id,
            order.ordinal,
            fill.execution_id,
            broker,
            of.venue,
            of.sent_id,
            fill.quantity_e8,
            fill.price_e6,
            fill.at_us,
        )

    async def fills(self, order: Order) -> list[OrderFill]:
        """The deals that cover an order, as far as the venue told them, oldest first."""
        rows = await self._transaction.all("fills_of_order", order.book_id, order.ordinal)
        return [
            OrderFill(
                row["order_id"],
                row["venue"],
                Fill(row["execution_id"], row["quantity_e8"], row["price_e6"], row["at_us"]),
            )
            for row in rows
        ]

    async def cover_part(self, order: Order, child: int, execution: Execution, part: Part) -> None:
        """Record what the desk covered under the id of a child, and what is left. It waits for the desk."""
        name = (order.book_id, order.ordinal, child)
        about = (execution.order_id, execution.execution_id, part.filled_e4, part.filled_fine_mg)
        await self._transaction.run("insert_part", *name, *about, execution.at_us)
        left = (part.left_e4, part.left_fine_mg)
        await self._transaction.run("put_rest", *name, *left, int(part.left_e4 > 0), 0)

    async def keep_rest_waiting(self, order: Order, words: str) -> None:
        await self._transaction.run("wait_for_rest", order.book_id, order.ordinal, NEVER_US, words)

    async def put_cover(self, order: Order, cover: Cover) -> None:
        """The newest, if an order is covered in parts."""
        await self._transaction.run(
            "put_cover", order.book_id, order.ordinal, cover.price_paise, cover.reference
        )

    async def covers(self, orders: Sequence[Order]) -> dict[str, Cover]:
        """The covers that the desk noted for these orders, by the id of the order."""
        ids = {(each.book_id, each.ordinal): each.id for each in orders}
        rows = await self._transaction.all("covers_of_orders", msgspec.json.encode(list(ids)).decode())
        return {
            ids[row["book_id"], row["ordinal"]]: Cover(row["price_paise"], row["reference"]) for row in rows
        }

    async def withdraw_hedge(self, order: Order, at_us: int) -> None:
        """Close a request without an answer. A request that has an answer does not change.

        If a part of the order was filled, the request becomes a break.
        """
        await self._transaction.run("withdraw_hedge", order.book_id, order.ordinal, at_us)
        await self._transaction.run("release_rest", order.book_id, order.ordinal)

    async def hedge_queue(self, broker: str, page: Page) -> tuple[list[OrderHedge], int]:
        """Requests that wait for the venue's answer, oldest first."""
        return await self._hedges("hedge_queue", "hedge_queue_count", broker, page)

    async def hedge_breaks(self, broker: str, page: Page) -> tuple[list[OrderHedge], int]:
        """Requests whose answer contradicts the state of the order, oldest first."""
        return await self._hedges("hedge_breaks", "hedge_breaks_count", broker, page)

    async def _hedges(self, query: str, count: str, broker: str, page: Page) -> tuple[list[OrderHedge], int]:
        found, total = await self._page(query, count, broker, page)
        return [OrderHedge(_hedge(row), account_order(row)) for row in found], total

    async def unmatched_executions(self, broker: str, page: Page) -> tuple[list[UnmatchedBreak], int]:
        """Unresolved executions that no order accounts for, oldest first."""
        found, total = await self._page(
            "unmatched_executions_page", "count_unmatched_executions", broker, page
        )
        return [_unmatched(row) for row in found], total

    async def unmatched_execution(self, broker: str, execution_id: str) -> UnmatchedBreak | None:
        """Resolved or not. If several venues have the id, an unresolved one is preferred."""
        row = await self._find("unmatched_execution", broker, execution_id)
        return None if row is None else _unmatched(row)

    async def resolve_unmatched(self, broker: str, found: UnmatchedBreak, actor: str, note: str) -> bool:
        """Mark it as resolved. False: it was resolved before."""
        name = (broker, found.unmatched.execution.execution_id, found.venue)
        row = await self._transaction.one("resolve_unmatched_execution", *name, actor, note)
        return row is not None

    async def exposure(self, broker: str) -> dict[Metal, Exposure]:
        """The exposure in production. A metal without positions and requests may be missing."""
        nets = {row["metal"]: row for row in await self._transaction.all("net_weights", broker)}
        gaps = {row["metal"]: row for row in await self._transaction.all("hedge_gaps", broker)}
        beyond = {row["metal"]: row for row in await self._transaction.all("unmatched_weights", broker)}
        found = {}
        for metal in Metal:
            net_e4 = hedged_e4 = nets[metal]["net_e4"] if metal in nets else 0
            waiting = breaks = 0
            if metal in gaps:
                hedged_e4 -= gaps[metal]["gap_e4"]
                waiting, breaks = gaps[metal]["waiting"], gaps[metal]["breaks"]
            if metal in beyond:
                hedged_e4 += beyond[metal]["excess_e4"]
                breaks += beyond[metal]["executions"]
            found[metal] = Exposure(net_e4, hedged_e4, waiting, breaks)
        return found

    async def resolve_break(self, order: Order, actor: str, note: str) -> bool:
        """Mark the break as resolved. False: there is no break."""
        row = await self._transaction.one("resolve_break", order.book_id, order.ordinal, actor, note)
        return row is not None

    async def venue_behaviour(self, broker: str) -> VenueBehaviour:
        row = await self._transaction.one("venue_behaviour", broker)
        return VenueBehaviour(broker) if row is None else readable(row_decoders.behaviour(row))

    async def put_venue_behaviour(self, behaviour: VenueBehaviour) -> None:
        instruments = msgspec.json.encode(behaviour.instruments, order="sorted").decode()
        await self._transaction.run(
            "put_venue",
            behaviour.broker,
            behaviour.mode.value,
            behaviour.delay_ms,
            instruments,
            behaviour.fill_percent,
            int(behaviour.unasked),
        )

    async def execute(self, broker: str, wanted: Execution) -> Execution:
        """Record the desk's answer in the venue's book, unless it has one. Returns the recorded answer."""
        await self._transaction.run(
            "execute_by_hand",
            wanted.order_id,
            broker,
            wanted.instrument,
            wanted.trade_type,
            wanted.quantity_e4,
            wanted.at_us,
            wanted.outcome,
            wanted.execution_id,
        )
        return _execution(await one_row(self._transaction, "one_venue_order", wanted.order_id))

    async def executions(self, broker: str, order_id: str | None, page: Page) -> tuple[list[Execution], int]:
        """The newest orders first."""
        if order_id is None:
            found, total = await self._page("executions_page", "count_executions", broker, page)
            return [_execution(row) for row in found], total
        row = await self._find("one_venue_order", order_id)
        if row is None or row["broker"] != broker or row["outcome"] is None:
            return [], 0
        return [_execution(row)][page.offset :], 1


def _hedge(row: Row) -> Hedge:
    return Hedge(
        instrument=row["instrument"],
        venue=row["venue"],
        state=row["state"],
        tries=row["tries"],
        words=row["words"],
        due_at_us=row["due_at_us"],
        outcome=row["outcome"],
        execution_id=row["execution_id"],
        answered_at_us=row["answered_at_us"],
        resolved_by=row["resolved_by"],
        resolution=row["resolution"],
        rest=None if not row["rest_e4"] else Rest(row["rest_child"], row["rest_e4"], row["rest_fine_mg"]),
        partly_covered=bool(row["rest_stopped"]),
        fine_mg_taken=row["rest_fine_mg_taken"] or 0,
        fineness_e4=row["fineness_e4"],
    )


def _unmatched(row: Row) -> UnmatchedBreak:
    execution = ListedExecution(
        execution_id=row["execution_id"],
        order_id=row["order_id"],
        instrument=row["instrument"],
        trade_type=row["trade_type"],
        quantity_e4=row["quantity_e4"],
        executed_at_us=row["executed_at_us"],
        cursor="",
    )
    metal = None if row["metal"] is None else Metal(row["metal"])
    return UnmatchedBreak(
        UnmatchedExecution(execution, Mismatch(row["reason"]), metal, row["excess_e4"]),
        venue=row["venue"],
        seen_at_us=row["seen_at_us"],
        resolved_by=row["resolved_by"],
        resolution=row["resolution"],
    )


def _execution(row: Row) -> Execution:
    return Execution(
        order_id=row["order_id"],
        instrument=row["instrument"],
        trade_type=row["trade_type"],
        quantity_e4=row["quantity_e4"] if row["filled_e4"] is None else row["filled_e4"],
        outcome=row["outcome"],
        execution_id=row["execution_id"],
        at_us=row["executed_at_us"],
    )
