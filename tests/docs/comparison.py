"""Whether an answer is like the one a page shows: the same but for ids and times, and where it says `…`."""

import re
from collections.abc import Iterator
from typing import Any

ANYTHING = "…"
_VOLATILE = (
    re.compile(r"[0-9a-f]{16}|[0-9a-f]{24}|[0-9a-f]{64}"),
    re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|\+00:00)"),
    re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
)
_ID = f"{_VOLATILE[2].pattern}|{_VOLATILE[0].pattern}"
_VOLATILE_HEADERS = {"date", "x-request-id", "ratelimit-reset"}
_RUPEES = re.compile(r"\b[0-9]+(?:,[0-9]{2,3})*\.[0-9]{2}\b")


def without_prices(text: str) -> str:
    """The same with all sums in rupees alike, for a market that moves. Weights, with 4 decimals, stay."""
    return _RUPEES.sub("0.00", text)


def differences(shown: Any, real: Any, place: str = "the answer") -> Iterator[str]:
    """Each place where the two are not alike, in words."""
    if shown == ANYTHING:
        return
    if isinstance(shown, dict) and isinstance(real, dict):
        if list(shown) != list(real):
            yield f"{place} has the fields {', '.join(real)}, shown are {', '.join(shown)}"
        for name in shown.keys() & real.keys():
            yield from differences(shown[name], real[name], f"{place}.{name}")
    elif isinstance(shown, list) and isinstance(real, list):
        if len(shown) != len(real):
            yield f"{place} has {len(real)} entries, shown are {len(shown)}"
        for number, (one, other) in enumerate(zip(shown, real, strict=False)):
            yield from differences(one, other, f"{place}[{number}]")
    elif not _alike(shown, real):
        yield f"{place} is {real!r}, shown is {shown!r}"


def _alike(shown: Any, real: Any) -> bool:
    if isinstance(shown, str) and isinstance(real, str):
        return alike(shown, real)
    return type(shown) is type(real) and bool(shown == real)


def alike(shown: str, real: str) -> bool:
    if any(volatile.fullmatch(shown) and volatile.fullmatch(real) for volatile in _VOLATILE):
        return True
    # An id within a longer text, such as a key, is as good as any other.
    pieces = re.split(f"({ANYTHING}|{_ID})", shown)
    pattern = "".join(_pattern(piece) for piece in pieces if piece is not None)
    return re.fullmatch(pattern, real, re.DOTALL) is not None


def _pattern(piece: str) -> str:
    if piece == ANYTHING:
        return ".*"
    return f"(?:{_ID})" if re.fullmatch(_ID, piece) else re.escape(piece)


def head_differences(shown: str, real: str) -> Iterator[str]:
    """Of the head of an HTTP answer: its status, its headers and their values."""
    shown_lines, real_lines = shown.splitlines(), real.strip().splitlines()
    if shown_lines[0] != real_lines[0].strip():
        yield f"the status is {real_lines[0]!r}, shown is {shown_lines[0]!r}"
    shown_headers, real_headers = _headers(shown_lines[1:]), _headers(real_lines[1:])
    if list(shown_headers) != list(real_headers):
        yield f"the headers are {', '.join(real_headers)}; shown are {', '.join(shown_headers)}"
    for name in shown_headers.keys() & real_headers.keys() - _VOLATILE_HEADERS:
        if shown_headers[name] != real_headers[name]:
            yield f"the header {name} is {real_headers[name]!r}, shown is {shown_headers[name]!r}"


def _headers(lines: list[str]) -> dict[str, str]:
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def text_differences(shown: str, real: str) -> Iterator[str]:
    """Every line shown is in the output, in the same order; the output may have more.

    Blanks count as one: how wide a column is depends on what else is in the table.
    """
    rest = iter(real.splitlines())
    for line in shown.splitlines():
        if not any(alike(_one_blank(line), _one_blank(each)) for each in rest):
            yield f"the output has no such line (or not here): {line!r}"


def _one_blank(line: str) -> str:
    return " ".join(line.split())
