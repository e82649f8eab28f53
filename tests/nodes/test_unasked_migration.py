"""Later code lies on the disk: no process that serves migrates the store because of it."""

import os
import signal
from pathlib import Path

import pytest

from tests.support.node import SECRET, Node, running, until
from tests.support.processes import children
from tests.support.release import CONTRACT, LEVEL, Installation, command, later, older
from tests.support.servers import Postgres, Redis

_BEHIND = "bullion: The store's schema is older than this version of Bullion. Run 'bullion migrate'."
_FREE = {"BULLION_PORT": "0", "BULLION_DESK_PORT": "0"}


@pytest.fixture
def installed(tmp_path: Path) -> Installation:
    installation = Installation(tmp_path)
    installation.install(older())
    return installation


def ready(node: Node) -> dict[str, bool]:
    with node.api() as api:
        answer = api.get("/health/ready")
    body: dict[str, bool] = answer.json()
    assert body["ready"] == (answer.status_code == 200)
    return body


def test_with_postgresql_only_the_command_migrates(
    postgres: Postgres, redis: Redis, schema_template: str, tmp_path: Path, installed: Installation
) -> None:
    url = postgres.new_database(schema_template)
    settings = {"BULLION_DATABASE_URL": url, "BULLION_REDIS_URL": redis.url, "BULLION_SECRET": SECRET}

    def level() -> int:
        return int(postgres.sql("SELECT max(number) FROM migrations", url.rpartition("/")[2]))

    def refusals() -> int:
        return sum(_BEHIND in line for line in list(node.log))

    newer = later(tmp_path, CONTRACT)
    with running(
        tmp_path, "bullion", installed.launch, BULLION_WORKERS="2", **settings, **installed.settings
    ) as node:
        installed.install(newer)
        node.process.send_signal(signal.SIGHUP)
        until(lambda: node.entries("restart_failed"), within_s=60)
        assert ready(node)["ready"]
        assert level() == LEVEL
        refused = command(newer, tmp_path, "serve", **settings, **_FREE)
        assert (refused.returncode, refused.stderr.strip()) == (2, _BEHIND)
        refused = command(newer, tmp_path, "migrate", **settings)
        assert refused.returncode == 2
        assert f"a node of level {LEVEL} serves this store" in refused.stderr
        # A worker of the later release is started again and again from now on.
        told = refusals()
        os.kill(children(node.process.pid)[0], signal.SIGKILL)
        until(lambda: refusals() > told, within_s=60)
        # One worker of the older release is left, and serves on.
        assert ready(node)["ready"]
        assert level() == LEVEL
        done = command(newer, tmp_path, "migrate", "--force", **settings)
        assert (done.returncode, done.stderr) == (0, "")
        # The older one says that it cannot go on, and why. The others of the later release can.
        until(lambda: node.entries("schema_unfit"), within_s=30)
        assert f"level {LEVEL + 1} or later" in node.entries("schema_unfit")[0]["reason"]
        until(lambda: any(ready(node)["ready"] for _ in range(10)), within_s=30)


def test_on_sqlite_a_restart_leaves_the_older_node_in_place(tmp_path: Path, installed: Installation) -> None:
    settings = {"BULLION_SECRET": SECRET}
    with running(tmp_path, "bullion", installed.launch, **settings, **installed.settings) as node:
        newer = later(tmp_path)
        installed.install(newer)
        node.process.send_signal(signal.SIGHUP)
        until(lambda: node.entries("restart_failed"), within_s=30)
        assert any(_BEHIND in line for line in node.log)
        assert not node.entries("stopping")
        assert ready(node)["ready"]
        done = command(newer, tmp_path, "migrate", **settings)
        assert (done.returncode, done.stderr) == (0, "")
        assert ready(node)["ready"], "the older release goes on"
        node.process.send_signal(signal.SIGHUP)
        until(lambda: node.entries("restarted"), within_s=30)
        assert ready(node)["ready"]
        installed.install(older())
        node.process.send_signal(signal.SIGHUP)
        until(lambda: len(node.entries("restarted")) == 2, within_s=30)
        assert ready(node)["ready"], "taken back"
