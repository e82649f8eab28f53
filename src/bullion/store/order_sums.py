"""Sums the order counts of a book's full blocks.

Bookings do not wait for it: where a block is not summed yet, readers count its orders one by one. If a node
dies before it has summed a block, the next node that fills a block of the book does it.
"""

import asyncio
from collections.abc import Iterable
from contextvars import Context

import structlog

from bullion.booking.decide import Plan
from bullion.faults import StoreFault

from . import order_rows, prepared_queries
from .engine import Engine, Row, Transaction, one_row

_log = structlog.get_logger("store")


def books_with_full_block(plans: Iterable[Plan]) -> list[int]:
    """The books in which these plans fill a small block."""
    return [
        plan.before.id
        for plan in plans
        if _full_blocks(plan.before.order_count) < _full_blocks(plan.after.order_count)
    ]


def unsummed_range(book: Row) -> tuple[int, int] | None:
    """The first and last ordinal of the full blocks of a locked book that are not summed yet."""
    low, end = book["unsummed_from"], _full_blocks(book["order_count"]) * order_rows.BLOCK_SIZES[0]
    return (low, end - 1) if low < end else None


class BlockSums:
    """Sums in the background, one book after the other, on at most one connection."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._due: set[int] = set()
        self._task: asyncio.Task[None] | None = None

    def add(self, book_ids: Iterable[int]) -> None:
        self._due.update(book_ids)
        if self._due and self._task is None:
            # Not in the context of the batch that is the first to need it: it also sums for later ones.
            self._task = asyncio.create_task(self._sum_up(), context=Context())

    async def done(self) -> None:
        """Wait until nothing is left to sum."""
        while self._task is not None:
            await asyncio.wait([self._task])

    async def _sum_up(self) -> None:
        try:
            while self._due:
                await self._sum(self._due.pop())
        finally:
            self._task = None

    async def _sum(self, book_id: int) -> None:
        try:
            await self._engine.write(
                "sum_blocks", lambda open_: sum_blocks(open_, book_id), holding=prepared_queries.SUM
            )
        except StoreFault as fault:
            _log.warning("blocks_not_summed", book_id=book_id, fault=repr(fault))


async def sum_blocks(transaction: Transaction, book_id: int) -> None:
    """Sums in a second statement after the lock: its snapshot includes what the previous holder committed."""
    ordinals = unsummed_range(await one_row(transaction, "lock_book", book_id))
    if ordinals is not None:
        low, high = ordinals
        await transaction.run("sum_blocks", book_id, low, high)
        await transaction.run("set_unsummed_from", book_id, high + 1)


def _full_blocks(order_count: int) -> int:
    """Ordinals begin with 1, so the first block has one order less."""
    return (order_count + 1) // order_rows.BLOCK_SIZES[0]
