"""A node whose memory holds a few accounts of many: who calls must not notice, whatever the store does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import httpx
import pytest

from tests.support.node import DeskClient, Node, running, until
from tests.support.servers import Postgres
from tests.support.stacks import STACKS, stack

ME = "/api/trading/test/v1/me"
LIVE_ORDERS = "/api/trading/v1/orders"
MODULE = "tests.support.little_memory"
CLIENTS = 12
IN_MEMORY_MAX = 4

Doors = tuple[Callable[[], object], Callable[[], object]]
"""How the store is taken away from the node, and put back."""


_logins = count(1)


@dataclass
class Crowd:
    node: Node
    keys: list[str]
    away: Callable[[], object]
    back: Callable[[], object]

    def call(self, key: str, path: str = ME, method: str = "GET") -> httpx.Response:
        with self.node.api(key) as api:
            return api.request(method, path)

    @contextmanager
    def store_away(self) -> Iterator[None]:
        self.away()
        try:
            yield
        finally:
            self.back()
            until(lambda: self.call(self.keys[0]).status_code == 200, within_s=5)


@pytest.fixture(scope="module", params=STACKS)
def crowd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    folder = tmp_path_factory.mktemp("crowd")
    settings = stack(request.param, request)
    if request.param == "sqlite":
        away, back = file_doors(folder / "var" / "bullion.db")
    else:
        url = settings["BULLION_DATABASE_URL"]
        settings["BULLION_DATABASE_URL"] = url.replace("bullion@", "crowd@")
        away, back = role_doors(request.getfixturevalue("postgres"), "crowd")
    with running(folder, MODULE, BULLION_PRODUCTION="on", **settings) as node:
        with node.desk() as desk:
            desk.add_group()
            keys = [new_client(desk)["key"] for _ in range(CLIENTS)]
        yield Crowd(node, keys, away, back)


def file_doors(path: Path) -> Doors:
    elsewhere = path.with_suffix(".away")
    return lambda: path.rename(elsewhere), lambda: elsewhere.rename(path)


def role_doors(postgres: Postgres, role: str) -> Doors:
    """Of a server that others use too: the node's role alone is kept out."""
    postgres.sql(f"CREATE ROLE {role} LOGIN SUPERUSER")

    def away() -> None:
        postgres.sql(f"ALTER ROLE {role} NOLOGIN")
        postgres.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{role}'")

    return away, lambda: postgres.sql(f"ALTER ROLE {role} LOGIN")


def new_client(desk: DeskClient) -> dict[str, str]:
    login_id = f"client{next(_logins)}"
    desk.account(login_id)
    issued: dict[str, str] = desk.key(login_id)
    return issued


def code(answer: httpx.Response) -> str:
    return str(answer.json()["detail"]["code"])


def other_secret(key: str, of: str) -> str:
    return key.rpartition(".")[0] + "." + of.rpartition(".")[2]


def unknown_id(key: str) -> str:
    return key.replace(key.split(".")[2], "0" * 16)


def test_every_key_works_on_its_first_call_and_on_the_next(crowd: Crowd) -> None:
    assert [crowd.call(key).status_code for key in crowd.keys * 2] == [200] * CLIENTS * 2


def test_wrong_keys_are_refused_and_drop_nobody(crowd: Crowd) -> None:
    known, other = crowd.keys[:2]
    for wrong in (other_secret(known, other), unknown_id(known)):
        assert code(crowd.call(wrong)) == "invalid_credential"


def test_what_the_desk_did_holds_for_those_who_are_not_in_memory(crowd: Crowd) -> None:
    with crowd.node.desk() as desk:
        revoked, closed = new_client(desk), new_client(desk)
        for key in crowd.keys:  # Until nobody else is in memory.
            crowd.call(key)
        desk.do("POST", f"/keys/{revoked['key_id']}/revoke")
        login_id = crowd.call(closed["key"]).json()["login_id"]
        desk.do("PATCH", f"/accounts/{login_id}", {"active": False})
        for key in crowd.keys:
            crowd.call(key)
    assert code(crowd.call(revoked["key"])) == "credential_revoked"
    assert code(crowd.call(other_secret(revoked["key"], crowd.keys[0]))) == "invalid_credential"
    assert code(crowd.call(closed["key"])) == "account_inactive"


def test_the_desk_places_orders_for_whoever_is_not_in_memory(crowd: Crowd) -> None:
    """They get as far as the market, which has no symbols here."""
    with crowd.node.desk() as desk:
        logins = [each["login_id"] for each in desk.do("GET", "/accounts")["items"] if each["active"]]
        assert len(logins) > IN_MEMORY_MAX
        for number, login_id in enumerate(logins):
            body = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": "1", "source": "web"}
            told = desk.post("/orders", json={"login_id": login_id, "idempotency_key": f"k{number}", **body})
            assert code(told) == "unknown_symbol"


def test_without_the_store_nobody_is_told_that_a_good_key_is_wrong(crowd: Crowd) -> None:
    known, other = crowd.keys[:2]
    assert crowd.call(known).status_code == 200
    with crowd.store_away():
        assert crowd.call(known).status_code == 200
        answers = [crowd.call(key) for key in crowd.keys]
        refused = [answer for answer in answers if answer.status_code != 200]
        assert len(refused) >= CLIENTS - IN_MEMORY_MAX
        assert {code(answer) for answer in refused} == {"service_unavailable"}
        assert {answer.headers["retry-after"] for answer in refused} == {"1"}
        # Nor do the answers tell which keys there are.
        assert code(crowd.call(other_secret(known, other))) == "service_unavailable"
        assert code(crowd.call(unknown_id(known))) == "service_unavailable"
        real = unknown_id(known).replace("key_test", "key_live")
        assert code(crowd.call(real, LIVE_ORDERS, "POST")) == "booking_unavailable"
    assert [crowd.call(key).status_code for key in crowd.keys] == [200] * CLIENTS


def test_a_key_revoked_on_another_node_is_refused_within_a_second(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """On PostgreSQL: an SQLite store takes one node."""
    settings = stack("postgres", request)
    with (
        running(tmp_path, MODULE, **settings) as node,
        running(tmp_path, MODULE, **settings) as other,
        other.desk() as desk,
    ):
        desk.add_group()
        issued = [new_client(desk) for _ in range(CLIENTS)]
        here = Crowd(node, [each["key"] for each in issued], str, str)
        assert [here.call(key).status_code for key in here.keys] == [200] * CLIENTS
        # The first left this node's memory long ago, the last is in it.
        for each in (issued[0], issued[-1]):
            desk.do("POST", f"/keys/{each['key_id']}/revoke")
            until(lambda key=each["key"]: here.call(key).status_code == 401, within_s=1)
