"""What is said about lines in the store, and what the desk asks of them."""

import time

import pytest

from bullion.hedge.fix.lease import LineHolder
from bullion.hedge.fix.line_control import LineWish, OpenOrders
from bullion.store.engine import Engine
from bullion.store.fix_lines import StoredLines
from bullion.store.line_states import ReportedLine, StoredLineControls
from bullion.store.records import Records, RecordStore
from tests.booking.fixtures import rows
from tests.support.line_state import line_report

pytestmark = pytest.mark.anyio
REPORT = line_report()


@pytest.fixture
def controls(engine: Engine) -> StoredLineControls:
    return StoredLineControls(engine)


async def listed(engine: Engine, broker: str = "main") -> list[ReportedLine]:
    return await RecordStore(engine).read("lines", lambda records: records.lines(broker))


async def test_only_the_holder_reports_and_its_broker_alone_sees_it(
    controls: StoredLineControls, engine: Engine
) -> None:
    lines = StoredLines(engine)
    await lines.take("spot", LineHolder("one", "", ""), 30)
    assert await controls.exchange("spot", "one", "main", REPORT, 0) == (LineWish(), OpenOrders())
    await controls.exchange("spot", "two", "main", line_report(state="waiting"), 0)
    assert await listed(engine) == [ReportedLine("spot", REPORT, LineWish(), OpenOrders())]
    assert await listed(engine, "other") == []
    await rows(engine, "UPDATE line_states SET report = '{}'")
    assert await listed(engine) == [], "what another version wrote"


async def test_wishes_are_kept_and_a_reset_is_done_once(controls: StoredLineControls, engine: Engine) -> None:
    async def wish(done_us: int = 0) -> LineWish:
        return (await controls.exchange("spot", "one", "main", None, done_us))[0]

    async def say(records: Records) -> None:
        await records.wish_line_connected("spot", 5, connected=False)
        await records.wish_line_reset("spot", 7)

    await RecordStore(engine).write("wish", say, catalogue=False)
    assert await wish() == LineWish(connected=False, at_us=5, reset_at_us=7)
    assert await wish(7) == LineWish(connected=False, at_us=5, reset_at_us=7, reset_done_us=7)
    assert (await wish(6)).reset_done_us == 7

    async def again(records: Records) -> None:
        await records.wish_line_connected("spot", 8, connected=True)
        await records.wish_line_reset("silver", 9)

    await RecordStore(engine).write("wish", again, catalogue=False)
    assert await wish() == LineWish(connected=True, at_us=8, reset_at_us=7, reset_done_us=7)
    silver, _ = await controls.exchange("silver", "one", "main", None, 0)
    assert silver == LineWish(connected=True, at_us=9, reset_at_us=9)


async def test_orders_without_an_outcome_are_counted(controls: StoredLineControls, engine: Engine) -> None:
    now_us = time.time_ns() // 1000
    for number, (state, ago_s, answer) in enumerate(
        [("sent", 0, "NULL"), ("sent", 60, "NULL"), ("unknown", 60, "NULL"), ("final", 60, "'{}'")]
    ):
        await rows(
            engine,
            "INSERT INTO line_orders (line, order_id, client_order_id, number, broker, terms, sends, state, "
            f"sent_at_us, answer) VALUES ('spot', '{number}', '{number}', {number}, 'x', '', 1, '{state}', "
            f"{now_us - ago_s * 1_000_000}, {answer})",
        )
    _, orders = await controls.exchange("spot", "one", "main", None, 0)
    assert orders == OpenOrders(number=2, unknown=1)
