"""Ratios are made of figures of the same round, and held against the targets of the design."""

import pytest

from bench.cpu import CpuTime
from bench.figures import LOOP_US, Run
from bench.load import Outcome
from bench.ratio import CostRatio, PairRatio, TailRatio, Target, at_least, at_most
from bench.ratios import RATIOS

TARGETS = {
    "orders_cpu_vs_post_floor": "≥ 0.35, aim 0.45",
    "orders_sqlite_cpu_vs_post_floor": "≥ 0.35, aim 0.45",
    "order_cpu_total_vs_pgbench": "≤ 0.90",
    "orders_pg_vs_pgbench": "≥ 1.50, aim 2.00",
    "orders_c256_vs_post_floor": "≥ 0.33",
    "workers_two_vs_one": "≥ 1.00",
    "orders_c1_vs_plain": "≥ 1.00",
    "production_vs_test": "≥ 0.45",
    "production_sqlite_vs_test": "≥ 0.45",
    "production_book_vs_each": "≥ 0.95",
    "me_vs_get_floor": "≥ 0.65",
    "positions_pg_vs_get_floor": "≥ 0.30",
    "order_pg_vs_get_floor": "≥ 0.30",
    "positions_sqlite_vs_get_floor": "≥ 0.40",
    "order_sqlite_vs_get_floor": "≥ 0.40",
    "list_pg_vs_get_floor": "≥ 0.12",
    "list_sqlite_vs_get_floor": "≥ 0.15",
    "p99_over_p50_c64": "≤ 3.00",
    "p99_over_p50_c64_2000": "≤ 3.00",
}


def run_of(rates: dict[tuple[str, int], list[float]]) -> Run:
    run = Run(rounds=3, seconds=1)
    for (call, connections), rounds in rates.items():
        for number, rate in enumerate(rounds, 1):
            run.note(call, connections, number, Outcome(requests=round(rate), seconds=1))
    return run


def test_the_targets_are_those_of_the_design() -> None:
    found = {
        ratio.name: ratio.target for ratio in RATIOS if isinstance(ratio, PairRatio | TailRatio | CostRatio)
    }

    assert {name: target.words for name, target in found.items() if target is not None} == TARGETS


def test_pairs_are_of_the_same_round() -> None:
    run = run_of({("work", 64): [100, 400, 900], ("floor", 64): [200, 400, 300]})

    found = PairRatio("r", "work", "floor", at_least(0.9)).of(run)

    assert (found.spread.low, found.spread.value, found.spread.high) == (0.5, 1.0, 3.0)
    assert found.met


def test_a_round_that_only_one_of_them_was_in_is_left_out() -> None:
    run = run_of({("work", 64): [100, 100, 100], ("floor", 64): [200, 200]})

    assert PairRatio("r", "work", "floor", None).of(run).spread.low == 0.5


def test_of_several_floors_the_best_of_the_round_counts() -> None:
    run = run_of({("work", 64): [100, 100, 100], ("store", 2): [10, 200, 10], ("store", 8): [50, 10, 10]})

    found = PairRatio("r", "work", "store", at_least(1.5), floor_connections=(2, 8)).of(run)

    assert (found.spread.low, found.spread.value, found.spread.high) == (0.5, 2.0, 10.0)


def costing(us: list[int | None], rates: list[int]) -> dict[int, Outcome]:
    return {
        number: Outcome(
            requests=rate, seconds=1, server=None if each is None else CpuTime(each * 1000 * rate, 0)
        )
        for number, (each, rate) in enumerate(zip(us, rates, strict=True), 1)
    }


def test_costs_are_of_the_same_round_and_of_the_floor_that_did_most() -> None:
    run = Run(rounds=3, seconds=1)
    run.outcomes["work", 64] = costing([100, 200, None], [10, 10, 10])
    run.outcomes["store", 2] = costing([50, 400, 50], [20, 20, 20])
    run.outcomes["store", 8] = costing([500, 100, 50], [10, 30, 10])
    ratio = CostRatio("r", LOOP_US, [("work", 64)], [("store", 2), ("store", 8)], "", at_most(2))

    found = ratio.of(run)

    assert found is not None
    assert (found.spread.value, found.spread.low, found.spread.high) == (2.0, 2.0, 2.0)
    assert ratio.points == (("work", 64), ("store", 2), ("store", 8))


def test_costs_that_nobody_told_make_no_ratio() -> None:
    run = run_of({("work", 64): [1, 1, 1], ("floor", 64): [1, 1, 1]})

    assert CostRatio("r", LOOP_US, [("work", 64)], [("floor", 64)], "", None).of(run) is None


@pytest.mark.parametrize(
    ("target", "value", "met"),
    [
        (at_least(0.4, aim=0.6), 0.4, True),
        (at_least(0.4, aim=0.6), 0.39, False),
        (at_most(3), 3.0, True),
        (at_most(3), 3.1, False),
    ],
)
def test_a_target_is_met_or_not(target: Target, value: float, *, met: bool) -> None:
    assert target.met(value) is met
