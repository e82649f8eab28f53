"""Small charts as SVG, drawn by the server: nothing to load, and nothing to run."""

from collections.abc import Sequence
from dataclasses import dataclass

from bullion.console.html import Html, el

_EDGE = 2


_GAP = 150
"""Points further apart than this many seconds are not joined: a sample of a minute in between is missing."""


def line_chart(
    points: Sequence[tuple[int, int]], *, until: int, span: int, width: int, height: int, label: str
) -> Html:
    """A number over the last `span` seconds: pairs of time and value, in whole numbers."""
    if len(points) < 2:
        return el("svg", width=width, height=height, viewBox=f"0 0 {width} {height}", class_="line-chart")
    values = [value for _, value in points]
    least, range_ = min(values), max(1, max(values) - min(values))
    inner = height - 2 * _EDGE
    lines: list[list[str]] = []
    before = None
    for at, value in points:
        if before is None or at - before > _GAP:
            lines.append([])
        x = max(0, at - until + span) * width // span
        lines[-1].append(f"{x},{height - _EDGE - (value - least) * inner // range_}")
        before = at
    course = "up" if values[-1] > values[0] else "down" if values[-1] < values[0] else "level"
    return el(
        "svg",
        el("title", label),
        [el("polyline", points=" ".join(line)) for line in lines],
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        class_=f"line-chart {course}",
        role="img",
    )


def bar_chart(
    columns: Sequence[tuple[str, Sequence[tuple[str, int]]]], *, width: int, height: int, label: str
) -> Html:
    """Columns of stacked parts, each with its class and its count; the column's name is its title."""
    most = max((sum(count for _, count in parts) for _, parts in columns), default=0) or 1
    step = width // max(1, len(columns))
    drawn = []
    for number, (name, parts) in enumerate(columns):
        top, bars = height, []
        for kind, count in parts:
            tall = (count * (height - _EDGE) + most - 1) // most
            top -= tall
            bars.append(el("rect", x=number * step + 1, y=top, width=step - 2, height=tall, class_=kind))
        ground = el("rect", x=number * step + 1, y=height - 1, width=step - 2, height=1, class_="ground")
        drawn.append(el("g", el("title", name), ground, bars))
    return el(
        "svg",
        el("title", label),
        drawn,
        viewBox=f"0 0 {width} {height}",
        preserveAspectRatio="none",
        class_="bar-chart",
        role="img",
    )


def meter(percent: int, *, label: str) -> Html:
    """How much of something is used, as a bar that changes its colour at 80 and at 100 percent."""
    kind = "full" if percent >= 100 else "high" if percent >= 80 else "low"
    return el(
        "svg",
        el("title", label),
        el("rect", x=0, y=0, width=100, height=8, class_="ground"),
        el("rect", x=0, y=0, width=min(100, percent), height=8, class_=kind),
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        class_="meter",
        role="img",
    )


@dataclass(frozen=True, slots=True)
class Step:
    """One bar of a waterfall: an amount that is added, or with `whole` the sum so far."""

    name: str
    amount: int
    text: str
    """The amount as it is shown beside the bar."""
    whole: bool = False


def waterfall(steps: Sequence[Step], *, label: str) -> Html:
    """How an amount is made, from the top down. The first step and sums start at the ground.

    The ground is above 0 where small steps would be too thin to see; bars that start there have a gap.
    """
    spans, reached = [], 0
    for step in steps:
        start = 0 if step.whole else reached
        reached = step.amount if step.whole else reached + step.amount
        spans.append((start, reached))
    ends = [end for _, end in spans]
    low, high = min(ends, default=0), max(ends, default=0)
    ground = low - max(1, (high - low) // 2) if len(set(ends)) > 1 else 0
    ground = ground if ground > (high - low) * 2 else min(0, low)
    scale = max(1, high - ground)
    drawn = [
        _waterfall_bar(number, step, span, ground, scale)
        for number, (step, span) in enumerate(zip(steps, spans, strict=True))
    ]
    width, height = _BARS_AT + _BARS_WIDTH + _TEXT_WIDTH, len(steps) * _STEP_HEIGHT
    return el(
        "svg", el("title", label), drawn, viewBox=f"0 0 {width} {height}", class_="waterfall", role="img"
    )


_BARS_AT, _BARS_WIDTH, _TEXT_WIDTH, _STEP_HEIGHT, _BAR_HEIGHT = 132, 200, 108, 26, 15


def _waterfall_bar(number: int, step: Step, span: tuple[int, int], ground: int, scale: int) -> Html:
    start, end = (_BARS_AT + max(0, at - ground) * _BARS_WIDTH // scale for at in span)
    top = number * _STEP_HEIGHT
    middle = top + _STEP_HEIGHT // 2 + 4
    grounded = step.whole or number == 0
    kind = "whole" if step.whole else "first" if number == 0 else "more" if step.amount >= 0 else "less"
    bar = el(
        "rect",
        x=min(start, end),
        y=top + (_STEP_HEIGHT - _BAR_HEIGHT) // 2,
        width=max(2, abs(end - start)),
        height=_BAR_HEIGHT,
        rx=2,
        class_=kind,
    )
    gap = None
    if grounded and ground > 0:
        gap = el("path", d=f"M{_BARS_AT + 16} {top + 3}l-4 20m4 0l4 -20", class_="gap")
    return el(
        "g",
        el("text", step.name, x=0, y=middle, class_=f"name {kind}"),
        bar,
        gap,
        el("text", step.text, x=_BARS_AT + _BARS_WIDTH + _TEXT_WIDTH, y=middle, class_=f"told {kind}"),
    )
