"""Executions of the venue against our requests, on both engines: what none accounts for is a break."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest
import structlog

from bullion.booking import reconciliation as reconciliation_module
from bullion.booking.reconciliation import Reconciliation
from bullion.faults import StoreUnavailable
from bullion.hedge.fix.order_effects import BreakReason, LineBreak, LineOrder
from bullion.hedge.simulated import SimulatedVenue
from bullion.hedge.venue import (
    Confirmed,
    Declined,
    HedgeRequest,
    ListedExecution,
    StatusAnswer,
    SubmitAnswer,
    Tradeability,
    Unconfirmed,
    VenueAbilities,
    VenueUnreachable,
)
from bullion.metals.metal import Metal
from bullion.orders.order import Order
from bullion.records.hedges import Exposure
from bullion.records.page import Page
from bullion.store.engine import Engine
from bullion.store.execution_records import StoredExecutionRecords
from bullion.store.line_records import StoredLineRecords
from bullion.store.records import RecordStore
from bullion.store.venue_book import StoredVenueBook
from tests.support.fix_venue import GRAMS, contracts
from tests.support.venues import ScriptedAbilities

from .dealings import Dealings

pytestmark = pytest.mark.anyio

INSTRUMENTS = {"XAUUSD": Metal.GOLD, "XAGUSD": Metal.SILVER}


class ListingVenue(ScriptedAbilities):
    """It lists what a test puts there."""

    def __init__(self) -> None:
        self.made: list[ListedExecution] = []
        self.unreachable = False

    def execute(
        self, order: Order | None = None, execution_id: str | None = None, **differing: Any
    ) -> ListedExecution:
        number = str(len(self.made) + 1)
        fields: dict[str, Any] = {"order_id": "of nobody", "trade_type": "buy", "quantity_e4": 5}
        if order is not None:
            asked = order.asked
            fields = {
                "order_id": order.id,
                "trade_type": asked.trade_type,
                "quantity_e4": asked.quantity_e4,
            }
        fields = {"instrument": "XAUUSD", "executed_at_us": 7, **fields, **differing}
        made = ListedExecution(execution_id=execution_id or f"V{number}", cursor=number, **fields)
        self.made.append(made)
        return made

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        if self.unreachable:
            raise VenueUnreachable("down")
        return self.made[int(after or 0) :][:limit] if broker == "main" else ()

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        raise AssertionError("a reconciliation sends nothing")

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        raise AssertionError("a reconciliation asks for no order")

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        raise AssertionError("that is for the watch")


class Books:
    """A node's books beside a venue that lists its executions."""

    def __init__(self, dealings: Dealings, venue: ListingVenue) -> None:
        self.dealings, self.venue = dealings, venue
        self.records = StoredExecutionRecords(dealings.engine, "simulated", lambda: dealings.now_us)
        self.reconciliation = Reconciliation(
            venue,
            dealings.requests,
            self.records,
            lambda: ["main"],
            lambda broker, instrument: INSTRUMENTS.get(instrument),
        )

    async def reconcile(self) -> None:
        await self.reconciliation.reconcile("main")

    async def order(self, status: str, *about: Any) -> Order:
        return await self.dealings.lead(await self.dealings.place(self.dealings.books[0], *about), status)

    async def withdrawn(self, *about: Any) -> Order:
        """Deleted by the desk, and no longer asked for."""
        order = await self.order("deleted", *about)
        await self.dealings.requests.withdraw(order)
        return order

    async def state(self, order: Order) -> tuple[str, str | None]:
        row = await self.dealings.request(order)
        return row["state"], row["execution_id"]

    async def unmatched(self) -> list[tuple[str, str, int]]:
        found = await self.dealings.rows("SELECT * FROM unmatched_executions ORDER BY execution_id")
        return [(row["execution_id"], row["reason"], row["excess_e4"]) for row in found]

    async def exposure(self, metal: Metal = Metal.GOLD) -> Exposure:
        records = RecordStore(self.dealings.engine)
        return (await records.read("exposure", lambda each: each.exposure("main")))[metal]

    async def breaks(self) -> int:
        return (await self.dealings.requests.backlog()).breaks


@pytest.fixture
async def books(engine: Engine) -> Books:
    return Books(await Dealings.open(engine), ListingVenue())


@pytest.fixture
def other(books: Books, other_engine: Engine) -> Books:
    """Another node on the same store, at the same venue."""
    dealings = Dealings(other_engine, [book - 1 for book in books.dealings.books], "another node")
    return Books(dealings, books.venue)


