"""Ticks in the store: published by one node at a time, taken over by all, never backwards."""

import asyncio
from unittest.mock import patch

import pytest

from bullion.faults import StoreUnavailable
from bullion.rates.board import MARKET, Board
from bullion.rates.follower import BoardFollower
from bullion.rates.tick import Tick
from bullion.store.engine import Engine, one_row
from bullion.store.postgres import PostgresEngine
from bullion.store.rates import StoredRates
from bullion.store.records import Records, RecordStore
from bullion.store.sqlite import SqliteEngine
from tests.booking.fixtures import rows
from tests.support.servers import Postgres

pytestmark = pytest.mark.anyio

S = 1_000_000


def tick(instrument: str, at_us: int, bid_e6: int = 1_000, moved_at_us: int | None = None) -> Tick:
    return Tick(instrument, bid_e6, bid_e6 + 5, at_us, at_us if moved_at_us is None else moved_at_us)


@pytest.fixture
def rates(engine: Engine) -> StoredRates:
    return StoredRates(engine)


async def held(rates: StoredRates, since: int | None = None) -> dict[str, Tick]:
    return {each.instrument: each for _, each in (await rates.ticks(since)).ticks}


async def test_an_empty_set_is_a_set(rates: StoredRates) -> None:
    assert await rates.ticks(None) == await rates.ticks(None)
    found = await rates.ticks(None)
    assert (found.version, list(found.ticks)) == (0, [])


async def test_what_is_published_is_taken_over_by_all(rates: StoredRates, other_engine: Engine) -> None:
    assert await rates.publish("one", 5, [tick("GOLD", 10), tick("SILVER", 11, 7)])
    found = await StoredRates(other_engine).ticks(None)
    assert found.version == 1
    assert {broker for broker, _ in found.ticks} == {MARKET}
    assert await held(StoredRates(other_engine)) == {
        "GOLD": tick("GOLD", 10),
        "SILVER": tick("SILVER", 11, 7),
    }


async def test_changes_are_read_without_a_transaction(rates: StoredRates, engine: Engine) -> None:
    """Every node asks several times a second."""
    await rates.publish("one", 5, [tick("GOLD", 10)])
    with patch.object(engine, "read", side_effect=AssertionError("a transaction")):
        found = await rates.ticks(1)
        assert (found.version, list(found.ticks)) == (1, [])
        await rates.publish("one", 5, [tick("GOLD", 11), tick("SILVER", 12)])
        found = await rates.ticks(1)
        assert (found.version, len(found.ticks), found.whole) == (2, 2, False)
        with pytest.raises(AssertionError, match="a transaction"):
            await rates.ticks(3)  # The store was put back to an older copy.


async def test_an_older_tick_is_ignored_and_one_as_old_is_taken(rates: StoredRates) -> None:
    await rates.publish("one", 5, [tick("GOLD", 10, 1_000)])
    await rates.publish("one", 5, [tick("GOLD", 9, 2_000)])
    assert await held(rates) == {"GOLD": tick("GOLD", 10, 1_000)}
    await rates.publish("one", 5, [tick("GOLD", 10, 3_000)])
    assert await held(rates) == {"GOLD": tick("GOLD", 10, 3_000)}


async def test_after_the_clock_was_set_back_newer_ticks_are_taken_again(
    rates: StoredRates, engine: Engine
) -> None:
    row = await engine.read("clock", lambda transaction: one_row(transaction, "catalogue_state"))
    now_us = row["clock_us"]
    board = Board()
    follower = BoardFollower(board, rates)
    ahead = (tick("GOLD", now_us + 3_600 * S, 1_000), tick("SILVER", now_us + 2 * S, 1_000))
    await rates.publish("one", 5, ahead)
    await follower.catch_up()
    await rates.publish("one", 5, [tick("GOLD", now_us, 2_000), tick("SILVER", now_us, 2_000)])
    await follower.catch_up()
    assert await held(rates) == {"GOLD": tick("GOLD", now_us, 2_000), "SILVER": ahead[1]}
    assert board.tick("main", "GOLD") == tick("GOLD", now_us, 2_000)


async def test_since_when_a_price_has_stood_still_is_kept(rates: StoredRates) -> None:
    await rates.publish("one", 5, [tick("GOLD", 10, 1_000)])
    await rates.publish("one", 5, [tick("GOLD", 20, 1_000)])
    await rates.publish("one", 5, [tick("GOLD", 30, 1_000, moved_at_us=30)])
    assert await held(rates) == {"GOLD": tick("GOLD", 30, 1_000, moved_at_us=10)}
    await rates.publish("one", 5, [tick("GOLD", 40, 1_001)])
    assert await held(rates) == {"GOLD": tick("GOLD", 40, 1_001, moved_at_us=40)}
    await rates.publish("one", 5, [Tick("GOLD", 1_001, 1_007, 50, 0)])
    assert (await held(rates))["GOLD"].moved_at_us == 50


