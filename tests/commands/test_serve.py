"""How `bullion serve` stops: for a load balancer, for a person, and with its terminal. All on SQLite."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

from tests.support.node import DESK_TOKEN, SECRET, Node, interpreter, running, until
from tests.support.processes import children, cpu_s

READY, LIVE = "/health/ready", "/health/live"


def stopped_after(node: Node) -> float:
    return until(lambda: node.process.poll() is not None, within_s=10)


def test_after_sigterm_it_says_so_and_goes_on_answering_for_a_while(tmp_path: Path) -> None:
    with running(tmp_path, "bullion", interpreter, BULLION_DRAIN_S="1") as node, node.api() as kept:
        assert cpu_s(node.process.pid) < 2, "to its first call, with an empty store"
        assert kept.get(READY).status_code == 200
        node.process.send_signal(signal.SIGTERM)
        until(lambda: kept.get(READY).status_code == 503, within_s=0.5)
        with node.api() as new:
            answer = new.get(READY)
            assert (answer.status_code, answer.json()) == (503, {"ready": False, "staying": False})
            assert answer.headers["connection"] == "close"
            assert new.get(LIVE).status_code == 200
        assert stopped_after(node) > 0.4
        assert node.process.returncode == 0
        assert node.entries("draining")[0]["seconds"] == 1


def test_a_reload_reads_how_long_a_stop_waits(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        (tmp_path / ".env").write_text("BULLION_DRAIN_S=1\n", "utf-8")
        node.process.send_signal(signal.SIGHUP)
        until(lambda: node.entries("restarted"), within_s=20)
        node.process.send_signal(signal.SIGTERM)
        assert stopped_after(node) > 0.9
        assert node.entries("draining")[0]["seconds"] == 1


def test_restarted_where_only_one_node_can_be(tmp_path: Path) -> None:
    """Whoever calls meanwhile waits, and is answered; the process that was started stays.

    But with settings that the new one could not read, the old one does not make way.
    """
    with running(tmp_path, "bullion", interpreter, BULLION_DRAIN_S="300") as node:
        (tmp_path / ".env").write_text("BULLION_LOG_CALLS=nonsense\n", "utf-8")
        node.process.send_signal(signal.SIGHUP)
        until(lambda: node.entries("restart_failed"), within_s=20)
        assert any("bullion: BULLION_LOG_CALLS is 'nonsense'" in line for line in node.log)
        assert not node.entries("stopping")
        assert ready(node) == 200
        (tmp_path / ".env").unlink()
        for turn in (1, 2):
            before = children(node.process.pid)
            node.process.send_signal(signal.SIGHUP)
            until(lambda turn=turn: len(node.entries("restarted")) == turn, within_s=40)
            assert ready(node) == 200
            assert len(children(node.process.pid)) == 1
            assert children(node.process.pid) != before
        # Who sends it twice is in a hurry.
        for _ in range(2):
            node.process.send_signal(signal.SIGTERM)
            time.sleep(0.1)
        assert stopped_after(node) < 8
    assert node.process.returncode == 0


def ready(node: Node) -> int:
    with node.api() as api:
        return api.get(READY).status_code


def test_a_restart_asked_for_at_the_start_is_under_way_and_ctrl_c_waits_for_nobody(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "bullion", "serve"],
            cwd=tmp_path,
            env=environment() | {"BULLION_DRAIN_S": "300"},
            stdin=subprocess.DEVNULL,
            stderr=stderr,
        )
    try:
        until(lambda: signal.SIGHUP in _ignored(process.pid) or process.poll() is not None, within_s=30)
        process.send_signal(signal.SIGHUP)
        until(lambda: b'"listening"' in log.read_bytes(), within_s=30)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 0
        assert b'"draining"' not in log.read_bytes()
    finally:
        process.kill()
        process.wait()


def environment() -> dict[str, str]:
    others = {name: value for name, value in os.environ.items() if not name.startswith("BULLION_")}
    ours = {"BULLION_PORT": "0", "BULLION_DESK_PORT": "0", "BULLION_SECRET": SECRET}
    return others | ours | {"BULLION_DESK_TOKEN": DESK_TOKEN}


def _ignored(pid: int) -> set[int]:
    (line,) = [
        line
        for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
        if line.startswith("SigIgn:")
    ]
    mask = int(line.split()[1], 16)
    return {number for number in signal.Signals if mask >> (number - 1) & 1}


def test_it_goes_with_its_terminal(tmp_path: Path) -> None:
    """The same signal means another thing there: nobody sees or stops it any more."""
    ours, theirs = os.openpty()
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "bullion", "serve"],
            cwd=tmp_path,
            env=environment(),
            stdin=theirs,
            stderr=log,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
    try:
        os.close(theirs)
        until(lambda: b'"listening"' in (tmp_path / "log").read_bytes(), within_s=30)
        os.close(ours)
        assert process.wait(timeout=10) == 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()
