"""Keys: where they count, how they end, and what they may do."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from bullion_conformance.check import Need, check
from bullion_conformance.client import OK, Client, body_of, encoded, refused
from bullion_conformance.connection import PRODUCTION_PATH, TEST_PATH
from bullion_conformance.context import Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.samples import gold_buy
from bullion_conformance.verdict import expect

A_MOMENT_S = 1.3
"""After which a key that was to last for a second has ended."""


@check("auth.only-scheme", refusals=2)
def a_key_counts_in_its_header_alone(c: Context) -> None:
    key = c.test().key
    elsewhere: list[tuple[str, dict[str, str]]] = [("", {"Authorization": f"Bearer {key}"})]
    if c.setup.broker is not None:  # Addresses get into logs: a key that somebody lives by stays out of them.
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


@check("auth.test-key-on-production", refusals=2)
def a_test_key_opens_no_production(c: Context) -> None:
    _on_the_other_path(c.test(), PRODUCTION_PATH)


@check("auth.live-key-on-test", need=Need.LIVE_KEY, refusals=2)
def a_live_key_opens_no_test(c: Context) -> None:
    _on_the_other_path(c.live(), TEST_PATH)


def _on_the_other_path(client: Client, base: str) -> None:
    for path in ("/me", "/orders"):
        answer = client.connection.send("GET", f"{base}{path}", headers={"X-API-Key": client.key})
        refused(answer, "wrong_environment")


@check("auth.other-broker", need=Need.DESK, refusals=1)
def a_key_of_another_broker(c: Context) -> None:
    client = c.test()
    with c.at_second_broker():
        answer = c.connection.send("GET", f"{TEST_PATH}/me", headers={"X-API-Key": client.key})
    refused(answer, "wrong_tenant")


# --- Scopes ---------------------------------------------------------------------------------------------


def _calls() -> dict[str, tuple[str, Callable[[Client], Exchange]]]:
    """Each call with the scope that it takes."""
    return {
        "me": ("account:read", lambda client: client.me()),
        "place": ("orders:write", lambda client: client.place()),
        "list": ("orders:read", lambda client: client.orders()),
        "read": ("orders:read", lambda client: client.order(str(uuid4()))),
        "positions": ("orders:read", lambda client: client.positions()),
    }


def _takes_its_scope(name: str) -> Callable[[Context], None]:
    def takes_its_scope_alone(c: Context) -> None:
        scope, call = _calls()[name]
        login_id = c.broker.account()
        others = [each for each in ("account:read", "orders:read", "orders:write") if each != scope]
        answer = call(c.new_client("test", login_id, {"scopes": [scope]}))
        expect(answer.code != "insufficient_scope", f"{answer.call} was refused to a key with {scope}.")
        expect(
            answer.status < 400 or answer.code == "order_not_found",
            f"{answer.call} answered {answer.reply}.",
        )
        refused(call(c.new_client("test", login_id, {"scopes": others})), "insufficient_scope")

    return takes_its_scope_alone


for _name in ("me", "place", "list", "read", "positions"):
    check(f"endpoints.scope.{_name}", need=Need.DESK, orders=2)(_takes_its_scope(_name))


@check("auth.scopes", need=Need.DESK, orders=1)
def a_key_does_what_its_scopes_allow(c: Context) -> None:
    login_id = c.broker.account()
    reader = c.new_client("test", login_id, {"scopes": ["orders:read"]})
    body_of(reader.orders(), OK)
    refused(reader.me(), "insufficient_scope")
    refused(reader.place(), "insufficient_scope")


# --- Switches and lifetime ------------------------------------------------------------------------------


def _while_off(field: str, code: str) -> Callable[[Context], None]:
    def refuses_every_call(c: Context) -> None:
        client = c.new_client()
        c.broker.change(client.account, **{field: False})
        for answer in (client.me(), client.orders(), client.positions(), client.place()):
            refused(answer, code)
        c.broker.change(client.account, **{field: True})
        body_of(client.me(), OK)

    return refuses_every_call


check("auth.api-access-off", need=Need.DESK, orders=1)(_while_off("api_access", "api_access_disabled"))
check("auth.inactive", need=Need.DESK, orders=1)(_while_off("active", "account_inactive"))


@check("auth.revoked", need=Need.DESK, refusals=1)
def a_revoked_key_is_dead(c: Context) -> None:
    login_id = c.broker.account()
    issued = c.broker.key(login_id)
    client = c.with_key(issued, login_id)
    body_of(client.me(), OK)
    c.broker.revoke(issued)
    refused(client.me_as(client.key), "credential_revoked")


@check("auth.overlap", need=Need.DESK)
def both_keys_work_for_a_while(c: Context) -> None:
    login_id = c.broker.account()
    issued = c.broker.key(login_id)
    successor = c.broker.rotate(issued, overlap_s=60)
    for each in (issued, successor):
        body_of(c.with_key(each, login_id).me(), OK)


def ended_keys(c: Context) -> dict[tuple[str, str], Client]:
    """A key of each environment that was replaced, its successor, and one that has expired."""
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
    c.sleep(A_MOMENT_S)
    return found


@check("auth.rotated", need=Need.DESK, refusals=1, waits_s=A_MOMENT_S)
def a_replaced_key_ends(c: Context) -> None:
    old = c.once(ended_keys)["test", "rotated"]
    refused(old.me_as(old.key), "credential_rotated")
    body_of(c.once(ended_keys)["test", "successor"].me(), OK)


@check("auth.expired", need=Need.DESK, refusals=1)
def an_expired_key_ends(c: Context) -> None:
    client = c.once(ended_keys)["test", "expired"]
    refused(client.me_as(client.key), "credential_expired")


@check("errors.wrong-path")
def a_wrong_path_has_no_code(c: Context) -> None:
    client = c.test()
    for path in ("/order", f"/orders/{uuid4()}/more"):
        answer = client.call("GET", path)
        expect(answer.status == 404, f"{answer.call} answered {answer.reply}; expected 404.")
        expect(
            answer.code is None,
            f"{answer.call} is a path that does not exist, but has the code {answer.code}.",
        )


@check("errors.price-moved-new-key", orders=2)
def a_new_key_after_price_moved(c: Context) -> None:
    client = c.once(gold_buy).client
    body = client.order_body()
    refused(client.send(encoded({**body, "expected_price": 1}), str(uuid4())), "price_moved")
    client.placed(**body)
