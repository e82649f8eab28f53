"""The node's memory follows the store: all of it at first, then only what changed."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, time
from decimal import Decimal
from ipaddress import ip_network
from itertools import count
from unittest.mock import patch
from zoneinfo import ZoneInfo

import msgspec
import pytest
from msgspec import structs

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group, Terms
from bullion.accounts.switches import BudgetLimits, PublicRates, Switches
from bullion.accounts.trading_hours import Opening, TradingHours
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.follower import CatalogueFollower
from bullion.catalogue.source import Changes
from bullion.environment import Environment
from bullion.faults import StoreUnavailable
from bullion.keys.key import Key, Scope
from bullion.metals.metal import Metal
from bullion.metals.pricing import Direct, Fixed, Landed, Pricing
from bullion.metals.symbol import Side, SizeRule, Symbol
from bullion.records.clients import Allocation, Client
from bullion.records.page import Page
from bullion.store import key_uses
from bullion.store import records as store_records
from bullion.store.catalogue_source import StoreSource
from bullion.store.engine import Engine, Transaction
from bullion.store.key_uses import KeyUses
from bullion.store.records import Records, RecordStore

pytestmark = pytest.mark.anyio

BROKER = Broker("main", "Main Bullion", ("a.example", "b.example"))
GROUP = Group(
    "main", "retail", trading=True, terms={"GOLD": Terms(100, -100, 1, 2, 1)}, default_terms=Terms(0, None)
)
SYMBOL = Symbol(
    broker="main",
    code="GOLD",
    metal=Metal.GOLD,
    quoted_weight_e4=100_000,
    trading=True,
    sides=frozenset({Side.SELL}),
    frozen=False,
    size=SizeRule(10_000, 1_000_000, 10_000),
    rate_age_s_max=None,
    freeze_after_s=300,
    pricing=Direct("GOLD"),
)
SWITCHES = Switches(
    broker="main",
    production=True,
    price_tolerance_percent_e4=2500,
    price_move_percent_max_e4=41_000,
    refuse_crossed=False,
    public_rates=PublicRates("retail", "Our rates"),
    quote_stream_interval_ms=750,
    trading_hours=TradingHours(
        ZoneInfo("Asia/Kolkata"),
        ((Opening(time(9), time(23, 30)),), *[()] * 5, (Opening(time(10), None),)),
        frozenset({date(2026, 11, 9)}),
    ),
    budgets=BudgetLimits(1, 2, 3, 4, 5),
)
ACCOUNT = Account(
    0,
    "main",
    "aurum",
    "Aurum",
    "retail",
    active=True,
    api_access=True,
    production_trading=False,
    scenarios=True,
)


def key(account_id: int) -> Key:
    return Key(
        key_id="0123456789abcdef",
        broker="main",
        account_id=account_id,
        environment=Environment.TEST,
        name="a key",
        scopes=frozenset({Scope.ACCOUNT_READ, Scope.ORDERS_READ}),
        secret_hash=bytes(range(32)),
        allowed_addresses=(ip_network("10.0.0.0/8"), ip_network("::1/128")),
        created_at_us=7,
        expires_at_us=2 * 10**15,
    )


async def create_records(records: Records) -> Key:
    await records.put_broker(BROKER)
    await records.put_switches(SWITCHES)
    await records.put_symbol(SYMBOL)
    await records.put_group(GROUP)
    await records.insert_account(ACCOUNT, Allocation(1, 2))
    client = await records.client("main", "aurum")
    assert client is not None
    issued = key(client.account.id)
    await records.insert_key(issued)
    return issued


@pytest.fixture
async def store(engine: Engine) -> RecordStore:
    return RecordStore(engine)


@pytest.fixture
def catalogue() -> Catalogue:
    """The memory of another node than the one that writes."""
    return Catalogue()


@pytest.fixture
async def catalogue_follower(catalogue: Catalogue, other_engine: Engine) -> CatalogueFollower:
    return CatalogueFollower(catalogue, StoreSource(other_engine))


async def test_everything_comes_back_as_it_was_put(
    store: RecordStore, catalogue_follower: CatalogueFollower, catalogue: Catalogue
) -> None:
    issued = await store.write("create_records", create_records)
    await catalogue_follower.catch_up()
    assert catalogue.brokers == {"main": BROKER}
    assert catalogue.hosts == {"a.example": "main", "b.example": "main"}
    assert catalogue.switches == {"main": SWITCHES}
    assert catalogue.symbols == {("main", "GOLD"): SYMBOL}
    assert catalogue.groups == {("main", "retail"): GROUP}
    assert catalogue.keys == {issued.key_id: issued}
    (account,) = catalogue.accounts.values()
    assert (account.login_id, account.firm_name, account.group) == ("aurum", "Aurum", "retail")
    assert (account.active, account.api_access, account.production_trading) == (True, True, False)
    assert account.scenarios


@pytest.mark.parametrize(
    "pricing",
    [
        Direct("GOLD"),
        Fixed(7_123_450, None),
        Fixed(None, 1),
        Landed(
            "XAUUSD", "USDINR", Decimal("1.25"), Decimal("-0.05"), Decimal("0.3215074657"), "gold", -12_345
        ),
    ],
)
async def test_each_kind_of_pricing_comes_back(
    store: RecordStore, catalogue_follower: CatalogueFollower, catalogue: Catalogue, pricing: Pricing
) -> None:
    symbol = replace(SYMBOL, pricing=pricing, sides=frozenset(Side))

    async def body(records: Records) -> None:
        await records.put_broker(BROKER)
        await records.put_symbol(symbol)

    await store.write("symbol", body)
    await catalogue_follower.catch_up()
    assert catalogue.symbols["main", "GOLD"] == symbol


async def test_a_change_reaches_a_node_that_was_loaded_before(
    store: RecordStore, catalogue_follower: CatalogueFollower, catalogue: Catalogue
) -> None:
    issued = await store.write("create_records", create_records)
    await catalogue_follower.catch_up()

    async def body(records: Records) -> None:
        await records.put_broker(replace(BROKER, hosts=("c.example",)))
        await records.put_switches(replace(SWITCHES, halted=True, trading_hours=None))
        await records.put_symbol(replace(SYMBOL, frozen=True))
        await records.put_group(replace(GROUP, terms={}, default_terms=None))
        client = await records.client("main", "aurum")
        assert client is not None
        await records.update_account(msgspec.structs.replace(client.account, active=False))
        await records.revoke_key(issued, 99)

    await store.write("change", body)
    await catalogue_follower.catch_up()
    assert catalogue.hosts == {"c.example": "main"}
    assert catalogue.switches["main"] == replace(SWITCHES, halted=True, trading_hours=None)
    assert catalogue.symbols["main", "GOLD"].frozen
    assert catalogue.groups["main", "retail"] == replace(GROUP, terms={}, default_terms=None)
    assert [account.active for account in catalogue.accounts.values()] == [False]
    assert catalogue.keys[issued.key_id] == msgspec.structs.replace(issued, revoked_at_us=99)


async def test_only_what_changed_is_read(store: RecordStore, other_engine: Engine) -> None:
    await store.write("create_records", create_records)
    source = StoreSource(other_engine)
    whole = await source.changes(None)
    assert whole.whole
    assert len(whole.entries) == 6
    assert not (await source.changes(whole.version)).entries

    async def body(records: Records) -> None:
        await records.put_switches(replace(SWITCHES, halted=True))

    await store.write("halt", body)
    changes = await source.changes(whole.version)
    assert not changes.whole
    assert list(changes.entries) == [replace(SWITCHES, halted=True)]


async def test_if_nothing_changed_no_transaction_is_opened(store: RecordStore, other_engine: Engine) -> None:
    await store.write("create_records", create_records)
    source = StoreSource(other_engine)
    before = await source.changes(None)
    with patch.object(other_engine, "read", side_effect=AssertionError("a transaction")):
        again = await source.changes(before.version)
        assert (again.version, list(again.entries), again.whole) == (before.version, [], False)
        assert again.clock_us >= before.clock_us
        await store.write("halt", lambda records: records.put_switches(replace(SWITCHES, halted=True)))
        with pytest.raises(AssertionError, match="a transaction"):
            await source.changes(before.version)


async def test_a_node_too_far_behind_reads_everything(
    store: RecordStore, other_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_records, "_CHANGES_KEPT", 500)
    await store.write("create_records", create_records)

    async def body(records: Records) -> None:
        await records.put_switches(SWITCHES)

    source = StoreSource(other_engine)
    for _ in range(999):
        await store.write("again", body)
    assert (await source.changes(499)).whole
    kept = await source.changes(500)
    assert not kept.whole
    assert len(kept.entries) == 1

    async def keep_later(transaction: Transaction) -> None:
        """A broker that was copied here sets a later version than the next cleaning."""
        for version in (600, 501):
            await transaction.run("set_oldest_change", version)

    await other_engine.write("keep_later", keep_later)
    assert (await source.changes(599)).whole
    assert not (await source.changes(600)).whole


async def test_memory_ahead_of_a_restored_store_is_loaded_anew(
    store: RecordStore, other_engine: Engine
) -> None:
    await store.write("create_records", create_records)
    catalogue = Catalogue()
    catalogue.apply(Changes(10**6, 0, [Broker("ghost", "from a newer copy")], whole=True), 0)
    await CatalogueFollower(catalogue, StoreSource(other_engine)).catch_up()
    assert set(catalogue.brokers) == {"main"}
    assert catalogue.version == 1


async def test_the_follower_reads_changes_by_itself_within_a_second(
    store: RecordStore, catalogue_follower: CatalogueFollower, catalogue: Catalogue
) -> None:
    await catalogue_follower.catch_up()
    running = asyncio.create_task(catalogue_follower.run())
    await asyncio.sleep(0.1)
    await store.write("create_records", create_records)
    async with asyncio.timeout(1):
        while not catalogue.keys:
            await asyncio.sleep(0.01)
    assert catalogue.age_s() < 1
    running.cancel()


async def test_the_clock_is_the_stores(
    store: RecordStore, catalogue_follower: CatalogueFollower, catalogue: Catalogue
) -> None:
    await catalogue_follower.catch_up()
    now_us = await store.read("now", lambda records: records.now_us())
    assert abs(catalogue.now_us() - now_us) < 1_000_000


async def test_last_use_is_kept_and_moves_no_version(store: RecordStore, engine: Engine) -> None:
    issued = await store.write("create_records", create_records)
    source = StoreSource(engine)
    version = (await source.changes(None)).version
    clock = iter([100, 300, 200])
    uses = KeyUses(engine, lambda: next(clock))
    for _ in range(3):
        uses.add(issued.key_id)
        await uses.write()
    used = await store.read("key", lambda records: records.key("main", issued.key_id))
    assert used is not None
    assert used.last_used_at_us == 300
    assert (await source.changes(None)).version == version


async def test_of_many_keys_a_share_is_written_each_time(
    store: RecordStore, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that have waited longest, each with the time of its last use."""
    monkeypatch.setattr(key_uses, "_AT_ONCE", 2)
    monkeypatch.setattr(key_uses, "_SHARES", 2)
    first = await store.write("create_records", create_records)
    ids = [first.key_id, *(f"{number:016x}" for number in range(6))]

    async def issue(records: Records) -> None:
        for key_id in ids[1:]:
            await records.insert_key(structs.replace(first, key_id=key_id))

    await store.write("issue", issue)
    clock = count(1)
    uses = KeyUses(engine, lambda: next(clock))

    async def last_used(records: Records) -> list[int | None]:
        found = [await records.key("main", key_id) for key_id in ids]
        return [key.last_used_at_us for key in found if key is not None]

    async def written(used: Sequence[str], *, everything: bool = False) -> list[int | None]:
        for key_id in used:
            uses.add(key_id)
            await uses.write(everything=everything)
        return await store.read("last_used", last_used)

    with monkeypatch.context() as away:
        away.setattr(engine, "write", _refuse)
        assert await written(ids) == [None] * 7
    # Seven wait: four are written, the first of them with the time of its second use.
    assert await written(ids[:1]) == [8, 2, 3, 4, None, None, None]
    # Then four with the one that was used again, which waits behind the three.
    assert await written(ids[1:2]) == [8, 2, 3, 4, 5, 6, None]
    assert await written(ids[2:3], everything=True) == [8, 9, 10, 4, 5, 6, 7]


