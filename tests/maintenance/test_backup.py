"""`bullion backup` and `bullion restore` as a person meets them."""

import asyncio
import json
import sqlite3
import stat
import subprocess
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from bullion.maintenance import files
from bullion.maintenance.backup import restore
from bullion.settings import Settings
from tests.support.command import bullion, environment, sentence
from tests.support.forked_process import run
from tests.support.node import SECRET, running
from tests.support.orders import Market
from tests.support.servers import Postgres

STORE = Path("var/bullion.db")
ORDERS = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a service with a few orders, which does not run any more, with a backup made while it ran."""
    folder = tmp_path_factory.mktemp("backup")
    with running(folder) as node, Market.open(node) as market:
        trader = market.trader()
        for number in range(ORDERS):
            trader.buy(1 + number)
        done = command(folder, "backup", "first.db")
    assert (done.returncode, done.stderr) == (0, "")
    assert "first.db: All equal (books: " in done.stdout
    assert "orders: 5," in done.stdout
    assert "The secret is not in it." in done.stdout
    return folder


def command(folder: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return bullion(folder, *words, **{"BULLION_SECRET": SECRET, **settings})


@pytest.fixture
def own(folder: Path, tmp_path: Path) -> Path:
    """A folder of the test's own, with the store and the backup."""
    (tmp_path / "var").mkdir()
    for name in (STORE, Path("first.db")):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def sql(store: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(store, isolation_level=None)) as opened:
        return opened.execute(statement).fetchall()


def test_a_backup_is_one_private_file_and_nothing_is_left_beside_it(folder: Path) -> None:
    assert stat.S_IMODE((folder / "first.db").stat().st_mode) == 0o600
    assert not {name for name in names(folder) if "partial" in name or name.startswith("first.db-")}
    assert sql(folder / "first.db", "SELECT count(*) FROM orders") == [(ORDERS,)]


def test_books_are_verified_for_people_and_for_programs(own: Path) -> None:
    done = command(own, "books", "verify")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("All equal (books: ")
    sql(own / STORE, "UPDATE books SET gold_net_e4 = gold_net_e4 + 1 WHERE order_count > 0")
    told = command(own, "books", "verify")
    assert told.returncode == 1
    first, last = told.stdout.splitlines()
    assert first.endswith(" test: net of gold: stored 15.0001, recomputed 15.0000")
    assert last.startswith("Differences: 1 (books: ")
    found = command(own, "books", "verify", "--json")
    report = json.loads(found.stdout)
    assert (found.returncode, report["equal"], report["orders"]) == (1, False, ORDERS)
    (difference,) = report["differences"]
    assert (difference["kind"], difference["stored"], difference["recomputed"]) == (
        "net",
        "15.0001",
        "15.0000",
    )
    assert difference["owner"]["environment"] == "test"


def test_a_backup_overwrites_nothing(own: Path) -> None:
    before = (own / "first.db").read_bytes()
    assert sentence(command(own, "backup", "first.db")) == (
        "first.db exists already. Give each backup a name of its own."
    )
    assert (own / "first.db").read_bytes() == before
    assert sentence(command(own, "backup", "no/folder.db")) == "There is no folder no. Create it first."


def test_a_backup_whose_books_differ_gets_its_name_only_if_wanted(own: Path) -> None:
    sql(own / STORE, "UPDATE books SET order_count = order_count + 1 WHERE order_count > 0")
    before = names(own)
    done = command(own, "backup", "second.db")
    assert done.returncode == 1
    assert "Nothing was written to second.db." in done.stdout
    assert names(own) == before
    assert command(own, "backup", "second.db", "--allow-differences").returncode == 1
    assert names(own) == before | {"second.db"}


