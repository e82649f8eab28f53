"""Brokers do not meet: a token sees and changes its own broker's things alone."""

import pytest

from tests.support.desk import KEY, SYMBOL, Caller, Office, nothing_changed


def test_each_desk_lists_its_own_things(office: Office, other: Office) -> None:
    office.desk.do("PUT", "/symbols/OURS", SYMBOL)
    office.desk.account("ours")
    office.desk.do("PATCH", "/switches", {"halted": True})
    office.desk.do("PUT", "/rates/OURS", {"bid": "1", "ask": "2"})
    office.desk.do("PUT", "/duties/ours", [{"from": "2026-05-13", "rupees": "5"}])
    assert other.desk.all("/symbols") == []
    assert other.desk.all("/rates") == []
    assert other.desk.all("/duties") == []
    assert other.desk.all("/accounts") == []
    assert [group["code"] for group in other.desk.all("/groups")] == ["retail"]
    assert other.desk.do("GET", "/switches")["halted"] is False
    assert [token["broker"] for token in other.desk.all("/tokens")] == [other.broker]
    subjects = {entry["subject"] for entry in other.desk.all("/audit")}
    assert not subjects & {"OURS", "ours", office.broker}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/accounts/client", None),
        ("PATCH", "/accounts/client", {"active": False}),
        ("POST", "/accounts/client/test-book/reset", None),
        ("GET", "/accounts/client/keys", None),
        ("POST", "/accounts/client/keys", KEY),
        ("POST", "/keys/{key_id}/rotate", {}),
        ("POST", "/keys/{key_id}/revoke", {}),
        ("PATCH", "/symbols/GOLD", {"frozen": True}),
        ("DELETE", "/tokens/{token_id}", None),
    ],
)
def test_another_brokers_things_are_not_found(
    standing: Office, key_id: str, other: Office, method: str, path: str, body: object
) -> None:
    path = path.format(key_id=key_id, token_id=standing.admin_token["token_id"])
    with nothing_changed(standing.desk), nothing_changed(other.desk):
        other.desk.refused(method, path, body, status=404, code="not_found")


def test_what_is_put_under_the_same_code_is_ones_own(office: Office, other: Office) -> None:
    office.desk.do("PUT", "/symbols/GOLD", SYMBOL)
    office.desk.do("PUT", "/groups/retail", {"trading": True})
    office.desk.do("PUT", "/rates/GOLD", {"bid": "1", "ask": "2"})
    office.desk.do("PUT", "/duties/gold", [{"from": "2026-05-13", "rupees": "5"}])
    with nothing_changed(office.desk):
        other.desk.do("PUT", "/symbols/GOLD", SYMBOL | {"metal": "silver"})
        other.desk.do("PUT", "/groups/retail", {"trading": False})
        other.desk.do("PUT", "/rates/GOLD", {"bid": "3", "ask": "4"})
        other.desk.do("PUT", "/duties/gold", [{"from": "2025-05-13", "rupees": "7"}])
        other.desk.do("PATCH", "/switches", {"paused": True, "budgets": {"reads_per_minute": 1}})


def test_a_key_of_another_broker_and_one_that_never_was_look_the_same(
    standing: Office, key_id: str, other: Office
) -> None:
    theirs = other.desk.post(f"/keys/{key_id}/revoke", json={})
    never = other.desk.post(f"/keys/{'0' * 16}/revoke", json={})
    assert (theirs.status_code, theirs.json()) == (never.status_code, never.json())


def test_the_first_token_acts_for_the_default_broker(standing: Office, key_id: str, first: Caller) -> None:
    with nothing_changed(standing.desk):
        first.refused("POST", f"/keys/{key_id}/revoke", {}, status=404, code="not_found")
        first.refused("GET", "/accounts/client", status=404, code="not_found")
