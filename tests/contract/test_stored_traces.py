"""Decisions are written, found again by their request's id, and forgotten from the old end."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from bullion.faults import OutcomeUnknown, StoreUnavailable
from bullion.orders.trace import Trace
from bullion.store import traces as traces_module
from bullion.store.engine import Engine
from bullion.store.trace_reader import newest_traces, trace_of
from bullion.store.traces import StoredTraces
from tests.booking.fixtures import asked, rows

pytestmark = pytest.mark.anyio

START_MS = 1_800_000_000_000


def request_id(number: int, node: int = 0) -> str:
    return f"{START_MS + number:012x}{node:04x}{number:016x}"


def trace(number: int, node: int = 0, **fields: Any) -> Trace:
    given: dict[str, Any] = {
        "broker": "main",
        "account_id": 7,
        "environment": "test",
        "key_id": "k",
        "outcome": "filled",
    }
    return Trace(request_id=request_id(number, node), at_us=number, **{**given, **fields})


async def found(engine: Engine, number: int, node: int = 0, broker: str = "main") -> Trace | None:
    return await engine.read(
        "trace", lambda transaction: trace_of(transaction, broker, request_id(number, node))
    )


async def newest(
    engine: Engine, limit: int, account_id: int | None = None, outcome: str | None = None
) -> list[Trace]:
    return await engine.read(
        "traces", lambda transaction: newest_traces(transaction, "main", account_id, outcome, limit)
    )


async def batches(engine: Engine) -> Sequence[Any]:
    return await rows(engine, "SELECT * FROM trace_batches ORDER BY ordinal")


async def test_a_trace_comes_back_as_it_was_noted(engine: Engine) -> None:
    traces = StoredTraces(engine)
    whole = trace(
        5,
        idempotency_key="k ₹",
        asked=asked("sell", 5, expected_price="1.5", client_order_id="\x1b[31m\u202e'\";--\U0001f947"),
        order_id="o",
        message='A "message".',
        compared={"price": "1.00", "net_before_e4": -5, "offered": ["buy"], "nothing": None},
    )
    bare = trace(6, key_id=None)
    for each in (whole, bare):
        traces.add(each)
    assert await found(engine, 5) is None
    await traces.write()
    assert await found(engine, 5) == whole
    assert await found(engine, 6) == bare
    assert await found(engine, 7) is None
    assert await found(engine, 5, broker="other") is None
    await traces.write()
    assert len(await batches(engine)) == 1


async def test_each_is_found_among_many_rows(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces_module, "_ROW_MAX", 7)
    traces = StoredTraces(engine)
    # Times overlap: a call that waited is noted after one that came later.
    numbers = [number ^ 3 for number in range(60)]
    for number in numbers:
        traces.add(trace(number))
    await traces.write()
    assert len(await batches(engine)) == 9
    for number in range(60):
        assert await found(engine, number) == trace(number)


async def test_traces_that_arrive_during_a_write_wait_for_the_next_one(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a busy node would write all the time, a few traces in each transaction."""
    traces = StoredTraces(engine)
    traces.add(trace(1))
    arriving, real_write = [trace(2), trace(3)], engine.write

    async def write_while_another_arrives(*arguments: Any, **options: Any) -> Any:
        if arguments[0] == "traces":
            traces.add(arriving.pop())
        return await real_write(*arguments, **options)

    monkeypatch.setattr(engine, "write", write_while_another_arrives)
    await traces.write()
    assert len(await batches(engine)) == 1
    assert await found(engine, 1) == trace(1)
    assert await found(engine, 3) is None
    await traces.write()
    assert await found(engine, 3) == trace(3)
    assert len(await batches(engine)) == 2


async def test_the_newest_are_found_by_account_and_outcome(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces_module, "_ROW_MAX", 4)
    traces = StoredTraces(engine)
    noted = [
        trace(
            number,
            account_id=number % 3,
            outcome="filled" if number % 2 else "limit_exceeded",
            broker="main" if number % 7 else "other",
        )
        for number in range(200)
    ]
    for each in noted:
        traces.add(each)
    await traces.write()
    for account_id in (None, 0, 2, 99):
        for outcome in (None, "filled", "limit_exceeded", "nothing"):
            for limit in (1, 10, 500):
                expected = [
                    each
                    for each in reversed(noted)
                    if each.broker == "main"
                    and account_id in (None, each.account_id)
                    and outcome in (None, each.outcome)
                ][:limit]
                assert await newest(engine, limit, account_id, outcome) == expected


