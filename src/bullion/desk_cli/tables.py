"""What the desk's commands print: a table for people, or the same JSON as the desk's HTTP interface."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable

_WIDE = 200
_FEW_ENTRIES = 5
_COPIED = {"id", "order_id", "request_id", "key_id", "token_id"}


def print_list(found: tuple[Sequence[View], int], columns: Sequence[str], *, as_json: bool) -> None:
    items, total = found
    if as_json:
        print_json({"items": list(items), "total": total})
        return
    if not items:
        click.echo("None." if not total else f"None on this page; there are {total} in all.")
        return
    _print_table([each for each in items if not is_unreadable(each)], columns)
    for each in filter(is_unreadable, items):
        name, why = next(iter(each.values())), each["unreadable"]
        click.echo(f"{name} cannot be read ({why}). {each['effect']} {each['remedy']}", err=True)
    if total > len(items):
        click.echo(f"{len(items)} of {total}; use --limit and --offset for the others.")


def print_items(items: Sequence[View], columns: Sequence[str], *, as_json: bool) -> None:
    """A list without a known total."""
    if as_json:
        print_json({"items": list(items)})
    elif items:
        _print_table(items, columns)
    else:
        click.echo("None.")


def _print_table(items: Sequence[View], columns: Sequence[str]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        # What has to be copied into the next command is never cut.
        whole = column in _COPIED
        table.add_column(column.partition(":")[0].replace("_", " "), overflow="fold", no_wrap=whole)
    for item in items:
        # As Text, so that square brackets in a firm's name are shown and not taken for colours.
        table.add_row(*(Text(_cell(_value_at(item, column))) for column in columns))
    _console().print(table)


def print_one(view: View, columns: Sequence[str] = (), *, as_json: bool) -> None:
    """All fields, or those that `columns` names. JSON has them all."""
    if as_json:
        print_json(view)
        return
    if columns:
        view = {name: view[name] for name in columns}
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, text in _lines(view):
        table.add_row(name.replace("_", " "), Text(text))
    _console().print(table)


def _lines(view: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[str, str]]:
    """One line per field. The fields of a large object follow below its name, indented."""
    for field, value in view.items():
        name = "  " * depth + field
        if isinstance(value, Mapping) and len(value) > _FEW_ENTRIES:
            yield name, ""
            yield from _lines(value, depth + 1)
        elif isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
            for each in value:
                yield name, _cell(each)
                name = ""
        else:
            yield name, _cell(value)


def print_secret(view: View, field: str, *, as_json: bool) -> None:
    """Print a secret `field`, which is shown only once, on its own line, so that it is easy to copy."""
    if as_json:
        print_json(view)
        return
    print_one({name: value for name, value in view.items() if name != field}, as_json=False)
    click.echo(f"\n{view[field]}\n")
    click.echo(f"Keep the {field} safe: it is shown only once.", err=True)


def print_json(value: Any) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def _console() -> Console:
    # In a file or a pipe a table must not be cut to the width of a terminal.
    return Console(width=None if sys.stdout.isatty() else _WIDE, highlight=False)


def _value_at(item: Mapping[str, Any], column: str) -> Any:
    """The value of a column. Of `name:one|other`, the first path that has a value."""
    value: Any = None
    for path in column.rpartition(":")[2].split("|"):
        value = item
        for part in path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is not None:
            break
    return value


def _cell(value: Any) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_cell(each) for each in value) or "-"
        case Mapping():
            return ", ".join(f"{name} {_cell(each)}" for name, each in value.items()) or "-"
        case _:
            # What a client wrote could hold escape codes that move the cursor; show them as they are.
            return "".join(
                each if each.isprintable() else each.encode("unicode_escape").decode() for each in str(value)
            )
