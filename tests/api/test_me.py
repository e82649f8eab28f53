"""The kept answers of `/me`: never older than what they are made of."""

import json
from dataclasses import replace

from bullion.accounts.account import Account
from bullion.accounts.switches import Switches
from bullion.api.gate import Caller
from bullion.api.me import Me
from bullion.environment import Environment
from bullion.keys.key import Key, Scope

KEY = Key("9f2c41d07ab8e356", "demo", 1, Environment.TEST, "engine", frozenset(Scope), b"", (), 0)
ACCOUNT = Account(
    1, "demo", "mehta", "Mehta", "retail", active=True, api_access=True, production_trading=True
)
SWITCHES = Switches("demo", production=True)


def test_an_answer_is_kept_while_nothing_changes() -> None:
    me = Me(deploy_on=True)
    assert me(Caller(KEY, ACCOUNT, SWITCHES, None)) is me(Caller(KEY, ACCOUNT, SWITCHES, None))


def test_any_change_gives_a_new_answer() -> None:
    me = Me(deploy_on=True)
    first = json.loads(me(Caller(KEY, ACCOUNT, SWITCHES, None)).body)
    assert first["production_trading_available"] is True
    renamed = json.loads(me(Caller(KEY, replace(ACCOUNT, firm_name="New"), SWITCHES, None)).body)
    assert renamed["firm_name"] == "New"
    paused = json.loads(me(Caller(KEY, ACCOUNT, replace(SWITCHES, paused=True), None)).body)
    assert paused["production_trading_available"] is False
    narrower = replace(KEY, scopes=frozenset({Scope.ACCOUNT_READ}))
    assert json.loads(me(Caller(narrower, ACCOUNT, SWITCHES, None)).body)["scopes"] == ["account:read"]


def test_one_keys_answer_is_never_anothers() -> None:
    me = Me(deploy_on=True)
    other = replace(KEY, key_id="0" * 16, name="other")
    me(Caller(KEY, ACCOUNT, SWITCHES, None))
    assert json.loads(me(Caller(other, ACCOUNT, SWITCHES, None)).body)["key_name"] == "other"
    assert json.loads(me(Caller(KEY, ACCOUNT, SWITCHES, None)).body)["key_name"] == "engine"


def test_kept_answers_do_not_grow_without_bound() -> None:
    me = Me(deploy_on=True)
    for number in range(10_001):
        me(Caller(replace(KEY, key_id=f"{number:016x}"), ACCOUNT, SWITCHES, None))
    assert len(me._kept) <= 10_000
