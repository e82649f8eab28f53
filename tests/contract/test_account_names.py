"""The desk's search by a part of a name finds what a look at every account finds, also after changes."""

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group
from bullion.records.clients import AccountSummary, Allocation, KeyTimes
from bullion.store import account_names
from bullion.store.engine import Engine
from bullion.store.records import Records, RecordStore
from tests.booking.fixtures import rows

pytestmark = pytest.mark.anyio

LETTERS = "abA_%. é\\"
EVERY = (
    "SELECT login_id, lower(login_id) AS login, lower(coalesce(firm_name, '')) AS firm"
    " FROM accounts WHERE broker = $1"
)


class Brokerage:
    """Accounts of two brokers, the same names in a list, and two processes: one changes, the other looks."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.desk = RecordStore(engine)
        self.looking = RecordStore(engine)
        self.chance = Random(5)  # noqa: S311 - the same each time

    async def open(self) -> "Brokerage":
        async def body(records: Records) -> None:
            for tag in ("main", "other"):
                await records.put_broker(Broker(tag, tag))
                await records.put_group(Group(tag, "retail", trading=True, terms={}, default_terms=None))

        await self.desk.write("brokers", body)
        return self

    def name(self) -> str:
        return "".join(self.chance.choices(LETTERS, k=self.chance.randint(1, 6)))

    async def add(self, number: int) -> None:
        async def body(records: Records) -> None:
            for _ in range(number):
                broker, login_id = self.chance.choice(["main", "main", "other"]), self.name().strip() or "x"
                if await records.client(broker, login_id) is None:
                    firm = self.chance.choice([None, "", self.name(), self.name()])
                    flags: dict[str, Any] = dict.fromkeys(
                        ("active", "api_access", "production_trading"), True
                    )
                    new = Account(0, broker, login_id, firm, "retail", **flags)
                    await records.insert_account(new, Allocation(0, 0))

        await self.desk.write("accounts", body)

    async def rename(self, number: int) -> None:
        async def body(records: Records) -> None:
            found = await records.account_summaries("main", None, "", KeyTimes(0, 0), 1000)
            every = [each for each in found if isinstance(each, AccountSummary)]
            for each in self.chance.sample(every, min(number, len(every))):
                await records.update_account(replace(each.account, firm_name=self.name()))

        await self.desk.write("rename", body)

    async def search(self, text: str, after: str = "", limit: int = 1000, broker: str = "main") -> list[str]:
        found = await self.looking.read(
            "search", lambda records: records.account_summaries(broker, text, after, KeyTimes(0, 0), limit)
        )
        return [each.account.login_id for each in found if isinstance(each, AccountSummary)]

    async def check(self) -> None:
        for broker in ("main", "other"):
            every = await rows(self.engine, f"{EVERY} ORDER BY login_id", broker)
            for _ in range(25):
                text = self.name()[: self.chance.choice([1, 2, 3])]
                (lower,) = await rows(self.engine, "SELECT lower(CAST($1 AS TEXT)) AS text", text)
                wanted = [
                    row["login_id"]
                    for row in every
                    if lower["text"] in row["login"] or lower["text"] in row["firm"]
                ]
                assert await self.search(text, broker=broker) == wanted, text
                if wanted:
                    at = self.chance.randrange(len(wanted))
                    following = wanted[at + 1 : at + 4]
                    assert await self.search(text, wanted[at], 3, broker) == following, (text, wanted[at])


@pytest.fixture
async def brokerage(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Brokerage:
    monkeypatch.setattr(account_names, "_AT_ONCE", 7)
    monkeypatch.setattr(account_names, "_CHANGES_MAX", 12)
    return await Brokerage(engine).open()


async def test_a_search_is_that_of_a_look_at_every_account(brokerage: Brokerage) -> None:
    await brokerage.check()
    await brokerage.add(50)
    await brokerage.check()


async def test_changes_by_others_are_followed(brokerage: Brokerage) -> None:
    await brokerage.add(30)
    await brokerage.check()
    for number in (1, 2, 5, 40):  # The last are more than are followed one by one.
        await brokerage.add(number)
        await brokerage.check()
        await brokerage.rename(number)
        await brokerage.check()


async def test_a_page_begins_after_any_text(brokerage: Brokerage) -> None:
    await brokerage.add(40)
    for after in ("", "0", "a", "b ", "zzz"):
        wanted = await rows(brokerage.engine, f"{EVERY} AND login_id > $2 ORDER BY login_id", "main", after)
        with_a = [row["login_id"] for row in wanted if "a" in row["login"] or "a" in row["firm"]]
        assert await brokerage.search("a", after) == with_a, after


async def test_an_older_copy_of_the_store_is_read_anew(brokerage: Brokerage) -> None:
    """A store that was put back has a lower version, whose changes are others."""
    await brokerage.add(20)
    await brokerage.check()
    await rows(brokerage.engine, "UPDATE catalogue SET version = version - 1 RETURNING version")
    await rows(brokerage.engine, "UPDATE accounts SET firm_name = 'put back' RETURNING id")
    assert len(await brokerage.search("put back")) == len(await brokerage.search(""))
