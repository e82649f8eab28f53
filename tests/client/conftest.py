"""Fixtures: a stub of the service, the service itself, and each of the two clients in turn."""

import os
from collections.abc import Iterator

import pytest

from bullion_client import AsyncClient, Client
from tests.client.calls import Me, me_async, me_sync
from tests.client.fixtures import Deployment, open_deployment
from tests.client.openers import Blocking, Opener
from tests.client.stub_server import StubServer, serving


@pytest.fixture(params=[me_sync, me_async], ids=["sync", "async"])
def me(request: pytest.FixtureRequest) -> Me:
    call: Me = request.param
    return call


@pytest.fixture(params=[Client, AsyncClient])
def kind(request: pytest.FixtureRequest) -> type[Client | AsyncClient]:
    client: type[Client | AsyncClient] = request.param
    return client


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A real service, shared by the tests of a file; each makes accounts of its own."""
    with open_deployment(tmp_path_factory.mktemp("deployment")) as deployment:
        yield deployment


@pytest.fixture(params=[Client, Blocking], ids=["sync", "async"])
def opener(request: pytest.FixtureRequest, deployment: Deployment) -> Iterator[Opener]:
    opener = Opener(request.param, deployment)
    yield opener
    for client in opener.opened:
        client.close()


@pytest.fixture
def service() -> Iterator[StubServer]:
    with serving() as stub:
        yield stub


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clients use the environment's proxies by design; these tests talk to the loopback."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
