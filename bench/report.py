"""A run's figures as a table to read, and as a file for whoever compares runs."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from .figures import BUSY, FIGURES, RATE, Ratio, Run, Spread

_SERVER_PARTS = ("uvicorn", "uvloop", "httptools")
_BUSY_ENOUGH = 0.9

LEGEND = """\
Server CPU is what its loop got of a core; busy adds the time it stood in line for one. Near 100 % the server
is what limits the figure, as it should at 64 connections; a single one leaves it waiting for requests.
Server µs is the loop's CPU time for a request: it suffers less from what else this machine does."""


def table(run: Run) -> str:
    rows = [["call", "connections", *(figure.heading for figure in FIGURES), "requests/s of the rounds"]]
    for call, connections in run.outcomes:
        row = [call, str(connections)]
        for figure in FIGURES:
            found = run.spread(call, connections, figure)
            row.append("?" if found is None else format(found.value, figure.form))
        rate = run.spread(call, connections, RATE)
        row.append("?" if rate is None else f"{rate.low:{RATE.form}} – {rate.high:{RATE.form}}")
        rows.append(row)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"{row[0]:<{widths[0]}}"
        + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    )


def ratio_lines(run: Run, ratio: Ratio) -> str:
    found = ratio.of(run)
    lines = [f"{ratio.name} {_shown(found)}, {ratio.aim}: {ratio.verdict(found.value)}"]
    by_time = ratio.by_server_time(run)
    if by_time is not None:
        lines.append(f"  by the server's CPU time {_shown(by_time)}")
    for call, connections in ratio.calls:
        busy = run.spread(call, connections, BUSY)
        if connections > 1 and busy is not None and busy.value < _BUSY_ENOUGH:
            lines.append(f"  {call} was busy for only {busy.value:.0%}: trust the CPU time more")
    return "\n".join(lines)


def _shown(found: Spread) -> str:
    return f"{found.value:.2f} (rounds {found.low:.2f} – {found.high:.2f})"


def write_results(path: Path, run: Run, ratios: Sequence[Ratio]) -> None:
    results = {
        "ratios": {ratio.name: _ratio(run, ratio) for ratio in ratios},
        "calls": [_call(run, call, connections) for call, connections in run.outcomes],
        "errors": sum(sum(outcome.errors.values()) for rounds in run.outcomes.values() for outcome in rounds),
        "rounds": run.rounds,
        "seconds_per_round": run.seconds,
        "environment": _environment(),
    }
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=2) + b"\n")


def _ratio(run: Run, ratio: Ratio) -> dict[str, Any]:
    found, by_time = ratio.of(run), ratio.by_server_time(run)
    return {
        **found.rounded(3),
        "divides": ratio.divides,
        "target": ratio.aim,
        "verdict": ratio.verdict(found.value),
        "by_server_time": by_time and by_time.rounded(3),
    }


def _call(run: Run, call: str, connections: int) -> dict[str, Any]:
    spreads = {figure: run.spread(call, connections, figure) for figure in FIGURES}
    return {
        "call": call,
        "connections": connections,
        **{figure.name: found and found.rounded(figure.digits) for figure, found in spreads.items()},
    }


def _environment() -> dict[str, Any]:
    """What the figures depend on; nothing that tells whose machine it was."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.system(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        **{name: version(name) for name in _SERVER_PARTS},
    }
