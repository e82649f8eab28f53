"""Accounts and keys that memory does not hold: found on use, never older than the store, never made up."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.clients import Clients
from bullion.catalogue.follower import CatalogueFollower
from bullion.environment import Environment
from bullion.keys.key import Key, Scope
from bullion.records.clients import Allocation
from bullion.store import catalogue_source
from bullion.store.catalogue_source import StoreSource
from bullion.store.engine import Engine
from bullion.store.records import Records, RecordStore

pytestmark = pytest.mark.anyio

CLIENTS = 7
KEPT_MAX = 8
"""Four accounts with a key each."""


def key_id(number: int, kind: str = "a") -> str:
    return f"{kind}{number:015x}"


def new_key(account_id: int, named: str) -> Key:
    scopes = frozenset({Scope.ORDERS_READ})
    return Key(named, "main", account_id, Environment.TEST, "a key", scopes, bytes(range(32)), (), 7)


async def open_account(records: Records, number: int) -> Account:
    new = Account(
        0,
        "main",
        f"client{number}",
        None,
        "retail",
        active=True,
        api_access=True,
        production_trading=False,
        scenarios=number % 2 == 1,
    )
    await records.insert_account(new, Allocation(1, 2))
    client = await records.client("main", new.login_id)
    assert client is not None
    return client.account


class Desk:
    """Who writes: another node than the one whose memory is looked at."""

    def __init__(self, engine: Engine) -> None:
        self._store = RecordStore(engine)
        self.accounts: dict[int, Account] = {}

    async def create_clients(self, numbers: Sequence[int]) -> None:
        async def body(records: Records) -> None:
            if not self.accounts:
                await records.put_broker(Broker("main", "Main"))
                await records.put_group(Group("main", "retail", trading=True, terms={}, default_terms=None))
            for number in numbers:
                account = await open_account(records, number)
                self.accounts[number] = account
                await records.insert_key(new_key(account.id, key_id(number)))

        await self._store.write("create_clients", body)

    async def revoke(self, number: int) -> None:
        key = new_key(self.accounts[number].id, key_id(number))
        await self._store.write("revoke", lambda records: records.revoke_key(key, 99))

    async def issue(self, number: int, named: str) -> None:
        key = new_key(self.accounts[number].id, named)
        await self._store.write("issue", lambda records: records.insert_key(key))

    async def close(self, number: int) -> None:
        closed = msgspec.structs.replace(self.accounts[number], active=False)
        await self._store.write("close", lambda records: records.update_account(closed))


class Memory:
    """A node's, which holds about half of the clients."""

    def __init__(self, engine: Engine, kept_max: int = KEPT_MAX) -> None:
        self.catalogue = Catalogue(clients=Clients(kept_max))
        self.catalogue_follower = CatalogueFollower(self.catalogue, StoreSource(engine))

    def has(self, number: int) -> bool:
        return key_id(number) in self.catalogue.keys

    def some(self, *, there: bool) -> int:
        return next(number for number in range(1, CLIENTS + 1) if self.has(number) is there)

    async def filled(self) -> "Memory":
        await self.catalogue_follower.catch_up()
        while self.catalogue.clients.fill_after is not None:
            await self.catalogue_follower.catch_up()
        return self


@pytest.fixture
async def desk(engine: Engine) -> Desk:
    desk = Desk(engine)
    await desk.create_clients(range(1, CLIENTS + 1))
    return desk


@pytest.fixture
async def memory(desk: Desk, other_engine: Engine) -> Memory:
    return await Memory(other_engine).filled()


async def test_whoever_is_not_in_memory_is_found_on_use(desk: Desk, memory: Memory) -> None:
    assert not memory.catalogue.clients.complete
    for number in [*range(1, CLIENTS + 1)] * 3:
        await memory.catalogue_follower.look_up(key_id(number))
        found = memory.catalogue.keys[key_id(number)]
        assert found == new_key(desk.accounts[number].id, key_id(number))
        assert memory.catalogue.accounts[found.account_id] == desk.accounts[number]
        assert len(memory.catalogue.keys) + len(memory.catalogue.accounts) <= KEPT_MAX + KEPT_MAX // 8


