"""Prints tables: fitted to a terminal; complete and without colours in a file or a pipe."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from bullion_client.cli.formatting import NOTHING

_GAP = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its heading, and the text of its cell for a row's value."""

    name: str
    cell: Callable[[Any], str]
    right: bool = False
    """Align right, for numbers: all have as many decimals, so their points line up."""
    below: bool = False
    """Move to a line below the others if the terminal is too narrow."""


def print_table(columns: Sequence[Column], values: Iterable[Any]) -> None:
    """Print a line per value. If that is too wide for the terminal, long columns go to a line below.

    Nothing is cut off: a line that is still too wide continues on the terminal's next line.
    """
    console = _console()
    rows = [[column.cell(value) for column in columns] for value in values]
    lines = _table(columns, rows)
    narrow = console.is_terminal and max(map(cell_len, lines)) > console.width
    if narrow:
        beside = [number for number, column in enumerate(columns) if not column.below]
        lines = _table(
            [columns[number] for number in beside], [[row[number] for number in beside] for row in rows]
        )
    _print(console, lines[0], "bold")
    for line, row in zip(lines[1:], rows, strict=True):
        _print(console, line)
        for below in _wrap(console.width, _cells_below(columns, row) if narrow else []):
            _print(console, f"{_GAP}{below}", "dim")


def table_lines(columns: Sequence[Column], values: Iterable[Any]) -> list[str]:
    """The heading and a line per value, for a part of a screen."""
    return _table(columns, [[column.cell(value) for column in columns] for value in values])


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print a name and its value on each line."""
    console = _console()
    for line in _aligned([False, False], list(facts)):
        _print(console, line)


def print_line(line: str) -> None:
    """Print a line between tables."""
    _print(_console(), line)


def _table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[str]:
    return _aligned([column.right for column in columns], [[column.name for column in columns], *rows])


def _aligned(right: Sequence[bool], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(cell_len(row[number]) for row in rows) for number in range(len(right))]
    lines = []
    for row in rows:
        cells = []
        for to_right, cell, width in zip(right, row, widths, strict=True):
            # Measured in terminal cells: in many scripts a character takes none, or two.
            padding = " " * (width - cell_len(cell))
            cells.append(padding + cell if to_right else cell + padding)
        lines.append(_GAP.join(cells).rstrip())
    return lines


def _cells_below(columns: Sequence[Column], row: Sequence[str]) -> list[str]:
    """The cells of a row that go below it, with their headings."""
    cells = zip(columns, row, strict=True)
    return [f"{column.name} {cell}" for column, cell in cells if column.below and cell != NOTHING]


def _wrap(width: int, pieces: Sequence[str]) -> list[str]:
    """Put as many pieces on each line as fit."""
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
    # As Text, so that square brackets are shown and not read as colours.
    console.print(Text(line, style=style), soft_wrap=True)
