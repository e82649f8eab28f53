"""The load generator: `python -m bench.load`, with a job on standard input.

Each job runs in a process of its own, so that it takes no time from the server, and what one job leaves in
memory does not slow the next.
"""

import asyncio
import subprocess
import sys
from functools import partial
from pathlib import Path
from time import perf_counter_ns, process_time_ns

import msgspec
import uvloop

from .connection import Connection, Tally
from .cpu import CpuTime, cpu_time

_CHECKOUT = Path(__file__).resolve().parent.parent
_LAST_ANSWERS_S = 10
_START_S = 60


class Job(msgspec.Struct, frozen=True, kw_only=True):
    port: int
    requests: tuple[bytes, ...]
    """The connections take turns with these."""
    connections: int
    warm_up_s: float
    seconds: float
    server_pid: int


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    requests: int
    seconds: float
    p50_us: float
    p99_us: float
    errors: dict[str, int]
    load_cpu: float
    """Of one core. Near 1.0 the generator itself would be the limit."""
    server: CpuTime | None
    """What the server's loop used meanwhile; None where the system does not tell."""

    @property
    def requests_per_s(self) -> float:
        return self.requests / self.seconds


def measure(job: Job) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-m", "bench.load"],
        input=msgspec.json.encode(job),
        stdout=subprocess.PIPE,
        cwd=_CHECKOUT,
        check=True,
        timeout=job.warm_up_s + job.seconds + _LAST_ANSWERS_S + _START_S,
    )
    return msgspec.json.decode(done.stdout, type=Outcome)


async def _run(job: Job) -> Outcome:
    tally = Tally()
    connections = [await _connect(job, number, tally) for number in range(job.connections)]
    await asyncio.sleep(job.warm_up_s)

    tally.took_ns = []
    server, own_ns, started_ns = cpu_time(job.server_pid), process_time_ns(), perf_counter_ns()
    await asyncio.sleep(job.seconds)
    took_ns, tally.took_ns = tally.took_ns, []
    wall_ns = perf_counter_ns() - started_ns
    own_ns = process_time_ns() - own_ns
    server_now = cpu_time(job.server_pid)

    tally.stopping = True
    await _last_answers(connections, tally)
    if not took_ns:
        tally.errors["nothing was answered"] += 1
    took_ns.sort()
    return Outcome(
        requests=len(took_ns),
        seconds=wall_ns / 1e9,
        p50_us=_percentile_us(took_ns, 50),
        p99_us=_percentile_us(took_ns, 99),
        errors=dict(tally.errors),
        load_cpu=own_ns / wall_ns,
        server=server_now.since(server) if server is not None and server_now is not None else None,
    )


async def _connect(job: Job, number: int, tally: Tally) -> Connection:
    make = partial(Connection, job.requests[number % len(job.requests)], tally)
    _, connection = await asyncio.get_running_loop().create_connection(make, "127.0.0.1", job.port)
    return connection


async def _last_answers(connections: list[Connection], tally: Tally) -> None:
    try:
        async with asyncio.timeout(_LAST_ANSWERS_S):
            for connection in connections:
                await connection.ended.wait()
    except TimeoutError:
        tally.errors["no answer"] += sum(not connection.ended.is_set() for connection in connections)


def _percentile_us(sorted_ns: list[int], percent: int) -> float:
    return sorted_ns[(len(sorted_ns) - 1) * percent // 100] / 1000 if sorted_ns else 0.0


def main() -> None:
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        outcome = runner.run(_run(job))
    sys.stdout.buffer.write(msgspec.json.encode(outcome))


if __name__ == "__main__":
    main()
