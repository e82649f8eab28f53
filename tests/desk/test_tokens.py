"""Tokens and roles: who may read, who may turn what, and what a caller without a token meets."""

import re
from typing import Any

import httpx
import pytest

from tests.support.desk import KEY, SYMBOL, Caller, Office, nothing_changed, refusal
from tests.support.node import Node, own_address, own_transport

READS = ["/brokers", "/symbols", "/groups", "/accounts", "/accounts/client", "/switches", "/tokens", "/audit"]
READS += ["/accounts/client/keys", "/rates", "/duties", "/orders", "/traces"]
READS += ["/hedge", "/hedge/queue", "/hedge/executions", "/hedge/breaks", "/archive"]
WRITES: dict[str, tuple[str, str, Any]] = {
    "put a broker": ("PUT", "/brokers/{broker}", {"name": "A"}),
    "put a symbol": ("PUT", "/symbols/GOLD", SYMBOL),
    "change a symbol": ("PATCH", "/symbols/GOLD", {"trading": False}),
    "freeze a symbol": ("PATCH", "/symbols/GOLD", {"frozen": True}),
    "put a group": ("PUT", "/groups/retail", {}),
    "stop a group": ("PATCH", "/groups/retail", {"trading": False}),
    "change premiums": ("PATCH", "/groups/retail", {"default_terms": {"buy_premium": "5"}}),
    "set the stock": ("PATCH", "/symbols/GOLD", {"stock": "500"}),
    "put a rate": ("PUT", "/rates/GOLD", {"bid": "1", "ask": "1.01"}),
    "put a duty": ("PUT", "/duties/gold", [{"from": "2026-05-13", "rupees": "5"}]),
    "make an account": ("POST", "/accounts", {"login_id": "new", "group": "retail"}),
    "change an account": ("PATCH", "/accounts/client", {"active": False}),
    "reset a test book": ("POST", "/accounts/client/test-book/reset", {}),
    "archive orders": ("POST", "/archive/orders", {"before": "1d"}),
    "issue a key": ("POST", "/accounts/client/keys", KEY),
    "rotate a key": ("POST", "/keys/{key_id}/rotate", {}),
    "revoke a key": ("POST", "/keys/{key_id}/revoke", {}),
    "change a switch": ("PATCH", "/switches", {"production": True}),
    "halt": ("PATCH", "/switches", {"halted": True}),
    "pause": ("PATCH", "/switches", {"paused": True}),
    "end a pause": ("PATCH", "/switches", {"paused": False}),
    "make a token": ("POST", "/tokens", {"name": "mine", "role": "viewer"}),
    "tell the venue": ("PATCH", "/hedge", {"mode": "hold"}),
    "change a token": ("PATCH", "/tokens/{token_id}", {"name": "an admin"}),
    "end sessions": ("DELETE", "/tokens/{token_id}/sessions", None),
    "require a second factor": ("PUT", "/second-factor", {"required": "admins"}),
    "reset a second factor": ("DELETE", "/tokens/{token_id}/second-factor", None),
    "delete a token": ("DELETE", "/tokens/{token_id}", None),
}
DEALERS_OWN = ["freeze a symbol", "halt", "put a rate", "reset a test book"]
DEALERS_OWN += ["change premiums", "set the stock", "pause"]


@pytest.fixture
def prepared(office: Office) -> Office:
    """An office where each of READS and WRITES finds what it names."""
    office.desk.do("PUT", "/symbols/GOLD", SYMBOL)
    office.desk.account("client")
    office.desk.key("client")
    return office


def paths_of(office: Office) -> dict[str, str]:
    return {
        "broker": office.broker,
        "key_id": office.desk.all("/accounts/client/keys")[0]["key_id"],
        "token_id": office.admin_token["token_id"],
    }


@pytest.mark.parametrize("role", ["viewer", "dealer", "admin"])
def test_every_role_reads_everything(prepared: Office, role: str) -> None:
    caller = prepared.hire(role)
    assert [path for path in READS if caller.get(path).status_code != 200] == []


def test_a_viewer_never_writes(prepared: Office) -> None:
    viewer, paths = prepared.hire("viewer"), paths_of(prepared)
    with nothing_changed(prepared.desk):
        for method, path, body in WRITES.values():
            viewer.refused(method, path.format(**paths), body, status=403, code="role_too_low")


