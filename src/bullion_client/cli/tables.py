"""Tables: narrow enough for a terminal, whole and without colours in a file or a pipe."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from bullion_client.cli.figures import NOTHING

_GAP = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """What stands below one name."""

    name: str
    right: bool = False
    """For numbers: all have as many decimals, so their points stand below each other."""
    below: bool = False
    """Where the terminal is too narrow, on a line below the others."""


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """One line for each row; where that is too wide for the terminal, with the long columns below it.

    Nothing is ever cut: what is still too wide goes on at the beginning of the terminal's next line.
    """
    console = _console()
    lines = _aligned(columns, [[column.name for column in columns], *rows])
    narrow = console.is_terminal and max(map(cell_len, lines)) > console.width
    if narrow:
        beside = [number for number, column in enumerate(columns) if not column.below]
        heads = [columns[number] for number in beside]
        cells = [[row[number] for number in beside] for row in rows]
        lines = _aligned(heads, [[head.name for head in heads], *cells])
    _print(console, lines[0], "bold")
    for line, row in zip(lines[1:], rows, strict=True):
        _print(console, line)
        for below in _filled(console.width, _told(columns, row) if narrow else []):
            _print(console, f"{_GAP}{below}", "dim")


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """A name and what it is, on each line."""
    console = _console()
    for line in _aligned((Column("name"), Column("what it is")), list(facts)):
        _print(console, line)


def print_line(words: str) -> None:
    """A sentence among the tables."""
    _print(_console(), words)


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(cell_len(row[number]) for row in rows) for number in range(len(columns))]
    lines = []
    for row in rows:
        cells = []
        for column, cell, width in zip(columns, row, widths, strict=True):
            # By the cells of a terminal: in many scripts a letter takes none, or two.
            room = " " * (width - cell_len(cell))
            cells.append(room + cell if column.right else cell + room)
        lines.append(_GAP.join(cells).rstrip())
    return lines


def _told(columns: Sequence[Column], row: Sequence[str]) -> list[str]:
    """What goes below a row, with its name."""
    cells = zip(columns, row, strict=True)
    return [f"{column.name} {cell}" for column, cell in cells if column.below and cell != NOTHING]


def _filled(width: int, pieces: Sequence[str]) -> list[str]:
    """As many of the pieces on each line as it has room for."""
    lines: list[str] = []
    for piece in pieces:
        if lines and cell_len(f"{_GAP}{lines[-1]}{_GAP}{piece}") <= width:
            lines[-1] += f"{_GAP}{piece}"
        else:
            lines.append(piece)
    return lines


def _console() -> Console:
    return Console(force_terminal=sys.stdout.isatty(), highlight=False)


def _print(console: Console, line: str, style: str = "") -> None:
    # As Text, so that square brackets are shown and not taken for colours.
    console.print(Text(line, style=style), soft_wrap=True)
