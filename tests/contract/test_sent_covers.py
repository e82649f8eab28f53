"""Covers that are sent to a venue, on both engines: each is executed once, and counts once in the book."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
import pytest

from bullion.booking import cover_sending as cover_sending_module
from bullion.booking.cover_fills import counted_fills
from bullion.booking.cover_sending import LEASE_US, CoverSending, MarketPrice, cover_request
from bullion.booking.hedging import Hedging
from bullion.booking.reconciliation import Reconciliation
from bullion.books.verify import verify_books
from bullion.desk.actions.breaks import list_breaks
from bullion.hedge.contract import ONE_E8, RUPEES, Contract
from bullion.hedge.cover import BookCover
from bullion.hedge.venue import (
    Confirmed,
    Declined,
    Duplicate,
    Fill,
    FinalAnswer,
    HedgeRequest,
    ListedExecution,
    OutcomeReport,
    PartiallyFilled,
    StatusAnswer,
    SubmitAnswer,
    Tradeability,
    Unconfirmed,
    UnknownOrder,
    VenueUnreachable,
)
from bullion.metals.fine_weight import NG_PER_G
from bullion.metals.metal import Metal
from bullion.records.hedge_book import BookPosition
from bullion.records.page import FIRST_PAGE
from bullion.store.cover_sending import StoredSentCovers
from bullion.store.engine import Engine
from bullion.store.execution_records import StoredExecutionRecords
from bullion.store.records import Records, RecordStore
from tests.support.venues import ScriptedAbilities

from .dealings import DAY_US, Dealings, trades_by_day
from .desk_over import ADMIN, desk_over

pytestmark = pytest.mark.anyio

GOLDM = Contract(
    "GOLDM", "mcx", "GOLDM24", "", "gold", "GOLD", 100 * NG_PER_G, 9_950, ONE_E8, 10 * NG_PER_G, RUPEES, 10**6
)
LOT_MG = 99_500
LOT_E4 = 1_000_000
PRICE = MarketPrice(71_000_000_000, 0)


class Died(Exception):
    """A node that is gone at this moment."""


class OnceVenue(ScriptedAbilities):
    """It executes an id once, and lists what it executed. `answers` are for the next ids that it receives."""

    def __init__(self) -> None:
        self.answers: list[FinalAnswer] = []
        self.known: dict[str, FinalAnswer | Unconfirmed] = {}
        self.calls: list[str] = []
        self.listed: list[ListedExecution] = []
        self.unreachable = False
        self.hears = True
        """Whether an order reaches it while it is unreachable."""

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        self.calls.append("submit")
        if self.unreachable and not self.hears:
            raise VenueUnreachable("down")
        if request.order_id in self.known:
            return Duplicate()
        number = len(self.known) + 1
        self.known[request.order_id] = self.answers.pop(0) if self.answers else filled(request, f"V{number}")
        answer = self.known[request.order_id]
        if isinstance(answer, Confirmed | PartiallyFilled):
            self.list(request, answer)
        if self.unreachable:
            raise VenueUnreachable("its answer is lost")
        return answer

    def list(self, request: HedgeRequest, answer: Confirmed | PartiallyFilled) -> None:
        filled_e8 = sum(each.quantity_e8 for each in answer.fills)
        cursor, weight_e4 = str(len(self.listed) + 1), filled_e8 * LOT_E4 // ONE_E8
        about = (request.order_id, request.instrument, request.trade_type, weight_e4, 7, cursor)
        self.listed.append(ListedExecution(answer.execution_id, *about))

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        self.calls.append("order_status")
        if self.unreachable:
            raise VenueUnreachable("down")
        return self.known.get(request.order_id, UnknownOrder())

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        raise AssertionError("that is for the watch")

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        return self.listed[int(after or 0) :][:limit]


def filled(request: HedgeRequest, execution_id: str) -> Confirmed:
    assert request.cover is not None
    fill = Fill(f"F-{execution_id}", request.cover.quantity_e8, request.cover.reference_e6 + 5, 9)
    return Confirmed(execution_id, (fill,))


class House:
    """A node that sends covers, beside a venue."""

    def __init__(self, dealings: Dealings, venue: OnceVenue) -> None:
        self.dealings, self.venue = dealings, venue
        engine, holder = dealings.engine, dealings.holder
        self.price: MarketPrice | None = PRICE
        self.covers = StoredSentCovers(engine, holder, self.now_us, "simulated")
        self.sending = CoverSending(venue, self.covers, self.now_us, lambda broker, contract: self.price)
        self.reconciliation = Reconciliation(
            venue,
            dealings.requests,
            StoredExecutionRecords(engine, "simulated", self.now_us),
            lambda: ["main"],
            lambda broker, instrument: Metal.GOLD,
            self.sending.answer,
        )
        self.records = RecordStore(engine)

    def now_us(self) -> int:
        return self.dealings.now_us

    async def open(self) -> None:
        wanted = BookPosition("main", Metal.GOLD, "book", 10**9, 0)
        await self.records.write("open book", lambda records: records.open_book(wanted))

    async def cover(self, lots: int = 2, side: str = "buy", *, send: bool = True, **fields: Any) -> BookCover:
        number = (await self.dealings.rows("SELECT count(*) AS total FROM covers"))[0]["total"]
        made = BookCover(
            f"0000000{number}-d0ac-44ff-b60f-dff545fade43",
            "main",
            Metal.GOLD,
            GOLDM,
            side,
            lots * ONE_E8,
            lots * LOT_MG,
            "by_hand",
            "dealer",
            None,
            "suggested",
            self.now_us(),
        )
        made = msgspec.structs.replace(made, **fields)

        async def body(records: Records) -> None:
            await records.insert_book_cover(made)
            if send:
                await records.send_cover(made, "dealer", self.now_us())

        await self.records.write("cover", body)
        return made

    async def state(self, cover: BookCover) -> str:
        (row,) = await self.dealings.rows("SELECT state FROM covers WHERE id = $1", cover.id)
        return str(row["state"])

    async def fills(self) -> list[tuple[str, int, int, int]]:
        found = await self.dealings.rows("SELECT * FROM cover_fills ORDER BY execution_id")
        return [
            (row["execution_id"], row["quantity_e8"] // ONE_E8, row["price_e6"], row["reference_e6"])
            for row in found
        ]

    async def cover_mg(self) -> int:
        (row,) = await self.dealings.rows("SELECT cover_mg FROM book_positions")
        return int(row["cover_mg"])

    async def breaks(self) -> list[tuple[str, str, int]]:
        found = await self.dealings.rows("SELECT * FROM unmatched_executions ORDER BY execution_id")
        return [(row["execution_id"], row["reason"], row["excess_e4"]) for row in found]

    async def reconcile(self) -> None:
        await self.reconciliation.reconcile("main")

    async def differences(self) -> list[str]:
        """What `books verify` finds."""
        report = await verify_books(self.dealings.engine, desk_over(self.dealings.engine).chain)
        return [str(each) for each in report.differences if each.kind != "audit"]

    async def sound(self) -> None:
        """The position is the sum of the fills, and `books verify` agrees."""
        assert await self.differences() == []


@pytest.fixture
async def house(engine: Engine) -> House:
    made = House(await Dealings.open(engine), OnceVenue())
    await made.open()
    return made


@pytest.fixture
def other(house: House, other_engine: Engine) -> House:
    """Another node on the same store, at the same venue."""
    dealings = Dealings(other_engine, [book - 1 for book in house.dealings.books], "another node")
    return House(dealings, house.venue)


# --- The venue's answers -------------------------------------------------------------------------------


async def test_a_filled_cover_is_in_the_book_with_its_reference(house: House) -> None:
    bought, sold = await house.cover(), await house.cover(1, "sell")
    await house.sending.settle()
    assert [await house.state(each) for each in (bought, sold)] == ["filled", "filled"]
    assert {fill[2:] for fill in await house.fills()} == {(PRICE.reference_e6 + 5, PRICE.reference_e6)}
    assert await house.cover_mg() == LOT_MG
    assert house.venue.calls == ["submit", "submit"]
    assert house.sending.outcomes == {("by_hand", "filled"): 2}
    await house.reconcile()
    assert await house.breaks() == []
    await house.sound()


@pytest.mark.parametrize(
    ("answer", "state", "lots"),
    [
        (Declined("V1", "no"), "refused", []),
        (PartiallyFilled("V1", (Fill("F1", ONE_E8, 8, 9),), LOT_MG, "half"), "partly", [1]),
        (PartiallyFilled("V1", (), LOT_MG, "half"), "partly", [1]),
        (Confirmed("V1", (Fill("F1", ONE_E8, 8, 9), Fill("F2", ONE_E8, 8, 9))), "filled", [1, 1]),
        (Confirmed("V1", (Fill("F1", ONE_E8, 8, 9), Fill("F1", ONE_E8, 8, 9))), "filled", [1, 1]),
        (Confirmed("V1", (Fill("F1", 3 * ONE_E8, 8, 9),)), "filled", [2]),
        (Confirmed("V1"), "filled", [2]),
    ],
    ids=["declined", "partly", "partly-untold", "two-fills", "doubled-fill", "too-much", "untold"],
)
async def test_each_final_answer_is_recorded_once(
    house: House, answer: FinalAnswer, state: str, lots: list[int]
) -> None:
    cover = await house.cover()
    house.venue.answers = [answer]
    await house.sending.settle()
    assert await house.state(cover) == state
    assert [fill[1] for fill in await house.fills()] == lots
    for _ in range(2):  # The venue repeats itself, also by its own report.
        await house.sending.answer(cover, answer)
        assert await house.sending.take(OutcomeReport(cover.id, answer))
    assert [fill[1] for fill in await house.fills()] == lots
    assert await house.cover_mg() == sum(lots) * LOT_MG
    assert house.sending.outcomes == {("by_hand", state): 1}
    assert await house.breaks() == []
    await house.sound()


async def test_a_report_of_the_venue_ends_a_cover_that_waits(house: House) -> None:
    cover = await house.cover()
    house.venue.unreachable = True
    await house.sending.settle()
    assert await house.state(cover) == "sent"
    answer = house.venue.known[cover.id]
    assert isinstance(answer, Confirmed)
    hedging = Hedging(house.venue, house.dealings.requests, house.now_us, covers=house.sending)
    await hedging._take(OutcomeReport(cover.id, answer))
    assert await house.state(cover) == "filled"
    assert not await house.sending.take(OutcomeReport("of nobody", answer))


async def test_an_execution_that_another_cover_has_does_not_count_again(house: House) -> None:
    """And the reconciliation tells the difference."""
    first, second = await house.cover(1), await house.cover(1)
    fill = Fill("F1", ONE_E8, 8, 9)
    house.venue.answers = [Confirmed("V1", (fill,)), Confirmed("V2", (fill,))]
    await house.sending.settle()
    states = [await house.state(each) for each in (first, second)]
    assert sorted(states) == ["filled", "partly"]
    assert await house.cover_mg() == LOT_MG
    await house.reconcile()
    ((_, reason, excess_e4),) = await house.breaks()
    assert (reason, excess_e4) == ("differs", LOT_E4)
    (told,) = await house.differences()
    assert told.endswith("stored partly of 100000000, recomputed fills of 0")


async def test_an_execution_id_that_the_venue_gives_again_on_another_day_counts(house: House) -> None:
    """FIX asks for execution ids that are unique within a trading day."""
    covers = []
    for day in (1, 2):
        covers.append(await house.cover(1))
        house.venue.answers = [Confirmed(f"V{day}", (Fill("F1", ONE_E8, 8, day * DAY_US),))]
        await house.sending.settle()
    assert [await house.state(each) for each in covers] == ["filled", "filled"]
    assert await house.cover_mg() == 2 * LOT_MG
    await house.reconcile()
    assert await house.breaks() == []
    await house.sound()
    assert await trades_by_day(house.records, GOLDM.venue, 2) == [["F1"], ["F1"]]


# --- What is not answered ------------------------------------------------------------------------------


@pytest.mark.parametrize("hears", [True, False])
async def test_a_lost_answer_is_asked_for_and_only_an_unknown_id_is_sent_again(
    house: House, hears: bool
) -> None:
    cover = await house.cover()
    house.venue.unreachable, house.venue.hears = True, hears
    await house.sending.settle()
    assert await house.state(cover) == "sent"
    house.venue.unreachable = False
    await house.sending.settle()  # It is not due yet.
    assert house.venue.calls == ["submit"]
    house.dealings.now_us += 1_000_000
    await house.sending.settle()
    assert house.venue.calls[1:] == ["order_status"] + ([] if hears else ["submit"])
    assert await house.state(cover) == "filled"
    assert len(house.venue.listed) == len(await house.fills()) == 1


async def test_a_cover_that_the_venue_has_not_decided_is_asked_for(house: House) -> None:
    cover = await house.cover()
    house.venue.known[cover.id] = Unconfirmed("in a moment")
    await house.sending.settle()
    assert house.venue.calls == ["submit", "order_status"]  # A duplicate, so its status is asked.
    (row,) = await house.dealings.rows("SELECT * FROM covers")
    assert (row["state"], row["words"], row["tries"]) == ("sent", "in a moment", 1)
    house.venue.known[cover.id] = Declined("V1", "no")
    house.dealings.now_us += 1_000_000
    await house.sending.settle()
    assert await house.state(cover) == "refused"


async def test_without_a_rate_nothing_is_sent(house: House) -> None:
    cover = await house.cover()
    house.price = None
    await house.sending.settle()
    assert (await house.state(cover), house.venue.calls) == ("sent", [])
    house.price = PRICE
    house.dealings.now_us += 1_000_000
    await house.sending.settle()
    assert (await house.state(cover), house.venue.calls) == ("filled", ["submit"])


async def test_a_cover_keeps_its_first_reference(house: House) -> None:
    await house.cover()
    house.venue.unreachable, house.venue.hears = True, False
    await house.sending.settle()
    house.venue.unreachable, house.price = False, MarketPrice(1, 0)
    house.dealings.now_us += 1_000_000
    await house.sending.settle()
    ((_, _, _, reference_e6),) = await house.fills()
    assert reference_e6 == PRICE.reference_e6


async def test_a_cover_is_never_sent_to_a_second_venue(house: House) -> None:
    cover = await house.cover()
    house.venue.unreachable = True
    await house.sending.settle()
    house.dealings.now_us += 10 * LEASE_US
    other = StoredSentCovers(house.dealings.engine, "x", house.now_us, "fix")
    assert await other.claim(house.now_us(), 10) == ()
    assert [each.cover.id for each in await house.covers.claim(house.now_us(), 10)] == [cover.id]


# --- Several nodes, and nodes that die -----------------------------------------------------------------


async def test_one_of_two_nodes_sends_a_cover(house: House, other: House) -> None:
    covers = [await house.cover(1) for _ in range(6)]
    await asyncio.gather(house.sending.settle(), other.sending.settle())
    assert house.venue.calls == ["submit"] * len(covers)
    assert await house.cover_mg() == len(covers) * LOT_MG
    await house.sound()


async def test_a_node_whose_lease_ended_sends_nothing(
    house: House, other: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    cover = await house.cover()
    (stale,) = await house.covers.claim(house.now_us(), 10)
    house.dealings.now_us = other.dealings.now_us = house.now_us() + LEASE_US
    (taken,) = await other.covers.claim(other.now_us(), 10)
    assert await house.covers.price(stale, PRICE) is None
    await house.sending._settle(stale)
    await house.covers.postpone(cover, 0, "too late")
    assert house.venue.calls == []
    await other.sending._settle(taken)
    assert await other.state(cover) == "filled"
    # A node that finds its lease almost over leaves the cover to the next.
    late = await house.cover()
    (claimed,) = await house.covers.claim(house.now_us(), 10)
    house.dealings.now_us += LEASE_US - 1_000_000
    await house.sending._settle(claimed)
    assert (house.venue.calls, await house.state(late)) == (["submit"], "sent")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", ["claim", "price", "submit", "answer"])
async def test_a_node_that_dies_anywhere_leaves_one_execution_and_one_fill(
    house: House, other: House, monkeypatch: pytest.MonkeyPatch, step: str, after: bool
) -> None:
    cover = await house.cover()
    owner = house.venue if step == "submit" else house.covers
    call = getattr(owner, step)

    async def die(*values: Any) -> None:
        if after:
            await call(*values)
        raise Died

    with monkeypatch.context() as dying:
        dying.setattr(owner, step, die)
        with pytest.raises(Died):
            await house.sending.settle()
    other.dealings.now_us = house.now_us() + LEASE_US
    await other.sending.settle()
    assert await other.state(cover) == "filled"
    assert len(house.venue.listed) == len(await other.fills()) == 1
    await other.reconcile()
    assert await other.breaks() == []
    assert await other.cover_mg() == 2 * LOT_MG
    await other.sound()


async def test_two_nodes_that_hear_the_same_answer_record_it_once(house: House, other: House) -> None:
    cover = await house.cover()
    answer = filled(cover_request(cover), "V1")
    await asyncio.gather(*(each.sending.answer(cover, answer) for each in (house, other, house, other)))
    assert await house.cover_mg() == 2 * LOT_MG
    assert (house.sending.outcomes + other.sending.outcomes).total() == 1


async def test_a_fault_of_the_store_does_not_end_the_duty(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    cover = await house.cover()
    claim, failed = house.covers.claim, asyncio.Event()

    async def fail_once(*values: Any) -> Any:
        if not failed.is_set():
            failed.set()
            raise RuntimeError("a bug")
        return await claim(*values)

    monkeypatch.setattr(cover_sending_module, "_EVERY_S", 0.001)
    monkeypatch.setattr(house.covers, "claim", fail_once)
    task = asyncio.create_task(house.sending.run())
    async with asyncio.timeout(20):
        while await house.state(cover) != "filled":
            await asyncio.sleep(0.01)
    task.cancel()
    assert failed.is_set()


# --- The reconciliation --------------------------------------------------------------------------------


async def test_an_execution_of_a_cover_that_waits_is_its_answer(house: House) -> None:
    cover = await house.cover()
    house.venue.unreachable = True
    await house.sending.settle()
    house.venue.unreachable = False
    await house.reconcile()
    assert await house.state(cover) == "filled"
    assert (await house.breaks(), await house.cover_mg()) == ([], 2 * LOT_MG)


@pytest.mark.parametrize(("state", "reason"), [("dropped", "unknown_order"), ("refused", "second_execution")])
async def test_an_execution_of_a_cover_that_was_not_dealt_is_a_break(
    house: House, state: str, reason: str
) -> None:
    cover = await house.cover(send=False)
    await house.records.write(
        "end", lambda records: records.finish_cover(cover, state, "V1", None, house.now_us())
    )
    answer = filled(cover_request(cover), "V1")
    house.venue.list(cover_request(cover), answer)
    await house.sending.answer(cover, answer)  # A late report of the venue makes the same break.
    await house.reconcile()
    assert await house.breaks() == [("V1", reason, 2 * LOT_E4)]
    assert (await house.state(cover), await house.cover_mg()) == (state, 0)


@pytest.mark.parametrize("side", ["buy", "sell"])
async def test_a_cover_that_the_venue_declines_after_it_filled_it_is_a_break(house: House, side: str) -> None:
    cover = await house.cover(3, side)
    house.venue.answers = [PartiallyFilled("V1", (Fill("F1", 2 * ONE_E8, 8, 9),), LOT_MG, "no more")]
    await house.sending.settle()
    book_mg = await house.cover_mg()
    for _ in range(2):
        assert await house.sending.take(OutcomeReport(cover.id, Declined("V2", "busted")))
    sign = 1 if side == "buy" else -1
    assert await house.breaks() == [("V2", "differs", -2 * LOT_E4 * sign)]
    # The book does not change by itself: a dealer asks the venue first.
    assert (await house.state(cover), await house.cover_mg()) == ("partly", book_mg)
    assert book_mg == 2 * LOT_MG * sign
    (shown,), _ = await list_breaks(desk_over(house.dealings.engine), ADMIN, FIRST_PAGE)
    assert (shown["outcome"], shown["quantity"]) == ("refused", "0.0000")
    weight = "-200.0000" if side == "buy" else "200.0000"
    assert shown["words"] == f"The venue refused it after it had filled it: {weight} is covered beyond it."
    await house.sound()


async def test_a_cover_that_was_declined_or_dealt_by_telephone_may_be_declined_again(house: House) -> None:
    refused, told = await house.cover(), await house.cover(send=False)
    house.venue.answers = [Declined("V1", "no")]
    await house.sending.settle()
    await house.records.write(
        "tell", lambda records: records.finish_cover(told, "filled", "T1", None, house.now_us())
    )
    for cover in (refused, told):
        await house.sending.answer(cover, Declined("V2", "no"))
    assert (await house.state(refused), await house.breaks()) == ("refused", [])


async def test_more_than_was_sent_another_side_or_a_second_execution_is_a_break(house: House) -> None:
    covers = [await house.cover() for _ in range(3)]
    house.venue.answers = [
        Confirmed("V1", (Fill("F1", 3 * ONE_E8, 8, 9),)),
        Confirmed("V2", (Fill("F2", 2 * ONE_E8, 8, 9),)),
    ]
    await house.sending.settle()
    by_answer = {house.venue.known[each.id].execution_id: each for each in covers}  # type: ignore[union-attr]
    request = cover_request(by_answer["V2"])
    sold = msgspec.structs.replace(house.venue.listed[-1], trade_type="sell")
    house.venue.listed[-1] = sold
    house.venue.list(request, Confirmed("V9", (Fill("F9", ONE_E8, 8, 9),)))
    await house.reconcile()
    assert await house.breaks() == sorted(
        [
            ("V1", "differs", LOT_E4),
            (sold.execution_id, "differs", -4 * LOT_E4),
            ("V9", "second_execution", LOT_E4),
        ]
    )
    assert await house.cover_mg() == 6 * LOT_MG
    await house.sound()


async def test_covers_count_among_what_waits(house: House) -> None:
    await house.cover()
    house.venue.unreachable = True
    await house.sending.settle()
    backlog = await house.dealings.requests.backlog()
    assert (backlog.requests, backlog.oldest_at_us) == (1, house.now_us())


def test_fills_without_a_price_or_a_time_count_at_the_reference() -> None:
    cover = BookCover(
        "c", "main", Metal.GOLD, GOLDM, "buy", 2 * ONE_E8, 2 * LOT_MG, "r", "d", None, "sent", 1
    )
    cover = msgspec.structs.replace(cover, reference_e6=7)
    assert counted_fills(cover, Confirmed("V", (Fill("F", ONE_E8, 0, 0),)), 5) == (
        Fill("F", ONE_E8, 7, 5),
        Fill("rest:V", ONE_E8, 7, 5),
    )