async def _refuse(*_args: object, **_options: object) -> None:
    raise StoreUnavailable("for this test")


async def test_pages_and_totals(store: RecordStore) -> None:
    async def body(records: Records) -> None:
        await create_records(records)
        for number in range(5):
            await records.insert_account(
                structs.replace(ACCOUNT, login_id=f"client{number}"), Allocation(0, 0)
            )

    await store.write("create_records", body)
    clients, total = await store.read("page", lambda records: records.clients("main", Page(2, 3)))
    assert total == 6
    assert [client.account.login_id for client in clients if isinstance(client, Client)] == [
        "client2",
        "client3",
    ]
    assert await store.read("page", lambda records: records.clients("other", Page(2, 0))) == ([], 0)


async def test_both_books_of_an_account_have_its_allocation(store: RecordStore, engine: Engine) -> None:
    await store.write("create_records", create_records)

    async def raise_it(records: Records) -> None:
        client = await records.client("main", "aurum")
        assert client is not None
        await records.set_allocation(client.account.id, Allocation(70_000, 80_000))

    await store.write("raise", raise_it)
    books = await engine.read("books", lambda transaction: transaction.all("books_of_account", 1))
    assert [(book["environment"], book["gold_limit_e4"], book["silver_limit_e4"]) for book in books] == [
        ("test", 70_000, 80_000),
        ("production", 70_000, 80_000),
    ]
    assert {book["version"] for book in books} == {2}
