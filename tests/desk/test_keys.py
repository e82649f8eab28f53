"""Keys: issued with a secret that is shown once, rotated with an overlap, revoked for good."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.desk import KEY, Office, nothing_changed
from tests.support.node import own_address, until

SCOPES = ["account:read", "orders:read", "orders:write"]


def in_future(**span: float) -> str:
    return (datetime.now(UTC) + timedelta(**span)).isoformat(timespec="microseconds")


def the_key(office: Office, key_id: str) -> Any:
    (found,) = [key for key in office.desk.all("/accounts/client/keys") if key["key_id"] == key_id]
    return found


@pytest.fixture
def client(office: Office) -> Office:
    """An office with an account `client`."""
    office.desk.account("client")
    return office


@pytest.mark.parametrize(("environment", "prefix"), [("test", "key_test"), ("production", "key_live")])
def test_an_issued_key_works(client: Office, environment: str, prefix: str) -> None:
    answer = client.desk.post("/accounts/client/keys", json=KEY | {"environment": environment})
    assert answer.status_code == 201
    key = answer.json()
    assert key["key"].startswith(f"{prefix}.{client.broker}.{key['key_id']}.")
    me = client.me(key["key"])
    assert me.status_code == 200
    assert (me.json()["login_id"], me.json()["key_id"]) == ("client", key["key_id"])


def test_every_field_comes_back_and_only_the_first_answer_has_the_key(client: Office) -> None:
    body = {
        "environment": "production",
        "name": "Till «1»",
        "scopes": ["orders:write", "account:read"],
        "expires_at": in_future(days=30),
        "allowed_addresses": ["10.0.0.5", "10.1.0.0/16", "2001:db8::/32"],
    }
    issued = client.desk.do("POST", "/accounts/client/keys", body)
    secret = issued.pop("key").rpartition(".")[2]
    listed = the_key(client, issued["key_id"])
    assert listed == issued
    assert listed | {"created_at": None} == {
        "key_id": issued["key_id"],
        "login_id": "client",
        "environment": "production",
        "name": "Till «1»",
        "scopes": ["account:read", "orders:write"],
        "allowed_addresses": ["10.0.0.5/32", "10.1.0.0/16", "2001:db8::/32"],
        "created_at": None,
        "expires_at": body["expires_at"],
        "revoked_at": None,
        "replaced_by": None,
        "overlap_ends_at": None,
        "last_used_at": None,
    }
    assert secret not in str(client.desk.state())


def test_two_keys_of_an_account_have_their_lane_in_common_and_nothing_else(client: Office) -> None:
    one, two = (client.desk.key("client", environment=each) for each in ("test", "production"))
    three = client.desk.do("POST", f"/keys/{one['key_id']}/rotate", {})
    assert one["key_id"][:4] == two["key_id"][:4] == three["key_id"][:4]
    assert len({each["key_id"][4:] for each in (one, two, three)}) == 3
    assert len({each["key"].rpartition(".")[2] for each in (one, two, three)}) == 3


def test_another_account_has_another_lane(client: Office) -> None:
    for login_id in ("second", "third"):
        client.desk.account(login_id)
    lanes = [client.desk.key(login_id)["key_id"][:4] for login_id in ("client", "second", "third")]
    assert len(set(lanes)) > 1  # Two of them may share one.


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown field": ({"colour": "red"}, "colour"),
    "an unknown environment": ({"environment": "live"}, "environment"),
    "no environment": ({"environment": None}, "environment"),
    "an empty name": ({"name": ""}, "name"),
    "a name of 121 letters": ({"name": "x" * 121}, "name"),
    "no scope": ({"scopes": []}, "scopes"),
    "an unknown scope": ({"scopes": ["account:read", "orders:delete"]}, "scopes"),
    "a scope in capitals": ({"scopes": ["Account:Read"]}, "scopes"),
    "scopes in one text": ({"scopes": "account:read"}, "scopes"),
    "an expiry in the past": ({"expires_at": "2020-01-01T00:00:00+00:00"}, "expires_at"),
    "an expiry a moment ago": ({"expires_at": in_future(seconds=-1)}, "expires_at"),
    "an expiry that is no time": ({"expires_at": "tomorrow"}, "expires_at"),
    "an empty expiry": ({"expires_at": ""}, "expires_at"),
    "a number for the expiry": ({"expires_at": 1_900_000_000}, "expires_at"),
    "the 30th of February": ({"expires_at": "2030-02-30T00:00:00+00:00"}, "expires_at"),
    "an expiry past the calendar": ({"expires_at": "9999-12-31T23:59:59-23:59"}, "expires_at"),
    "an address that is none": ({"allowed_addresses": ["localhost"]}, "allowed_addresses"),
    "an empty address": ({"allowed_addresses": [""]}, "allowed_addresses"),
    "a blank around an address": ({"allowed_addresses": [" 10.0.0.5"]}, "allowed_addresses"),
    "a number for an address": ({"allowed_addresses": [167772165]}, "allowed_addresses"),
    "host bits in a block": ({"allowed_addresses": ["10.0.0.5/8"]}, "allowed_addresses"),
    "a block of 33 bits": ({"allowed_addresses": ["10.0.0.0/33"]}, "allowed_addresses"),
    "an address and a port": ({"allowed_addresses": ["10.0.0.5:443"]}, "allowed_addresses"),
    "addresses in one text": ({"allowed_addresses": "10.0.0.5"}, "allowed_addresses"),
    "an address of one machine's own interface": (
        {"allowed_addresses": ["fe80::1%eth0"]},
        "allowed_addresses",
    ),
    "an IPv4 address in IPv6 clothes, which no caller has": (
        {"allowed_addresses": ["::ffff:10.0.0.5"]},
        "allowed_addresses",
    ),
    "101 addresses": ({"allowed_addresses": [f"10.0.0.{n}" for n in range(101)]}, "allowed_addresses"),
}


@pytest.mark.parametrize("call", ["issue", "rotate"])
@pytest.mark.parametrize(("change", "named"), BAD.values(), ids=BAD)
def test_a_bad_field_is_refused_by_name(
    standing: Office, key_id: str, call: str, change: dict[str, Any], named: str
) -> None:
    with nothing_changed(standing.desk):
        if call == "issue":
            message = standing.desk.refused("POST", "/accounts/client/keys", KEY | change)
        else:
            message = standing.desk.refused("POST", f"/keys/{key_id}/rotate", change)
    assert named in message


@pytest.mark.parametrize("missing", KEY)
def test_what_has_no_default_must_be_there(standing: Office, missing: str) -> None:
    body = {name: value for name, value in KEY.items() if name != missing}
    with nothing_changed(standing.desk):
        assert missing in standing.desk.refused("POST", "/accounts/client/keys", body)


def test_an_expiry_without_a_zone_is_utc(client: Office) -> None:
    issued = client.desk.do("POST", "/accounts/client/keys", KEY | {"expires_at": "2099-01-31T12:00:00"})
    assert issued["expires_at"] == "2099-01-31T12:00:00.000000+00:00"


def test_a_key_expires(client: Office) -> None:
    key = client.desk.key("client", expires_at=in_future(seconds=2))["key"]
    assert client.me_code(key) == "ok"
    until(lambda: client.me_code(key) == "credential_expired", 5)


def test_a_key_works_from_its_allowed_addresses_alone(client: Office) -> None:
    address = own_address()
    key = client.desk.key("client", allowed_addresses=[address])["key"]
    assert client.me_code(key, address) == "ok"
    assert client.me_code(key) == "address_not_allowed"


def test_there_are_no_keys_of_an_account_that_is_not_there(standing: Office) -> None:
    with nothing_changed(standing.desk):
        standing.desk.refused("GET", "/accounts/nobody/keys", status=404, code="not_found")
        standing.desk.refused("POST", "/accounts/nobody/keys", KEY, status=404, code="not_found")


def test_a_successor_takes_everything_over(client: Office) -> None:
    old = client.desk.key(
        "client",
        name="Till",
        scopes=["account:read", "orders:read"],
        expires_at=in_future(days=1),
        allowed_addresses=["127.0.0.0/8"],
        environment="production",
    )
    answer = client.desk.post(f"/keys/{old['key_id']}/rotate", json={"overlap_s": 60})
    assert answer.status_code == 201
    new = answer.json()
    inherited = ("login_id", "environment", "name", "scopes", "expires_at", "allowed_addresses")
    assert {field: new[field] for field in inherited} == {field: old[field] for field in inherited}
    assert new["key_id"] != old["key_id"]
    assert new["created_at"] > old["created_at"]
    assert new["replaced_by"] is None
    assert the_key(client, old["key_id"])["replaced_by"] == new["key_id"]
    assert (client.me_code(old["key"]), client.me_code(new["key"])) == ("ok", "ok")


@pytest.mark.parametrize(
    ("said", "after"),
    [
        ({"name": "Another"}, {"name": "Another"}),
        ({"scopes": ["orders:write"]}, {"scopes": ["orders:write"]}),
        ({"expires_at": None}, {"expires_at": None}),
        (
            {"expires_at": "2098-01-01T00:00:00+05:30"},
            {"expires_at": "2097-12-31T18:30:00.000000+00:00"},
        ),
        ({"allowed_addresses": []}, {"allowed_addresses": []}),
        ({"allowed_addresses": ["10.0.0.0/8"]}, {"allowed_addresses": ["10.0.0.0/8"]}),
    ],
)
def test_the_desk_may_say_otherwise(client: Office, said: dict[str, Any], after: dict[str, Any]) -> None:
    old = client.desk.key("client", expires_at="2099-01-01", allowed_addresses=["127.0.0.0/8"])
    new = client.desk.do("POST", f"/keys/{old['key_id']}/rotate", said)
    for field in ("name", "scopes", "expires_at", "allowed_addresses"):
        assert new[field] == (old | after)[field]
    kept = the_key(client, old["key_id"])
    for field in ("name", "scopes", "expires_at", "allowed_addresses"):
        assert kept[field] == old[field]


def test_both_work_until_the_overlap_ends(client: Office) -> None:
    old = client.desk.key("client")
    new = client.desk.do("POST", f"/keys/{old['key_id']}/rotate", {"overlap_s": 2})
    assert (client.me_code(old["key"]), client.me_code(new["key"])) == ("ok", "ok")
    until(lambda: client.me_code(old["key"]) == "credential_rotated", 5)
    assert client.me_code(new["key"]) == "ok"


def test_without_overlap_the_old_key_stops_at_once(client: Office) -> None:
    old = client.desk.key("client")
    new = client.desk.do("POST", f"/keys/{old['key_id']}/rotate", {"overlap_s": 0})
    assert client.me_code(old["key"]) == "credential_rotated"
    assert client.me_code(new["key"]) == "ok"


def test_the_overlap_is_a_day_unless_the_desk_says_otherwise(client: Office) -> None:
    old = client.desk.key("client")
    new = client.desk.request("POST", f"/keys/{old['key_id']}/rotate").json()
    ends_at = datetime.fromisoformat(the_key(client, old["key_id"])["overlap_ends_at"])
    assert ends_at - datetime.fromisoformat(new["created_at"]) == timedelta(days=1)


@pytest.mark.parametrize("overlap_s", [-1, 90 * 86400 + 1, 1.5, "60", None])
def test_a_bad_overlap_is_refused(standing: Office, key_id: str, overlap_s: object) -> None:
    with nothing_changed(standing.desk):
        message = standing.desk.refused("POST", f"/keys/{key_id}/rotate", {"overlap_s": overlap_s})
    assert "overlap_s" in message


def test_a_second_rotation_is_a_conflict_that_names_the_successor(client: Office) -> None:
    key_id = client.desk.key("client")["key_id"]
    new = client.desk.do("POST", f"/keys/{key_id}/rotate", {})
    with nothing_changed(client.desk):
        message = client.desk.refused("POST", f"/keys/{key_id}/rotate", {}, status=409, code="conflict")
    assert new["key_id"] in message
    assert client.desk.do("POST", f"/keys/{new['key_id']}/rotate", {})["key_id"]


def test_of_two_rotations_at_once_one_wins(client: Office) -> None:
    key_id = client.desk.key("client")["key_id"]
    callers = [client.hire("admin") for _ in range(4)]
    with ThreadPoolExecutor(len(callers)) as pool:
        answers = list(pool.map(lambda caller: caller.post(f"/keys/{key_id}/rotate", json={}), callers))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    assert len(client.desk.all("/accounts/client/keys")) == 2


def test_a_revoked_key_stops_at_once_and_cannot_be_rotated(client: Office) -> None:
    issued = client.desk.key("client")
    assert client.me_code(issued["key"]) == "ok"
    revoked = client.desk.do("POST", f"/keys/{issued['key_id']}/revoke")
    assert revoked["revoked_at"] is not None
    assert "key" not in revoked
    assert client.me_code(issued["key"]) == "credential_revoked"
    with nothing_changed(client.desk):
        message = client.desk.refused(
            "POST", f"/keys/{issued['key_id']}/rotate", {}, status=409, code="conflict"
        )
    assert "revoked" in message


def test_revoking_twice_does_no_harm(client: Office) -> None:
    issued = client.desk.key("client")
    once, twice = (client.desk.do("POST", f"/keys/{issued['key_id']}/revoke", {}) for _ in range(2))
    assert once["revoked_at"] == twice["revoked_at"]
    assert client.me_code(issued["key"]) == "credential_revoked"


def test_revoking_a_key_leaves_its_successor_alone(client: Office) -> None:
    old = client.desk.key("client")
    new = client.desk.do("POST", f"/keys/{old['key_id']}/rotate", {})
    client.desk.do("POST", f"/keys/{old['key_id']}/revoke")
    assert (client.me_code(old["key"]), client.me_code(new["key"])) == ("credential_revoked", "ok")


def test_a_revocation_takes_no_words(standing: Office, key_id: str) -> None:
    with nothing_changed(standing.desk):
        assert "why" in standing.desk.refused("POST", f"/keys/{key_id}/revoke", {"why": "lost"})


@pytest.mark.parametrize("call", ["rotate", "revoke"])
@pytest.mark.parametrize("key_id", ["0" * 16, "nonsense", "%00", "%FF"])
def test_there_is_no_such_key(standing: Office, key_id: str, call: str) -> None:
    with nothing_changed(standing.desk):
        standing.desk.refused("POST", f"/keys/{key_id}/{call}", {}, status=404, code="not_found")


def test_the_last_use_is_seen_soon_after_it(client: Office) -> None:
    issued = client.desk.key("client")
    assert client.me_code(issued["key"]) == "ok"
    until(lambda: the_key(client, issued["key_id"])["last_used_at"] is not None, 6)
    used_at = datetime.fromisoformat(the_key(client, issued["key_id"])["last_used_at"])
    assert abs(datetime.now(UTC) - used_at) < timedelta(seconds=10)


def test_a_refused_call_is_no_use(client: Office) -> None:
    refused = client.desk.key("client", scopes=["orders:read"])
    used = client.desk.key("client")
    assert client.me_code(refused["key"]) == "insufficient_scope"
    assert client.me_code(used["key"]) == "ok"
    until(lambda: the_key(client, used["key_id"])["last_used_at"] is not None, 6)
    assert the_key(client, refused["key_id"])["last_used_at"] is None


def test_keys_are_listed_newest_first(client: Office) -> None:
    issued = [client.desk.key("client", name=f"key {number}")["key_id"] for number in range(3)]
    assert [key["key_id"] for key in client.desk.all("/accounts/client/keys")] == issued[::-1]
