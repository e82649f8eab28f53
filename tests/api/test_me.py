"""The kept answers of `/me`: never older than what they are made of."""

import json
from collections.abc import MutableMapping
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from bullion.accounts.account import Account
from bullion.accounts.switches import Switches
from bullion.api.gate import Caller
from bullion.api.me import Me
from bullion.api.request import Request
from bullion.environment import Environment
from bullion.keys.key import Key, Scope
from bullion.web.answer import Answer
from bullion.web.calls import Call

pytestmark = pytest.mark.anyio

KEY = Key("9f2c41d07ab8e356", "demo", 1, Environment.TEST, "engine", frozenset(Scope), b"", (), 0)
ACCOUNT = Account(
    1, "demo", "mehta", "Mehta", "retail", active=True, api_access=True, production_trading=True
)
SWITCHES = Switches("demo", production=True)


async def _no_body() -> MutableMapping[str, Any]:
    raise AssertionError("a read has no body to read")


async def answer(me: Me, key: Key = KEY, account: Account = ACCOUNT, switches: Switches = SWITCHES) -> Answer:
    call = Call(b"0" * 24, "GET")
    return await me(Request(call, Caller(key, account, switches, 1, None), {}, _no_body, "", b""))


async def test_an_answer_is_kept_while_nothing_changes() -> None:
    me = Me(deploy_on=True)
    assert await answer(me) is await answer(me)


async def test_any_change_gives_a_new_answer() -> None:
    me = Me(deploy_on=True)
    first = json.loads((await answer(me)).body)
    assert first["production_trading_available"] is True
    renamed = json.loads((await answer(me, account=msgspec.structs.replace(ACCOUNT, firm_name="New"))).body)
    assert renamed["firm_name"] == "New"
    paused = json.loads((await answer(me, switches=replace(SWITCHES, paused=True))).body)
    assert paused["production_trading_available"] is False
    narrower = msgspec.structs.replace(KEY, scopes=frozenset({Scope.ACCOUNT_READ}))
    assert json.loads((await answer(me, narrower)).body)["scopes"] == ["account:read"]


async def test_one_keys_answer_is_never_anothers() -> None:
    me = Me(deploy_on=True)
    other = msgspec.structs.replace(KEY, key_id="0" * 16, name="other")
    await answer(me)
    assert json.loads((await answer(me, other)).body)["key_name"] == "other"
    assert json.loads((await answer(me)).body)["key_name"] == "engine"


async def test_kept_answers_do_not_grow_without_bound() -> None:
    me = Me(deploy_on=True)
    for number in range(10_001):
        await answer(me, msgspec.structs.replace(KEY, key_id=f"{number:016x}"))
    assert len(me._kept) <= 10_000
