"""What befalls a running process: its watcher killed, its file removed, its log unread, its callers rude."""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.command import bullion
from tests.support.node import DESK_TOKEN, SECRET, Node, running, start, until
from tests.support.servers import Postgres, Redis

ME = "/api/trading/test/v1/me"


def children(pid: int) -> list[int]:
    done = subprocess.run(["/usr/bin/pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in done.stdout.split()]


def connect(node: Node) -> socket.socket:
    url = urlsplit(node.api_url)
    assert url.hostname is not None
    return socket.create_connection((url.hostname, url.port or 0), timeout=20)


def test_workers_go_with_their_watcher(
    tmp_path: Path, postgres: Postgres, redis: Redis, schema_template: str
) -> None:
    settings = {
        "BULLION_DATABASE_URL": postgres.new_database(schema_template),
        "BULLION_REDIS_URL": redis.url,
    }
    node = start(tmp_path, BULLION_WORKERS="2", **settings)
    workers = children(node.process.pid)
    assert len(workers) == 2
    node.process.kill()
    node.process.wait()
    until(lambda: not any(Path(f"/proc/{pid}/fd/0").exists() for pid in workers), within_s=20)
    node.stop()
    assert len(node.entries("stopping")) == 2, "each says so once"


def test_a_store_removed_under_a_node_is_told_and_nothing_is_answered_as_done(tmp_path: Path) -> None:
    with running(tmp_path) as node, node.desk() as desk:
        desk.add_group().account("client")
        shutil.rmtree(tmp_path / "var")
        answer = desk.post("/accounts", json={"login_id": "lost", "group": "retail"})
        assert answer.status_code == 503
        with node.api() as api:
            until(lambda: api.get("/health/ready").status_code == 503, within_s=5)


def test_a_client_that_closes_its_side_is_answered(tmp_path: Path) -> None:
    with running(tmp_path) as node, connect(node) as connection:
        connection.sendall(b"GET /health/ready HTTP/1.1\r\nHost: t\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        read = b""
        while more := connection.recv(65536):
            read += more
        assert read.startswith(b"HTTP/1.1 200 ")


def test_a_client_that_does_not_read_is_cut_off(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        files = Path(f"/proc/{node.process.pid}/fd")
        before = len(list(files.iterdir()))
        url = urlsplit(node.api_url)
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect((url.hostname, url.port))
            connection.sendall(b"GET /docs HTTP/1.1\r\nHost: t\r\n\r\n" * 200)
            until(lambda: len(list(files.iterdir())) > before, within_s=5)
            until(lambda: len(list(files.iterdir())) == before, within_s=30)


def test_a_log_that_nobody_reads_stops_nothing(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    port = free()
    process = subprocess.Popen(
        [sys.executable, "-m", "bullion", "serve"],
        cwd=tmp_path,
        env=os.environ
        | {"BULLION_PORT": str(port), "BULLION_DESK_PORT": "0", "BULLION_SECRET": SECRET}
        | {"BULLION_DESK_TOKEN": DESK_TOKEN, "BULLION_LOG_CALLS": "all"},
        stderr=writing,
    )
    try:
        until(lambda: answers(port), within_s=30)
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            for _ in range(3000):
                connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: t\r\n\r\n")
                read = b""
                while not read.endswith(b"}"):
                    read += connection.recv(65536)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(reading)
        os.close(writing)


def free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


CUT = """
DELETE FROM audit WHERE ordinal > 1;
UPDATE audit_heads SET count = 1, seal = 'x', hash = (SELECT hash FROM audit WHERE ordinal = 1)
"""
WIPED = "DELETE FROM audit; DELETE FROM audit_heads"


@pytest.mark.parametrize("tamper", [CUT, WIPED])
def test_a_cut_trail_is_not_mended_by_the_next_action(tmp_path: Path, tamper: str) -> None:
    with running(tmp_path) as node, node.desk() as desk:
        desk.add_group().account("client")
    with sqlite3.connect(tmp_path / "var" / "bullion.db") as store:
        store.executescript(tamper)
    store.close()
    with running(tmp_path) as node, node.desk() as desk:
        desk.account("another")
        desk.account("and-another")
    verified = bullion(tmp_path, "audit", "verify", BULLION_SECRET=SECRET)
    assert verified.returncode == 1
    assert "main: BROKEN" in verified.stdout


def test_a_node_stops_while_postgres_is_frozen(tmp_path: Path, redis: Redis, postgres: Postgres) -> None:
    assert postgres.sql("SELECT 1") == "1"
    own = Postgres().make()
    settings = {"BULLION_DATABASE_URL": own.new_database(), "BULLION_REDIS_URL": redis.url}
    node = start(tmp_path, **settings)
    assert own.process is not None
    try:
        with node.desk() as desk:
            desk.add_group().account("client")
            key = desk.key("client")["key"]
        with node.api(key) as api:
            assert api.get(ME).status_code == 200
        frozen = [own.process.pid, *children(own.process.pid)]
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        node.process.send_signal(signal.SIGTERM)
        node.process.wait(timeout=40)
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
    finally:
        node.stop(signal.SIGKILL)
        own.remove()
