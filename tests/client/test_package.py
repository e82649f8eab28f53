"""The package as its users see it: its names, their documentation, and what it depends on."""

import ast
import dataclasses
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import bullion_client
from bullion_client import Account, BullionError, Environment, errors

FOLDER = Path(bullion_client.__file__).parent
# The command line is an extra, with needs of its own.
SOURCES = sorted(path for path in FOLDER.rglob("*.py") if FOLDER / "cli" not in path.parents)
PUBLIC = [getattr(bullion_client, name) for name in bullion_client.__all__ if not name.startswith("_")]
CLASSES = [public for public in PUBLIC if inspect.isclass(public)]


def _nodes_that_run(path: Path) -> Iterator[ast.AST]:
    """All nodes but those that are for type checkers only, which bring `typing_extensions` along."""
    left: list[ast.AST] = [ast.parse(path.read_text())]
    while left:
        node = left.pop()
        for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        yield node
        left += node.orelse if for_types and isinstance(node, ast.If) else ast.iter_child_nodes(node)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_depends_on_httpx_and_the_standard_library_alone(path: Path) -> None:
    allowed = {*sys.stdlib_module_names, "httpx", "bullion_client"}
    command_line = path.parent.name == "cli"
    if command_line:  # It is an extra, which nothing of the library knows of.
        allowed |= {"click", "rich"}
    for node in _nodes_that_run(path):
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= allowed
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert (node.module or "").split(".")[0] in allowed
            assert command_line or (node.module or "").split(".")[:2] != ["bullion_client", "cli"]


@pytest.mark.parametrize("public", PUBLIC, ids=lambda public: public.__name__)
def test_public_names_are_documented(public: type) -> None:
    # A dataclass or enum without a docstring of its own would show a made-up one.
    text = str((public.__dict__.get("__doc__") if inspect.isclass(public) else public.__doc__) or "")
    assert text
    assert not text.startswith(f"{public.__name__}(")
    for name, member in inspect.getmembers(public):
        if not name.startswith("_") and inspect.getmodule(member) is inspect.getmodule(public):
            assert inspect.getdoc(member), name


def test_every_error_is_public_and_drawn_in_the_tree() -> None:
    classes = [value for value in vars(errors).values() if inspect.isclass(value)]
    names = {value.__name__ for value in classes if issubclass(value, BullionError)}
    assert names == {value.__name__ for value in CLASSES if issubclass(value, BullionError)}
    assert errors.__doc__ is not None
    assert [name for name in names if name not in errors.__doc__.split()] == []


def test_an_account_is_a_value() -> None:
    account = Account(
        "asha", None, Environment.TEST, "k7", "till", ("orders:read",), production_trading_available=True
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        account.login_id = "other"  # type: ignore[misc]
    assert not hasattr(account, "__dict__")
    assert {account} == {dataclasses.replace(account)}


def test_is_typed() -> None:
    assert Path(bullion_client.__file__).with_name("py.typed").is_file()
