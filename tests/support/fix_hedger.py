"""A process that covers orders over a FIX line as booking does, and may be killed at any moment.

It appends to its journal: `placed <id>` before an order is sent, `answered <id> <kind> <quantity>` after.
Started again, it asks for what it placed, and goes on.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path

import msgspec

from bullion.hedge.fix import reconnect_pause
from bullion.hedge.fix.lease import LineHolder, LineLease
from bullion.hedge.fix.pace import Rate
from bullion.hedge.fix.profile import RESETTING, OrderType, TimeInForce
from bullion.hedge.fix.venue import FixVenue
from bullion.hedge.venue import (
    Confirmed,
    Declined,
    HedgeRequest,
    PartiallyFilled,
    UnknownOrder,
    Venue,
    VenueUnreachable,
)
from bullion.market_demo.session_acceptor import clock_us
from bullion.store.fix_lines import StoredLines
from bullion.store.line_records import StoredLineRecords
from bullion.store.sqlite import SqliteEngine
from tests.support.fix_venue import contracts, line_of

PROFILE = msgspec.structs.replace(
    RESETTING,
    rate=Rate(count=500),
    order_type=OrderType.MARKET,
    time_in_force=TimeInForce.IOC,
    unknown_after_s=2.5,
    rate_logout_s=1,
)
CALL_S = 3.0
Row = tuple[str, str, int]
"""The id of an order, its side and its weight in grams."""
AT_ONCE = 24


class Journal:
    def __init__(self, path: Path) -> None:
        lines = path.read_text("ascii").splitlines() if path.exists() else []
        self.placed = {line.split()[1] for line in lines if line.startswith("placed ")}
        self.answered = {line.split()[1] for line in lines if line.startswith("answered ")}
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def place(self, order_id: str) -> None:
        os.write(self._file, f"placed {order_id}\n".encode())

    def answer(self, order_id: str, answer: Confirmed | Declined | PartiallyFilled) -> None:
        filled_e8 = sum(each.quantity_e8 for each in getattr(answer, "fills", ()))
        os.write(self._file, f"answered {order_id} {type(answer).__name__} {filled_e8}\n".encode())


async def call(work: Awaitable[object]) -> object:
    with suppress(VenueUnreachable, TimeoutError):
        async with asyncio.timeout(CALL_S):
            return await work
    return None


async def hedge(venue: Venue, journal: Journal, request: HedgeRequest) -> None:
    answer: object = None
    if request.order_id not in journal.placed:
        journal.place(request.order_id)
        answer = await call(venue.submit(request))
    while not isinstance(answer, Confirmed | Declined | PartiallyFilled):
        await asyncio.sleep(0.2)
        answer = await call(venue.order_status(request))
        if isinstance(answer, UnknownOrder):
            answer = await call(venue.submit(request))
    journal.answer(request.order_id, answer)


async def run(
    store: Path, port: int, rows: list[tuple[str, str, int]], journal: Journal, gap_s: float
) -> None:
    engine = SqliteEngine(store)
    await engine.open()
    lease = LineLease(StoredLines(engine), "spot", LineHolder("hedger", "", ""))
    records = StoredLineRecords(engine, "spot", contracts)
    venue = FixVenue(line_of(port, PROFILE), records, contracts, clock_us, holder=lease)
    background = [asyncio.ensure_future(each) for each in (lease.run(), venue.run())]
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(request: HedgeRequest) -> None:
        async with turns:
            await hedge(venue, journal, request)

    tasks = []
    for order_id, side, grams in rows:
        if order_id not in journal.answered:
            request = HedgeRequest(order_id, "main", "GOLD", side, grams * 10_000, 1, "gold", grams * 1_000)
            tasks.append(asyncio.ensure_future(one(request)))
            await asyncio.sleep(gap_s)
    await asyncio.gather(*tasks)
    for task in background:
        task.cancel()
    await asyncio.gather(*background, return_exceptions=True)
    await engine.close()


if __name__ == "__main__":
    reconnect_pause._PAUSE_S = 0.05
    _, store, port, plan, journal_file, gap_s = sys.argv
    rows = msgspec.json.decode(Path(plan).read_bytes(), type=list[Row])
    asyncio.run(run(Path(store), int(port), rows, Journal(Path(journal_file)), float(gap_s)))
