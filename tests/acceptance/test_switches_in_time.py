"""What the desk switches holds at once here, and within a second when another process did it."""

import time

import pytest

from tests.support.command import bullion
from tests.support.node import DeskClient, Node, own_address, running, until

ME = "/api/trading/test/v1/me"


def test_a_key_revoked_here_is_refused_by_the_next_call(node: Node, desk: DeskClient, login: str) -> None:
    for _ in range(5):
        issued = desk.key(login)
        with node.api(issued["key"]) as api:
            assert api.get(ME).status_code == 200
            desk.do("POST", f"/keys/{issued['key_id']}/revoke")
            assert api.get(ME).json()["detail"]["code"] == "credential_revoked"


def test_a_key_revoked_by_another_process_is_refused_within_a_second(
    node: Node, desk: DeskClient, login: str
) -> None:
    issued = desk.key(login)
    with node.api(issued["key"]) as api:
        assert api.get(ME).status_code == 200
        revoke = ("desk", "keys", "revoke", issued["key_id"], "--yes")
        assert bullion(node.folder, *revoke, **node.settings).returncode == 0
        took_s = until(lambda: api.get(ME).status_code == 401, within_s=5)
        assert took_s < 1
        assert api.get(ME).json()["detail"]["code"] == "credential_revoked"
    assert desk.do("GET", "/audit?limit=1")["items"][0]["actor"].startswith("command line")


def test_a_new_key_works_at_once(node: Node, desk: DeskClient, login: str) -> None:
    for _ in range(10):
        with node.api(desk.key(login)["key"]) as api:
            assert api.get(ME).status_code == 200


def test_last_use_is_shown_to_the_desk(node: Node, desk: DeskClient, login: str) -> None:
    issued = desk.key(login)
    assert issued["last_used_at"] is None
    before = time.time()
    with node.api(issued["key"]) as api:
        api.get(ME)

    def used() -> str | None:
        (key,) = desk.do("GET", f"/accounts/{login}/keys")["items"]
        value: str | None = key["last_used_at"]
        return value

    until(used, within_s=10)
    assert used() >= time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(before - 1))  # type: ignore[operator]


def test_behind_a_trusted_proxy_the_right_most_untrusted_hop_counts(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("proxied")
    with running(folder, BULLION_TRUSTED_PROXIES="127.99.0.0/16, 10.0.0.1") as node, node.desk() as desk:
        desk.add_group().account("client")
        key = desk.key("client", allowed_addresses=["203.0.113.7", "2001:db8::5"])["key"]

        def through(proxy: str, *forwarded: str) -> int:
            headers = [("X-Forwarded-For", value) for value in forwarded]
            with node.api(key, proxy) as api:
                return api.get(ME, headers=headers).status_code

        assert through("127.99.0.1", "203.0.113.7") == 200
        assert through("127.99.0.1", "198.51.100.1, 203.0.113.7, 10.0.0.1") == 200
        assert through("127.99.0.1", "198.51.100.1", "203.0.113.7") == 200
        assert through("127.99.0.1", "203.0.113.7, 198.51.100.1") == 403
        assert through("127.99.0.1", "203.0.113.7:4711") == 200
        assert through("127.99.0.1", "198.51.100.1:80, 203.0.113.7:65535, 10.0.0.1:443") == 200
        assert through("127.99.0.1", "[::ffff:203.0.113.7]:4711") == 200
        assert through("127.99.0.1", "[2001:db8::5]:443") == 200
        assert through("127.99.0.1", "[2001:db8::5]") == 200
        assert through("127.99.0.1", "2001:DB8:0:0::5") == 200
        assert through("127.99.0.1", "203.0.113.8:4711") == 403
        for rubbish in ("rubbish", "203.0.113.7:", "203.0.113.7:x", "203.0.113.7:1:2", "[203.0.113.7]:80"):
            assert through("127.99.0.1", f"203.0.113.7, {rubbish}") == 403
        assert through("127.99.0.1", "[2001:db8::5]443") == through("127.99.0.1", "[2001:db8::5") == 403
        assert through("127.99.0.1") == 403
        assert through(own_address(), "203.0.113.7") == 403
        for _ in range(20):
            with node.api(address="127.99.0.1") as api:
                assert api.get(ME, headers={"X-Forwarded-For": "203.0.113.7"}).status_code == 401
        assert through("127.99.0.1", "203.0.113.7") == 429
        assert through("127.99.0.1", "203.0.113.8") == 403