# --- Executions that our books know, or should ---------------------------------------------------------


async def test_a_deal_of_the_same_execution_is_left_alone(books: Books) -> None:
    order = await books.order("pending", "sell", 30)
    await books.dealings.answer(order, Confirmed("E"))
    before = await books.dealings.sound()
    books.venue.execute(order, "E")
    await books.reconcile()
    assert await books.dealings.sound() == before
    assert await books.unmatched() == []
    assert await books.records.cursor("main") == "1"


@pytest.mark.parametrize("then", ["closing", "closed", "deleted"])
async def test_what_becomes_of_a_deal_later_changes_nothing(books: Books, then: str) -> None:
    order = await books.order("open")
    known = (await books.dealings.request(order))["execution_id"]
    if then == "deleted":
        await books.dealings.lead(order, "deleted")
    else:
        await books.dealings.close(order, complete=then == "closed")
    books.venue.execute(order, known)
    await books.reconcile()
    assert (await books.breaks(), await books.unmatched()) == (0, [])


async def test_an_order_that_still_waits_becomes_a_deal(books: Books) -> None:
    order = await books.order("pending")
    books.venue.execute(order, "E")
    await books.reconcile()
    now = await books.dealings.reader.order(order.book_id, order.id)
    assert now is not None
    assert (now.status, now.deal_no) == ("open", 1)
    assert await books.state(order) == ("answered", "E")
    await books.dealings.sound()


class LineVenue(ListingVenue):
    """It lists what a line has learned, and has no final answer for any order."""

    abilities = VenueAbilities("fix", partial=True, covers=True)

    def __init__(self, records: StoredLineRecords) -> None:
        super().__init__()
        self._records = records

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        return await self._records.executions(int(after or 0), limit)

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        return Unconfirmed("no final report yet")


@pytest.mark.parametrize("quantity_e8", [0, 200_000_000], ids=["of nothing", "of all of it"])
async def test_a_report_that_contradicts_an_order_is_not_its_execution(
    engine: Engine, quantity_e8: int
) -> None:
    """Also where the venue takes our own ids as ClOrdIDs."""
    records = StoredLineRecords(engine, "spot", contracts)
    books = Books(await Dealings.open(engine), LineVenue(records))
    order = await books.order("pending", "buy", 20_000)
    sent = LineOrder(order.id, order.id, "main", "XAUUSD", "buy", 20_000, 2_000, 200_000_000, GRAMS)
    made = LineBreak(BreakReason.OTHER_TERMS, "E1", order.id, sent, "XAU/g", "1", quantity_e8, 1, 5, "other")
    await records.learn([made], 9)
    await books.reconcile()
    assert (await books.dealings.request(order))["state"] == "waiting"
    assert [(name, reason) for name, reason, _ in await books.unmatched()] == [
        ("other_terms:E1", "unknown_order")
    ]


# --- Executions that no live order accounts for --------------------------------------------------------


async def test_a_fill_of_a_deleted_order_that_nobody_asks_for_is_a_break(books: Books) -> None:
    order = await books.withdrawn("buy", 40_000)
    await books.reconcile()
    assert await books.exposure() == Exposure()
    books.dealings.now_us += 365 * 86_400 * 1_000_000
    books.venue.execute(order, "E")
    await books.reconcile()
    assert await books.state(order) == ("broken", "E")
    assert await books.exposure() == Exposure(net_e4=0, hedged_e4=40_000, breaks=1)
    assert (await books.breaks(), await books.unmatched()) == (1, [])
    now = await books.dealings.reader.order(order.book_id, order.id)
    assert now is not None
    assert now.status == "deleted"


async def test_a_fill_of_a_deleted_order_that_is_still_asked_for_is_a_break_at_once(books: Books) -> None:
    order = await books.order("deleted")
    books.venue.execute(order, "E")
    await books.reconcile()
    await books.dealings.requests.withdraw(order)
    assert await books.state(order) == ("broken", "E")


async def test_a_fill_of_a_rejected_order_is_a_break(books: Books) -> None:
    order = await books.order("rejected", "sell", 30_000, "SILVER")
    books.venue.execute(order, "E")
    await books.reconcile()
    assert await books.state(order) == ("broken", "E")
    assert await books.exposure(Metal.SILVER) == Exposure(net_e4=0, hedged_e4=-30_000, breaks=1)


