"""Hedge requests in the store: who deals with each and until when, and what the venue's word makes of it."""

import asyncio
from collections import Counter

import msgspec
import pytest

from bullion.booking.attempt import ToHedge
from bullion.booking.hedge_requests import LEASE_US, HedgeBacklog
from bullion.faults import StoreFault
from bullion.hedge.venue import Confirmed, Declined, FinalAnswer
from bullion.orders.status import Event
from bullion.store.engine import Engine
from tests.booking.fixtures import NOW_US
from tests.booking.small_blocks import small_blocks

from .dealings import PRICED, Dealings

pytestmark = pytest.mark.anyio

FILL, REFUSAL = Confirmed("E-1"), Declined("E-1", "Not today.")


@pytest.fixture
async def dealings(engine: Engine) -> Dealings:
    return await Dealings.open(engine)


@pytest.fixture
def others(dealings: Dealings, other_engine: Engine) -> Dealings:
    """Another node on the same store."""
    return Dealings(other_engine, [book - 1 for book in dealings.books], "another node")


async def claimed(dealings: Dealings, at_us: int, limit: int = 100) -> list[str]:
    return sorted(each.to_hedge.order.id for each in await dealings.requests.claim(at_us, limit))


# --- Leases -------------------------------------------------------------------------------------------


async def test_a_new_request_is_its_recorders_until_its_lease_ends(
    dealings: Dealings, others: Dealings
) -> None:
    order = await dealings.place(dealings.books[0], "sell", 7, "SILVER", source="web")
    for at_us in (NOW_US, NOW_US + LEASE_US):
        assert await claimed(others, at_us) == []
    (one,) = await others.requests.claim(NOW_US + LEASE_US + 1, 100)
    assert one.to_hedge == ToHedge(order, "main", "XAGUSD", took_stock=False)
    assert (one.tries, one.until_us) == (0, NOW_US + 2 * LEASE_US + 1)
    assert (await dealings.request(order))["holder"] == "another node"


async def test_what_is_claimed_is_nobody_elses_for_the_length_of_a_lease(
    dealings: Dealings, others: Dealings
) -> None:
    order = await dealings.place(dealings.books[0])
    at_us = NOW_US + 2 * LEASE_US
    assert await claimed(dealings, at_us) == [order.id]
    assert await claimed(others, at_us + LEASE_US) == []
    assert await claimed(dealings, at_us + LEASE_US) == []
    assert await claimed(others, at_us + LEASE_US + 1) == [order.id]


async def test_a_claim_takes_the_longest_due_first_and_no_more_than_asked_for(dealings: Dealings) -> None:
    orders = []
    for _ in range(5):
        orders.append(await dealings.place(dealings.books[0]))
        dealings.now_us += 10
    at_us = NOW_US + 2 * LEASE_US
    assert await claimed(dealings, at_us, 2) == [order.id for order in orders[:2]]
    assert await claimed(dealings, at_us + 1, 2) == [order.id for order in orders[2:4]]
    assert await claimed(dealings, at_us + 2, 100) == [orders[4].id]
    assert await claimed(dealings, at_us + 3, 100) == []


async def test_of_many_nodes_that_claim_at_once_each_gets_its_own(
    dealings: Dealings, others: Dealings
) -> None:
    for _ in range(20):
        await dealings.place(dealings.books[0])
    at_us = NOW_US + 2 * LEASE_US
    nodes = [dealings, others]
    taken = await asyncio.gather(*(claimed(nodes[turn % 2], at_us + turn, 7) for turn in range(8)))
    times = Counter(order_id for each in taken for order_id in each)
    assert set(times.values()) <= {1}
    rest = await claimed(dealings, at_us + 100)
    assert len(times) + len(rest) == 20


