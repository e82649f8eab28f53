"""Everything that a run found, and the ratios made of it."""

from dataclasses import dataclass, field

from .figures import Run
from .filling_results import Filling, filling_ratios
from .footprint import Footprint
from .growing import growth_ratios
from .growth import Growth
from .market_results import MarketFindings
from .ratio import RatioResult
from .ratios import RATIOS


@dataclass(slots=True)
class Findings:
    run: Run
    memory: dict[str, list[dict[str, int]]] = field(default_factory=dict)
    """Of each service after its load, worker by worker; nothing where the system does not tell."""
    footprints: list[Footprint] = field(default_factory=list)
    growths: list[Growth] = field(default_factory=list)
    decisions: list[RatioResult] = field(default_factory=list)
    beside_console: list[RatioResult] = field(default_factory=list)
    streams: list[RatioResult] = field(default_factory=list)
    filling: Filling | None = None
    market: MarketFindings = field(default_factory=MarketFindings)

    @property
    def ratios(self) -> list[RatioResult]:
        """Those whose calls were measured: without PostgreSQL there are fewer."""
        found = [
            result
            for ratio in RATIOS
            if all(point in self.run.outcomes for point in ratio.points)
            and (result := ratio.of(self.run)) is not None
        ]
        return [
            *found,
            *self.decisions,
            *self.beside_console,
            *self.streams,
            *filling_ratios(self.filling),
            *growth_ratios(self.growths),
        ]
