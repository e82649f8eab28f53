"""What every test may use."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.servers import NotInstalled, Postgres, Redis

# The machine may be busy: an example that takes long is not a failure.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are cores, for `-n auto`: a good part of the tests waits for leases and pauses."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + 1


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """The event loop that the service runs on."""
    return "asyncio", {"use_uvloop": True}


def _missing(error: NotInstalled) -> None:
    """Without a server its tests are skipped, and counted as that; in CI a missing server is a failure."""
    if os.environ.get("CI"):
        pytest.fail(str(error))
    pytest.skip(f"{error}: on Debian, apt-get install postgresql redis-server")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    server = Postgres()
    try:
        yield server.make()
    except NotInstalled as error:
        _missing(error)
    finally:
        server.remove()


@pytest.fixture(scope="session")
def redis() -> Iterator[Redis]:
    server = Redis()
    try:
        yield server.start()
    except NotInstalled as error:
        _missing(error)
    finally:
        server.remove()
