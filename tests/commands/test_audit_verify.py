"""`bullion audit verify`: whatever is done to the trail behind the service's back is found, and where."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import bullion, sentence
from tests.support.desk import first_caller
from tests.support.node import SECRET, running

# What the module makes is costly: one worker makes it, once.

COUNT = 6
STORE = Path("var/bullion.db")
OTHER_HASH = "0123456789abcdef" * 4

Tamper = Callable[[sqlite3.Connection, str], Any]


@dataclass(frozen=True)
class Case:
    """Something done to a broker's chain, and the entries that must be named."""

    tamper: Tamper
    named: set[int]
    why: str


def change(ordinal: int, column: str, value: object) -> Tamper:
    sql = f"UPDATE audit SET {column} = ? WHERE broker = ? AND ordinal = ?"
    return lambda store, broker: store.execute(sql, (value, broker, ordinal))


def remove(*ordinals: int) -> Tamper:
    sql = "DELETE FROM audit WHERE broker = ? AND ordinal = ?"
    return lambda store, broker: store.executemany(sql, [(broker, ordinal) for ordinal in ordinals])


def move(store: sqlite3.Connection, broker: str, source: int, target: int) -> None:
    sql = "UPDATE audit SET ordinal = ? WHERE broker = ? AND ordinal = ?"
    store.execute(sql, (target, broker, source))


def swap(one: int, two: int) -> Tamper:
    def tamper(store: sqlite3.Connection, broker: str) -> None:
        move(store, broker, one, 1000)
        move(store, broker, two, one)
        move(store, broker, 1000, two)

    return tamper


def close_the_gap(removed: int) -> Tamper:
    """Take an entry away and count the later ones anew."""

    def tamper(store: sqlite3.Connection, broker: str) -> None:
        remove(removed)(store, broker)
        for ordinal in range(removed + 1, COUNT + 1):
            move(store, broker, ordinal, ordinal - 1)

    return tamper


def insert(at: int) -> Tamper:
    """Put a forged entry in, and count the later ones anew."""

    def tamper(store: sqlite3.Connection, broker: str) -> None:
        for ordinal in range(COUNT, at - 1, -1):
            move(store, broker, ordinal, ordinal + 1)
        forge(store, broker, at)

    return tamper


def forge(store: sqlite3.Connection, broker: str, ordinal: int) -> None:
    store.execute(
        "INSERT INTO audit SELECT broker, ?, at_us, actor, action, 'forged', before, after, ? FROM audit "
        "WHERE broker = ? LIMIT 1",
        (ordinal, OTHER_HASH, broker),
    )


def forge_before_the_first(store: sqlite3.Connection, broker: str) -> None:
    store.execute("PRAGMA ignore_check_constraints = ON")
    forge(store, broker, 0)


def head(column: str, value: object) -> Tamper:
    sql = f"UPDATE audit_heads SET {column} = ? WHERE broker = ?"
    return lambda store, broker: store.execute(sql, (value, broker))


def remove_head(store: sqlite3.Connection, broker: str) -> None:
    store.execute("DELETE FROM audit_heads WHERE broker = ?", (broker,))


def remove_everything(store: sqlite3.Connection, broker: str) -> None:
    remove_head(store, broker)
    store.execute("DELETE FROM audit WHERE broker = ?", (broker,))


def forget_the_last(store: sqlite3.Connection, broker: str) -> None:
    """Take the last entry away and lead the head back to the one before it."""
    remove(COUNT)(store, broker)
    store.execute(
        "UPDATE audit_heads SET count = ?, hash = (SELECT hash FROM audit WHERE broker = ? AND ordinal = ?) "
        "WHERE broker = ?",
        (COUNT - 1, broker, COUNT - 1, broker),
    )


def borrow_a_head(store: sqlite3.Connection, broker: str) -> None:
    """Another broker's head, with its seal."""
    for column in ("hash", "seal"):
        store.execute(
            f"UPDATE audit_heads SET {column} = (SELECT {column} FROM audit_heads WHERE broker = 'main') "
            "WHERE broker = ?",
            (broker,),
        )


