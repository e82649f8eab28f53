"""The desk on PostgreSQL, where it differs: it cannot keep a NUL, so nothing of that name is there."""

from collections.abc import Iterator

import pytest

from tests.support.desk import KEY, SYMBOL, Caller, Office, first_caller, nothing_changed
from tests.support.node import Node, running
from tests.support.servers import Postgres, Redis


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, postgres: Postgres, redis: Redis) -> Iterator[Node]:
    settings = {"BULLION_DATABASE_URL": postgres.new_database(), "BULLION_REDIS_URL": redis.url}
    with running(tmp_path_factory.mktemp("postgres"), **settings) as node:
        yield node


@pytest.fixture(scope="module")
def first(node: Node) -> Iterator[Caller]:
    with first_caller(node) as caller:
        yield caller


@pytest.fixture(scope="module")
def standing(node: Node, first: Caller) -> Iterator[Office]:
    office = Office.open(node, first)
    office.desk.account("client")
    yield office
    office.close()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/accounts/client%00", None),
        ("PATCH", "/accounts/client%00", {}),
        ("GET", "/accounts/%00/keys", None),
        ("POST", "/accounts/%00/keys", KEY),
        ("POST", "/keys/%00/rotate", {}),
        ("POST", "/keys/%00/revoke", {}),
        ("PATCH", "/symbols/%00", {"frozen": True}),
        ("DELETE", "/tokens/%00", None),
    ],
)
def test_nothing_has_a_name_with_a_nul(standing: Office, method: str, path: str, body: object) -> None:
    with nothing_changed(standing.desk):
        standing.desk.refused(method, path, body, status=404, code="not_found")


@pytest.mark.parametrize(
    ("path", "body"),
    [("/symbols/%00", SYMBOL), ("/groups/%00", {}), ("/brokers/%00", {"name": "A"})],
)
def test_nothing_gets_a_name_with_a_nul(first: Caller, path: str, body: object) -> None:
    with nothing_changed(first):
        first.refused("PUT", path, body)


@pytest.mark.parametrize("offset", [2**63, 10**40])
def test_any_whole_number_is_an_offset(standing: Office, offset: int) -> None:
    assert standing.desk.do("GET", f"/accounts?offset={offset}") == {"items": [], "total": 1}
