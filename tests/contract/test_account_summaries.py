"""Accounts looked over and a trail looked through on both engines: by parts of names, by times, in pieces."""

from dataclasses import replace
from typing import Any

import pytest

from bullion.desk.actions import account_summaries, accounts, audit, brokers, keys
from bullion.desk.actions.audit import AuditSearch
from bullion.desk.bodies import AllocationBody, BrokerBody, KeyBody, NewAccountBody, RotateBody
from bullion.desk.desk import Desk
from bullion.orders.instant import instant_text
from bullion.records.token import Actor, Role
from bullion.store.engine import Engine
from tests.booking.fixtures import rows

from .dealings import Dealings
from .desk_over import ADMIN, OTHER, desk_over

pytestmark = pytest.mark.anyio

FIRMS = {"asha": "Asha Jewels", "kalyani": "Kalyani & Sons", "shubham": None, "mid_night": "100% <b>Gold</b>"}
DAY_US = 86_400_000_000


async def add(desk: Desk, actor: Actor, login_id: str, firm: str | None = None, gold: str = "0") -> None:
    allocation = AllocationBody(gold=gold)
    body = NewAccountBody(login_id=login_id, firm_name=firm, group="retail", allocation=allocation)
    await accounts.create_account(desk, actor, body)


async def key(desk: Desk, login_id: str, **fields: Any) -> str:
    body = KeyBody(environment="test", name="a key", scopes=["account:read"], **fields)
    return str((await keys.issue_key(desk, ADMIN, login_id, body))["key_id"])


async def logins(desk: Desk, search: str | None = None, after: str = "", limit: int = 50) -> list[str]:
    found, _ = await account_summaries.list_account_summaries(desk, ADMIN, search, after, limit)
    return [each["login_id"] for each in found]


async def test_accounts_are_found_by_parts_of_their_names(desk: Desk) -> None:
    for login_id, firm in FIRMS.items():
        await add(desk, ADMIN, login_id, firm)
    await add(desk, OTHER, "asha", "Another Asha")
    assert await logins(desk) == sorted(FIRMS)
    assert await logins(desk, "") == sorted(FIRMS)
    assert await logins(desk, "HUBH") == ["shubham"]
    assert await logins(desk, "jewels") == ["asha"]
    # What means something in a pattern is a letter like any other.
    assert await logins(desk, "_") == ["mid_night"]
    assert await logins(desk, "0% <b>") == ["mid_night"]
    assert await logins(desk, "a%a") == []
    assert await logins(desk, "\\") == []
    assert await logins(desk, "\0") == []


async def test_pages_of_accounts_fit_together(desk: Desk) -> None:
    for login_id, firm in FIRMS.items():
        await add(desk, ADMIN, login_id, firm)
    first, more = await account_summaries.list_account_summaries(desk, ADMIN, None, "", 3)
    assert ([each["login_id"] for each in first], more) == (["asha", "kalyani", "mid_night"], True)
    rest, more = await account_summaries.list_account_summaries(desk, ADMIN, None, "mid_night", 3)
    assert ([each["login_id"] for each in rest], more) == (["shubham"], False)


async def test_only_keys_that_work_are_counted(desk: Desk) -> None:
    await add(desk, ADMIN, "asha")
    await key(desk, "asha")
    revoked, rotated = await key(desk, "asha"), await key(desk, "asha")
    await keys.revoke_key(desk, ADMIN, revoked)
    await keys.rotate_key(desk, ADMIN, rotated, RotateBody(overlap_s=0))
    now_us = await desk.read(ADMIN, "now", lambda records: records.now_us())
    await key(desk, "asha", expires_at=instant_text(now_us + 13 * DAY_US))
    await key(desk, "asha", expires_at=instant_text(now_us + 15 * DAY_US))
    ((found,), _) = await account_summaries.list_account_summaries(desk, ADMIN, None, "", 5)
    assert (found["keys"], found["keys_expiring"]) == (4, 1)


async def test_books_are_told_apart_and_measured(engine: Engine) -> None:
    dealings = await Dealings.open(engine)
    desk = desk_over(engine)
    await dealings.place(dealings.books[0], "sell", 50_000)
    found, _ = await account_summaries.list_account_summaries(desk, ADMIN, None, "", 5)
    held = [each["books"] for each in found if each["books"]["production"]["orders"]]
    assert len(held) == 1
    (books,) = held
    gold = books["production"]["gold"]
    assert (gold["net"], gold["used"], gold["unit"], gold["percent"]) == ("-5.0000", "5.0000", "g", 1)
    assert books["test"]["gold"]["used"] == "0.0000"
    assert books["test"]["orders"] == 0
    (login_id,) = [each["login_id"] for each in found if each["books"] == books]
    alone = await account_summaries.get_account_summary(desk, ADMIN, login_id)
    assert alone["books"] == books


