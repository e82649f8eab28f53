"""Orders that the venue fills in parts, on both engines, with the simulated venue and answers by hand."""

import asyncio
import random

import pytest

from bullion.booking.hedge_requests import LEASE_US
from bullion.booking.hedging import Hedging
from bullion.booking.partial_fills import CHILDREN_MAX, Rest
from bullion.booking.reconciliation import Reconciliation
from bullion.hedge.simulated import Mode, SimulatedVenue
from bullion.hedge.venue import Confirmed, Declined, Fill, PartiallyFilled
from bullion.metals.metal import Metal
from bullion.orders.order import Order
from bullion.orders.status import Event
from bullion.records.hedges import Hedge
from bullion.records.page import Page
from bullion.store.engine import Engine
from bullion.store.execution_records import StoredExecutionRecords
from bullion.store.records import RecordStore
from tests.booking.fixtures import store_of
from tests.support import production_invariants
from tests.support.scale import SCALE
from tests.support.venues import behave, venue_book_of

from .dealings import Dealings

pytestmark = pytest.mark.anyio

TEN_G = 100_000
FINE_MG = 9_990
FILL = Fill("F-1", 6_0000_0000, 71_000_000_000, 5)
SIX_OF_TEN = PartiallyFilled("P-1", (FILL,), 3_996, "six of ten")
THE_REST = Rest(1, 40_000, 3_996)


@pytest.fixture
async def dealings(engine: Engine) -> Dealings:
    return await Dealings.open(engine)


@pytest.fixture
def others(dealings: Dealings, other_engine: Engine) -> Dealings:
    """Another node on the same store."""
    return Dealings(other_engine, [book - 1 for book in dealings.books], "another node")


async def placed(dealings: Dealings, side: str = "buy") -> Order:
    return await dealings.place(dealings.books[0], side, TEN_G)


async def due(dealings: Dealings) -> list[tuple[str, Rest | None]]:
    """The ids that are asked for next, with what is left."""
    dealings.now_us += 2 * LEASE_US
    claims = await dealings.requests.claim(dealings.now_us, 100)
    return [(each.to_hedge.request().order_id, each.to_hedge.rest) for each in claims]


async def answer_child(
    dealings: Dealings, sent_id: str, answer: Confirmed | Declined | PartiallyFilled
) -> Order:
    to_hedge = await dealings.requests.find(sent_id)
    assert to_hedge is not None
    return await dealings.requests.answer(to_hedge, answer)


async def hedge_of(dealings: Dealings, order: Order) -> Hedge:
    hedge = await RecordStore(dealings.engine).read("hedge", lambda records: records.hedge(order))
    assert hedge is not None
    return hedge


async def breaks(dealings: Dealings) -> int:
    return (await dealings.requests.backlog()).breaks


async def partly_covered(dealings: Dealings) -> Order:
    """An order whose rest the venue refused."""
    order = await placed(dealings)
    await dealings.answer(order, SIX_OF_TEN)
    assert (await answer_child(dealings, f"{order.id}b", Declined("R-1", "no more"))).status == "pending"
    return order


async def send_again(dealings: Dealings, order: Order) -> None:
    """A dealer sends the rest once more."""
    await RecordStore(dealings.engine).write(
        "again", lambda records: records.send_rest_again(order, dealings.now_us, "once more")
    )


async def test_the_rest_is_due_under_the_id_of_a_child(dealings: Dealings) -> None:
    order = await placed(dealings)
    assert (await dealings.answer(order, SIX_OF_TEN)).status == "pending"
    assert await due(dealings) == [(f"{order.id}b", THE_REST)]
    (fill,) = await RecordStore(dealings.engine).read("fills", lambda records: records.fills(order))
    assert (fill.sent_id, fill.fill) == (order.id, FILL)
    assert await breaks(dealings) == 0


async def test_it_becomes_a_deal_when_the_rest_is_filled(dealings: Dealings) -> None:
    order = await placed(dealings)
    await dealings.answer(order, SIX_OF_TEN)
    second = Fill("F-2", 4_0000_0000, 71_000_000_000, 6)
    deal = await answer_child(dealings, f"{order.id}b", Confirmed("E-2", (second,)))
    assert (deal.status, deal.deal_no) == ("open", 1)
    fills = await RecordStore(dealings.engine).read("fills", lambda records: records.fills(order))
    assert [each.sent_id for each in fills] == [order.id, f"{order.id}b"]
    assert (await hedge_of(dealings, order)).rest is None
    assert await due(dealings) == []


