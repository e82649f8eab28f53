"""What an event writes on both engines: the order, its life, the counts, its book and weights, its stock."""

import asyncio

import pytest

from bullion.faults import StoreConflict, StoreFault
from bullion.orders import life
from bullion.orders.status import Event, Status
from bullion.store import order_changes, prepared_queries
from bullion.store.engine import Engine, Transaction
from tests.orders.test_status import SPECIFIED

from .dealings import Dealings

pytestmark = pytest.mark.anyio

STATUSES = ["pending", "open", "closing", "closed", "rejected", "deleted"]
LETTING_GO = {"closed", "rejected", "deleted"}
PRICE = {"close_price_paise": 7_200_000}


@pytest.fixture
async def dealings(engine: Engine) -> Dealings:
    found = await Dealings.open(engine)
    await found.put_stock("COIN", 1_000_000)
    return found


@pytest.mark.parametrize(
    ("side", "symbol", "source"),
    [("buy", "COIN", "api"), ("sell", "COIN", "web"), ("buy", "SILVER", "web"), ("sell", "GOLD", "api")],
)
async def test_every_way_through_an_orders_life_keeps_all_in_step(
    dealings: Dealings, side: str, symbol: str, source: str
) -> None:
    book = dealings.books[0]
    await dealings.place(book, "buy", 77_000, "COIN")  # That stays beside them.
    held = (await dealings.book(book)).gold.net_e4
    for status in STATUSES:
        order = await dealings.place(book, side, 30_000, symbol, source=source)
        now = await dealings.lead(order, status)
        assert now.status == status
        assert await dealings.reader.order(book, order.id) == now
        tables = await dealings.sound()
        if status in LETTING_GO:
            (row,) = [row for row in tables["books"] if row["id"] == book]
            assert row["order_count"] == order.ordinal
    after = await dealings.book(book)
    held += {("buy", "COIN"): 90_000, ("sell", "COIN"): -90_000, ("sell", "GOLD"): -90_000}.get(
        (side, symbol), 0
    )
    assert after.gold.net_e4 == held
    assert after.silver.net_e4 == (90_000 if symbol == "SILVER" else 0)
    taken = 77_000 + (90_000 if (side, symbol) == ("buy", "COIN") else 0)
    assert await dealings.stock("COIN") == 1_000_000 - taken


@pytest.mark.parametrize("status", STATUSES)
async def test_what_the_state_does_not_allow_writes_nothing(dealings: Dealings, status: str) -> None:
    for event in Event:
        order = await dealings.lead(await dealings.place(dealings.books[0], "buy", 5, "COIN"), status)
        values = PRICE if event is Event.COMPLETE else {}
        if (status, event.value) in SPECIFIED:
            assert (await dealings.change(order, event, **values)).status == SPECIFIED[status, event.value]
            continue
        before = await dealings.read()
        with pytest.raises(life.NotAllowed):
            await dealings.change(order, event, **values)
        assert await dealings.read() == before


async def test_a_close_is_written_with_its_price_its_result_and_its_time(dealings: Dealings) -> None:
    book = dealings.books[0]
    order = await dealings.lead(await dealings.place(book, "sell", 25_000), "closing")
    dealings.now_us += 5
    closed = await dealings.change(order, Event.COMPLETE, **PRICE)
    assert (closed.close_price_paise, closed.realized_pnl_paise) == (7_200_000, -50_000)
    assert closed.closed_at_us == dealings.now_us
    assert await dealings.reader.order(book, order.id) == closed


async def test_a_life_is_kept_with_who_did_it_when_and_why(dealings: Dealings) -> None:
    order = await dealings.place(dealings.books[0])
    dealings.now_us += 1
    order = await dealings.answer(order)
    dealings.now_us += 1
    await dealings.change(order, Event.CLOSE)
    events = await dealings.rows("SELECT status, at_us, actor, words FROM order_events ORDER BY at_us")
    assert [(row["status"], row["at_us"] - order.created_at_us, row["actor"]) for row in events] == [
        ("open", 1, "venue"),
        ("closing", 2, "dealer"),
    ]
    assert events[0]["words"].startswith("execution E")
    assert events[1]["words"] == "to closing"


async def test_only_what_lets_weight_go_moves_the_books_version(dealings: Dealings) -> None:
    """What was decided on the book before still holds if nothing was let go of."""
    book = dealings.books[0]
    order = await dealings.place(book)
    version = (await dealings.book(book)).version
    order = await dealings.answer(order)
    order = await dealings.change(order, Event.CLOSE)
    assert (await dealings.book(book)).version == version
    plan = dealings.planned(await dealings.book(book), dealings.entry(book))
    await dealings.change(order, Event.COMPLETE, **PRICE)
    assert (await dealings.book(book)).version == version + 1
    assert not (await dealings.record(plan)).books[book].recorded


