"""What the desk reads and changes of production orders and their hedge, on both engines."""

import asyncio
from itertools import product

import pytest

from bullion.accounts.broker import Broker
from bullion.faults import StoreConflict, StoreFault
from bullion.hedge.simulated import Mode, VenueBehaviour
from bullion.hedge.venue import Confirmed, Tradeability
from bullion.orders import life
from bullion.orders.status import Event
from bullion.records.audit import Entry, Head
from bullion.records.hedges import Execution
from bullion.records.orders import OrderEvent, OrderFilter
from bullion.records.page import Page
from bullion.store import order_records
from bullion.store.engine import Engine
from bullion.store.records import Records, RecordStore

from .dealings import Dealings

pytestmark = pytest.mark.anyio

EVERY = Page(200, 0)
STATUSES = ["pending", "open", "closing", "closed", "rejected", "deleted"]
NEVER = "01a1de14-d0ac-74ff-b60f-dff545fade43"


@pytest.fixture
async def dealings(engine: Engine) -> Dealings:
    return await Dealings.open(engine)


@pytest.fixture
def records(engine: Engine) -> RecordStore:
    return RecordStore(engine)


def execution(order_id: str, outcome: str = "confirmed", execution_id: str = "DESK-1") -> Execution:
    return Execution(order_id, "XAUUSD", "buy", 10_000, outcome, execution_id, 1_000)


