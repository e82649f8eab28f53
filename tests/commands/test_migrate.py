"""`bullion migrate`: makes the store, can be run twice, and leaves a newer store alone."""

import re
import shutil
import sqlite3
import subprocess
from asyncio import to_thread
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from unittest.mock import ANY

import pytest

from bullion.keys.hashing import fingerprint
from bullion.settings import read_settings
from bullion.store import schema
from bullion.wiring.store import StoreEngine, make_engine
from tests.booking.fixtures import rows
from tests.support.command import bullion, environment, sentence
from tests.support.forked_process import CHECKOUT, run
from tests.support.node import SECRET
from tests.support.servers import Postgres

# What the module makes is costly: one worker makes it, once.

STORE = Path("var/bullion.db")
FREE = {"BULLION_PORT": "0", "BULLION_DESK_PORT": "0"}
LEVEL = schema.code_level("sqlite")
TAKEN = re.compile(r"The schema is up to date; (\d+) steps? (was|were) taken\.\n")


def steps_taken(folder: Path) -> int:
    done = bullion(folder, "migrate", BULLION_SECRET=SECRET)
    assert (done.returncode, done.stderr) == (0, "")
    said = TAKEN.fullmatch(done.stdout)
    assert said is not None, done.stdout
    assert (said[2] == "was") == (said[1] == "1")
    return int(said[1])