async def test_only_what_came_after_a_version_is_read(rates: StoredRates) -> None:
    await rates.publish("one", 5, [tick("GOLD", 10), tick("SILVER", 10)])
    await rates.publish("one", 5, [tick("GOLD", 20)])
    assert await held(rates, 0) == {"GOLD": tick("GOLD", 20, moved_at_us=10), "SILVER": tick("SILVER", 10)}
    assert await held(rates, 1) == {"GOLD": tick("GOLD", 20, moved_at_us=10)}
    assert await held(rates, 2) == {}
    # A store put back to an older copy: everything.
    assert set(await held(rates, 3)) == {"GOLD", "SILVER"}


async def test_two_nodes_never_both_publish(rates: StoredRates, other_engine: Engine) -> None:
    other = StoredRates(other_engine)
    assert await rates.publish("one", 30, [tick("GOLD", 10)])
    assert not await other.publish("two", 30, [tick("GOLD", 99, 9_999)])
    assert await held(rates) == {"GOLD": tick("GOLD", 10)}
    assert (await rates.ticks(None)).version == 1
    assert await rates.publish("one", 30, [tick("GOLD", 11)])
    assert not await other.publish("two", 30, [])


async def test_of_those_who_begin_at_once_one_publishes(rates: StoredRates, other_engine: Engine) -> None:
    other = StoredRates(other_engine)
    for turn in range(5):
        await rows(rates._engine, "DELETE FROM leases")
        done = await asyncio.gather(
            *(each.publish(f"{turn} {id(each)}", 30, [tick("GOLD", turn)]) for each in (rates, other))
        )
        assert sorted(done) == [False, True]


async def test_a_lease_that_ran_out_is_anothers(rates: StoredRates, other_engine: Engine) -> None:
    other = StoredRates(other_engine)
    assert await rates.publish("one", 1.5, [tick("GOLD", 10)])
    assert not await other.publish("two", 5, [tick("GOLD", 11)])
    await asyncio.sleep(1.55)
    assert await other.publish("two", 5, [tick("GOLD", 12)])
    assert not await rates.publish("one", 5, [tick("GOLD", 13)])
    assert await held(rates) == {"GOLD": tick("GOLD", 12, moved_at_us=10)}


async def test_a_tick_that_breaks_a_rule_takes_the_lease_and_the_others_along(rates: StoredRates) -> None:
    with pytest.raises(Exception, match=r"bid_e6|ticks|CHECK"):
        await rates.publish("one", 30, [tick("GOLD", 10), tick("SILVER", 10, 0)])
    assert await held(rates) == {}
    assert await rates.publish("two", 30, [tick("GOLD", 10)])


async def test_a_brokers_own_tick_is_its_own(rates: StoredRates, engine: Engine) -> None:
    async def body(records: Records) -> None:
        await records.put_tick("main", tick("GOLD", 20, 5_000))

    await rates.publish("one", 5, [tick("GOLD", 10)])
    await RecordStore(engine).write("tick", body)
    board = Board()
    await BoardFollower(board, rates).catch_up()
    assert board.tick("main", "GOLD") == tick("GOLD", 20, 5_000)
    assert board.tick("other", "GOLD") == tick("GOLD", 10)
    assert board.version == 2


async def test_the_follower_reads_changes_by_itself(rates: StoredRates, other_engine: Engine) -> None:
    board = Board()
    catalogue_follower = BoardFollower(board, StoredRates(other_engine))
    await catalogue_follower.catch_up()
    assert board.ready
    running = asyncio.create_task(catalogue_follower.run())
    for number in range(1, 4):
        await rates.publish("one", 5, [tick("GOLD", number * 100)])
        async with asyncio.timeout(1):
            while (seen := board.tick("main", "GOLD")) is None or seen.at_us != number * 100:
                await asyncio.sleep(0.01)
    running.cancel()


# --- Who hears of changes -----------------------------------------------------------------------------


async def test_each_listener_is_told_by_itself(engine: Engine, other_engine: Engine) -> None:
    for listener in ("catalogue", "rates"):
        await engine.wait_for_change(0, listener)
    waiting = [
        asyncio.create_task(engine.wait_for_change(30, listener)) for listener in ("catalogue", "rates")
    ]
    await asyncio.sleep(0.2)
    assert not any(task.done() for task in waiting)
    await _change(other_engine)
    await asyncio.wait_for(asyncio.gather(*waiting), 5)


