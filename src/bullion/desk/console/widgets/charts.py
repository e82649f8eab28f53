"""Small charts as SVG, drawn by the server: nothing to load, and nothing to run."""

from collections.abc import Sequence

from bullion.desk.console.html import Html, el

_EDGE = 2


def line_chart(points: Sequence[tuple[int, int]], *, width: int, height: int, label: str) -> Html:
    """The course of a number: pairs of time and value. Whole numbers alone, also on the way to the screen."""
    if len(points) < 2:
        return el("svg", width=width, height=height, viewBox=f"0 0 {width} {height}", class_="line-chart")
    times, values = [at for at, _ in points], [value for _, value in points]
    first, span = times[0], max(1, times[-1] - times[0])
    least, range_ = min(values), max(1, max(values) - min(values))
    inner = height - 2 * _EDGE
    path = " ".join(
        f"{(at - first) * width // span},{height - _EDGE - (value - least) * inner // range_}"
        for at, value in points
    )
    course = "up" if values[-1] > values[0] else "down" if values[-1] < values[0] else "level"
    return el(
        "svg",
        el("title", label),
        el("polyline", points=path),
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
    """How much of something is used, as a bar: it turns at four fifths, and again when all is used up."""
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