# --- Orders -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("few", [0, 1000], ids=["many orders", "few orders"])
async def test_the_desk_sees_and_counts_every_channels_orders_in_every_state(
    dealings: Dealings, records: RecordStore, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """Also those that the API hides, which are counted apart: none twice, none left out."""
    monkeypatch.setattr(order_records, "_FEW", few)
    placed = []
    for channel, state, book in product(("api", "web"), STATUSES, dealings.books):
        order = await dealings.place(book, source=channel)
        placed.append(await dealings.lead(order, state))
        dealings.now_us += 2_000
    for status, source, symbol in product([None, *STATUSES], [None, "api", "web"], [None, "GOLD", "SILVER"]):
        wanted = OrderFilter(status=status, source=source, symbol_code=symbol)
        expected = [
            order
            for order in reversed(placed)
            if status in (None, order.status)
            and source in (None, order.source)
            and symbol in (None, order.asked.symbol_code)
        ]

        async def look(open_: Records, wanted: OrderFilter = wanted) -> tuple[list[str], int]:
            found, total = await open_.orders("main", wanted, EVERY)
            return [each.order.id for each in found], total

        assert await records.read("orders", look) == ([order.id for order in expected], len(expected)), wanted


async def test_an_order_is_held_as_it_is_then(dealings: Dealings, records: RecordStore) -> None:
    order = await dealings.lead(await dealings.place(dealings.books[0]), "open")
    found = await records.write("hold", lambda open_: open_.lock_order("main", order.id), catalogue=False)
    assert found is not None
    assert (found.order, found.login_id, found.archived) == (order, "c1", False)
    for broker, order_id in (("main", NEVER), ("main", "x\0"), ("other", order.id)):
        assert await records.write("hold", lambda open_, b=broker, o=order_id: open_.lock_order(b, o)) is None  # type: ignore[misc]


async def test_a_change_is_written_with_its_life(dealings: Dealings, records: RecordStore) -> None:
    order = await dealings.lead(await dealings.place(dealings.books[0], source="web"), "open")

    async def close(open_: Records) -> list[OrderEvent]:
        found = await open_.lock_order("main", order.id)
        assert found is not None
        now = life.after(found.order, Event.CLOSE, 7)
        await open_.change_order(found.order, now, dealings.now_us + 7, "Asha", "as asked")
        return await open_.order_events(now)

    first, last = await records.write("close", close, catalogue=False)
    assert (first.status, first.actor) == ("open", "venue")
    assert last == OrderEvent("closing", dealings.now_us + 7, "Asha", "as asked")
    await dealings.sound()


async def test_of_two_who_hold_the_second_sees_what_the_first_did(
    dealings: Dealings, records: RecordStore
) -> None:
    order = await dealings.lead(await dealings.place(dealings.books[0]), "open")

    async def close(open_: Records) -> str:
        found = await open_.lock_order("main", order.id)
        assert found is not None
        try:
            now = life.after(found.order, Event.CLOSE, 7)
        except life.NotAllowed:
            return "too late"
        await open_.change_order(found.order, now, 7, "Asha", None)
        return "closed"

    done = await asyncio.gather(*(records.write("close", close, catalogue=False) for _ in range(8)))
    assert sorted(done) == ["closed", *["too late"] * 7]


# --- The trail without the catalogue ------------------------------------------------------------------------


async def test_the_catalogues_version_moves_only_for_what_nodes_keep(
    dealings: Dealings, records: RecordStore
) -> None:
    before = await dealings.version()
    await records.write("order", lambda open_: open_.order("main", NEVER), catalogue=False)
    assert await dealings.version() == before
    await records.write("order", lambda open_: open_.order("main", NEVER))
    assert await dealings.version() == before + 1


async def test_entries_that_are_appended_at_once_come_one_after_the_other(
    dealings: Dealings, records: RecordStore
) -> None:
    """With and without the catalogue's row in hand: nobody writes over another's head."""

    async def append(open_: Records) -> int:
        head = await open_.lock_audit_head("main")
        count = (head.count if head else 0) + 1
        entry = Entry("main", count, 1, "Asha", "place_order", "x", None, None, f"{count:064x}")
        await open_.append_audit(entry, Head(count, entry.hash, "seal"))
        return count

    await records.write("append", append)
    begun = [records.write("append", append, catalogue=number % 3 == 0) for number in range(24)]
    assert sorted(await asyncio.gather(*begun)) == list(range(2, 26))
    entries = await records.read("audit", lambda open_: open_.audit_after("main", 0, 100))
    assert [entry.ordinal for entry in entries] == list(range(1, 26))
    head = await records.read("head", lambda open_: open_.audit_head("main"))
    assert head == Head(25, f"{25:064x}", "seal")


async def test_bookings_and_the_desk_do_not_lock_each_other_out(
    dealings: Dealings, records: RecordStore
) -> None:
    """Book, then stock, then the trail: whoever waits, waits for somebody who goes on."""
    await dealings.put_stock("COIN", 10**9)
    book = dealings.books[0]
    orders = [await dealings.place(book, "buy", 10_000, "COIN") for _ in range(12)]

    async def delete(order_id: str) -> None:
        async def body(open_: Records) -> None:
            found = await open_.lock_order("main", order_id)
            assert found is not None
            await open_.change_order(
                found.order, life.after(found.order, Event.DELETE, 7), dealings.now_us, "Asha", None
            )
            await open_.lock_audit_head("main")

        await records.write("delete", body, catalogue=False)

    async def set_stock() -> None:
        async def body(open_: Records) -> None:
            held = await open_.lock_stock("main", "COIN")
            assert held is not None
            await open_.put_stock("main", "COIN", held)
            await open_.lock_audit_head("main")

        await records.write("set_stock", body)

    async def buy() -> None:
        for _ in range(20):
            try:
                _, recorded = await dealings.record_locked(dealings.entry(book, "buy", 10_000, "COIN"))
            except StoreConflict:
                continue
            if recorded.books[book].recorded:
                return
        raise AssertionError("the booking never came through")

    work = [
        *(delete(order.id) for order in orders),
        *(set_stock() for _ in range(6)),
        *(buy() for _ in range(6)),
    ]
    results = await asyncio.gather(*work, return_exceptions=True)
    assert [each for each in results if isinstance(each, StoreFault | AssertionError)] == []
    assert await dealings.stock("COIN") == 10**9 - 6 * 10_000


# --- Stock ------------------------------------------------------------------------------------------------


async def test_a_stock_is_held_and_set_or_dropped(dealings: Dealings, records: RecordStore) -> None:
    async def held(open_: Records) -> int | None:
        return await open_.lock_stock("main", "COIN")

    async def kept() -> bool:
        found = await records.read("symbol", lambda open_: open_.symbol("main", "COIN"))
        assert found is not None
        return found.symbol.stock_kept

    assert (await records.write("held", held), await kept()) == (None, False)
    await records.write("put", lambda open_: open_.put_stock("main", "COIN", 50_000))
    assert (await records.write("held", held), await kept()) == (50_000, True)
    await dealings.place(dealings.books[0], "buy", 20_000, "COIN")
    assert await records.write("held", held) == 30_000
    await records.write("drop", lambda open_: open_.put_stock("main", "COIN", None))
    assert (await records.write("held", held), await kept()) == (None, False)
    assert await records.write("none", lambda open_: open_.lock_stock("main", "x\0")) is None


# --- The hedge --------------------------------------------------------------------------------------------


async def test_the_queue_and_the_breaks(dealings: Dealings, records: RecordStore) -> None:
    waiting = [
        await dealings.place(book, source=source) for book in dealings.books for source in ("api", "web")
    ]
    deleted = await dealings.place(dealings.books[0])
    await dealings.change(deleted, Event.DELETE)
    queue, total = await records.read("queue", lambda open_: open_.hedge_queue("main", EVERY))
    expected = sorted(order.id for order in [*waiting, deleted])
    assert ([each.account_order.order.id for each in queue], total) == (expected, 5)
    assert {each.hedge.state for each in queue} == {"waiting"}
    assert {each.account_order.login_id for each in queue} == {"c1", "c2"}
    page, _ = await records.read("queue", lambda open_: open_.hedge_queue("main", Page(2, 1)))
    assert page == queue[1:3]
    nothing: tuple[list[object], int] = ([], 0)
    assert await records.read("breaks", lambda open_: open_.hedge_breaks("main", EVERY)) == nothing
    assert await records.read("queue", lambda open_: open_.hedge_queue("other", EVERY)) == nothing
    await dealings.answer(deleted, Confirmed("E-late"))
    (broken,), total = await records.read("breaks", lambda open_: open_.hedge_breaks("main", EVERY))
    assert (broken.account_order.order.id, broken.account_order.order.status, total) == (
        deleted.id,
        "deleted",
        1,
    )
    assert (broken.hedge.outcome, broken.hedge.execution_id) == ("confirmed", "E-late")
    assert (await records.read("queue", lambda open_: open_.hedge_queue("main", EVERY)))[1] == 4

    async def resolve(open_: Records) -> bool:
        return await open_.resolve_break(deleted, "Asha", "sold back")

    assert [await records.write("resolve", resolve, catalogue=False) for _ in range(2)] == [True, False]
    hedge = await records.read("hedge", lambda open_: open_.hedge(deleted))
    assert hedge is not None
    assert (hedge.state, hedge.resolved_by, hedge.resolution) == ("answered", "Asha", "sold back")
    assert await records.read("breaks", lambda open_: open_.hedge_breaks("main", EVERY)) == nothing
    # Nor does it come back when another node tells the same once more.
    await dealings.answer(deleted, Confirmed("E-late"))
    assert await records.read("breaks", lambda open_: open_.hedge_breaks("main", EVERY)) == nothing


async def test_the_desks_own_answer(dealings: Dealings, records: RecordStore) -> None:
    order = await dealings.place(dealings.books[0])

    async def answer(open_: Records) -> None:
        stands = await open_.execute("main", execution(order.id))
        await open_.answer_hedge(order, stands, "by hand")

    await records.write("answer", answer, catalogue=False)
    hedge = await records.read("hedge", lambda open_: open_.hedge(order))
    assert hedge is not None
    assert (hedge.state, hedge.outcome, hedge.execution_id) == ("answered", "confirmed", "DESK-1")
    assert (hedge.words, hedge.answered_at_us, hedge.instrument) == ("by hand", 1_000, "XAUUSD")
    await records.write("withdraw", lambda open_: open_.withdraw_hedge(order, 9), catalogue=False)
    assert (await records.read("hedge", lambda open_: open_.hedge(order))) == hedge


async def test_a_withdrawn_request_waits_no_longer(dealings: Dealings, records: RecordStore) -> None:
    order = await dealings.place(dealings.books[0])
    await records.write("withdraw", lambda open_: open_.withdraw_hedge(order, 9), catalogue=False)
    assert (await records.read("queue", lambda open_: open_.hedge_queue("main", EVERY)))[1] == 0
    hedge = await records.read("hedge", lambda open_: open_.hedge(order))
    assert hedge is not None
    assert hedge.state == "withdrawn"


async def test_the_first_word_on_an_order_stays(dealings: Dealings, records: RecordStore) -> None:
    order = await dealings.place(dealings.books[0])

    async def execute(open_: Records, outcome: str, execution_id: str) -> Execution:
        return await open_.execute("main", execution(order.id, outcome, execution_id))

    first = await records.write("execute", lambda open_: execute(open_, "refused", "DESK-1"))
    assert first == execution(order.id, "refused", "DESK-1")
    assert await records.write("execute", lambda open_: execute(open_, "confirmed", "DESK-2")) == first


async def test_executions_by_the_newest_order(dealings: Dealings, records: RecordStore) -> None:
    orders = []
    for _ in range(5):
        orders.append(await dealings.place(dealings.books[0]))
        dealings.now_us += 2_000

    async def execute_all(open_: Records) -> None:
        await open_.put_broker(Broker("other", "Other"))
        for order in orders[::-1]:
            await open_.execute("main", execution(order.id, execution_id=f"of {order.id}"))
        await open_.execute("other", execution(NEVER))

    await records.write("execute", execute_all)
    found, total = await records.read("executions", lambda open_: open_.executions("main", None, EVERY))
    assert ([each.order_id for each in found], total) == ([order.id for order in orders[::-1]], 5)
    page = await records.read("executions", lambda open_: open_.executions("main", None, Page(2, 2)))
    assert page == (found[2:4], 5)
    one = orders[1].id
    single = await records.read("executions", lambda open_: open_.executions("main", one, EVERY))
    assert single == ([execution(one, execution_id=f"of {one}")], 1)
    for broker, order_id in (("other", one), ("main", NEVER), ("main", "x\0")):
        look = records.read("one", lambda open_, b=broker, o=order_id: open_.executions(b, o, EVERY))  # type: ignore[misc]
        assert await look == ([], 0)


async def test_the_venues_conduct_is_each_brokers_own(dealings: Dealings, records: RecordStore) -> None:
    async def behaviour(open_: Records) -> VenueBehaviour:
        return await open_.venue_behaviour("main")

    assert await records.read("behaviour", behaviour) == VenueBehaviour("main")
    for wanted in (
        VenueBehaviour(
            "main", Mode.HOLD, 250, {"GOLD": Tradeability.SUSPENDED, "SILVER": Tradeability.UNKNOWN}
        ),
        VenueBehaviour("main", Mode.DOWN, 0, {}),
    ):
        await records.write("put", lambda open_, wanted=wanted: open_.put_venue_behaviour(wanted))  # type: ignore[misc]
        assert await records.read("behaviour", behaviour) == wanted
    other = await records.read("behaviour", lambda open_: open_.venue_behaviour("other"))
    assert other == VenueBehaviour("other")
