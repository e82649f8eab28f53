"""The chart of a symbol's price before premiums: candles or a line, over minutes up to a year."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import msgspec

from bullion.console.assets import CHART_LIBRARY, href
from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.pages.market.pins import pins_of
from bullion.console.paths import rate_path
from bullion.console.shared_read import Reading
from bullion.console.widgets.components import (
    Column,
    card,
    empty,
    freshness,
    hint,
    table,
)
from bullion.console.widgets.formatting import grouped, weight, zone_name
from bullion.desk.actions.price_history import SPANS, price_history
from bullion.desk.desk import Desk, View
from bullion.metals.scaled import plain, scaled
from bullion.records.token import Actor

_TITLES = {
    "15m": "15 minutes",
    "1h": "1 hour",
    "1d": "1 day",
    "1w": "1 week",
    "1mo": "1 month",
    "1y": "1 year",
}
_KINDS = {"candles": "Candles", "line": "Line"}
_USUAL = "1d"
_READ_EVERY_S = {"15m": 2.0, "1h": 5.0}
_READ_EVERY_S_ELSE = 15.0
_E4 = 4
_PRICES = ("open", "high", "low", "close")
# The licence of the library asks for this on the page.
_CREDIT = "TradingView Lightweight Charts™, Copyright (c) 2026 TradingView, Inc."
_CREDIT_URL = "https://www.tradingview.com/"


@dataclass(frozen=True, slots=True)
class _Chart:
    """A history, made ready once for everybody who looks at it."""

    view: View
    points: str
    """JSON for the script: the begin of each candle by the clocks of the zone, and its four prices."""
    sentence: str


async def _read(visit: Visit, code: str, span: str) -> Reading[_Chart]:
    async def read(desk: Desk, actor: Actor) -> _Chart:
        view = await price_history(desk, actor, code, span)
        return _Chart(view, chart_points(visit.zone, view), chart_sentence(view))

    every_s = _READ_EVERY_S.get(span, _READ_EVERY_S_ELSE)
    return await visit.read(("chart", code, span, visit.zone.key), read, every_s)


async def chart_page(visit: Visit) -> Html:
    code = visit.params["symbol_code"]
    span = visit.param("span") if visit.param("span") in SPANS else _USUAL
    kind = visit.param("kind") if visit.param("kind") in _KINDS else "candles"
    values = visit.param("values") == "yes"
    reading = await _read(visit, code, span)
    chart = reading.require()
    chosen = {"span": span, "kind": kind, "values": "yes" if values else ""}
    days = (await visit.watch.day_summaries.get(visit.actor)).value or {}
    choices = [
        _choices("Time", _TITLES, span, lambda each: rate_path(code, {**chosen, "span": each})),
        _choices("Kind", _KINDS, kind, lambda each: rate_path(code, {**chosen, "kind": each})),
    ]
    per = f"₹ per {weight(chart.view['quoted_weight'], chart.view['unit'])}"
    return el(
        "div",
        el("h1", code, " ", hint(f"middle price before premiums, {per}"), " ", await pins_of(visit, code)),
        _day(days.get(code)),
        card(
            f"{code}, {_TITLES[span]}",
            _figure(code, span, kind, chart),
            aside=[freshness(reading), *choices],
            name="chart",
        ),
        _values(visit, chart, chosen, shown=values),
        class_="wide rate-page",
        id=f"rate-{span}-{kind}",
    )


def _choices(label: str, texts: dict[str, str], chosen: str, path: Callable[[str], str]) -> Html:
    links = [
        el("a", text, href=path(name), aria_current="true" if name == chosen else None)
        for name, text in texts.items()
    ]
    return el("nav", links, class_="choices", aria_label=label)


def _figure(code: str, span: str, kind: str, chart: _Chart) -> Html:
    if not chart.view["items"]:
        return empty(
            f"There are no samples of {code} in this time.",
            "The service samples a price every second while it is live, and stores it once a minute.",
        )
    plot = el("div", class_="plot", id=f"plot-{code}-{span}-{kind}", data_keep=True, aria_hidden="true")
    holder = el(
        "div",
        plot,
        class_="chart",
        data_chart=kind,
        data_points=chart.points,
        data_clock=span != "1y",
        data_library=href(CHART_LIBRARY),
    )
    credit = el(
        "small",
        el("a", _CREDIT, href=_CREDIT_URL, rel="noopener noreferrer", target="_blank"),
        class_="credit",
    )
    return el("figure", holder, el("figcaption", chart.sentence, " ", credit), class_="rate-chart")


def chart_sentence(view: View) -> str:
    """What the chart shows, for people who do not see it."""
    items, code = view["items"], view["symbol_code"]
    if not items:
        return ""
    first, last = items[0]["open"], items[-1]["close"]
    high = max((each["high"] for each in items), key=_e4)
    low = min((each["low"] for each in items), key=_e4)
    course = _course(_e4(first), _e4(last))
    return (
        f"{code} over {_TITLES[view['span']]}: from {grouped(first)} to {grouped(last)}, {course}. "
        f"Highest {grouped(high)}, lowest {grouped(low)}."
    )


def _course(first_e4: int, last_e4: int) -> str:
    if first_e4 == last_e4:
        return "unchanged"
    percent_e2 = (abs(last_e4 - first_e4) * 20_000 + first_e4) // (2 * first_e4)
    return f"{'up' if last_e4 > first_e4 else 'down'} {plain(percent_e2, 2)} %"


def _e4(text: str) -> int:
    return scaled(text, _E4)


def chart_points(zone: ZoneInfo, view: View) -> str:
    """The library knows no time zones: it gets the time of the zone's clocks as if that were UTC."""
    points: list[list[object]] = []
    last_s = 0
    for each in view["items"]:
        local = datetime.fromisoformat(each["begins_at"]).astimezone(zone)
        at_s = int(local.replace(tzinfo=UTC).timestamp())
        if at_s > last_s:  # Where clocks are put back, an hour occurs twice. The library takes it once.
            points.append([at_s, *(msgspec.Raw(each[name].encode()) for name in _PRICES)])
            last_s = at_s
    return msgspec.json.encode(points).decode()


