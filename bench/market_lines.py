"""What covering over FIX and taking quotes cost: `python -m bench.market_lines`.

The venue is a process of its own, on the loopback. The records of the line are in memory and answer at once,
so that no store is part of what is measured. The message log is off, and the loop is the service's. Times in
microseconds are CPU time of this process unless a row says otherwise.
"""

import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from statistics import median, quantiles
from typing import Any, TypeVar
from uuid import UUID

import msgspec
import uvloop

from bullion.hedge.fix.order_effects import LineOrder, OrderFinal
from bullion.hedge.fix.pace import Rate
from bullion.hedge.fix.profile import RESETTING, OrderType, TimeInForce
from bullion.hedge.fix.records import Learned, StoredOrder
from bullion.hedge.fix.session_effects import LineState
from bullion.hedge.fix.venue import FixVenue
from bullion.hedge.venue import Confirmed, HedgeRequest
from bullion.market_demo.session_acceptor import clock_us
from bullion.rates.feeds.live_feed import LiveFeed
from tests.rates.feeds.feed_settings import T0, feed_settings, quote, source
from tests.support.fix_node import Acceptor
from tests.support.fix_venue import contracts, line_of
from tests.support.line_memory import MemoryRecords

from .extent import FULL, Extent
from .faults import CallFailed
from .ratio import RatioResult, Target, at_least, at_most
from .spread import Spread

_PROFILE = msgspec.structs.replace(
    RESETTING,
    rate=Rate(count=0),
    order_type=OrderType.MARKET,
    time_in_force=TimeInForce.IOC,
    report_ms=10_000,
)
_REPORTS_EACH = 2
"""The venue says that it took an order, and that it filled it."""
_WARM_UP = 200
_UNSETTLED, _FEW = 500, 20
_QUESTIONS_PER_S = 100
_QUOTES_PER_S = 1_000
_STEPS_PER_S = 4
_AT_ONCE = 64
_ORDER_BYTES = 174
_PATIENCE_S = 30.0
_ids = count(1)
T = TypeVar("T")


def measure_market_lines(extent: Extent, say: Callable[[str], None]) -> list[RatioResult]:
    say("covering over FIX, and quotes")
    rounds = max(1, min(extent.rounds, 3))
    orders = max(20, int(500 * extent.seconds))
    try:
        covers = [_run(_covers(orders)) for _ in range(rounds)]
        back_s = _run(_line_back(_UNSETTLED if extent.growth_orders else _FEW))
    except (AssertionError, OSError, TimeoutError) as error:
        raise CallFailed(f"Covering over FIX: {error!r}.") from error
    shares = [_quotes_share(max(500, 10 * orders)) for _ in range(rounds)]
    quotes = f"{_QUOTES_PER_S:,} quotes a second from two sources, through guard and choice"
    back = f"{_UNSETTLED} open orders are known after a cut, at {_QUESTIONS_PER_S} questions a second"
    echo = "as many bytes to an echo on the loopback and back"
    busy_s = [each.busy_cpu_us / 1e6 for each in covers]
    return [
        _found("cover_cpu_us", [each.cpu_us for each in covers], at_most(120), "CPU µs of one cover"),
        _found("cover_p50_ms", [each.p50_us / 1000 for each in covers], at_most(0.5), "p50 of a cover, ms"),
        _found("cover_p99_ms", [each.p99_us / 1000 for each in covers], at_most(3.0), "p99 of a cover, ms"),
        _found("cover_p50_vs_echo", [each.p50_us / each.echo_us for each in covers], None, f"p50 ÷ {echo}"),
        _found(
            "reports_per_s",
            [_REPORTS_EACH / each for each in busy_s],
            at_least(2_000),
            f"reports that a core takes in a second, with their orders, {_AT_ONCE} covers at once",
        ),
        _found("quotes_core_share", shares, at_most(0.10), f"part of a core: {quotes}"),
        _found("line_back_s", [back_s], at_most(5.0), f"seconds until {back}"),
    ]


def _found(name: str, rounds: Sequence[float], target: Target | None, divides: str) -> RatioResult:
    return RatioResult(name, Spread.of(rounds), divides, target)


class _Covers(msgspec.Struct, frozen=True):
    cpu_us: float
    busy_cpu_us: float
    p50_us: float
    p99_us: float
    echo_us: float


