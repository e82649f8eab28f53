"""What a run found: the outcome of every round, the figures read from them, and the ratios."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Protocol

from .load import Outcome


@dataclass(frozen=True, slots=True)
class Spread:
    """The rounds of one figure: their median, lowest and highest."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, rounds: Sequence[float]) -> "Spread":
        return cls(median(rounds), min(rounds), max(rounds))

    def rounded(self, digits: int) -> dict[str, float]:
        return {name: round(getattr(self, name), digits) for name in ("value", "low", "high")}


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


def _server_us(outcome: Outcome) -> float | None:
    return None if outcome.server is None else outcome.server.ran_ns / 1000 / outcome.requests


RATE = Figure("requests_per_s", "requests/s", ",.0f", 0, lambda outcome: outcome.requests_per_s)
BUSY = Figure("server_busy", "server busy", ".0%", 2, _server_busy)
SERVER_US = Figure("server_us_per_request", "server µs", ".1f", 1, _server_us)
FIGURES = (
    RATE,
    Figure("p50_us", "p50 µs", ",.0f", 1, lambda outcome: outcome.p50_us),
    Figure("p99_us", "p99 µs", ",.0f", 1, lambda outcome: outcome.p99_us),
    Figure("server_cpu", "server CPU", ".0%", 2, _server_cpu),
    BUSY,
    SERVER_US,
    Figure("load_cpu", "load CPU", ".0%", 2, lambda outcome: outcome.load_cpu),
)


@dataclass(slots=True)
class Run:
    rounds: int
    seconds: float
    outcomes: dict[tuple[str, int], list[Outcome]] = field(default_factory=dict)
    """For each call and number of connections one a round, in the order of the rounds."""

    def note(self, call: str, connections: int, outcome: Outcome) -> None:
        self.outcomes.setdefault((call, connections), []).append(outcome)

    def spread(self, call: str, connections: int, figure: Figure) -> Spread | None:
        """None when the system does not tell."""
        read = [figure.read(outcome) for outcome in self.outcomes[call, connections]]
        known = [each for each in read if each is not None]
        return Spread.of(known) if known else None


class Ratio(Protocol):
    """A target of the design."""

    @property
    def name(self) -> str: ...

    @property
    def calls(self) -> tuple[tuple[str, int], ...]:
        """What it is made of, as call and number of connections."""

    @property
    def divides(self) -> str: ...

    @property
    def aim(self) -> str: ...

    def of(self, run: Run) -> Spread: ...

    def by_server_time(self, run: Run) -> Spread | None: ...

    def verdict(self, value: float) -> str: ...


@dataclass(frozen=True, slots=True)
class PairRatio:
    """The work's requests/s as a part of the floor's, at so many connections."""

    name: str
    work: str
    floor: str
    connections: int
    target: float
    least: float
    """Under this the call is too slow; from here to the target there is work left."""

    @property
    def calls(self) -> tuple[tuple[str, int], ...]:
        return (self.floor, self.connections), (self.work, self.connections)

    @property
    def divides(self) -> str:
        return f"{self.work} ÷ {self.floor}, requests/s at {self.connections} connections, round by round"

    @property
    def aim(self) -> str:
        least = "" if self.least == self.target else f", least {self.least:.2f}"
        return f"target ≥ {self.target:.2f}{least}"

    def of(self, run: Run) -> Spread:
        return Spread.of([work.requests_per_s / floor.requests_per_s for work, floor in self._pairs(run)])

    def by_server_time(self, run: Run) -> Spread | None:
        """The same from the CPU time of a request: what it would be if nothing held either server back."""
        rounds = []
        for work, floor in self._pairs(run):
            work_us, floor_us = _server_us(work), _server_us(floor)
            if not work_us or not floor_us:
                return None
            rounds.append(floor_us / work_us)
        return Spread.of(rounds)

    def verdict(self, value: float) -> str:
        if value >= self.target:
            return "met"
        return "not met" if value >= self.least else "not met, and under the least"

    def _pairs(self, run: Run) -> list[tuple[Outcome, Outcome]]:
        works, floors = (run.outcomes[call, self.connections] for call in (self.work, self.floor))
        return list(zip(works, floors, strict=True))


@dataclass(frozen=True, slots=True)
class TailRatio:
    """How much longer than most the slowest of a hundred answers takes."""

    name: str
    call: str
    connections: int
    most: float

    @property
    def calls(self) -> tuple[tuple[str, int], ...]:
        return ((self.call, self.connections),)

    @property
    def divides(self) -> str:
        return f"p99 ÷ p50 of {self.call} at {self.connections} connections, round by round"

    @property
    def aim(self) -> str:
        return f"target ≤ {self.most:.2f}"

    def of(self, run: Run) -> Spread:
        return Spread.of([each.p99_us / each.p50_us for each in run.outcomes[self.call, self.connections]])

    def by_server_time(self, run: Run) -> Spread | None:  # noqa: ARG002 - a tail is not made of CPU time
        return None

    def verdict(self, value: float) -> str:
        return "met" if value <= self.most else "not met"