def _day(day: View | None) -> Child:
    if day is None:
        return None
    falls, rises = day["change"].startswith("-"), _e4(day["change"]) > 0
    sign = "+" if rises else ""
    change = f"{sign}{grouped(day['change'])} ({sign}{grouped(day['change_percent'])} %)"
    pairs = (
        ("Last", day["last"]),
        ("Open", day["open"]),
        ("High", day["high"]),
        ("Low", day["low"]),
        ("Close before", day["previous_close"]),
    )
    shown = [el("div", el("dt", name), el("dd", grouped(text))) for name, text in pairs if text]
    shown.append(
        el(
            "div",
            el("dt", "Change today"),
            el("dd", change, class_="down" if falls else "up" if rises else None),
        )
    )
    return el("dl", shown, class_="facts day")


def _values(visit: Visit, chart: _Chart, chosen: dict[str, str], *, shown: bool) -> Html:
    path = rate_path(chart.view["symbol_code"], {**chosen, "values": "" if shown else "yes"})
    link = el("a", "Hide the values" if shown else "Show the values as a table", href=path)
    if not shown:
        return el("p", link)
    zone = zone_name(visit.now.astimezone(visit.zone))
    columns = [
        Column(f"From, {zone}", lambda visit, each: _from(visit, each)),
        *(
            Column(name.capitalize(), lambda _, each, name=name: grouped(each[name]), number=True)  # type: ignore[misc]
            for name in _PRICES
        ),
    ]
    rows = list(reversed(chart.view["items"]))
    return card(
        "Values", table(visit, "values-table", columns, rows, key="begins_at"), aside=link, name="values"
    )


def _from(visit: Visit, item: View) -> str:
    local = datetime.fromisoformat(item["begins_at"]).astimezone(visit.zone)
    return f"{local:%d %b %Y %H:%M}"
