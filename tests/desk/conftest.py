"""One running service for the tests of a worker; each test has a broker of its own on it."""

from collections.abc import Iterator

import pytest

from tests.support.desk import SYMBOL, Caller, Office, first_caller
from tests.support.node import Node, running
from tests.support.stacks import STACKS, stack


@pytest.fixture(scope="session", params=STACKS)
def node(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with running(tmp_path_factory.mktemp("desk"), **stack(request.param, request)) as node:
        yield node


@pytest.fixture(scope="session")
def first(node: Node) -> Iterator[Caller]:
    """The deployment's first token, which may make brokers."""
    with first_caller(node) as caller:
        yield caller


@pytest.fixture
def office(node: Node, first: Caller) -> Iterator[Office]:
    """A new broker with an admin; it has a group `retail` and nothing else."""
    office = Office.open(node, first)
    yield office
    office.close()


@pytest.fixture(scope="session")
def standing(node: Node, first: Caller) -> Iterator[Office]:
    """An office with one of everything, for calls that must change nothing: see `key_id` for its key."""
    office = Office.open(node, first)
    office.desk.do("PUT", "/symbols/GOLD", SYMBOL)
    office.desk.account("client")
    office.desk.key("client")
    yield office
    office.close()


@pytest.fixture
def key_id(standing: Office) -> str:
    """Of the standing office's key."""
    return str(standing.desk.all("/accounts/client/keys")[-1]["key_id"])


@pytest.fixture
def other(node: Node, first: Caller) -> Iterator[Office]:
    """Another broker on the same service."""
    office = Office.open(node, first)
    yield office
    office.close()