def test_a_service_that_starts_during_a_backup_leaves_no_half_of_a_transaction(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    sql(store, "PRAGMA journal_mode=WAL")
    sql(store, "CREATE TABLE first AS SELECT 0 AS number")
    sql(store, "CREATE TABLE many AS SELECT zeroblob(20000000) AS filler")
    sql(store, "CREATE TABLE last AS SELECT 0 AS number")
    copied = 0

    def write_once(done: int, of: int) -> None:
        nonlocal copied
        copied += 1
        if copied == 1:
            assert done < of
            with closing(sqlite3.connect(store)) as service, service:
                service.execute("UPDATE first SET number = 1")
                service.execute("UPDATE last SET number = 1")

    with files.private_copy(store, tmp_path / "backup.db", write_once) as copy:
        assert sql(copy, "SELECT first.number, last.number FROM first, last") == [(1, 1)]


def test_a_copy_whose_newest_transactions_are_in_its_log_gets_no_name(tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    sql(copy, "PRAGMA journal_mode=WAL")
    with closing(sqlite3.connect(copy)) as still_open, still_open:
        still_open.execute("CREATE TABLE last AS SELECT 1 AS number")
        with pytest.raises(files.DamagedStore, match="was not written back"):
            files.put_in_place(copy, tmp_path / "backup.db")
    files.put_in_place(copy, tmp_path / "backup.db")
    assert sql(tmp_path / "backup.db", "SELECT number FROM last") == [(1,)]


def test_a_damaged_store_is_not_backed_up(own: Path) -> None:
    with (own / STORE).open("r+b") as store:
        store.seek(-4096 * 3, 2)
        store.write(b"\xff" * 4096 * 2)
    before = names(own)
    said = sentence(command(own, "backup", "second.db"))
    assert said.startswith(("SQLite finds damage in", f"{STORE} cannot be copied"))
    assert names(own) == before


def test_a_store_is_only_replaced_when_that_is_wanted_and_is_kept(own: Path) -> None:
    sql(own / STORE, "DELETE FROM orders")
    assert sentence(command(own, "restore", "first.db")) == (
        f"There is a store at {STORE} already. To replace it, use --replace."
    )
    done = command(own, "restore", "first.db", "--replace")
    assert (done.returncode, done.stderr) == (0, "")
    (aside,) = (own / "var").glob("bullion.db.before-restore-*")
    assert str(aside.name) in done.stdout
    assert sql(aside, "SELECT count(*) FROM orders") == [(0,)]
    assert sql(own / STORE, "SELECT count(*) FROM orders") == [(ORDERS,)]
    assert stat.S_IMODE((own / STORE).stat().st_mode) == 0o600
    assert not [name for name in names(own) if "partial" in name]


@pytest.mark.parametrize("last", ["sync", "rename"])
def test_a_restore_that_is_killed_at_the_end_leaves_a_store(
    own: Path, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    """Without one, the service would begin with an empty store."""
    store = own / STORE
    settings = replace(Settings(), database_url=f"sqlite:///{store}", secret=SECRET)
    sql(store, "UPDATE accounts SET firm_name = 'later'")
    real = Path.rename

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    def killed_before_last(path: Path, target: Path | str) -> Path:
        if Path(target) == store:
            killed()
        return real(path, target)

    if last == "sync":
        monkeypatch.setattr(files, "sync", killed)
    else:
        monkeypatch.setattr(Path, "rename", killed_before_last)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(restore(settings, own / "first.db", replace_store=True))
    monkeypatch.undo()
    assert sql(store, "SELECT DISTINCT firm_name FROM accounts") == [("later",)]
    for kept in store.parent.glob("*.before-restore-*"):
        kept.unlink()
    assert asyncio.run(restore(settings, own / "first.db", replace_store=True)) == 0
    assert ("later",) not in sql(store, "SELECT DISTINCT firm_name FROM accounts")


def test_the_log_of_a_store_that_is_gone_does_not_get_into_the_next_one(own: Path) -> None:
    store, log = own / STORE, own / f"{STORE}-wal"
    with closing(sqlite3.connect(store, isolation_level=None)) as killed:
        killed.execute("UPDATE accounts SET firm_name = 'of the lost store'")
        left = log.read_bytes()
    store.unlink()
    log.write_bytes(left)
    before = sql(own / "first.db", "SELECT * FROM accounts")
    assert command(own, "restore", "first.db").returncode == 0
    assert sql(store, "SELECT * FROM accounts") == before
    (kept,) = (own / "var").glob("bullion.db.before-restore-*-wal")
    assert kept.read_bytes() == left


def test_a_store_that_cannot_be_read_any_more_can_be_replaced(own: Path) -> None:
    (own / STORE).write_bytes(b"not a database at all" * 1000)
    assert command(own, "restore", "first.db", "--replace").returncode == 0
    assert sql(own / STORE, "SELECT count(*) FROM orders") == [(ORDERS,)]


def test_a_backup_of_an_earlier_version_is_migrated_and_restored(own: Path) -> None:
    sql(own / "first.db", "DROP TABLE line_seen")
    sql(own / "first.db", "DELETE FROM migrations WHERE number = 28")
    before = (own / "first.db").read_bytes()
    done = command(own, "restore", "first.db", "--replace")
    assert (done.returncode, done.stderr) == (0, "")
    assert "The backup is of an earlier version. Schema steps taken: 1." in done.stdout
    assert sql(own / STORE, "SELECT count(*) FROM orders") == [(ORDERS,)]
    assert sql(own / STORE, "SELECT count(*) FROM line_seen") == [(0,)]
    assert (own / "first.db").read_bytes() == before


def test_a_new_machine_gets_the_store_and_needs_the_secret(own: Path) -> None:
    (own / STORE).unlink()
    without = run(("restore", "first.db"), own, environment(), "")
    assert "BULLION_SECRET is not set" in sentence(without)
    other = command(own, "restore", "first.db", BULLION_SECRET="another-one-of-32-characters-or-more")
    assert "is not the one this store was made with" in sentence(other)
    assert not (own / STORE).exists()
    assert command(own, "restore", "first.db").returncode == 0
    assert stat.S_IMODE((own / STORE).stat().st_mode) == 0o600


def test_what_is_no_backup_is_not_restored(own: Path) -> None:
    (own / "text.db").write_text("a text")
    store = (own / STORE).read_bytes()
    assert sentence(command(own, "restore", "none.db", "--replace")) == "There is no backup at none.db."
    assert "cannot be copied" in sentence(command(own, "restore", "text.db", "--replace"))
    sql(own / "empty.db", "CREATE TABLE other (one INTEGER)")
    assert sentence(command(own, "restore", "empty.db", "--replace")) == "There is no store in empty.db."
    sql(own / "first.db", "UPDATE books SET gold_net_e4 = 1")
    done = command(own, "restore", "first.db", "--replace")
    assert done.returncode == 1
    assert "Nothing was restored." in done.stdout
    assert (own / STORE).read_bytes() == store


def test_a_store_in_use_is_not_replaced(own: Path) -> None:
    with running(own):
        assert sentence(command(own, "restore", "first.db", "--replace")) == (
            f"A node serves {STORE}. Stop it first."
        )
    with closing(sqlite3.connect(own / STORE)) as console:
        console.execute("SELECT count(*) FROM orders").fetchone()
        assert sentence(command(own, "restore", "first.db", "--replace")) == (
            f"A process is using {STORE}. Stop the console and all commands first."
        )
    assert command(own, "restore", "first.db", "--replace").returncode == 0


@pytest.mark.parametrize("name", ["backup", "restore"])
def test_with_postgresql_it_says_what_to_use_instead(tmp_path: Path, name: str) -> None:
    done = command(tmp_path, name, "a.db", BULLION_DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    assert sentence(done) == (
        "This command is for SQLite. Back up PostgreSQL with pg_dump or pgBackRest: see 'Backup' in "
        "docs/deployment.md."
    )


def test_books_are_verified_on_postgresql(postgres: Postgres, tmp_path: Path) -> None:
    settings = {"BULLION_DATABASE_URL": postgres.new_database()}
    with running(tmp_path, **settings) as node, Market.open(node) as market:
        market.trader().buy(1)
        done = command(tmp_path, "books", "verify", **settings)
    assert (done.returncode, done.stderr) == (0, "")
    assert "orders: 1," in done.stdout
