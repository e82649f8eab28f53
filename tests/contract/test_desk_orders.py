"""The desk looks through a broker's orders: whichever way it takes, it finds the same as a full search."""

from datetime import UTC, datetime, timedelta
from itertools import product
from random import Random

import pytest
from msgspec.structs import replace

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group
from bullion.allocation.book import book_id
from bullion.booking.decide import Plan
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.orders.order import Order
from bullion.orders.order_id import order_id
from bullion.orders.request import PlaceOrder
from bullion.records.clients import Allocation
from bullion.records.orders import AccountOrder, OrderFilter
from bullion.records.page import Page
from bullion.store import order_records
from bullion.store.engine import Engine, one_row
from bullion.store.ledger_postgres import PostgresLedger
from bullion.store.ledger_sqlite import SqliteLedger
from bullion.store.postgres import PostgresEngine
from bullion.store.records import Records, RecordStore
from bullion.store.sqlite import SqliteEngine

pytestmark = pytest.mark.anyio

BROKERS = {"main": ("one", "two"), "other": ("one",)}
BEGIN_US = (datetime(2026, 11, 9, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
EVERY = Page(200, 0)


class Placed:
    """An order, and what the desk sees of whose it is."""

    def __init__(self, broker: str, login_id: str, environment: Environment, order: Order) -> None:
        self.broker = broker
        self.login_id = login_id
        self.environment = environment
        self.order = order

    def matches(self, broker: str, wanted: OrderFilter) -> bool:
        order = self.order
        pairs = (
            (wanted.environment, self.environment),
            (wanted.login_id, self.login_id),
            (wanted.status, order.status),
            (wanted.symbol_code, order.asked.symbol_code),
            (wanted.source, order.source),
            (wanted.client_order_id, order.asked.client_order_id),
            (wanted.request_id, order.request_id),
        )
        return (
            self.broker == broker
            and all(one is None or one == other for one, other in pairs)
            and (wanted.since_us is None or order.created_at_us >= wanted.since_us)
        )


async def create_records(records: Records) -> None:
    for broker, logins in BROKERS.items():
        await records.put_broker(Broker(broker, broker, ()))
        await records.put_group(Group(broker, "retail", trading=True, terms={}, default_terms=None))
        for login_id in logins:
            new = Account(
                0, broker, login_id, None, "retail", active=True, api_access=True, production_trading=True
            )
            await records.insert_account(new, Allocation(10**9, 10**9))


async def orders_of(
    engine: Engine, broker: str, wanted: OrderFilter, page: Page = EVERY
) -> tuple[list[AccountOrder], int]:
    return await RecordStore(engine).read("orders", lambda records: records.orders(broker, wanted, page))


async def order_of(engine: Engine, broker: str, order_id: str) -> AccountOrder | None:
    return await RecordStore(engine).read("order", lambda records: records.order(broker, order_id))


async def account_id_of(engine: Engine, broker: str, login_id: str) -> int:
    found = await RecordStore(engine).read("client", lambda records: records.client(broker, login_id))
    assert found is not None
    return found.account.id


async def trade(engine: Engine) -> list[Placed]:
    """Orders of all books in turn, a second and a bit apart, recorded as bookings are; newest first."""
    chance = Random(7)  # noqa: S311 - the same orders each time
    await RecordStore(engine).write("create_records", create_records)
    books = [
        (broker, login_id, each, book_id(await account_id_of(engine, broker, login_id), each), list[Order]())
        for broker, logins in BROKERS.items()
        for login_id in logins
        for each in Environment
    ]
    placed = []
    for number in range(60):
        broker, login_id, environment, in_book, orders = books[number % len(books)]
        at_us = BEGIN_US + number * 1_234_567
        ordinal = len(orders) + 1
        order = Order(
            book_id=in_book,
            ordinal=ordinal,
            id=order_id(at_us, ordinal, chance.getrandbits(34)),
            source=chance.choice(["api", "web"]),
            idempotency_key=f"key {number}",
            asked=PlaceOrder(chance.choice(["GOLD", "SILVER"]), "buy", 10_000, None, f"ref {number % 4}"),
            metal=Metal.GOLD,
            price_paise=100,
            total_paise=10,
            status=chance.choice(["filled", "open"]),
            key_id=None,
            request_id=f"{at_us // 1000 - 2:012x}{number:012x}",
            created_at_us=at_us,
            price_anatomy="{}",
        )
        orders.append(order)
        placed.append(Placed(broker, login_id, environment, order))
    assert isinstance(engine, SqliteEngine | PostgresEngine)
    ledger = SqliteLedger(engine) if isinstance(engine, SqliteEngine) else PostgresLedger(engine)
    known = await ledger.books([each[3] for each in books])
    version = await engine.read("version", lambda transaction: one_row(transaction, "catalogue_state"))
    plans = []
    for *_, in_book, orders in books:
        before = known[in_book]
        after = replace(before, order_count=len(orders), last_order_at_us=orders[-1].created_at_us)
        plans.append(Plan(before, after, orders=orders))
    recorded = await ledger.record(plans, [], version["version"])
    assert all(seen.recorded for seen in recorded.books.values())
    return placed[::-1]


def questions(placed: list[Placed]) -> list[OrderFilter]:
    """Every filter by itself and with an account and an environment."""
    middle = placed[len(placed) // 2].order
    singles: list[dict[str, object]] = [
        {},
        {"status": "open"},
        {"symbol_code": "SILVER"},
        {"symbol_code": "SILVER", "status": "filled"},
        {"source": "web"},
        {"client_order_id": "ref 1"},
        {"client_order_id": "ref 1", "source": "web"},
        {"request_id": middle.request_id},
        {"request_id": "0" * 24},
        {"since_us": middle.created_at_us},
        {"since_us": middle.created_at_us + 1},
        {"since_us": middle.created_at_us, "source": "api", "symbol_code": "GOLD"},
    ]
    whose: list[dict[str, object]] = [
        {"login_id": login_id, "environment": environment}
        for login_id, environment in product([None, "one", "two", "nobody"], [None, *Environment])
    ]
    return [OrderFilter(**single, **more) for single, more in product(singles, whose)]  # type: ignore[arg-type]


def is_archived(each: Placed) -> bool:
    return (each.broker, each.login_id, each.environment) == ("main", "one", Environment.TEST)


@pytest.mark.parametrize("few", [0, 1000], ids=["many orders", "few orders"])
async def test_every_way_finds_the_same(engine: Engine, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(order_records, "_FEW", few)
    placed = await trade(engine)
    for broker, wanted in product(BROKERS, questions(placed)):
        expected = [each for each in placed if each.matches(broker, wanted)]
        found, total = await orders_of(engine, broker, wanted)
        assert found == [AccountOrder(each.order, each.login_id, archived=False) for each in expected], wanted
        assert total == len(expected)
        assert await orders_of(engine, broker, wanted, Page(3, 2)) == (found[2:5], total), wanted
        assert await orders_of(engine, broker, wanted, Page(3, 2**62)) == ([], total)


@pytest.mark.parametrize("few", [0, 1000], ids=["many orders", "few orders"])
async def test_archived_orders_are_found_by_id_alone(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(order_records, "_FEW", few)
    placed = await trade(engine)
    account_id = await account_id_of(engine, "main", "one")

    async def reset(records: Records) -> None:
        await records.reset_book(await records.lock_book(account_id, Environment.TEST))

    await RecordStore(engine).write("reset", reset)
    for broker, wanted in product(BROKERS, questions(placed)):
        expected = [each.order for each in placed if each.matches(broker, wanted) and not is_archived(each)]
        found, total = await orders_of(engine, broker, wanted)
        assert ([each.order for each in found], total) == (expected, len(expected)), wanted
    for each in placed:
        account_order = await order_of(engine, each.broker, each.order.id)
        assert account_order == AccountOrder(each.order, each.login_id, is_archived(each))
        assert await order_of(engine, "other" if each.broker == "main" else "main", each.order.id) is None