@pytest.mark.parametrize(
    ("instrument", "metal"), [("XAUUSD", "gold"), ("XAGUSD", "silver"), ("NOTHING", None)]
)
async def test_an_execution_of_no_order_of_ours_is_a_break(
    books: Books, instrument: str, metal: str | None
) -> None:
    books.venue.execute(trade_type="sell", quantity_e4=9, instrument=instrument)
    with structlog.testing.capture_logs() as logs:
        await books.reconcile()
    assert [entry["event"] for entry in logs] == ["execution_unmatched"]
    assert await books.unmatched() == [("V1", "unknown_order", -9)]
    assert await books.breaks() == 1
    for each in Metal:
        expected = Exposure(hedged_e4=-9, breaks=1) if each == metal else Exposure()
        assert await books.exposure(each) == expected


async def test_an_order_of_another_broker_does_not_account_for_it(books: Books) -> None:
    await books.dealings.rows("UPDATE hedge_requests SET broker = 'other'")
    order = await books.order("pending")
    await books.dealings.rows("UPDATE hedge_requests SET broker = 'other'")
    books.venue.execute(order)
    await books.reconcile()
    assert [reason for _, reason, _ in await books.unmatched()] == ["unknown_order"]
    assert (await books.dealings.request(order))["state"] == "waiting"


@pytest.mark.parametrize("status", ["open", "closed"])
async def test_a_second_execution_of_an_order_is_a_break(books: Books, status: str) -> None:
    order = await books.order(status, "buy", 20)
    known = (await books.dealings.request(order))["execution_id"]
    books.venue.execute(order, known)
    books.venue.execute(order, "second")
    books.venue.execute(order, "third", quantity_e4=3, trade_type="sell")
    await books.reconcile()
    assert await books.unmatched() == [
        ("second", "second_execution", 20),
        ("third", "second_execution", -3),
    ]
    assert await books.state(order) == ("answered", known)
    net_e4 = 20 if status == "open" else 0
    assert await books.exposure() == Exposure(net_e4, net_e4 + 17, breaks=2)


async def test_an_execution_id_that_comes_again_with_another_order_is_a_break_of_its_own(
    books: Books,
) -> None:
    """FIX asks for execution ids that are unique within a trading day."""
    for quantity_e4 in (20, 30):
        order = await books.order("open", "buy", quantity_e4)
        books.venue.execute(order, "again")
        await books.reconcile()
    assert [each[1:] for each in await books.unmatched()] == [
        ("second_execution", 20),
        ("second_execution", 30),
    ]
    assert await books.breaks() == 2


async def test_every_execution_of_an_order_that_is_gone_counts(books: Books) -> None:
    order = await books.withdrawn("buy", 20)
    books.venue.execute(order, "first")
    books.venue.execute(order, "second")
    await books.reconcile()
    assert await books.state(order) == ("broken", "first")
    assert await books.unmatched() == [("second", "second_execution", 20)]
    assert await books.exposure() == Exposure(net_e4=0, hedged_e4=40, breaks=2)


@pytest.mark.parametrize(
    ("differing", "excess_e4"),
    [({"quantity_e4": 55}, 35), ({"quantity_e4": 5}, -15), ({"trade_type": "sell"}, -40)],
)
@pytest.mark.parametrize("status", ["pending", "open", "deleted"])
async def test_another_side_or_weight_than_the_orders_is_a_break(
    books: Books, status: str, differing: dict[str, Any], excess_e4: int
) -> None:
    order = await books.order(status, "buy", 20)
    known = (await books.dealings.request(order))["execution_id"]
    books.venue.execute(order, known or "E", **differing)
    await books.reconcile()
    assert await books.unmatched() == [(known or "E", "differs", excess_e4)]
    net_e4 = 0 if status == "deleted" else 20
    assert await books.exposure() == Exposure(
        net_e4, 20 + excess_e4, breaks=2 if status == "deleted" else 1
    ), "what is hedged is what the venue executed"


async def test_two_executions_that_a_node_is_told_of_one_after_the_other_count_once_each(
    books: Books,
) -> None:
    """By answers to its questions, before it has read the list."""
    order = await books.order("pending", "buy", 20)
    for name in ("first", "second"):
        await books.dealings.answer(order, Confirmed(name))
        books.venue.execute(order, name)
    await books.reconcile()
    assert await books.unmatched() == [("second", "second_execution", 20)]
    assert await books.exposure() == Exposure(net_e4=20, hedged_e4=40, breaks=1)


