"""The bench runs from end to end and writes what it found. How fast anything is, is not for a test to say."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.environment import python_build
from bench.extent import QUICK
from bench.figures import Run
from bench.findings import Findings
from bench.quickfix_deals import AVAILABLE
from bench.ratios import RATIOS
from bench.report import write_results

MARKET_LINES = {
    "cover_cpu_us",
    "cover_p50_ms",
    "cover_p99_ms",
    "cover_cpu_vs_bare",
    "cover_p50_vs_bare",
    "reports_per_s",
    "quotes_core_share",
    "line_back_s",
} | ({"cover_cpu_vs_quickfix", "cover_p50_vs_quickfix"} if AVAILABLE else set())
CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.mark.campaign
@pytest.mark.usefixtures("postgres", "redis")  # Without them, half of it is left out.
def test_quick_run_writes_its_ratios(tmp_path: Path) -> None:
    path = tmp_path / "results.json"

    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick", "--results", str(path), "--charts", str(tmp_path)],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "me_vs_get_floor" in done.stdout
    results = json.loads(path.read_text())
    assert results["errors"] == 0
    assert results["rounds"] == QUICK.rounds
    assert set(results["ratios"]) - {"console_update_s"} == {ratio.name for ratio in RATIOS} | {
        "orders_beside_console",
        "decisions_per_order",
        "decisions_per_order_mixed",
        "orders_with_events_vs_without",
        "idle_streams_mb",
        "idle_streams_cores",
        "event_to_500_streams_ms",
    }
    assert set(results["market"]["ratios"]) == MARKET_LINES
    for ratio in results["ratios"].values():
        assert 0 <= ratio["low"] <= ratio["value"] <= ratio["high"] > 0
    assert "me_sqlite ÷ get_floor" in results["ratios"]["me_vs_get_floor"]["divides"]
    measured = {(call["call"], call["connections"]) for call in results["calls"]}
    assert measured >= {each for ratio in RATIOS for each in ratio.points}
    for call in results["calls"]:
        low, value, high = (call["requests_per_s"][name] for name in ("low", "value", "high"))
        assert 0 < low <= value <= high
        if call["call"] != "pgbench":  # which tells no percentiles
            assert 0 < call["p50_us"]["value"] <= call["p99_us"]["value"]
    for name in ("bench-ratios.svg", "bench-orders.svg", "bench-reads.svg"):
        assert (tmp_path / name).is_file()
    for found in results["footprints"]:
        assert 0 < found["start_s"]["low"] <= found["start_s"]["high"]


def test_results_tell_nothing_of_whose_machine_it_was(tmp_path: Path) -> None:
    write_results(tmp_path / "results.json", Findings(Run(rounds=3, seconds=1)))

    environment = json.loads((tmp_path / "results.json").read_text())["environment"]
    assert set(environment) == {"cpus", "machine", "python", "python_build", "postgresql", "redis"}
    assert "/" not in environment["python_build"]


@pytest.mark.parametrize(
    ("arguments", "prefix", "how"),
    [
        ("'--enable-shared'", "/opt/python", "self-built without optimisation"),
        ("'--enable-optimizations'", "/opt/python", "built with optimisation"),
        ("'--enable-optimizations' '--with-lto'", "/usr/local", "built with optimisation and LTO"),
        ("'--prefix=/usr'", "/usr", "of the distribution"),
    ],
)
def test_how_this_python_was_built_is_told(arguments: str, prefix: str, how: str) -> None:
    assert python_build(arguments, "GCC 12.2.0 ", prefix) == f"{how}, GCC 12.2.0"
