"""The wishes of the desk, followed by a line over real sockets."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest

from bullion.faults import StoreFault
from bullion.hedge.fix import line_control
from bullion.hedge.fix.line import FixLine
from bullion.hedge.fix.line_control import LineControl, LineReport, LineWish, OpenOrders
from bullion.hedge.fix.profile import KEEPING
from bullion.hedge.fix.session_effects import LineState, Numbers
from tests.support.fix_peer import clock_us, until

from .test_line import Kept, Stage, short_pauses  # noqa: F401 - a fixture

pytestmark = pytest.mark.anyio


class Controls:
    """The store's part, in memory."""

    def __init__(self) -> None:
        self.wish = LineWish()
        self.reports: list[LineReport] = []
        self.fails = False

    async def exchange(
        self, line: str, holder: str, broker: str, report: LineReport | None, reset_done_us: int
    ) -> tuple[LineWish, OpenOrders]:
        if self.fails:
            raise StoreFault("away")
        if report is not None:
            self.reports.append(report)
        if reset_done_us:
            self.wish = msgspec.structs.replace(self.wish, reset_done_us=reset_done_us)
        return self.wish, OpenOrders(2, 1)

    def say(self, **fields: object) -> None:
        self.wish = msgspec.structs.replace(self.wish, **fields)


class Controlled(Stage):
    def __init__(self) -> None:
        super().__init__()
        self.controls = Controls()
        self.held = True

    async def control(self, line: FixLine) -> LineControl:
        control = LineControl(line, self.controls, "one", lambda: self.held, "a node", clock_us)
        await control.begin()
        self.tasks.append(asyncio.ensure_future(control.run()))
        return control

    async def kept_line(self) -> FixLine:
        kept = Kept(Numbers(50, 1))
        return self.line(msgspec.structs.replace(KEEPING, numbers_by_window=False), kept)


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Controlled]:
    monkeypatch.setattr(line_control, "_EVERY_S", 0.02)
    stage = Controlled()
    await stage.peer.start()
    yield stage
    await stage.end()


async def test_it_reports_each_change_and_follows_the_desk(stage: Controlled) -> None:
    line = stage.line()
    control = await stage.control(line)
    await until(lambda: bool(stage.controls.reports) and stage.controls.reports[-1].state == "up")
    report = stage.controls.reports[-1]
    assert (report.held_by, report.venue, report.profile) == ("a node", "THEM", "resetting")
    assert (report.keeps_numbers, report.refused, report.is_open, report.changes_us) == (
        False,
        False,
        True,
        0,
    )
    assert (control.expected, control.orders) == (True, OpenOrders(2, 1))
    stage.controls.say(connected=False, at_us=1)
    await until(lambda: line.state is LineState.RESTING)
    await until(lambda: stage.controls.reports[-1].state == "resting")
    assert not control.expected
    stage.controls.say(connected=True, at_us=2)
    await stage.up(line, logons=2)


async def test_a_line_that_was_disconnected_does_not_connect_at_the_start(stage: Controlled) -> None:
    stage.controls.say(connected=False, at_us=1)
    stage.held = False
    line = FixLine(stage.plan(), stage.owner, clock_us)
    await stage.control(line)
    stage.owner.line = line
    stage.tasks.append(asyncio.ensure_future(line.run()))
    await asyncio.sleep(0.15)
    assert (stage.owner.logons, stage.controls.reports) == ([], [])


async def test_a_reset_is_one_logon_with_new_numbers(stage: Controlled) -> None:
    line = await stage.kept_line()
    await stage.control(line)
    await stage.up(line)
    stage.controls.say(reset_at_us=9)
    await until(lambda: stage.controls.wish.reset_done_us == 9)
    await stage.up(line, logons=2)
    assert line.status().numbers.outgoing < 50
    await asyncio.sleep(0.1)
    assert len(stage.owner.logons) == 2


async def test_only_the_holder_resets(stage: Controlled) -> None:
    stage.held = False
    line = await stage.kept_line()
    await stage.control(line)
    await stage.up(line)
    stage.controls.say(reset_at_us=9)
    await asyncio.sleep(0.1)
    assert len(stage.owner.logons) == 1
    stage.held = True
    await stage.up(line, logons=2)
    await until(lambda: stage.controls.wish.reset_done_us == 9)


async def test_a_store_that_is_away_is_waited_for(stage: Controlled) -> None:
    stage.controls.fails = True
    stage.controls.say(connected=False, at_us=1)
    control = LineControl(await stage.kept_line(), stage.controls, "one", lambda: True, "a node", clock_us)
    beginning = asyncio.ensure_future(control.begin())
    await asyncio.sleep(0.05)
    assert not beginning.done()
    stage.controls.fails = False
    await beginning
    assert control.wish == LineWish(connected=False, at_us=1)
