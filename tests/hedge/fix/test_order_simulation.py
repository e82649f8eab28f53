"""Orders over a faulty line to a faulty venue, in virtual time: none is executed twice, no outcome misread.

Adapter, session, acceptor and engine are the real ones; sockets, clock and store are in memory.
`TEST_SCALE` multiplies the number of seeds, for a campaign.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from random import Random
from uuid import UUID

import msgspec
import pytest

from bullion.hedge.fix.lease import NotHolder
from bullion.hedge.fix.line_ports import KeptNumbers
from bullion.hedge.fix.pace import Rate
from bullion.hedge.fix.profile import (
    RESETTING,
    OrderIdForm,
    OrderType,
    Profile,
    StatusQuestion,
    TimeInForce,
    UnknownForm,
)
from bullion.hedge.fix.session_effects import Numbers
from bullion.hedge.fix.venue import FixVenue
from bullion.hedge.venue import (
    Confirmed,
    Declined,
    Duplicate,
    FinalAnswer,
    HedgeRequest,
    PartiallyFilled,
    UnknownOrder,
    VenueUnreachable,
)
from bullion.market_demo.exchange import Behaviour, Exchange
from bullion.market_demo.faults import Fault, Faults
from bullion.market_demo.fix_acceptor import FixAcceptor
from bullion.market_demo.session_acceptor import acceptor_settings
from tests.support.fix_venue import contracts, line_of
from tests.support.line_memory import MemoryRecords
from tests.support.scale import SCALE
from tests.support.virtual_time import VirtualLoop, run_virtually

PORT = 9878
CALL_S = 3.0
ORDERS = 60
LINE = {
    Fault.LOST: 0.02, Fault.SWAPPED: 0.02, Fault.HALF: 0.01, Fault.CUT_BEFORE: 0.01, Fault.CUT_AFTER: 0.01,
    Fault.GARBLED: 0.01, Fault.DOUBLED: 0.005, Fault.HUNG_UP: 0.1,
}  # fmt: skip
VENUE = {
    Fault.LATE: 0.1, Fault.TWICE: 0.1, Fault.REORDERED: 0.1, Fault.UNREPORTED: 0.05, Fault.SWALLOWED: 0.05,
    Fault.LAG: 0.1, Fault.QUESTION_SWALLOWED: 0.1, Fault.PARTIAL: 0.1, Fault.SPLIT: 0.2, Fault.REFUSED: 0.1,
    Fault.RATE_LOGOUT: 0.002,
}  # fmt: skip
ODD = {Fault.FOREIGN_ID: 0.05, Fault.TRADE_CANCELLED: 0.05}
STEADY = msgspec.structs.replace(
    RESETTING,
    rate=Rate(count=100),
    order_type=OrderType.MARKET,
    time_in_force=TimeInForce.IOC,
    rate_logout_s=2,
)
SILENT = msgspec.structs.replace(
    STEADY, echoes_question=False, unknown=UnknownForm.REJECT, order_id=OrderIdForm.BASE62
)
KEPT = msgspec.structs.replace(STEADY, reset_on_logon=False)
MASS = msgspec.structs.replace(STEADY, status_question=StatusQuestion.MASS)
NUMBERED = msgspec.structs.replace(STEADY, order_id=OrderIdForm.NUMBER)


class SharedLine:
    """The lease on a line that several living adapters can have, one after the other."""

    def __init__(self) -> None:
        self.owner: Hold | None = None
        self.connections = 0


class Hold:
    """One adapter's hold on a shared line."""

    def __init__(self, line: SharedLine, holder: str) -> None:
        self._line = line
        self.holder = holder

    def take(self) -> None:
        self._line.owner = self

    def held(self) -> bool:
        return self._line.owner is self

    async def begin_connection(self) -> int:
        if not self.held():
            raise NotHolder
        self._line.connections += 1
        return self._line.connections