async def test_only_what_waits_is_claimed(dealings: Dealings) -> None:
    book = dealings.books[0]
    orders = {
        status: await dealings.lead(await dealings.place(book), status)
        for status in ("pending", "open", "rejected", "closed", "deleted")
    }
    await dealings.requests.withdraw(orders["deleted"])
    deleted = await dealings.lead(await dealings.place(book), "deleted")
    wanted = sorted([orders["pending"].id, deleted.id])
    claims = await dealings.requests.claim(NOW_US + 2 * LEASE_US, 100)
    assert sorted(each.to_hedge.order.id for each in claims) == wanted
    assert {each.to_hedge.order.status for each in claims} == {"pending", "deleted"}, "as they are now"


async def test_a_request_remembers_that_it_took_stock(dealings: Dealings) -> None:
    await dealings.put_stock("COIN", 10)
    await dealings.place(dealings.books[0], "buy", 10, "COIN")
    (one,) = await dealings.requests.claim(NOW_US + 2 * LEASE_US, 100)
    assert one.to_hedge.took_stock
    assert one.to_hedge.request().instrument == "COIN"


async def test_a_request_keeps_the_fineness_that_its_symbol_had(
    dealings: Dealings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PRICED, "GOLD", msgspec.structs.replace(PRICED["GOLD"], fineness_e4=9_160))
    await dealings.place(dealings.books[0], "buy", 20_000)
    monkeypatch.undo()
    (one,) = await dealings.requests.claim(NOW_US + 2 * LEASE_US, 100)
    assert (one.to_hedge.fineness_e4, one.to_hedge.request().fine_mg) == (9_160, 1_832)


async def test_what_is_postponed_is_due_again_then_and_the_tries_are_counted(
    dealings: Dealings, others: Dealings
) -> None:
    order = await dealings.place(dealings.books[0])
    for tries in range(1, 4):
        dealings.now_us += 1_000_000
        await dealings.requests.postpone(order, dealings.now_us, f"Asked {tries} times.")
        row = await dealings.request(order)
        assert (row["tries"], row["words"], row["state"]) == (tries, f"Asked {tries} times.", "waiting")
        assert await claimed(others, dealings.now_us) == []
    (one,) = await others.requests.claim(dealings.now_us + 1, 100)
    assert (one.to_hedge.order.id, one.tries) == (order.id, 3)


async def test_of_many_that_are_postponed_at_once_only_those_of_this_node_are(
    dealings: Dealings, others: Dealings
) -> None:
    """Each gets its own time and message."""
    orders = [await dealings.place(book) for book in dealings.books for _ in range(3)]
    taken, *kept = orders
    (claim,) = await others.requests.claim(NOW_US + 2 * LEASE_US, 1)
    assert claim.to_hedge.order.id == taken.id
    before = await dealings.request(taken)
    due = {order.id: NOW_US + 10 * number for number, order in enumerate(orders)}
    messages = {order.id: f'It\'s "{number}", {{}} \\ ₹' for number, order in enumerate(orders)}
    await asyncio.gather(
        *(dealings.requests.postpone(each, due[each.id], messages[each.id]) for each in orders)
    )
    assert await dealings.request(taken) == before
    for order in kept:
        row = await dealings.request(order)
        assert (row["due_at_us"], row["words"], row["tries"]) == (due[order.id], messages[order.id], 1)


@pytest.mark.parametrize("word", [FILL, REFUSAL], ids=["fill", "refusal"])
async def test_what_was_answered_is_neither_postponed_nor_withdrawn(
    dealings: Dealings, word: FinalAnswer
) -> None:
    order = await dealings.answer(await dealings.place(dealings.books[0]), word)
    before = await dealings.request(order)
    await dealings.requests.postpone(order, 1, "late")
    await dealings.requests.withdraw(order)
    assert await dealings.request(order) == before


# --- The venue's word ---------------------------------------------------------------------------------


async def test_a_confirmation_makes_a_deal_of_a_pending_order(dealings: Dealings) -> None:
    order = await dealings.place(dealings.books[0], source="web")
    dealings.now_us += 9
    opened = await dealings.answer(order, FILL)
    assert (opened.status, opened.deal_no) == ("open", 1)
    assert await dealings.reader.order(order.book_id, order.id) == opened
    row = await dealings.request(order)
    assert (row["state"], row["outcome"], row["execution_id"]) == ("answered", "confirmed", "E-1")
    assert (row["answered_at_us"], row["words"]) == (NOW_US + 9, "execution E-1")
    await dealings.sound()


