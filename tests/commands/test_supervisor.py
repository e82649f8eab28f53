"""What systemd is told, over a real datagram socket: serving, reloading, stopping."""

import signal
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from bullion.supervisor import report_serving
from tests.support.node import Node, running, until
from tests.support.stacks import STACKS, stack

_CREDENTIALS = struct.Struct("3i")
_TOLD_S = 60


class Supervisor:
    """The receiving side of sd_notify(3), which knows who sent what."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address.replace("@", "\0", 1) if address.startswith("@") else address)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._socket.settimeout(_TOLD_S)

    def next_message(self) -> tuple[int, dict[str, str]]:
        """The process that sent it, and its values."""
        data, ancillary, _, _ = self._socket.recvmsg(4096, socket.CMSG_SPACE(_CREDENTIALS.size))
        pid, _, _ = _CREDENTIALS.unpack(ancillary[0][2])
        return pid, dict(line.split("=", 1) for line in data.decode().splitlines())

    def silent(self) -> bool:
        self._socket.settimeout(0)
        try:
            self._socket.recv(1)
        except BlockingIOError:
            return True
        finally:
            self._socket.settimeout(_TOLD_S)
        return False

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    opened = Supervisor(str(tmp_path / "notify"))
    yield opened
    opened.close()


@pytest.mark.parametrize("name", STACKS)
def test_a_node_tells_what_it_does(
    name: str, request: pytest.FixtureRequest, supervisor: Supervisor, tmp_path: Path
) -> None:
    """One node on SQLite, which a worker replaces; and several workers."""
    settings = stack(name, request) | ({"BULLION_WORKERS": "2"} if name == "postgres" else {})
    with running(tmp_path, NOTIFY_SOCKET=supervisor.address, **settings) as node:
        assert supervisor.next_message() == (node.process.pid, {"READY": "1"})
        _reload(supervisor, node)
        # A restart that is given up is over, too: otherwise systemd would wait for it.
        (node.folder / ".env").write_text("BULLION_LOG_CALLS=nonsense\n", "utf-8")
        _reload(supervisor, node)
        until(lambda: node.entries("restart_failed"), within_s=_TOLD_S)
        assert node.stop() == 0
        assert supervisor.next_message() == (node.process.pid, {"STOPPING": "1"})
        assert supervisor.silent(), "a worker has told something too"


def _reload(supervisor: Supervisor, node: Node) -> None:
    asked_at = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    node.process.send_signal(signal.SIGHUP)
    sender, told = supervisor.next_message()
    assert (sender, told.pop("RELOADING")) == (node.process.pid, "1")
    assert int(told.pop("MONOTONIC_USEC")) >= asked_at
    assert not told
    assert supervisor.next_message() == (node.process.pid, {"READY": "1"})


def test_a_name_without_a_file_is_understood(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened = Supervisor(f"@bullion-test{tmp_path}")
    monkeypatch.setenv("NOTIFY_SOCKET", opened.address)
    report_serving()
    assert opened.next_message()[1] == {"READY": "1"}
    opened.close()


def test_a_supervisor_that_is_gone_is_logged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    with structlog.testing.capture_logs() as lines:
        report_serving()
    assert [line["event"] for line in lines] == ["supervisor_unreachable"]


def test_without_a_supervisor_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    with structlog.testing.capture_logs() as lines:
        report_serving()
    assert lines == []
