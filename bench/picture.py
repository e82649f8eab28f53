"""A small writer of bar charts as SVG, to be read on light and on dark pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil

WIDTH = 860
_LABEL, _VALUE = 270, 200
"""What stands left and right of the bars."""
_TOP, _ROW, _GAP, _BOTTOM = 62, 24, 16, 34
_SPACE = WIDTH - _LABEL - _VALUE

DESCRIBED = 'role="img" aria-labelledby="title desc"'
STYLE = """
    .ground { fill: #ffffff; stroke: #d0d7de; }
    .bar { fill: #3b6ea5; }
    .floor { fill: #afb8c1; }
    .good { fill: #2e7d32; }
    .bad { fill: #c4432b; }
    .spread { stroke: #1f2328; stroke-width: 1.5; }
    .line { fill: none; stroke: #3b6ea5; stroke-width: 1.5; }
    .mark { stroke: #57606a; stroke-width: 1.5; stroke-dasharray: 4 3; }
    text {
      font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
      font-size: 13px; fill: #1f2328;
    }
    .heading { font-size: 17px; font-weight: 600; }
    .note { font-size: 12px; fill: #57606a; }
    .label { text-anchor: end; }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0d1117; stroke: #30363d; }
      .bar { fill: #6ea8e0; }
      .floor { fill: #57606a; }
      .good { fill: #56c860; }
      .bad { fill: #f0785f; }
      .spread { stroke: #e6edf3; }
      .line { stroke: #6ea8e0; }
      .mark { stroke: #9aa4af; }
      text { fill: #e6edf3; }
      .note { fill: #9aa4af; }
    }
"""


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    value: float
    told: str
    """Right of it, in words or digits."""
    kind: str = "bar"
    """`bar`, `floor`, `good` or `bad`."""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    heading: str
    note: str
    """Under the heading: what the bars are."""
    groups: Sequence[tuple[str, Sequence[Bar]]]
    """Each with its own heading."""
    mark: float | None = None
    """Where a line goes down the whole chart."""
    most: float | None = None
    """Where bars end that are longer; the longest one unless something is said."""


def svg(chart: Chart) -> str:
    groups = [(heading, group) for heading, group in chart.groups if group]
    bars = [bar for _, group in groups for bar in group]
    height = _TOP + _ROW * (len(bars) + len(groups)) + _GAP * max(0, len(groups) - 1) + _BOTTOM
    longest = max([bar.high or bar.value for bar in bars] + [chart.mark or 0], default=1)
    most = min(longest, chart.most or longest) or 1
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {DESCRIBED}>',
        f'  <title id="title">{escape(chart.heading)}</title>',
        f'  <desc id="desc">{escape(_described(chart.note, bars))}</desc>',
        f"  <style>{STYLE}  </style>",
        f'  <rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="10"/>',
        f'  <text class="heading" x="20" y="28">{escape(chart.heading)}</text>',
        f'  <text class="note" x="20" y="47">{escape(chart.note)}</text>',
    ]
    top = _TOP
    for heading, group in groups:
        parts.append(f'  <text class="note" x="{_LABEL}" y="{top + 14}">{escape(heading)}</text>')
        top += _ROW
        for bar in group:
            parts += _drawn(bar, top, most)
            top += _ROW
        top += _GAP
    if chart.mark is not None:
        x = _x(chart.mark, most)
        parts.append(f'  <path class="mark" d="M{x:g},{_TOP + _ROW} V{height - _BOTTOM + 8}"/>')
    return "\n".join([*parts, "</svg>", ""])


def _described(note: str, bars: Sequence[Bar]) -> str:
    """The whole chart in words, for whoever cannot see it."""
    return f"{note} " + "; ".join(f"{bar.label}: {bar.told}" for bar in bars) + "."


def _drawn(bar: Bar, top: int, most: float) -> Iterator[str]:
    middle = top + _ROW // 2
    yield f'  <text class="label" x="{_LABEL - 10}" y="{middle + 4}">{escape(bar.label)}</text>'
    width = max(1.0, _x(bar.value, most) - _LABEL)
    box = f'x="{_LABEL}" y="{top + 3}" width="{width:g}" height="{_ROW - 7}"'
    yield f'  <rect class="{bar.kind}" {box} rx="2"/>'
    if bar.low is not None and bar.high is not None:
        yield f'  <path class="spread" d="M{_x(bar.low, most):g},{middle} H{_x(bar.high, most):g}"/>'
    yield f'  <text x="{_LABEL + _SPACE + 14}" y="{middle + 4}">{escape(bar.told)}</text>'


def _x(value: float, most: float) -> float:
    return _LABEL + ceil(10 * _SPACE * min(value, most) / most) / 10
