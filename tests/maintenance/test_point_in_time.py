"""Point-in-time recovery with pgBackRest as the page describes it, to an instant between two orders."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, blocks
from tests.support.command import bullion
from tests.support.node import SECRET, running, until
from tests.support.orders import Market, Trader, booked, replayed
from tests.support.servers import NotInstalled, Postgres, _as_nobody, find, missing

PAGE = ROOT / "docs/deployment.md"


def shown(begins: str) -> str:
    (text,) = [block.text for block in blocks(PAGE) if block.text.startswith(begins)]
    return text


class Repository:
    """pgBackRest with the page's settings, but for the places."""

    def __init__(self, server: Postgres) -> None:
        self._server = server
        self._prefix, uid = _as_nobody()
        self._program = find("pgbackrest")
        folder = server.folder
        places = {
            "/var/lib/postgresql/15/main": f"{folder}/data",
            "/var/lib/pgbackrest": f"{folder}/repository",
        }
        text = shown("# /etc/pgbackrest.conf")
        for place, own in places.items():
            assert place in text
            text = text.replace(place, own)
        own_lines = [f"pg1-port={server.port}", f"pg1-socket-path={folder}", "pg1-user=bullion"]
        global_lines = [f"log-path={folder}", f"lock-path={folder}/lock", "log-level-file=off"]
        text = text.replace("[bullion]", "\n".join(["[bullion]", *own_lines]))
        text = text.replace("[global]", "\n".join(["[global]", *global_lines]))
        self.config = folder / "pgbackrest.conf"
        self.config.write_text(text)
        for name in ("repository", "lock"):
            (folder / name).mkdir()
            if uid is not None:
                os.chown(folder / name, uid, -1)

    def do(self, line: str) -> None:
        """A command of the page, which begins with `sudo -u postgres pgbackrest`."""
        assert line.startswith("sudo -u postgres pgbackrest "), line
        words = line.removeprefix("sudo -u postgres pgbackrest ")
        shell = f'exec "{self._program}" --config="{self.config}" {words}'
        ended = subprocess.run(
            [*self._prefix, "/bin/sh", "-ec", shell], capture_output=True, text=True, cwd=self._server.folder
        )
        assert ended.returncode == 0, f"{line}: {ended.stdout}{ended.stderr}"

    def set_archive(self) -> None:
        """The settings of the server that the page shows."""
        for line in shown("archive_mode = on").splitlines():
            name, _, value = line.partition(" = ")
            value = value.replace("pgbackrest ", f"{self._program} --config={self.config} ")
            self._server.sql(f"ALTER SYSTEM SET {name} = {value}")
        self._server.stop()
        self._server.start()


@pytest.fixture
def server() -> Iterator[Postgres]:
    server = Postgres(sockets=True)
    try:
        find("pgbackrest")
        yield server.make()
    except NotInstalled as error:
        missing(error, "pgbackrest")
    finally:
        server.remove()


def _let_seconds_pass(server: Postgres) -> None:
    """pgBackRest compares the instant with the end of a backup in whole seconds."""
    later = server.sql("SELECT clock_timestamp() + interval '2 seconds'")
    until(lambda: server.sql(f"SELECT clock_timestamp() > '{later}'") == "t", within_s=30)


def test_an_instant_between_two_orders(server: Postgres, tmp_path: Path) -> None:
    repository = Repository(server)
    repository.set_archive()
    settings = {"BULLION_DATABASE_URL": server.new_database()}
    create, check, full = shown("sudo -u postgres pgbackrest --stanza=bullion stanza-create").splitlines()
    repository.do(create)
    repository.do(check)
    with running(tmp_path, **settings) as node, Market.open(node) as market:
        trader = market.trader()
        booked(trader.place("before the backup"))
        repository.do(full)
        _let_seconds_pass(server)
        kept = booked(trader.place("kept"))
        instant = server.sql("SELECT clock_timestamp()")
        booked(trader.place("after the instant"))
        # What was not archived yet when a disk is lost is lost with it.
        last = server.sql("SELECT pg_walfile_name(pg_switch_wal())")
        until(lambda: server.sql("SELECT last_archived_wal FROM pg_stat_archiver") >= last, within_s=120)
        node.stop()
        host = trader.http.headers["host"]
    server.stop()
    shutil.rmtree(server.folder / "data")
    _, uid = _as_nobody()
    (server.folder / "data").mkdir(mode=0o700)
    if uid is not None:
        os.chown(server.folder / "data", uid, -1)
    line = shown("sudo -u postgres pgbackrest --stanza=bullion --type=time")
    asked = "2026-11-16 14:05:00.250+05:30"
    assert asked in line
    repository.do(line.replace(asked, instant).replace("\\\n", " "))
    server.start()
    until(lambda: server.sql("SELECT pg_is_in_recovery()") == "f", within_s=120)
    done = bullion(tmp_path, "books", "verify", BULLION_SECRET=SECRET, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "orders: 2," in done.stdout
    with running(tmp_path, **settings) as node, node.api(trader.key, Host=host) as http:
        again = Trader(http, trader.login_id, {"key_id": trader.key_id, "key": trader.key})
        replayed(again.place("before the backup"))
        assert replayed(again.place("kept")) == kept
        booked(again.place("after the instant"))