def test_a_dealer_sets_prices_and_stock_stops_trading_and_writes_nothing_else(prepared: Office) -> None:
    dealer, paths = prepared.hire("dealer"), paths_of(prepared)
    with nothing_changed(prepared.desk):
        for what, (method, path, body) in WRITES.items():
            if what not in DEALERS_OWN:
                dealer.refused(method, path.format(**paths), body, status=403, code="role_too_low")
    for what in DEALERS_OWN:
        method, path, body = WRITES[what]
        dealer.do(method, path, body)
    assert prepared.desk.all("/symbols")[0]["frozen"] is True
    assert prepared.desk.all("/symbols")[0]["stock"] == "500.0000"
    assert prepared.desk.all("/groups")[0]["default_terms"]["buy_premium"] == "5.00"
    switches = prepared.desk.do("GET", "/switches")
    assert (switches["halted"], switches["paused"]) == (True, True)
    assert [rate["instrument"] for rate in prepared.desk.all("/rates")] == ["GOLD"]


def test_an_admin_does_all_but_brokers(prepared: Office) -> None:
    admin, paths = prepared.hire("admin"), paths_of(prepared)
    done = [
        what
        for what, (method, path, body) in WRITES.items()
        if admin.request(method, path.format(**paths), json=body).is_success
    ]
    assert done == [what for what in WRITES if what != "put a broker"]


@pytest.mark.parametrize("role", ["viewer", "dealer"])
def test_a_role_is_told_before_a_body_is_judged(prepared: Office, role: str) -> None:
    caller, paths = prepared.hire(role), paths_of(prepared)
    with nothing_changed(prepared.desk):
        for what, (method, path, _) in WRITES.items():
            if method not in ("DELETE", "PATCH") and (role == "viewer" or what not in DEALERS_OWN):
                answer = caller.raw(method, path.format(**paths), b'{"nonsense": 1}')
                refusal(answer, 403, "role_too_low")


def test_the_role_that_is_needed_is_named(office: Office) -> None:
    message = office.hire("viewer").refused(
        "PATCH", "/switches", {"halted": True}, status=403, code="role_too_low"
    )
    assert message == "This needs the role dealer; yours is viewer."


@pytest.mark.parametrize("role", ["viewer", "dealer", "admin"])
def test_a_token_is_shown_once(office: Office, role: str) -> None:
    answer = office.desk.post("/tokens", json={"name": "Anjali «desk 2»", "role": role})
    assert answer.status_code == 201
    made = answer.json()
    text = made.pop("token")
    assert re.fullmatch(rf"desk\.{made['token_id']}\.[0-9A-Za-z]{{51}}", text)
    assert made | {"created_at": None} == {
        "token_id": made["token_id"],
        "broker": office.broker,
        "name": "Anjali «desk 2»",
        "role": role,
        "created_at": None,
        "deleted_at": None,
        "last_used_at": None,
        "sessions": 0,
        "second_factor": False,
    }
    assert made in office.desk.all("/tokens")
    assert text.rpartition(".")[2] not in str(office.desk.state())


def test_a_deleted_token_stops_at_once(office: Office) -> None:
    made = office.desk.do("POST", "/tokens", {"name": "leaver", "role": "admin"})
    leaver = office.caller(made["token"])
    assert leaver.get("/accounts").status_code == 200
    deleted = office.desk.do("DELETE", f"/tokens/{made['token_id']}")
    assert deleted["deleted_at"] is not None
    refusal(leaver.get("/accounts"), 401, "token_required")
    refusal(leaver.post("/accounts", json={"login_id": "x", "group": "retail"}), 401, "token_required")
    assert office.desk.all("/accounts") == []


def test_deleting_twice_does_no_harm(office: Office) -> None:
    token_id = office.desk.do("POST", "/tokens", {"name": "leaver", "role": "viewer"})["token_id"]
    once, twice = (office.desk.do("DELETE", f"/tokens/{token_id}") for _ in range(2))
    assert once == twice


