"""Ids of keys on both engines: keys of earlier versions stay, and no key gets an id that is in use."""

import secrets

import pytest

from bullion.desk.actions import accounts, keys
from bullion.desk.bodies import AllocationBody, KeyBody, NewAccountBody, RotateBody
from bullion.desk.desk import Desk
from bullion.environment import Environment
from bullion.keys.key import Key
from bullion.records.page import FIRST_PAGE
from bullion.refusals.refusal import RefusalError

from .desk_over import ADMIN

pytestmark = pytest.mark.anyio

OLD_ID = "0123456789abcdef"
BODY = KeyBody(environment="test", name="a key", scopes=["account:read"])


@pytest.fixture
async def account_id(desk: Desk) -> int:
    body = NewAccountBody(login_id="asha", firm_name=None, group="retail", allocation=AllocationBody())
    await accounts.create_account(desk, ADMIN, body)
    found = await desk.read(ADMIN, "account", lambda records: records.account_id("main", "asha"))
    assert found is not None
    return found


async def _stored(desk: Desk) -> dict[str, str]:
    listed, _ = await keys.list_keys(desk, ADMIN, "asha", FIRST_PAGE)
    return {each["key_id"]: each["name"] for each in listed}


async def test_the_successor_of_an_old_key_gets_the_lane_of_its_account(desk: Desk, account_id: int) -> None:
    old = Key(OLD_ID, "main", account_id, Environment.TEST, "old", frozenset(), bytes(32), (), 0)
    await desk.store.write("issue_key", lambda records: records.insert_key(old))
    new = await keys.rotate_key(desk, ADMIN, OLD_ID, RotateBody())
    assert new["key_id"][:4] == desk.key_issuer.lane(account_id) != OLD_ID[:4]
    assert await _stored(desk) == {OLD_ID: "old", new["key_id"]: "old"}


async def test_an_id_in_use_is_refused_and_the_key_that_has_it_stays(
    desk: Desk, account_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "token_hex", lambda size: "00" * size)
    first = await keys.issue_key(desk, ADMIN, "asha", BODY)
    assert first["key_id"] == f"{desk.key_issuer.lane(account_id)}{'0' * 12}"
    before = await desk.read(ADMIN, "key", lambda records: records.key("main", first["key_id"]))
    other = KeyBody(environment="production", name="another", scopes=["account:read"])
    for again in (
        keys.issue_key(desk, ADMIN, "asha", other),
        keys.rotate_key(desk, ADMIN, first["key_id"], RotateBody()),
    ):
        with pytest.raises(RefusalError) as refused:
            await again
        assert (refused.value.refusal.code, refused.value.message) == (
            "conflict",
            "The random id of the new key is in use. Try again.",
        )
    assert await desk.read(ADMIN, "key", lambda records: records.key("main", first["key_id"])) == before
    monkeypatch.undo()
    second = await keys.issue_key(desk, ADMIN, "asha", other)
    assert await _stored(desk) == {first["key_id"]: "a key", second["key_id"]: "another"}
