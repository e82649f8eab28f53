"""Orders for minutes on a store that fills: `python -m bench.filling --seconds 120`.

Everything else is measured in moments. Here, what comes seldom has its place as well: a checkpoint, a vacuum
of a table that is written all the time, an index that no longer fits into memory.
"""

import argparse
import asyncio
import contextlib
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import asyncpg

from tests.support.servers import Postgres, Redis
from tests.support.ticking import meanwhile

from .calls import orders
from .extent import FULL, Extent
from .faults import CallFailed
from .filling_chart import write_filling_chart
from .filling_results import Filling, Second, filling_ratios, replace_filling, second_rows
from .load import Job, Outcome, running_generator
from .postgres_log import SETTINGS, events_in
from .service import running_service, servers
from .table import aligned, ratio_rows
from .turns import Sharing

CONNECTIONS = 64
_CLIENTS = 1
"""Accounts besides those that trade."""
_WARM_UP_S = 1.0
_LOOK_EVERY_S = 0.25
_LOG_KEPT_S = 1.0
"""Until what PostgreSQL did last is in its log."""
_WAL = """
SELECT pg_current_wal_lsn() - '0/0', (to_jsonb(pg_stat_wal) ->> 'wal_sync_time')::float FROM pg_stat_wal
"""


class WalSample(NamedTuple):
    """What PostgreSQL has written since its store was made, and how long it waited for it."""

    at_s: float
    wal_bytes: float
    sync_ms: float | None


def measure_filling(extent: Extent, say: Callable[[str], None], workers: int = 1) -> Filling | None:
    """With servers of its own. None if that is not asked for; may raise NotInstalled."""
    if not extent.filling_s:
        return None
    say(f"orders of {extent.many_clients:,} accounts for {extent.filling_s} s")
    with servers() as (postgres, redis):
        _configure(postgres)
        return _filling(extent, postgres, redis, workers)


def _configure(postgres: Postgres) -> None:
    for name, value in (SETTINGS | {"track_wal_io_timing": "on"}).items():
        postgres.sql(f"ALTER SYSTEM SET {name} = {value}")
    postgres.sql("SELECT pg_reload_conf()")


def _filling(extent: Extent, postgres: Postgres, redis: Redis, workers: int) -> Filling:
    url, samples = postgres.new_database(), list[WalSample]()
    settings = {
        "BULLION_DATABASE_URL": url,
        "BULLION_REDIS_URL": redis.url,
        "BULLION_WORKERS": str(workers),
    }
    with contextlib.ExitStack() as stack:
        generator = stack.enter_context(running_generator())
        service = stack.enter_context(
            running_service("bullion", _CLIENTS, 0, extent.many_clients, live=False, book=False, **settings)
        )
        job = Job(
            port=service.endpoint.port,
            requests=orders(service.many_keys),
            sharing=Sharing.PAIRS,
            connections=CONNECTIONS,
            warm_up_s=_WARM_UP_S,
            seconds=extent.filling_s,
            server_pids=service.endpoint.pids,
            by_second=True,
        )
        with meanwhile(partial(_watch, url, samples)):
            outcome = generator.measure(job)
        if outcome.errors:
            raise CallFailed(f"Orders on a store that fills failed: {outcome.errors}.")
        time.sleep(_LOG_KEPT_S)
        log = (postgres.folder / "log").read_text("utf-8")
    events = events_in(log, url.rpartition("/")[2], outcome.began_at_s, outcome.seconds)
    return Filling(
        extent.many_clients,
        CONNECTIONS,
        workers,
        outcome.requests,
        outcome.p50_us or 0,
        outcome.p99_us or 0,
        seconds_of(outcome, samples),
        events,
    )


def _watch(url: str, samples: list[WalSample], closed: threading.Event) -> None:
    asyncio.run(_look(url, samples, closed))


async def _look(url: str, samples: list[WalSample], closed: threading.Event) -> None:
    connection = await asyncpg.connect(url)
    try:
        while not closed.is_set():
            wal_bytes, sync_ms = (await connection.fetch(_WAL))[0]
            samples.append(WalSample(time.time(), float(wal_bytes), sync_ms))
            await asyncio.sleep(_LOOK_EVERY_S)
    finally:
        await connection.close()


def seconds_of(outcome: Outcome, samples: Sequence[WalSample]) -> list[Second]:
    """The seconds of the load generator, with what was written in each."""
    found: list[Second] = []
    before = _at(samples, outcome.began_at_s)
    for number, each in enumerate(outcome.by_second, 1):
        after = _at(samples, outcome.began_at_s + number)
        synced = None if after.sync_ms is None or before.sync_ms is None else after.sync_ms - before.sync_ms
        wal_bytes = after.wal_bytes - before.wal_bytes
        found.append(Second(each.requests_per_s, each.p50_us, each.p99_us, wal_bytes, synced, each.server))
        before = after
    return found


def _at(samples: Sequence[WalSample], at_s: float) -> WalSample:
    """What it was at that time, between the samples before and after."""
    place = min(max(bisect_left(samples, at_s, key=lambda each: each.at_s), 1), len(samples) - 1)
    before, after = samples[place - 1], samples[place]
    share = min(1.0, max(0.0, (at_s - before.at_s) / (after.at_s - before.at_s)))

    def between(low: float, high: float) -> float:
        return low + share * (high - low)

    synced = None
    if before.sync_ms is not None and after.sync_ms is not None:
        synced = between(before.sync_ms, after.sync_ms)
    return WalSample(at_s, between(before.wal_bytes, after.wal_bytes), synced)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.filling", description=__doc__)
    parser.add_argument("--seconds", type=int, default=FULL.filling_s, help="how long (%(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="of the service (%(default)s)")
    parser.add_argument("--results", type=Path, help="write this part of the file anew")
    parser.add_argument("--charts", type=Path, help="write the chart into this folder")
    given = parser.parse_args()
    filling = measure_filling(replace(FULL, filling_s=given.seconds), print, given.workers)
    assert filling is not None
    for row in aligned(second_rows(filling, range(len(filling.seconds)))):
        print(row)
    for event in filling.events:
        print(f"{event.from_s:7.1f} to {event.to_s:5.1f} s  {event.what}")
    print(f"{filling.orders:,} orders, {_wal_each(filling):,.0f} bytes of WAL each")
    for row in aligned(ratio_rows(filling_ratios(filling))):
        print(row)
    if given.results is not None:
        replace_filling(given.results, filling)
    if given.charts is not None:
        write_filling_chart(given.charts, filling)


def _wal_each(filling: Filling) -> float:
    return sum(each.wal_bytes for each in filling.seconds) / filling.orders


if __name__ == "__main__":
    main()
