"""GET /me: whose key it is, and what it may do."""

from collections.abc import Callable
from typing import Any

from bullion_conformance.check import Need, check
from bullion_conformance.client import OK, body_of, value_of, values_of
from bullion_conformance.context import Context
from bullion_conformance.shapes import SCOPES, one_of, text
from bullion_conformance.verdict import expect


def _me(c: Context) -> dict[str, Any]:
    return body_of(c.test().me(), OK)


@check("me.answers")
def me_answers(c: Context) -> None:
    expect(bool(c.once(_me)), "GET /me answered an empty object.")


def _string(name: str) -> Callable[[Context], None]:
    def is_a_string(c: Context) -> None:
        text(value_of(c.once(_me), name), name)

    return is_a_string


for _name in ("login_id", "key_name"):
    check(f"account.{_name}")(_string(_name))


@check("account.key_id")
def the_key_id_is_not_the_key(c: Context) -> None:
    client = c.test()
    key_id = text(value_of(body_of(client.me(), OK), "key_id"), "key_id")
    expect(key_id != client.key, "`key_id` is the key itself, with its secret.")


@check("account.firm_name")
def the_firm_is_a_string_or_null(c: Context) -> None:
    found = value_of(c.once(_me), "firm_name")
    if found is not None:
        text(found, "firm_name")


@check("account.environment.test")
def a_test_keys_environment(c: Context) -> None:
    found = value_of(c.once(_me), "environment")
    expect(found == "test", f"`environment` of a test key is {found!r}; expected 'test'.")


@check("account.environment.production", need=Need.LIVE_KEY)
def a_live_keys_environment(c: Context) -> None:
    found = value_of(body_of(c.live().me(), OK), "environment")
    expect(found == "production", f"`environment` of a live key is {found!r}; expected 'production'.")


@check("account.scopes")
def scopes_are_scopes(c: Context) -> None:
    for scope in values_of(c.once(_me), "scopes"):
        one_of(scope, SCOPES, "scopes")


@check("account.as-issued", need=Need.DESK)
def me_is_what_the_desk_made(c: Context) -> None:
    for firm_name, scopes in (("Conformance & Söhne", ["account:read"]), (None, list(SCOPES))):
        login_id = c.broker.account(firm_name=firm_name)
        issued = c.broker.key(login_id, name="a name", scopes=scopes)
        found = body_of(c.with_key(issued, login_id).me(), OK)
        expected = {
            "login_id": login_id,
            "firm_name": firm_name,
            "key_id": issued.key_id,
            "key_name": "a name",
        }
        for name, value in expected.items():
            shown = value_of(found, name)
            expect(shown == value, f"`{name}` is {shown!r}; the desk gave {value!r}.")
        shown = sorted(values_of(found, "scopes"))
        expect(shown == sorted(scopes), f"`scopes` are {shown}; the desk gave {sorted(scopes)}.")


def _available(body: dict[str, Any]) -> bool:
    found = value_of(body, "production_trading_available")
    expect(isinstance(found, bool), f"`production_trading_available` is {found!r}; expected true or false.")
    return bool(found)


@check("account.available")
def availability_is_true_or_false(c: Context) -> None:
    _available(c.once(_me))


def _on_both(c: Context, login_id: str) -> set[bool]:
    """What both paths say; a set of one when they agree."""
    clients = (c.new_client("test", login_id), c.new_client("production", login_id))
    return {_available(body_of(client.me(), OK)) for client in clients}


@check("account.available.same", need=Need.DESK)
def both_paths_say_the_same(c: Context) -> None:
    for enabled in (True, False):
        found = _on_both(c, c.broker.account(production_trading=enabled))
        expect(
            len(found) == 1,
            "`production_trading_available` differs between the test and the production path.",
        )


@check("account.available.open", need=Need.PRODUCTION)
def available_when_all_is_on(c: Context) -> None:
    found = _on_both(c, c.broker.account())
    expect(found == {True}, "Every switch is on, but `production_trading_available` is false.")


@check("account.available.closed-for-all", need=Need.DESK)
def not_available_while_the_switch_is_off(c: Context) -> None:
    with c.broker.switched({"production": True}, production=False):
        found = _on_both(c, c.broker.account())
    expect(found == {False}, "The operator's switch is off, but `production_trading_available` is true.")


@check("account.available.closed-for-one", need=Need.DESK)
def not_available_to_this_account(c: Context) -> None:
    found = _on_both(c, c.broker.account(production_trading=False))
    expect(found == {False}, "Production is off for the account, but `production_trading_available` is true.")
