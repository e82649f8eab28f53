"""The load generator: keep-alive connections that each send a request, wait for its answer, and send again.

Each job runs in a process of its own (`python -m bench.load`, the job on standard input), so that it takes no
time from the server, and what one job leaves in memory does not slow the next.
"""

import asyncio
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import cast

import msgspec
import uvloop

from .cpu import CpuTime, cpu_time

_CHECKOUT = Path(__file__).resolve().parent.parent
_LAST_ANSWERS_S = 10
_START_S = 60

_OK = b"HTTP/1.1 200 "
_LENGTH = b"\r\ncontent-length:"


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
    """None where the system does not tell."""

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


class _Tally:
    """What all connections of a job have in common."""

    def __init__(self) -> None:
        self.took_ns: list[int] = []
        self.errors: Counter[str] = Counter()
        self.stopping = False


class _Connection(asyncio.Protocol):
    def __init__(self, request: bytes, tally: _Tally) -> None:
        self._request = request
        self._tally = tally
        self._received = b""
        self._sent_ns = 0
        self._transport: asyncio.Transport
        self.ended = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are not of asyncio's class
        self._send()

    def _send(self) -> None:
        self._sent_ns = perf_counter_ns()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        received = self._received + data if self._received else data
        fault = judge(received)
        if fault is MORE_TO_COME:
            self._received = received
            return
        self._received = b""
        if fault is not None:
            self._end(fault)
            return
        self._tally.took_ns.append(perf_counter_ns() - self._sent_ns)
        if self._tally.stopping:
            self._end(None)
        else:
            self._send()

    def connection_lost(self, _exc: Exception | None) -> None:
        if not self.ended.is_set():
            self._end("connection lost")

    def _end(self, fault: str | None) -> None:
        if fault is not None:
            self._tally.errors[fault] += 1
        self.ended.set()
        self._transport.close()


MORE_TO_COME = "more to come"


def judge(received: bytes) -> str | None:
    """None when this is one whole answer 200 and nothing else; otherwise what is wrong with it."""
    head_end = received.find(b"\r\n\r\n")
    if head_end < 0:
        return MORE_TO_COME
    head = received[:head_end].lower()
    at = head.find(_LENGTH)
    if at < 0:
        return "no Content-Length"
    line_end = head.find(b"\r\n", at + 2)
    value = head[at + len(_LENGTH) : line_end if line_end >= 0 else head_end].strip()
    if not value.isdigit():
        return "unreadable Content-Length"
    missing = head_end + 4 + int(value) - len(received)
    if missing > 0:
        return MORE_TO_COME
    if not received.startswith(_OK):
        return "status " + received[9:12].decode("ascii", "replace")
    return None if missing == 0 else "more than one answer"


async def _run(job: Job) -> Outcome:
    loop = asyncio.get_running_loop()
    tally = _Tally()
    connections: list[_Connection] = []
    for number in range(job.connections):
        request = job.requests[number % len(job.requests)]
        _, connection = await loop.create_connection(
            partial(_Connection, request, tally), "127.0.0.1", job.port
        )
        connections.append(connection)
    await asyncio.sleep(job.warm_up_s)

    tally.took_ns = []
    server, own_ns, started_ns = cpu_time(job.server_pid), process_time_ns(), perf_counter_ns()
    await asyncio.sleep(job.seconds)
    took_ns, tally.took_ns = tally.took_ns, []
    wall_ns = perf_counter_ns() - started_ns
    own_ns = process_time_ns() - own_ns
    server_now = cpu_time(job.server_pid)

    tally.stopping = True
    try:
        async with asyncio.timeout(_LAST_ANSWERS_S):
            for connection in connections:
                await connection.ended.wait()
    except TimeoutError:
        tally.errors["no answer"] += sum(not connection.ended.is_set() for connection in connections)
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


def _percentile_us(sorted_ns: list[int], percent: int) -> float:
    return sorted_ns[(len(sorted_ns) - 1) * percent // 100] / 1000 if sorted_ns else 0.0


def main() -> None:
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        outcome = runner.run(_run(job))
    sys.stdout.buffer.write(msgspec.json.encode(outcome))


if __name__ == "__main__":
    main()
