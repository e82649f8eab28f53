"""A small drawing board for the documentation's pictures: boxes, ways between them, and words.

What it writes is SVG that is read on light and on dark pages and needs nothing else. Places are given by
hand; what does not fit into its box is an error, so that no text is ever cut off unseen.
"""

from collections.abc import Sequence
from html import escape

WIDTH = 760
"""About that of a page's column, so that text is as large as the text around it."""

_STYLE = """
    .ground { fill: #ffffff; stroke: #d0d7de; }
    .blue { fill: #eef4fb; stroke: #3b6ea5; }
    .gold { fill: #fbf3df; stroke: #a67a12; }
    .green { fill: #e6f4ea; stroke: #2e7d32; }
    .red { fill: #fceaea; stroke: #a4262c; }
    .grey { fill: #f3f3f3; stroke: #6e7781; }
    .frame { fill: none; stroke: #8c959f; stroke-dasharray: 5 4; }
    .way { fill: none; stroke: #57606a; stroke-width: 1.5; marker-end: url(#tip); }
    .both { fill: none; stroke: #57606a; stroke-width: 1.5; marker-start: url(#tip); marker-end: url(#tip); }
    .rail { fill: none; stroke: #57606a; stroke-width: 1.5; }
    .line { fill: none; stroke: #afb8c1; stroke-width: 1.5; }
    .tip { fill: #57606a; }
    text {
      font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
      fill: #1f2328;
    }
    .name { font-size: 14px; font-weight: 600; }
    .note { font-size: 11.5px; fill: #57606a; }
    .middle { text-anchor: middle; }
    .over { paint-order: stroke; stroke: #ffffff; stroke-width: 5px; stroke-linejoin: round; }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0d1117; stroke: #30363d; }
      .blue { fill: #14263b; stroke: #6ea8e0; }
      .gold { fill: #2d2617; stroke: #e6bb5c; }
      .green { fill: #14291f; stroke: #56c860; }
      .red { fill: #331b1d; stroke: #f4898c; }
      .grey { fill: #21262d; stroke: #8b949e; }
      .frame { stroke: #6e7781; }
      .way, .both, .rail { stroke: #9aa4af; }
      .line { stroke: #57606a; }
      .tip { fill: #9aa4af; }
      text { fill: #e6edf3; }
      .note { fill: #9aa4af; }
      .over { stroke: #0d1117; }
    }
"""
_TIP = (
    '<marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
    'orient="auto-start-reverse"><path class="tip" d="M0,0 L10,5 L0,10 z"/></marker>'
)
_LETTER = {"name": 8.8, "note": 6.6}
"""About how wide a letter is, in the widest of the usual fonts."""
_LINE = 16
_MARGIN = 4


class DoesNotFit(ValueError):
    """Words that are wider or higher than the box that was drawn for them."""


Point = tuple[float, float]


class Canvas:
    def __init__(self, height: int, title: str, description: str) -> None:
        self._height = height
        self._title, self._description = title, description
        self._parts: list[str] = []

    def box(self, corner: Point, size: Point, name: str, *words: str, kind: str = "blue") -> None:
        """A name, and words below it, in the middle of a box."""
        (x, y), (width, height) = corner, size
        lines = [("name", name)] if name else []
        lines += [("note", word) for word in words]
        if len(lines) * _LINE + 2 * _MARGIN > height:
            raise DoesNotFit(f"{name}: {len(lines)} lines in a box of {height}")
        self._rectangle(kind, corner, size)
        top = y + (height - len(lines) * _LINE) / 2 + 12
        for number, (style, text) in enumerate(lines):
            if len(text) * _LETTER[style] + 2 * _MARGIN > width:
                raise DoesNotFit(f"{text!r} in a box of {width}")
            self.text((x + width / 2, top + number * _LINE), text, style=f"{style} middle")

    def frame(self, corner: Point, size: Point, words: str) -> None:
        """Around things that belong together; what they are, along its upper edge."""
        self._rectangle("frame", corner, size)
        self.text((corner[0] + 12, corner[1] + 17), words, style="note over")

    def text(self, place: Point, words: str, style: str = "note") -> None:
        x, y = place
        self._parts.append(f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(words)}</text>')

    def way(self, *points: Point, words: Sequence[str] = (), at: Point = (0, 0), kind: str = "way") -> None:
        """An arrow over corners, with words in lines above one another, middle at `at`."""
        path = " L".join(f"{x:g},{y:g}" for x, y in points)
        self._parts.append(f'<path class="{kind}" d="M{path}"/>')
        for number, line in enumerate(words):
            self.text((at[0], at[1] + number * (_LINE - 1)), line, style="note middle over")

    def svg(self) -> str:
        size = f'width="{WIDTH - 1}" height="{self._height - 1}" rx="10"'
        inside = [
            "<!-- Written by `make generate` from tools/pictures. Change that, not this. -->",
            f'<title id="title">{escape(self._title)}</title>',
            f'<desc id="desc">{escape(self._description)}</desc>',
            f"<style>{_STYLE}  </style>",
            f"<defs>{_TIP}</defs>",
            f'<rect class="ground" x="0.5" y="0.5" {size}/>',
            *self._parts,
        ]
        described = 'role="img" aria-labelledby="title desc"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self._height}" {described}>'
        return "\n  ".join([head, *inside]) + "\n</svg>\n"

    def _rectangle(self, kind: str, corner: Point, size: Point) -> None:
        place = f'x="{corner[0]:g}" y="{corner[1]:g}" width="{size[0]:g}" height="{size[1]:g}"'
        self._parts.append(f'<rect class="{kind}" {place} rx="7"/>')
