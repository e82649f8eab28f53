"""The data that pages show of a broker, read once for all pages that are open."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic, time
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from bullion.accounts.broker import Broker
from bullion.accounts.switches import DEFAULT_ZONE
from bullion.desk.actions import breaks, health, hedge, price_history, quotes, switches, traces
from bullion.desk.desk import Desk, View
from bullion.desk.unreadable import read_or_unreadable
from bullion.environment import Environment
from bullion.metals.rupees import paise
from bullion.records.page import Page
from bullion.records.token import Actor, Role
from bullion.refusals.catalogue import PRODUCTION_PREREQUISITES_UNMET

from .shared_read import EVERY_S, SLOWER_S, Reading, SharedRead

T = TypeVar("T")
Listed = tuple[list[View], int]
Probe = Callable[[], Awaitable[str | None]]
"""Says what is wrong with the trading API; None: it answers."""

_SYMBOLS_MAX = 200
_QUEUE_SHOWN = 100
_SHARED_MAX = 500
"""How many reads of single things, such as one order or one search, are kept."""
HISTORY_S = 3600
"""How far back the small charts of rates go."""
_HISTORY_EVERY_S = 15
"""The store has a new point of them once a minute; the current price is added to each read of the quotes."""
MINUTES = traces.MINUTES_USUAL
"""How far back the counts of orders go."""
_E4_PER_PAISA = 100


@dataclass(frozen=True, slots=True)
class FrameState:
    """What the frame of every page shows: the broker, the switches, and whether all is well."""

    broker: str
    switches: Reading[View]
    api: Reading[str]
    """Its value says what is wrong with the API, and is empty while it answers."""
    opening: Reading[View]
    """Whether the market is open by its trading hours, and when that changes."""
    health: Reading[list[View]]
    """A light for each part that orders need."""
    refused: int | None = None
    """Live orders that were refused lately because of the venue. None: it is well, or this is not known."""
    queue: Reading[Listed] = field(default_factory=Reading)
    """The orders that wait for the venue or the desk."""

    @property
    def zone(self) -> ZoneInfo:
        hours = None if self.switches.value is None else self.switches.value["trading_hours"]
        return DEFAULT_ZONE if hours is None else ZoneInfo(hours["zone"])


class BrokerWatch:
    def __init__(self, desk: Desk, probe: SharedRead[str]) -> None:
        self._api = probe
        self._desk = desk
        self.price_history: dict[str, list[tuple[int, int]]] = {}
        """By symbol: times in seconds with the middle price in ten-thousandths of a rupee, oldest first."""
        self._stored_history: dict[str, list[tuple[int, int]]] = {}
        self._history_due_at = 0.0
        self._through: int | None = None
        self._counts: dict[tuple[str, str, str], int] = {}
        self._kept: OrderedDict[Hashable, SharedRead[Any]] = OrderedDict()
        self.switches: SharedRead[View] = SharedRead(lambda actor: switches.get_switches(desk, actor))
        self.opening: SharedRead[View] = SharedRead(lambda actor: switches.get_opening(desk, actor), SLOWER_S)
        self.health: SharedRead[list[View]] = SharedRead(lambda actor: health.get_health(desk, actor))
        self.broker: SharedRead[str] = SharedRead(self._read_broker, every_s=10)
        self.quotes: SharedRead[Listed] = SharedRead(self._read_quotes)
        self.day_summaries: SharedRead[dict[str, View]] = SharedRead(self._read_days, every_s=5)
        self.queue: SharedRead[Listed] = SharedRead(
            lambda actor: hedge.list_queue(desk, actor, Page(_QUEUE_SHOWN, 0))
        )
        self.breaks: SharedRead[Listed] = SharedRead(
            lambda actor: breaks.list_breaks(desk, actor, Page(_QUEUE_SHOWN, 0)), SLOWER_S
        )
        self.exposure: SharedRead[list[View]] = SharedRead(
            lambda actor: hedge.get_exposure(desk, actor), SLOWER_S
        )
        self.activity: SharedRead[list[View]] = SharedRead(self._read_activity, SLOWER_S)

    @property
    def _reads(self) -> tuple[SharedRead[View] | SharedRead[Listed] | SharedRead[list[View]], ...]:
        return (
            self.switches,
            self.opening,
            self.health,
            self.quotes,
            self.queue,
            self.breaks,
            self.exposure,
            self.activity,
        )

    def shared(
        self, key: Hashable, read: Callable[[Desk, Actor], Awaitable[T]], every_s: float = EVERY_S
    ) -> SharedRead[T]:
        """The read of one thing, such as a filtered list or an order, for everybody who looks at it.

        `key` identifies it among all reads of the broker.
        """
        known = self._kept.get(key)
        if known is None:
            known = self._kept[key] = SharedRead(lambda actor: read(self._desk, actor), every_s)
        self._kept.move_to_end(key)
        while len(self._kept) > _SHARED_MAX:
            self._kept.popitem(last=False)
        return known

    async def frame_state(self, actor: Actor) -> FrameState:
        switches = await self.switches.get(actor)
        broker = await self.broker.get(actor)
        # Together: while the store hangs, a page waits once for both.
        opening, queue = await asyncio.gather(self.opening.get(actor), self.queue.get(actor))
        return FrameState(
            broker=broker.value or actor.broker,
            switches=switches,
            api=await self._api.get(actor),
            opening=opening,
            health=await self.health.get(actor),
            queue=queue,
            refused=await self._refused_by_venue(actor),
        )

    async def _refused_by_venue(self, actor: Actor) -> int | None:
        """Counted only while the venue is down: then it is the likely reason."""
        lights = self.health.reading.value or []
        if not any(each["part"] == health.VENUE and each["state"] == health.ACT_NOW for each in lights):
            return None
        counts = (await self.activity.get(actor)).value
        unmet = (Environment.PRODUCTION.value, PRODUCTION_PREREQUISITES_UNMET.code)
        return (
            None
            if counts is None
            else sum(each["count"] for each in counts if (each["environment"], each["outcome"]) == unmet)
        )

    def expire(self) -> None:
        """Data was changed: the next request of any page reads it again."""
        for each in (*self._reads, *self._kept.values()):
            each.expire()

    async def stop(self) -> None:
        for each in (*self._reads, self.broker, self.day_summaries, *self._kept.values()):
            await each.stop()

    async def _read_broker(self, actor: Actor) -> str:
        reading = self._desk.store.read("broker", lambda records: records.broker(actor.broker))
        broker = await read_or_unreadable(reading)
        return broker.name if isinstance(broker, Broker) else actor.broker

    async def _read_quotes(self, actor: Actor) -> Listed:
        listed = await quotes.list_quotes(self._desk, actor, Page(_SYMBOLS_MAX, 0))
        if monotonic() >= self._history_due_at:
            self._stored_history = await price_history.last_hour(self._desk, actor)
            self._history_due_at = monotonic() + _HISTORY_EVERY_S
        now_s = int(time())
        self.price_history = {
            each["symbol_code"]: [*self._stored_history.get(each["symbol_code"], ()), *_current(each, now_s)]
            for each in listed[0]
        }
        return listed

    async def _read_days(self, actor: Actor) -> dict[str, View]:
        found = await price_history.day_summaries(self._desk, actor)
        return {each["symbol_code"]: each for each in found}

    async def _read_activity(self, actor: Actor) -> list[View]:
        """Adds what is new since the last read, and drops what is too old."""
        counted = await traces.count_traces(self._desk, actor, MINUTES, self._through)
        self._through = counted["through"]
        for each in counted["items"]:
            kind = (each["minute"], each["environment"], each["outcome"])
            self._counts[kind] = self._counts.get(kind, 0) + each["count"]
        oldest = (datetime.now(UTC) - timedelta(minutes=MINUTES + 1)).isoformat()
        self._counts = {kind: count for kind, count in self._counts.items() if kind[0] > oldest}
        return [
            {"minute": minute, "environment": environment, "outcome": outcome, "count": count}
            for (minute, environment, outcome), count in sorted(self._counts.items())
        ]


def _current(quote: View, now_s: int) -> list[tuple[int, int]]:
    """The price of this moment, as a point of a small chart."""
    sides = [paise(quote[side]) for side in ("bid", "ask") if quote[side]]
    if quote["state"] != quotes.LIVE or not sides:
        return []
    return [(now_s, sum(sides) * _E4_PER_PAISA // len(sides))]


class Watches:
    """The data of each broker that somebody is logged in for."""

    def __init__(self, desk: Desk, first_broker: str, probe: Probe) -> None:
        """`first_broker` is the one that the log-in page names."""
        self._desk = desk
        self._first_broker = first_broker
        self._brokers: dict[str, BrokerWatch] = {}

        async def probe_api(_actor: Actor) -> str:
            return await probe() or ""

        self._api: SharedRead[str] = SharedRead(probe_api)

    def of(self, broker: str) -> BrokerWatch:
        found = self._brokers.get(broker)
        if found is None:
            found = self._brokers[broker] = BrokerWatch(self._desk, self._api)
        return found

    async def first_broker_name(self) -> str:
        return await self.broker_name(Actor("nobody", Role.VIEWER, self._first_broker))

    async def broker_name(self, actor: Actor) -> str:
        """Its tag while the store cannot be read."""
        return (await self.of(actor.broker).broker.get(actor)).value or actor.broker

    async def stop(self) -> None:
        for watch in self._brokers.values():
            await watch.stop()
        await self._api.stop()
