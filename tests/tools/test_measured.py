"""The tables of docs/scaling.md: from what the bench writes, whatever part of it there is."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.charts import write_charts
from bench.cpu import CpuTime
from bench.figures import Run
from bench.filling_results import Filling, Second, ServerEvent
from bench.findings import Findings
from bench.footprint import Footprint
from bench.growth import Growth, Pair
from bench.load import Outcome
from bench.market_results import MarketFindings
from bench.names import SHOWN
from bench.ratio import RatioResult, at_most
from bench.report import write_results
from bench.spread import Spread
from tools.measured import BEGIN, CALLS, CHARTS, END, FLOORS, STORES, measured, measured_page


def findings() -> Findings:
    run = Run(rounds=3, seconds=1)
    rates = {"get_floor": 20_000, "me_sqlite": 16_000, "post_floor": 15_000, "orders_pg": 3_000}
    for number in (1, 2, 3):
        for call, rate in rates.items():
            for connections in (1, 64):
                outcome = Outcome(
                    requests=rate + 100 * number,
                    seconds=1,
                    p50_us=1_500.0 if connections == 64 else 700.0,
                    p99_us=6_000.0,
                    load_cpu=0.95 if call == "get_floor" else 0.5,
                    server=CpuTime(ran_ns=900_000_000, waited_ns=0),
                    whole_cpu_ns=1_280_000_000 if call == "orders_pg" else None,
                )
                run.note(call, connections, number, outcome)
        for clients in (2, 8):
            outcome = Outcome(requests=500 * clients, seconds=1, whole_cpu_ns=250_000_000 * clients)
            run.note("pgbench", clients, number, outcome)
    size = Spread(100_000_000, 90_000_000, 110_000_000)
    footprints = [Footprint("pg", accounts, Spread(1, 0.9, 1.1), size, size) for accounts in (1, 100_000)]
    pairs = {"list <deep>": Pair(100, 150, 1.5), "place": Pair(300, 310, 1.03)}
    growths = [Growth("sqlite", 1_300_000, pairs, pairs), Growth("pg", 10_300_000, pairs, pairs)]
    market = MarketFindings(
        [
            RatioResult("cover_cpu_vs_quickfix", Spread(1.1, 1.0, 1.2), "a cover ÷ QuickFIX", at_most(1.5)),
            RatioResult("cover_cpu_vs_bare", Spread(11.0, 9.0, 12.0), "a cover ÷ bare bytes", None),
        ],
        {"parse": 30.0, "the rest": 90.0},
    )
    cpu = CpuTime(ran_ns=250_000_000, waited_ns=50_000_000)
    seconds = [Second(rate, 10_000, 20_000, 2_000 * rate, 100, cpu) for rate in (900.0, 300.0, 600.0)]
    filling = Filling(2_000, 64, 1, 1_800, 10_000, 25_000, seconds, [ServerEvent("checkpoint", 1.5, 1.9)])
    return Findings(run, footprints=footprints, growths=growths, filling=filling, market=market)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """As the bench itself writes them."""
    path = tmp_path_factory.mktemp("bench") / "results.json"
    write_results(path, findings())
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def row(text: str, name: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if f"| `{name}` |" in line]
    return line.strip("| ").split(" | ")


def test_ratios_stand_beside_their_targets(results: dict[str, Any]) -> None:
    text = measured(results)
    assert row(text, "me_vs_get_floor")[1:6] == ["0.80", "0.80 to 0.80", "0.80", "≥ 0.65", "met"]
    assert row(text, "orders_cpu_vs_post_floor")[5] == "**not met**"
    assert row(text, "orders_pg_vs_post_floor")[4].startswith("orders_pg ÷ post_floor")  # no target
    with_target = [each for each in results["ratios"].values() if each["target"]]
    met = [each for each in with_target if each["met"]]
    assert 0 < len(met) < len(with_target)
    assert f"{len(met)} of {len(with_target)} targets are met." in text
    assert all(f"| `{name}` |" in text for name in results["ratios"])


def test_covers_stand_beside_their_targets_with_where_their_time_goes(results: dict[str, Any]) -> None:
    text = measured(results)
    assert row(text, "cover_cpu_vs_quickfix")[1:6] == ["1.10", "1.00 to 1.20", "–", "≤ 1.50", "met"]
    assert row(text, "cover_cpu_vs_bare")[1] == "11.00"
    assert "| parse | 30 | 25% |" in text
    assert "| the rest | 90 | 75% |" in text


def test_results_without_covers_give_no_part_of_them(results: dict[str, Any]) -> None:
    older = {name: each for name, each in results.items() if name != "market"}
    assert "Covers over FIX" in measured(results)
    assert "Covers over FIX" not in measured(older)
    assert "Covers over FIX" not in measured(older | {"market": {"ratios": {}, "parts_us": {}}})


def test_a_call_is_told_with_its_cost(results: dict[str, Any]) -> None:
    orders = row(measured(results), "orders_pg")
    assert orders[:3] == ["Place a test order", "PostgreSQL and Redis", "`orders_pg`"]
    assert orders[3:] == ["281", "3,556", "3,200", "3,100 to 3,300", "1.50", "6.00", "0.70"]


def test_what_an_order_costs_in_all_is_told_if_it_is_known(results: dict[str, Any]) -> None:
    told = "CPU time of one order in all: 400 µs in the service, PostgreSQL and Redis; 500 µs in pgbench"
    assert told in measured(results)
    older = [
        {name: each for name, each in call.items() if name != "whole_us_per_request"}
        for call in results["calls"]
    ]
    assert "in all" not in measured(results | {"calls": older})


def test_a_store_is_told_with_the_clients_that_suit_it_best(results: dict[str, Any]) -> None:
    assert row(measured(results), "pgbench")[2:5] == ["–", "–", "4,000"]


def test_a_call_that_the_load_generator_held_back_is_marked(results: dict[str, Any]) -> None:
    text = measured(results)
    assert row(text, "get_floor")[4] == "20,200\\*"
    assert "The load generator had no more to give" in text


def test_start_memory_and_growth(results: dict[str, Any]) -> None:
    text = measured(results)
    assert "| PostgreSQL and Redis | 100,000 | 1.00 | 0.90 to 1.10 | 100 | 100 |" in text
    assert "The largest node is within the bound of 250 MB." in text
    assert "SQLite, 1,300,000 orders stored: the worst is “list <deep>”, 1.50." in text
    assert "| place | 300 | 310 | 1.03 | 300 | 310 | 1.03 |" in text


def test_a_store_that_fills_is_told_with_its_slowest_seconds(results: dict[str, Any]) -> None:
    text = measured(results)
    assert "1,800 orders of 2,000 accounts at 64 connections in 3 s" in text
    assert "p50 10.0 ms, p99 25.0 ms, 2,000 bytes of WAL an order." in text
    assert "What PostgreSQL did meanwhile: checkpoint (1)." in text
    assert "| 2 | 300 | 20.0 | 250 | 50 | 0.6 | 100 | checkpoint |\n" in text
    assert "| 3 | 600 | 20.0 | 250 | 50 | 1.2 | 100 | – |\n" in text
    assert row(text, "filling_last_vs_first")[1] == "0.67"


def test_the_build_of_python_is_told_if_it_is_known(results: dict[str, Any]) -> None:
    known = results["environment"] | {"python": "3.11.2", "python_build": "of the distribution, GCC 12"}
    assert "Python 3.11.2 (of the distribution, GCC 12)" in measured(results | {"environment": known})
    older = {name: each for name, each in known.items() if name != "python_build"}
    assert "Python 3.11.2, " in measured(results | {"environment": older})


def test_a_part_that_is_missing_gives_no_table(results: dict[str, Any]) -> None:
    whole = measured(results)
    for part, heading in (
        ("ratios", "### Targets"),
        ("calls", "### Cost of a call"),
        ("footprints", "### Start and memory"),
        ("growth", "### On an account with many"),
        ("filling", "### On a store that fills"),
    ):
        assert heading in whole
        assert heading not in measured({name: each for name, each in results.items() if name != part})
    assert measured({}) == "No run of the bench is in the repository yet.\n"


def test_rows_of_an_older_bench_are_left_out(results: dict[str, Any]) -> None:
    old = {
        "ratios": {"me_vs_get_floor": {"value": 0.6, "low": 0.5, "high": 0.9, "target": "≥ 0.65"}},
        "calls": [
            {name: each for name, each in call.items() if name != "rounds"} for call in results["calls"]
        ],
        "environment": {"python": "3.11"},
    }
    assert measured(old) == measured({})


def test_what_the_system_does_not_tell_is_left_open(results: dict[str, Any]) -> None:
    calls = [each | {"server_us_per_request": None, "p50_us": None} for each in results["calls"]]
    footprints = [each | {"pss_bytes": None, "rss_bytes": None} for each in results["footprints"]]
    text = measured(results | {"calls": calls, "footprints": footprints, "bytes_per_account": {"pg": None}})
    assert row(text, "orders_pg")[3:] == ["–", "–", "3,200", "3,100 to 3,300", "–", "6.00", "–"]
    assert "The largest node" not in text


def test_a_chart_is_shown_if_it_is_there(results: dict[str, Any]) -> None:
    assert "pictures/" not in measured(results)
    assert "(pictures/bench-growth.svg)" in measured(results, {"bench-growth.svg"})


def test_the_names_are_those_of_the_bench(tmp_path: Path) -> None:
    assert {*FLOORS, *(f"{call}_{store}" for call in CALLS for store in STORES)} == set(SHOWN)
    write_charts(tmp_path, findings())
    assert {name for name, _ in CHARTS.values()} == {path.name for path in tmp_path.iterdir()}


def test_only_what_stands_between_the_marks_is_written(tmp_path: Path, results: dict[str, Any]) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "bench").mkdir()
    page = tmp_path / "docs/scaling.md"
    page.write_text(f"before\n\n{BEGIN}\nold\n{END}\n\nafter\n", "utf-8")
    assert measured_page(tmp_path) == page.read_text("utf-8")  # No results: a run may be under way.
    (tmp_path / "bench/results.json").write_text(json.dumps(results), "utf-8")
    assert measured_page(tmp_path) == f"before\n\n{BEGIN}\n\n{measured(results)}\n{END}\n\nafter\n"


def test_a_page_without_marks_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "bench").mkdir()
    (tmp_path / "docs/scaling.md").write_text(f"before\n{BEGIN}\n", "utf-8")
    (tmp_path / "bench/results.json").write_text("{}", "utf-8")
    with pytest.raises(ValueError, match="lacks the two comments"):
        measured_page(tmp_path)
