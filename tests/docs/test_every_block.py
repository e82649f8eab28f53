"""Every block of the documentation is run by a test, or it is written down why not."""

import importlib
import inspect
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bullion.refusals.catalogue import CATALOGUE
from bullion.settings import _READERS
from tests.docs.blocks_not_run import APART, BEFORE
from tests.docs.examples import done_before, examples
from tests.docs.markdown import PAGES, ROOT, Block, blocks, name_of

RUNNERS = {"run_shell(": "sh", "run_python(": "python", "run_as_root(": "bash"}
KEPT = {
    "API",
    "KEY",
    "LIVE_KEY",
    "DESK",
    "DESK_TOKEN",
    "BULLION_BASE_URL",
    "BULLION_API_KEY",
    "VENUE_PORT",
    "QUOTES_PORT",
}
"""What tests/docs/demo.py, or the test of a page, has for the reader's variables."""


def test_every_block_is_run_or_it_is_said_why_not() -> None:
    run = _run_with_their_pages()
    for page in PAGES:
        for block in blocks(page):
            apart = any(row.page == name_of(page) and block.text.startswith(row.begins) for row in APART)
            assert (block.place in run) + apart + _is_before(block) == 1, (
                f"{block.place}: {'more than one test accounts' if apart else 'no test accounts'} for this "
                f"block. Run its page with run_shell or run_python, or write into "
                f"tests/docs/blocks_not_run.py who runs it, or why nobody can."
            )


def test_what_is_written_down_is_still_so() -> None:
    assert BEFORE
    for row in APART:
        found = [block for block in blocks(ROOT / row.page) if block.text.startswith(row.begins)]
        assert len(found) == 1, f"{row.page} has {len(found)} blocks that begin with {row.begins!r}"
        assert row.why
        if row.run_by:
            file, _, name = row.run_by.partition("::")
            assert callable(getattr(_module(ROOT / file), name)), row.run_by


def test_the_reader_is_asked_to_keep_what_the_tests_have() -> None:
    for block in (block for page in PAGES for block in blocks(page) if _is_before(block)):
        exported = set(re.findall(r"\b([A-Z_]+)=", block.text))
        assert exported <= KEPT | set(_READERS), block.place


def test_make_run_starts_the_demo() -> None:
    make = shutil.which("make")
    assert make is not None
    done = subprocess.run(
        [make, "--no-print-directory", "--dry-run", "--always-make", "run"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.rstrip().endswith("exec .venv/bin/bullion demo")


def test_the_refusal_that_is_shown_is_one() -> None:
    (block,) = blocks(ROOT / "docs/refusals.md")
    shown = json.loads(block.text)["detail"]
    assert set(shown) == {"code", "message"}
    assert shown["code"] in {row.code for row in CATALOGUE}


def _is_before(block: Block) -> bool:
    return block.language == "sh" and done_before(block)


def _run_with_their_pages() -> set[str]:
    """The places of all blocks that a test runs, and of those it compares the outcome with."""
    found: set[str] = set()
    for file in sorted(ROOT.glob("tests/**/test_*.py")):
        if not any(call in file.read_text("utf-8") for call in RUNNERS):
            continue
        module = _module(file)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_") and function.__module__ == module.__name__:
                found.update(_run_by(module, function))
    return found


def _run_by(module: ModuleType, function: Callable[..., Any]) -> Iterator[str]:
    source = inspect.getsource(function)
    for call, language in RUNNERS.items():
        for page in _pages_of(module, function) if call in source else ():
            for example in examples(page, language):
                yield from (block.place for block in (example.source, example.shown) if block is not None)


def _pages_of(module: ModuleType, function: Callable[..., Any]) -> set[Path]:
    """The pages that a test names: by a constant of its module, or as the values it is run with."""
    marks: list[pytest.Mark] = getattr(function, "pytestmark", [])
    values = [value for mark in marks if mark.name == "parametrize" for value in mark.args[1]]
    values += [getattr(module, name, None) for name in function.__code__.co_names]
    return {value for value in values if isinstance(value, Path) and value.suffix == ".md"}


def _module(file: Path) -> ModuleType:
    return importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
