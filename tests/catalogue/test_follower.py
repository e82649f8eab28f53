"""The catalogue_follower: who asks shares answers but never an old one, and no fault of the store ends it."""

import asyncio

import pytest

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.clients import Clients
from bullion.catalogue.follower import CatalogueFollower
from bullion.catalogue.source import NO_EXTRA_READS, Changes, Entry, ExtraReads
from bullion.environment import Environment
from bullion.faults import StoreUnavailable
from bullion.keys.key import Key

pytestmark = pytest.mark.anyio


class Source:
    """A store that answers when it is let to, or fails as it is told."""

    def __init__(self) -> None:
        self.version = 1
        self.asked = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.faults: list[Exception] = []
        self.wanted: list[ExtraReads] = []
        self.pages: list[int | None] = []
        self.waits = 0

    async def changes(self, since: int | None, wanted: ExtraReads = NO_EXTRA_READS) -> Changes:
        self.asked += 1
        self.wanted.append(wanted)
        version = self.version
        await self.gate.wait()
        if self.faults:
            raise self.faults.pop(0)
        page = self.pages.pop(0) if self.pages else None
        entries = [Broker("main", f"at {version}")]
        return Changes(version, 0, entries, whole=since is None, page_ends_at=page)

    async def wait_for_change(self, timeout_s: float) -> None:
        self.waits += 1
        await asyncio.sleep(0.01)


async def test_those_who_ask_while_a_question_is_out_share_the_next_answer() -> None:
    source, catalogue = Source(), Catalogue()
    catalogue_follower = CatalogueFollower(catalogue, source)
    await asyncio.gather(*(catalogue_follower.catch_up() for _ in range(50)))
    assert source.asked == 2
    assert catalogue.brokers["main"].name == "at 1"


async def test_nobody_is_given_an_answer_older_than_the_question() -> None:
    source, catalogue = Source(), Catalogue()
    catalogue_follower = CatalogueFollower(catalogue, source)
    source.gate.clear()
    early = asyncio.create_task(catalogue_follower.catch_up())
    await asyncio.sleep(0.01)
    source.version = 2  # Committed after the first question was put, before the second.
    late = [asyncio.create_task(catalogue_follower.catch_up()) for _ in range(10)]
    await asyncio.sleep(0.01)
    source.gate.set()
    await asyncio.gather(early, *late)
    assert catalogue.brokers["main"].name == "at 2"
    assert source.asked == 2


async def test_a_fault_reaches_who_asked() -> None:
    source = Source()
    source.faults = [StoreUnavailable("gone")]
    catalogue_follower = CatalogueFollower(Catalogue(), source)
    with pytest.raises(StoreUnavailable):
        await catalogue_follower.catch_up()
    await catalogue_follower.catch_up()


async def test_neither_a_fault_nor_an_unreadable_row_ends_the_keeping() -> None:
    source, catalogue = Source(), Catalogue()
    source.faults = [StoreUnavailable("gone"), ValueError("an unreadable row"), StoreUnavailable("gone")]
    running = asyncio.create_task(CatalogueFollower(catalogue, source).run())
    async with asyncio.timeout(5):
        while not catalogue.loaded:
            await asyncio.sleep(0.01)
    assert not source.faults
    assert not running.done()
    running.cancel()
    await asyncio.wait([running])


async def test_an_answer_that_was_overtaken_changes_nothing() -> None:
    catalogue = Catalogue()
    catalogue.apply(Changes(5, 0, [Broker("main", "new")]), 0)
    catalogue.apply(Changes(4, 0, [Broker("main", "old")]), 0)
    assert catalogue.version == 5
    assert catalogue.brokers["main"].name == "new"