CHANGED, HEAD = "changed, or not where it was written", "the head of the chain was changed"
CASES = {
    "the first entry changed": Case(change(1, "after", "{}"), {1}, CHANGED),
    "a middle entry changed": Case(change(3, "after", "{}"), {3}, CHANGED),
    "the last entry changed": Case(change(COUNT, "after", "{}"), {COUNT}, CHANGED),
    "what was before": Case(change(3, "before", None), {3}, CHANGED),
    "who did it": Case(change(3, "actor", "somebody else"), {3}, CHANGED),
    "what was done": Case(change(3, "action", "nothing"), {3}, CHANGED),
    "to what": Case(change(3, "subject", "another"), {3}, CHANGED),
    "when": Case(change(3, "at_us", 1), {3}, CHANGED),
    "a hash in the middle": Case(change(3, "hash", OTHER_HASH), {3, 4}, CHANGED),
    "the last hash": Case(change(COUNT, "hash", OTHER_HASH), {COUNT}, CHANGED),
    "the first entry removed": Case(remove(1), {1}, "entry 1 missing"),
    "a middle entry removed": Case(remove(3), {3}, "entry 3 missing"),
    "two entries removed": Case(remove(3, 4), {3}, "entries 3 to 4 missing"),
    "two apart removed": Case(remove(2, 4), {2, 4}, "missing"),
    "the last entry removed": Case(remove(COUNT), {COUNT}, "the last 1 of 6 entries are missing"),
    "the last two removed": Case(
        remove(COUNT, COUNT - 1), {COUNT - 1}, "the last 2 of 6 entries are missing"
    ),
    "all entries removed": Case(remove(*range(1, COUNT + 1)), {1}, "the last 6 of 6 entries are missing"),
    "all entries and the head removed": Case(remove_everything, {0}, "head of the chain is missing"),
    "the first two swapped": Case(swap(1, 2), {1, 2, 3}, CHANGED),
    "two in the middle swapped": Case(swap(3, 4), {3, 4, 5}, CHANGED),
    "the last two swapped": Case(swap(5, 6), {5, 6}, CHANGED),
    "first and last swapped": Case(swap(1, COUNT), {1, 2, COUNT}, CHANGED),
    "the gap of the first closed": Case(close_the_gap(1), {1, 2, 3, 4, 5, 6}, CHANGED),
    "the gap of a middle one closed": Case(close_the_gap(3), {3, 4, 5, 6}, CHANGED),
    "an entry put in first": Case(insert(1), {1, 2, 3, 4, 5, 6, 7}, CHANGED),
    "an entry put in the middle": Case(insert(4), {4, 5, 6, 7}, CHANGED),
    "an entry put in last": Case(insert(COUNT + 1), {COUNT + 1}, CHANGED),
    "an entry put in before the first": Case(forge_before_the_first, {0}, ""),
    "the head's count changed": Case(head("count", COUNT - 1), {COUNT}, HEAD),
    "the head's hash changed": Case(head("hash", OTHER_HASH), {COUNT}, HEAD),
    "the head's seal changed": Case(head("seal", OTHER_HASH), {COUNT}, HEAD),
    "the head removed": Case(remove_head, {COUNT}, "the head of the chain is missing"),
    "the last entry forgotten by the head": Case(forget_the_last, {COUNT - 1}, HEAD),
    "another broker's head": Case(borrow_a_head, {COUNT}, HEAD),
}
BROKERS = {what: f"case-{number}" for number, what in enumerate(CASES, start=1)}


