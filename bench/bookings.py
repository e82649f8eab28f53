"""The way into the book by itself: `python -m bench.bookings <store>`, seconds in and outcomes out.

Orders are judged, decided and recorded as the service does it, without HTTP, keys, budgets and traces, and
without a load generator beside it. Whatever else a service does, it takes no more orders than this.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import getrandbits
from time import perf_counter_ns

import msgspec
import structlog
import uvloop

from bullion.accounts.account import Account
from bullion.allocation.book import book_id
from bullion.booking.attempt import Booked, OrderAttempt
from bullion.booking.queue import BookingQueue
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.follower import CatalogueFollower
from bullion.environment import Environment
from bullion.metals.symbol import Side
from bullion.orders.market import Market
from bullion.orders.request import PlaceOrder
from bullion.orders.verdict import Verdict
from bullion.rates.board import Board
from bullion.serve import SWITCH_INTERVAL_S
from bullion.settings import Settings
from bullion.store.catalogue_source import StoreSource
from bullion.store.records import Records, RecordStore
from bullion.wiring import trading
from bullion.wiring.store import open_store
from tests.booking.fixtures import GOLD, GROUP
from tests.support.node import SECRET

from .cpu import cpu_time
from .load import Outcome

BOOKS = 32
AT_ONCE = 64
_CHECKOUT = Path(__file__).resolve().parent.parent
_STOP_S = 30


@dataclass(frozen=True, slots=True)
class Bookings:
    """In a process of its own, over a store that was made with `BOOKS` accounts."""

    _process: subprocess.Popen[bytes]

    def measure(self, seconds: float) -> Outcome:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(b"%f\n" % seconds)
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("The bookings ended before they were counted.")
        return msgspec.json.decode(line, type=Outcome)


@contextlib.contextmanager
def running_bookings(url: str) -> Iterator[Bookings]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.bookings", url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=_CHECKOUT,
    )
    with process:
        try:
            yield Bookings(process)
        finally:
            process.terminate()
            process.wait(_STOP_S)


@dataclass(frozen=True, slots=True)
class _MarketCheck:
    market: Market
    account: Account

    def check(self, attempt: OrderAttempt) -> Verdict:
        return self.market.check(self.account, attempt.asked)


class _Clerk:
    def __init__(self, queue: BookingQueue, market: Market, catalogue: Catalogue) -> None:
        self._queue = queue
        self._market = market
        self._accounts = list(catalogue.accounts.values())
        self._took_ns: list[int] = []
        self._until_ns = 0

    async def measure(self, seconds: float) -> Outcome:
        self._took_ns = []
        own, started_ns = cpu_time([os.getpid()]), perf_counter_ns()
        self._until_ns = started_ns + int(seconds * 1e9)
        await asyncio.gather(*map(self._place_on, range(AT_ONCE)))
        wall_s, own_now = (perf_counter_ns() - started_ns) / 1e9, cpu_time([os.getpid()])
        used = own_now.since(own) if own is not None and own_now is not None else None
        return Outcome.of(self._took_ns, wall_s, server=used)

    async def _place_on(self, number: int) -> None:
        account = self._accounts[number % len(self._accounts)]
        book, side = book_id(account.id, Environment.TEST), Side.BUY if number % 2 else Side.SELL
        asked = PlaceOrder("GOLD", side.value, 10_000, None, "ref-0001")
        check = _MarketCheck(self._market, account)
        while (began_ns := perf_counter_ns()) < self._until_ns:
            key, request = f"{getrandbits(144):036x}", f"{getrandbits(96):024x}"
            attempt = OrderAttempt(book, account.broker, "api", key, asked, "k" * 16, request)
            outcome = await self._queue.place(attempt, check)
            if not isinstance(outcome, Booked):
                raise RuntimeError(f"an order was refused: {outcome}")
            self._took_ns.append(perf_counter_ns() - began_ns)


@contextlib.asynccontextmanager
async def _clerk(url: str) -> AsyncIterator[_Clerk]:
    async with open_store(Settings(database_url=url, secret=SECRET), migrate=False) as store:
        await RecordStore(store.engine).write("market", _open_market)
        catalogue, board = Catalogue(), Board()
        catalogue_follower = CatalogueFollower(catalogue, StoreSource(store.engine))
        await catalogue_follower.catch_up()
        board.apply([], 1)
        slots, batch_max = trading.TWO_BATCHES
        ledger = trading.ledger_of(store.engine, "bench", "simulated")
        queue = BookingQueue(ledger, catalogue, catalogue_follower, slots=slots, batch_max=batch_max)
        yield _Clerk(queue, Market(catalogue, board), catalogue)


async def _open_market(records: Records) -> None:
    await records.put_symbol(GOLD)
    await records.put_group(GROUP)


async def _serve(url: str) -> None:
    async with _clerk(url) as clerk:
        # Not in this thread: what was begun behind the bookings goes on meanwhile.
        while line := await asyncio.to_thread(sys.stdin.buffer.readline):
            outcome = await clerk.measure(float(line))
            sys.stdout.buffer.write(msgspec.json.encode(outcome) + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    # What it has to say besides goes where people read it: outcomes alone are read on standard output.
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    sys.setswitchinterval(SWITCH_INTERVAL_S)  # As the service has it.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(sys.argv[1]))
