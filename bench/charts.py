"""The charts of a run, for the documentation."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from .figures import RATE
from .filling_chart import write_filling_chart
from .findings import Findings
from .growth import Pair
from .picture import Bar, Chart, svg
from .ratio import RatioResult

_SHARES_SHOWN = 3.0
_WORST_SHOWN = 8
_CONNECTIONS = 64

_STORES = {"sqlite": "SQLite", "pg": "PostgreSQL and Redis", "pg_w2": "the same, two workers"}
_CALLS = {"me": "Whose key", "positions": "Positions", "order": "One order", "list": "A list of 50"}


def write_charts(folder: Path, findings: Findings) -> None:
    charts = {
        "bench-ratios.svg": _targets(findings.ratios),
        "bench-orders.svg": _orders(findings),
        "bench-reads.svg": _reads(findings),
        **dict(_growth(findings)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, chart in charts.items():
        (folder / name).write_text(svg(chart), "utf-8")
    if findings.filling is not None:
        write_filling_chart(folder, findings.filling)


def _targets(ratios: list[RatioResult]) -> Chart:
    """All on one scale, on which 1 is the target."""
    return Chart(
        "Speed against its targets",
        "Each ratio ÷ its target, the dashed line. Thin lines: the spread of the rounds. Bars end at three.",
        [
            ("Longer is better", [bar for found in ratios for bar in _share(found, at_least=True)]),
            ("Shorter is better", [bar for found in ratios for bar in _share(found, at_least=False)]),
        ],
        mark=1,
        most=_SHARES_SHOWN,
    )


def _share(found: RatioResult, *, at_least: bool) -> Iterator[Bar]:
    if found.target is None or found.target.at_least != at_least:
        return
    value, low, high = (
        each / found.target.bound for each in (found.spread.value, found.spread.low, found.spread.high)
    )
    told = f"{found.spread.value:.2f}, target {found.target.words.partition(',')[0]}"
    yield Bar(found.name, value, told, "good" if found.met else "bad", low, high)


def _orders(findings: Findings) -> Chart:
    floors = {
        "post_floor": "bare server, typed POST",
        "pgbench": "pgbench, best client count",
        "sqlite3": "sqlite3, one client",
        "bookings_pg": "bookings alone, PostgreSQL",
        "bookings_sqlite": "bookings alone, SQLite",
    }
    return Chart(
        "Orders per second",
        f"At {_CONNECTIONS} connections. Floors: a server that stores nothing, and stores without a server.",
        [
            (
                "Floors",
                [bar for call, label in floors.items() for bar in _best(findings, call, label, "floor")],
            ),
            ("Test orders of 32 accounts", _by_store(findings, "orders")),
            ("Test orders of 2,000 accounts", _by_store(findings, "orders_2000")),
            ("Production orders, a simulated venue at 0 ms", _by_store(findings, "production")),
        ],
    )


def _reads(findings: Findings) -> Chart:
    floors = {"get_floor": "bare server, GET", "list_floor": "the same, as long as a list"}
    return Chart(
        "Reads per second",
        f"At {_CONNECTIONS} connections. The floors answer a constant.",
        [
            (
                "Floors",
                [bar for call, label in floors.items() for bar in _best(findings, call, label, "floor")],
            ),
            *((heading, _by_store(findings, call)) for call, heading in _CALLS.items()),
        ],
    )


def _by_store(findings: Findings, call: str) -> list[Bar]:
    return [bar for store, label in _STORES.items() for bar in _best(findings, f"{call}_{store}", label)]


def _best(findings: Findings, call: str, label: str, kind: str = "bar") -> Iterator[Bar]:
    """At the most connections; of a store, at the client count that suits it. Nothing if not measured."""
    run = findings.run
    counts = [connections for name, connections in run.outcomes if name == call]
    at = [_CONNECTIONS] if _CONNECTIONS in counts else counts
    spreads = [found for each in at if (found := run.spread(call, each, RATE)) is not None]
    if spreads:
        best = max(spreads, key=lambda found: found.value)
        yield Bar(label, best.value, f"{best.value:,.0f}", kind, best.low, best.high)


def _growth(findings: Findings) -> Iterator[tuple[str, Chart]]:
    if not findings.growths:
        return
    most = max(growth.orders for growth in findings.growths)
    by_store = [(_STORES[growth.engine], _worst(growth.by_store)) for growth in findings.growths]
    yield (
        "bench-growth.svg",
        _grown(
            f"Calls with {most:,} orders stored",
            "The worst: time ÷ that on a store next to empty. Dashed: no difference. Bars end at three.",
            by_store,
        ),
    )
    by_account = [(_STORES[growth.engine], _worst(growth.by_account)) for growth in findings.growths]
    yield (
        "bench-growth-account.svg",
        _grown(
            "Calls on an account with a million orders",
            "The worst: time ÷ that on an account with a hundred. Dashed: no difference. Bars end at three.",
            by_account,
        ),
    )


def _grown(heading: str, note: str, groups: list[tuple[str, list[Bar]]]) -> Chart:
    return Chart(heading, note, groups, mark=1, most=_SHARES_SHOWN)


def _worst(pairs: Mapping[str, Pair]) -> list[Bar]:
    worst = sorted(pairs.items(), key=lambda item: -item[1].ratio)[:_WORST_SHOWN]
    return [
        Bar(call, pair.ratio, f"{pair.ratio:.2f} ({pair.small_us:,.0f} → {pair.grown_us:,.0f} µs)")
        for call, pair in worst
    ]
