"""A run's figures as a file for whoever compares runs."""

import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

import msgspec

from tests.support.servers import NotInstalled, find

from .figures import FIGURES, LOAD_CPU, NEAR_FULL, Run
from .findings import Findings
from .footprint import BOUND_BYTES, Footprint, bytes_per_account
from .growing import growth_results
from .ratio import RatioResult


def write_results(path: Path, findings: Findings) -> None:
    run = findings.run
    results = {
        "ratios": {found.name: _ratio(found) for found in findings.ratios},
        "calls": [_call(run, call, connections) for call, connections in run.outcomes],
        "footprints": [_footprint(each) for each in findings.footprints],
        "bytes_per_account": {
            store: _whole(bytes_per_account(findings.footprints, store))
            for store in dict.fromkeys(each.store for each in findings.footprints)
        },
        "worker_bound_bytes": BOUND_BYTES,
        "worker_memory_after_load": findings.memory,
        "growth": [growth_results(each) for each in findings.growths],
        "errors": sum(
            sum(each.errors.values()) for rounds in run.outcomes.values() for each in rounds.values()
        ),
        "rounds": run.rounds,
        "seconds_per_round": run.seconds,
        "environment": environment(),
    }
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=2) + b"\n")


def _whole(number: float | None) -> int | None:
    return None if number is None else round(number)


def _ratio(found: RatioResult) -> dict[str, Any]:
    return {
        **found.spread.rounded(3),
        "divides": found.divides,
        "target": found.target and found.target.words,
        "met": found.met,
        "by_server_time": found.by_server_time and found.by_server_time.rounded(3),
    }


def _call(run: Run, call: str, connections: int) -> dict[str, Any]:
    spreads = {figure: run.spread(call, connections, figure) for figure in FIGURES}
    load = spreads[LOAD_CPU]
    return {
        "call": call,
        "connections": connections,
        "rounds": len(run.outcomes[call, connections]),
        **{figure.name: found and found.rounded(figure.digits) for figure, found in spreads.items()},
        "limited_by_load": load is not None and load.value >= NEAR_FULL,
    }


def _footprint(found: Footprint) -> dict[str, Any]:
    return {
        "store": found.store,
        "accounts": found.accounts,
        "start_s": found.start_s.rounded(3),
        "rss_bytes": found.rss_bytes and found.rss_bytes.rounded(0),
        "pss_bytes": found.pss_bytes and found.pss_bytes.rounded(0),
    }


def environment() -> dict[str, Any]:
    """What the figures depend on; nothing that tells whose machine it was."""
    return {
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "postgresql": _version("postgres"),
        "redis": _version("redis-server"),
    }


def _version(program: str) -> str | None:
    """The number alone: what else is said may name a distribution or a build machine."""
    try:
        said = subprocess.run([find(program), "--version"], capture_output=True, text=True, timeout=30).stdout
    except NotInstalled:
        return None
    found = re.search(r"[0-9]+(\.[0-9]+)+", said)
    return None if found is None else found[0]
