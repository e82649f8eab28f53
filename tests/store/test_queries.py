"""The query files: what the loader refuses, and that every query is used under a name that a search finds."""

import ast
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

import bench
import bullion
from bullion.store import queries
from bullion.store.queries import ENGINES, QueryError, Statement, build, statements

ROOMS = [Path(str(files(bullion))), Path(str(files(bench)))]


def loaded(engine: str, **texts: str) -> dict[str, str]:
    return build(engine, statements(texts))


def stored() -> list[Statement]:
    folder = Path(str(files("bullion.store"))) / "sql"
    return statements({file.name: file.read_text() for file in folder.glob("*.sql")})


def test_a_text_of_one_engine_goes_before_the_text_for_both() -> None:
    text = "-- name: look (sqlite)\nSELECT 1\n\n-- name: look\nSELECT 2\n"
    assert loaded("sqlite", a=text) == {"look": "-- look\nSELECT 1"}
    assert loaded("postgres", a=text) == {"look": "-- look\nSELECT 2"}


def test_fragments_are_included_with_their_arguments_and_the_name_is_the_only_comment() -> None:
    one = "-- A header.\n\n-- name: look\n-- Why.\nSELECT @two(a, CAST($1 AS TEXT)) FROM t\n@end\n"
    other = "-- fragment: two(left, right)\n{left}, @one({right})\n-- fragment: one(x)\n{x} + {x}\n"
    other += "-- fragment: end\n-- Nothing.\n"
    assert loaded("sqlite", one=one, other=other) == {
        "look": "-- look\nSELECT a, CAST($1 AS TEXT) + CAST($1 AS TEXT) FROM t\n"
    }


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"a": "-- name: x\nSELECT 1", "b": "-- name: x\nSELECT 2"}, "b: x is in a already"),
        ({"a": "-- name: x\nSELECT 1\n-- fragment: x\nSELECT 2"}, "a: x is in a already"),
        ({"a": "-- name: x\nSELECT @y"}, "a: x includes @y: no fragment for sqlite"),
        ({"a": "-- name: x\nSELECT @y\n-- name: y\nSELECT 1"}, "a: x includes @y: no fragment for sqlite"),
        ({"a": "-- name: x\nSELECT @y\n-- fragment: y (postgres)\n1"}, "no fragment for sqlite"),
        ({"a": "-- name: x\nSELECT @y(1)\n-- fragment: y(a, b)\n{a}"}, "a: x gives @y 1 arguments"),
        ({"a": "-- name: x (oracle)\nSELECT 1"}, "a: this marker cannot be read: -- name: x \\(oracle\\)"),
        ({"a": "-- name: two words\nSELECT 1"}, "a: this marker cannot be read"),
        ({"a": "SELECT 1\n-- name: x\nSELECT 1"}, "a: it has to begin with a marker"),
    ],
)
def test_files_that_contradict_each_other_are_refused(texts: dict[str, str], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        loaded("sqlite", **texts)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_unknown_name_is_told(engine: str) -> None:
    with pytest.raises(QueryError, match="no query is named 'nothing'"):
        queries.load(engine)["nothing"]


def test_every_query_is_used_by_its_name_and_every_fragment_is_included() -> None:
    """So a name that is put together at run time is found out as well: nothing would have it in its text."""
    words = Counter(
        node.value
        for room in ROOMS
        for file in room.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    found = stored()
    assert {each.name for each in found if not each.is_fragment and not words[each.name]} == set()
    included = {name for each in found for name in queries.included(each.text)}
    assert {each.name for each in found if each.is_fragment} == included


def test_no_name_is_put_together() -> None:
    """The names that are asked for are plain text, or handed on from where they are."""
    asked = {
        f"{file.name}:{node.lineno}": name
        for file in (ROOMS[0] / "store").glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
        for name in _query_names(node)
    }
    assert len(asked) > 200
    assert {place for place, name in asked.items() if isinstance(name, ast.JoinedStr | ast.BinOp)} == set()


def _query_names(call: ast.Call) -> list[ast.expr]:
    match call:
        case ast.Call(func=ast.Attribute(attr="all" | "one" | "run" | "fetch" | "fetch_for" | "statement")):
            return call.args[:1]
        case ast.Call(func=ast.Name("one_row")):
            return call.args[1:2]
    return []
