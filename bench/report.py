"""What a run found: ratios of its rounds, a table to read, and a file for whoever compares runs."""

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from .load import Outcome

_SERVER = ("uvicorn", "uvloop", "httptools")


@dataclass(frozen=True, slots=True)
class Spread:
    """The rounds of one figure: their median, lowest and highest."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, rounds: Sequence[float]) -> "Spread":
        return cls(median(rounds), min(rounds), max(rounds))

    def rounded(self, digits: int) -> dict[str, float]:
        return {
            "value": round(self.value, digits),
            "low": round(self.low, digits),
            "high": round(self.high, digits),
        }


@dataclass(frozen=True, slots=True)
class Ratio:
    """One target of the design: the work's requests/s as a part of the floor's, at so many connections."""

    name: str
    work: str
    floor: str
    connections: int
    target: float
    least: float
    """Below this the call is too slow to ship; between this and the target there is work left."""

    @property
    def divides(self) -> str:
        return (
            f"{self.work} ÷ {self.floor}, requests/s at {self.connections} connections, each round by itself"
        )

    def verdict(self, value: float) -> str:
        if value >= self.target:
            return "met"
        return "not met" if value >= self.least else "not met, and below what is a must"


@dataclass(slots=True)
class Run:
    """All outcomes: for each call and number of connections one a round, in the order of the rounds."""

    rounds: int
    seconds: float
    outcomes: dict[tuple[str, int], list[Outcome]] = field(default_factory=dict)

    def note(self, call: str, connections: int, outcome: Outcome) -> None:
        self.outcomes.setdefault((call, connections), []).append(outcome)

    def spread(self, call: str, connections: int, figure: Callable[[Outcome], float]) -> Spread:
        return Spread.of([figure(outcome) for outcome in self.outcomes[call, connections]])

    def ratio(self, ratio: Ratio) -> Spread:
        pairs = zip(
            self.outcomes[ratio.work, ratio.connections],
            self.outcomes[ratio.floor, ratio.connections],
            strict=True,
        )
        return Spread.of([work.requests_per_s / floor.requests_per_s for work, floor in pairs])


def table(run: Run) -> str:
    lines = [_row("call", "connections", "requests/s", "low – high", "p50 ms", "p99 ms", *_SERVER_COLUMNS)]
    for call, connections in run.outcomes:
        rate = run.spread(call, connections, _rate)
        lines.append(
            _row(
                call,
                str(connections),
                f"{rate.value:,.0f}",
                f"{rate.low:,.0f} – {rate.high:,.0f}",
                f"{run.spread(call, connections, _p50_us).value / 1000:.2f}",
                f"{run.spread(call, connections, _p99_us).value / 1000:.2f}",
                *_server_columns(run, call, connections),
            )
        )
    return "\n".join(lines)


_SERVER_COLUMNS = ("server CPU", "server busy", "µs/request", "load CPU")


def _server_columns(run: Run, call: str, connections: int) -> tuple[str, ...]:
    load = f"{run.spread(call, connections, _load_cpu).value:.0%}"
    if not _server_known(run.outcomes[call, connections]):
        return ("?", "?", "?", load)
    return (
        f"{run.spread(call, connections, _server_cpu).value:.0%}",
        f"{run.spread(call, connections, _server_busy).value:.0%}",
        f"{run.spread(call, connections, _server_us).value:.1f}",
        load,
    )


def _row(call: str, *columns: str) -> str:
    widths = (11, 10, 17, 6, 6, 10, 11, 10, 8)
    return f"{call:<10}" + "".join(
        f"  {column:>{width}}" for column, width in zip(columns, widths, strict=True)
    )


def ratio_line(run: Run, ratio: Ratio) -> str:
    found = run.ratio(ratio)
    return (
        f"{ratio.name}  {found.value:.2f}  (rounds {found.low:.2f} – {found.high:.2f})  "
        f"target ≥ {ratio.target:.2f}, at least {ratio.least:.2f}: {ratio.verdict(found.value)}"
    )


def write_results(path: Path, run: Run, ratios: Sequence[Ratio]) -> None:
    results = {
        "ratios": {
            ratio.name: {
                **run.ratio(ratio).rounded(3),
                "divides": ratio.divides,
                "target": ratio.target,
                "verdict": ratio.verdict(run.ratio(ratio).value),
            }
            for ratio in ratios
        },
        "calls": [_figures(run, call, connections) for call, connections in run.outcomes],
        "errors": sum(sum(outcome.errors.values()) for rounds in run.outcomes.values() for outcome in rounds),
        "rounds": run.rounds,
        "seconds_per_round": run.seconds,
        "environment": environment(),
    }
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=2) + b"\n")


def _figures(run: Run, call: str, connections: int) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "call": call,
        "connections": connections,
        "requests_per_s": run.spread(call, connections, _rate).rounded(0),
        "p50_us": run.spread(call, connections, _p50_us).rounded(1),
        "p99_us": run.spread(call, connections, _p99_us).rounded(1),
        "load_cpu": run.spread(call, connections, _load_cpu).rounded(2),
    }
    if _server_known(run.outcomes[call, connections]):
        figures |= {
            "server_cpu": run.spread(call, connections, _server_cpu).rounded(2),
            "server_busy": run.spread(call, connections, _server_busy).rounded(2),
            "server_us_per_request": run.spread(call, connections, _server_us).rounded(1),
        }
    return figures


def environment() -> dict[str, Any]:
    """What the figures depend on; nothing that tells whose machine it was."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.system(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        **{name: version(name) for name in _SERVER},
    }


def _rate(outcome: Outcome) -> float:
    return outcome.requests_per_s


def _p50_us(outcome: Outcome) -> float:
    return outcome.p50_us


def _p99_us(outcome: Outcome) -> float:
    return outcome.p99_us


def _load_cpu(outcome: Outcome) -> float:
    return outcome.load_cpu


def _server_known(outcomes: Sequence[Outcome]) -> bool:
    return all(outcome.server is not None for outcome in outcomes)


def _server_cpu(outcome: Outcome) -> float:
    assert outcome.server is not None
    return outcome.server.ran_ns / 1e9 / outcome.seconds


def _server_busy(outcome: Outcome) -> float:
    assert outcome.server is not None
    return (outcome.server.ran_ns + outcome.server.waited_ns) / 1e9 / outcome.seconds


def _server_us(outcome: Outcome) -> float:
    assert outcome.server is not None
    return outcome.server.ran_ns / 1000 / outcome.requests
