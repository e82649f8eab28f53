"""Decisions counted by the minute, since the last look or from a bounded look back: on both engines."""

from functools import partial
from typing import Any

import msgspec
import pytest

from bullion.records.orders import DecisionCount
from bullion.records.refusals import RefusalFilter
from bullion.store import trace_reader
from bullion.store.archive_records import ArchiveRecords
from bullion.store.engine import Engine
from bullion.store.records import Records, RecordStore
from bullion.store.refusal_counts import RefusalCounts
from bullion.store.trace_reader import decision_counts
from bullion.store.traces import StoredTraces
from tests.booking.fixtures import create_books

from .test_refusal_search import page
from .test_stored_traces import START_MS, newest, trace

pytestmark = pytest.mark.anyio

MINUTE_US = 60_000_000
EVER_US = START_MS * 2_000


async def counted(
    engine: Engine, after: int | None = None, since_us: int = 0
) -> tuple[list[DecisionCount], int]:
    return await engine.read("decision_counts", lambda open_: decision_counts(open_, "main", after, since_us))


async def write(engine: Engine, *noted: tuple[int, dict[str, Any]]) -> None:
    """Each at its minute, all in one batch."""
    traces = StoredTraces(engine)
    for minute, fields in noted:
        traces.add(msgspec.structs.replace(trace(minute, **fields), at_us=minute * MINUTE_US + 5))
    await traces.write()


async def test_a_store_without_decisions_has_none(engine: Engine) -> None:
    assert await counted(engine) == ([], 0)
    assert await counted(engine, after=0) == ([], 0)


async def test_they_are_counted_by_minute_environment_and_outcome(engine: Engine) -> None:
    live = {"environment": "production", "outcome": "open"}
    await write(engine, (1, {}), (1, {}), (2, live), (2, {"outcome": "stale_rate"}), (2, {"broker": "other"}))
    found, through = await counted(engine)
    assert found == [
        DecisionCount(MINUTE_US, "test", "filled", 2),
        DecisionCount(2 * MINUTE_US, "production", "open", 1),
        DecisionCount(2 * MINUTE_US, "test", "stale_rate", 1),
    ]
    assert through == 1
    assert (await counted(engine, since_us=2 * MINUTE_US))[0] == found[1:]


async def test_a_second_look_counts_only_what_is_new(engine: Engine) -> None:
    await write(engine, (1, {}))
    _, through = await counted(engine)
    assert await counted(engine, after=through) == ([], through)
    await write(engine, (1, {}), (3, {}))
    await write(engine, (3, {}))
    found, last = await counted(engine, after=through)
    assert found == [
        DecisionCount(MINUTE_US, "test", "filled", 1),
        DecisionCount(3 * MINUTE_US, "test", "filled", 2),
    ]
    assert last == through + 2
    assert await counted(engine, after=last) == ([], last)


async def test_after_a_long_gap_the_newest_are_counted_at_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a page that nobody looked at for a night would show no order of this minute for hours."""
    for number in range(65):
        await write(engine, (number, {}))
    found, through = await counted(engine, after=10, since_us=5 * MINUTE_US)
    assert [each.minute_us // MINUTE_US for each in found] == list(range(10, 65))
    assert through == 65
    found, through = await counted(engine, after=10, since_us=50 * MINUTE_US)
    assert ([each.minute_us // MINUTE_US for each in found], through) == (list(range(50, 65)), 65)
    monkeypatch.setattr(trace_reader, "_COUNTED_CHARACTERS_MAX", 1)
    found, through = await counted(engine, after=10)
    assert ([each.minute_us // MINUTE_US for each in found], through) == (list(range(45, 65)), 65)


async def test_the_first_look_back_ends_at_its_time_or_its_bound(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(45):
        await write(engine, (number, {}))
    found, through = await counted(engine, since_us=10 * MINUTE_US)
    assert (len(found), found[0].minute_us, through) == (35, 10 * MINUTE_US, 45)
    monkeypatch.setattr(trace_reader, "_COUNTED_CHARACTERS_MAX", 1)
    found, through = await counted(engine)
    assert (len(found), found[-1].minute_us, through) == (20, 44 * MINUTE_US, 45)


async def test_decisions_after_an_archive_of_all_are_counted(engine: Engine) -> None:
    """The archive drops batches. Later ones must not get their numbers."""
    await create_books(engine)
    records = RecordStore(engine)
    counts = RefusalCounts()

    async def refused() -> int:
        found = await engine.read("x", lambda open_: counts.read(open_, "main", 10 * MINUTE_US))
        return sum(each.last_day for each in found.counts)

    for minute in (1, 2, 3):
        await write(engine, (minute, {"account_id": 1, "outcome": "stale_rate"}))
    assert await refused() == 3
    _, through = await counted(engine)
    assert through == 3
    for batch in await records.read("x", lambda open_: open_.trace_batches("main", 0, EVER_US, 10)):
        await records.write("x", partial(ArchiveRecords.delete_traces, batch=batch))
    assert await newest(engine, 10) == []
    assert (await page(engine, None, 10, codes=frozenset(["stale_rate"]))) == ([], None)
    assert await records.read("x", kept_since_us) is None
    await write(engine, (4, {"account_id": 1, "outcome": "stale_rate"}))
    await write(engine, (5, {"account_id": 1, "outcome": "stale_rate"}))
    found, through = await counted(engine, after=through)
    assert ([each.minute_us // MINUTE_US for each in found], through) == ([4, 5], 5)
    assert await refused() == 5
    assert await records.read("x", kept_since_us) == START_MS * 1000 + 4_000


async def kept_since_us(records: Records) -> int | None:
    return (await records.refusals("main", RefusalFilter(frozenset()), None, 1)).kept_since_us
