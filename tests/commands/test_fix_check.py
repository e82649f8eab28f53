"""`bullion fix check` against a venue of its own, and `bullion serve` with a wrong market file."""

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.support.command import bullion
from tests.support.fix_node import Acceptor, add_source, fix_settings, market_file
from tests.support.node import DESK_TOKEN, SECRET
from tests.support.servers import free_port


@pytest.fixture(scope="module")
def venue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acceptor]:
    with Acceptor(tmp_path_factory.mktemp("venue"), "GOLD=150000") as venue:
        yield venue.start()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a store."""
    folder = tmp_path_factory.mktemp("check")
    assert bullion(folder, "migrate").returncode == 0
    return folder


def check(folder: Path, port: int, *words: str, **profile: str) -> CompletedProcess[str]:
    done = bullion(folder, "fix", "check", *words, BULLION_MARKET=str(market_file(folder, port, **profile)))
    assert "Traceback" not in done.stderr
    return done


def test_a_venue_that_does_what_the_profile_says(folder: Path, venue: Acceptor) -> None:
    done = check(folder, venue.port, "spot")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"Line spot: BULLION to VENUE at 127.0.0.1:{venue.port}, profile demo.",
        "Logged on: heartbeat 30 s, numbers reset.",
        "An unknown order is answered by 35=8, 39=8, 103=5: Unknown order",
        "Messages: var/fix/spot-<date>.log",
    ]
    (log,) = (folder / "var" / "fix").glob("spot-*.log")
    sent = [line for line in log.read_text("latin-1").splitlines() if " > " in line]
    assert [line.partition("\x0135=")[2][0] for line in sent] == ["A", "H", "5"]
    assert venue.executions() == [], "a check sends no order"


def test_what_the_profile_must_be_changed_to_is_said(folder: Path, venue: Acceptor) -> None:
    done = check(folder, venue.port, unknown='"reject"', echoes_question="false")
    assert done.returncode == 1
    assert 'The profile has unknown = "reject": change it to "report".' in done.stdout
    assert "The profile has echoes_question = false: change it to true." in done.stdout


def test_a_venue_that_is_not_there(folder: Path, tmp_path: Path) -> None:
    done = check(folder, Acceptor(tmp_path).port)
    assert (done.returncode, done.stderr) == (1, "")
    _, said, _ = done.stdout.splitlines()
    assert said.startswith("The venue cannot be reached: ")
    assert "127.0.0.1" in said


def test_a_line_that_the_file_does_not_have(folder: Path, venue: Acceptor) -> None:
    done = check(folder, venue.port, "other")
    assert done.returncode == 2
    assert done.stderr.endswith("market.toml: spot.\n")


def check_source(folder: Path, venue: Acceptor, port: int, symbol: str = "GOLD") -> CompletedProcess[str]:
    market = add_source(market_file(folder, venue.port), port, symbol)
    done = bullion(folder, "fix", "check", "venue", BULLION_MARKET=str(market))
    assert "Traceback" not in done.stderr
    return done


def test_a_source_of_rates_is_checked_by_its_first_quotes(folder: Path, venue: Acceptor) -> None:
    done = check_source(folder, venue, venue.quotes_port)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    first, second, quote, last = done.stdout.splitlines()
    assert first == f"Source venue: BULLION to VENUE at 127.0.0.1:{venue.quotes_port}, profile resetting."
    assert second == "Logged on."
    assert re.fullmatch(r"GOLD: bid 1[45]\d{4}\.\d{6}, ask 1[45]\d{4}\.\d{6}, from GOLD\.", quote)
    assert last == "Messages: var/fix/sources/venue-<date>.log"
    (log,) = (folder / "var" / "fix" / "sources").glob("venue-*.log")
    sent = [line for line in log.read_text("latin-1").splitlines() if " > " in line]
    assert [line.partition("\x0135=")[2][0] for line in sent] == ["A", "V", "5"]


def test_a_source_that_refuses_a_symbol_or_is_not_there(folder: Path, venue: Acceptor) -> None:
    refused = check_source(folder, venue, venue.quotes_port, "PLATINUM")
    assert refused.returncode == 1
    assert "GOLD: nothing from PLATINUM: the source refused it: Unknown symbol." in refused.stdout
    away = check_source(folder, venue, free_port())
    assert away.returncode == 1
    assert "It cannot be reached: " in away.stdout


def test_serve_reports_every_mistake_of_the_market_file_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "market.toml"
    path.write_text(
        """\
[lines.spot]
broker = "gilt"
host = "127.0.0.1"
prt = 9
sender = "BULLION"
target = "VENUE"
profile = "other"
password_env = "NOT_SET"
""",
        "utf-8",
    )
    ports = {"BULLION_PORT": "0", "BULLION_DESK_PORT": "0"}
    secrets = {"BULLION_SECRET": SECRET, "BULLION_DESK_TOKEN": DESK_TOKEN}
    done = bullion(tmp_path, "serve", **fix_settings(path), **ports, **secrets)
    assert (done.returncode, done.stdout) == (2, "")
    first, *mistakes = done.stderr.splitlines()
    assert first == f"bullion: BULLION_MARKET: {path} has mistakes:"
    assert [mistake.partition(": ")[0] for mistake in mistakes] == ["line 1", "line 4", "line 7"]
    assert "lines.spot.port is missing" in mistakes[0]
    assert "Did you mean port?" in mistakes[1]
    assert "lines.spot.profile is not a profile" in mistakes[2]


def test_a_command_that_trades_says_that_it_needs_the_market_file(folder: Path) -> None:
    """It takes the venue from the store, where a node has noted it."""
    with contextlib.closing(sqlite3.connect(folder / "var" / "bullion.db")) as store, store:
        store.execute("INSERT INTO deployment (name, value) VALUES ('hedge', 'fix')")
    order = ("--symbol", "GOLD", "--side", "buy", "--quantity", "1", "--source", "web", "--key", "a")
    done = bullion(folder, "desk", "orders", "place", "aurum", *order)
    assert done.returncode == 2
    assert done.stderr == "bullion: The service covers orders over FIX: set BULLION_MARKET as it has it.\n"