def test_a_role_is_changed_at_once_and_recorded(office: Office) -> None:
    made = office.desk.do("POST", "/tokens", {"name": "Asha", "role": "viewer"})
    caller, path = office.caller(made["token"]), f"/tokens/{made['token_id']}"
    caller.refused("PATCH", "/switches", {"halted": True}, status=403, code="role_too_low")
    changed = office.desk.do("PATCH", path, {"role": "dealer"})
    assert (changed["name"], changed["role"]) == ("Asha", "dealer")
    caller.do("PATCH", "/switches", {"halted": True})
    office.desk.do("PATCH", path, {"name": "Asha, back office", "role": "viewer"})
    caller.refused("PATCH", "/switches", {"halted": False}, status=403, code="role_too_low")
    newest, switch, first = office.desk.do("GET", "/audit?limit=3")["items"]
    assert switch["actor"] == f"Asha ({made['token_id']})"
    assert (newest["action"], newest["subject"]) == ("patch_token", made["token_id"])
    assert (newest["before"]["role"], newest["after"]["role"]) == ("dealer", "viewer")
    assert (first["before"]["role"], first["after"]["role"]) == ("viewer", "dealer")
    assert "sessions" not in newest["after"]


@pytest.mark.parametrize(
    "change",
    [
        {"role": "owner"},
        {"role": None},
        {"name": ""},
        {"name": "x" * 121},
        {"broker": "other"},
        {"colour": 1},
    ],
    ids=str,
)
def test_a_bad_change_of_a_token_is_refused_by_name(standing: Office, change: dict[str, Any]) -> None:
    path = f"/tokens/{standing.admin_token['token_id']}"
    with nothing_changed(standing.desk):
        assert next(iter(change)) in standing.desk.refused("PATCH", path, change)


def test_a_deleted_token_is_not_changed(office: Office) -> None:
    made = office.desk.do("POST", "/tokens", {"name": "Asha", "role": "viewer"})
    path = f"/tokens/{made['token_id']}"
    office.desk.do("DELETE", path)
    with nothing_changed(office.desk):
        office.desk.refused("PATCH", path, {"role": "admin"}, status=409, code="conflict")


def test_the_last_use_of_a_token_is_known(office: Office) -> None:
    made = office.desk.do("POST", "/tokens", {"name": "Asha", "role": "viewer"})
    office.caller(made["token"]).all("/accounts")
    (used,) = [each for each in office.desk.all("/tokens") if each["token_id"] == made["token_id"]]
    assert used["last_used_at"] > used["created_at"]


@pytest.mark.parametrize("token_id", ["0" * 16, "nonsense", "%00", "%FF"])
def test_there_is_no_such_token(standing: Office, token_id: str) -> None:
    with nothing_changed(standing.desk):
        body = {"role": "viewer"}
        standing.desk.refused("PATCH", f"/tokens/{token_id}", body, status=404, code="not_found")
        standing.desk.refused("DELETE", f"/tokens/{token_id}/sessions", status=404, code="not_found")
        standing.desk.refused("DELETE", f"/tokens/{token_id}", status=404, code="not_found")


def test_a_token_for_another_broker_needs_the_first_token(
    office: Office, other: Office, first: Caller
) -> None:
    body = {"name": "mole", "role": "viewer", "broker": other.broker}
    theirs = f"/tokens/{other.admin_token['token_id']}"
    with nothing_changed(office.desk), nothing_changed(other.desk):
        office.desk.refused("PATCH", theirs, {"role": "viewer"}, status=404, code="not_found")
        office.desk.refused("DELETE", f"{theirs}/sessions", status=404, code="not_found")
        office.desk.refused("POST", "/tokens", body, status=403, code="role_too_low")
    made = first.do("POST", "/tokens", body)
    assert made["broker"] == other.broker
    seen = other.caller(made["token"]).all("/brokers")
    assert [broker["tag"] for broker in seen] == [other.broker]


def test_naming_ones_own_broker_is_fine(office: Office) -> None:
    body = {"name": "n", "role": "viewer", "broker": office.broker}
    assert office.desk.do("POST", "/tokens", body)["broker"] == office.broker


def test_the_first_token_makes_its_own_brokers_tokens_unless_told(first: Caller) -> None:
    assert first.do("POST", "/tokens", {"name": "n", "role": "viewer"})["broker"] == "main"


def test_there_is_no_token_for_a_broker_that_is_not_there(first: Caller) -> None:
    body = {"name": "n", "role": "viewer", "broker": "nowhere"}
    assert "nowhere" in first.refused("POST", "/tokens", body)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"role": "owner"}, "role"),
        ({"role": "Admin"}, "role"),
        ({"role": None}, "role"),
        ({"role": ["admin"]}, "role"),
        ({"broker": "Not A Tag"}, "broker"),
        ({"broker": 7}, "broker"),
        ({"colour": "red"}, "colour"),
        ({"token": "desk.mine"}, "token"),
    ],
    ids=str,
)
def test_a_bad_token_is_refused_by_name(standing: Office, change: dict[str, Any], named: str) -> None:
    with nothing_changed(standing.desk):
        assert named in standing.desk.refused("POST", "/tokens", {"name": "n", "role": "viewer"} | change)


