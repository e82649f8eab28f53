"""What covering over FIX and taking quotes cost: `python -m bench.market_lines`.

The venue is a process of its own, on the loopback. The records of the line are in memory and answer at once,
so that no store is part of what is measured. The message log is off, and the loop is the service's. Times in
microseconds are CPU time of this process unless a row says otherwise.
"""

import argparse
import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
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

from .bare_line import BareLine, bare_line, bare_venue
from .cover_parts import PARTS, REST, CoverParts
from .extent import FULL, Extent
from .faults import CallFailed
from .market_results import MarketFindings, replace_market
from .quickfix_deals import AVAILABLE, QuickFixDeals, quickfix_deals
from .ratio import RatioResult, Target, at_least, at_most
from .spread import Spread
from .table import aligned, ratio_rows

_PROFILE = msgspec.structs.replace(
    RESETTING,
    rate=Rate(count=0),
    order_type=OrderType.MARKET,
    time_in_force=TimeInForce.IOC,
    report_ms=10_000,
)
_REPORTS_EACH = 2
"""The venue says that it took an order, and that it filled it."""
_WARM_UP = 100
_UNSETTLED, _FEW = 500, 20
_QUESTIONS_PER_S = 100
_QUOTES_PER_S = 1_000
_STEPS_PER_S = 4
_AT_ONCE = 64
_SLICE = 10
COMPARED_WITH: dict[str, tuple[Target | None, str]] = {
    "quickfix": (at_most(1.5), "the same deal by QuickFIX from Python, which knows nothing of orders"),
    "bare": (None, "as many bytes there and back to a process that does nothing with them"),
}
_PATIENCE_S = 30.0
_ids = count(1)
T = TypeVar("T")


def measure_market_lines(extent: Extent, say: Callable[[str], None]) -> MarketFindings:
    say("covering over FIX, and quotes")
    rounds = max(1, min(extent.rounds, 3))
    orders = max(40, int(500 * extent.seconds))
    try:
        covers = [_measure_covers(orders) for _ in range(rounds)]
        back_s = _run(_line_back(_UNSETTLED if extent.growth_orders else _FEW))
    except (AssertionError, OSError, TimeoutError) as error:
        raise CallFailed(f"Covering over FIX: {error!r}.") from error
    shares = [_quotes_share(max(500, 10 * orders)) for _ in range(rounds)]
    quotes = f"{_QUOTES_PER_S:,} quotes a second from two sources, through guard and choice"
    back = f"{_UNSETTLED} open orders are known after a cut, at {_QUESTIONS_PER_S} questions a second"
    taken = f"reports that a core takes in a second, with their orders, {_AT_ONCE} covers at once"
    busy_s = [each.busy_cpu_us / 1e6 for each in covers]
    rows = [
        *_compared("quickfix", [(each.own, each.quickfix) for each in covers if each.quickfix is not None]),
        *_compared("bare", [(each.own, each.bare) for each in covers]),
        _found("cover_cpu_us", [each.own.cpu_us for each in covers], at_most(120), "CPU µs of one cover"),
        _found("cover_p50_ms", [each.own.p50_us / 1000 for each in covers], at_most(0.5), "p50 of it, ms"),
        _found("cover_p99_ms", [each.own.p99_us / 1000 for each in covers], at_most(3.0), "p99 of it, ms"),
        _found("reports_per_s", [_REPORTS_EACH / each for each in busy_s], at_least(2_000), taken),
        _found("quotes_core_share", shares, at_most(0.10), f"part of a core: {quotes}"),
        _found("line_back_s", [back_s], at_most(5.0), f"seconds until {back}"),
    ]
    return MarketFindings(rows, _parts_us(covers))


def _compared(name: str, pairs: "Sequence[tuple[_Deals, _Deals]]") -> Iterator[RatioResult]:
    if not pairs:
        return
    target, what = COMPARED_WITH[name]
    cpu = [own.cpu_us / other.cpu_us for own, other in pairs]
    p50 = [own.p50_us / other.p50_us for own, other in pairs]
    yield _found(f"cover_cpu_vs_{name}", cpu, target, f"CPU of a cover ÷ that of {what}")
    yield _found(f"cover_p50_vs_{name}", p50, target, f"p50 of a cover ÷ that of {what}")


def _found(name: str, rounds: Sequence[float], target: Target | None, divides: str) -> RatioResult:
    return RatioResult(name, Spread.of(rounds), divides, target)


