"""A QR code, as SVG made here: its text may be a secret, and no other host is asked."""

import segno

from bullion.console.html import Html, el

_QUIET_ZONE = 4
"""The width of the light edge that readers need, in modules."""


def qr_code(text: str, label: str) -> Html:
    """`label` says what it is for, to people who do not see it."""
    rows = list(segno.make_qr(text, error="m").matrix_iter(border=_QUIET_ZONE))
    squares = [f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark]
    size = len(rows)
    drawn = el("path", d="".join(squares))
    return el("svg", drawn, viewBox=f"0 0 {size} {size}", class_="qr-code", role="img", aria_label=label)