async def test_a_refusal_rejects_it_and_lets_its_weight_go(dealings: Dealings) -> None:
    order = await dealings.place(dealings.books[0], "sell", 50)
    rejected = await dealings.answer(order, REFUSAL)
    assert (rejected.status, rejected.deal_no) == ("rejected", None)
    assert (await dealings.book(order.book_id)).gold.net_e4 == 0
    row = await dealings.request(order)
    assert (row["state"], row["outcome"], row["words"]) == ("answered", "refused", "Not today.")
    await dealings.sound()


async def test_many_words_at_once_on_many_books_are_each_taken_once(
    dealings: Dealings, others: Dealings
) -> None:
    await dealings.put_stock("COIN", 10**6)
    orders = [
        await dealings.place(book, side, 10 + number, symbol, source=source)
        for number in range(4)
        for book in dealings.books
        for side, symbol, source in (("buy", "COIN", "api"), ("sell", "GOLD", "web"))
    ]
    words = {
        order.id: Declined(f"R-{order.id}", "no") if number % 3 == 0 else Confirmed(f"C-{order.id}")
        for number, order in enumerate(orders)
    }
    done = await asyncio.gather(
        *(node.answer(order, words[order.id]) for order in orders for node in (dealings, others))
    )
    for one, again in zip(done[::2], done[1::2], strict=True):
        assert one == again
        assert one.status == ("open" if isinstance(words[one.id], Confirmed) else "rejected")
    numbers = [order.deal_no for order in done[::2] if order.status == "open"]
    assert len(set(numbers)) == len(numbers)
    tables = await dealings.sound()
    assert len(tables["order_events"]) == len(orders), "each was told once"


async def test_confirmations_are_counted_whether_or_not_their_block_is_summed(dealings: Dealings) -> None:
    async with small_blocks(dealings.engine):
        orders = [
            await dealings.place(book, source=source)
            for source in ("api", "web", "api")
            for book in dealings.books * 2
        ]
        done = await asyncio.gather(*map(dealings.answer, orders))
        tables = await dealings.sound()
    assert {order.status for order in done} == {"open"}
    assert {row["unsummed_from"] for row in tables["books"] if row["order_count"]} == {4}
    opened = [row for row in tables["block_counts"] if row["status"] == "open" and row["level"] == 0]
    assert sum(row["orders"] for row in opened) == len(dealings.books) * 3


async def test_deal_numbers_rise_with_time(dealings: Dealings) -> None:
    orders = [await dealings.place(book) for book in dealings.books * 3]
    numbers = [(await dealings.answer(order)).deal_no or 0 for order in reversed(orders)]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("word", [FILL, REFUSAL], ids=["fill", "refusal"])
async def test_the_same_word_again_changes_nothing(dealings: Dealings, word: FinalAnswer) -> None:
    order = await dealings.place(dealings.books[0])
    first = await dealings.answer(order, word)
    before = await dealings.sound()
    dealings.now_us += 7
    assert await dealings.answer(order, word) == first
    after = await dealings.sound()
    del before["deals"], after["deals"]  # A number may be left out.
    assert after == before