async def test_an_answer_that_fails_halfway_moves_the_serial(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was worked out from memory before must not be used with the half that was applied."""
    catalogue = Catalogue()
    catalogue.apply(Changes(1, 0, [Broker("main", "at 1")], whole=True), 0)
    before, put = catalogue.serial, catalogue._put

    def fails(entry: Entry) -> None:
        put(entry)
        raise ValueError("halfway")

    monkeypatch.setattr(catalogue, "_put", fails)
    with pytest.raises(ValueError, match="halfway"):
        catalogue.apply(Changes(2, 0, [Broker("main", "at 2")]), 1)
    assert (catalogue.brokers["main"].name, catalogue.serial) == ("at 2", before + 1)


async def test_memory_that_was_never_loaded_is_as_old_as_can_be() -> None:
    catalogue = Catalogue()
    assert not catalogue.loaded
    assert catalogue.age_s() == float("inf")
    assert catalogue.older_than(10**18)


async def test_an_answer_that_was_long_on_its_way_does_not_set_the_clock_back() -> None:
    now_ns = 5_000_000_000
    catalogue = Catalogue(lambda: now_ns)
    asked_at_ns, now_ns = now_ns, now_ns + 10_000_000_000  # Stopped for ten seconds before it was read.
    catalogue.apply(Changes(1, 1_800_000_000_000_000, [], whole=True), asked_at_ns)
    assert catalogue.now_us() == 1_800_000_000_000_000 + 10_000_000


async def test_a_question_that_was_long_on_its_way_does_not_set_the_clock_ahead() -> None:
    now_ns = 5_000_000_000
    catalogue = Catalogue(lambda: now_ns)
    catalogue.apply(Changes(1, 1_800_000_000_000_000, [], whole=True), now_ns)
    asked_at_ns, now_ns = now_ns, now_ns + 4_000_000_000  # It waited for a connection of the pool.
    catalogue.apply(Changes(1, 1_800_000_004_000_000, []), asked_at_ns)
    assert catalogue.now_us() == 1_800_000_004_000_000


@pytest.mark.parametrize("step_us", [-60_000_000, 60_000_000])
async def test_the_clock_follows_one_that_was_set(step_us: int) -> None:
    """As after a failover: by the nearest time that the answer allows."""
    now_ns = 5_000_000_000
    catalogue = Catalogue(lambda: now_ns)
    catalogue.apply(Changes(1, 1_800_000_000_000_000, [], whole=True), now_ns)
    asked_at_ns, now_ns = now_ns, now_ns + 10_000_000
    catalogue.apply(Changes(1, 1_800_000_000_000_000 + step_us, []), asked_at_ns)
    assert abs(catalogue.now_us() - 1_800_000_000_000_000 - step_us) <= 10_000


async def test_those_who_look_for_keys_at_once_share_a_question() -> None:
    source = Source()
    catalogue_follower = CatalogueFollower(Catalogue(), source)
    await asyncio.gather(*(catalogue_follower.look_up(f"{number:016x}") for number in range(50)))
    assert source.asked == 2
    assert {key_id for each in source.wanted for key_id in each.keys} == {f"{n:016x}" for n in range(50)}


async def test_a_key_is_asked_for_by_a_question_put_after_it_was_wanted() -> None:
    source = Source()
    catalogue_follower = CatalogueFollower(Catalogue(), source)
    source.gate.clear()
    early = asyncio.create_task(catalogue_follower.catch_up())
    await asyncio.sleep(0.01)
    late = asyncio.create_task(catalogue_follower.look_up("a"))
    await asyncio.sleep(0.01)
    assert source.asked == 1
    source.gate.set()
    await asyncio.gather(early, late)
    assert [list(each.keys) for each in source.wanted] == [[], ["a"]]


async def test_who_looks_for_a_key_is_told_of_the_fault_and_is_forgotten() -> None:
    source = Source()
    catalogue_follower = CatalogueFollower(Catalogue(), source)
    source.faults = [StoreUnavailable("gone")]
    with pytest.raises(StoreUnavailable):
        await catalogue_follower.look_up("a")
    await catalogue_follower.look_up_account(7)
    assert [list(each.keys) for each in source.wanted] == [["a"], []]
    assert list(source.wanted[-1].accounts) == [7]


class Callers:
    """A store of keys that takes a moment to answer."""

    async def changes(self, since: int | None, wanted: ExtraReads = NO_EXTRA_READS) -> Changes:
        await asyncio.sleep(0.001)
        found: list[Entry] = []
        for key_id in wanted.keys:
            number = int(key_id, 16)
            found += [
                Account(number, "main", f"c{number}", None, "retail", True, True, True),  # noqa: FBT003
                Key(key_id, "main", number, Environment.TEST, "k", frozenset(), bytes(32), (), 0),
            ]
        return Changes(1, 0, found, whole=since is None)

    async def wait_for_change(self, timeout_s: float) -> None:
        raise AssertionError("nobody follows it")


async def test_a_key_that_was_looked_up_is_there_when_its_caller_looks() -> None:
    """Memory has room for four. Some call in the moment in which the read for others begins."""
    catalogue = Catalogue(clients=Clients(8))
    follower = CatalogueFollower(catalogue, Callers())
    await follower.catch_up()

    async def call(number: int) -> bool:
        await asyncio.sleep(number * 0.0007)
        await follower.look_up(f"{number:016x}")
        return f"{number:016x}" in catalogue.keys

    assert all(await asyncio.gather(*map(call, range(1, 300))))
    await asyncio.gather(*(follower.look_up(f"{1:016x}") for _ in range(3)))
    assert not follower._keys


async def test_memory_is_filled_without_waiting_for_a_change() -> None:
    source, catalogue = Source(), Catalogue()
    source.pages = [500, 1000, 1500]
    running = asyncio.create_task(CatalogueFollower(catalogue, source).run())
    async with asyncio.timeout(5):
        while not catalogue.clients.complete:
            await asyncio.sleep(0.001)
    assert [each.after for each in source.wanted[:4]] == [None, 500, 1000, 1500]
    assert source.waits <= 2
    running.cancel()
    await asyncio.wait([running])
