"""The load generator: `python -m bench.load`, jobs on standard input and outcomes as answers.

It is a process of its own, so that it takes no time from the server, and one for the whole run, because its
start takes longer than a short job.
"""

import asyncio
import contextlib
import gc
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter_ns, process_time_ns, time

import msgspec
import uvloop

from .connection import FRESH_KEY, Connection, JobState, form_of
from .cpu import CpuTime, cpu_time, tree_cpu_ns
from .turns import Sharing, turns_of

_CHECKOUT = Path(__file__).resolve().parent.parent
_CONNECT_S = 10
_FIRST_ANSWER_S = 10
_LAST_ANSWERS_S = 10
_STOP_S = 30


class Job(msgspec.Struct, frozen=True, kw_only=True):
    port: int
    requests: tuple[bytes, ...]
    connections: int
    sharing: Sharing = Sharing.ONE
    """Which of the requests each connection sends."""
    warm_up_s: float
    seconds: float
    server_pids: tuple[int, ...]
    tree_pids: tuple[int, ...] = ()
    """The processes at the head of everything that takes part: the service, its store, its limiter."""
    by_second: bool = False
    """Whether each second of it is told by itself."""


class SecondOutcome(msgspec.Struct, frozen=True):
    requests_per_s: float
    p50_us: float
    p99_us: float
    server: CpuTime | None = None


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What one job found. What its kind of job cannot tell is None."""

    requests: int
    seconds: float
    p50_us: float | None = None
    p99_us: float | None = None
    errors: dict[str, int] = {}
    load_cpu: float | None = None
    """Of one core. Near 1.0 the generator itself would be the limit."""
    server: CpuTime | None = None
    """What the server's loops used meanwhile; None where the system does not tell."""
    whole_cpu_ns: int | None = None
    """What everything used that took part, but for a load generator."""
    began_at_s: float = 0
    """Since 1970."""
    by_second: list[SecondOutcome] = []

    @classmethod
    def of(
        cls,
        took_ns: list[int],
        seconds: float,
        load_cpu: float | None = None,
        errors: dict[str, int] | None = None,
        server: CpuTime | None = None,
        whole_cpu_ns: int | None = None,
    ) -> "Outcome":
        """From how long each answer took."""
        took_ns.sort()
        return cls(
            requests=len(took_ns),
            seconds=seconds,
            p50_us=_percentile_us(took_ns, 50),
            p99_us=_percentile_us(took_ns, 99),
            errors=errors or {},
            load_cpu=load_cpu,
            server=server,
            whole_cpu_ns=whole_cpu_ns,
        )

    @property
    def requests_per_s(self) -> float:
        return self.requests / self.seconds


class Generator:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def measure(self, job: Job) -> Outcome:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(job) + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("The load generator ended before its job was done.")
        return msgspec.json.decode(line, type=Outcome)


@contextlib.contextmanager
def running_generator() -> Iterator[Generator]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.load"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_CHECKOUT
    )
    with process:
        try:
            yield Generator(process)
        finally:
            process.terminate()
            process.wait(_STOP_S)


async def _run(job: Job) -> Outcome:
    state = JobState(fresh_keys=any(FRESH_KEY in each for each in job.requests))
    requests = tuple(map(form_of, job.requests)) if state.fresh_keys else job.requests
    turns = turns_of(requests, job.connections, job.sharing)
    try:
        async with asyncio.timeout(_CONNECT_S):
            connections = [await _connect(job.port, each, state) for each in turns]
    except (OSError, TimeoutError) as error:
        return Outcome(requests=0, seconds=1, errors={f"no connection ({type(error).__name__})": 1})
    await asyncio.sleep(job.warm_up_s)

    state.took_ns = []
    whole_ns = tree_cpu_ns(job.tree_pids)
    server, own_ns, started_ns = cpu_time(job.server_pids), process_time_ns(), perf_counter_ns()
    began_at_s = time()
    by_second = await _seconds(job, state, started_ns) if job.by_second else []
    await asyncio.sleep(job.seconds - len(by_second))
    await _first_answer(state)
    took_ns, state.took_ns = state.took_ns, []
    wall_ns = perf_counter_ns() - started_ns
    own_ns = process_time_ns() - own_ns
    server_now, whole_now_ns = cpu_time(job.server_pids), tree_cpu_ns(job.tree_pids)

    state.stopping = True
    await _last_answers(connections, state)
    if not took_ns:
        state.errors["nothing was answered"] += 1
    used = server_now.since(server) if server is not None and server_now is not None else None
    whole = whole_now_ns - whole_ns if whole_now_ns is not None and whole_ns is not None else None
    outcome = Outcome.of(took_ns, wall_ns / 1e9, own_ns / wall_ns, dict(state.errors), used, whole)
    return msgspec.structs.replace(outcome, began_at_s=began_at_s, by_second=by_second)


async def _seconds(job: Job, state: JobState, started_ns: int) -> list[SecondOutcome]:
    found: list[SecondOutcome] = []
    before_ns, answered, server = started_ns, 0, cpu_time(job.server_pids)
    for each in range(1, int(job.seconds) + 1):
        await asyncio.sleep(max(0.0, (started_ns + each * 1_000_000_000 - perf_counter_ns()) / 1e9))
        now_ns, took_ns = perf_counter_ns(), sorted(state.took_ns[answered:])
        server_now = cpu_time(job.server_pids)
        used = server_now.since(server) if server is not None and server_now is not None else None
        rate = len(took_ns) * 1e9 / (now_ns - before_ns)
        found.append(SecondOutcome(rate, _percentile_us(took_ns, 50), _percentile_us(took_ns, 99), used))
        before_ns, answered, server = now_ns, answered + len(took_ns), server_now
    return found


async def _connect(port: int, requests: Sequence[bytes], state: JobState) -> Connection:
    make = partial(Connection, requests, state)
    _, connection = await asyncio.get_running_loop().create_connection(make, "127.0.0.1", port)
    return connection


async def _first_answer(state: JobState) -> None:
    """A short job on a busy machine may end before anything is answered."""
    give_up_ns = perf_counter_ns() + _FIRST_ANSWER_S * 1_000_000_000
    while not state.took_ns and not state.errors and perf_counter_ns() < give_up_ns:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def _last_answers(connections: list[Connection], state: JobState) -> None:
    try:
        async with asyncio.timeout(_LAST_ANSWERS_S):
            for connection in connections:
                await connection.ended.wait()
    except TimeoutError:
        state.errors["no answer"] += sum(not connection.ended.is_set() for connection in connections)
        for connection in connections:
            connection.cut()


def _percentile_us(sorted_ns: list[int], percent: int) -> float:
    return sorted_ns[(len(sorted_ns) - 1) * percent // 100] / 1000 if sorted_ns else 0.0


def main() -> None:
    decode = msgspec.json.Decoder(Job).decode
    # A collection in the middle of a job would show as a slow answer of the server. What a job leaves is
    # collected before the next.
    gc.disable()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        for line in sys.stdin.buffer:
            outcome = runner.run(_run(decode(line)))
            gc.collect()
            sys.stdout.buffer.write(msgspec.json.encode(outcome) + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
