"""What is measured, and in which order: `python -m bench`."""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import httpx

from bullion.environment import Environment

from .endpoint import Endpoint
from .figures import Ratio, Run
from .floors import running_floor
from .load import Job, measure
from .report import LEGEND, ratio_lines, table, write_results
from .service import Service, running_service

RESULTS = Path(__file__).with_name("results.json")
ME_PATH = f"{Environment.TEST.base_path}/me"

RATIOS = (Ratio("me_vs_get_floor", work="me", floor="get_floor", connections=64, target=0.65, least=0.5),)


@dataclass(frozen=True, slots=True)
class Extent:
    rounds: int
    connections: tuple[int, ...]
    warm_up_s: float
    seconds: float


# Many short rounds rather than few long ones: noise that lasts for seconds then spoils some of them, and the
# median leaves those out.
FULL = Extent(rounds=5, connections=(1, 16, 64), warm_up_s=0.3, seconds=1.3)
QUICK = Extent(rounds=3, connections=(1, 64), warm_up_s=0.05, seconds=0.1)


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    endpoint: Endpoint
    requests: tuple[bytes, ...]


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description="Measures speed as ratios to a bare server.")
    parser.add_argument(
        "--quick", action="store_true", help="a few seconds: shows that it works, not how fast"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file to write (%(default)s)")
    wanted = parser.parse_args()
    wanted.results.unlink(missing_ok=True)  # or a run that fails would seem to have left it
    run = _measure(QUICK if wanted.quick else FULL)
    write_results(wanted.results, run, RATIOS)
    print(f"\nMedians of {run.rounds} rounds of {run.seconds} s each:\n\n{table(run)}\n\n{LEGEND}\n")
    for ratio in RATIOS:
        print(ratio_lines(run, ratio))
    print(f"\nWritten to {wanted.results}.")


def _measure(extent: Extent) -> Run:
    print("Starting the service and the floor it is measured against.", flush=True)
    with running_service() as service, running_floor("get", len(_body_of_me(service))) as floor:
        requests = tuple(_get(ME_PATH, key) for key in service.keys)
        # The floor is sent the very same requests, so that it has as much to read.
        calls = (Call("get_floor", floor, requests), Call("me", service.endpoint, requests))
        run = Run(extent.rounds, extent.seconds)
        for number in range(1, extent.rounds + 1):
            for connections in extent.connections:
                # One right after the other: what slows this machine for a while slows both sides of a ratio.
                for call in calls:
                    _measure_call(run, extent, number, call, connections)
    return run


def _measure_call(run: Run, extent: Extent, number: int, call: Call, connections: int) -> None:
    job = Job(
        port=call.endpoint.port,
        requests=call.requests,
        connections=connections,
        warm_up_s=extent.warm_up_s,
        seconds=extent.seconds,
        server_pid=call.endpoint.pid,
    )
    outcome = measure(job)
    what = f"round {number} of {extent.rounds}, {call.name}, connections {connections}"
    if outcome.errors:
        # Figures of a server that fails are worth nothing, so there is nothing to write.
        sys.exit(f"{what}: {outcome.errors}")
    run.note(call.name, connections, outcome)
    print(f"{what}: {outcome.requests_per_s:,.0f} requests/s", flush=True)


def _get(path: str, key: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\nX-API-Key: {key}\r\n\r\n".encode(
        "ascii"
    )


def _body_of_me(service: Service) -> bytes:
    headers = {"X-API-Key": service.keys[0]}
    return httpx.get(f"{service.api_url}{ME_PATH}", headers=headers).raise_for_status().content


if __name__ == "__main__":
    main()