def tables(folder: Path) -> set[str]:
    with closing(sqlite3.connect(folder / STORE)) as store:
        return {name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def alter(folder: Path, sql: str) -> None:
    with closing(sqlite3.connect(folder / STORE)) as store:
        store.execute(sql)
        store.commit()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a new store."""
    folder = tmp_path_factory.mktemp("made")
    assert steps_taken(folder) >= 1
    return folder


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A copy of it, for a test to change."""
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


def test_an_empty_folder_gets_a_store(store: Path) -> None:
    assert {"migrations", "brokers", "accounts", "books", "keys", "audit"} <= tables(store)


def test_a_second_time_there_is_nothing_to_do(store: Path) -> None:
    before = (store / STORE).read_bytes()
    assert steps_taken(store) == 0
    assert (store / STORE).read_bytes() == before


@pytest.mark.parametrize("command", ["migrate", "serve", "audit verify"])
def test_a_newer_store_is_left_alone_in_words(store: Path, command: str) -> None:
    alter(store, "INSERT INTO migrations (number, name, checksum) VALUES (9999, 'future', 'x')")
    before = (store / STORE).read_bytes()
    said = sentence(bullion(store, *command.split(), BULLION_SECRET=SECRET, **FREE))
    assert said == (
        "The store is at schema step 9999, which works with schema level 9999 or later. "
        f"This version of Bullion has level {LEVEL}. Run the version that migrated it, or a later one."
    )
    assert (store / STORE).read_bytes() == before


def test_a_step_that_was_changed_is_told_in_words(store: Path) -> None:
    alter(store, "UPDATE migrations SET checksum = 'another' WHERE number = 1")
    said = sentence(bullion(store, "migrate", BULLION_SECRET=SECRET))
    assert said.startswith("Schema step 1 (schema) of the store is not the one of this version")


def test_a_database_of_something_else_is_left_alone_in_words(tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    alter(tmp_path, "CREATE TABLE accounts (name TEXT)")
    said = sentence(bullion(tmp_path, "migrate", BULLION_SECRET=SECRET))
    assert "BULLION_DATABASE_URL" in said
    assert tables(tmp_path) == {"accounts"}


def test_a_store_that_is_behind_is_told_of_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    (tmp_path / STORE).touch()
    said = sentence(bullion(tmp_path, "audit", "verify", BULLION_SECRET=SECRET))
    assert said == "The store's schema is older than this version of Bullion. Run 'bullion migrate'."


def _engine_url(engine: str, request: pytest.FixtureRequest) -> str:
    if engine == "sqlite":
        return f"sqlite:///{STORE}"
    server: Postgres = request.getfixturevalue("postgres")
    return server.new_database()


@asynccontextmanager
async def _opened(settings: Mapping[str, str]) -> AsyncIterator[StoreEngine]:
    engine = make_engine(read_settings(settings))
    await engine.open()
    try:
        yield engine
    finally:
        await engine.close()


async def _make_store(settings: Mapping[str, str]) -> None:
    """A store as this version leaves it, made with the tests' secret."""
    made_with = fingerprint(SECRET.encode())
    async with _opened(settings) as engine:
        assert await engine.migrate() >= 1
        await rows(
            engine, f"INSERT INTO deployment (name, value) VALUES ('secret_fingerprint', '{made_with}')"
        )


def _newer_bullion(folder: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """The command line of a later version: see `newer_version.py`."""
    given = environment(PYTHONPATH=str(CHECKOUT), **settings)
    return run(words, folder, given, module="tests.commands.newer_version")


async def _contents(settings: Mapping[str, str]) -> list[list[tuple[object, ...]]]:
    """The steps that were taken, the rows of `deployment`, and every table and column."""
    columns = {
        "sqlite": "SELECT name, sql FROM sqlite_master ORDER BY name",
        "postgresql": "SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_schema = 'public' ORDER BY 1, 2",
    }[settings["BULLION_DATABASE_URL"].partition(":")[0]]
    asked = [
        "SELECT number, checksum FROM migrations ORDER BY number",
        "SELECT name, value FROM deployment ORDER BY name",
        columns,
    ]
    async with _opened(settings) as engine:
        return [[tuple(row) for row in await rows(engine, sql)] for sql in asked]


@pytest.mark.anyio
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
@pytest.mark.parametrize("command", ["migrate", "serve"])
async def test_with_another_secret_no_step_is_taken(
    engine: str,
    command: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = {"BULLION_DATABASE_URL": _engine_url(engine, request), "BULLION_SECRET": SECRET}
    await _make_store(settings)
    before = await _contents(settings)
    said = sentence(_newer_bullion(tmp_path, command, **(settings | {"BULLION_SECRET": SECRET[::-1]} | FREE)))
    assert said.startswith("BULLION_SECRET ")
    assert await _contents(settings) == before
    # A missing secret is no better.
    del settings["BULLION_SECRET"]
    assert "BULLION_SECRET" in sentence(_newer_bullion(tmp_path, command, **settings, **FREE))
    settings["BULLION_SECRET"] = SECRET
    assert await _contents(settings) == before
    done = _newer_bullion(tmp_path, "migrate", **settings)
    assert done.stdout == "The schema is up to date; 1 step was taken.\n", done
    assert (await _contents(settings))[0] == [*before[0], (9999, ANY)]


@pytest.mark.anyio
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_a_check_shows_what_would_be_done_and_does_nothing(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = {"BULLION_DATABASE_URL": _engine_url(engine, request), "BULLION_SECRET": SECRET}
    done = bullion(tmp_path, "migrate", "--check", **settings)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("There is no store yet.")
    assert not await to_thread((tmp_path / "var").exists)
    await _make_store(settings)
    done = bullion(tmp_path, "migrate", "--check", **settings)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"The schema is up to date for level {LEVEL}; there is nothing to do.\n"
    before = await _contents(settings)
    done = _newer_bullion(tmp_path, "migrate", "--check", **settings)
    assert (done.returncode, done.stderr) == (1, "")
    locks = {
        "sqlite": "orders wait until it is done.",
        "postgres": "waits at most 0.2 s for a lock, holds it at most 2 s.",
    }
    assert done.stdout.splitlines() == [
        "1 step to take, up to schema level 9999:",
        f"  9999 added: {locks[engine]} Works with level 9999 or later.",
    ]
    wrong = settings | {"BULLION_SECRET": SECRET[::-1]}
    assert sentence(_newer_bullion(tmp_path, "migrate", "--check", **wrong)).startswith("BULLION_SECRET ")
    assert await _contents(settings) == before
