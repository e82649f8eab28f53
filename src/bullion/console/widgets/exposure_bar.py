"""A hedge book as one bar: what is not covered, between the limits to both sides."""

from bullion.console.html import Html, el
from bullion.desk.desk import View

from .fine_weight import fine, milligrams, position, position_mg

_MIDDLE, _REACH, _BEYOND = 150, 140, 8
"""In units of the drawing: half of its width, the way to a limit, and the room beyond it."""
_SOFT_PERCENT = 80


def exposure_bar(book: View, *, after_mg: int | None = None) -> Html:
    """`after_mg` is what would be left after the covers that are suggested or under way."""
    residual_mg, waiting_mg = milligrams(book["residual"]), milligrams(book["waiting"])
    limit_mg = milligrams(book["limit"])
    scale_mg = limit_mg or max(abs(residual_mg), abs(residual_mg + waiting_mg), abs(after_mg or 0), 1)

    def x(weight_mg: int) -> int:
        far = min(_REACH + _BEYOND, abs(weight_mg) * _REACH // scale_mg)
        return _MIDDLE + (far if weight_mg > 0 else -far)

    def bar(from_mg: int, to_mg: int, css: str) -> Html | None:
        left, right = sorted((x(from_mg), x(to_mg)))
        wide = max(2, right - left)
        return el("rect", x=left, y=5, width=wide, height=10, class_=css) if from_mg != to_mg else None

    marks = []
    if limit_mg:
        soft_mg = limit_mg * _SOFT_PERCENT // 100
        marks = [
            el("path", class_="soft", d=f"M{x(-soft_mg)} 3V17M{x(soft_mg)} 3V17"),
            el("path", class_="limit", d=f"M{x(-limit_mg)} 2V18M{x(limit_mg)} 2V18"),
        ]
    over = limit_mg and abs(residual_mg) >= limit_mg
    return el(
        "svg",
        el("title", exposure_sentence(book, after_mg=after_mg)),
        el("rect", x=_MIDDLE - _REACH, y=4, width=2 * _REACH, height=12, rx=2, class_="rail"),
        bar(0, residual_mg, "over" if over else book["metal"]),
        bar(residual_mg, residual_mg + waiting_mg, "waiting"),
        el("path", class_="zero", d=f"M{_MIDDLE} 1V19"),
        marks,
        None if after_mg is None else el("path", class_="after", d=f"M{x(after_mg)} 0V20"),
        viewBox="0 0 300 20",
        preserveAspectRatio="none",
        class_="exposure-bar",
        role="img",
    )


def exposure_sentence(book: View, *, after_mg: int | None = None) -> str:
    metal, used = book["metal"], book["limit_used_percent"]
    parts = [f"{metal.capitalize()}: {position(book['residual'], metal)}"]
    parts.append(
        "no limit is set" if used is None else f"{used} % of the limit of {fine(book['limit'], metal)}"
    )
    if book["waiting_orders"]:
        parts.append(f"{position(book['waiting'], metal)} wait for room")
    if after_mg is not None:
        parts.append(f"{position_mg(after_mg, metal)} after the covers that are suggested or under way")
    return ", ".join(parts) + "."


def bar_ends(book: View) -> Html | None:
    """The figures below the bar."""
    if not milligrams(book["limit"]):
        return None
    limit = fine(book["limit"], book["metal"])
    ends = (f"{limit} short", "0", f"{limit} long")
    return el("div", [el("span", each) for each in ends], class_="bar-ends hint", aria_hidden="true")