class KeptInMemory:
    """Kept numbers, as the store has them."""

    def __init__(self) -> None:
        self.row: KeptNumbers | None = None

    async def numbers(self, line: str) -> KeptNumbers | None:
        return self.row

    async def begin_numbers(self, line: str, holder: str, numbers: Numbers) -> None:
        self.row = KeptNumbers(numbers.outgoing, numbers.incoming, 0)

    async def restart_incoming(self, line: str, holder: str) -> None:
        assert self.row is not None
        self.row = msgspec.structs.replace(self.row, incoming=1)

    async def reserve_numbers(self, line: str, holder: str, below: int) -> None:
        assert self.row is not None
        await asyncio.sleep(0.002)
        self.row = msgspec.structs.replace(self.row, outgoing=max(below, self.row.outgoing))

    async def keep_incoming(self, incoming: int) -> None:
        assert self.row is not None
        await asyncio.sleep(0.002)
        self.row = msgspec.structs.replace(self.row, incoming=incoming)


class Simulation:
    def __init__(
        self, loop: VirtualLoop, seed: int, profile: Profile, chances: dict[Fault, float], *, doubles: bool
    ) -> None:
        self.loop = loop
        self.chance = Random(seed)  # noqa: S311
        self.profile = profile
        self.records = MemoryRecords()
        self.kept = KeptInMemory()
        self.faults = Faults(seed, chances)
        self.behaviour = Behaviour(
            refuses_doubles=not doubles,
            unknown_as_reject=profile.unknown is UnknownForm.REJECT,
            echoes_question=profile.echoes_question,
            lag_ms=3_000,
        )
        self.book = sqlite3.connect(":memory:")
        self.answers: dict[str, FinalAnswer] = {}
        self.reported = 0
        self.killed: dict[Callable[[], Awaitable[None]], int] = {self.kill_adapter: 0, self.kill_venue: 0}
        self.final_before = 0
        """How many orders were final when the faults ended."""
        self.settled_s = 0.0
        """How long after the last fault the last order was final."""
        self.line = SharedLine()
        self.start_venue()
        self.start_adapter()
        self.other: tuple[FixVenue, Hold, list[asyncio.Task[None]]] | None = None
        """An adapter that lives, and had the line before."""

    def start_venue(self) -> None:
        exchange = Exchange(self.book, self.faults, self.behaviour)
        settings = acceptor_settings("THEM", "US")
        self.acceptor = FixAcceptor(exchange, self.faults, settings, self.loop.now_us)
        self.loop.servers[PORT] = self.acceptor.accept
        self.acceptor.start_timer()

    def start_adapter(self) -> None:
        self.hold = Hold(self.line, "node")
        self.hold.take()
        options: dict[str, object] = {
            "monotonic": self.loop.time,
            "chance": Random(1),  # noqa: S311
            "holder": self.hold,
        }
        if not self.profile.reset_on_logon:
            options |= {"kept": self.kept, "keep_incoming": self.kept.keep_incoming}
        self.venue = FixVenue(
            line_of(PORT, self.profile),
            self.records,
            contracts,
            self.loop.now_us,
            **options,  # type: ignore[arg-type]
        )
        self.tasks = [
            asyncio.ensure_future(each) for each in (self.venue.run(), self.read_reports(self.venue))
        ]

    async def hand_over(self) -> None:
        """Another adapter takes the line. The next time, the first one has it back, as it was."""
        old = self.venue, self.hold, self.tasks
        if self.chance.random() < 0.5:  # It logs out, or only notices that it has lost the lease.
            self.venue.line.disconnect()
            await asyncio.sleep(self.chance.uniform(0, 0.5))
        if self.other is None:
            self.start_adapter()
        else:
            self.venue, self.hold, self.tasks = self.other
            self.hold.take()
            self.venue.line.connect()
        self.other = old

    async def kill_adapter(self) -> None:
        await self.stop(self.tasks)
        self.venue.lost(0, "killed")
        self.start_adapter()

    async def stop(self, tasks: Sequence[asyncio.Future[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def kill_venue(self) -> None:
        self.loop.servers.pop(PORT)
        await self.acceptor.stop()
        await asyncio.sleep(self.chance.uniform(0, 2))
        self.start_venue()

    async def read_reports(self, venue: FixVenue) -> None:
        async for each in venue.reports():
            self.reported += 1
            self.note(each.order_id, each.answer)

    def note(self, order_id: str, answer: FinalAnswer) -> None:
        assert self.answers.setdefault(order_id, answer) == answer, "a final answer changed"

    async def hedge(self, request: HedgeRequest) -> None:
        """As booking does: send once, then ask, and send again only what the venue does not know."""
        answer: object = await self.call(lambda: self.venue.submit(request))
        pause_s = 0.5
        while not isinstance(answer, Confirmed | Declined | PartiallyFilled):
            if not isinstance(answer, Duplicate):
                await asyncio.sleep(pause_s)
                pause_s = min(4.0, 2 * pause_s)
            if request.order_id in self.answers:
                return
            answer = await self.call(lambda: self.venue.order_status(request))
            if isinstance(answer, UnknownOrder):
                answer = await self.call(lambda: self.venue.submit(request))
        self.note(request.order_id, answer)

    async def call(self, call: Callable[[], Awaitable[object]]) -> object:
        with suppress(VenueUnreachable, TimeoutError):
            async with asyncio.timeout(CALL_S):
                return await call()
        return None

    async def run(self, orders: int, kills: int, orders_per_s: float, handovers: int) -> None:
        requests = [self.request(number) for number in range(orders)]
        span_s = orders / orders_per_s

        async def place(request: HedgeRequest) -> None:
            await asyncio.sleep(self.chance.uniform(0.1, span_s))
            await self.hedge(request)

        hedges = [asyncio.ensure_future(place(each)) for each in requests]
        sides = ([self.kill_adapter, self.kill_venue] * kills)[:kills]
        events: list[Callable[[], Awaitable[None]]] = [*sides, *[self.hand_over] * handovers]
        self.chance.shuffle(events)
        for event in events:
            await asyncio.sleep(self.chance.uniform(0.1, span_s / len(events)))
            if event in self.killed:
                self.killed[event] += 1
            await event()
        await asyncio.sleep(max(0.0, span_s - self.loop.time()))
        self.faults.chances.clear()
        ended_s, self.final_before = self.loop.time(), len(self.answers)
        async with asyncio.timeout(120):
            await asyncio.gather(*hedges)
        self.settled_s = self.loop.time() - ended_s
        await asyncio.sleep(5)
        await self.stop([*self.tasks, *(() if self.other is None else self.other[2])])
        await self.acceptor.stop()
        self.requests = requests

    def request(self, number: int) -> HedgeRequest:
        order_id = str(UUID(int=self.chance.getrandbits(128)))
        side = self.chance.choice(["buy", "sell"])
        grams = self.chance.randint(1, 500)
        return HedgeRequest(order_id, "main", "GOLD", side, grams * 10_000, 7_000_000, "gold", grams * 1_000)

    def problems(self) -> list[str]:
        """The venue's own account against what the adapter answered."""
        found: list[str] = []
        executed = self.acceptor.exchange.executed_orders()
        for request in self.requests:
            stored = self.records.orders.get(request.order_id)
            answer = self.answers.get(request.order_id)
            name = request.order_id if stored is None else stored.order.client_order_id
            deals = executed.get(name, {})
            quantity_e8 = 0 if stored is None else stored.order.quantity_e8
            if len(deals) > 1:
                found.append(f"{name} was executed twice: {deals}")
                continue
            filled_e8 = sum(deals.values())
            if answer is None:
                found.append(f"{name} has no final answer")
            elif _filled_e8(answer, quantity_e8) != filled_e8:
                found.append(f"{name}: {answer} but the venue executed {filled_e8}")
            elif sum(fill.quantity_e8 for fill in getattr(answer, "fills", ())) != filled_e8:
                found.append(f"{name}: the fills of {answer} are not {filled_e8}")
        listed = [each.order_id for each in self.records.listed]
        ours = {each.order.client_order_id: each.order.order_id for each in self.records.orders.values()}
        if sorted(listed) != sorted(ours[name] for name in executed):
            found.append("the list of executions is not what was executed")
        return found


def _filled_e8(answer: FinalAnswer, quantity_e8: int) -> int | None:
    if isinstance(answer, Confirmed):
        return quantity_e8
    if isinstance(answer, Declined):
        return 0
    return sum(each.quantity_e8 for each in answer.fills)


def simulate(
    seed: int,
    profile: Profile = STEADY,
    chances: dict[Fault, float] | None = None,
    *,
    doubles: bool = True,
    kills: int = 2,
    orders: int = ORDERS,
    orders_per_s: float = 10.0,
    handovers: int = 0,
) -> Simulation:
    async def main(loop: VirtualLoop) -> Simulation:
        simulation = Simulation(loop, seed, profile, dict(chances or {}), doubles=doubles)
        await simulation.run(orders, kills, orders_per_s, handovers)
        return simulation

    return run_virtually(seed, main)


@pytest.mark.parametrize("doubles", [False, True], ids=["doubles-refused", "doubles-taken"])
@pytest.mark.parametrize(
    "profile", [STEADY, SILENT, NUMBERED, KEPT, MASS], ids=["steady", "silent", "numbered", "kept", "mass"]
)
def test_nothing_is_executed_twice_and_no_outcome_is_misread(profile: Profile, doubles: bool) -> None:
    happened: set[Fault] = set()
    for seed in range(2 * SCALE):
        forgotten = {} if profile.reset_on_logon else {Fault.NUMBERS_FORGOTTEN: 0.2}
        simulation = simulate(seed, profile, {**LINE, **VENUE, **forgotten}, doubles=doubles)
        assert simulation.problems() == [], f"seed {seed}"
        assert simulation.records.breaks == [], f"seed {seed}"
        happened |= set(simulation.faults.happened)
    assert len(happened) >= 12


def test_one_long_run_with_every_fault_and_many_kills_of_either_side() -> None:
    """In a campaign 6,000 orders, and each side is killed 120 times, at a venue that takes doubled ids.

    There the line is cut less often. Orders that pile up while it is down are sent all at once, and a cut
    after some 28 messages leaves most of them to be asked for. More come than are settled.
    """
    less = 1 if SCALE == 1 else 5
    chances = {fault: chance / less for fault, chance in LINE.items()} | VENUE | ODD
    chances[Fault.NUMBERS_FORGOTTEN] = 0.1
    orders, kills = 300 * SCALE, 12 * SCALE
    simulation = simulate(7, KEPT, chances, kills=kills, orders=orders, orders_per_s=1.5)
    assert simulation.problems() == []
    assert {each.reason.value for each in simulation.records.breaks} <= {"foreign_id", "trade_cancelled"}
    assert len(simulation.faults.happened) >= (len(chances) if SCALE > 1 else 15)
    assert sorted(simulation.killed.values()) == [kills // 2, kills // 2]
    assert simulation.final_before > orders // 2, "the line was up while there were faults"
    assert simulation.settled_s < 40, "the longest pause, and the wait for a lagging engine"
    faults = sum(simulation.faults.happened.values())
    print(f"{orders} orders, {kills} kills, {faults} faults, final {simulation.settled_s:.1f} s after them")


@pytest.mark.parametrize(
    "profile", [STEADY, NUMBERED, KEPT, MASS], ids=["steady", "numbered", "kept", "mass"]
)
def test_adapters_that_live_hand_the_line_over_and_back(profile: Profile) -> None:
    """What the one remembers of before is old: the other has sent orders since, some of them its own."""
    for seed in range(2 * SCALE):
        simulation = simulate(seed, profile, {**LINE, **VENUE, Fault.LAG: 0.4}, kills=1, handovers=8)
        assert simulation.problems() == [], f"seed {seed}"
        assert simulation.records.breaks == [], f"seed {seed}"


def test_the_same_seed_is_the_same_run() -> None:
    one, other = (simulate(5, chances={**LINE, **VENUE}) for _ in range(2))
    assert one.answers == other.answers
    assert one.faults.happened == other.faults.happened
    assert one.reported == other.reported


def test_breaks_are_seen_and_change_no_outcome() -> None:
    simulation = simulate(3, chances=ODD, kills=0)
    assert simulation.problems() == []
    happened = simulation.faults.happened
    reasons = [each.reason.value for each in simulation.records.breaks]
    assert reasons.count("foreign_id") == happened[Fault.FOREIGN_ID] > 0
    assert reasons.count("trade_cancelled") == happened[Fault.TRADE_CANCELLED] > 0


@pytest.mark.parametrize("profile", [STEADY, MASS], ids=["steady", "mass"])
def test_the_checker_finds_what_an_impatient_adapter_does(profile: Profile) -> None:
    """Without the wait for a lagging engine, orders are executed twice at a venue that takes doubled ids."""
    impatient = msgspec.structs.replace(profile, unknown_after_s=0)
    chances = {Fault.LAG: 0.5, Fault.CUT_BEFORE: 0.05}
    runs = [simulate(seed, impatient, chances, kills=1) for seed in range(3 * SCALE)]
    problems = [each for run in runs for each in run.problems()]
    assert any("executed twice" in each for each in problems)
