"""One running service for the tests of a worker; each test has its own accounts and addresses on it."""

from collections.abc import Iterator
from itertools import count

import pytest

from tests.support.node import DeskClient, Node, running
from tests.support.stacks import STACKS, stack

_numbers = count(1)


@pytest.fixture(scope="session", params=STACKS)
def node(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    settings = stack(request.param, request)
    with running(tmp_path_factory.mktemp("node"), BULLION_PRODUCTION="on", **settings) as node:
        with node.desk() as desk:
            desk.furnish()
        yield node


@pytest.fixture
def desk(node: Node) -> Iterator[DeskClient]:
    with node.desk() as desk:
        yield desk


@pytest.fixture
def login(desk: DeskClient) -> str:
    """A new account of the test's own."""
    login_id = f"client{next(_numbers)}"
    desk.account(login_id, firm_name="A Firm")
    return login_id
