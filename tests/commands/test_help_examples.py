"""The examples that the help of `bullion` shows: each of them works on the demo as it was set up."""

import re
import shlex
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import pytest

from bullion.__main__ import main
from bullion.orders.instant import instant_text
from tests.docs.commands import command_of, option_names
from tests.docs.demo import demo_in
from tests.support.command import bullion
from tests.support.feed_status import put_feed_status
from tests.support.line_state import line_report, put_line_state

EXAMPLE = re.compile(r"^ *(bullion .+)$", re.MULTILINE)
SETTINGS = {"BULLION_FEED": "desk", "BULLION_PRODUCTION": "on"}
DEMO = {"BULLION_DATABASE_URL": "sqlite:///var/demo/bullion.db", "BULLION_BROKER": "demo"}


def commands(group: click.Group) -> Iterator[click.Command]:
    yield group
    for command in group.commands.values():
        if isinstance(command, click.Group):
            yield from commands(command)
        else:
            yield command


MOVE = "bullion store copy --broker aurum --from postgresql://bullion@db-a/bullion"
ELSEWHERE = {f"{MOVE} --to postgresql://bullion@db-b/bullion"}
"""Examples that need more than a demo: `tests/maintenance/test_broker_move.py` runs this one."""
ALL_EXAMPLES = {line for command in commands(main) for line in EXAMPLE.findall(command.help or "")}
EXAMPLES = sorted(ALL_EXAMPLES - ELSEWHERE)


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where a demo is running, with rates from the desk and production open."""
    folder = tmp_path_factory.mktemp("demo")
    with demo_in(folder, **SETTINGS) as demo:
        demo.stand_still()
        demo.open_production()
        yield folder / "var/demo"


@pytest.fixture
def copy(demo_folder: Path, tmp_path: Path) -> Path:
    """The demo's store as it is now: what an example changes in it, the next one does not meet."""
    folder = tmp_path / "var/demo"
    folder.mkdir(parents=True)
    shutil.copy(demo_folder / "secret", folder)
    with (
        closing(sqlite3.connect(demo_folder / "bullion.db")) as store,
        closing(sqlite3.connect(folder / "bullion.db")) as copied,
    ):
        store.backup(copied)
    put_feed_status(folder / "bullion.db")
    put_line_state(folder / "bullion.db", "spot", "demo", line_report(refused=True))
    (tmp_path / "trades.csv").write_text("execution_id,symbol,side,quantity,price\n", "utf-8")
    return tmp_path


def test_the_examples_are_found() -> None:
    assert len(EXAMPLES) > 20
    assert ELSEWHERE <= ALL_EXAMPLES


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_of_the_help_works(copy: Path, line: str) -> None:
    command = command_of(line)
    assert command is not None
    # A person is asked; a test has no terminal.
    sure = ["--yes"] if "--yes" in option_names(command) and "--yes" not in line else []
    if line == "bullion desk rates unpin GOLD":
        until = instant_text(time.time_ns() // 1000 + 60_000_000)
        rate = ("--bid", "150463", "--ask", "150480.50", "--pin-until", until)
        _do(copy, "rates", "put", "GOLD", *rate)
    if "hedge rule-put" in line or "hedge cover-settle" in line:
        _open_book(copy)
    if "hedge cover-settle" in line:
        _add_unanswered_cover(copy)
    done = bullion(copy, *shlex.split(line)[1:], *sure, **SETTINGS, **DEMO)
    assert done.returncode == 0, done.stderr


def _open_book(copy: Path) -> None:
    _do(copy, "hedge", "book-set", "gold", "policy=book", "limit=5000")
    for code in ("GOLDM", "GOLD"):
        terms = ("--metal", "gold", "--instrument", "GOLD", "--lot", "100", "--price-weight", "10")
        _do(copy, "hedge", "contract-put", code, *terms)


def _add_unanswered_cover(copy: Path) -> None:
    """With the id that the examples name, sent to a venue that no node asks any more."""
    _do(copy, "hedge", "cover", "--contract", "GOLDM", "--side", "buy", "--quantity", "2", "--key", "a")
    with closing(sqlite3.connect(copy / "var/demo/bullion.db")) as store, store:
        store.execute(
            "UPDATE covers SET id = 'ID', state = 'sent', sent_to = 'fix', reference_e6 = 71250000000"
        )


def _do(copy: Path, *words: str) -> None:
    done = bullion(copy, "desk", *words, **SETTINGS, **DEMO)
    assert done.returncode == 0, done.stderr