def _run(work: Coroutine[Any, Any, T]) -> T:
    """As the service does."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


class _Records(MemoryRecords):
    """The store is measured elsewhere: nothing waits here, and only what tells the outcome is kept."""

    WRITE_S = READ_S = 0.0

    async def claim(self, order: LineOrder, at_us: int) -> LineOrder:  # noqa: ARG002
        self.orders[order.order_id] = StoredOrder(order)
        return order

    async def learn(self, learned: Sequence[Learned], at_us: int) -> None:  # noqa: ARG002
        for each in learned:
            if isinstance(each, OrderFinal):
                self.orders[each.order.order_id] = StoredOrder(each.order, answer=each.answer)


@contextlib.contextmanager
def _venue_process() -> Iterator[Acceptor]:
    with tempfile.TemporaryDirectory(prefix="bullion-bench-") as folder, Acceptor(Path(folder)) as acceptor:
        yield acceptor.start("--sender", "THEM", "--target", "US")


@contextlib.asynccontextmanager
async def _line(port: int, records: MemoryRecords, rate: Rate | None = None) -> AsyncIterator[FixVenue]:
    """A line that begins to connect."""
    profile = _PROFILE if rate is None else msgspec.structs.replace(_PROFILE, rate=rate)
    venue = FixVenue(line_of(port, profile), records, contracts, clock_us)
    running = asyncio.ensure_future(venue.run())
    try:
        yield venue
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(_PATIENCE_S):
        while not holds():  # noqa: ASYNC110 - a bench may look at what it measures
            await asyncio.sleep(0.005)


def _requests(number: int) -> list[HedgeRequest]:
    return [_request(each) for each in islice(_ids, number)]


def _request(number: int) -> HedgeRequest:
    side = "buy" if number % 2 else "sell"
    return HedgeRequest(str(UUID(int=number)), "main", "GOLD", side, 10_000, 7_000_000, "gold", 1_000)


async def _cover(venue: FixVenue, request: HedgeRequest) -> float:
    """Microseconds until it is confirmed."""
    began_ns = time.perf_counter_ns()
    answer = await venue.submit(request)
    assert isinstance(answer, Confirmed), answer
    return (time.perf_counter_ns() - began_ns) / 1000


async def _covers(orders: int) -> _Covers:
    with _venue_process() as acceptor:
        async with _line(acceptor.port, _Records()) as venue:
            await _until(lambda: venue.line.state is LineState.UP)
            for each in _requests(min(_WARM_UP, orders)):
                await _cover(venue, each)
            requests = _requests(orders)
            began_ns = time.process_time_ns()
            took_us = [await _cover(venue, each) for each in requests]
            cpu_us = (time.process_time_ns() - began_ns) / 1000 / orders
            left = iter(_requests(orders))

            async def some() -> None:
                for each in left:
                    await _cover(venue, each)

            began_ns = time.process_time_ns()
            await asyncio.gather(*(some() for _ in range(_AT_ONCE)))
            busy_cpu_us = (time.process_time_ns() - began_ns) / 1000 / orders
    hundredths = quantiles(took_us, n=100)
    return _Covers(cpu_us, busy_cpu_us, hundredths[49], hundredths[98], await _echo_p50_us(orders))


async def _echo_p50_us(times: int) -> float:
    """Of as many bytes as an order has, to a bare server and back. Both are in this process."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                writer.write(await reader.readexactly(_ORDER_BYTES))
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        took_us = []
        for _ in range(times):
            began_ns = time.perf_counter_ns()
            writer.write(bytes(_ORDER_BYTES))
            await reader.readexactly(_ORDER_BYTES)
            took_us.append((time.perf_counter_ns() - began_ns) / 1000)
        writer.close()
        await writer.wait_closed()
    return median(took_us)


async def _line_back(orders: int) -> float:
    """Seconds until the outcomes of so many orders are known, after they were lost with their line."""
    with _venue_process() as acceptor:
        before, after = _Records(), _Records()
        async with _line(acceptor.port, before) as venue:
            await _until(lambda: venue.line.state is LineState.UP)
            await asyncio.gather(*(_cover(venue, each) for each in _requests(orders)))
        after.orders = {name: StoredOrder(each.order) for name, each in before.orders.items()}
        began_ns = time.perf_counter_ns()
        async with _line(acceptor.port, after, Rate(count=_QUESTIONS_PER_S)):
            await _until(lambda: all(each.answer is not None for each in after.orders.values()))
        return (time.perf_counter_ns() - began_ns) / 1e9


def _quotes_share(quotes: int) -> float:
    """Quotes of one instrument from two sources in turn, at the pace of the target, in a clock of its own."""
    feed = LiveFeed(feed_settings(source("one"), source("two")))
    items = [
        quote(4_000 + number % 5, T0 + number * 1_000_000 // _QUOTES_PER_S, ("one", "two")[number % 2])
        for number in range(quotes)
    ]
    published = 0
    began_ns = time.process_time_ns()
    for number, item in enumerate(items):
        feed.take(item)
        if number % (_QUOTES_PER_S // _STEPS_PER_S) == 0:
            published += len(feed.step(item.received_us))
    cpu_s = (time.process_time_ns() - began_ns) / 1e9
    assert published > 0
    return cpu_s / (quotes / _QUOTES_PER_S)


def main() -> None:
    for found in measure_market_lines(FULL, print):
        verdict = {True: "met", False: "not met", None: ""}[found.met]
        target = "" if found.target is None else found.target.words
        print(f"{found.name:20}{found.spread.value:10.2f}  {target:12}{verdict:8}  {found.divides}")


if __name__ == "__main__":
    main()
