"""A figure divided by another of the same round, and the target that it is held against."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .figures import Figure, Run, server_us
from .load import Outcome
from .spread import Spread

Point = tuple[str, int]
"""A call and the number of its connections."""


@dataclass(frozen=True, slots=True)
class Target:
    bound: float
    at_least: bool = True
    aim: float | None = None
    """What the design hopes for beyond that."""

    @property
    def words(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{sign} {self.bound:.2f}" + ("" if self.aim is None else f", aim {self.aim:.2f}")

    def met(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound


def at_least(bound: float, aim: float | None = None) -> Target:
    return Target(bound, aim=aim)


def at_most(bound: float) -> Target:
    return Target(bound, at_least=False)


@dataclass(frozen=True, slots=True)
class RatioResult:
    """A ratio as this run has it."""

    name: str
    spread: Spread
    divides: str
    target: Target | None
    """None: shown for comparison, nothing hangs on it."""
    by_server_time: Spread | None = None
    points: tuple[Point, ...] = ()

    @property
    def met(self) -> bool | None:
        return None if self.target is None else self.target.met(self.spread.value)


def ratio_results(found: RatioResult) -> dict[str, Any]:
    return {
        **found.spread.rounded(3),
        "divides": found.divides,
        "target": found.target and found.target.words,
        "met": found.met,
        "by_server_time": found.by_server_time and found.by_server_time.rounded(3),
    }


class Ratio(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def points(self) -> tuple[Point, ...]:
        """What it is made of."""

    def of(self, run: Run) -> RatioResult | None:
        """None where the system does not tell what it is made of."""


@dataclass(frozen=True, slots=True)
class PairRatio:
    """The work's requests/s as a part of the floor's in the same round."""

    name: str
    work: str
    floor: str
    target: Target | None
    connections: int = 64
    floor_connections: tuple[int, ...] = ()
    """As many as the work's, unless something is said here; of several, the best in each round."""

    @property
    def points(self) -> tuple[Point, ...]:
        return (self.work, self.connections), *self._floors

    @property
    def _floors(self) -> tuple[Point, ...]:
        return tuple((self.floor, each) for each in self.floor_connections or (self.connections,))

    def of(self, run: Run) -> RatioResult:
        pairs = self._pairs(run)
        rounds = [work.requests_per_s / floor.requests_per_s for work, floor in pairs]
        return RatioResult(
            self.name, Spread.of(rounds), self._divides, self.target, _by_server_time(pairs), self.points
        )

    @property
    def _divides(self) -> str:
        own = f"calls/s at {_counted(self.connections, 'connection')}"
        if not self.floor_connections:
            return f"{self.work} ÷ {self.floor}, {own}"
        others = " or ".join(str(each) for each in self.floor_connections)
        best = ", the best of the round" if len(self.floor_connections) > 1 else ""
        return f"{self.work}, {own}, ÷ {self.floor} with {others}{best}"

    def _pairs(self, run: Run) -> list[tuple[Outcome, Outcome]]:
        works, floors = run.outcomes[self.work, self.connections], _best_by_round(run, self._floors)
        return [(works[number], floors[number]) for number in works if number in floors]


def _best_by_round(run: Run, points: Sequence[Point]) -> dict[int, Outcome]:
    """Of several points the one that did most in a second."""
    first, *others = (run.outcomes[each] for each in points)
    return {
        number: max([outcome, *(each[number] for each in others)], key=lambda found: found.requests_per_s)
        for number, outcome in first.items()
        if all(number in each for each in others)
    }


def _by_server_time(pairs: Sequence[tuple[Outcome, Outcome]]) -> Spread | None:
    """The same from the CPU time of a request: what it would be if nothing held either server back."""
    rounds = []
    for work, floor in pairs:
        work_us, floor_us = server_us(work), server_us(floor)
        if not work_us or not floor_us:
            return None
        rounds.append(floor_us / work_us)
    return Spread.of(rounds)


@dataclass(frozen=True, slots=True)
class TailRatio:
    """How much longer than most the slowest of a hundred answers takes."""

    name: str
    call: str
    connections: int
    target: Target | None

    @property
    def points(self) -> tuple[Point, ...]:
        return ((self.call, self.connections),)

    def of(self, run: Run) -> RatioResult:
        rounds = [
            each.p99_us / each.p50_us
            for each in run.outcomes[self.call, self.connections].values()
            if each.p50_us and each.p99_us
        ]
        divides = f"p99 ÷ p50 of {self.call} at {_counted(self.connections, 'connection')}"
        return RatioResult(self.name, Spread.of(rounds), divides, self.target, points=self.points)


@dataclass(frozen=True, slots=True)
class CostRatio:
    """What one call costs as a part of what another does in the same round."""

    name: str
    cost: Figure
    above: Sequence[Point]
    below: Sequence[Point]
    """Of several, the one that did most in a second."""
    divides: str
    target: Target | None

    @property
    def points(self) -> tuple[Point, ...]:
        return *self.above, *self.below

    def of(self, run: Run) -> RatioResult | None:
        above, below = (self._costs(run, points) for points in (self.above, self.below))
        rounds = [above[number] / below[number] for number in above if number in below]
        if not rounds:
            return None
        return RatioResult(self.name, Spread.of(rounds), self.divides, self.target, points=self.points)

    def _costs(self, run: Run, points: Sequence[Point]) -> dict[int, float]:
        read = {number: self.cost.read(each) for number, each in _best_by_round(run, points).items()}
        return {number: cost for number, cost in read.items() if cost}


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
