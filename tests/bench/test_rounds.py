"""A call that fails ends the bench, with words."""

from dataclasses import replace

import pytest

from bench.extent import QUICK
from bench.faults import CallFailed
from bench.load import Outcome
from bench.probes import Probe
from bench.rounds import measure_rounds


def test_failed_calls_are_told() -> None:
    failing = Probe("get_floor", 64, lambda: Outcome(requests=5, seconds=1, errors={"status 503": 2}))

    with pytest.raises(CallFailed, match=r"get_floor, 64 at once: calls failed: status 503 \(2 times\)"):
        measure_rounds(QUICK, [failing], lambda _said: None, lambda: None)


def test_there_and_back_again() -> None:
    order: list[str] = []

    def probe(call: str, connections: int) -> Probe:
        def measure() -> Outcome:
            order.append(call)
            return Outcome(requests=1, seconds=1)

        return Probe(call, connections, measure)

    probes = [probe("get_floor", 64), probe("me_sqlite", 64), probe("me_pg_w2", 16)]
    run = measure_rounds(
        replace(QUICK, rounds=3, rounds_of_the_rest=1),
        probes,
        lambda _said: None,
        lambda: order.append("launch"),
    )

    # What no ratio needs is measured less often.
    first, second, third = ["get_floor", "me_sqlite", "me_pg_w2"], ["me_sqlite", "get_floor"], ["get_floor"]
    assert order == [*first, "launch", *second, "launch", *third, "me_sqlite"]
    assert list(run.outcomes) == [("get_floor", 64), ("me_sqlite", 64), ("me_pg_w2", 16)]
