"""GET /me: the account and the key behind a call."""

from typing import Any

from bullion_conformance.check import Need, check
from bullion_conformance.client import OK, body_of
from bullion_conformance.context import Context
from bullion_conformance.shapes import SCOPES, one_of, text, text_of, value_of, values_of
from bullion_conformance.verdict import expect, expect_equal


def _me(c: Context) -> dict[str, Any]:
    return body_of(c.test().me(), OK)


check("me.answers")(lambda c: expect(bool(c.once(_me)), "GET /me answered an empty object."))
check("account.login_id")(lambda c: text_of(c.once(_me), "login_id"))
check("account.key_name")(lambda c: text_of(c.once(_me), "key_name"))


@check("account.key_id")
def key_id_is_not_the_key(c: Context) -> None:
    client = c.test()
    key_id = text_of(body_of(client.me(), OK), "key_id")
    expect(key_id != client.key, "`key_id` is the key itself, with its secret.")


@check("account.firm_name")
def firm_name_is_a_string_or_null(c: Context) -> None:
    found = value_of(c.once(_me), "firm_name")
    if found is not None:
        text(found, "firm_name")


@check("account.environment.test")
def environment_of_a_test_key(c: Context) -> None:
    expect_equal(value_of(c.once(_me), "environment"), "test", "`environment` of a test key")


@check("account.environment.production", need=Need.LIVE_KEY)
def environment_of_a_live_key(c: Context) -> None:
    found = value_of(body_of(c.live().me(), OK), "environment")
    expect_equal(found, "production", "`environment` of a live key")


@check("account.scopes")
def scopes_are_known(c: Context) -> None:
    for scope in values_of(c.once(_me), "scopes"):
        one_of(scope, SCOPES, "scopes")


@check("account.as-issued", need=Need.DESK)
def me_is_what_the_desk_issued(c: Context) -> None:
    for firm_name, scopes in (("Conformance & Söhne", ["account:read"]), (None, list(SCOPES))):
        login_id = c.broker.account(firm_name=firm_name)
        issued = c.broker.key(login_id, name="a name", scopes=scopes)
        found = body_of(c.with_key(issued, login_id).me(), OK)
        names = {"login_id": login_id, "firm_name": firm_name, "key_id": issued.key_id, "key_name": "a name"}
        for name, value in names.items():
            expect_equal(value_of(found, name), value, f"`{name}`")
        expect_equal(sorted(values_of(found, "scopes")), sorted(scopes), "`scopes`")


def _available(body: dict[str, Any]) -> bool:
    found = value_of(body, "production_trading_available")
    expect(isinstance(found, bool), f"`production_trading_available` is {found!r}; expected true or false.")
    return bool(found)


check("account.available")(lambda c: _available(c.once(_me)))


def _on_both_paths(c: Context, login_id: str) -> set[bool]:
    clients = (c.new_client("test", login_id), c.new_client("production", login_id))
    return {_available(body_of(client.me(), OK)) for client in clients}


@check("account.available.same", need=Need.DESK)
def both_paths_agree(c: Context) -> None:
    for enabled in (True, False):
        found = _on_both_paths(c, c.broker.account(production_trading=enabled))
        expect(len(found) == 1, "`production_trading_available` differs between the two paths.")


@check("account.available.open", need=Need.PRODUCTION)
def available_when_every_switch_is_on(c: Context) -> None:
    found = _on_both_paths(c, c.broker.account())
    expect(found == {True}, "Every switch is on, but `production_trading_available` is false.")


@check("account.available.closed-for-all", need=Need.DESK)
def not_available_while_the_operators_switch_is_off(c: Context) -> None:
    with c.broker.switched({"production": True}, production=False):
        found = _on_both_paths(c, c.broker.account())
    expect(found == {False}, "The operator's switch is off, but `production_trading_available` is true.")


@check("account.available.closed-for-one", need=Need.DESK)
def not_available_while_off_for_the_account(c: Context) -> None:
    found = _on_both_paths(c, c.broker.account(production_trading=False))
    expect(found == {False}, "Production is off for the account, but `production_trading_available` is true.")