async def test_answers_may_come_again_from_any_node_and_change_nothing(
    dealings: Dealings, others: Dealings
) -> None:
    order = await placed(dealings)
    for node in (dealings, others, dealings):
        assert (await node.answer(order, SIX_OF_TEN)).status == "pending"
    assert await due(dealings) == [(f"{order.id}b", THE_REST)]
    child, whole = f"{order.id}b", Confirmed("E-2")
    for node in (others, dealings, others):
        assert (await answer_child(node, child, whole)).deal_no == 1
        assert (await node.answer(order, SIX_OF_TEN)).deal_no == 1
    assert await breaks(dealings) == 0
    assert len(await dealings.rows("SELECT * FROM hedge_parts")) == 2
    assert len(await dealings.rows("SELECT * FROM hedge_fills")) == 1


async def test_the_answer_to_an_earlier_child_may_come_again(dealings: Dealings, others: Dealings) -> None:
    order = await placed(dealings)
    await dealings.answer(order, SIX_OF_TEN)
    child, next_child = f"{order.id}b", f"{order.id}c"
    two_of_four = PartiallyFilled("P-2", (), 1_998, "two of four")
    for node in (dealings, others):
        assert (await answer_child(node, child, two_of_four)).status == "pending"
    earlier = await dealings.requests.find(child)
    assert earlier is not None
    assert (earlier.request().order_id, earlier.rest) == (child, THE_REST)
    assert await due(dealings) == [(next_child, Rest(2, 20_000, 1_998))]
    for sent_id, answer in ((next_child, Confirmed("E-3")), (child, two_of_four)):
        assert (await answer_child(others, sent_id, answer)).deal_no == 1
    assert await breaks(dealings) == 0


async def test_a_refusal_that_comes_again_does_not_reject_an_order_that_is_partly_covered(
    dealings: Dealings,
) -> None:
    order = await partly_covered(dealings)
    await send_again(dealings, order)
    assert [sent_id for sent_id, _ in await due(dealings)] == [f"{order.id}c"]
    assert (await answer_child(dealings, f"{order.id}b", Declined("R-1", "no more"))).status == "pending"
    assert (await answer_child(dealings, f"{order.id}c", Confirmed("E-3"))).deal_no == 1
    assert await breaks(dealings) == 0


