"""The rounds of a run."""

from collections.abc import Callable, Sequence

from .extent import Extent
from .faults import CallFailed
from .figures import Run
from .names import SHOWN
from .probes import Probe
from .ratio import Point


def measure_rounds(
    extent: Extent, probes: Sequence[Probe], say: Callable[[str], None], launch_again: Callable[[], None]
) -> Run:
    run = Run(extent.rounds, extent.seconds)
    for number in range(1, extent.rounds + 1):
        if number > 1:
            say(f"launching the services for round {number}")
            launch_again()
        wanted = [each for each in probes if each.in_a_ratio or number <= extent.rounds_of_the_rest]
        # There and back again: a machine that becomes slower and slower favours neither side of a ratio.
        for probe in wanted if number % 2 else reversed(wanted):
            what = f"round {number} of {extent.rounds}, {probe.call}, {probe.connections} at once"
            outcome = probe.measure()
            if outcome.errors:
                # Figures of a server that fails are worth nothing, so there is nothing to write.
                told = ", ".join(f"{fault} ({times} times)" for fault, times in outcome.errors.items())
                raise CallFailed(f"{what}: calls failed: {told}")
            run.note(probe.call, probe.connections, number, outcome)
            say(f"{what}: {outcome.requests_per_s:,.0f}/s")
    run.outcomes = dict(sorted(run.outcomes.items(), key=_place))
    return run


def _place(item: tuple[Point, object]) -> tuple[int, int]:
    (call, connections), _ = item
    return SHOWN.index(call), connections