@pytest.mark.parametrize("missing", ["name", "role"])
def test_name_and_role_must_be_there(standing: Office, missing: str) -> None:
    body = {"name": "n", "role": "viewer"}
    del body[missing]
    with nothing_changed(standing.desk):
        assert missing in standing.desk.refused("POST", "/tokens", body)


def stranger(node: Node, address: str | None = None) -> httpx.Client:
    """Somebody without a token."""
    transport = own_transport(address)
    return httpx.Client(base_url=f"{node.desk_url}/desk/v1", transport=transport, timeout=20)


def altered(token: str) -> str:
    """The token with another secret of the same shape."""
    return token[:-1] + ("0" if token[-1] != "0" else "1")


def test_without_a_valid_token_every_call_is_401(standing: Office) -> None:
    token = standing.admin_token["token"]
    wrong: list[list[tuple[str, str]]] = [
        [],
        [("Authorization", "")],
        [("Authorization", "Bearer")],
        [("Authorization", token)],
        [("Authorization", f"Basic {token}")],
        [("Authorization", f"Bearer {altered(token)}")],
        [("Authorization", f"Bearer {token}x")],
        [("Authorization", f"Bearer {token.upper()}")],
        [("Authorization", "Bearer first token")],
        [("Authorization", f"Bearer desk.{'0' * 16}.{token[-51:]}")],
        [("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {token}")],
        [("X-API-Key", token)],
        [("Cookie", f"token={token}")],
    ]
    with stranger(standing.node) as caller:
        answers = [caller.get("/accounts", headers=httpx.Headers(headers)) for headers in wrong]
    for answer in answers:
        message = refusal(answer, 401, "token_required")
        assert message == "Send a valid desk token as 'Authorization: Bearer …'."
        assert answer.headers["www-authenticate"] == "Bearer"


def test_without_a_token_nothing_is_written(standing: Office, key_id: str) -> None:
    paths = {"broker": standing.broker, "key_id": key_id, "token_id": standing.admin_token["token_id"]}
    with nothing_changed(standing.desk):
        for method, path, body in WRITES.values():
            with stranger(standing.node) as caller:  # Each from another address, or the throttle answers.
                refusal(caller.request(method, path.format(**paths), json=body), 401, "token_required")


def test_a_token_may_be_sent_in_any_case_of_the_scheme(standing: Office) -> None:
    with stranger(standing.node) as caller:
        for scheme in ("bearer", "BEARER", "Bearer "):
            headers = {"Authorization": f"{scheme} {standing.admin_token['token']}"}
            assert caller.get("/accounts", headers=headers).status_code == 200


def test_a_body_is_not_looked_at_before_the_token(standing: Office) -> None:
    with stranger(standing.node) as caller:
        answer = caller.post("/accounts", content=b"x" * 300 * 1024)
        refusal(answer, 401, "token_required")


def test_after_20_wrong_tokens_even_a_valid_one_must_wait(standing: Office) -> None:
    address = own_address()
    valid = {"Authorization": f"Bearer {standing.admin_token['token']}"}
    with stranger(standing.node, address) as caller:
        assert caller.get("/accounts", headers=valid).status_code == 200
        wrong = {"Authorization": f"Bearer {altered(standing.admin_token['token'])}"}
        for _ in range(20):
            refusal(caller.get("/accounts", headers=wrong), 401, "token_required")
        for headers in (wrong, valid, {}):
            answer = caller.get("/accounts", headers=headers)
            refusal(answer, 429, "too_many_failures")
            assert 1 <= int(answer.headers["retry-after"]) <= 60
        refusal(
            caller.post("/accounts", headers=valid, json={"login_id": "x", "group": "retail"}),
            429,
            "too_many_failures",
        )
        # A forwarding header from a caller that is no proxy of ours does not help.
        answer = caller.get("/accounts", headers={**valid, "X-Forwarded-For": "203.0.113.7"})
        refusal(answer, 429, "too_many_failures")
        # What needs no token is open as before.
        assert caller.get(f"{standing.node.desk_url}/health/live").status_code == 200
    with stranger(standing.node) as elsewhere:
        assert elsewhere.get("/accounts", headers=valid).status_code == 200
    assert all(account["login_id"] != "x" for account in standing.desk.all("/accounts"))
