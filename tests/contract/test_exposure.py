"""What all clients of a broker hold, and what is covered of it: on both engines, whatever happened."""

import pytest

from bullion.hedge.venue import Confirmed, Declined
from bullion.metals.metal import Metal
from bullion.orders.status import Event
from bullion.records.hedges import Exposure
from bullion.store.engine import Engine
from bullion.store.records import RecordStore

from .dealings import Dealings

pytestmark = pytest.mark.anyio


@pytest.fixture
async def dealings(engine: Engine) -> Dealings:
    return await Dealings.open(engine)


async def exposure(dealings: Dealings, broker: str = "main") -> dict[Metal, Exposure]:
    records = RecordStore(dealings.engine)
    return await records.read("exposure", lambda each: each.exposure(broker))


async def gold(dealings: Dealings) -> Exposure:
    return (await exposure(dealings))[Metal.GOLD]


async def test_a_broker_without_orders_holds_nothing(dealings: Dealings) -> None:
    nothing = {Metal.GOLD: Exposure(), Metal.SILVER: Exposure()}
    assert await exposure(dealings) == nothing
    assert await exposure(dealings, "nobody") == nothing


async def test_accounts_and_symbols_add_up_by_metal(dealings: Dealings) -> None:
    one, other = dealings.books
    for order in (
        await dealings.place(one, "buy", 50_000),
        await dealings.place(other, "sell", 20_000),
        await dealings.place(other, "sell", 70_000, "SILVER"),
    ):
        await dealings.answer(order)
    waiting = await dealings.place(one, "buy", 10_000)
    assert await exposure(dealings) == {
        Metal.GOLD: Exposure(net_e4=40_000, hedged_e4=30_000, waiting=1),
        Metal.SILVER: Exposure(net_e4=-70_000, hedged_e4=-70_000),
    }
    await dealings.open_other_broker()
    assert await exposure(dealings, "other") == {Metal.GOLD: Exposure(), Metal.SILVER: Exposure()}
    await dealings.answer(waiting, Declined("E-9", "no"))
    assert await gold(dealings) == Exposure(net_e4=30_000, hedged_e4=30_000)


async def test_a_closing_order_counts_until_it_is_closed(dealings: Dealings) -> None:
    order = await dealings.lead(await dealings.place(dealings.books[0], "buy", 50_000), "open")
    assert await gold(dealings) == Exposure(net_e4=50_000, hedged_e4=50_000)
    order = await dealings.close(order, complete=False)
    assert await gold(dealings) == Exposure(net_e4=50_000, hedged_e4=50_000)
    await dealings.change(order, Event.COMPLETE, close_price_paise=7_000_001)
    assert await gold(dealings) == Exposure()


async def test_a_fill_of_a_deleted_order_covers_too_much(dealings: Dealings) -> None:
    order = await dealings.place(dealings.books[0], "buy", 50_000)
    await dealings.change(order, Event.DELETE)
    # It is still asked for, and no longer held by anybody.
    assert await gold(dealings) == Exposure(waiting=1)
    await dealings.answer(order, Confirmed("E-1"))
    assert await gold(dealings) == Exposure(net_e4=0, hedged_e4=50_000, breaks=1)
    records = RecordStore(dealings.engine)
    await records.write(
        "mend", lambda each: each.resolve_break(order, "dealer", "sold back"), catalogue=False
    )
    assert await gold(dealings) == Exposure()


async def test_a_deal_that_the_venue_refuses_later_is_not_covered(dealings: Dealings) -> None:
    order = await dealings.lead(await dealings.place(dealings.books[0], "sell", 30_000), "open")
    await dealings.answer(order, Declined("E-2", "never seen"))
    assert await gold(dealings) == Exposure(net_e4=-30_000, hedged_e4=0, breaks=1)
