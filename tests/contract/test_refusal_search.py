"""Refusals among many rows of decisions: found in parts of bounded size, and counted once each."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

import msgspec
import pytest

from bullion.faults import StoreUnavailable
from bullion.orders.trace import Trace
from bullion.records.refusals import CountedRefusals, RefusalFilter, TracePlace
from bullion.store import refusal_counts, trace_search
from bullion.store import traces as traces_module
from bullion.store.engine import Engine, Row, Transaction
from bullion.store.refusal_counts import RefusalCounts
from bullion.store.traces import StoredTraces
from tests.booking.fixtures import asked

from .test_stored_traces import request_id, trace

pytestmark = pytest.mark.anyio

CODES = frozenset(["stale_rate", "limit_exceeded"])
DAY_US = 86_400_000_000
NOW_US = 2_000 * 60_000_000 + DAY_US


def decision(number: int, **fields: Any) -> Trace:
    outcome = ("filled", "stale_rate", "filled", "filled", "limit_exceeded", "filled")[number % 6]
    made = trace(number, outcome=outcome, asked=asked("buy", 5), **fields)
    return msgspec.structs.replace(made, at_us=NOW_US - DAY_US // 2 + number)


async def write(engine: Engine, monkeypatch: pytest.MonkeyPatch, numbers: range, rows_of: int = 7) -> None:
    monkeypatch.setattr(traces_module, "_ROW_MAX", rows_of)
    traces = StoredTraces(engine)
    for number in numbers:
        traces.add(decision(number))
        traces.add(decision(number, broker="other"))
    await traces.write()


async def page(
    engine: Engine, before: TracePlace | None, limit: int, **fields: Any
) -> tuple[list[str], TracePlace | None]:
    wanted = RefusalFilter(**{"codes": CODES, **fields})
    found, older = await engine.read(
        "refusals",
        lambda transaction: trace_search.refusals(transaction, "main", None, wanted, before, limit),
    )
    return [each.request_id for each in found], older


@pytest.mark.parametrize("window_bytes", [1, 3_000, 2**30])
async def test_every_refusal_comes_once_however_it_is_paged(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, window_bytes: int
) -> None:
    monkeypatch.setattr(trace_search, "_WINDOW_BYTES", window_bytes)
    monkeypatch.setattr(trace_search, "LISTED_BYTES_MAX", 4 * window_bytes)
    await write(engine, monkeypatch, range(100))
    found: list[str] = []
    before: TracePlace | None = None
    pages = 0
    while pages == 0 or before is not None:
        some, before = await page(engine, before, 5)
        assert len(some) <= 5
        found += some
        pages += 1
    assert found == [request_id(number) for number in reversed(range(100)) if number % 6 in (1, 4)]
    if window_bytes == 1:
        assert pages > 20  # Pages end after some rows, also without a full page of refusals.


async def test_filters_leave_out_the_rest(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    await write(engine, monkeypatch, range(30))
    begin_us = NOW_US - DAY_US // 2
    some, older = await page(engine, None, 50, codes=frozenset(["stale_rate"]), since_us=begin_us + 13)
    assert some == [request_id(25), request_id(19), request_id(13)]
    assert older is None
    assert await page(engine, None, 50, until_us=begin_us + 5) == ([request_id(4), request_id(1)], None)
    assert (await page(engine, None, 50, symbol_code="SILVER"))[0] == []
    assert len((await page(engine, None, 50, symbol_code="GOLD"))[0]) == 10
    assert (await page(engine, None, 50, environment="production"))[0] == []


async def test_an_empty_store_has_none(engine: Engine) -> None:
    assert await page(engine, None, 5) == ([], None)
    counted = await engine.read("x", lambda transaction: RefusalCounts().read(transaction, "main", NOW_US))
    assert (counted.counts, counted.complete) == ([], True)


async def test_each_row_is_counted_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_search, "_WINDOW_BYTES", 1)
    monkeypatch.setattr(refusal_counts, "_BYTES_AT_ONCE", 5_000)
    await write(engine, monkeypatch, range(60))
    counts = RefusalCounts()

    async def day() -> tuple[int, bool]:
        counted = await engine.read("x", lambda transaction: counts.read(transaction, "main", NOW_US))
        assert all(each.last_hour == 0 for each in counted.counts)
        return sum(each.last_day for each in counted.counts), counted.complete

    first, complete = await day()
    assert 0 < first < 20
    assert not complete
    await write(engine, monkeypatch, range(60, 66))
    # Each further look adds what is new, and goes further back.
    for _ in range(30):
        number, complete = await day()
        if complete:
            break
    assert (number, complete) == (22, True)
    assert await day() == (22, True)
    await write(engine, monkeypatch, range(66, 72))
    assert await day() == (24, True)


class Failing:
    """A transaction in which one query fails once, after so many that did not."""

    def __init__(self, transaction: Transaction, after: int) -> None:
        self._transaction = transaction
        self._left = after

    async def all(self, *query: Any) -> Sequence[Row]:
        self._count()
        return await self._transaction.all(*query)

    async def one(self, *query: Any) -> Row | None:
        self._count()
        return await self._transaction.one(*query)

    def _count(self) -> None:
        self._left -= 1
        if self._left == -1:
            raise StoreUnavailable("away")


async def test_each_row_is_counted_once_whenever_the_store_fails(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_search, "_WINDOW_BYTES", 1)

    async def day(counts: RefusalCounts, fails_after: int = -1) -> int:
        async def body(transaction: Transaction) -> CountedRefusals:
            failing = cast("Transaction", Failing(transaction, fails_after))
            return await counts.read(failing, "main", NOW_US)

        counted = await engine.read("x", body)
        assert counted.complete
        return sum(each.last_day for each in counted.counts)

    await write(engine, monkeypatch, range(12))
    first_read = [RefusalCounts() for _ in range(20)]
    for number, counts in enumerate(first_read):
        with suppress(StoreUnavailable):
            await day(counts, number)
        assert await day(counts) == 4
    await write(engine, monkeypatch, range(12, 24))
    for number, counts in enumerate(first_read):
        with suppress(StoreUnavailable):
            await day(counts, number)
        assert await day(counts) == 8


async def test_the_first_refusals_of_a_store_are_counted(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = RefusalCounts()

    async def day() -> int:
        counted = await engine.read("x", lambda transaction: counts.read(transaction, "main", NOW_US))
        return sum(each.last_day for each in counted.counts)

    assert await day() == 0
    await write(engine, monkeypatch, range(6))
    assert await day() == 2
    assert await day() == 2


async def test_counts_leave_what_is_older_than_a_day(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    await write(engine, monkeypatch, range(12))
    counts = RefusalCounts()

    async def counted(now_us: int) -> list[tuple[str, int, int]]:
        found = await engine.read("x", lambda transaction: counts.read(transaction, "main", now_us))
        return sorted((each.code, each.last_hour, each.last_day) for each in found.counts)

    at_us = NOW_US - DAY_US // 2
    assert await counted(at_us + 60_000_000) == [("limit_exceeded", 2, 2), ("stale_rate", 2, 2)]
    # The lists that the counts lead to begin with the minute of an hour and of a day ago.
    assert await counted(at_us + 3_600_000_000) == [("limit_exceeded", 2, 2), ("stale_rate", 2, 2)]
    assert await counted(at_us + 3_660_000_000) == [("limit_exceeded", 0, 2), ("stale_rate", 0, 2)]
    assert await counted(at_us + DAY_US) == [("limit_exceeded", 0, 2), ("stale_rate", 0, 2)]
    assert await counted(at_us + DAY_US + 60_000_000) == []
