"""What minutes of orders on a store that fills come to, and what PostgreSQL did meanwhile."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from .cpu import CpuTime
from .environment import environment
from .ratio import RatioResult, ratio_results
from .spread import Spread

_ENDS_S = 15
"""The beginning and the end of a run are so long, or a quarter of one that is short."""
_SLOWEST_SHOWN = 5
_EVENTS_SHOWN = 3


class Second(msgspec.Struct, frozen=True):
    orders_per_s: float
    p50_us: float
    p99_us: float
    wal_bytes: float
    sync_ms: float | None
    """How long processes of PostgreSQL waited for the log to be on disk. Only some versions tell."""
    server: CpuTime | None = None
    """Of the service's loops: little of both means that the store kept them waiting, much of the second that
    the machine had other work."""


class ServerEvent(msgspec.Struct, frozen=True):
    """A checkpoint, a vacuum or an analyze of PostgreSQL, in seconds since the orders began."""

    what: str
    from_s: float
    to_s: float


class Filling(msgspec.Struct, frozen=True):
    accounts: int
    connections: int
    workers: int
    orders: int
    p50_us: float
    p99_us: float
    seconds: list[Second]
    events: list[ServerEvent]

    def during(self, number: int) -> list[str]:
        """What PostgreSQL did in this second besides, counted from 0. What took longest comes first."""
        found = [each for each in self.events if each.from_s < number + 1 and each.to_s >= number]
        found.sort(key=lambda each: each.from_s - each.to_s)
        more = len(found) - _EVENTS_SHOWN
        return [each.what for each in found[:_EVENTS_SHOWN]] + ([f"{more} more"] if more > 0 else [])

    @property
    def slowest(self) -> list[int]:
        """The numbers of the slowest few."""
        return sorted(range(len(self.seconds)), key=lambda number: self.seconds[number].orders_per_s)[
            :_SLOWEST_SHOWN
        ]

    @property
    def ends(self) -> tuple[list[float], list[float]]:
        """Orders a second at the beginning and at the end."""
        rates = [each.orders_per_s for each in self.seconds]
        long = max(1, min(_ENDS_S, len(rates) // 4))
        return rates[:long], rates[-long:]


def filling_ratios(filling: Filling | None) -> list[RatioResult]:
    if filling is None:
        return []
    first, last = filling.ends
    usual = median(first)
    rates = [each.orders_per_s for each in filling.seconds]
    slowest = min(rates) / median(rates)
    tails = [each.p99_us / each.p50_us for each in filling.seconds if each.p50_us]
    about = f"{len(rates)} s of orders_2000_pg on a store that was empty"
    return [
        RatioResult(
            "filling_last_vs_first",
            Spread(median(last) / usual, min(last) / usual, max(last) / usual),
            f"calls/s in the last {len(last)} seconds ÷ in the first {len(first)}, medians, of {about}; "
            "the range is that of the last seconds",
            None,
        ),
        RatioResult(
            "filling_slowest_second",
            Spread(slowest, slowest, slowest),
            f"calls/s in the slowest second ÷ in the median second, of {about}",
            None,
        ),
        RatioResult(
            "filling_p99_over_p50",
            Spread(filling.p99_us / filling.p50_us, min(tails), max(tails)),
            f"p99 ÷ p50 over {about}; the range is that of single seconds",
            None,
        ),
    ]


def filling_results(filling: Filling | None) -> dict[str, Any] | None:
    if filling is None:
        return None

    def column(read: Callable[[Second], float | None], digits: int | None = None) -> list[float | None]:
        return [None if (found := read(each)) is None else round(found, digits) for each in filling.seconds]

    return {
        "accounts": filling.accounts,
        "connections": filling.connections,
        "workers": filling.workers,
        "orders": filling.orders,
        "p50_us": round(filling.p50_us),
        "p99_us": round(filling.p99_us),
        "orders_per_s": column(lambda each: each.orders_per_s),
        "p99_ms": column(lambda each: each.p99_us / 1000, 1),
        "wal_kb": column(lambda each: each.wal_bytes / 1000),
        "sync_ms": column(lambda each: each.sync_ms),
        "loop_ms": column(lambda each: None if each.server is None else each.server.ran_ns / 1e6),
        "in_line_ms": column(lambda each: None if each.server is None else each.server.waited_ns / 1e6),
        "events": [
            {"what": each.what, "from_s": round(each.from_s, 1), "to_s": round(each.to_s, 1)}
            for each in filling.events
        ],
        "slowest": [{"second": number + 1, "events": filling.during(number)} for number in filling.slowest],
        "environment": environment(),
    }


def replace_filling(path: Path, filling: Filling) -> None:
    """Leave all else in the file as it is."""
    results = msgspec.json.decode(path.read_bytes())
    results["filling"] = filling_results(filling)
    results["ratios"] |= {each.name: ratio_results(each) for each in filling_ratios(filling)}
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=2) + b"\n")


def second_rows(filling: Filling, numbers: Sequence[int]) -> Iterator[list[str]]:
    """Of these seconds, for a person."""
    columns = ("p50 ms", "p99 ms", "loop ms", "in line ms", "WAL MB", "sync ms")
    yield ["second", "calls/s", *columns, "what PostgreSQL did"]
    for number in numbers:
        found = filling.seconds[number]
        cpu = found.server
        yield [
            str(number + 1),
            f"{found.orders_per_s:,.0f}",
            f"{found.p50_us / 1000:.1f}",
            f"{found.p99_us / 1000:.1f}",
            *(("–", "–") if cpu is None else (f"{cpu.ran_ns / 1e6:.0f}", f"{cpu.waited_ns / 1e6:.0f}")),
            f"{found.wal_bytes / 1e6:.1f}",
            "–" if found.sync_ms is None else f"{found.sync_ms:.0f}",
            ", ".join(filling.during(number)) or "–",
        ]
