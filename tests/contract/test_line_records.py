"""What a FIX line keeps in the store: claims, answers that never change, and a list without gaps."""

from uuid import UUID

import msgspec
import pytest

from bullion.hedge.fix.lease import LineHolder
from bullion.hedge.fix.order_effects import BreakReason, FillSeen, LineBreak, LineOrder, OrderFinal
from bullion.hedge.fix.records import Learned
from bullion.hedge.fix.schedule import Timetable
from bullion.hedge.fix.venue import FixVenue
from bullion.hedge.venue import Confirmed, Declined, Fill, PartiallyFilled
from bullion.store.engine import Engine
from bullion.store.fix_lines import StoredLines
from bullion.store.line_records import StoredLineRecords
from tests.booking.fixtures import rows
from tests.support.fix_venue import GRAMS, contracts, line_of

pytestmark = pytest.mark.anyio

FILL = Fill("E1", 100_000_000, 2_000_000_000, 17)


@pytest.fixture
def records(engine: Engine) -> StoredLineRecords:
    return StoredLineRecords(engine, "spot", contracts)


def an_order(number: int = 1, **changes: object) -> LineOrder:
    order_id = str(UUID(int=number))
    order = LineOrder(order_id, order_id, "main", "GOLD", "buy", 20_000, 2_000, 200_000_000, GRAMS)
    return msgspec.structs.replace(order, **changes)


async def test_an_order_is_claimed_again_after_a_release_alone(
    records: StoredLineRecords, engine: Engine
) -> None:
    order = an_order()
    assert await records.claim(order, 5) == order
    other_node = StoredLineRecords(engine, "spot")
    assert await other_node.claim(order, 6) is None
    assert [each.order for each in await records.unsettled()] == [order]
    await records.release(order)
    assert await records.unsettled() == []
    again = await other_node.claim(order, 7)
    assert again == msgspec.structs.replace(order, sends=2)
    await records.release(order)  # Of the first sending: too late.
    assert await records.claim(order, 8) is None


async def test_lines_do_not_share_their_records(records: StoredLineRecords, engine: Engine) -> None:
    other = StoredLineRecords(engine, "other")
    await records.claim(an_order(), 5)
    assert await other.find(an_order().order_id) is None
    assert await other.claim(an_order(), 5) == an_order()
    await records.learn([OrderFinal(an_order(), Confirmed("V1"), 200_000_000)], 9)
    assert await other.executions(0, 10) == []


@pytest.mark.parametrize("answer", [None, Confirmed("V1", (FILL,))], ids=["open", "final"])
async def test_an_order_that_was_sent_on_another_line_is_found_there(
    records: StoredLineRecords, engine: Engine, answer: Confirmed | None
) -> None:
    """The market file has another line for the broker since."""
    order, lines = an_order(), StoredLines(engine)
    for each in ("spot", "other"):
        assert await lines.take(each, LineHolder("this node", "", ""), 6)
    other = StoredLineRecords(engine, "other")
    assert await other.find(order.order_id) is None
    await records.claim(order, 5)
    await records.learn([FillSeen(order, FILL)], 9)
    if answer is not None:
        await records.learn([OrderFinal(order, answer, 200_000_000)], 9)
    found = await other.find(order.order_id)
    assert found is not None
    assert (found.elsewhere, found.answer, found.fills) == ("spot", answer, (FILL,))
    own = await records.find(order.order_id)
    assert own is not None
    assert own.elsewhere == ""
    await records.release(order)
    assert (await other.find(order.order_id) is None) == (answer is None), "it was never received there"


@pytest.mark.parametrize("answer", [None, Confirmed("V1", (FILL,))], ids=["open", "final"])
async def test_an_order_that_this_line_never_had_is_found_on_the_line_that_has_it(
    records: StoredLineRecords, engine: Engine, answer: Confirmed | None
) -> None:
    """The market file has the first line again."""
    order, lines = an_order(), StoredLines(engine)
    for each in ("spot", "other"):
        assert await lines.take(each, LineHolder("this node", "", ""), 6)
    await records.claim(order, 5)
    await records.release(order)
    other = StoredLineRecords(engine, "other")
    await other.claim(order, 6)
    if answer is not None:
        await other.learn([OrderFinal(order, answer, 200_000_000)], 9)
    found = await records.find(order.order_id)
    assert found is not None
    assert (found.elsewhere, found.answer, found.unknown) == ("other", answer, False)
    await other.release(order)
    found = await records.find(order.order_id)
    assert found is not None
    assert found.unknown == (answer is None)


async def test_a_short_id_is_a_number_that_stays(records: StoredLineRecords) -> None:
    orders = [an_order(number, client_order_id="") for number in (1, 2, 3)]
    claimed = [await records.claim(each, 5) for each in orders]
    numbers = [each.client_order_id for each in claimed if each]
    assert len(set(numbers)) == 3
    assert all(each.isdecimal() for each in numbers)
    assert claimed[1] is not None
    await records.release(claimed[1])
    again = await records.claim(orders[1], 6)
    assert again is not None
    assert (again.client_order_id, again.sends) == (numbers[1], 2)
    found = await records.find_sent(numbers[1])
    assert found is not None
    assert found.order == again


