"""Loads the named queries from `store/sql/*.sql`, one file for each topic.

A file is a list of statements, each under its marker:

    -- name: lock_book                      a query for both engines
    -- name: notify_nodes (postgres)        the text of one engine, which overrides a text for both
    -- fragment: for_update (postgres)      a text that other statements include
    -- fragment: level_sum(level, first)    one with arguments: `{level}` and `{first}` in its text

A statement includes a fragment by `@for_update` or `@level_sum(0, $6)`. Comments are dropped, except for the
name of the query, which is shown in `pg_stat_activity`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

ENGINES = ("sqlite", "postgres")

_MARKER = re.compile(r"-- (name|fragment): (\w+)(?:\(([\w, ]+)\))?(?: \((\w+)\))?")
_INCLUDE = re.compile(r"@(\w+)(?:\(((?:[^()]|\([^()]*\))*)\))?")


class QueryError(Exception):
    """The query files are inconsistent, or a query does not exist."""


class Queries(dict[str, str]):
    """The text of each query by its name."""

    def __missing__(self, name: str) -> str:
        raise QueryError(f"no query is named {name!r} for this engine: see bullion/store/sql")


@dataclass(frozen=True, slots=True)
class Statement:
    name: str
    is_fragment: bool
    arguments: tuple[str, ...]
    engine: str | None
    """None: for both."""
    text: str
    file: str


@cache
def load(engine: str) -> Queries:
    """All queries by name, as the engine runs them."""
    folder = files("bullion.store").joinpath("sql")
    found = (each for each in folder.iterdir() if each.name.endswith(".sql"))
    return build(engine, statements({each.name: each.read_text("utf-8") for each in found}))


def statements(texts: Mapping[str, str]) -> list[Statement]:
    """All statements of these files. May raise QueryError."""
    found: dict[tuple[str, str | None], Statement] = {}
    for file, text in texts.items():
        for each in _statements(file, text):
            other = found.setdefault((each.name, each.engine), each)
            if other is not each:
                raise QueryError(f"{file}: {each.name} is in {other.file} already")
    return list(found.values())


def _statements(file: str, text: str) -> Iterable[Statement]:
    marker: re.Match[str] | None = None
    lines: list[str] = []
    for line in text.splitlines():
        if not line.startswith(("-- name:", "-- fragment:")):
            lines.append(line)
            continue
        yield from _statement(file, marker, lines)
        marker, lines = _MARKER.fullmatch(line), []
        if marker is None or marker[4] not in (None, *ENGINES):
            raise QueryError(f"{file}: this marker cannot be read: {line}")
    yield from _statement(file, marker, lines)


def _statement(file: str, marker: re.Match[str] | None, lines: list[str]) -> Iterable[Statement]:
    text = "\n".join(line for line in lines if not line.lstrip().startswith("--")).strip()
    if marker is not None:
        kind, name, arguments, engine = marker.groups()
        names = tuple(each.strip() for each in (arguments or "").split(",") if each.strip())
        yield Statement(name, kind == "fragment", names, engine, text, file)
    elif text:
        raise QueryError(f"{file}: it has to begin with a marker")


def build(engine: str, found: Iterable[Statement]) -> Queries:
    """The queries of an engine, with their fragments. May raise QueryError."""
    own = [each for each in found if each.engine in (None, engine)]
    by_name = {each.name: each for each in sorted(own, key=lambda each: each.engine or "")}

    def include(user: Statement, used: re.Match[str]) -> str:
        fragment = by_name.get(used[1])
        if fragment is None or not fragment.is_fragment:
            raise QueryError(f"{user.file}: {user.name} includes @{used[1]}: no fragment for {engine}")
        values = [each.strip() for each in (used[2] or "").split(",") if each.strip()]
        if len(values) != len(fragment.arguments):
            raise QueryError(f"{user.file}: {user.name} gives @{used[1]} {len(values)} arguments")
        text = fragment.text
        for name, value in zip(fragment.arguments, values, strict=True):
            text = text.replace(f"{{{name}}}", value)
        return expand(fragment, text)

    def expand(statement: Statement, text: str) -> str:
        return _INCLUDE.sub(lambda used: include(statement, used), text)

    named = [each for each in by_name.values() if not each.is_fragment]
    return Queries((each.name, f"-- {each.name}\n{expand(each, each.text)}") for each in named)


def included(text: str) -> set[str]:
    """The names of the fragments that a statement includes directly."""
    return {used[1] for used in _INCLUDE.finditer(text)}
