"""Every refusal of authentication, access and budget, each for its real reason."""

import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from bullion.refusals.catalogue import CATALOGUE
from tests.support.node import DeskClient, Node, own_address, running
from tests.support.stacks import STACKS, stack

ME = "/api/trading/test/v1/me"
LIVE_ME = "/api/trading/v1/me"
STATUS = {refusal.code: refusal.status for refusal in CATALOGUE}


def refused(answer: httpx.Response, code: str) -> None:
    """The one shape of a refusal, with the status the catalogue gives it."""
    assert answer.json()["detail"]["code"] == code, answer.text
    assert answer.status_code == STATUS[code]
    assert answer.json()["detail"]["message"]
    assert set(answer.json()["detail"]) == {"code", "message"}


def call(node: Node, key: str | None, path: str = ME, address: str | None = None) -> httpx.Response:
    with node.api(key, address) as api:
        return api.get(path)


def test_missing_credential(node: Node) -> None:
    refused(call(node, None), "missing_credential")
    refused(call(node, ""), "missing_credential")


def test_malformed_credential(node: Node, desk: DeskClient, login: str) -> None:
    key = desk.key(login)["key"]
    mistyped = key[:-9] + ("1" if key[-9] == "0" else "0") + key[-8:]
    for text in ("secret", key[:-1], key + "0", key.replace("key_test", "key_tset"), mistyped):
        refused(call(node, text), "malformed_credential")


def test_two_keys_at_once_are_malformed(node: Node, desk: DeskClient, login: str) -> None:
    key = desk.key(login)["key"]
    with node.api() as api:
        refused(api.get(ME, headers=[("X-API-Key", key), ("X-API-Key", key)]), "malformed_credential")
        refused(api.get(ME, headers=[("X-API-Key", key), ("X-API-Key", "")]), "malformed_credential")


def test_a_key_that_is_not_ascii_is_malformed(node: Node) -> None:
    with node.api() as api:
        refused(api.get(ME, headers={b"X-API-Key": b"key_test.\xff\xfe"}), "malformed_credential")


def test_wrong_tenant(node: Node, desk: DeskClient, login: str) -> None:
    desk.do("PUT", "/brokers/elsewhere", {"name": "Elsewhere", "hosts": ["elsewhere.example"]})
    key = desk.key(login)["key"]
    with node.api(key, Host="elsewhere.example") as api:
        refused(api.get(ME), "wrong_tenant")
    with node.api(key, Host="Elsewhere.Example.:8000") as api:
        refused(api.get(ME), "wrong_tenant")
    with node.api(key, Host="unknown.example") as api:
        assert api.get(ME).status_code == 200
    refused(call(node, key.replace(".main.", ".nobody.")), "wrong_tenant")


def test_wrong_environment(node: Node, desk: DeskClient, login: str) -> None:
    refused(call(node, desk.key(login, "test")["key"], LIVE_ME), "wrong_environment")
    refused(call(node, desk.key(login, "production")["key"], ME), "wrong_environment")


def test_invalid_credential_tells_unknown_ids_and_wrong_secrets_apart_by_nothing(
    node: Node, desk: DeskClient, login: str
) -> None:
    right, other = desk.key(login), desk.key(login)
    secret = right["key"].rpartition(".")[2]
    wrong_secret = other["key"].replace(other["key"].rpartition(".")[2], secret)
    unknown_id = right["key"].replace(right["key_id"], "0" * 16)
    answers = [call(node, key) for key in (wrong_secret, unknown_id)]
    for answer in answers:
        refused(answer, "invalid_credential")
    assert answers[0].content == answers[1].content
    told = [
        {name: value for name, value in each.headers.items() if name not in ("x-request-id", "date")}
        for each in answers
    ]
    assert told[0] == told[1]


def test_a_right_secret_under_the_other_environments_prefix_is_invalid(
    node: Node, desk: DeskClient, login: str
) -> None:
    key = desk.key(login, "test")["key"]
    refused(call(node, key.replace("key_test.", "key_live."), LIVE_ME), "invalid_credential")


