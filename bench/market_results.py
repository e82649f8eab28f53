"""What covering over FIX and taking quotes cost, as a part of the file of results.

It has an environment of its own, because `python -m bench.market_lines --results` writes it alone.
"""

from pathlib import Path
from typing import Any

import msgspec

from .environment import environment
from .ratio import RatioResult, ratio_results


class MarketFindings(msgspec.Struct, frozen=True):
    ratios: list[RatioResult] = []
    parts_us: dict[str, float] = {}
    """Of one cover: microseconds in each part of the adapter."""


def market_results(found: MarketFindings) -> dict[str, Any]:
    return {
        "ratios": {each.name: ratio_results(each) for each in found.ratios},
        "parts_us": {part: round(us, 1) for part, us in found.parts_us.items()},
        "environment": environment(),
    }


def replace_market(path: Path, found: MarketFindings) -> None:
    """Leave all else in the file as it is."""
    results = msgspec.json.decode(path.read_bytes()) | {"market": market_results(found)}
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=2) + b"\n")