@pytest.fixture(scope="module")
def trail(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a stopped service, whose brokers have a trail of COUNT entries each."""
    folder = tmp_path_factory.mktemp("trail")
    with running(folder) as node, first_caller(node) as desk:
        for broker in BROKERS.values():
            for number in range(COUNT):
                desk.do("PUT", f"/brokers/{broker}", {"name": f"name {number}"})
    return folder


def tampered(trail: Path, folder: Path, *done: tuple[Tamper, str]) -> Path:
    """A copy of the trail with something done to it."""
    shutil.copytree(trail, folder, dirs_exist_ok=True)
    with closing(sqlite3.connect(folder / STORE)) as store:
        for tamper, broker in done:
            tamper(store, broker)
        store.commit()
    return folder


@pytest.fixture(scope="module")
def findings(trail: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What is said when every case is done to a broker of its own."""
    done = [(case.tamper, BROKERS[what]) for what, case in CASES.items()]
    folder = tampered(trail, tmp_path_factory.mktemp("tampered"), *done)
    found = bullion(folder, "audit", "verify", BULLION_SECRET=SECRET)
    assert (found.returncode, found.stderr) == (1, "")
    return found.stdout.splitlines()


@pytest.mark.parametrize("what", CASES)
def test_it_is_found_where_it_is(findings: list[str], what: str) -> None:
    broker, case = BROKERS[what], CASES[what]
    assert f"{broker}: BROKEN" in findings
    prefix = f"  {broker}, entry "
    places = [line.removeprefix(prefix) for line in findings if line.startswith(prefix)]
    assert {int(place.partition(":")[0]) for place in places} == case.named
    assert case.why in places[0]


def test_a_trail_that_nobody_touched_is_whole_beside_broken_ones(findings: list[str]) -> None:
    assert [line for line in findings if line.startswith("main: intact, entries: 1, last hash ")]
    assert not [line for line in findings if line.startswith("  main, ")]


@pytest.mark.parametrize("what", ["a middle entry changed", "the last entry removed"])
def test_one_break_alone_is_exit_code_1(trail: Path, tmp_path: Path, what: str) -> None:
    folder = tampered(trail, tmp_path, (CASES[what].tamper, BROKERS[what]))
    found = bullion(folder, "audit", "verify", BULLION_SECRET=SECRET)
    assert found.returncode == 1
    lines = found.stdout.splitlines()
    assert [line for line in lines if "BROKEN" in line] == [f"{BROKERS[what]}: BROKEN"]
    (ordinal,) = CASES[what].named
    assert lines[-1] == f"  {BROKERS[what]}, entry {ordinal}: {lines[-1].partition(': ')[2]}"
    assert CASES[what].why in lines[-1]


def test_an_intact_trail_is_exit_code_0(trail: Path) -> None:
    found = bullion(trail, "audit", "verify", BULLION_SECRET=SECRET)
    assert (found.returncode, found.stderr) == (0, "")
    lines = found.stdout.splitlines()
    assert len(lines) == len(BROKERS) + 1
    assert all(": intact, " in line for line in lines)
    with closing(sqlite3.connect(trail / STORE)) as store:
        sql = "SELECT broker, ordinal, hash FROM audit WHERE ordinal = ? OR broker = 'main'"
        last = {broker: (count, hash_) for broker, count, hash_ in store.execute(sql, (COUNT,))}
    for broker, (count, hash_) in last.items():
        assert f"{broker}: intact, entries: {count}, last hash {hash_}" in lines


def test_a_trail_is_verified_while_the_service_runs(tmp_path: Path) -> None:
    with running(tmp_path) as node, first_caller(node) as desk:
        desk.add_group()
        newest = desk.do("GET", "/audit?limit=1")["items"][0]
        found = bullion(tmp_path, "audit", "verify", BULLION_SECRET=SECRET)
        assert desk.do("GET", "/audit?limit=1")["items"][0] == newest
    assert found.returncode == 0
    assert found.stdout == f"main: intact, entries: {newest['ordinal']}, last hash {newest['hash']}\n"


def test_another_secret_is_told_in_words(trail: Path) -> None:
    other = "another-secret-than-the-deployments-own"
    said = sentence(bullion(trail, "audit", "verify", BULLION_SECRET=other))
    assert said.startswith("BULLION_SECRET ")
    assert other not in said


def test_a_missing_secret_is_told_in_words_and_none_is_made(trail: Path, tmp_path: Path) -> None:
    folder = tampered(trail, tmp_path)
    before = sorted(path.name for path in folder.rglob("*"))
    said = sentence(bullion(folder, "audit", "verify"))
    assert "BULLION_SECRET" in said
    assert sorted(path.name for path in folder.rglob("*")) == before


def test_without_a_store_there_is_nothing_to_verify(tmp_path: Path) -> None:
    said = sentence(bullion(tmp_path, "audit", "verify", BULLION_SECRET=SECRET))
    assert said == "BULLION_DATABASE_URL: there is no store at var/bullion.db. 'bullion migrate' creates it."
    assert list(tmp_path.iterdir()) == []


def test_a_store_without_the_trails_table_is_told_in_words(trail: Path, tmp_path: Path) -> None:
    folder = tampered(trail, tmp_path, (lambda store, _: store.execute("DROP TABLE audit"), ""))
    said = sentence(bullion(folder, "audit", "verify", BULLION_SECRET=SECRET))
    assert "audit" in said