@pytest.mark.parametrize(
    ("led_to", "word", "broken"),
    [
        ("open", Declined("another", "no"), True),
        ("closing", Declined("another", "no"), True),
        ("closed", Declined("another", "no"), True),
        ("rejected", Confirmed("another"), True),
        ("rejected", Declined("another", "no"), False),
        ("deleted", Confirmed("late"), True),
        ("deleted", Declined("late", "no"), False),
    ],
)
async def test_a_later_word_never_changes_the_order_and_is_a_break_where_it_contradicts(
    dealings: Dealings, led_to: str, word: FinalAnswer, broken: bool
) -> None:
    await dealings.put_stock("COIN", 10**6)
    order = await dealings.lead(await dealings.place(dealings.books[0], "buy", 10, "COIN"), led_to)
    before = await dealings.book(order.book_id)
    assert await dealings.answer(order, word) == order
    assert await dealings.reader.order(order.book_id, order.id) == order
    assert await dealings.book(order.book_id) == before
    row = await dealings.request(order)
    assert row["state"] == ("broken" if broken else "answered")
    if broken:
        assert (row["outcome"], row["execution_id"]) == (
            "confirmed" if isinstance(word, Confirmed) else "refused",
            word.execution_id,
        )
    assert (await dealings.requests.backlog()).breaks == broken


@pytest.mark.parametrize("led_to", ["open", "closing", "closed"])
async def test_a_second_execution_of_a_deal_is_a_break_beside_its_request(
    dealings: Dealings, led_to: str
) -> None:
    order = await dealings.lead(await dealings.place(dealings.books[0], "sell", 70), led_to)
    before = await dealings.request(order)
    for _ in range(2):
        assert await dealings.answer(order, Confirmed("another")) == order
    assert await dealings.request(order) == before
    (row,) = await dealings.rows("SELECT * FROM unmatched_executions")
    assert (row["execution_id"], row["order_id"], row["reason"]) == ("another", order.id, "second_execution")
    assert (row["metal"], row["instrument"], row["excess_e4"]) == ("gold", "XAUUSD", -70)
    assert (await dealings.requests.backlog()).breaks == 1


async def test_a_break_stays_as_it_is_whatever_the_venue_says_next(dealings: Dealings) -> None:
    order = await dealings.lead(await dealings.place(dealings.books[0]), "deleted")
    await dealings.answer(order, Confirmed("one"))
    before = await dealings.request(order)
    assert before["state"] == "broken"
    for word in (Confirmed("two"), Declined("three", "no"), Confirmed("one")):
        assert await dealings.answer(order, word) == order
        assert await dealings.request(order) == before
    (second,) = await dealings.rows("SELECT execution_id FROM unmatched_executions")
    assert second["execution_id"] == "two"
    assert await claimed(dealings, NOW_US + 10**9) == []


async def test_an_order_that_was_deleted_while_the_venue_was_asked_is_not_revived(dealings: Dealings) -> None:
    order = await dealings.place(dealings.books[0])
    to_hedge = ToHedge(order, "main", "XAUUSD")
    done = await asyncio.gather(
        dealings.requests.answer(to_hedge, FILL),
        dealings.change(order, Event.DELETE),
        return_exceptions=True,
    )
    now = await dealings.reader.order(order.book_id, order.id)
    assert now is not None
    assert now.status == "deleted", done
    row = await dealings.request(order)
    # Deleted after it had become a deal, or before: then the fill is a break.
    assert row["state"] == ("answered" if now.deal_no else "broken")
    assert (await dealings.book(order.book_id)).gold.net_e4 == 0


async def test_the_word_on_an_order_that_the_store_does_not_have_is_a_fault(dealings: Dealings) -> None:
    order = await dealings.place(dealings.books[0])
    await dealings.rows("DELETE FROM orders")
    for word in (FILL, REFUSAL):
        with pytest.raises(StoreFault):
            await dealings.requests.answer(ToHedge(order, "main", "XAUUSD"), word)


async def test_how_many_wait_and_since_when(dealings: Dealings) -> None:
    assert await dealings.requests.backlog() == HedgeBacklog(0, None, 0)
    first = await dealings.place(dealings.books[1])
    dealings.now_us += 5_000_000
    second = await dealings.place(dealings.books[0])
    assert await dealings.requests.backlog() == HedgeBacklog(2, NOW_US, 0)
    await dealings.answer(first, FILL)
    assert await dealings.requests.backlog() == HedgeBacklog(1, NOW_US + 5_000_000, 0)
    await dealings.requests.withdraw(second)
    assert await dealings.requests.backlog() == HedgeBacklog(0, None, 0)
