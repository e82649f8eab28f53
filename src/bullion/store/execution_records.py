"""Stores the progress and results of the reconciliation. See `bullion.booking.reconciliation`."""

from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec

from bullion.booking.breaks import UnmatchedExecution
from bullion.booking.cover_fills import cover_weight_beyond, has_execution
from bullion.booking.partial_fills import TOLERANCE_E4
from bullion.booking.reconciliation import HedgedCover, HedgedOrder
from bullion.hedge.simulated import CONFIRMED
from bullion.hedge.venue import ListedExecution, given_again

from . import prepared_queries
from .cover_records import cover_of
from .engine import Engine, Transaction
from .sent_orders import find_sent

_encode = msgspec.json.Encoder().encode


class StoredExecutionRecords:
    def __init__(self, engine: Engine, venue: str, now_us: Callable[[], int]) -> None:
        self._engine = engine
        self._venue = venue
        self._now_us = now_us

    @property
    def failovers(self) -> int:
        return self._engine.failovers

    async def cursor(self, broker: str) -> str:
        row = await self._engine.read(
            "execution_cursor", lambda open_: open_.one("execution_cursor", self._venue, broker)
        )
        return "" if row is None else str(row["position"])

    async def move_cursor(self, broker: str, before: str, after: str) -> bool:
        values = (self._venue, broker, before, after)
        row = await self._engine.write(
            "move_execution_cursor", lambda open_: open_.one("move_execution_cursor", *values)
        )
        return row is not None

    async def unaccounted(
        self, broker: str, executions: Sequence[ListedExecution]
    ) -> Sequence[ListedExecution]:
        listed = _encode(
            [(each.order_id, each.execution_id, each.trade_type, each.quantity_e4) for each in executions]
        ).decode()
        rows = await self._engine.read(
            "accounted_executions",
            lambda open_: open_.all("accounted_executions", listed, broker),
            custom_plans=True,
        )
        accounted = {(row["order_id"], row["execution_id"]) for row in rows}
        if len(accounted) < len(executions):
            rows = await self._engine.read(
                "accounted_parts",
                lambda open_: open_.all("accounted_parts", listed, broker, TOLERANCE_E4),
                custom_plans=True,
            )
            accounted |= {(row["order_id"], row["execution_id"]) for row in rows}
        left = [each for each in executions if (each.order_id, each.execution_id) not in accounted]
        if left:
            covers = await self._covers(broker, {each.order_id for each in left})
            accounted |= {
                (each.order_id, each.execution_id)
                for each in left
                if _accounts(covers.get(each.order_id), each)
            }
        return [each for each in executions if (each.order_id, each.execution_id) not in accounted]

    async def hedged_order(self, broker: str, sent_id: str) -> HedgedOrder | None:
        async def body(transaction: Transaction) -> HedgedOrder | None:
            found = await find_sent(transaction, sent_id)
            if found is None or found[0].broker != broker:
                return None
            to_hedge, row = found
            part = await transaction.one("one_part", row["book_id"], row["ordinal"], to_hedge.child)
            if part is not None:
                return HedgedOrder(to_hedge, part["execution_id"], part["quantity_e4"])
            confirmed = row["hedge_outcome"] == CONFIRMED
            return HedgedOrder(
                to_hedge, row["hedge_execution_id"] if confirmed else None, to_hedge.request().quantity_e4
            )

        return await self._engine.read("hedged_order", body, custom_plans=True)

    async def hedged_cover(self, broker: str, cover_id: str) -> HedgedCover | None:
        return (await self._covers(broker, {cover_id})).get(cover_id)

    async def _covers(self, broker: str, ids: Collection[str]) -> Mapping[str, HedgedCover]:
        wanted = _encode(sorted(ids)).decode()
        rows = await self._engine.read(
            "covers_with_fills", lambda open_: open_.all("covers_with_fills", wanted), custom_plans=True
        )
        return {
            row["id"]: HedgedCover(cover_of(row), row["filled_e8"]) for row in rows if row["broker"] == broker
        }

    async def add_unmatched(self, broker: str, unmatched: UnmatchedExecution) -> None:
        async def body(transaction: Transaction) -> None:
            await insert_unmatched(transaction, broker, self._venue, unmatched, self._now_us())

        await self._engine.write("insert_unmatched_execution", body, holding=prepared_queries.ANSWER)


def _accounts(found: HedgedCover | None, execution: ListedExecution) -> bool:
    if found is None or not has_execution(found.cover, execution.execution_id):
        return False
    if found.cover.settled_by is not None:
        return False  # What a dealer recorded is compared with the venue's own fills.
    return not cover_weight_beyond(found.cover, found.filled_e8, execution)


async def insert_unmatched(
    transaction: Transaction, broker: str, venue: str, unmatched: UnmatchedExecution, seen_at_us: int
) -> None:
    execution, metal = unmatched.execution, unmatched.metal
    execution_id = execution.execution_id
    known = await transaction.one("unmatched_at_venue", broker, execution_id, venue)
    if known is not None and known["order_id"] != execution.order_id:
        execution_id = given_again(execution_id, execution.order_id)
    await transaction.run(
        "insert_unmatched_execution",
        broker,
        venue,
        execution_id,
        unmatched.reason.value,
        execution.order_id,
        None if metal is None else metal.value,
        execution.instrument,
        execution.trade_type,
        execution.quantity_e4,
        unmatched.excess_e4,
        execution.executed_at_us,
        seen_at_us,
    )
