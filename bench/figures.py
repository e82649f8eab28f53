"""What a run found: the outcome of every round, and the figures read from them."""

from collections.abc import Callable
from dataclasses import dataclass, field

from .load import Outcome
from .spread import Spread


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    heading: str
    """Over its column in the table."""
    form: str
    digits: int
    """How many are kept in the file."""
    read: Callable[[Outcome], float | None]


def _server_cpu(outcome: Outcome) -> float | None:
    return None if outcome.server is None else outcome.server.ran_ns / 1e9 / outcome.seconds


def _server_busy(outcome: Outcome) -> float | None:
    server = outcome.server
    return None if server is None else (server.ran_ns + server.waited_ns) / 1e9 / outcome.seconds


def server_us(outcome: Outcome) -> float | None:
    return None if outcome.server is None else outcome.server.ran_ns / 1000 / outcome.requests


def whole_us(outcome: Outcome) -> float | None:
    return None if outcome.whole_cpu_ns is None else outcome.whole_cpu_ns / 1000 / outcome.requests


RATE = Figure("requests_per_s", "calls/s", ",.0f", 0, lambda outcome: outcome.requests_per_s)
LOOP_US = Figure("server_us_per_request", "CPU µs", ".1f", 1, server_us)
WHOLE_US = Figure("whole_us_per_request", "in all", ".0f", 1, whole_us)
BUSY = Figure("server_busy", "busy", ".0%", 2, _server_busy)
LOAD_CPU = Figure("load_cpu", "load", ".0%", 2, lambda outcome: outcome.load_cpu)
FIGURES = (
    RATE,
    Figure("p50_us", "p50 µs", ",.0f", 1, lambda outcome: outcome.p50_us),
    Figure("p99_us", "p99 µs", ",.0f", 1, lambda outcome: outcome.p99_us),
    Figure("server_cpu", "CPU", ".0%", 2, _server_cpu),
    BUSY,
    LOOP_US,
    WHOLE_US,
    LOAD_CPU,
)


NEAR_FULL = 0.9
"""Of a core: who uses more than this may be what limits the others."""


@dataclass(slots=True)
class Run:
    rounds: int
    seconds: float
    outcomes: dict[tuple[str, int], dict[int, Outcome]] = field(default_factory=dict)
    """For each call and number of connections its outcome in each round that it was in."""

    def note(self, call: str, connections: int, number: int, outcome: Outcome) -> None:
        self.outcomes.setdefault((call, connections), {})[number] = outcome

    def spread(self, call: str, connections: int, figure: Figure) -> Spread | None:
        """None when the system does not tell."""
        read = [figure.read(outcome) for outcome in self.outcomes[call, connections].values()]
        known = [each for each in read if each is not None]
        return Spread.of(known) if known else None
