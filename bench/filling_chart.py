"""The seconds of a store that fills, as a chart: orders in each, and what PostgreSQL did meanwhile."""

from collections.abc import Iterator
from html import escape
from math import ceil
from pathlib import Path

from .filling_results import Filling
from .picture import DESCRIBED, STYLE, WIDTH

FILE = "bench-filling.svg"
_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 400, 96, 24, 70, 300
_LANES = {"checkpoint": 342, "vacuum": 360, "analyze": 378}
_STEPS = 4
_ROUND = 500
"""Orders: the scale ends at a multiple of this."""


def write_filling_chart(folder: Path, filling: Filling) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(filling_svg(filling), "utf-8")


def filling_svg(filling: Filling) -> str:
    rates = [each.orders_per_s for each in filling.seconds]
    heading = f"Orders per second while a store fills with {filling.orders:,} orders"
    spread = f"{filling.connections} connections, {filling.accounts:,} accounts"
    note = f"{spread}, second by second. Below: what PostgreSQL did besides."
    lowest = f"From {min(rates):,.0f} to {max(rates):,.0f} orders a second."
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {_HEIGHT}" {DESCRIBED}>',
            f'  <title id="title">{escape(heading)}</title>',
            f'  <desc id="desc">{escape(f"{note} {lowest} {_events_told(filling)}")}</desc>',
            f"  <style>{STYLE}  </style>",
            f'  <rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" height="{_HEIGHT - 1}" rx="10"/>',
            f'  <text class="heading" x="20" y="28">{escape(heading)}</text>',
            f'  <text class="note" x="20" y="47">{escape(note)}</text>',
            *_scale(_most(rates), len(rates)),
            *_events(filling),
            f'  <polyline class="line" points="{_points(rates)}"/>',
            "</svg>",
            "",
        ]
    )


def _events_told(filling: Filling) -> str:
    told = [f"{each.what} at {each.from_s:.0f} s" for each in filling.events]
    return f"PostgreSQL: {', '.join(told) or 'nothing besides'}."


def _most(rates: list[float]) -> int:
    return _ROUND * max(1, ceil(max(rates) / _ROUND))


def _scale(most: int, seconds: int) -> Iterator[str]:
    for step in range(_STEPS + 1):
        at_s = seconds * step // _STEPS
        x = _x(at_s, seconds)
        yield f'  <text class="note" text-anchor="middle" x="{x:g}" y="{_BOTTOM + 20}">{at_s} s</text>'
    for step in range(_STEPS + 1):
        y, value = _BOTTOM - (_BOTTOM - _TOP) * step / _STEPS, most * step / _STEPS
        yield f'  <text class="note label" x="{_LEFT - 8}" y="{y + 4:g}">{value:,.0f}</text>'
        yield f'  <path class="mark" d="M{_LEFT},{y:g} H{WIDTH - _RIGHT}" opacity="0.3"/>'


def _points(rates: list[float]) -> str:
    most = _most(rates)
    return " ".join(
        f"{_x(number + 0.5, len(rates)):.1f},{_BOTTOM - (_BOTTOM - _TOP) * rate / most:.1f}"
        for number, rate in enumerate(rates)
    )


def _events(filling: Filling) -> Iterator[str]:
    seconds = len(filling.seconds)
    for name, y in _LANES.items():
        yield f'  <text class="note label" x="{_LEFT - 8}" y="{y + 4}">{name}</text>'
        for each in filling.events:
            if each.what.startswith(name):
                begin, end = _x(max(0.0, each.from_s), seconds), _x(min(each.to_s, seconds), seconds)
                box = f'x="{begin:.1f}" y="{y - 5}" width="{max(2.0, end - begin):.1f}" height="10"'
                title = escape(f"{each.what}, {each.from_s:.1f} to {each.to_s:.1f} s")
                yield f'  <rect class="floor" {box}><title>{title}</title></rect>'


def _x(second: float, seconds: int) -> float:
    return _LEFT + (WIDTH - _LEFT - _RIGHT) * second / seconds