async def test_a_store_that_was_restored_gives_no_short_id_again(
    records: StoredLineRecords, engine: Engine
) -> None:
    """The venue would tell the outcome of the order that had it first."""
    at_us = 1_700_000_000_000_000
    before = [await records.claim(an_order(number, client_order_id=""), at_us) for number in (1, 2, 3)]
    await rows(engine, "DELETE FROM line_orders WHERE order_id > $1", an_order(1).order_id)  # The backup.
    after = [
        await records.claim(an_order(number, client_order_id=""), at_us + 60_000_000) for number in (4, 5)
    ]
    given = [each.client_order_id for each in (*before, *after) if each]
    assert len(set(given)) == 5


async def test_a_final_answer_never_changes_and_is_listed_once(records: StoredLineRecords) -> None:
    order = an_order()
    await records.claim(order, 5)
    answer = PartiallyFilled("V1", (FILL,), 1_000, "no more", below_step=False)
    learned: list[Learned] = [FillSeen(order, FILL), OrderFinal(order, answer, 100_000_000)]
    await records.learn(learned, 9)
    await records.learn([*learned, OrderFinal(order, Declined("V9", "no"), 0)], 10)
    found = await records.find(order.order_id)
    assert found is not None
    assert (found.answer, found.fills, found.filled_e8) == (answer, (FILL,), 100_000_000)
    await records.release(order)
    assert await records.claim(order, 11) is None
    (listed,) = await records.executions(0, 10)
    assert (listed.execution_id, listed.order_id, listed.quantity_e4) == ("V1", order.order_id, 10_000)
    assert (listed.executed_at_us, listed.cursor) == (17, "1")


async def test_an_order_without_a_record_is_recorded_with_its_answer(records: StoredLineRecords) -> None:
    """The store was restored from a backup that is older than the order."""
    await records.learn([OrderFinal(an_order(), Confirmed("V1", (FILL,)), 200_000_000)], 9)
    assert await records.claim(an_order(), 10) is None
    assert [each.order_id for each in await records.executions(0, 10)] == [an_order().order_id]


async def test_a_refusal_is_not_listed_and_a_break_never_under_the_orders_id(
    records: StoredLineRecords,
) -> None:
    order = an_order()
    await records.learn([OrderFinal(order, Declined("V1", "no"), 0)], 9)
    made = LineBreak(BreakReason.OVERFILL, "E7", "short", order, "XAU/g", "2", 300_000_000, 1, 40, "beyond")
    foreign = LineBreak(
        BreakReason.FOREIGN_ID, "E8", "theirs", None, "XAU/g", "1", 500_000_000, 1, 0, "foreign"
    )
    strange = LineBreak(BreakReason.UNREADABLE, "E9", "", None, "", "", 0, 0, 0, "unreadable")
    # Where the venue takes our own ids as ClOrdIDs.
    own = msgspec.structs.replace(made, execution_id="E10", client_order_id=order.order_id)
    await records.learn([made, foreign, made, strange, own], 50)
    listed = await records.executions(0, 10)
    assert [(each.execution_id, each.order_id, each.trade_type, each.quantity_e4) for each in listed] == [
        ("overfill:E7", "ClOrdID short", "sell", 30_000),
        ("foreign_id:E8", "ClOrdID theirs", "buy", 50_000),
        ("unreadable:E9", "ClOrdID none", "buy", 0),
        ("overfill:E10", f"ClOrdID {order.order_id}", "sell", 30_000),
    ]
    assert [each.executed_at_us for each in listed] == [40, 50, 50, 40]
    assert [each.cursor for each in await records.executions(1, 1)] == ["2"]


async def test_what_the_line_before_learned_last_is_listed_too(engine: Engine) -> None:
    """The market file has another line for the broker: not everything of the old one was compared."""
    closed = Timetable(hours=("sat 09:00-10:00",))
    line = msgspec.structs.replace(line_of(1), name="other", timetable=closed)
    spot, other = (StoredLineRecords(engine, name, contracts) for name in ("spot", "other"))
    for number, records in enumerate((spot, spot, spot, other)):
        foreign = LineBreak(BreakReason.FOREIGN_ID, f"E{number}", "", None, "XAU/g", "1", 1, 1, 0, "foreign")
        await records.learn([foreign], 50)
    venue = FixVenue(line, other, contracts, lambda: 0)
    after, listed = "spot 1", []
    while found := await venue.executions("main", after, 1):
        listed += [(each.execution_id, each.cursor) for each in found]
        after = found[-1].cursor
    assert listed == [("foreign_id:E1", "spot 2"), ("foreign_id:E2", "spot 3"), ("foreign_id:E3", "other 1")]
