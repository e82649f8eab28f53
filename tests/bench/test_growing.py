"""Growth becomes the two ratios of the design, each of the worst call on any store."""

import pytest

from bench.extent import QUICK
from bench.growing import growth_ratios, growth_results, measure_growths
from bench.growth import Growth, Pair

FLAT = Growth("pg", 1_000_000, {"place": Pair(10, 11, 1.1)}, {"list": Pair(10, 10, 1.0)})
STEEP = Growth("sqlite", 1_000_000, {"place": Pair(10, 14, 1.4)}, {"list": Pair(10, 9, 0.9)})


def test_the_worst_call_of_any_store_counts() -> None:
    by_store, by_account = growth_ratios([FLAT, STEEP])

    assert (by_store.name, by_store.spread.value, by_store.met) == ("growth_worst", 1.4, False)
    assert by_store.divides.startswith("'place' on sqlite with 1,000,000 orders stored ÷")
    assert (by_account.name, by_account.spread.value, by_account.met) == ("growth_account_worst", 1.0, True)
    assert "'list' on pg" in by_account.divides


def test_targets_are_those_of_the_design() -> None:
    assert [found.target and found.target.words for found in growth_ratios([FLAT])] == ["≤ 1.30", "≤ 1.50"]


def test_results_have_every_call() -> None:
    results = growth_results(STEEP)

    assert results["worst"] == {"call": "place", "ratio": 1.4}
    assert results["by_store"]["place"] == {"small_us": 10, "grown_us": 14, "ratio": pytest.approx(1.4)}


def test_a_quick_run_has_none() -> None:
    assert measure_growths(QUICK, ("sqlite",), lambda _said: None) == []
    assert growth_ratios([]) == []
