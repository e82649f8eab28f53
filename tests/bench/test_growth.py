"""Growth is measured from end to end on small stores. How flat anything is, is not for a test to say."""

import msgspec
import pytest

from bench.growth import Growth, Pair, lines, measure_growth


def test_growth_is_measured_call_by_call() -> None:
    said: list[str] = []

    growth = measure_growth("sqlite", 25_000, said.append, rounds=1, most=20_000, others=2)

    assert growth.orders >= 25_000
    for pairs in (growth.by_store, growth.by_account):
        assert {"place", "replay", "one order", "positions", "list first page", "list deep"} <= set(pairs)
        assert {"production place", "production list by status"} <= set(pairs)
        assert all(pair.small_us > 0 and pair.grown_us > 0 and pair.ratio > 0 for pair in pairs.values())
    assert growth.account_worst.call in growth.by_account
    assert any("seeded" in each for each in said)


def test_worst_call_is_named() -> None:
    growth = Growth(
        "pg",
        7,
        by_store={"me": Pair(10, 11, 1.1), "place": Pair(10, 13, 1.25)},
        by_account={"list": Pair(10, 9, 0.9)},
    )

    assert msgspec.structs.astuple(growth.worst) == ("place", pytest.approx(1.25))
    assert msgspec.structs.astuple(growth.account_worst) == ("list", pytest.approx(0.9))
    assert lines(growth)[-2:] == ["growth_worst 1.25 (place)", "growth_account_worst 0.90 (list)"]
