"""The verification of the books: right books are equal, and every figure that was falsified is named."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from bullion.books import verify as verification
from bullion.books.difference import Report
from bullion.books.verify import verify_books
from bullion.desk.actions import archive
from bullion.desk.actions.brokers import put_broker
from bullion.desk.actions.symbols import patch_symbol, put_symbol
from bullion.desk.bodies import BrokerBody, SymbolBody
from bullion.desk.conversion import Changes, convert
from bullion.records.audit import Chain
from bullion.store.engine import Engine, Transaction
from tests.booking.fixtures import Node, asked, reset, rows
from tests.booking.small_blocks import small_blocks
from tests.contract.archiving import ADMIN, archive_all, desk_on, place
from tests.contract.conftest import end_tasks, engine, engine_name, loop_task, make_engine  # noqa: F401 - fixtures
from tests.contract.dealings import Dealings

pytestmark = pytest.mark.anyio

STATUSES = ("pending", "open", "closing", "closed", "rejected", "deleted")
COIN = {
    "metal": "gold",
    "quoted_weight": "10",
    "minimum": "0.0001",
    "maximum": "100000",
    "step": "0.0001",
    "pricing": {"kind": "fixed", "buy": "71000", "sell": "70900"},
    "stock": "100",
}


def chain_of(engine: Engine) -> Chain:  # noqa: F811
    return desk_on(engine).chain


async def verified(engine: Engine) -> Report:  # noqa: F811
    return await verify_books(engine, chain_of(engine))


async def set_stock(engine: Engine, weight: str | None) -> None:  # noqa: F811
    changes = Changes(SymbolBody, {"stock": weight})
    await patch_symbol(desk_on(engine), ADMIN, "COIN", changes)


async def deal_orders(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Dealings:  # noqa: F811
    """Books with everything that books can have: every status, full blocks, moved prices, archive, stock."""
    monkeypatch.setattr(archive, "PACK_SIZE_MAX", 4)
    monkeypatch.setattr(archive, "_PAUSE_S_MIN", 0)
    desk = desk_on(engine)
    for broker in ("main", "new"):
        await put_broker(desk, ADMIN, broker, convert({"name": broker}, BrokerBody))
    dealings = await Dealings.open(engine)
    await put_symbol(desk, ADMIN, "COIN", convert(COIN, SymbolBody))
    for status in STATUSES:
        for symbol, side, source in (
            ("COIN", "buy", "api"),
            ("GOLD", "sell", "web"),
            ("SILVER", "buy", "web"),
        ):
            order = await dealings.place(dealings.books[0], side, 30_000, symbol, source=source)
            await dealings.lead(order, status)
    await set_stock(engine, "250.5")
    await dealings.place(dealings.books[1], "buy", 10_000, "COIN")
    return dealings


async def trade_test_orders(node: Node, book: int) -> None:
    await place(node, book, 18)
    await reset(node.engine, book)
    await archive_all(node.engine)
    await place(node, book, 11, "n")
    moved = await node.told(book, "moved", asked("buy", 10_000, expected_price="1"))
    assert moved == "price_moved"
    await node.quiet()


@dataclass(frozen=True)
class Lie:
    """Something changed in the store behind the service's back, and how it has to be reported."""

    table: str
    sql: str
    kind: str
    says: str


