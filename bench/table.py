"""A run's figures for a person, a hundred columns wide."""

from collections.abc import Iterable, Iterator, Sequence

from .figures import BUSY, FIGURES, LOAD_CPU, NEAR_FULL, RATE, Run
from .filling_results import second_rows
from .findings import Findings
from .footprint import BOUND_BYTES, Footprint, bytes_per_account
from .growth import Growth
from .ratio import RatioResult
from .spread import Spread

_WORST_SHOWN = 5
_MB = 1e6

_LEGEND = """\
At once: connections, or clients of a store. CPU: what the event loops of the server got of a core;
busy adds the time they stood in line for one. CPU µs: the same for each call, which suffers less from
what else this machine does; in all: with the store and the limiter. Load: what the load generator
took of a core."""


def lines(findings: Findings) -> Iterator[str]:
    run = findings.run
    yield f"Medians of up to {run.rounds} rounds of {run.seconds} s each:"
    yield ""
    yield from aligned(_call_rows(run))
    yield ""
    yield _LEGEND
    yield from _notes(run)
    yield ""
    yield from _footprint_lines(findings)
    if findings.filling is not None:
        yield ""
        yield f"The slowest of {len(findings.filling.seconds)} seconds on a store that fills:"
        yield from aligned(second_rows(findings.filling, findings.filling.slowest))
    for growth in findings.growths:
        yield ""
        yield from aligned(_growth_rows(growth))
    yield ""
    yield from aligned(ratio_rows([*findings.ratios, *findings.market.ratios]))
    for found in findings.ratios:
        yield from _doubts(run, found)


def aligned(cells: Iterable[Sequence[str]]) -> Iterator[str]:
    """The first column to the left, the others to the right."""
    rows = list(cells)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        rest = "".join(f"  {cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        yield f"{first:<{widths[0]}}{rest}".rstrip()


def _call_rows(run: Run) -> Iterator[list[str]]:
    yield ["", "at once", RATE.heading, "rounds", *(each.heading for each in FIGURES if each is not RATE)]
    for call, connections in run.outcomes:
        rate = run.spread(call, connections, RATE)
        cells = [_cell(run.spread(call, connections, each), each.form) for each in FIGURES]
        yield [call, str(connections), cells[0], _range(rate, RATE.form), *cells[1:]]


def _cell(found: Spread | None, form: str) -> str:
    return "–" if found is None else format(found.value, form)


def _range(found: Spread | None, form: str) -> str:
    return "–" if found is None else f"{found.low:{form}}–{found.high:{form}}"


def _notes(run: Run) -> Iterator[str]:
    for call, connections in run.outcomes:
        load = run.spread(call, connections, LOAD_CPU)
        if load is not None and load.value >= NEAR_FULL:
            yield (
                f"{call} at {connections}: the load generator took {load.value:.0%} of a core; "
                "the server may be faster."
            )


def _footprint_lines(findings: Findings) -> Iterator[str]:
    rows = [["start-up and memory", "accounts", "start s", "rounds", "PSS MB", "RSS MB"]]
    rows += [_footprint_row(each) for each in findings.footprints]
    yield from aligned(rows)
    for store in dict.fromkeys(each.store for each in findings.footprints):
        per_account = bytes_per_account(findings.footprints, store)
        most = max(
            (each for each in findings.footprints if each.store == store), key=lambda each: each.accounts
        )
        if per_account is not None and most.pss_bytes is not None:
            verdict = "within" if most.pss_bytes.high <= BOUND_BYTES else "over"
            yield (
                f"{store}: {per_account:,.0f} bytes an account; with {most.accounts:,} accounts "
                f"{most.pss_bytes.value / _MB:.0f} MB, {verdict} the bound of {BOUND_BYTES / _MB:.0f} MB."
            )
    for name, workers in findings.memory.items():
        each = ", ".join(
            f"{worker['pss'] / _MB:.0f} MB ({worker['rss'] / _MB:.0f} RSS)" for worker in workers
        )
        if each:
            yield f"{name} after the load, for each worker: {each}."


def _footprint_row(found: Footprint) -> list[str]:
    pss, rss = (
        "–" if size is None else f"{size.value / _MB:.0f}" for size in (found.pss_bytes, found.rss_bytes)
    )
    return [
        f"node on {found.store}",
        f"{found.accounts:,}",
        f"{found.start_s.value:.2f}",
        f"{found.start_s.low:.2f}–{found.start_s.high:.2f}",
        pss,
        rss,
    ]


def _growth_rows(growth: Growth) -> Iterator[list[str]]:
    """The worst few calls; the file has them all."""
    for heading, pairs in (("store", growth.by_store), ("account", growth.by_account)):
        what = f"growth of the {heading} on {growth.engine}, to {growth.orders:,} orders"
        yield [what, "small µs", "grown µs", "ratio"]
        for call, pair in sorted(pairs.items(), key=lambda item: -item[1].ratio)[:_WORST_SHOWN]:
            yield [f"  {call}", f"{pair.small_us:,.0f}", f"{pair.grown_us:,.0f}", f"{pair.ratio:.2f}"]


def ratio_rows(ratios: list[RatioResult]) -> Iterator[list[str]]:
    yield ["ratio", "value", "rounds", "by CPU time", "target", ""]
    for found in ratios:
        by_time = found.by_server_time
        yield [
            found.name,
            f"{found.spread.value:.2f}",
            _range(found.spread, ".2f"),
            "" if by_time is None else f"{by_time.value:.2f}",
            "" if found.target is None else found.target.words,
            {True: "met", False: "not met", None: ""}[found.met],
        ]


def _doubts(run: Run, found: RatioResult) -> Iterator[str]:
    """A server that was not busy was held back by something else, and its ratio says little about it."""
    if found.by_server_time is None:
        return
    for call, connections in found.points:
        busy = run.spread(call, connections, BUSY)
        waited = connections > 1 and busy is not None and busy.value < NEAR_FULL
        if waited and busy is not None and found.met is False:
            yield f"{found.name}: {call} was busy for only {busy.value:.0%}; its CPU time tells more."
