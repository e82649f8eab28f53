"""The live feed on a real store: one node connects, another takes over, and the desk has its say.

The tests take turns on the engines: what differs between them is told by the tests of rates and controls.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest

from bullion.desk.actions.brokers import put_broker
from bullion.desk.actions.feeds import list_feeds, patch_feed_guard, prefer_source, release_quote
from bullion.desk.actions.health import get_health
from bullion.desk.actions.rates import list_rates, put_rate, unpin_rate
from bullion.desk.actions.undo import undo_change
from bullion.desk.bodies import BrokerBody, FeedGuardBody, PreferBody, RateBody, ReleaseBody
from bullion.desk.conversion import Changes
from bullion.desk.desk import Desk, View
from bullion.desk.price_confirmation import PricesUnconfirmed
from bullion.market_demo.quote_server import QuoteServer, now_us
from bullion.orders.instant import instant_text
from bullion.rates.board import MARKET, Board
from bullion.rates.feeds.live_feed import LiveFeed
from bullion.rates.feeds.live_runner import LiveFeedRunner
from bullion.rates.feeds.source_settings import (
    FeedSettings,
    Fields,
    GuardNumbers,
    SourceInstrument,
    SourceSettings,
)
from bullion.rates.feeds.websocket_source import WebSocketSource
from bullion.rates.follower import BoardFollower
from bullion.rates.tick import Tick
from bullion.records.audit import AuditFilter
from bullion.records.token import Actor, Role
from bullion.refusals.refusal import RefusalError
from bullion.store.engine import Engine
from bullion.store.feed_controls import StoredFeedControls
from bullion.store.rates import StoredRates
from tests.support.feed_status import feed_status

from .desk_over import desk_over

pytestmark = [pytest.mark.anyio, pytest.mark.stacks_in_turn]

WAIT_S = 60.0
DEALER = Actor("dealer", Role.DEALER, "main", first=True)
ADMIN = Actor("admin", Role.ADMIN, "main", first=True)


@pytest.fixture
async def servers() -> AsyncIterator[dict[str, QuoteServer]]:
    """Two sources with the same prices."""
    async with QuoteServer(seed=3, every_s=0.1).open() as one, QuoteServer(seed=3, every_s=0.1).open() as two:
        yield {"one": one, "two": two}


class Node:
    """What a node has of the feed."""

    def __init__(
        self, name: str, engine: Engine, servers: dict[str, QuoteServer], failover_s: int = 1
    ) -> None:
        self.rates = StoredRates(engine)
        self.board = Board()
        self.follower = BoardFollower(self.board, self.rates)
        self.settings = FeedSettings(
            sources=tuple(map(self._source, servers, servers.values())), failover_s=failover_s
        )
        assert list(self.settings.problems()) == []
        self.feed = LiveFeed(self.settings)
        sources = [WebSocketSource(each, None, now_us) for each in self.settings.sources]
        self.runner = LiveFeedRunner(
            self.feed, sources, self.rates, StoredFeedControls(engine), self.board, now_us, name
        )
        self.task: asyncio.Task[None] | None = None

    @staticmethod
    def _source(name: str, server: QuoteServer) -> SourceSettings:
        return SourceSettings(
            name=name,
            kind="websocket",
            url=f"ws://127.0.0.1:{server.port}/quotes",
            instruments=(
                SourceInstrument(instrument="XAUUSD", symbol="XAUUSD", lowest="1000", highest="9999999"),
            ),
            fields=Fields(items="/data", time="/time"),
        )

    async def start(self) -> "Node":
        await self.follower.catch_up()
        self.task = asyncio.create_task(self.runner.run())
        return self

    async def stop(self) -> None:
        if self.task is not None:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)


async def until(wanted: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not await wanted():
            await asyncio.sleep(0.05)


async def published_us(rates: StoredRates) -> int:
    """When the last tick was published; 0: there is none."""
    found = [tick.at_us for broker, tick in (await rates.ticks(None)).ticks if broker == MARKET]
    return max(found, default=0)


async def until_published(rates: StoredRates) -> None:
    before_us = await published_us(rates)

    async def newer() -> bool:
        return await published_us(rates) > before_us

    await until(newer)


@contextmanager
def refused(text: str) -> Iterator[None]:
    with pytest.raises(RefusalError) as error:
        yield
    assert text in f"{error.value.message} {error.value.errors}"


async def row(desk: Desk, source: str) -> View:
    return next((each for each in await list_feeds(desk, DEALER) if each["source"] == source), {})


async def until_row(desk: Desk, source: str, **wanted: object) -> None:
    async def so() -> bool:
        found = await row(desk, source)
        return bool(found) and all(found[name] == value for name, value in wanted.items())

    await until(so)


async def test_one_node_connects_and_another_takes_over(
    engine: Engine, other_engine: Engine, servers: dict[str, QuoteServer]
) -> None:
    first = await Node("first", engine, servers).start()
    await until_published(first.rates)
    second = await Node("second", other_engine, servers).start()
    await until_published(first.rates)
    assert (first.runner.holding, second.runner.holding) == (True, False)
    assert [len(each.lines) for each in servers.values()] == [1, 1]
    await first.stop()
    assert not first.runner.holding
    await until_published(second.rates)
    assert second.runner.holding
    assert [len(each.lines) for each in servers.values()] == [1, 1]
    await second.stop()


async def test_a_node_that_lost_its_lease_disconnects(
    engine: Engine, servers: dict[str, QuoteServer]
) -> None:
    node = await Node("first", engine, servers).start()
    await until_published(node.rates)
    await engine.write("steal", lambda open_: open_.run("take_lease", "feed", "thief", 2**60, 2**60))

    async def disconnected() -> bool:
        return not node.runner.holding and all(not each.lines for each in servers.values())

    await until(disconnected)
    before_us = await published_us(node.rates)
    await asyncio.sleep(0.6)  # Longer than it takes to ask for the lease again.
    assert await published_us(node.rates) == before_us
    await node.stop()


async def test_a_source_that_is_cut_is_replaced_and_returns(
    engine: Engine, servers: dict[str, QuoteServer]
) -> None:
    desk = await opened(engine)
    node = await Node("first", engine, servers).start()
    await until_row(desk, "one", chosen=True, state="good")
    servers["one"].set_fault("cut")
    await until_row(desk, "two", chosen=True, published=True)
    assert (await row(desk, "one"))["state"] == "away"
    assert "one" in {each["name"] for each in await get_health(desk, DEALER)}
    servers["one"].set_fault("none")
    await until_row(desk, "one", state="good")
    assert (await row(desk, "two"))["chosen"]  # `return_s` is not over.
    await prefer_source(desk, DEALER, "one", PreferBody(instrument="XAUUSD"))
    await until_row(desk, "one", chosen=True, preferred=True)
    await prefer_source(desk, DEALER, "one", PreferBody(instrument="XAUUSD", end=True))
    await until_row(desk, "one", preferred=False)
    await node.stop()


async def test_another_node_goes_on_with_the_source_chosen_last(
    engine: Engine, other_engine: Engine, servers: dict[str, QuoteServer]
) -> None:
    desk = await opened(engine)
    first = await Node("first", engine, servers).start()
    await until_row(desk, "one", chosen=True, published=True)
    servers["one"].set_fault("cut")
    await until_row(desk, "two", chosen=True, published=True)
    await first.stop()
    servers["one"].set_fault("none")
    second = await Node("second", other_engine, servers, failover_s=60).start()
    await until_published(second.rates)
    await until_row(desk, "one", state="good")
    assert second.runner.holding
    assert second.feed.status("second", now_us()).instruments[0].source == "two"
    assert second.feed.switches == 0
    await second.stop()


async def test_faults_are_not_published_but_counted_and_shown(
    engine: Engine, servers: dict[str, QuoteServer]
) -> None:
    desk = await opened(engine)
    node = await Node("first", engine, {"one": servers["one"]}).start()
    faults = {
        "nan": "unreadable",
        "negative": "sides",
        "crossed": "sides",
        "old": "time",
        "thousand": "spike",
    }
    for fault, reason in faults.items():
        await until_row(desk, "one", state="good")
        before = (await row(desk, "one"))["drops"].get(reason, 0)
        servers["one"].set_fault(fault)

        async def dropped(reason: str = reason, most: int = before + 5) -> bool:
            return bool((await row(desk, "one"))["drops"].get(reason, 0) > most)

        await until(dropped)
        found = await row(desk, "one")
        assert found["state"] == ("held" if fault == "thousand" else "bad")
        assert not found["published"]
        level = [tick.bid_e6 for broker, tick in (await node.rates.ticks(None)).ticks if broker == MARKET]
        assert all(4_000_000_000 < bid_e6 < 6_000_000_000 for bid_e6 in level)
        servers["one"].set_fault("none")
    await node.stop()


async def test_the_desk_releases_what_it_saw(engine: Engine, servers: dict[str, QuoteServer]) -> None:
    desk = await opened(engine)
    node = await Node("first", engine, {"one": servers["one"]}).start()
    await until_row(desk, "one", state="good")
    with refused("No quote of XAUUSD from one is held"):
        await release_quote(desk, DEALER, "one", ReleaseBody(instrument="XAUUSD", bid="1", ask="2"))
    servers["one"].set_fault("thousand")
    await until_row(desk, "one", state="held")

    async def shown() -> bool:
        lights = {each["name"]: (each["state"], each["text"]) for each in await get_health(desk, DEALER)}
        state, text = lights.get("XAUUSD at one", ("", ""))
        assert not text or re.fullmatch(r"held: (\d\d,\d\d,\d{3}(\.\d*[1-9])?( / |$)){2}", text), text
        return bool(state == "bad")

    await until(shown)
    held = (await row(desk, "one"))["held"]
    await release_quote(
        desk, DEALER, "one", ReleaseBody(instrument="XAUUSD", bid=held["bid"], ask=held["ask"])
    )
    await until_row(desk, "one", published=True)
    (found,) = await list_rates(desk, DEALER)
    assert float(found["bid"]) > 4_000_000
    await node.stop()


async def test_who_may_do_what(engine: Engine) -> None:
    desk, viewer = await opened(engine), Actor("viewer", Role.VIEWER, "main", first=True)
    prefer = PreferBody(instrument="XAUUSD")
    assert await list_feeds(desk, viewer) == []
    with refused("dealer"):
        await prefer_source(desk, viewer, "one", prefer)
    with refused("No node runs a live feed"):
        await prefer_source(desk, DEALER, "one", prefer)
    with refused("admin"):
        await patch_feed_guard(desk, DEALER, "XAUUSD", Changes(FeedGuardBody, {"spike_bps": 10}))


async def test_who_ends_a_preference_ends_no_other(engine: Engine) -> None:
    """Somebody has preferred another source since the dialog was opened, or the list was read."""
    desk, controls = await opened(engine), StoredFeedControls(engine)

    async def preferred() -> str | None:
        held = (await controls.exchange(feed_status())).preferences.get("GOLD")
        return None if held is None else held.source

    assert await preferred() is None
    end = PreferBody(instrument="GOLD", end=True)
    await prefer_source(desk, DEALER, "vendor-a", PreferBody(instrument="GOLD"))
    await prefer_source(desk, ADMIN, "vendor-b", PreferBody(instrument="GOLD"))
    with refused("GOLD prefers vendor-b now, not vendor-a. Nothing was changed."):
        await prefer_source(desk, DEALER, "vendor-a", end)
    assert await preferred() == "vendor-b"
    await prefer_source(desk, DEALER, "vendor-b", end)
    assert await preferred() is None
    # Repeated, it does no harm.
    await prefer_source(desk, DEALER, "vendor-b", end)


async def test_guard_numbers_of_the_desk_reach_the_feed(
    engine: Engine, servers: dict[str, QuoteServer]
) -> None:
    desk = await opened(engine)
    changed = await patch_feed_guard(desk, ADMIN, "XAUUSD", Changes(FeedGuardBody, {"width_bps": 10}))
    assert (changed["width_bps"], changed["spike_bps"]) == (10, 75)
    servers["one"].set_fault("wide")  # By 50 bps, which the default allows.
    node = await Node("first", engine, servers).start()

    async def too_wide() -> bool:
        return bool((await row(desk, "one")).get("drops", {}).get("width", 0) > 0)

    await until(too_wide)
    await node.stop()


async def test_guard_numbers_of_the_desk_begin_from_those_of_the_market_file(engine: Engine) -> None:
    desk = await opened(engine)
    gold = SourceInstrument(instrument="XAUUSD", symbol="X")
    source = SourceSettings(name="one", kind="http", url="http://127.0.0.1:1", instruments=(gold,))
    feed = LiveFeed(FeedSettings(sources=(source,), guards={"XAUUSD": GuardNumbers(spike_bps=300)}))
    await StoredFeedControls(engine).exchange(feed.status("a node", now_us()))
    changed = await patch_feed_guard(desk, ADMIN, "XAUUSD", Changes(FeedGuardBody, {"width_bps": 10}))
    assert (changed["width_bps"], changed["spike_bps"]) == (10, 300)
    changed = await patch_feed_guard(desk, ADMIN, "OTHER", Changes(FeedGuardBody, {"width_bps": 10}))
    assert changed["spike_bps"] == GuardNumbers().spike_bps


async def test_a_pinned_rate_holds_against_the_feed(engine: Engine, servers: dict[str, QuoteServer]) -> None:
    desk = await opened(engine)
    node = await Node("first", engine, servers).start()
    await until_published(node.rates)
    until_us = now_us() + 3600 * 1_000_000
    rate = RateBody(bid="4700", ask="4701", pin_until=instant_text(until_us))
    done = await put_rate(desk, DEALER, "XAUUSD", rate)
    assert (done["taken"], done["source"], done["pinned_until"]) == (True, "desk", instant_text(until_us))
    await until_published(node.rates)
    await node.follower.catch_up()
    tick = node.board.tick("main", "XAUUSD")
    assert tick is not None
    assert (tick.bid_e6, tick.pinned_until_us) == (4_700_000_000, until_us)
    ended = await unpin_rate(desk, DEALER, "XAUUSD")
    assert (ended["source"], ended["pinned_until"]) == ("feed", None)
    with refused("is not pinned"):
        await unpin_rate(desk, DEALER, "XAUUSD")
    await node.follower.catch_up()
    tick = node.board.tick("main", "XAUUSD")
    assert tick is not None
    assert tick.bid_e6 > 4_750_000_000
    await node.stop()


async def fed(engine: Engine, bid: int) -> Desk:
    """With a rate of the feed."""
    desk, at_us = await opened(engine), now_us()
    ask = bid + 1
    assert await StoredRates(engine).publish(
        "a node", 60, [Tick("XAUUSD", bid * 1_000_000, ask * 1_000_000, at_us, at_us)]
    )
    return desk


async def test_the_end_of_a_pin_that_moves_prices_far_asks(engine: Engine) -> None:
    desk, until = await fed(engine, 4800), instant_text(now_us() + 3600 * 1_000_000)
    await put_rate(desk, DEALER, "XAUUSD", RateBody(bid="4700", ask="4701", pin_until=until))
    at_us = now_us()
    await StoredRates(engine).publish(
        "a node", 60, [Tick("XAUUSD", 5_000_000_000, 5_001_000_000, at_us, at_us)]
    )
    with pytest.raises(PricesUnconfirmed) as asked:
        await unpin_rate(desk, DEALER, "XAUUSD")
    shown = [(row["old"], row["new"], row["problems"]) for row in asked.value.fields["preview"]]
    assert shown == [("4701.00", "5001.00", ["move"]), ("4700.00", "5000.00", ["move"])]
    assert (await list_rates(desk, DEALER))[0]["source"] == "desk"
    ended = await unpin_rate(desk, DEALER, "XAUUSD", confirm=asked.value.fields["fingerprint"])  # type: ignore[call-arg]
    assert (ended["source"], ended["bid"]) == ("feed", "5000.000000")
    assert "undo" not in ended


async def test_a_pinned_rate_that_is_put_back_is_pinned_again(engine: Engine) -> None:
    desk, until = await fed(engine, 4800), instant_text(now_us() + 3600 * 1_000_000)
    await put_rate(desk, DEALER, "XAUUSD", RateBody(bid="4700", ask="4701", pin_until=until))
    await put_rate(desk, DEALER, "XAUUSD", RateBody(bid="4790", ask="4791", pin_until=until))
    last = AuditFilter(2**62, 1, action="put_rate")
    (slip,) = await desk.store.read("audit", lambda records: records.audit_matching("main", last, 1))
    back = await undo_change(desk, DEALER, str(slip.ordinal))
    assert (back["bid"], back["source"], back["pinned_until"]) == ("4700.000000", "desk", until)


@pytest.mark.parametrize("ahead_s", [-1, 8 * 86_400])
async def test_the_end_of_a_pin_is_in_the_next_days(engine: Engine, ahead_s: int) -> None:
    desk = await opened(engine)
    rate = RateBody(bid="1", ask="2", pin_until=instant_text(now_us() + ahead_s * 1_000_000))
    with refused("pin_until"):
        await put_rate(desk, DEALER, "XAUUSD", rate)


async def opened(engine: Engine) -> Desk:
    """With a broker."""
    desk = desk_over(engine)
    await put_broker(desk, ADMIN, "main", BrokerBody(name="main"))
    return desk
