"""What both ledgers promise of production books: requests and weights with their orders, and stock.

`TEST_SCALE` multiplies the number of random histories, for a campaign.
"""

import asyncio
import random
from collections import Counter

import msgspec
import pytest

from bullion.booking.attempt import Booked
from bullion.booking.decide import Plan
from bullion.faults import StoreFault
from bullion.orders.order import Order
from bullion.orders.verdict import Refusal
from bullion.refusals.catalogue import TRADING_HALTED
from bullion.store.engine import Engine
from tests.booking.fixtures import GOLD, NOW_US, put, set_limit, store_of
from tests.booking.small_blocks import small_blocks
from tests.model import invariants
from tests.support.scale import SCALE

from .dealings import PRICED, Dealings

pytestmark = pytest.mark.anyio


@pytest.fixture
async def dealings(engine: Engine) -> Dealings:
    return await Dealings.open(engine)


def codes(plan: Plan) -> list[str]:
    return ["booked" if isinstance(outcome, Booked) else outcome.refusal.code for _, outcome in plan.outcomes]


# --- Recorded with their orders -----------------------------------------------------------------------


async def test_orders_come_with_their_hedge_requests_and_open_weights(dealings: Dealings) -> None:
    one, other = dealings.books
    plans = [
        dealings.planned(
            await dealings.book(one),
            dealings.entry(one, "buy", 30_000),
            dealings.entry(one, "sell", 10_000, source="web"),
            dealings.entry(one, "sell", 7, "SILVER", client_order_id="ref"),
        ),
        dealings.planned(await dealings.book(other), dealings.entry(other, "buy", 5, "SILVER")),
    ]
    await dealings.record(*plans)
    requests = await dealings.rows("SELECT * FROM hedge_requests ORDER BY book_id, ordinal")
    orders = [order for plan in plans for order in plan.orders]
    assert [(row["book_id"], row["ordinal"], row["order_id"]) for row in requests] == [
        (order.book_id, order.ordinal, order.id) for order in orders
    ]
    assert [row["instrument"] for row in requests] == ["XAUUSD", "XAUUSD", "XAGUSD", "XAGUSD"]
    for row in requests:
        assert (row["state"], row["holder"], row["broker"]) == ("waiting", "this node", "main")
        assert (row["due_at_us"], row["tries"], row["took_stock"]) == (NOW_US + 5_000_000, 0, 0)
    weights = await dealings.rows("SELECT * FROM open_weights ORDER BY book_id, symbol_code")
    assert [tuple(row.values()) for row in weights] == [
        (one, "GOLD", "gold", 30_000, 10_000),
        (one, "SILVER", "silver", 0, 7),
        (other, "SILVER", "silver", 5, 0),
    ]
    await dealings.sound()


async def test_weights_add_up_over_batches(dealings: Dealings) -> None:
    book = dealings.books[0]
    for side, quantity_e4 in (("buy", 5), ("buy", 6), ("sell", 4), ("sell", 30)):
        await dealings.place(book, side, quantity_e4)
    found, weights = await dealings.reader.book_with_weights(book)
    assert [(each.symbol_code, each.buy_e4, each.sell_e4) for each in weights] == [("GOLD", 11, 34)]
    assert found.gold.net_e4 == 11 - 34
    await dealings.sound()


async def test_test_orders_have_neither(dealings: Dealings) -> None:
    test_book = dealings.books[0] - 1
    entry = dealings.entry(test_book)
    entry.verdict = msgspec.structs.replace(PRICED["GOLD"], instrument=None)
    plan = dealings.planned(await dealings.book(test_book), entry)
    assert (await dealings.record(plan)).books[test_book].recorded
    assert await dealings.rows("SELECT 1 FROM hedge_requests UNION ALL SELECT 1 FROM open_weights") == []
    await dealings.sound()


@pytest.mark.parametrize("why", ["moved", "settled", "catalogue", "broken row"])
async def test_what_is_not_recorded_leaves_no_request_and_no_weight(dealings: Dealings, why: str) -> None:
    book = dealings.books[0]
    first = await dealings.place(book, key="taken")
    before = await dealings.sound()
    plan = dealings.planned(await dealings.book(book), dealings.entry(book, key="new"))
    version = await dealings.version()
    match why:
        case "moved":
            await set_limit(dealings.engine, book, 10**11, 10**11)
        case "settled":
            plan = dealings.planned(
                await dealings.book(book),
                dealings.entry(book, key="new"),
                dealings.entry(book, key="taken"),
            )
        case "catalogue":
            await put(dealings.engine, GOLD)
        case "broken row":
            plan.orders[0] = msgspec.structs.replace(plan.orders[0], price_paise=0)
    if why == "broken row":
        with pytest.raises(StoreFault):
            await dealings.record(plan, version=version)
    else:
        assert not (await dealings.record(plan, version=version)).books[book].recorded
    after = await dealings.sound()
    for table in ("orders", "hedge_requests", "open_weights", "block_counts"):
        assert after[table] == before[table]
    assert [row["id"] for row in after["orders"]] == [first.id]