def test_credential_revoked_only_for_who_knows_the_secret(node: Node, desk: DeskClient, login: str) -> None:
    issued, other = desk.key(login), desk.key(login)
    assert call(node, issued["key"]).status_code == 200
    desk.do("POST", f"/keys/{issued['key_id']}/revoke")
    refused(call(node, issued["key"]), "credential_revoked")
    guessed = issued["key"].replace(issued["key"].rpartition(".")[2], other["key"].rpartition(".")[2])
    refused(call(node, guessed), "invalid_credential")


def test_credential_rotated_once_the_overlap_is_over(node: Node, desk: DeskClient, login: str) -> None:
    old = desk.key(login)
    new = desk.do("POST", f"/keys/{old['key_id']}/rotate", {"overlap_s": 2})
    assert call(node, old["key"]).status_code == 200
    assert call(node, new["key"]).status_code == 200
    time.sleep(2.1)
    refused(call(node, old["key"]), "credential_rotated")
    assert call(node, new["key"]).status_code == 200


def test_a_rotation_without_overlap_ends_the_old_key_at_once(
    node: Node, desk: DeskClient, login: str
) -> None:
    old = desk.key(login)
    desk.do("POST", f"/keys/{old['key_id']}/rotate", {"overlap_s": 0})
    refused(call(node, old["key"]), "credential_rotated")


def test_credential_expired(node: Node, desk: DeskClient, login: str) -> None:
    later, soon = (datetime.now(UTC) + timedelta(seconds=wait_s) for wait_s in (3600, 2))
    assert call(node, desk.key(login, expires_at=later.isoformat())["key"]).status_code == 200
    key = desk.key(login, expires_at=soon.isoformat())["key"]
    time.sleep(max(0.0, (soon - datetime.now(UTC)).total_seconds()))
    refused(call(node, key), "credential_expired")


def test_address_not_allowed(node: Node, desk: DeskClient, login: str) -> None:
    allowed, other = own_address(), own_address()
    key = desk.key(login, allowed_addresses=[allowed, "10.0.0.0/8"])["key"]
    assert call(node, key, address=allowed).status_code == 200
    refused(call(node, key, address=other), "address_not_allowed")


def test_api_access_disabled(node: Node, desk: DeskClient, login: str) -> None:
    key = desk.key(login)["key"]
    desk.do("PATCH", f"/accounts/{login}", {"api_access": False})
    refused(call(node, key), "api_access_disabled")
    desk.do("PATCH", f"/accounts/{login}", {"api_access": True})
    assert call(node, key).status_code == 200


def test_account_inactive(node: Node, desk: DeskClient, login: str) -> None:
    key = desk.key(login)["key"]
    desk.do("PATCH", f"/accounts/{login}", {"active": False})
    refused(call(node, key), "account_inactive")


def test_insufficient_scope(node: Node, desk: DeskClient, login: str) -> None:
    answer = call(node, desk.key(login, scopes=["orders:read", "orders:write"])["key"])
    refused(answer, "insufficient_scope")
    assert "account:read" in answer.json()["detail"]["message"]


def test_auth_throttled_after_twenty_failures_even_with_a_valid_key(
    node: Node, desk: DeskClient, login: str
) -> None:
    key = desk.key(login)["key"]
    address = own_address()
    for _ in range(20):
        refused(call(node, None, address=address), "missing_credential")
    for credential in (None, key):
        answer = call(node, credential, address=address)
        refused(answer, "auth_throttled")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert answer.headers["ratelimit-limit"] == "20"
        assert answer.headers["ratelimit-remaining"] == "0"
    assert call(node, key, address=own_address()).status_code == 200


def test_every_401_counts_and_a_403_or_404_does_not(node: Node, desk: DeskClient, login: str) -> None:
    key = desk.key(login)["key"]
    no_scope = desk.key(login, scopes=["orders:read"])["key"]
    address = own_address()
    failing = [None, "x", key.replace(".main.", ".nobody."), key.replace(key.split(".")[2], "0" * 16)]
    for number in range(20):
        assert call(node, key, address=address).status_code == 200
        assert call(node, no_scope, address=address).status_code == 403
        assert call(node, None, "/api/trading/test/v1/nowhere", address=address).status_code == 404
        assert call(node, failing[number % 4], address=address).status_code == 401
    refused(call(node, key, address=address), "auth_throttled")


