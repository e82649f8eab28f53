"""Lines in the store: one holder at a time, connections that are numbered once, numbers that are kept."""

import asyncio

import pytest

from bullion.hedge.fix.lease import LineHolder, NotHolder
from bullion.hedge.fix.line_ports import KeptNumbers
from bullion.hedge.fix.session_effects import Numbers
from bullion.store.engine import Engine, Transaction
from bullion.store.fix_lines import StoredLines, store_incoming
from tests.booking.fixtures import rows

pytestmark = pytest.mark.anyio

ONE = LineHolder("one", "127.0.0.1:1", "token one")
TWO = LineHolder("two", "127.0.0.1:2", "token two")


@pytest.fixture
def lines(engine: Engine) -> StoredLines:
    return StoredLines(engine)


async def expire(engine: Engine) -> None:
    await rows(engine, "UPDATE fix_lines SET until_us = until_us - 60000000")


async def numbers(lines: StoredLines) -> tuple[int, int] | None:
    found = await lines.numbers("gold")
    return None if found is None else (found.outgoing, found.incoming)


async def test_a_line_has_one_holder_until_its_lease_is_over(lines: StoredLines, engine: Engine) -> None:
    assert await lines.holder("gold") is None
    assert await lines.take("gold", ONE, 30)
    assert not await lines.take("gold", TWO, 30)
    assert await lines.take("silver", TWO, 30)
    assert await lines.holder("gold") == ONE
    assert await lines.take("gold", ONE, 30)
    await expire(engine)
    assert await lines.holder("gold") is None
    assert await lines.take("gold", TWO, 30)
    assert await lines.holder("gold") == TWO
    assert not await lines.take("gold", ONE, 30)


async def test_of_many_that_take_a_line_at_once_one_has_it(lines: StoredLines, other_engine: Engine) -> None:
    stores = (lines, StoredLines(other_engine))
    holders = [LineHolder(str(number), "", "") for number in range(10)]
    taken = await asyncio.gather(*(stores[n % 2].take("gold", each, 30) for n, each in enumerate(holders)))
    assert taken.count(True) == 1
    assert await lines.holder("gold") == holders[taken.index(True)]


async def test_a_line_that_was_released_can_be_taken_at_once(lines: StoredLines) -> None:
    await lines.take("gold", ONE, 30)
    await lines.release("gold", "two")
    assert not await lines.take("gold", TWO, 30)
    await lines.release("gold", "one")
    assert await lines.take("gold", TWO, 30)


async def test_connections_are_numbered_on_from_holder_to_holder(lines: StoredLines, engine: Engine) -> None:
    await lines.take("gold", ONE, 30)
    assert [await lines.begin_connection("gold", "one") for _ in range(2)] == [1, 2]
    await expire(engine)
    await lines.take("gold", TWO, 30)
    assert await lines.begin_connection("gold", "two") == 3
    with pytest.raises(NotHolder):
        await lines.begin_connection("gold", "one")
    with pytest.raises(NotHolder):
        await lines.begin_connection("silver", "one")


async def test_numbers_are_kept_from_holder_to_holder(lines: StoredLines, engine: Engine) -> None:
    await lines.take("gold", ONE, 30)
    assert await lines.numbers("gold") is None
    await lines.begin_numbers("gold", "one", Numbers(1, 1))
    await lines.reserve_numbers("gold", "one", 101)
    await lines.reserve_numbers("gold", "one", 51)
    await put_incoming(engine, "one", 7)
    await expire(engine)
    await lines.take("gold", TWO, 30)
    found = await lines.numbers("gold")
    assert isinstance(found, KeptNumbers)
    assert (found.outgoing, found.incoming, found.stored_us > 0) == (101, 7, True)
    await lines.restart_incoming("gold", "two")
    assert await numbers(lines) == (101, 1)
    await lines.begin_numbers("gold", "two", Numbers(1, 1))
    assert await numbers(lines) == (1, 1)


async def test_only_the_holder_changes_numbers(lines: StoredLines, engine: Engine) -> None:
    await lines.take("gold", ONE, 30)
    await lines.begin_numbers("gold", "one", Numbers(5, 6))
    for change in (
        lines.reserve_numbers("gold", "two", 500),
        lines.begin_numbers("gold", "two", Numbers()),
        lines.restart_incoming("gold", "two"),
        put_incoming(engine, "two", 60),
    ):
        with pytest.raises(NotHolder):
            await change
    assert await numbers(lines) == (5, 6)


async def put_incoming(engine: Engine, holder: str, incoming: int) -> None:
    async def body(transaction: Transaction) -> None:
        await store_incoming(transaction, "gold", holder, incoming)

    await engine.write("store_incoming", body)