_FIRST_LIVE = "book_id = (SELECT min(book_id) FROM hedge_requests)"
LIES = (
    Lie("books", "UPDATE books SET gold_net_e4 = gold_net_e4 + 12345 WHERE environment = 'test'", "net",
        "main c1 test: net of gold: stored"),
    Lie("books", "UPDATE books SET silver_net_e4 = -1 WHERE environment = 'production'", "net",
        "main c1 production: net of silver: stored -0.0001, recomputed 9.0000"),
    Lie("open_weights", "UPDATE open_weights SET sell_e4 = sell_e4 + 1 WHERE symbol_code = 'GOLD'",
        "position", "main c1 production: open weight of GOLD gold sell: stored 9.0001, recomputed 9.0000"),
    Lie("open_weights", "DELETE FROM open_weights WHERE symbol_code = 'SILVER'", "position",
        "open weight of SILVER silver buy: stored 0.0000, recomputed 9.0000"),
    Lie("books", "UPDATE books SET order_count = order_count + 1 WHERE environment = 'test'", "order_count",
        "count of orders, last ordinal: stored 30, recomputed 29"),
    Lie("orders", "DELETE FROM orders WHERE ordinal = 25", "order_count",
        "count of orders, number: stored 29, recomputed 28"),
    Lie("orders", "UPDATE orders SET book_id = 9000 WHERE ordinal = 29", "order_count",
        "book 9000 of no account: count of orders, number: stored 0, recomputed 1"),
    Lie("books", "UPDATE books SET archived_count = order_count + 5 WHERE environment = 'test'", "bounds",
        "bounds of the book, archived 34"),
    Lie("block_counts", "UPDATE block_counts SET orders = orders + 1 WHERE level = 0 AND status = 'filled'",
        "block_count", "count in level 0 block 5: GOLD"),
    Lie("block_counts", "DELETE FROM block_counts WHERE status = 'shown' AND level = 3", "block_count",
        "count in level 3 block 0: shown: stored 0"),
    Lie("price_moves", "UPDATE price_moves SET idempotency_key = 'n3'", "key",
        "main c1 test: times that a key is settled, api n3: stored 2, recomputed 1"),
    Lie("orders", "UPDATE orders SET idempotency_key = 'k3' WHERE idempotency_key = 'n3'", "key",
        "times that a key is settled, api k3: stored 2, recomputed 1"),
    Lie("archived_keys", "DELETE FROM archived_keys WHERE idempotency_key = 'k7'", "archived_key",
        "ordinal of the archived key api k7: stored nothing, recomputed 8"),
    Lie("archived_keys", "UPDATE archived_keys SET ordinal = 1 WHERE idempotency_key = 'k7'", "archived_key",
        "ordinal of the archived key api k7: stored 1, recomputed 8"),
    Lie("archived_orders", "UPDATE archived_orders SET to_us = to_us + 1 WHERE first_ordinal = 5", "archive",
        "pack of the orders 5 to 8: stored"),
    Lie("archived_orders", "UPDATE archived_orders SET packed = 'zzz' WHERE first_ordinal = 5", "archive",
        "pack of the orders 5 to 8: stored a text that cannot be read"),
    Lie("archived_orders", "DELETE FROM archived_orders WHERE first_ordinal = 5", "archived_key",
        "number of archived keys: stored 18, recomputed 14"),
    Lie("orders", "UPDATE orders SET id = replace(id, substr(id, 27), '00000000ff') WHERE ordinal = 20",
        "order_id", "id of order 20"),
    Lie("orders", "UPDATE orders SET created_at_us = created_at_us - 100000000 WHERE ordinal = 24", "time",
        "of order 24: stored"),
    Lie("books", "UPDATE books SET last_order_at_us = 1 WHERE environment = 'test'", "time",
        "of order 29: stored 1, recomputed"),
    Lie("orders", "UPDATE orders SET status = 'open' WHERE status = 'pending'", "status",
        "stored open, recomputed pending"),
    Lie("order_events", "DELETE FROM order_events WHERE status = 'closing'", "status",
        "stored closed, recomputed events that do not go together"),
    Lie("order_events", "UPDATE order_events SET ordinal = ordinal + 77 WHERE status = 'rejected'", "status",
        "status of order 90: stored none, recomputed an order with events"),
    Lie("books", "UPDATE books SET event_shift = event_shift + 1 WHERE environment = 'production'", "event",
        "numbers of events less orders, at the newest event: stored"),
    Lie("order_events", "UPDATE order_events SET number = number + 1 WHERE status = 'closed'", "event",
        "numbers of events less orders, at event"),
    Lie("orders", "UPDATE orders SET deal_no = NULL WHERE status = 'open'", "deal",
        "stored deal number missing, open, recomputed a deal"),
    Lie("orders", "UPDATE orders SET deal_no = 1 WHERE deal_no IS NOT NULL", "deal",
        "orders with the number of main deal 1: stored"),
    Lie("deals", "UPDATE deals SET last_deal_no = 1", "deal", "recomputed a deal, last number 1"),
    Lie("orders", "UPDATE orders SET closed_at_us = NULL WHERE status = 'closed'", "deal", ", closed"),
    Lie("hedge_requests", f"DELETE FROM hedge_requests WHERE ordinal = 1 AND {_FIRST_LIVE}", "hedge",
        "stored no request, recomputed buy, pending"),
    Lie("hedge_requests", "UPDATE hedge_requests SET state = 'withdrawn' WHERE state = 'waiting'", "hedge",
        "withdrawn without an answer"),
    Lie("hedge_requests", "UPDATE hedge_requests SET execution_id = NULL WHERE outcome = 'confirmed'",
        "hedge", "execution none"),
    Lie("hedge_requests", f"UPDATE hedge_requests SET ordinal = 88 WHERE ordinal = 2 AND {_FIRST_LIVE}",
        "hedge", "recomputed no order"),
    Lie("hedge_requests", "UPDATE hedge_requests SET took_stock = 1 WHERE ordinal = 2", "hedge",
        "took stock"),
    Lie("stocks", "UPDATE stocks SET weight_e4 = weight_e4 - 1", "stock",
        "main: stock of COIN: stored 249.4999, recomputed 249.5000"),
    Lie("hedge_requests", "UPDATE hedge_requests SET took_stock = 0 WHERE state = 'waiting'", "stock",
        "main: stock of COIN: stored 249.5000, recomputed"),
    Lie("books", "UPDATE books SET gold_limit_e4 = 5 WHERE environment = 'test'", "account",
        "an account's books: stored test 5"),
    Lie("audit", "UPDATE audit SET actor = 'somebody else' WHERE ordinal = 2 AND broker = 'main'", "audit",
        "main: audit entry 2: stored changed, or not where it was written"),
    Lie("audit_heads", "DELETE FROM audit_heads WHERE broker = 'new'", "audit",
        "the head of the chain is missing"),
)  # fmt: skip