async def test_a_fill_of_a_deal_that_the_venue_also_refused_still_counts(books: Books) -> None:
    order = await books.order("open", "buy", 20)
    known = (await books.dealings.request(order))["execution_id"]
    await books.dealings.answer(order, Declined("R", "no"))
    assert await books.exposure() == Exposure(net_e4=20, hedged_e4=0, breaks=1)
    books.venue.execute(order, known)
    await books.reconcile()
    assert await books.exposure() == Exposure(net_e4=20, hedged_e4=20, breaks=2)


# --- Seen again, by several nodes, and after failures --------------------------------------------------


async def test_a_break_that_was_resolved_is_not_shown_again(books: Books) -> None:
    order = await books.withdrawn()
    books.venue.execute(order)
    books.venue.execute(order)
    books.venue.execute()
    await books.reconcile()
    assert await books.breaks() == 3

    async def resolve(records: Any) -> None:
        assert await records.resolve_break(order, "dealer", "sold back")
        found, total = await records.unmatched_executions("main", Page(10, 0))
        assert total == 2
        for each in found:
            assert await records.resolve_unmatched("main", each, "dealer", "sold back")
            assert not await records.resolve_unmatched("main", each, "another", "again")

    await RecordStore(books.dealings.engine).write("resolve", resolve, catalogue=False)
    before = await books.dealings.rows("SELECT * FROM unmatched_executions ORDER BY execution_id")
    assert (await books.breaks(), await books.exposure()) == (0, Exposure())
    await books.dealings.rows("UPDATE execution_cursors SET position = ''")
    await books.reconcile()
    assert (await books.breaks(), await books.exposure()) == (0, Exposure())
    assert await books.dealings.rows("SELECT * FROM unmatched_executions ORDER BY execution_id") == before


async def test_two_nodes_at_once_do_what_one_does(books: Books, other: Books) -> None:
    orders = [await books.withdrawn("buy", 10) for _ in range(3)]
    orders += [await books.order("pending", "buy", 10) for _ in range(3)]
    for order in orders:
        books.venue.execute(order)
        books.venue.execute(order)
    books.venue.execute()
    await asyncio.gather(*(each.reconcile() for each in (books, other) * 3))
    assert await books.breaks() == 3 + 6 + 1
    assert await books.exposure() == Exposure(net_e4=30, hedged_e4=12 * 10 + 5, breaks=10)
    assert await books.records.cursor("main") == str(len(books.venue.made))
    await books.dealings.sound()


async def test_a_node_that_stood_still_does_not_move_the_cursor_back(books: Books, other: Books) -> None:
    books.venue.execute()
    await books.reconcile()
    books.venue.execute()
    await other.reconcile()
    await books.records.move_cursor("main", "", "1")
    await books.records.move_cursor("main", "1", "1")
    assert await books.records.cursor("main") == "2"
    assert await books.records.cursor("other") == ""


