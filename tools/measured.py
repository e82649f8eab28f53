"""What the bench measured, as tables for docs/scaling.md. A part that the results do not have gives none."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

BEGIN = "<!-- Measured: written by `make generate` from bench/results.json. Change that, not this. -->"
END = "<!-- End of what was measured. -->"

STORES = {"sqlite": "SQLite", "pg": "PostgreSQL and Redis", "pg_w2": "PostgreSQL and Redis, two workers"}
CALLS = {
    "orders": "Place a test order",
    "orders_2000": "Place a test order, 2,000 accounts, two connections for each group of them",
    "orders_mixed": "Place a test order, 2,000 accounts, any on any connection",
    "production": "Place a production order",
    "production_book": "Place a production order, policy `book`",
    "me": "`GET /me`",
    "positions": "`GET /positions`",
    "order": "`GET /orders/{id}`",
    "list": "`GET /orders`, 50 of them",
}
FLOORS = {
    "get_floor": "a bare server, GET",
    "list_floor": "a bare server, GET of as many bytes as a list has",
    "post_floor": "a bare server, typed POST",
    "pgbench": "pgbench with the same rows, an order per transaction",
    "sqlite3": "the sqlite3 module with the same rows, an order per transaction",
    "plain_pg": "a plain service on PostgreSQL, an order per transaction",
    "plain_sqlite": "a plain service on SQLite, an order per transaction",
    "bookings_pg": "the way into the book alone on PostgreSQL, without HTTP, keys and budgets",
    "bookings_sqlite": "the way into the book alone on SQLite",
}
CHARTS = {
    "ratios": ("bench-ratios.svg", "Each ratio beside its target"),
    "orders": ("bench-orders.svg", "Orders per second on each store, and what bare stores and servers do"),
    "reads": ("bench-reads.svg", "Reads per second on each store, and what a bare server does"),
    "filling": (
        "bench-filling.svg",
        "Orders in each second while a store fills",
    ),
    "growth": ("bench-growth.svg", "The calls that grow most with the number of orders in the store"),
    "account": ("bench-growth-account.svg", "The calls that grow most on an account with many orders"),
}

_BUSY = 64
_MB = 1e6
_NONE = "–"

Results = Mapping[str, Any]
Row = Sequence[str]


def measured_page(root: Path) -> str:
    """The page as it is, with what stands between the two marks written anew.

    Without results it stays as it is: a run that is under way has taken the old ones away.
    """
    page = (root / "docs/scaling.md").read_text("utf-8")
    results = root / "bench/results.json"
    if not results.is_file():
        return page
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("docs/scaling.md lacks the two comments between which the measured part stands.")
    pictures = {path.name for path in (root / "docs/pictures").glob("bench-*.svg")}
    return f"{before}{BEGIN}\n\n{measured(json.loads(results.read_bytes()), pictures)}\n{END}{after}"


def measured(results: Results, pictures: Collection[str] = ()) -> str:
    """The sections with their tables, and those of the charts that there are."""
    sections = [
        ("Targets", [*_ratios(results), *_chart("ratios", pictures)]),
        ("Cost of a call", [*_calls(results), *_chart("orders", pictures), *_chart("reads", pictures)]),
        ("Covers over FIX and quotes", [*_market(results)]),
        ("Start and memory", _footprints(results)),
        ("On a store that fills", [*_filling(results), *_chart("filling", pictures)]),
        ("With many orders in the store", [*_growth(results, "by_store"), *_chart("growth", pictures)]),
        ("On an account with many", [*_growth(results, "by_account"), *_chart("account", pictures)]),
    ]
    told = [f"### {heading}\n\n" + "\n\n".join(parts) + "\n" for heading, parts in sections if parts]
    if not told:
        return "No run of the bench is in the repository yet.\n"
    return "\n".join([*_machine(results), *told])


def _chart(name: str, pictures: Collection[str]) -> Iterator[str]:
    file, words = CHARTS[name]
    if file in pictures:
        yield f"![{words}](pictures/{file})"


def _machine(results: Results) -> Iterator[str]:
    of = results.get("environment", {})
    parts = [f"{of['cpus']} cores ({of['machine']})"] if {"cpus", "machine"} <= of.keys() else []
    named = {"python": "Python", "postgresql": "PostgreSQL", "redis": "Redis"}
    builds = {"python": f" ({of['python_build']})"} if of.get("python_build") else {}
    parts += [f"{words} {of[name]}{builds.get(name, '')}" for name, words in named.items() if of.get(name)]
    if {"rounds", "seconds_per_round"} <= results.keys():
        parts.append(f"up to {results['rounds']} rounds of {results['seconds_per_round']:g} s")
    if "errors" in results:
        parts.append(f"failed calls: {results['errors']:,}")
    if parts:
        yield f"This run: {', '.join(parts)}.\n"


# --- Ratios ---------------------------------------------------------------------------------------------


def _ratios(results: Results) -> Iterator[str]:
    ratios = _having(results.get("ratios", {}), ("value", "low", "high", "divides", "target", "met"))
    targets = [(name, each) for name, each in ratios.items() if each["target"] is not None]
    others = [(name, each) for name, each in ratios.items() if each["target"] is None]
    if targets:
        yield f"{sum(each['met'] for _, each in targets)} of {len(targets)} targets are met."
        yield _table(
            ("Ratio", "Value", "Rounds", "By CPU time", "Target", "", "What it divides"),
            (
                [*_ratio(name, each), each["target"], _verdict(each), each["divides"]]
                for name, each in targets
            ),
        )
    if others:
        yield "For comparison, without a target:"
        yield _table(
            ("Ratio", "Value", "Rounds", "By CPU time", "What it divides"),
            ([*_ratio(name, each), each["divides"]] for name, each in others),
        )


def _ratio(name: str, found: Mapping[str, Any]) -> Row:
    by_time = found.get("by_server_time")
    rounds = f"{found['low']:.2f} to {found['high']:.2f}"
    return [f"`{name}`", f"{found['value']:.2f}", rounds, _cell(by_time, ".2f")]


def _verdict(found: Mapping[str, Any]) -> str:
    return "met" if found["met"] else "**not met**"


# --- Calls ----------------------------------------------------------------------------------------------

_NEEDED = ("call", "connections", "rounds", "requests_per_s", "p50_us", "p99_us", "server_us_per_request")


def _calls(results: Results) -> Iterator[str]:
    calls = [each for each in results.get("calls", ()) if all(name in each for name in _NEEDED)]
    ours = {f"{call}_{store}": (call, store) for call in CALLS for store in STORES}
    told = [
        [CALLS[call], STORES[store], f"`{name}`", *_figures(calls, name)]
        for name, (call, store) in ours.items()
        if _busiest(calls, name) is not None
    ]
    if told:
        columns = (
            "CPU µs",
            "A core's worth",
            f"Calls/s at {_BUSY}",
            "Rounds",
            "p50 ms",
            "p99 ms",
            "Alone ms",
        )
        yield _table(("Call", "On", "Name", *columns), told)
    floors = [
        [words, f"`{name}`", *_figures(calls, name)[:4]]
        for name, words in FLOORS.items()
        if _busiest(calls, name) is not None
    ]
    if floors:
        yield "What they are compared with:"
        yield _table(("Floor", "Name", "CPU µs", "A core's worth", "Calls/s", "Rounds"), floors)
    yield from _in_all(calls)
    if any(_limited(calls, name) for name in (*ours, *FLOORS)):
        yield "\\* The load generator had no more to give: the server may be faster."


def _busiest(calls: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any] | None:
    """At the most connections; of a store, at the number of clients that suits it best."""
    found = [each for each in calls if each["call"] == name and each["requests_per_s"]]
    busy = [each for each in found if each["connections"] == _BUSY]
    return max(busy or found, key=lambda each: each["requests_per_s"]["value"], default=None)


def _in_all(calls: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """CPU time of an order in all its processes, and of one by pgbench."""
    order, rival = (
        found and found.get("whole_us_per_request")
        for found in (_busiest(calls, "orders_pg"), _busiest(calls, "pgbench"))
    )
    if order and rival:
        yield (
            f"CPU time of one order in all: {order['value']:.0f} µs in the service, PostgreSQL and Redis; "
            f"{rival['value']:.0f} µs in pgbench and PostgreSQL, with one order per transaction."
        )


def _limited(calls: Sequence[Mapping[str, Any]], name: str) -> bool:
    busiest = _busiest(calls, name)
    return busiest is not None and bool(busiest.get("limited_by_load"))


def _figures(calls: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    busiest = _busiest(calls, name)
    if busiest is None:
        raise LookupError(f"{name} was not measured")
    rate, cpu = busiest["requests_per_s"], busiest["server_us_per_request"]
    alone = next((each for each in calls if each["call"] == name and each["connections"] == 1), None)
    return [
        _cell(cpu, ".0f"),
        _NONE if not cpu or not cpu["value"] else f"{1e6 / cpu['value']:,.0f}",
        f"{rate['value']:,.0f}" + ("\\*" if _limited(calls, name) else ""),
        f"{rate['low']:,.0f} to {rate['high']:,.0f}",
        *(_cell(each, ".2f", 1000) for each in (busiest["p50_us"], busiest["p99_us"])),
        _NONE if alone is None else _cell(alone["p50_us"], ".2f", 1000),
    ]


# --- Covers over FIX and quotes -------------------------------------------------------------------------


def _market(results: Results) -> Iterator[str]:
    """The results have them of a run of their own, which may be of another machine."""
    market = results.get("market", {})
    rows = [*_ratios(market)]
    if rows:
        yield from (each.strip() for each in _machine(market))
        yield from rows
    parts: Mapping[str, float] = market.get("parts_us", {})
    whole = sum(parts.values())
    if whole:
        yield "Where the CPU time of a cover goes:"
        shares = ([part, f"{us:.0f}", f"{us / whole:.0%}"] for part, us in parts.items())
        yield _table(("Part", "CPU µs", "Share"), shares)


# --- Start and memory -----------------------------------------------------------------------------------


def _footprints(results: Results) -> list[str]:
    needed = ("store", "accounts", "start_s", "rss_bytes", "pss_bytes")
    found = [each for each in results.get("footprints", ()) if all(name in each for name in needed)]
    if not found:
        return []
    rows = [
        [
            STORES.get(each["store"], each["store"]),
            f"{each['accounts']:,}",
            f"{each['start_s']['value']:.2f}",
            f"{each['start_s']['low']:.2f} to {each['start_s']['high']:.2f}",
            _cell(each["pss_bytes"], ".0f", _MB),
            _cell(each["rss_bytes"], ".0f", _MB),
        ]
        for each in found
    ]
    columns = ("Node on", "Accounts", "Ready after s", "Rounds", "Memory MB (PSS)", "with shared parts (RSS)")
    return [_table(columns, rows), *_per_account(results, found)]


def _per_account(results: Results, found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    sizes = {store: size for store, size in results.get("bytes_per_account", {}).items() if size is not None}
    if sizes:
        each = ", ".join(f"{size:,} bytes on {STORES.get(store, store)}" for store, size in sizes.items())
        yield f"An account with two keys takes {each}."
    bound = results.get("worker_bound_bytes")
    most = max((each["pss_bytes"]["high"] for each in found if each["pss_bytes"]), default=None)
    if bound and most is not None:
        verdict = "within" if most <= bound else "**over**"
        yield f"The largest node is {verdict} the bound of {bound / _MB:.0f} MB."


# --- A store that fills ---------------------------------------------------------------------------------


def _filling(results: Results) -> Iterator[str]:
    found = results.get("filling")
    if not found:
        return
    rates, connections = found["orders_per_s"], found["connections"]
    wal_each = 1000 * sum(found["wal_kb"]) / sum(rates)
    yield (
        f"{found['orders']:,} orders of {found['accounts']:,} accounts at {connections} connections in "
        f"{len(rates)} s, on a store that was empty: p50 {found['p50_us'] / 1000:.1f} ms, "
        f"p99 {found['p99_us'] / 1000:.1f} ms, {wal_each:,.0f} bytes of WAL an order."
    )
    events = [each["what"] for each in found["events"]]
    kinds = ", ".join(f"{name} ({events.count(name)})" for name in dict.fromkeys(events))
    yield f"What PostgreSQL did meanwhile: {kinds or 'nothing besides'}. The slowest seconds:"
    yield _table(
        ("Second", "Orders", "p99 ms", "Loop ms", "In line ms", "WAL MB", "Sync ms", "What PostgreSQL did"),
        (_second(found, each["second"], each["events"]) for each in found["slowest"]),
    )


def _second(found: Mapping[str, Any], number: int, events: Sequence[str]) -> Row:
    def cell(name: str, form: str = ",") -> str:
        value = found[name][number - 1]
        return _NONE if value is None else format(value, form)

    return [
        str(number),
        cell("orders_per_s"),
        cell("p99_ms", ".1f"),
        cell("loop_ms"),
        cell("in_line_ms"),
        f"{found['wal_kb'][number - 1] / 1000:.1f}",
        cell("sync_ms"),
        ", ".join(events) or _NONE,
    ]


# --- Growth ---------------------------------------------------------------------------------------------


def _growth(results: Results, which: str) -> Iterator[str]:
    growths = [each for each in results.get("growth", ()) if {"store", "orders", which} <= each.keys()]
    if not growths:
        return
    stores = [(STORES.get(each["store"], each["store"]), each) for each in growths]
    for store, each in stores:
        name, pair = max(each[which].items(), key=lambda item: float(item[1]["ratio"]))
        yield f"{store}, {each['orders']:,} orders stored: the worst is “{name}”, {pair['ratio']:.2f}."
    few, many = ("empty", "full") if which == "by_store" else ("a hundred", "most")
    columns = [f"{words}: {column}" for words, _ in stores for column in (f"{few} µs", f"{many} µs", "ratio")]
    names = list(dict.fromkeys(name for _, each in stores for name in each[which]))
    yield _table(
        ("Call", *columns),
        ([name, *(cell for _, each in stores for cell in _pair(each[which].get(name)))] for name in names),
    )


def _pair(found: Mapping[str, float] | None) -> Row:
    if found is None:
        return [_NONE] * 3
    return [f"{found['small_us']:,.0f}", f"{found['grown_us']:,.0f}", f"{found['ratio']:.2f}"]


# --- Tables ---------------------------------------------------------------------------------------------


def _having(found: Mapping[str, Mapping[str, Any]], needed: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    return {name: each for name, each in found.items() if all(key in each for key in needed)}


def _cell(found: Mapping[str, float] | None, form: str, divisor: float = 1) -> str:
    return _NONE if found is None else format(found["value"] / divisor, form)


def _table(heading: Row, rows: Iterable[Row]) -> str:
    lines = [heading, ["-"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