async def test_a_listener_that_is_cancelled_leaves_the_others_waiting(
    engine: Engine, other_engine: Engine
) -> None:
    for listener in ("catalogue", "rates"):
        await engine.wait_for_change(0, listener)
    first, second = (
        asyncio.create_task(engine.wait_for_change(30, listener)) for listener in ("catalogue", "rates")
    )
    await asyncio.sleep(0.02)
    first.cancel()
    await asyncio.sleep(0.2)
    assert first.cancelled()
    assert not second.done()
    await _change(other_engine)
    await asyncio.wait_for(second, 5)


@pytest.mark.parametrize("engine_name", ["sqlite"])
async def test_every_listener_hears_that_the_store_cannot_be_read(engine: Engine) -> None:
    """On PostgreSQL a lost connection is noticed, and replaced, by the listener itself."""
    assert isinstance(engine, SqliteEngine)
    waiting = [engine.wait_for_change(30, listener) for listener in ("catalogue", "rates")]
    engine._look_up.disconnect()
    found = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 5)
    assert [type(each) for each in found] == [StoreUnavailable] * 2


async def _change(engine: Engine) -> None:
    """Change the catalogue, which every listener hears of."""
    await RecordStore(engine).write("change", lambda records: records.now_us())


async def test_one_listener_does_not_hear_for_another(engine: Engine, other_engine: Engine) -> None:
    for listener in ("catalogue", "rates"):
        await engine.wait_for_change(0, listener)
    first = asyncio.create_task(engine.wait_for_change(30, "catalogue"))
    second = asyncio.create_task(engine.wait_for_change(30, "rates"))
    await asyncio.sleep(0.1)
    await _change(other_engine)
    await asyncio.wait_for(asyncio.gather(first, second), 5)
    # Again: what the one heard before does not keep the other from hearing of the next.
    await asyncio.wait_for(engine.wait_for_change(0.1, "catalogue"), 5)
    again = asyncio.create_task(engine.wait_for_change(30, "rates"))
    await asyncio.sleep(0.1)
    await StoredRates(other_engine).publish("one", 5, [tick("GOLD", 2)])
    await asyncio.wait_for(again, 5)


@pytest.mark.parametrize("engine_name", ["postgres"])
async def test_ticks_are_told_to_those_who_follow_rates(engine: Engine, other_engine: Engine) -> None:
    for listener in ("catalogue", "rates"):
        await engine.wait_for_change(0, listener)
    catalogue = asyncio.create_task(engine.wait_for_change(30, "catalogue"))
    rates = asyncio.create_task(engine.wait_for_change(30, "rates"))
    await asyncio.sleep(0.1)
    await StoredRates(other_engine).publish("one", 5, [tick("GOLD", 1)])
    await asyncio.wait_for(rates, 5)
    assert not catalogue.done()
    await _change(other_engine)
    await asyncio.wait_for(catalogue, 5)


@pytest.mark.parametrize("exclusive", [True, False])
async def test_a_lost_listener_comes_back_once(postgres: Postgres, exclusive: bool) -> None:
    """The catalogue's follower and the board's both notice that the connection is gone."""
    engine = PostgresEngine(postgres.new_database())
    await engine.open()
    await engine.migrate()
    mine = "FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database \
        WHERE datname = current_database())"
    try:
        async with asyncio.timeout(10):
            assert await engine.register_node(exclusive=exclusive)
            (row,) = await rows(engine, f"SELECT count(DISTINCT pid) AS number {mine}")
            assert row["number"] == 1
            await rows(engine, f"SELECT pg_terminate_backend(pid) {mine}")
            while engine._listener is not None and not engine._listener.is_closed():
                await asyncio.sleep(0.01)
            for _ in range(3):
                await asyncio.gather(
                    engine.wait_for_change(0.05, "catalogue"), engine.wait_for_change(0.05, "rates")
                )
            (row,) = await rows(engine, f"SELECT count(DISTINCT pid) AS number {mine}")
            assert engine._listener is not None
            assert not engine._listener.is_closed()
            assert row["number"] == 1
    finally:
        await rows(engine, f"SELECT pg_terminate_backend(pid) {mine}")
        await asyncio.sleep(0.05)
        await engine.close()


async def test_every_engine_says_what_time_it_is(engine: Engine) -> None:
    row = await engine.read("clock", lambda transaction: one_row(transaction, "catalogue_state"))
    assert row["clock_us"] > 1_700_000_000_000_000
