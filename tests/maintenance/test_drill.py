"""The drill: back up under load, destroy the store, restore, verify, and trade on. On both engines."""

import asyncio
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from tests.nodes.crowd import Answered, Crowd, Rotation
from tests.support.command import bullion
from tests.support.node import SECRET, Node, running, start
from tests.support.orders import Market, Trader, booked, replayed
from tests.support.servers import Postgres, find

_ORDERS_BEFORE = 150


class Deployment(Protocol):
    settings: dict[str, str]

    def back_up(self) -> None: ...

    def destroy(self) -> None: ...

    def restore(self) -> None: ...


class OnSqlite:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings: dict[str, str] = {}

    def back_up(self) -> None:
        done(self.folder, "backup", "copy.db")

    def destroy(self) -> None:
        for file in (self.folder / "var").glob("bullion.db*"):
            file.unlink()

    def restore(self) -> None:
        done(self.folder, "restore", "copy.db")


class OnPostgres:
    def __init__(self, folder: Path, server: Postgres) -> None:
        self.folder = folder
        self.server = server
        self.settings = {"BULLION_DATABASE_URL": server.new_database()}

    def back_up(self) -> None:
        address = self.settings["BULLION_DATABASE_URL"]
        subprocess.run([find("pg_dump"), "-Fc", f"--file={self.folder}/copy.dump", address], check=True)

    def destroy(self) -> None:
        name = self.settings["BULLION_DATABASE_URL"].rpartition("/")[2]
        self.server.sql(f"DROP DATABASE {name} WITH (FORCE)")

    def restore(self) -> None:
        address = self.settings["BULLION_DATABASE_URL"] = self.server.new_database()
        subprocess.run(
            [find("pg_restore"), "-1", f"--dbname={address}", f"{self.folder}/copy.dump"], check=True
        )


def done(folder: Path, *words: str, **settings: str) -> str:
    ended = bullion(folder, *words, **{"BULLION_SECRET": SECRET, **settings})
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(params=["sqlite", "postgres"])
def deployment(request: pytest.FixtureRequest, tmp_path: Path) -> Deployment:
    if request.param == "sqlite":
        return OnSqlite(tmp_path)
    return OnPostgres(tmp_path, request.getfixturevalue("postgres"))


async def _trade(crowd: Crowd, work: Callable[[], None]) -> list[Answered]:
    """Do `work` while the crowd trades; what had been answered before it began."""
    async with crowd.calling(), asyncio.timeout(120):
        while len(crowd.answers) < _ORDERS_BEFORE:
            await asyncio.sleep(0.01)
        before = list(crowd.answers)
        await asyncio.to_thread(work)
        # It goes on after the backup: these orders are lost with the store.
        answered = len(crowd.answers)
        while len(crowd.answers) == answered:
            await asyncio.sleep(0.01)
    return before


def test_nothing_answered_before_the_backup_is_missing_after_the_restore(
    deployment: Deployment, tmp_path: Path
) -> None:
    with running(tmp_path, **deployment.settings) as node, Market.open(node) as market:
        crowd = Crowd(Rotation(node), [market.trader() for _ in range(3)])

        def verify_and_back_up() -> None:
            assert done(tmp_path, "books", "verify", **deployment.settings).startswith("All equal ")
            deployment.back_up()

        before = asyncio.run(_trade(crowd, verify_and_back_up))
        assert crowd.failures == []
        assert set(crowd.said()) == {"201"}
        node.stop(signal.SIGKILL)
        deployment.destroy()
        deployment.restore()
        said = done(tmp_path, "books", "verify", **deployment.settings)
        assert said.startswith("All equal ")
        _trade_on(start(tmp_path, **deployment.settings), crowd, before)
    print(f"\n{len(before)} of {len(crowd.answers)} orders were answered before the backup. {said.strip()}")


def _trade_on(node: Node, crowd: Crowd, before: list[Answered]) -> None:
    try:
        for trader in crowd.traders:
            own = [each for each in before if each.login_id == trader.login_id]
            assert own
            with node.api(trader.key, Host=trader.http.headers["host"]) as http:
                again = Trader(http, trader.login_id, {"key_id": trader.key_id, "key": trader.key})
                for each in own:
                    assert replayed(again.place(each.idempotency_key)) == each.body
                booked(again.place())
    finally:
        node.stop()
