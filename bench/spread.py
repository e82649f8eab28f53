"""What the rounds of one figure come to."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of the rounds, the lowest and the highest."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, rounds: Sequence[float]) -> "Spread":
        return cls(median(rounds), min(rounds), max(rounds))

    def rounded(self, digits: int) -> dict[str, float]:
        return {name: round(getattr(self, name), digits) for name in ("value", "low", "high")}