async def test_no_more_rows_are_kept_than_allowed(engine: Engine) -> None:
    traces = StoredTraces(engine, rows_kept=5)
    for number in range(12):
        traces.add(trace(number))
        await traces.write()
    kept = await batches(engine)
    assert [row["ordinal"] for row in kept] == [8, 9, 10, 11, 12]
    assert await found(engine, 6) is None
    assert await found(engine, 7) == trace(7)


async def test_no_more_bytes_are_kept_than_allowed(engine: Engine) -> None:
    traces = StoredTraces(engine, bytes_kept=2_000)
    for number in range(40):
        traces.add(trace(number, message="x" * 300))
        await traces.write()
    kept = await batches(engine)
    row_bytes = len(kept[-1]["traces"])
    assert 2_000 - row_bytes < sum(len(row["traces"]) for row in kept) < 2_000 + row_bytes
    assert await found(engine, 39) == trace(39, message="x" * 300)


async def test_bytes_are_bytes(engine: Engine) -> None:
    traces = StoredTraces(engine, bytes_kept=4_000)
    for number in range(30):
        traces.add(trace(number, message="\U0001f947" * 200))
        await traces.write()
    sizes = [len(row["traces"].encode()) for row in await batches(engine)]
    assert sum(sizes) < 4_000 + sizes[-1]


async def test_one_row_larger_than_all_that_is_kept_does_not_stop_the_others(engine: Engine) -> None:
    traces = StoredTraces(engine, bytes_kept=500)
    traces.add(trace(1, message="x" * 2_000))
    await traces.write()
    traces.add(trace(2))
    await traces.write()
    assert await found(engine, 2) == trace(2)


async def test_when_too_many_wait_the_newest_are_dropped(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces_module, "_WAITING_MAX", 10)
    traces = StoredTraces(engine)
    for number in range(15):
        traces.add(trace(number))
    await traces.write()
    assert await found(engine, 9) is not None
    assert await found(engine, 10) is None
    traces.add(trace(20))
    await traces.write()
    assert await found(engine, 20) is not None


async def test_what_could_not_be_written_waits_in_its_order(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces_module, "_ROW_MAX", 2)
    traces = StoredTraces(engine)
    for number in range(5):
        traces.add(trace(number))

    async def away(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as broken:
        broken.setattr(engine, "write", away)
        await traces.write()
    assert await batches(engine) == []
    await traces.write()
    assert [each.request_id for each in await newest(engine, 10)] == [
        request_id(number) for number in reversed(range(5))
    ]


@pytest.mark.parametrize("committed", [True, False])
async def test_a_batch_is_stored_once_if_the_connection_was_lost_during_the_commit(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, *, committed: bool
) -> None:
    """Otherwise each refusal in it would be listed and counted twice."""
    traces, real_write = StoredTraces(engine), engine.write

    async def lose_the_answer(*given: Any, **options: Any) -> None:
        if committed:
            await real_write(*given, **options)
        raise OutcomeUnknown("lost")

    for number in range(3):
        traces.add(trace(number))
    with monkeypatch.context() as broken:
        broken.setattr(engine, "write", lose_the_answer)
        await traces.write()
    traces.add(trace(3))
    await traces.write()
    assert [each.request_id for each in await newest(engine, 10)] == [
        request_id(number) for number in reversed(range(4))
    ]


async def test_two_nodes_at_once_lose_nothing(engine: Engine, other_engine: Engine) -> None:
    nodes = [StoredTraces(engine), StoredTraces(other_engine)]

    async def busy(number: int) -> None:
        for each in range(25):
            nodes[number].add(trace(each, node=number))
            await nodes[number].write()

    await asyncio.gather(busy(0), busy(1))
    for node in range(2):
        for number in range(25):
            assert await found(engine, number, node) == trace(number, node=node)
    kept = await batches(engine)
    assert [row["ordinal"] for row in kept] == list(range(1, len(kept) + 1))
    assert kept[-1]["bytes_through"] == sum(len(row["traces"]) for row in kept)