async def test_a_request_that_breaks_a_rule_takes_its_order_along(dealings: Dealings) -> None:
    """A test book can have no hedge request, whatever a plan says."""
    test_book = dealings.books[0] - 1
    plan = dealings.planned(await dealings.book(test_book), dealings.entry(test_book))
    assert plan.to_hedge
    with pytest.raises(StoreFault):
        await dealings.record(plan)
    assert (await dealings.sound())["orders"] == []


async def test_orders_of_other_channels_are_counted_apart_while_they_are_hidden(dealings: Dealings) -> None:
    book = dealings.books[0]
    async with small_blocks(dealings.engine, (2, 8, 32)):
        await dealings.record(
            dealings.planned(
                await dealings.book(book),
                *(dealings.entry(book, source=source) for source in ("api", "web", "mobile", "api", "web")),
            )
        )
    counts = await dealings.rows("SELECT status, orders FROM block_counts WHERE level = 3 ORDER BY status")
    assert [tuple(row.values()) for row in counts] == [
        ("pending", 2),
        ("pending elsewhere", 3),
        ("shown", 2),
    ]


async def test_kinds_are_counted_right_across_the_border_of_a_block(dealings: Dealings) -> None:
    """Three orders whose block is full, and one whose block is not: it is in no count."""
    book = dealings.books[0]
    # Where the book stands, without the orders that would have led there.
    await dealings.rows("UPDATE books SET order_count = 6, unsummed_from = 6 WHERE id = $1", book)
    sizes = (2, 8, 32)
    async with small_blocks(dealings.engine, sizes):
        plan = dealings.planned(
            await dealings.book(book),
            *(dealings.entry(book, source=source) for source in ("api", "web", "web", "api")),
        )
        assert (await dealings.record(plan)).books[book].recorded
        for order, status in zip(plan.orders, ("open", "rejected", "open", "deleted"), strict=True):
            await dealings.lead(order, status)
    counts = await dealings.rows("SELECT level, block, status, orders FROM block_counts WHERE orders <> 0")
    wanted: Counter[tuple[int, int, str]] = Counter()
    for ordinal, kinds in {7: ("open", "shown"), 8: ("rejected elsewhere",), 9: ("open", "shown")}.items():
        for level, size in enumerate((*sizes, 2**62)):
            for kind in kinds:
                wanted[level, ordinal // size, kind] += 1
    assert {(row["level"], row["block"], row["status"]): row["orders"] for row in counts} == wanted


@pytest.mark.parametrize("seed", range(2 * SCALE))
async def test_counts_are_right_whatever_becomes_of_orders(dealings: Dealings, seed: int) -> None:
    """Before and after their blocks are summed, one by one and many confirmed at once."""
    chance = random.Random(seed)  # noqa: S311
    book = dealings.books[0]
    pending: list[Order] = []
    deals: list[Order] = []
    async with small_blocks(dealings.engine, (2, 8, 32)):
        for _ in range(40):
            entries = [
                dealings.entry(book, chance.choice(["buy", "sell"]), source=chance.choice(["api", "web"]))
                for _ in range(chance.randrange(4))
            ]
            plan = dealings.planned(await dealings.book(book), *entries)
            if entries:
                assert (await dealings.record(plan)).books[book].recorded
            pending += plan.orders
            chance.shuffle(pending)
            confirmed = [pending.pop() for _ in range(chance.randrange(4)) if pending]
            deals += await asyncio.gather(*(dealings.answer(order) for order in confirmed))
            if pending and chance.random() < 0.5:
                await dealings.lead(pending.pop(), chance.choice(["rejected", "deleted"]))
            if deals and chance.random() < 0.5:
                await dealings.close(deals.pop(chance.randrange(len(deals))), complete=chance.random() < 0.5)
            tables = await invariants.read(store_of(dealings.engine))
            assert invariants.counts(tables) == []
    assert any(row["level"] == 2 and row["block"] for row in tables["block_counts"])


# --- Stock --------------------------------------------------------------------------------------------


async def test_stock_is_seen_and_taken_under_its_lock(dealings: Dealings) -> None:
    await dealings.put_stock("COIN", 25_000)
    book = dealings.books[0]
    (plan,), _ = await dealings.record_locked(
        dealings.entry(book, "buy", 20_000, "COIN"),
        dealings.entry(book, "buy", 6_000, "COIN"),
        dealings.entry(book, "sell", 90_000, "COIN"),
        dealings.entry(book, "buy", 5_000, "COIN"),
        dealings.entry(book, "buy", 5_000, "GOLD"),
    )
    assert codes(plan) == ["booked", "out_of_stock", "booked", "booked", "booked"]
    assert await dealings.stock("COIN") == 0
    took = await dealings.rows("SELECT took_stock FROM hedge_requests ORDER BY ordinal")
    assert [row["took_stock"] for row in took] == [1, 0, 1, 0]
    await dealings.sound()


async def test_a_stock_that_the_desk_does_not_keep_holds_nothing(dealings: Dealings) -> None:
    book = dealings.books[0]
    (plan,), recorded = await dealings.record_locked(dealings.entry(book, "buy", 1, "COIN"))
    assert codes(plan) == ["out_of_stock"]
    assert (plan.orders, recorded.books[book].recorded) == ([], True)
    assert await dealings.stock("COIN") is None


@pytest.mark.parametrize("why", ["settled", "catalogue"])
async def test_what_is_not_recorded_takes_no_stock(dealings: Dealings, why: str) -> None:
    await dealings.put_stock("COIN", 50_000)
    book = dealings.books[0]
    await dealings.place(book, key="taken")
    version = await dealings.version() - (why == "catalogue")
    key = "taken" if why == "settled" else "new"
    _, recorded = await dealings.record_locked(
        dealings.entry(book, "buy", 10_000, "COIN", key=key), version=version
    )
    assert not recorded.books[book].recorded
    assert await dealings.stock("COIN") == 50_000
    await dealings.sound()


async def test_each_broker_has_a_stock_of_its_own(dealings: Dealings) -> None:
    await dealings.open_other_broker()
    await dealings.put_stock("COIN", 50_000)
    await dealings.put_stock("COIN", 7, broker="other")
    await dealings.place(dealings.books[0], "buy", 10_000, "COIN")
    assert (await dealings.stock("COIN"), await dealings.stock("COIN", "other")) == (40_000, 7)


async def test_a_stock_that_many_books_buy_from_at_once_is_never_oversold(
    dealings: Dealings, other_engine: Engine
) -> None:
    await dealings.put_stock("COIN", 100)
    nodes = [dealings, Dealings(other_engine, [book - 1 for book in dealings.books], "another node")]
    version = await dealings.version()
    done = await asyncio.gather(
        *(
            nodes[number % 2].record_locked(
                dealings.entry(dealings.books[number // 2 % 2], "buy", 15, "COIN"), version=version
            )
            for number in range(12)
        )
    )
    told = Counter(code for (plan,), _ in done for code in codes(plan))
    assert told == {"booked": 6, "out_of_stock": 6}
    assert await dealings.stock("COIN") == 10
    holders = await dealings.rows("SELECT DISTINCT holder FROM hedge_requests")
    assert {row["holder"] for row in holders} <= {"this node", "another node"}
    await dealings.sound()


async def test_out_of_stock_leaves_the_key_free(dealings: Dealings) -> None:
    await dealings.put_stock("COIN", 5)
    book = dealings.books[0]
    (plan,), _ = await dealings.record_locked(dealings.entry(book, "buy", 6, "COIN", key="k"))
    assert isinstance(plan.outcomes[0][1], Refusal)
    assert await dealings.ledger.settled([(book, "api", "k")]) == {}
    await dealings.put_stock("COIN", 6)
    assert (await dealings.place(book, "buy", 6, "COIN", key="k")).status == "pending"


# --- A lost answer ------------------------------------------------------------------------------------


async def test_verify_finds_what_was_recorded_and_leaves_the_book_as_it_is(dealings: Dealings) -> None:
    book = dealings.books[0]
    order = await dealings.place(book, key="there")
    before = await dealings.book(book)
    assert await dealings.ledger.verify(book, [(book, "api", "there")]) == {(book, "api", "there"): order}
    assert await dealings.book(book) == before


async def test_verify_bars_the_way_for_what_it_did_not_find(dealings: Dealings) -> None:
    book = dealings.books[0]
    await dealings.place(book, key="there")
    on_its_way = dealings.planned(await dealings.book(book), dealings.entry(book, key="late"))
    names = [(book, "api", "there"), (book, "api", "late"), (book, "web", "there")]
    assert set(await dealings.ledger.verify(book, names)) == {(book, "api", "there")}
    recorded = await dealings.record(on_its_way)
    assert not recorded.books[book].recorded
    tables = await dealings.sound()
    assert len(tables["orders"]) == len(tables["hedge_requests"]) == 1


async def test_what_was_under_way_when_its_key_was_refused_is_not_recorded(dealings: Dealings) -> None:
    """A call that was given up, then its key sent again and refused: the first must not arrive after that."""
    book = dealings.books[0]
    before = (await dealings.ledger.books([book]))[book]
    under_way = dealings.planned(before, dealings.entry(book, key="k"))
    again = dealings.entry(book, key="k")
    again.verdict = Refusal(TRADING_HALTED)
    refused = dealings.planned(before, again)
    assert (await dealings.record(refused)).books[book].recorded
    assert not (await dealings.record(under_way)).books[book].recorded
    assert await dealings.rows("SELECT id FROM orders") == []
    await dealings.sound()
