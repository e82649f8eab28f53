"""The answer of `/me` follows what it is made of."""

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
from bullion.web.calls import Call

pytestmark = pytest.mark.anyio

KEY = Key("9f2c41d07ab8e356", "demo", 1, Environment.TEST, "engine", frozenset(Scope), b"", (), 0)
ACCOUNT = Account(
    1, "demo", "mehta", "Mehta", "retail", active=True, api_access=True, production_trading=True
)
SWITCHES = Switches("demo", production=True)


async def _no_body() -> MutableMapping[str, Any]:
    raise AssertionError("a read has no body to read")


async def answer(
    me: Me, key: Key = KEY, account: Account = ACCOUNT, switches: Switches = SWITCHES
) -> dict[str, Any]:
    call = Call(b"0" * 24, "GET")
    found = await me(Request(call, Caller(key, account, switches, None), {}, _no_body))
    body: dict[str, Any] = json.loads(found.body)
    return body


async def test_any_change_gives_a_new_answer() -> None:
    me = Me(deploy_on=True)
    assert (await answer(me))["production_trading_available"] is True
    renamed = await answer(me, account=msgspec.structs.replace(ACCOUNT, firm_name="New"))
    assert renamed["firm_name"] == "New"
    paused = await answer(me, switches=replace(SWITCHES, paused=True))
    assert paused["production_trading_available"] is False
    narrower = msgspec.structs.replace(KEY, scopes=frozenset({Scope.ACCOUNT_READ}))
    assert (await answer(me, narrower))["scopes"] == ["account:read"]


async def test_one_keys_answer_is_never_anothers() -> None:
    me = Me(deploy_on=True)
    other = msgspec.structs.replace(KEY, key_id="0" * 16, name="other")
    await answer(me)
    assert (await answer(me, other))["key_name"] == "other"
    assert (await answer(me))["key_name"] == "engine"
