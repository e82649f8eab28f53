"""What is measured, and in which order: `python -m bench`."""

import argparse
import contextlib
import sys
import time
from pathlib import Path

from tests.support.servers import NotInstalled

from .beside_console import measure_beside_console
from .charts import write_charts
from .environment import environment, told
from .extent import FULL, FULL_GROWTH, QUICK, Extent
from .faults import CallFailed
from .filling import measure_filling
from .findings import Findings
from .footprint import measure_footprints
from .growing import measure_growths
from .market_lines import measure_market_lines
from .probes import Servers, running_bench
from .report import write_results
from .rounds import measure_rounds
from .service import servers
from .streams import measure_streams
from .table import lines

RESULTS = Path("bench/results.json")
CHARTS = Path("docs/pictures")
_started = time.monotonic()


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description="Measures speed as ratios to a bare server.")
    how_much = parser.add_mutually_exclusive_group()
    how_much.add_argument("--quick", action="store_true", help="shows that it works, not how fast; no growth")
    how_much.add_argument("--full", action="store_true", help="growth to ten million orders, not one")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file to write (%(default)s)")
    parser.add_argument("--charts", type=Path, default=CHARTS, help="the folder for charts (%(default)s)")
    wanted = parser.parse_args()
    wanted.results.unlink(missing_ok=True)  # or a run that fails would seem to have left it
    extent = QUICK if wanted.quick else FULL_GROWTH if wanted.full else FULL
    _say(f"on {told(environment())}")
    try:
        findings = _measure(extent)
    except CallFailed as failure:
        sys.exit(f"The bench ends here, and writes nothing. {failure}")
    write_results(wanted.results, findings)
    write_charts(wanted.charts, findings)
    print()
    for line in lines(findings):
        print(line)
    took_min = (time.monotonic() - _started) / 60
    print(f"\nWritten after {took_min:.1f} minutes: {wanted.results}, and charts in {wanted.charts}.")


def _measure(extent: Extent) -> Findings:
    with contextlib.ExitStack() as stack:
        shared = _servers(stack)
        with running_bench(extent, shared, _say) as bench:
            run = measure_rounds(extent, bench.probes(), _say, bench.launch_again)
            memory = bench.memory()
            decisions = bench.decisions()
        beside_console = measure_beside_console(extent, shared, _say)
        streams = measure_streams(extent, shared, _say)
        footprints = measure_footprints(extent, shared, _say)
    market = measure_market_lines(extent, _say)
    # These have servers of their own, beside which nothing else should run.
    filling = None if shared is None else measure_filling(extent, _say)
    growths = measure_growths(extent, ("sqlite",) if shared is None else ("sqlite", "pg"), _say)
    return Findings(run, memory, footprints, growths, decisions, beside_console, streams, filling, market)


def _servers(stack: contextlib.ExitStack) -> Servers | None:
    try:
        return stack.enter_context(servers())
    except NotInstalled as missing:
        _say(f"without PostgreSQL and Redis, because {missing}")
        return None


def _say(what: str) -> None:
    print(f"{time.monotonic() - _started:6.1f} s  {what}", flush=True)


if __name__ == "__main__":
    main()