async def test_accounts_that_traded_last_come_first(engine: Engine) -> None:
    dealings = await Dealings.open(engine, accounts=3)
    desk = desk_over(engine)
    by_login, _ = await account_summaries.list_account_summaries(desk, ADMIN, None, "", 5)
    names = [each["login_id"] for each in by_login]
    assert [each["books"]["production"]["last_order_at"] for each in by_login] == [None] * 3

    async def by_use(limit: int = 5, offset: int = 0) -> tuple[list[str], bool]:
        found, more = await account_summaries.list_accounts_by_use(desk, ADMIN, limit, offset)
        return [each["login_id"] for each in found], more

    assert await by_use() == (names, False)
    for index in (2, 1):
        dealings.now_us += 1_000_000
        await dealings.place(dealings.books[index], "buy", 10_000)
    assert await by_use() == ([names[1], names[2], names[0]], False)
    assert await by_use(2) == ([names[1], names[2]], True)
    assert await by_use(2, 2) == ([names[0]], False)


def test_a_bar_is_full_when_all_is_used_and_not_before() -> None:
    measured = [account_summaries._percent(used, 1000) for used in (0, 1, 999, 1000, 1001)]
    assert measured == [0, 1, 100, 100, 101]
    assert account_summaries._percent(5, 0) == 101


async def found(desk: Desk, limit: int = 50, **wanted: Any) -> tuple[list[int], int | None]:
    answer = await audit.find_audit(desk, ADMIN, AuditSearch(**wanted), limit)
    return [each["ordinal"] for each in answer.entries], answer.below


async def test_a_trail_is_looked_through(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await found(desk) == ([], None)
    other = replace(ADMIN, name="Ravi (3)")
    await add(desk, ADMIN, "one")
    await add(desk, other, "two")
    await key(desk, "two")
    await add(desk, other, "three")
    await add(desk, OTHER, "one")
    assert await found(desk) == ([4, 3, 2, 1], None)
    assert await found(desk, actor="rav") == ([4, 2], None)
    assert await found(desk, action="issue_key") == ([3], None)
    assert await found(desk, subject="TW") == ([3, 2], None)
    assert await found(desk, actor="(3)", subject="three") == ([4], None)
    assert await found(desk, limit=3) == ([4, 3, 2], 2)
    assert await found(desk, limit=3, below=2) == ([1], None)
    assert await found(desk, below=0) == ([], None)
    # A look back is bounded, and says from where to look on.
    monkeypatch.setattr(audit, "LOOK_BACK", 2)
    assert await found(desk, subject="one") == ([], 3)
    assert await found(desk, subject="one", below=3) == ([1], None)


async def test_a_trail_is_cut_by_times(desk: Desk, engine: Engine) -> None:
    for number in range(6):
        await add(desk, ADMIN, f"client{number}")
    await rows(engine, "UPDATE audit SET at_us = ordinal * 100 RETURNING ordinal")
    assert await found(desk, since_us=300) == ([6, 5, 4, 3], None)
    assert await found(desk, since_us=301) == ([6, 5, 4], None)
    assert await found(desk, until_us=300) == ([2, 1], None)
    assert await found(desk, since_us=200, until_us=500, limit=2) == ([4, 3], 3)
    assert await found(desk, since_us=200, until_us=500, limit=2, below=3) == ([2], None)
    assert await found(desk, since_us=700) == ([], None)


async def test_a_trail_is_checked_in_pieces(
    desk: Desk, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "_AT_ONCE", 2)
    checked = await audit.check_audit(desk, OTHER)
    assert (checked.entries, [each.why for each in checked.breaks]) == (
        0,
        ["the head of the chain is missing, so its end cannot be checked"],
    )
    third = Actor("Chitra (4)", Role.ADMIN, "third", first=True)
    for number in range(6):
        await brokers.put_broker(desk, third, "third", BrokerBody(name=f"name {number}"))
    checked = await audit.check_audit(desk, third)
    assert (checked.entries, checked.breaks) == (6, [])
    assert checked.head == await audit.audit_head(desk, third)
    await rows(engine, "UPDATE audit SET actor = 'nobody' WHERE ordinal = 4 RETURNING ordinal")
    checked = await audit.check_audit(desk, third)
    assert [(each.ordinal, each.why) for each in checked.breaks] == [
        (4, "changed, or not where it was written")
    ]
