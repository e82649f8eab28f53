"""Servers for the tests of the HTTP connection."""

import logging
from collections.abc import Iterator

import pytest

from bullion.web.protocol import GuardedProtocol
from tests.web.wire import Serve, Served


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    served = Served(GuardedProtocol, "uvloop")
    yield served
    served.stop()


@pytest.fixture
def served(shared: Served) -> Served:
    shared.seen.clear()
    shared.gate.clear()
    return shared


@pytest.fixture
def serve() -> Iterator[Serve]:
    running: list[Served] = []

    def start(loop: str = "uvloop", **limits: float) -> Served:
        protocol = type("Limited", (GuardedProtocol,), {"__slots__": (), **limits})
        running.append(Served(protocol, loop))
        return running[-1]

    yield start
    for served in running:
        served.stop()


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever a client sends, nothing breaks inside, and it cannot fill the log with warnings."""
    yield
    assert [record for record in caplog.get_records("call") if record.levelno >= logging.WARNING] == []