async def test_an_order_that_changed_behind_the_back_of_whoever_holds_it_is_a_conflict(
    dealings: Dealings,
) -> None:
    order = await dealings.lead(await dealings.place(dealings.books[0]), "open")
    now = life.after(order, Event.CLOSE, 1)
    await dealings.change(order, Event.DELETE)
    before = await dealings.read()

    async def body(transaction: Transaction) -> None:
        await order_changes.write(transaction, order, now, 1, "dealer")

    with pytest.raises((StoreConflict, StoreFault)):
        await dealings.engine.write("late", body)
    assert await dealings.read() == before


async def test_of_many_who_act_at_once_one_is_first_and_the_others_are_told(
    dealings: Dealings, other_engine: Engine
) -> None:
    await dealings.put_stock("COIN", 1_000_000)
    order = await dealings.lead(await dealings.place(dealings.books[0], "buy", 5, "COIN"), "closing")
    nodes = [dealings, Dealings(other_engine, [book - 1 for book in dealings.books])]
    done = await asyncio.gather(
        *(
            nodes[number % 2].change(order, *act)
            for number, act in enumerate([(Event.DELETE,)] * 4 + [(Event.CLOSE,)] * 2)
        ),
        return_exceptions=True,
    )
    assert [type(each) for each in done].count(life.NotAllowed) == 5
    assert [each.status for each in done if not isinstance(each, BaseException)] == ["deleted"]
    assert await dealings.stock("COIN") == 1_000_000
    await dealings.sound()


async def test_an_order_that_is_not_there_is_none(dealings: Dealings) -> None:
    book = dealings.books[0]
    found = await dealings.engine.write(
        "hold", lambda open_: order_changes.lock(open_, book, 1), holding=prepared_queries.CHANGE
    )
    assert found is None


# --- Deal numbers -------------------------------------------------------------------------------------


async def test_deal_numbers_rise_within_each_broker(dealings: Dealings) -> None:
    async def numbers(broker: str, times: int) -> list[int]:
        async def body(transaction: Transaction) -> list[int]:
            return [await order_changes.next_deal_no(transaction, broker) for _ in range(times)]

        return await dealings.engine.write("numbers", body)

    await dealings.open_other_broker()
    assert await numbers("main", 3) == [1, 2, 3]
    assert await numbers("other", 1) == [1]
    assert await numbers("main", 2) == [4, 5]


async def test_a_number_that_was_given_in_vain_is_given_again_or_left_out_but_never_used_twice(
    dealings: Dealings,
) -> None:
    async def body(transaction: Transaction) -> None:
        await order_changes.next_deal_no(transaction, "main")
        raise LookupError

    with pytest.raises(LookupError):
        await dealings.engine.write("in vain", body)
    orders = [await dealings.lead(await dealings.place(book), "open") for book in dealings.books * 2]
    numbers = [order.deal_no or 0 for order in orders]
    assert numbers == sorted(set(numbers))


# --- Stock goes back to where it came from ------------------------------------------------------------


@pytest.mark.parametrize("status", sorted(LETTING_GO))
async def test_a_buys_weight_goes_back_to_its_stock_and_a_sells_does_not(
    dealings: Dealings, status: str
) -> None:
    book = dealings.books[0]
    bought = await dealings.place(book, "buy", 300_000, "COIN")
    sold = await dealings.place(book, "sell", 500_000, "COIN")
    assert await dealings.stock("COIN") == 700_000
    await dealings.lead(sold, status)
    assert await dealings.stock("COIN") == 700_000
    await dealings.lead(bought, status)
    assert await dealings.stock("COIN") == 1_000_000
    await dealings.sound()


async def test_a_buy_that_took_nothing_gives_nothing_back(dealings: Dealings) -> None:
    """The desk began to keep a stock of it only after it was bought."""
    order = await dealings.place(dealings.books[0], "buy", 300_000, "GOLD")
    await dealings.put_stock("GOLD", 1_000)
    await dealings.lead(order, "deleted")
    assert await dealings.stock("GOLD") == 1_000


async def test_what_was_taken_before_the_desk_stopped_keeping_a_stock_goes_nowhere(
    dealings: Dealings,
) -> None:
    order = await dealings.place(dealings.books[0], "buy", 300_000, "COIN")
    await dealings.put_stock("COIN", None)
    assert (await dealings.lead(order, "rejected")).status == "rejected"
    assert await dealings.stock("COIN") is None


async def test_what_the_desk_set_meanwhile_is_added_to(dealings: Dealings) -> None:
    order = await dealings.place(dealings.books[0], "buy", 300_000, "COIN")
    await dealings.put_stock("COIN", 50)
    await dealings.lead(order, "closed")
    assert await dealings.stock("COIN") == 300_050


def test_every_state_of_production_was_tried() -> None:
    assert set(STATUSES) == set(Status) - {Status.FILLED}