async def test_an_unknown_id_brings_nobody_and_drops_nobody(memory: Memory) -> None:
    before = dict(memory.catalogue.keys), dict(memory.catalogue.accounts)
    ids = ["0" * 16, "f" * 16, key_id(CLIENTS + 1), *(f"{number:015x}b" for number in range(20))]
    await asyncio.gather(*map(memory.catalogue_follower.look_up, ids))
    assert (memory.catalogue.keys, memory.catalogue.accounts) == before


async def test_a_key_revoked_while_it_was_not_in_memory_comes_back_revoked(
    desk: Desk, memory: Memory
) -> None:
    number = memory.some(there=False)
    await desk.revoke(number)
    await memory.catalogue_follower.look_up(key_id(number))
    assert memory.catalogue.keys[key_id(number)].revoked_at_us == 99


async def test_an_account_closed_while_it_was_not_in_memory_comes_back_closed(
    desk: Desk, memory: Memory
) -> None:
    number = memory.some(there=False)
    await desk.close(number)
    await memory.catalogue_follower.look_up(key_id(number))
    assert not memory.catalogue.accounts[desk.accounts[number].id].active


async def test_what_is_in_memory_follows_its_changes(desk: Desk, memory: Memory) -> None:
    number = memory.some(there=False)
    await memory.catalogue_follower.look_up(key_id(number))
    await desk.revoke(number)
    await desk.close(number)
    await memory.catalogue_follower.catch_up()
    assert memory.catalogue.keys[key_id(number)].revoked_at_us == 99
    assert not memory.catalogue.accounts[desk.accounts[number].id].active


async def test_a_key_issued_to_an_account_that_is_not_in_memory_brings_it(desk: Desk, memory: Memory) -> None:
    number = memory.some(there=False)
    await desk.issue(number, key_id(number, "b"))
    await memory.catalogue_follower.catch_up()
    issued = memory.catalogue.keys[key_id(number, "b")]
    assert memory.catalogue.accounts[issued.account_id] == desk.accounts[number]


async def test_an_account_is_found_by_its_own_id(desk: Desk, memory: Memory) -> None:
    account = desk.accounts[memory.some(there=False)]
    await memory.catalogue_follower.look_up_account(account.id)
    assert memory.catalogue.accounts[account.id] == account
    await memory.catalogue_follower.look_up_account(10**9)
    assert 10**9 not in memory.catalogue.accounts


async def test_memory_is_filled_page_by_page_while_the_desk_goes_on(
    desk: Desk, other_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_source, "_PAGE_SIZE", 2)
    memory = Memory(other_engine, kept_max=1000)
    await memory.catalogue_follower.catch_up()
    assert set(memory.catalogue.keys) == {key_id(1), key_id(2)}
    await desk.revoke(1)  # In memory already.
    await desk.close(6)  # Not yet.
    await desk.issue(2, key_id(2, "b"))
    await desk.create_clients([CLIENTS + 1])
    await memory.catalogue_follower.look_up(key_id(5))
    assert memory.has(5)
    await memory.filled()
    assert memory.catalogue.clients.complete
    assert len(memory.catalogue.accounts) == CLIENTS + 1
    assert len(memory.catalogue.keys) == CLIENTS + 2
    assert memory.catalogue.keys[key_id(1)].revoked_at_us == 99
    assert not memory.catalogue.accounts[desk.accounts[6].id].active


async def test_a_store_put_back_to_an_older_copy_is_read_anew(memory: Memory) -> None:
    memory.catalogue.version = 10**6
    absent = memory.some(there=False)
    await memory.catalogue_follower.look_up(key_id(absent))
    assert memory.catalogue.version == 1
    assert memory.has(absent)