def test_a_forwarding_header_does_not_help_to_get_round_the_throttle(node: Node) -> None:
    with node.api() as api:
        for number in range(20):
            refused(api.get(ME, headers={"X-Forwarded-For": f"203.0.113.{number}"}), "missing_credential")
        refused(api.get(ME, headers={"X-Forwarded-For": "203.0.113.99"}), "auth_throttled")


def test_rate_limited(node: Node, desk: DeskClient) -> None:
    """A broker of its own, since its budgets are changed; the change holds from the next call on."""
    desk.do("PUT", "/brokers/tight", {"name": "Tight", "hosts": ["tight.example"]})
    token = desk.do("POST", "/tokens", {"name": "its admin", "role": "admin", "broker": "tight"})["token"]
    with node.desk(token) as its_desk:
        its_desk.add_group().account("client")
        first, second = its_desk.key("client")["key"], its_desk.key("client")["key"]
        its_desk.do("PATCH", "/switches", {"budgets": {"reads_per_minute": 3}})
        with node.api(first, Host="tight.example") as api:
            for left in (2, 1, 0):
                answer = api.get(ME)
                assert answer.status_code == 200
                assert answer.headers["ratelimit-limit"] == "3"
                assert answer.headers["ratelimit-remaining"] == f"{left}"
                assert 59 <= int(answer.headers["ratelimit-reset"]) <= 60
            answer = api.get(ME)
            refused(answer, "rate_limited")
            assert answer.headers["retry-after"] == answer.headers["ratelimit-reset"]
            assert answer.headers["ratelimit-remaining"] == "0"
            with node.api(second, Host="tight.example") as other:
                assert other.get(ME).headers["ratelimit-remaining"] == "2"
            its_desk.do("PATCH", "/switches", {"budgets": {"reads_per_minute": 5}})
            assert api.get(ME).headers["ratelimit-remaining"] == "1"
            its_desk.do("PATCH", "/switches", {"budgets": {"reads_per_minute": 1}})
            refused(api.get(ME), "rate_limited")


def test_a_refused_call_is_not_charged(node: Node, desk: DeskClient, login: str) -> None:
    key = desk.key(login)["key"]
    address = own_address()
    for _ in range(5):
        assert call(node, key + "x", address=address).status_code == 401
        assert call(node, key, LIVE_ME, address=address).status_code == 401
    answer = call(node, key, address=address)
    assert answer.headers["ratelimit-remaining"] == "299"


@pytest.mark.parametrize("path", [ME, LIVE_ME])
def test_an_unauthenticated_call_says_nothing_about_budgets(node: Node, path: str) -> None:
    answer = call(node, None, path)
    assert not [name for name in answer.headers if name.startswith("ratelimit")]
    assert "retry-after" not in answer.headers


class Patient:
    """A caller who uses a budget up, is throttled besides, and waits as long as it is told to."""

    def __init__(self, node: Node, within: ExitStack) -> None:
        desk = within.enter_context(node.desk())
        desk.add_group().account("client")
        self._key = desk.key("client")["key"]
        desk.do("PATCH", "/switches", {"budgets": {"reads_per_minute": 1, "failed_auth_per_minute": 1}})
        self._failing = within.enter_context(node.api(address=own_address()))
        self._reading = within.enter_context(node.api(self._key, own_address()))

    def is_told_to_wait_s(self) -> int:
        assert self._failing.get(ME).status_code == 401
        assert self._reading.get(ME).status_code == 200
        throttled = self._failing.get(ME, headers={"X-API-Key": self._key})
        limited = self._reading.get(ME)
        refused(throttled, "auth_throttled")
        refused(limited, "rate_limited")
        waits = [int(answer.headers["retry-after"]) for answer in (throttled, limited)]
        assert all(55 <= wait <= 60 for wait in waits)
        return max(waits)

    def is_let_in(self) -> None:
        assert self._reading.get(ME).status_code == 200
        assert self._failing.get(ME).status_code == 401


def test_after_retry_after_the_call_is_accepted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In real time, once: the whole minute, for a budget and for the throttle, on both stacks together."""
    with ExitStack() as within:
        nodes = [
            within.enter_context(
                running(tmp_path_factory.mktemp(name), BULLION_FEED="desk", **stack(name, request))
            )
            for name in STACKS
        ]
        patient = [Patient(node, within) for node in nodes]
        time.sleep(max([each.is_told_to_wait_s() for each in patient]))
        for each in patient:
            each.is_let_in()
