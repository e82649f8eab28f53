"""The views for people show what the tables hold, in decimals and times, and nothing secret."""

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import cast

import pytest
from msgspec.structs import replace

from bullion.booking.attempt import ToHedge
from bullion.booking.breaks import Mismatch, UnmatchedExecution
from bullion.booking.decide import Plan
from bullion.hedge.venue import Confirmed, ListedExecution
from bullion.metals.metal import Metal
from bullion.orders.life import after
from bullion.orders.order import Order
from bullion.orders.request import PlaceOrder
from bullion.orders.status import Event
from bullion.rates.duty import Duty, DutyTable
from bullion.rates.tick import Tick
from bullion.records.clients import Allocation
from bullion.store import order_changes, prepared_queries
from bullion.store.engine import Engine, Row, Transaction, one_row
from bullion.store.execution_records import StoredExecutionRecords
from bullion.store.hedge_requests import StoredHedgeRequests
from bullion.store.ledger_postgres import PostgresLedger
from bullion.store.ledger_sqlite import SqliteLedger
from bullion.store.postgres import PostgresEngine
from bullion.store.records import Records, RecordStore
from bullion.store.sqlite import SqliteEngine
from bullion.store.venue_book import StoredVenueBook

from .test_catalogue import create_records

pytestmark = pytest.mark.anyio

VIEWS = ["readable_accounts", "readable_books", "readable_keys", "readable_symbols", "readable_audit"]
VIEWS += ["readable_orders", "readable_ticks", "readable_duties"]
VIEWS += [
    "readable_order_events",
    "readable_hedge_requests",
    "readable_venue_orders",
    "readable_open_weights",
    "readable_archived_orders",
    "readable_unmatched_executions",
]
ORDER = Order(
    book_id=2,
    ordinal=1,
    id="01a1de14-d0ac-74ff-b60f-000000000001",
    source="api",
    idempotency_key="first",
    asked=PlaceOrder("GOLD", "buy", 10_005, None, None),
    metal=Metal.GOLD,
    price_paise=7_124_005,
    total_paise=712_400,
    status="filled",
    key_id=None,
    request_id="0" * 24,
    created_at_us=7,
    price_anatomy="{}",
)


async def look(engine: Engine, view: str) -> Sequence[Row]:
    """As a person would, with a statement of their own."""
    assert isinstance(engine, SqliteEngine | PostgresEngine)
    engine._queries["look"] = f"SELECT * FROM {view}"
    return await engine.read("look", lambda transaction: transaction.all("look"))


async def test_they_are_readable(engine: Engine) -> None:
    async def body(records: Records) -> None:
        await create_records(records)
        await records.set_allocation(1, Allocation(12_345_678, 5))
        await records.put_stock("main", "GOLD", 10_001)

    await RecordStore(engine).write("create_records", body)
    (account,) = await look(engine, "readable_accounts")
    assert account["login_id"] == "aurum"
    assert account["active"] in (True, "yes")
    assert account["production_trading"] in (False, "no")
    assert account["scenarios"] in (True, "yes")
    assert str(account["created_at"]).startswith("20")
    test, production = sorted(
        await look(engine, "readable_books"), key=lambda row: str(row["environment"]), reverse=True
    )
    assert (test["environment"], production["environment"]) == ("test", "production")
    assert Decimal(test["gold_limit_g"]) == Decimal("1234.5678")
    assert Decimal(test["silver_limit_kg"]) == Decimal("0.0005")
    (symbol,) = await look(engine, "readable_symbols")
    assert Decimal(symbol["stock"]) == Decimal("1.0001")
    assert Decimal(symbol["quoted_weight"]) == 10
    (key,) = await look(engine, "readable_keys")
    assert str(key["created_at"]).startswith("1970-01-01 00:00:00.000007")
    assert key["revoked_at"] is None


async def test_orders_ticks_and_duties_are_readable(engine: Engine) -> None:
    async def body(records: Records) -> None:
        await create_records(records)
        await records.put_tick("main", Tick("GOLD", 71_234_500_001, 71_240_000_000, 7, 7))
        await records.put_duty(DutyTable("main", "gold", (Duty(date(2026, 5, 13), 625_005),)))

    await RecordStore(engine).write("create_records", body)
    assert isinstance(engine, SqliteEngine | PostgresEngine)
    ledger = SqliteLedger(engine) if isinstance(engine, SqliteEngine) else PostgresLedger(engine)
    before = (await ledger.books([2]))[2]
    version = await engine.read("version", lambda transaction: one_row(transaction, "catalogue_state"))
    plan = Plan(before, replace(before, order_count=1), orders=[ORDER])
    assert (await ledger.record([plan], [], version["version"])).books[2].recorded
    (order,) = await look(engine, "readable_orders")
    assert (order["login_id"], order["environment"], order["unit"]) == ("aurum", "test", "g")
    assert Decimal(order["quantity"]) == Decimal("1.0005")
    assert Decimal(order["price"]) == Decimal("71240.05")
    assert Decimal(order["total"]) == 7124
    assert order["archived"] in (False, "no")
    assert str(order["created_at"]).startswith("1970-01-01 00:00:00.000007")
    (tick,) = await look(engine, "readable_ticks")
    assert Decimal(tick["bid"]) == Decimal("71234.500001")
    assert str(tick["moved_at"]).startswith("1970-01-01 00:00:00.000007")
    (duty,) = await look(engine, "readable_duties")
    assert (duty["from_date"], Decimal(duty["rupees"])) == ("2026-05-13", Decimal("6250.05"))


