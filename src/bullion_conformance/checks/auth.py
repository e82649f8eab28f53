"""Authentication: keys, scopes, and the account's switches."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import uuid4

from bullion_conformance.check import Need, check
from bullion_conformance.client import OK, Client, body_of, refused
from bullion_conformance.connection import PRODUCTION_PATH, TEST_PATH
from bullion_conformance.context import Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.shapes import SCOPES
from bullion_conformance.verdict import expect, expect_equal

OVERLAP_S = 1.3
"""A key that lasts for one second has ended after this."""
OTHER_PATH = {"test": PRODUCTION_PATH, "production": TEST_PATH}


@check("auth.only-scheme", refusals=2)
def a_key_is_accepted_in_its_header_only(c: Context) -> None:
    key = c.test().key
    elsewhere: list[tuple[str, dict[str, str]]] = [("", {"Authorization": f"Bearer {key}"})]
    if c.setup.broker is not None:  # Addresses end up in logs, so only a key of the kit's own is sent there.
        elsewhere.append((f"?X-API-Key={key}", {}))
    for query, headers in elsewhere:
        answer = c.connection.send("GET", f"{TEST_PATH}/me{query}", headers=headers)
        expect(answer.status == 401, f"A key outside of X-API-Key was answered {answer.reply}; expected 401.")


@check("auth.prefixes", need=Need.LIVE_KEY)
def keys_have_their_prefix(c: Context) -> None:
    live = c.live()
    body_of(live.me(), OK)
    expect(live.key.startswith("key_live."), "A live key does not begin with key_live.")
    if c.setup.broker is not None or c.setup.test is not None:
        expect(c.test().key.startswith("key_test."), "A test key does not begin with key_test.")


def _is_refused_on_the_other_path(client: Client) -> None:
    base = OTHER_PATH[client.environment]
    for path in ("/me", "/orders"):
        answer = client.connection.send("GET", f"{base}{path}", headers={"X-API-Key": client.key})
        refused(answer, "wrong_environment")


check("auth.test-key-on-production", refusals=2)(lambda c: _is_refused_on_the_other_path(c.test()))
check("auth.live-key-on-test", need=Need.LIVE_KEY, refusals=2)(
    lambda c: _is_refused_on_the_other_path(c.live())
)


@check("bullion.header-twice", refusals=2)
def a_key_is_sent_once(c: Context) -> None:
    client = c.test()
    pair = ("X-API-Key", client.key)
    refused(c.connection.send("GET", f"{client.path}/me", headers=[pair, pair]), "malformed_credential")
    refused(client.me_as(""), "missing_credential")


@check("bullion.indistinct", need=Need.DESK, refusals=2)
def an_unknown_key_and_a_wrong_secret_look_the_same(c: Context) -> None:
    one, other = c.new_client(), c.new_client()
    head, secret = one.key.rsplit(".", 1)
    wrong_secret = f"{head}.{other.key.rsplit('.', 1)[1]}"
    unknown_id = f"{head.rsplit('.', 1)[0]}.{'0' * 16}.{secret}"
    answers = [one.me_as(key) for key in (wrong_secret, unknown_id)]
    for answer in answers:
        refused(answer, "invalid_credential")
    expect(answers[0].text == answers[1].text, "An unknown key and a wrong secret are answered differently.")


@check("bullion.address", need=Need.DESK)
def a_key_for_other_addresses(c: Context) -> None:
    answer = c.new_client(key={"allowed_addresses": ["203.0.113.7"]}).me()
    expect_equal((answer.status, answer.code), (403, "address_not_allowed"), "The response")


@check("bullion.gate-before-body", need=Need.DESK, orders=1, refusals=1)
def the_key_is_checked_before_the_body(c: Context) -> None:
    path = f"{c.new_client().path}/orders"
    answer = c.connection.send("POST", path, headers={"X-API-Key": "not-a-key"}, content=b"{")
    refused(answer, "malformed_credential")
    reader = c.new_client(key={"scopes": ["orders:read"]})
    refused(reader.send(b"{", str(uuid4())), "insufficient_scope")


# --- Scopes ---------------------------------------------------------------------------------------------

_CALLS: dict[str, tuple[str, Callable[[Client], Exchange]]] = {
    "me": ("account:read", Client.me),
    "place": ("orders:write", Client.place),
    "list": ("orders:read", Client.orders),
    "read": ("orders:read", lambda client: client.order(str(uuid4()))),
    "positions": ("orders:read", Client.positions),
}
"""Each call with the scope that it needs."""


def _needs_its_scope(name: str, c: Context) -> None:
    scope, call = _CALLS[name]
    login_id = c.broker.account()
    answer = call(c.new_client("test", login_id, {"scopes": [scope]}))
    accepted = answer.status < 400 or answer.code == "order_not_found"
    expect(accepted, f"{answer.call} answered {answer.reply} to a key with {scope}.")
    others = [each for each in SCOPES if each != scope]
    refused(call(c.new_client("test", login_id, {"scopes": others})), "insufficient_scope")


for _name in _CALLS:
    check(f"endpoints.scope.{_name}", need=Need.DESK, orders=2)(partial(_needs_its_scope, _name))


@check("auth.scopes", need=Need.DESK, orders=1)
def a_key_does_what_its_scopes_allow(c: Context) -> None:
    reader = c.new_client(key={"scopes": ["orders:read"]})
    body_of(reader.orders(), OK)
    refused(reader.me(), "insufficient_scope")
    refused(reader.place(), "insufficient_scope")


# --- Switches and lifetime ------------------------------------------------------------------------------


def _is_refused_while_off(field: str, code: str, c: Context) -> None:
    client = c.new_client()
    c.broker.change(client.account, **{field: False})
    for answer in (client.me(), client.orders(), client.positions(), client.place()):
        refused(answer, code)
    c.broker.change(client.account, **{field: True})
    body_of(client.me(), OK)


for _id, _field, _code in (
    ("auth.api-access-off", "api_access", "api_access_disabled"),
    ("auth.inactive", "active", "account_inactive"),
):
    check(_id, need=Need.DESK, orders=1)(partial(_is_refused_while_off, _field, _code))


@check("auth.revoked", need=Need.DESK, refusals=1)
def a_revoked_key_is_refused(c: Context) -> None:
    login_id = c.broker.account()
    issued = c.broker.key(login_id)
    client = c.with_key(issued, login_id)
    body_of(client.me(), OK)
    c.broker.revoke(issued)
    refused(client.me_as(client.key), "credential_revoked")


@check("auth.overlap", need=Need.DESK)
def both_keys_work_during_the_overlap(c: Context) -> None:
    login_id = c.broker.account()
    issued = c.broker.key(login_id)
    successor = c.broker.rotate(issued, overlap_s=60)
    for each in (issued, successor):
        body_of(c.with_key(each, login_id).me(), OK)


def ended_keys(c: Context) -> dict[tuple[str, str], Client]:
    """For each environment a key that was rotated, its successor, and a key that has expired."""
    found: dict[tuple[str, str], Client] = {}
    for environment in ("test", "production"):
        login_id = c.broker.account()
        issued = c.broker.key(login_id, environment)
        successor = c.broker.rotate(issued, overlap_s=1)
        at = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
        expiring = c.broker.key(login_id, environment, expires_at=at)
        for name, each in (("rotated", issued), ("successor", successor), ("expired", expiring)):
            found[environment, name] = c.with_key(each, login_id, environment)
            body_of(found[environment, name].me(), OK)
    c.sleep(OVERLAP_S)
    return found


def is_ended(environment: str, name: str, c: Context) -> None:
    """A key that was rotated, or has expired, is refused."""
    client = c.once(ended_keys)[environment, name]
    refused(client.me_as(client.key), f"credential_{name}")


@check("auth.rotated", need=Need.DESK, refusals=1, waits_s=OVERLAP_S)
def a_rotated_key_ends(c: Context) -> None:
    is_ended("test", "rotated", c)
    body_of(c.once(ended_keys)["test", "successor"].me(), OK)


check("auth.expired", need=Need.DESK, refusals=1)(partial(is_ended, "test", "expired"))
