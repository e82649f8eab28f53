"""The pool of connections: never more than its size, none lost and none given to two, whoever leaves when."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import asyncpg
import pytest

from bullion.faults import StoreUnavailable
from bullion.store.engine import Transaction
from bullion.store.postgres import PostgresEngine
from bullion.store.postgres_pool import Pool
from tests.support.servers import Postgres

pytestmark = pytest.mark.anyio

SIZE = 3


class Line:
    """Stands in for a connection where it has to fail, or hang, at a moment of our choosing."""

    def __init__(self) -> None:
        self.closed = False
        self.asked_to_close = 0

    def is_closed(self) -> bool:
        return self.closed

    def terminate(self) -> None:
        self.closed = True

    async def close(self) -> None:
        self.asked_to_close += 1
        self.closed = True


class Exchange:
    """Makes lines."""

    def __init__(self) -> None:
        self.made: list[Line] = []
        self.fails = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def connect(self) -> Line:
        await self.gate.wait()
        if self.fails:
            raise OSError("nobody there")
        self.made.append(Line())
        return self.made[-1]

    @property
    def open_lines(self) -> int:
        return sum(not line.closed for line in self.made)


@pytest.fixture
async def exchange() -> Exchange:
    return Exchange()


@pytest.fixture
def pool(exchange: Exchange) -> Pool:
    return Pool(exchange.connect, SIZE, within_s=0.2)


async def whole(pool: Pool) -> None:
    """As many as the size can be had at once, all of them different, and not one more."""
    lines = await asyncio.gather(*(pool.acquire() for _ in range(SIZE)))
    assert len(set(map(id, lines))) == SIZE
    with pytest.raises(TimeoutError):
        await pool.acquire()
    for line in lines:
        pool.release(line)


async def test_one_is_made_when_it_is_needed_and_the_last_used_is_taken_first(
    pool: Pool, exchange: Exchange
) -> None:
    first = await pool.acquire()
    second = await pool.acquire()
    assert exchange.made == [first, second]
    pool.release(second)
    pool.release(first)
    assert await pool.acquire() is first
    assert len(exchange.made) == 2


async def test_never_more_than_its_size_and_none_at_two_places(pool: Pool, exchange: Exchange) -> None:
    in_use: set[int] = set()

    async def use() -> None:
        line = await pool.acquire()
        assert id(line) not in in_use
        in_use.add(id(line))
        await asyncio.sleep(0)
        in_use.discard(id(line))
        pool.release(line)

    await asyncio.gather(*(use() for _ in range(200)))
    assert len(exchange.made) == SIZE
    await whole(pool)


async def test_who_waits_longest_is_next_and_nobody_overtakes(pool: Pool) -> None:
    lines = [await pool.acquire() for _ in range(SIZE)]
    order: list[str] = []

    async def use(name: str) -> None:
        line = await pool.acquire()
        order.append(name)
        pool.release(line)

    waiting = [asyncio.create_task(use(name)) for name in "abc"]
    await asyncio.sleep(0)
    pool.release(lines[0])
    late = asyncio.create_task(use("late"))
    await asyncio.gather(*waiting, late)
    assert order == ["a", "b", "c", "late"]


async def test_who_stops_waiting_takes_no_place(pool: Pool) -> None:
    lines = [await pool.acquire() for _ in range(SIZE)]
    leaving = asyncio.create_task(pool.acquire())
    staying = asyncio.create_task(pool.acquire())
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.wait([leaving])
    pool.release(lines[0])
    assert await staying is lines[0]
    for line in lines:
        pool.release(line)
    await whole(pool)


async def test_one_that_comes_right_after_its_taker_left_goes_to_the_next(pool: Pool) -> None:
    lines = [await pool.acquire() for _ in range(SIZE)]
    leaving = asyncio.create_task(pool.acquire())
    staying = asyncio.create_task(pool.acquire())
    await asyncio.sleep(0)
    leaving.cancel()
    pool.release(lines[0])
    await asyncio.wait([leaving])
    assert leaving.cancelled()
    assert await staying is lines[0]
    for line in lines:
        pool.release(line)
    await whole(pool)


async def test_one_that_comes_as_its_taker_leaves_goes_to_the_next(pool: Pool) -> None:
    lines = [await pool.acquire() for _ in range(SIZE)]
    leaving = asyncio.create_task(pool.acquire())
    staying = asyncio.create_task(pool.acquire())
    await asyncio.sleep(0)
    pool.release(lines[0])
    leaving.cancel()
    await asyncio.wait([leaving])
    assert leaving.cancelled()
    assert await staying is lines[0]
    for line in lines:
        pool.release(line)
    await whole(pool)


async def test_a_place_that_comes_as_its_taker_leaves_goes_to_the_next(
    pool: Pool, exchange: Exchange
) -> None:
    lines = [await pool.acquire() for _ in range(SIZE)]
    leaving = asyncio.create_task(pool.acquire())
    staying = asyncio.create_task(pool.acquire())
    await asyncio.sleep(0)
    lines[0].terminate()
    pool.release(lines[0])
    leaving.cancel()
    await asyncio.wait([leaving])
    assert await staying is exchange.made[-1]
    assert exchange.open_lines == SIZE


async def test_who_waits_too_long_is_told_and_takes_no_place(pool: Pool) -> None:
    lines = [await pool.acquire() for _ in range(SIZE)]
    with pytest.raises(TimeoutError):
        await pool.acquire()
    for line in lines:
        pool.release(line)
    await whole(pool)


async def test_one_that_cannot_be_made_leaves_its_place_to_the_next(pool: Pool, exchange: Exchange) -> None:
    exchange.fails = True
    for _ in range(SIZE + 1):
        with pytest.raises(OSError, match="nobody there"):
            await pool.acquire()
    exchange.gate.clear()
    trying = [asyncio.create_task(pool.acquire()) for _ in range(SIZE + 2)]
    await asyncio.sleep(0)
    exchange.gate.set()
    await asyncio.wait(trying)
    assert [type(task.exception()) for task in trying] == [OSError] * (SIZE + 2)
    exchange.fails = False
    await whole(pool)


async def test_a_taker_that_leaves_while_one_is_made_leaves_its_place(pool: Pool, exchange: Exchange) -> None:
    exchange.gate.clear()
    trying = [asyncio.create_task(pool.acquire()) for _ in range(SIZE)]
    await asyncio.sleep(0)
    for task in trying:
        task.cancel()
    await asyncio.wait(trying)
    exchange.gate.set()
    await whole(pool)


async def test_one_that_was_lost_is_replaced(pool: Pool, exchange: Exchange) -> None:
    lost, kept = await pool.acquire(), await pool.acquire()
    pool.release(lost)
    pool.release(kept)
    lost.terminate()
    assert await pool.acquire() is kept
    again = await pool.acquire()
    assert again is exchange.made[2]
    again.terminate()
    pool.release(again)
    pool.release(kept)
    await whole(pool)


async def test_renewed_none_is_used_again(pool: Pool, exchange: Exchange) -> None:
    idle, used = await pool.acquire(), await pool.acquire()
    pool.release(idle)
    pool.renew()
    assert idle.closed
    assert not used.closed
    pool.release(used)
    assert used.closed
    await whole(pool)
    assert len(exchange.made) == 2 + SIZE
    assert exchange.open_lines == SIZE


async def test_closing_waits_for_those_in_use(pool: Pool, exchange: Exchange) -> None:
    idle, used = await pool.acquire(), await pool.acquire()
    pool.release(idle)
    closing = asyncio.create_task(pool.close(5))
    await asyncio.sleep(0.01)
    assert not closing.done()
    with pytest.raises(StoreUnavailable):
        await pool.acquire()
    pool.release(used)
    await closing
    assert [line.asked_to_close for line in exchange.made] == [1, 1]


async def test_closing_does_not_wait_for_ever(pool: Pool) -> None:
    used = await pool.acquire()
    started = time.monotonic()
    await pool.close(0.05)
    assert time.monotonic() - started < 2
    assert used.closed
    pool.release(used)  # Late, and no harm.


# With real connections


@pytest.fixture
async def real(postgres: Postgres) -> AsyncIterator[Callable[[int], Pool]]:
    url = postgres.new_database()
    pools: list[Pool] = []

    def make(size: int) -> Pool:
        pools.append(Pool(lambda: asyncpg.connect(url), size, within_s=5))
        return pools[-1]

    yield make
    for pool in pools:
        await pool.close(5)


async def test_real_ones_are_bounded_and_each_does_its_work(real: Callable[[int], Pool]) -> None:
    pool = real(SIZE)

    async def use(number: int) -> tuple[int, int]:
        connection = await pool.acquire()
        try:
            row = await connection.fetchrow("SELECT $1::INT AS number, pg_backend_pid() AS pid", number)
            return row["number"], row["pid"]
        finally:
            pool.release(connection)

    found = await asyncio.gather(*map(use, range(100)))
    assert [number for number, _ in found] == list(range(100))
    assert len({pid for _, pid in found}) == SIZE


async def test_one_that_the_server_ended_is_not_handed_out(real: Callable[[int], Pool]) -> None:
    pool, others = real(1), real(1)
    connection = await pool.acquire()
    pid = connection.get_server_pid()
    pool.release(connection)
    killer = await others.acquire()
    await killer.execute("SELECT pg_terminate_backend($1)", pid)
    others.release(killer)
    while not connection.is_closed():
        await asyncio.sleep(0.005)
    again = await pool.acquire()
    assert await again.fetchval("SELECT 1") == 1
    pool.release(again)


async def test_who_is_cancelled_in_the_middle_of_a_query_keeps_nobody_waiting(postgres: Postgres) -> None:
    engine = PostgresEngine(postgres.new_database(), pool_size=1)
    await engine.open()

    async def asleep(transaction: Transaction) -> None:
        connection: asyncpg.Connection = transaction._connection  # type: ignore[attr-defined]
        await connection.execute("SELECT pg_sleep(60)")

    async def awake(transaction: Transaction) -> int:
        connection: asyncpg.Connection = transaction._connection  # type: ignore[attr-defined]
        return int(await connection.fetchval("SELECT 7"))

    sleeping = asyncio.create_task(engine.read("asleep", asleep))
    await asyncio.sleep(0.1)
    sleeping.cancel()
    started = time.monotonic()
    assert await engine.read("awake", awake) == 7
    assert time.monotonic() - started < 3
    assert sleeping.cancelled()
    await engine.close()