@pytest.mark.parametrize("seed", range(3 * SCALE))
async def test_answers_in_any_number_and_order_add_up(
    dealings: Dealings, others: Dealings, seed: int
) -> None:
    """The venue answers each id once; whoever asks may be told again, at any later time, by any node."""
    chance = random.Random(seed)  # noqa: S311 - the same in each run
    orders = [await placed(dealings) for _ in range(3)]
    answered: list[tuple[str, Confirmed | Declined | PartiallyFilled]] = []
    for number in range(100):
        for sent_id, answer in chance.choices(answered, k=2) if answered else []:
            await answer_child(chance.choice([dealings, others]), sent_id, answer)
        for order in orders:
            if (await hedge_of(dealings, order)).partly_covered:
                await send_again(dealings, order)
        found = await due(dealings)
        if not found:
            break
        sent_id, rest = chance.choice(found)
        fine_mg = FINE_MG if rest is None else rest.fine_mg
        filled_mg = chance.choice([0, fine_mg // 3, fine_mg]) if rest else fine_mg // 2
        named = f"{number}"
        if filled_mg == fine_mg:
            answered.append((sent_id, Confirmed(named)))
        elif filled_mg:
            answered.append((sent_id, PartiallyFilled(named, (), fine_mg - filled_mg, "a part")))
        else:
            answered.append((sent_id, Declined(named, "no more")))
        await answer_child(dealings, *answered[-1])
    assert [row["status"] for row in await dealings.rows("SELECT status FROM orders")] == ["open"] * 3
    weights = await dealings.rows("SELECT sum(quantity_e4) AS covered_e4 FROM hedge_parts GROUP BY ordinal")
    assert [row["covered_e4"] for row in weights] == [TEN_G] * 3
    assert await breaks(dealings) == 0
    assert len(await dealings.rows("SELECT * FROM hedge_parts")) == len(answered)


async def test_after_so_many_children_the_desk_decides(dealings: Dealings) -> None:
    order = await placed(dealings)
    await dealings.answer(order, SIX_OF_TEN)
    left_mg, asked = 3_996, []
    while found := await due(dealings):
        ((sent_id, rest),) = found
        assert rest is not None
        asked.append(sent_id)
        left_mg = rest.fine_mg - 100
        await answer_child(dealings, sent_id, PartiallyFilled(f"P-{sent_id}", (), left_mg, "a little"))
    assert asked == [f"{order.id}{letter}" for letter in "bcdef"]
    assert len(asked) == CHILDREN_MAX
    hedge = await hedge_of(dealings, order)
    assert hedge.partly_covered
    assert hedge.rest is not None
    assert hedge.rest.fine_mg == left_mg
    backlog = await dealings.requests.backlog()
    assert (backlog.partly_covered, backlog.requests, backlog.breaks) == (1, 1, 0)


async def test_a_child_that_is_refused_stops_and_nothing_is_rejected(dealings: Dealings) -> None:
    order = await partly_covered(dealings)
    assert await due(dealings) == []
    assert (await hedge_of(dealings, order)).partly_covered
    assert (await answer_child(dealings, f"{order.id}b", Declined("R-1", "no more"))).status == "pending"


async def test_a_call_that_ends_late_does_not_send_a_rest_that_waits_for_the_desk(dealings: Dealings) -> None:
    """A report had told the answer meanwhile."""
    order = await partly_covered(dealings)
    await dealings.requests.postpone(order, dealings.now_us, "no answer within 3 seconds")
    assert await due(dealings) == []
    hedge = await hedge_of(dealings, order)
    assert (hedge.partly_covered, hedge.words) == (True, "no more")


async def test_a_rest_below_the_venues_step_goes_to_the_book(dealings: Dealings) -> None:
    order = await placed(dealings)
    nearly = PartiallyFilled("P-1", (FILL,), 300, "whole ounces only", below_step=True)
    for _ in range(2):
        deal = await dealings.answer(order, nearly)
        assert (deal.status, deal.deal_no) == ("open", 1)
    hedge = await hedge_of(dealings, order)
    assert (hedge.fine_mg_taken, hedge.outcome, hedge.partly_covered) == (300, "confirmed", False)
    assert await breaks(dealings) == 0


async def test_exposure_counts_what_is_covered(dealings: Dealings) -> None:
    order = await placed(dealings, "sell")
    await dealings.answer(order, SIX_OF_TEN)
    exposure = (await RecordStore(dealings.engine).read("e", lambda records: records.exposure("main")))[
        Metal.GOLD
    ]
    assert (exposure.net_e4, exposure.hedged_e4) == (-TEN_G, -60_000)


async def test_what_was_filled_for_an_order_that_was_deleted_is_a_break(dealings: Dealings) -> None:
    early, late, refused = [await placed(dealings) for _ in range(3)]
    deleted = await dealings.change(early, Event.DELETE)
    assert (await dealings.answer(deleted, SIX_OF_TEN)).status == "deleted"
    await dealings.answer(late, PartiallyFilled("P-2", (), 3_996, "six"))
    await dealings.change(late, Event.DELETE)
    await answer_child(dealings, f"{late.id}b", Confirmed("E-2"))
    await dealings.answer(refused, PartiallyFilled("P-3", (), 3_996, "six"))
    deleted = await dealings.change(refused, Event.DELETE)
    await dealings.requests.withdraw(deleted)
    assert await breaks(dealings) == 3
    found, _ = await RecordStore(dealings.engine).read(
        "breaks", lambda records: records.hedge_breaks("main", Page(10, 0))
    )
    assert {each.account_order.order.id for each in found} == {early.id, late.id, refused.id}
    exposure = (await RecordStore(dealings.engine).read("e", lambda records: records.exposure("main")))[
        Metal.GOLD
    ]
    assert (exposure.net_e4, exposure.hedged_e4) == (0, 60_000 + TEN_G + 60_000)


async def test_another_answer_for_a_part_is_a_break_of_its_own(dealings: Dealings) -> None:
    order = await placed(dealings)
    await dealings.answer(order, SIX_OF_TEN)
    await dealings.answer(order, PartiallyFilled("P-2", (), 3_996, "six"))
    (row,) = await dealings.rows("SELECT * FROM unmatched_executions")
    assert (row["execution_id"], row["reason"], row["quantity_e4"]) == ("P-2", "second_execution", 60_000)
    assert await due(dealings) == [(f"{order.id}b", THE_REST)]


# --- With the simulated venue ---------------------------------------------------------------------------


class Node:
    def __init__(self, dealings: Dealings) -> None:
        self.dealings = dealings
        self.venue = SimulatedVenue(venue_book_of(dealings.engine), lambda: dealings.now_us)
        self.hedging = Hedging(self.venue, dealings.requests, lambda: dealings.now_us)
        records = StoredExecutionRecords(dealings.engine, "simulated", lambda: dealings.now_us)
        self.reconciliation = Reconciliation(
            self.venue, dealings.requests, records, lambda: ["main"], lambda *_: Metal.GOLD
        )

    async def settle(self) -> None:
        self.dealings.now_us += 2 * LEASE_US
        await self.hedging.settle()


async def test_a_venue_that_fills_in_parts_is_asked_until_the_desk_decides(
    dealings: Dealings, others: Dealings
) -> None:
    """Alternately by two nodes, as if each died after its call."""
    await behave(dealings.engine, Mode.FILL, fill_percent=60)
    one, other = Node(dealings), Node(others)
    order = await placed(dealings)
    to_hedge = await dealings.to_hedge(order)
    assert (await one.hedging.hedge(to_hedge)).status == "pending"
    for turn in range(2 * CHILDREN_MAX + 2):
        others.now_us = dealings.now_us
        node = other if turn % 2 else one
        await node.settle()
        dealings.now_us = node.dealings.now_us
        await one.reconciliation.reconcile("main")
    # 60 % of 10 g, of 4 g, of 1.6 g; then less than a gram is left.
    (row,) = await dealings.rows("SELECT * FROM hedge_rests")
    assert (row["fine_mg_taken"], row["stopped"]) == (640, 0)
    assert len(await dealings.rows("SELECT * FROM hedge_parts")) == 3
    assert len(await dealings.rows("SELECT * FROM hedge_fills")) == 3
    sent = await dealings.rows("SELECT order_id, submissions FROM venue_orders ORDER BY order_id")
    assert [(each["order_id"], each["submissions"]) for each in sent] == [
        (f"{order.id}{letter}", 1) for letter in ("", "b", "c")
    ]
    assert await breaks(dealings) == 0
    assert (await hedge_of(dealings, order)).outcome == "confirmed"
    store = store_of(dealings.engine)
    tables = await asyncio.to_thread(production_invariants.check, store, settled=True, submitted_once=True)
    tables["hedge_parts"][1]["quantity_e4"] += 100
    wrong = production_invariants.problems(tables, settled=True)
    assert len(wrong) == 2, "the checker sees that the weights no longer add up, and differ from the venue's"


async def test_the_reconciliation_finds_a_part_that_nobody_waits_for(dealings: Dealings) -> None:
    await behave(dealings.engine, Mode.FILL, fill_percent=60)
    node = Node(dealings)
    order = await placed(dealings)
    await node.venue.submit((await dealings.to_hedge(order)).request())
    await node.reconciliation.reconcile("main")
    hedge = await hedge_of(dealings, order)
    assert hedge.rest is not None
    assert (hedge.rest.child, hedge.rest.fine_mg) == (1, 3_996)
    await node.reconciliation.reconcile("main")
    assert await breaks(dealings) == 0


@pytest.mark.parametrize("answer", [Declined("R-9", "none of it"), Confirmed("E-9")])
async def test_a_venue_that_takes_back_a_part_does_not_end_the_order(
    dealings: Dealings, answer: Declined | Confirmed
) -> None:
    """The rest is at the venue already, and what was filled is covered."""
    order = await placed(dealings)
    await dealings.answer(order, SIX_OF_TEN)
    assert (await answer_child(dealings, order.id, answer)).status == "pending"
    assert await breaks(dealings) == (0 if isinstance(answer, Declined) else 1)
    assert await due(dealings) == [(f"{order.id}b", THE_REST)]
    assert (await answer_child(dealings, f"{order.id}b", Confirmed("E-2"))).status == "open"
