"""A run's figures as a file for whoever compares runs."""

from pathlib import Path
from typing import Any

import msgspec

from .environment import environment
from .figures import FIGURES, LOAD_CPU, NEAR_FULL, Run
from .filling_results import filling_results
from .findings import Findings
from .footprint import BOUND_BYTES, Footprint, bytes_per_account
from .growing import growth_results
from .market_results import market_results
from .ratio import ratio_results


def write_results(path: Path, findings: Findings) -> None:
    run = findings.run
    results = {
        "ratios": {found.name: ratio_results(found) for found in findings.ratios},
        "calls": [_call(run, call, connections) for call, connections in run.outcomes],
        "footprints": [_footprint(each) for each in findings.footprints],
        "bytes_per_account": {
            store: _whole(bytes_per_account(findings.footprints, store))
            for store in dict.fromkeys(each.store for each in findings.footprints)
        },
        "worker_bound_bytes": BOUND_BYTES,
        "worker_memory_after_load": findings.memory,
        "market": market_results(findings.market),
        "filling": filling_results(findings.filling),
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
