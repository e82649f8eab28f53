"""One running service for the tests of a worker; each test has its own accounts and addresses on it."""

from collections.abc import Iterator
from itertools import count

import pytest

from tests.support.node import DeskClient, Node, running
from tests.support.servers import Postgres, Redis

_numbers = count(1)


def stack(name: str, request: pytest.FixtureRequest) -> dict[str, str]:
    """The settings of a deployment: on a laptop, or with the servers that a broker runs in earnest."""
    if name == "sqlite":
        return {}
    postgres: Postgres = request.getfixturevalue("postgres")
    redis: Redis = request.getfixturevalue("redis")
    return {"BULLION_DATABASE_URL": postgres.new_database(), "BULLION_REDIS_URL": redis.url}


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
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