async def test_every_lie_is_named_and_the_truth_is_equal(
    engine: Engine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A part for every few orders, so that the ends of parts are tried too.
    monkeypatch.setattr(verification, "RANGE_ORDERS", 300)
    async with small_blocks(engine):
        dealings = await deal_orders(engine, monkeypatch)
        await trade_test_orders(await Node(engine).start(), dealings.books[0] - 1)
        report = await verified(engine)
        assert [str(each) for each in report.differences] == []
        assert (report.books, report.orders, report.skipped) == (4, 48, [])
        assert report.audit_entries > 3
        wrong = [f"{lie}: {found}" for lie in LIES if (found := await _not_named(engine, lie)) is not None]
        assert wrong == [], "\n".join(wrong)
        assert (await verified(engine)).equal


async def _not_named(engine: Engine, lie: Lie) -> list[str] | None:  # noqa: F811
    """None if the lie is found; else what is reported instead. The table is as before afterwards."""
    await rows(engine, f"CREATE TABLE saved AS SELECT * FROM {lie.table}")
    await rows(engine, lie.sql)
    report = await verified(engine)
    await rows(engine, f"DELETE FROM {lie.table}")
    await rows(engine, f"INSERT INTO {lie.table} SELECT * FROM saved")
    await rows(engine, "DROP TABLE saved")
    named = any(each.kind == lie.kind and lie.says in str(each) for each in report.differences)
    return None if named else [str(each) for each in report.differences]


async def test_a_stock_that_was_switched_off_is_not_judged(
    engine: Engine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await deal_orders(engine, monkeypatch)
    await set_stock(engine, None)
    await set_stock(engine, "5")
    report = await verified(engine)
    assert report.equal
    (sentence,) = report.skipped
    assert sentence.startswith("main: the stock of COIN was switched off and on again")


async def test_no_more_than_a_bounded_number_is_listed(
    engine: Engine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(verification, "LISTED_MAX", 2)
    await deal_orders(engine, monkeypatch)
    await rows(engine, "UPDATE books SET gold_net_e4 = 7, silver_net_e4 = 7")
    report = await verified(engine)
    assert report.more
    assert len([each for each in report.differences if each.kind == "net"]) == 2


async def test_bookings_go_on_while_the_books_are_verified_and_do_not_show(
    engine: Engine,  # noqa: F811
    make_engine: Any,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The verification stops in the middle until another node has booked; it reports the moment it began."""
    dealings = await deal_orders(engine, monkeypatch)
    node = await Node(engine).start()
    before = (await verified(engine)).orders
    reader = make_engine()
    await reader.open()
    loop, booked = asyncio.get_running_loop(), []

    async def book() -> None:
        booked.append(await node.told(dealings.books[0] - 1, "meanwhile"))
        await dealings.place(dealings.books[1], "buy", 5_000, "COIN")

    async def body(transaction: Transaction) -> Report:
        seen = verification._Verification(transaction, chain_of(engine), lambda _done, _of: None)
        await transaction.all("verify_ranges", 10)  # The snapshot is taken by the first read.
        if type(reader).__name__ == "SqliteEngine":  # There the body runs in a thread of its own.
            asyncio.run_coroutine_threadsafe(book(), loop).result(timeout=30)
        else:
            await book()
        return await seen.run()

    try:
        report = await reader.read_whole("books_verify", body)
    finally:
        await reader.close()
    assert booked == ["booked"]
    assert (report.orders, [str(each) for each in report.differences]) == (before, [])
    after = await verified(engine)
    assert (after.orders, after.equal) == (before + 2, True)
