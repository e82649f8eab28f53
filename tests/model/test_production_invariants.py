"""The checker of production's tables finds what is wrong: each kind of damage, done by hand."""

import sqlite3
from pathlib import Path

import pytest

from bullion.hedge.simulated import Mode, SimulatedVenue
from bullion.hedge.venue import Confirmed, Declined
from bullion.store.sqlite import SqliteEngine
from tests.booking.small_blocks import keep_small_blocks
from tests.contract.dealings import Dealings
from tests.support.migrated_store import copy_migrated
from tests.support.venues import behave, store_clock, venue_book_of

from . import production_invariants

pytestmark = pytest.mark.anyio

STOCKS = {("main", "COIN"): 100}


@pytest.fixture
async def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of each state one, from the first ordinal on: pending, open, closing, closed, rejected, deleted."""
    path = tmp_path / "bullion.db"
    copy_migrated(path)
    engine = SqliteEngine(path)
    await engine.open()
    await keep_small_blocks(engine, monkeypatch, (2, 8, 32))
    dealings = await Dealings.open(engine)
    await dealings.put_stock("COIN", 100)
    venue = SimulatedVenue(venue_book_of(engine), store_clock)
    book = dealings.books[0]
    for status in ("pending", "open", "closing", "closed", "rejected", "deleted"):
        order = await dealings.place(book, "buy", 10, "COIN", source="web", key=status)
        if status == "pending":
            continue
        if status == "deleted":
            await dealings.lead(order, "deleted")
            continue
        await behave(engine, Mode.REFUSE if status == "rejected" else Mode.FILL)
        word = await venue.submit((await dealings.to_hedge(order)).request())
        assert isinstance(word, Confirmed | Declined)
        order = await dealings.answer(order, word)
        if status in ("closing", "closed"):
            await dealings.close(order, complete=status == "closed")
    await engine.close()
    return path


async def check(store: Path) -> list[str]:
    tables = await production_invariants.read(store)
    return production_invariants.problems(tables, stocks_e4=STOCKS, by_venue=True)


async def test_a_sound_store_passes(store: Path) -> None:
    assert await check(store) == []


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("UPDATE open_weights SET buy_e4 = buy_e4 + 1", "the orders say"),
        ("UPDATE books SET event_shift = event_shift + 1 WHERE id = 3", "events and has"),
        ("UPDATE order_events SET number = number + 1 WHERE number > 2", "is the 3th"),
        ("UPDATE order_events SET number = NULL WHERE ordinal = 2", "was told as None"),
        ("UPDATE order_events SET number = 9 WHERE ordinal = 5", "was told as 9"),
        ("UPDATE order_events SET orders_through = 0 WHERE ordinal = 2", "comes before its order"),
        ("DELETE FROM account_events WHERE orders_through = 2", "is hidden, or is not and should be"),
        ("UPDATE open_weights SET metal = 'silver'", "no open weights of"),
        ("DELETE FROM open_weights", "no open weights of"),
        ("UPDATE books SET gold_net_e4 = 0 WHERE id = 3", "gold, its orders say"),
        ("UPDATE orders SET deal_no = NULL WHERE idempotency_key = 'open'", "has the deal number None"),
        ("UPDATE orders SET deal_no = 9 WHERE idempotency_key = 'pending'", "has the deal number 9"),
        ("UPDATE orders SET deal_no = 1 WHERE idempotency_key = 'closed'", "is there 2 times"),
        ("UPDATE deals SET last_deal_no = 1", "which was not given yet"),
        ("UPDATE orders SET closed_at_us = NULL WHERE idempotency_key = 'closed'", "closed with"),
        ("UPDATE orders SET close_price_paise = 5 WHERE idempotency_key = 'open'", "closed with"),
        ("UPDATE order_events SET status = 'closed' WHERE ordinal = 2", "is open after ['closed']"),
        ("DELETE FROM order_events WHERE ordinal = 5", "is rejected after []"),
        ("UPDATE order_events SET ordinal = 99 WHERE ordinal = 5", "which is no production order"),
        ("DELETE FROM hedge_requests WHERE ordinal = 1", "has no hedge request"),
        (
            "UPDATE hedge_requests SET ordinal = 99 WHERE ordinal = 1",
            "a hedge request of no production order",
        ),
        ("UPDATE hedge_requests SET state = 'withdrawn' WHERE ordinal = 1", "and its request is"),
        ("UPDATE hedge_requests SET order_id = 'x' WHERE ordinal = 2", "and its request is"),
        ("UPDATE hedge_requests SET state = 'broken' WHERE ordinal = 5", "and its request is"),
        ("UPDATE hedge_requests SET execution_id = 'x' WHERE ordinal = 1", "is half answered"),
        ("UPDATE hedge_requests SET execution_id = 'x' WHERE ordinal = 2", "was heard to say"),
        ("UPDATE hedge_requests SET took_stock = 0 WHERE ordinal = 1", "are left and"),
        ("UPDATE orders SET trade_type = 'sell' WHERE idempotency_key = 'deleted'", "is a sell, and took"),
        ("UPDATE stocks SET weight_e4 = weight_e4 + 1", "are left and"),
        ("UPDATE stocks SET weight_e4 = -30", "are left and"),
        ("DELETE FROM venue_orders", "is a deal, and the venue says None"),
        ("UPDATE venue_orders SET outcome = 'confirmed'", "is rejected, and the venue says confirmed"),
        ("UPDATE venue_orders SET execution_id = 'x'", "execution x is there 4 times"),
        ("UPDATE venue_orders SET order_id = 'x' WHERE outcome = 'refused'", "which is no production order"),
        (
            "UPDATE block_counts SET status = 'pending' WHERE status = 'pending elsewhere'",
            "kept 1, there are 0",
        ),
        (
            "UPDATE block_counts SET status = 'rejected' WHERE status = 'rejected elsewhere'",
            "kept 1, there are 0",
        ),
        (
            "UPDATE orders SET status = 'filled' WHERE idempotency_key = 'open'",
            "is filled in a production book",
        ),
    ],
)
async def test_damage_is_found(store: Path, damage: str, words: str) -> None:
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    assert connection.execute(damage).rowcount > 0
    connection.commit()
    connection.close()
    assert words in "\n".join(await check(store))