async def test_what_fails_in_the_middle_is_done_again_from_the_beginning(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = [await books.withdrawn("buy", 10) for _ in range(2)]
    for order in orders:
        books.venue.execute(order)
        books.venue.execute(order)
    for failing in ("answer", "add_unmatched", "move_cursor"):
        owner: Any = books.dealings.requests if failing == "answer" else books.records
        inner, calls = getattr(owner, failing), 0

        async def fail(*values: Any, inner: Any = inner) -> Any:
            nonlocal calls
            calls += 1
            if calls == 2:
                raise StoreUnavailable("gone")
            return await inner(*values)

        with monkeypatch.context() as patch:
            patch.setattr(owner, failing, fail)
            if failing == "move_cursor":
                calls = 1
            with pytest.raises(StoreUnavailable):
                await books.reconcile()
        assert await books.records.cursor("main") == ""
    await books.reconcile()
    states = [await books.state(order) for order in orders]
    assert {state for state, _ in states} == {"broken"}
    shown = [name for _, name in states] + [name for name, _, _ in await books.unmatched()]
    assert sorted(filter(None, shown)) == ["V1", "V2", "V3", "V4"], "each once, whichever came first"
    assert await books.exposure() == Exposure(hedged_e4=40, breaks=4)


async def test_one_that_cannot_be_written_does_not_keep_the_others_from_the_desk(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = await books.withdrawn()
    books.venue.execute(order)
    books.venue.execute()

    async def fail(*_: object) -> Order:
        raise StoreUnavailable("it cannot be written")

    with monkeypatch.context() as patch:
        patch.setattr(books.dealings.requests, "answer", fail)
        with pytest.raises(StoreUnavailable):
            await books.reconcile()
    assert [name for name, _, _ in await books.unmatched()] == ["V2"]
    assert await books.records.cursor("main") == "", "it is tried again"
    await books.reconcile()
    assert await books.breaks() == 2


@pytest.mark.parametrize("error", [asyncio.CancelledError("from within"), None], ids=["cancelled", "hangs"])
async def test_a_list_that_does_not_come_is_a_venue_out_of_reach(
    books: Books, monkeypatch: pytest.MonkeyPatch, error: BaseException | None
) -> None:
    async def executions(*_: object) -> Sequence[ListedExecution]:
        if error is not None:
            raise error
        await asyncio.Event().wait()
        return ()

    monkeypatch.setattr(reconciliation_module, "_LIST_S", 0.05)
    monkeypatch.setattr(books.venue, "executions", executions)
    with pytest.raises(VenueUnreachable):
        await books.reconcile()


async def test_a_venue_that_hangs_for_one_broker_does_not_delay_another(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = books.venue.executions

    async def executions(broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        if broker == "hangs":
            await asyncio.Event().wait()
        return await inner(broker, after, limit)

    monkeypatch.setattr(books.venue, "executions", executions)
    monkeypatch.setattr(books.reconciliation, "_brokers", lambda: ["hangs", "main"])
    books.venue.execute()
    running = asyncio.ensure_future(books.reconciliation.run())
    async with asyncio.timeout(20):
        while await books.records.cursor("main") != "1":
            await asyncio.sleep(0.001)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_many_executions_are_read_page_by_page(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconciliation_module, "_LISTED_MAX", 2)
    for _ in range(5):
        books.venue.execute()
    more = [await books.reconciliation.reconcile("main") for _ in range(4)]
    assert more == [True, True, False, False]
    assert await books.breaks() == 5


async def test_it_goes_on_after_failures_for_as_long_as_the_node_runs(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciliation_module, "EVERY_S", 0.001)
    books.venue.unreachable = True
    with structlog.testing.capture_logs() as logs:
        running = asyncio.ensure_future(books.reconciliation.run())
        await asyncio.sleep(0.01)
        assert [entry["event"] for entry in logs] == [], "the watch tells of a venue out of reach"
        books.venue.execute()
        with monkeypatch.context() as patch:
            failing = _failing(StoreUnavailable("gone"), KeyError("nonsense"))
            patch.setattr(books.records, "unaccounted", failing)
            books.venue.unreachable = False
            while len(logs) < 2:
                await asyncio.sleep(0.001)
        while await books.records.cursor("main") != "1":
            await asyncio.sleep(0.001)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert [entry["event"] for entry in logs[:2]] == ["reconciliation_failed"] * 2
    assert await books.breaks() == 1


def _failing(*errors: Exception) -> Any:
    left = list(errors)

    async def fail(*_values: object) -> Any:
        raise left.pop(0) if len(left) > 1 else left[0]

    return fail


# --- The cost -------------------------------------------------------------------------------------------


async def test_brokers_without_executions_share_their_questions(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every node looks every few seconds, for every broker."""
    dealings, brokers = books.dealings, [f"broker-{number}" for number in range(60)]
    order = await books.order("deleted")  # So that there is a number after all those cursors.
    book = StoredVenueBook(dealings.engine, lambda: 1)
    venue = SimulatedVenue(book, lambda: dealings.now_us)
    await venue.submit(HedgeRequest(order.id, "main", "XAUUSD", "buy", 5, 100, "gold", 1))
    looking = Reconciliation(venue, dealings.requests, books.records, lambda: brokers, lambda *_: None)

    async def look() -> None:
        await asyncio.gather(*(looking.reconcile(broker) for broker in brokers))

    await look()  # The first time cursors and the venue's behaviour are read.
    asked = 0
    for name in {"read", "statement"} & set(dir(dealings.engine)):
        original = getattr(dealings.engine, name)

        def count(*values: Any, _original: Any = original, **more: Any) -> Any:
            nonlocal asked
            asked += 1
            return _original(*values, **more)

        monkeypatch.setattr(dealings.engine, name, count)
    await look()
    assert 0 < asked < len(brokers) // 5