def _parts_us(covers: "Sequence[_Covers]") -> dict[str, float]:
    """Medians of the rounds. What none of the timed parts took is the rest."""
    found = {part: median(each.parts_us[part] for each in covers) for part in PARTS}
    whole = median(each.own.cpu_us for each in covers)
    return found | {REST: max(0.0, whole - sum(found.values()))}


class _Deals(msgspec.Struct):
    """Some at a time, in turn with those that they are compared with: all have the same machine."""

    cpu: list[float] = []
    took_us: list[float] = []

    def add(self, cpu_us: float, took_us: Sequence[float]) -> None:
        self.cpu.append(cpu_us)
        self.took_us += took_us

    @property
    def cpu_us(self) -> float:
        """When the rest of the machine disturbed it least."""
        return min(self.cpu)

    @property
    def p50_us(self) -> float:
        return median(self.took_us)

    @property
    def p99_us(self) -> float:
        return quantiles(self.took_us, n=100)[98]


class _Covers(msgspec.Struct):
    own: _Deals
    bare: _Deals
    quickfix: _Deals | None
    busy_cpu_us: float = 0
    parts_us: dict[str, float] = {}


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


async def _cover(venue: FixVenue, request: HedgeRequest) -> None:
    answer = await venue.submit(request)
    assert isinstance(answer, Confirmed), answer


async def _timed(works: Iterable[Awaitable[None]]) -> tuple[float, list[float]]:
    """One after the other. CPU microseconds of each on average, and how long each took."""
    took_us = []
    began_cpu_ns = time.process_time_ns()
    for each in works:
        began_ns = time.perf_counter_ns()
        await each
        took_us.append((time.perf_counter_ns() - began_ns) / 1000)
    return (time.process_time_ns() - began_cpu_ns) / 1000 / len(took_us), took_us


def _measure_covers(orders: int) -> _Covers:
    with contextlib.ExitStack() as stack:
        acceptor, bare_port = stack.enter_context(_venue_process()), stack.enter_context(bare_venue())
        rival = None
        if AVAILABLE:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bullion-bench-")))
            rival = stack.enter_context(quickfix_deals(stack.enter_context(_venue_process()).port, folder))
        return _run(_covers(acceptor.port, bare_port, rival, orders))


async def _covers(port: int, bare_port: int, rival: QuickFixDeals | None, orders: int) -> _Covers:
    async with _line(port, _Records()) as venue, bare_line(bare_port) as bare:
        await _until(lambda: venue.line.state is LineState.UP)
        found = _Covers(_Deals(), _Deals(), None if rival is None else _Deals())
        await _compare(
            _Covers(_Deals(), _Deals(), found.quickfix and _Deals()),
            venue,
            bare,
            rival,
            min(_WARM_UP, orders),
        )
        for _ in range(orders // _SLICE):
            await _compare(found, venue, bare, rival, _SLICE)
        found.busy_cpu_us = await _busy_cpu_us(venue, orders)
        found.parts_us = await _timed_parts(venue, orders)
    return found


async def _compare(
    found: _Covers, venue: FixVenue, bare: BareLine, rival: QuickFixDeals | None, size: int
) -> None:
    requests = _requests(size)
    found.own.add(*await _timed(_cover(venue, each) for each in requests))
    found.bare.add(*await _timed(bare.deal() for _ in range(size)))
    if rival is not None and found.quickfix is not None:
        found.quickfix.add(*rival.deal(size))


async def _busy_cpu_us(venue: FixVenue, orders: int) -> float:
    left = iter(_requests(orders))

    async def some() -> None:
        for each in left:
            await _cover(venue, each)

    began_ns = time.process_time_ns()
    await asyncio.gather(*(some() for _ in range(_AT_ONCE)))
    return (time.process_time_ns() - began_ns) / 1000 / orders


async def _timed_parts(venue: FixVenue, orders: int) -> dict[str, float]:
    parts = CoverParts()
    with parts.timed():
        for each in _requests(orders):
            await _cover(venue, each)
            parts.end_cover()
    return parts.us()


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
    parser = argparse.ArgumentParser(prog="bench.market_lines", description=__doc__)
    parser.add_argument("--results", type=Path, help="write the market's part of this file anew")
    given = parser.parse_args()
    found = measure_market_lines(FULL, print)
    for row in aligned(ratio_rows(found.ratios)):
        print(row)
    for part, us in found.parts_us.items():
        print(f"{us:8.0f} µs  {part}")
    if given.results is not None:
        replace_market(given.results, found)


if __name__ == "__main__":
    main()
