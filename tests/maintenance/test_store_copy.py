"""`bullion store copy`: an SQLite store becomes a PostgreSQL one, whole or not at all.

With `TEST_SCALE` above 1 it has a million orders.
"""

import resource
import shutil
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from bench.seed import seed
from tests.support.command import PROGRAM, bullion, environment, sentence
from tests.support.node import SECRET, running
from tests.support.orders import GOLD, UNBOUNDED, booked
from tests.support.scale import SCALE
from tests.support.servers import Postgres

STORE = Path("var/bullion.db")
FROM = f"--from=sqlite:///{STORE}"
MANY = 1_500 if SCALE == 1 else 1_000_000
ORDERS = {("many", "test"): MANY, ("many", "production"): 600, ("some", "production"): 7}
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


def command(folder: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return bullion(folder, *words, **{"BULLION_SECRET": SECRET, **settings})


def patient_command(folder: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """For a million orders."""
    if SCALE == 1:
        return command(folder, *words, **settings)
    started, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*PROGRAM, *words],
        cwd=folder,
        env=environment(**{"BULLION_SECRET": SECRET, **settings}),
        capture_output=True,
        text=True,
        timeout=1800,
    )
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    print(f"{' '.join(words[:2])}: {time.monotonic() - started:.1f} s, its own CPU {cpu_s:.1f} s")
    return done


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a stopped service with orders of both environments, archived ones too, and a key."""
    folder = tmp_path_factory.mktemp("copied")
    on = {"BULLION_PRODUCTION": "on"}
    with running(folder, **on) as node, node.desk() as desk:
        desk.add_group()
        for code in ("GOLD", "RARE"):
            desk.do("PUT", f"/symbols/{code}", GOLD)
        desk.do("PATCH", "/switches", {"budgets": UNBOUNDED, "production": True})
        for login in ("many", "some"):
            desk.account(login, allocation={"gold": "1000", "silver": "1000"}, production_trading=True)
        key = desk.key("some")["key"]
        for name in ORDERS:
            desk.key(name[0], environment=name[1])
    seed(folder / STORE, ORDERS, print)
    with running(folder, **on) as node, node.desk() as desk, node.api(key) as http:
        for number in range(40):
            booked(_place(http, f"old {number}"))
        desk.do("POST", "/accounts/some/test-book/reset")
        booked(_place(http, "last"))
        archived = desk.do("POST", "/archive/orders", {"before": "2100-01-01"})
        assert archived["orders"] == 40
    return folder, key


def _place(http: httpx.Client, key: str) -> httpx.Response:
    body = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1, "client_order_id": f"₹ {key}"}
    return http.post("/api/trading/test/v1/orders", json=body, headers={"Idempotency-Key": key})


@pytest.fixture
def own(made: tuple[Path, str], tmp_path: Path) -> Path:
    shutil.copytree(made[0] / "var", tmp_path / "var")
    return tmp_path


def test_the_copy_is_the_same_and_goes_on(made: tuple[Path, str], own: Path, postgres: Postgres) -> None:
    address = postgres.new_database()
    done = patient_command(own, "store", "copy", FROM, f"--to={address}")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    copied, verified = done.stdout.splitlines()
    print(done.stdout)
    assert copied.startswith("Rows copied and compared: ")
    assert verified.startswith("All equal (books: 4, orders: ")
    database = address.rpartition("/")[2]
    with closing(sqlite3.connect(own / STORE)) as store:
        for (table,) in store.execute(_TABLES).fetchall():
            (rows,) = store.execute(f"SELECT count(*) FROM {table}").fetchone()
            assert postgres.sql(f"SELECT count(*) FROM {table}", database) == str(rows), table
    settings = {"BULLION_DATABASE_URL": address, "BULLION_PRODUCTION": "on"}
    with running(own, **settings) as node, node.api(made[1]) as http:
        again = _place(http, "last")
        assert again.headers["idempotent-replayed"] == "true"
        assert _place(http, "old 7").headers["idempotent-replayed"] == "true"
        booked(_place(http, "new"))
    assert patient_command(own, "books", "verify", **settings).returncode == 0


def test_a_store_in_use_is_not_copied(own: Path, postgres: Postgres) -> None:
    address = postgres.new_database()
    with running(own):
        said = sentence(command(own, "store", "copy", FROM, f"--to={address}"))
        assert said == f"A node serves {STORE}. Stop it first."
    with closing(sqlite3.connect(own / STORE)) as console:
        console.execute("SELECT count(*) FROM orders").fetchone()
        said = sentence(command(own, "store", "copy", FROM, f"--to={address}"))
        assert said.startswith(f"A process is using {STORE}.")


def test_a_database_with_anything_in_it_is_left_alone(own: Path, postgres: Postgres) -> None:
    foreign = postgres.new_database()
    postgres.sql("CREATE TABLE somebody (id INT)", foreign.rpartition("/")[2])
    said = sentence(command(own, "store", "copy", FROM, f"--to={foreign}"))
    assert said.startswith("The target has the tables of another program.")
    served = postgres.new_database()
    with running(own, BULLION_DATABASE_URL=served):
        assert "A node serves the target." in sentence(command(own, "store", "copy", FROM, f"--to={served}"))
    said = sentence(command(own, "store", "copy", FROM, BULLION_DATABASE_URL=served))
    assert said.startswith("The target is not empty: it has rows in ")


def test_what_fails_half_way_leaves_nothing_and_can_be_repeated(own: Path, postgres: Postgres) -> None:
    """A text that PostgreSQL cannot hold, in one of the last tables."""
    address = postgres.new_database()
    with closing(sqlite3.connect(own / STORE, isolation_level=None)) as store:
        store.execute("INSERT INTO execution_cursors VALUES ('main', 'x', 'a' || char(0) || 'b')")
    assert "the store failed" in sentence(patient_command(own, "store", "copy", FROM, f"--to={address}"))
    assert postgres.sql("SELECT count(*) FROM orders", address.rpartition("/")[2]) == "0"
    with closing(sqlite3.connect(own / STORE, isolation_level=None)) as store:
        store.execute("DELETE FROM execution_cursors WHERE venue = 'x'")
    assert patient_command(own, "store", "copy", FROM, f"--to={address}").returncode == 0


def test_its_addresses_have_to_be_what_they_say(own: Path) -> None:
    said = sentence(command(own, "store", "copy", "--from=postgresql://u@h/d"))
    assert said == "--from must be sqlite:///<path>, for example sqlite:///var/bullion.db."
    said = sentence(command(own, "store", "copy", FROM))
    assert said.startswith("--to (or BULLION_DATABASE_URL) must be postgresql://")
    said = sentence(command(own, "store", "copy", "--from=sqlite:///none.db", "--to=postgresql://u@h/d"))
    assert said == "There is no store at none.db."
