"""Workers that are replaced one by one while they serve, and what can come between."""

import os
import signal
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs

from bullion.serve import Ports
from bullion.settings import Settings
from tests.support.node import Node, running, start, until
from tests.support.processes import children
from tests.support.servers import Postgres, Redis


@pytest.fixture
def settings(postgres: Postgres, redis: Redis, schema_template: str) -> dict[str, str]:
    return {"BULLION_DATABASE_URL": postgres.new_database(schema_template), "BULLION_REDIS_URL": redis.url}


def answering(node: Node) -> list[int]:
    """The processes that answer calls: workers, or the node itself where it is alone."""
    return children(node.process.pid) or [node.process.pid]


def ready(node: Node) -> int:
    with node.api() as api:
        return api.get("/health/ready").status_code


@pytest.mark.parametrize("workers", ["1", "2"])
def test_workers_are_replaced_one_by_one(settings: dict[str, str], tmp_path: Path, workers: str) -> None:
    with running(tmp_path, BULLION_WORKERS=workers, **settings) as node:
        before = answering(node)
        _with_wrong_settings_those_before_serve_on(node, before)
        _put_right_the_new_ones_read_them(node, before)
        if workers == "1":
            _asked_again_meanwhile_it_is_done_again(node)
            _who_waits_at_the_port_of_a_worker_that_dies_is_answered_by_the_next(node)
        else:
            _a_worker_that_is_stopped_alone_is_replaced(node)
            _stopped_meanwhile_everybody_ends(node)


def _with_wrong_settings_those_before_serve_on(node: Node, before: list[int]) -> None:
    (node.folder / ".env").write_text("BULLION_LOG_CALLS=nonsense\n", "utf-8")
    node.process.send_signal(signal.SIGHUP)
    until(lambda: node.entries("restart_failed"), within_s=60)
    assert node.entries("restart_failed")[0]["replaced"] == 0
    assert any("bullion: BULLION_LOG_CALLS is 'nonsense'" in line for line in node.log)
    until(lambda: answering(node) == before, within_s=60)
    assert ready(node) == 200


def _put_right_the_new_ones_read_them(node: Node, before: list[int]) -> None:
    (node.folder / ".env").write_text("BULLION_LOG_CALLS=all\n", "utf-8")
    node.process.send_signal(signal.SIGHUP)
    until(lambda: node.entries("restarted"), within_s=60)
    after = answering(node)
    assert not set(after) & set(before)
    assert len(after) == len(before)
    assert ready(node) == 200
    until(lambda: any(call["route"] == "/health/ready" for call in node.entries("call")), within_s=60)


def _asked_again_meanwhile_it_is_done_again(node: Node) -> None:
    asked = len(node.entries("restarting"))
    for _ in range(3):
        node.process.send_signal(signal.SIGHUP)
        until(lambda: len(node.entries("restarting")) > asked, within_s=60)
    until(lambda: len(node.entries("restarted")) == 3, within_s=60)
    assert len(node.entries("restarting")) == asked + 2
    assert len(answering(node)) == 1
    assert ready(node) == 200


def _who_waits_at_the_port_of_a_worker_that_dies_is_answered_by_the_next(node: Node) -> None:
    (only,) = answering(node)
    os.kill(only, signal.SIGSTOP)
    url = urlsplit(node.api_url)
    waiting = [socket.create_connection((url.hostname or "", url.port or 0), timeout=60) for _ in range(20)]
    for each in waiting:
        each.sendall(b"GET /health/live HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
    os.kill(only, signal.SIGKILL)
    for each in waiting:
        with each:
            assert each.makefile("rb").read().endswith(b'{"live":true}')
    assert [entry["pid"] for entry in node.entries("worker_ended")] == [only]


def _a_worker_that_is_stopped_alone_is_replaced(node: Node) -> None:
    """It must not end the listening of the others."""
    before = answering(node)
    os.kill(before[0], signal.SIGTERM)
    while not node.entries("worker_ended") or len(answering(node)) < len(before):
        assert ready(node) in (200, 503)  # Of the one that stops, or another's.
        time.sleep(0.02)
    assert ready(node) == 200


def _stopped_meanwhile_everybody_ends(node: Node) -> None:
    before = answering(node)

    def one_is_being_replaced() -> bool:
        node.process.send_signal(signal.SIGHUP)  # Each time, as a look may come when all are replaced.
        return len(answering(node)) > len(before)

    until(one_is_being_replaced, within_s=60)
    everybody = answering(node)
    stopped_at = time.monotonic()
    assert node.stop() == 0
    assert time.monotonic() - stopped_at < 20  # Killed after 25 s.
    assert not any(Path(f"/proc/{pid}").exists() for pid in everybody)


def test_a_node_alone_is_stopped_while_its_successor_starts(settings: dict[str, str], tmp_path: Path) -> None:
    node = start(tmp_path, **settings)
    node.process.send_signal(signal.SIGHUP)
    until(lambda: answering(node) != [node.process.pid], within_s=60)
    (successor,) = answering(node)
    assert node.stop() == 0
    assert not Path(f"/proc/{successor}").exists()


def test_there_is_one_queue_for_all_workers() -> None:
    """With SO_REUSEPORT each worker would have its own, and those in it would be reset when it ends."""
    ports = Ports.bind(Settings(port=0, desk_port=0))
    again = ports.duplicate()
    for bound, shared in ((ports.api, again.api), (ports.desk, again.desk)):
        assert not bound.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT)
        assert os.fstat(bound.fileno()).st_ino == os.fstat(shared.fileno()).st_ino
        with socket.create_connection(bound.getsockname()[:2], timeout=5):
            bound.close()
            taken, _ = shared.accept()
            taken.close()
            shared.close()


def test_ports_that_a_stop_closed_during_the_start_can_still_be_logged() -> None:
    ports = Ports.bind(Settings(port=0, desk_port=0))
    url = f"http://127.0.0.1:{ports.api.getsockname()[1]}"
    ports.close()
    with capture_logs() as logged:
        ports.log_listening()
    assert [(entry["event"], entry["api"]) for entry in logged] == [("listening", url)]