async def test_production_orders_and_their_hedges_are_readable(engine: Engine) -> None:
    await RecordStore(engine).write("create_records", create_records)
    assert isinstance(engine, SqliteEngine | PostgresEngine)
    ledger = SqliteLedger(engine, "me") if isinstance(engine, SqliteEngine) else PostgresLedger(engine, "me")
    before = (await ledger.books([3]))[3]
    version = await engine.read("version", lambda transaction: one_row(transaction, "catalogue_state"))
    pending = replace(ORDER, book_id=3, status="pending", price_anatomy='{"quoted_weight": "10.0000"}')
    to_hedge = ToHedge(pending, "main", "GOLD")
    plan = Plan(before, replace(before, order_count=1), orders=[pending], to_hedge=[to_hedge])
    assert (await ledger.record([plan], [], version["version"])).books[3].recorded
    await StoredVenueBook(engine).take(to_hedge.request(), 7, 7, "confirmed")
    booked = await StoredHedgeRequests(engine, "me", lambda: 7).answer(to_hedge, Confirmed("E-1"))

    async def close(transaction: Transaction) -> None:
        closing = after(booked, Event.CLOSE, 8)
        await order_changes.write(transaction, booked, closing, 8, "dealer")
        closed = after(closing, Event.COMPLETE, 9, close_price_paise=7_024_000)
        await order_changes.write(transaction, closing, closed, 9, "dealer")

    (weight,) = await look(engine, "readable_open_weights")
    assert Decimal(weight["buy"]) == Decimal("1.0005")
    await engine.write("close", close, holding=prepared_queries.ANSWER)
    (order,) = await look(engine, "readable_orders")
    assert (order["status"], order["deal_no"]) == ("closed", 1)
    assert Decimal(order["close_price"]) == Decimal("70240.00")
    assert Decimal(order["realized_pnl"]) == Decimal("-100.06")
    assert str(order["closed_at"]).startswith("1970-01-01 00:00:00.000009")
    events = await look(engine, "readable_order_events")
    assert {(row["status"], row["actor"]) for row in events} == {
        ("open", "venue"),
        ("closing", "dealer"),
        ("closed", "dealer"),
    }
    (hedge,) = await look(engine, "readable_hedge_requests")
    assert (hedge["login_id"], hedge["state"], hedge["execution_id"]) == ("aurum", "answered", "E-1")
    (execution,) = await look(engine, "readable_venue_orders")
    assert (execution["outcome"], execution["submissions"]) == ("confirmed", 1)


async def test_executions_without_an_order_are_readable(engine: Engine) -> None:
    execution = ListedExecution("E", "of nobody", "GOLD", "sell", 10_005, 7, "1")
    for name, excess_e4 in (("E", -10_005), ("F", 3)):
        unmatched = UnmatchedExecution(
            replace(execution, execution_id=name), Mismatch.UNKNOWN_ORDER, Metal.GOLD, excess_e4
        )
        await StoredExecutionRecords(engine, "simulated", lambda: 9).add_unmatched("main", unmatched)
    less, more = sorted(
        await look(engine, "readable_unmatched_executions"), key=lambda row: str(row["execution_id"])
    )
    assert (less["reason"], less["metal"], less["resolved_by"]) == ("unknown_order", "gold", None)
    assert (Decimal(less["quantity"]), Decimal(less["excess"])) == (Decimal("1.0005"), Decimal("-1.0005"))
    assert Decimal(more["excess"]) == Decimal("0.0003")
    assert str(less["executed_at"]).startswith("1970-01-01 00:00:00.000007")
    assert str(less["seen_at"]).startswith("1970-01-01 00:00:00.000009")


@pytest.mark.parametrize("view", VIEWS)
async def test_no_hash_of_a_secret_is_in_them(engine: Engine, view: str) -> None:
    await RecordStore(engine).write("create_records", create_records)
    shown = " ".join(str(tuple(cast("Iterable[object]", row))) for row in await look(engine, view))
    assert bytes(range(32)).hex() not in shown
