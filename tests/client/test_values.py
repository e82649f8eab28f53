"""What is read out of answers: exact numbers, times with a zone, and what happens to surprises."""

import dataclasses
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from bullion_client import (
    Environment,
    Metal,
    Order,
    OrderStatus,
    ProductionOrder,
    TestOrder,
    TradeType,
    UnexpectedAnswer,
    Unit,
)
from tests.client.calls import LIVE_KEY, TEST_KEY
from tests.client.scripted_network import LIVE_ORDER, TEST_ORDER, World, answer, caller

SYMBOL = {
    "symbol_code": "GOLD",
    "metal": "gold",
    "unit": "g",
    "quoted_weight": "10.0000",
    "minimum": "1.0000",
    "maximum": "10000.0000",
    "step": "1.0000",
    "sides": ["buy", "sell"],
    "trading": True,
}
QUOTE = {
    "symbol_code": "GOLD",
    "buy": "150634.00",
    "sell": None,
    "at": "2026-11-15T07:37:16.349241+00:00",
    "tradable": False,
    "reason": "trading_halted",
}
GOLD = {"net": "-5.0000", "limit": "1000.0000", "used": "5.0000", "free": "995.0000", "unit": "g"}
ROW = {
    "symbol_code": "GOLD",
    "metal": "gold",
    "buy": "1.0000",
    "sell": "6.0000",
    "net": "-5.0000",
    "unit": "g",
}
POSITIONS = {"gold": GOLD, "silver": GOLD | {"unit": "kg"}}


def order_of(body: object, key: str = LIVE_KEY) -> Order:
    return World(answer(200, body)).run(caller(key)._order("7"))


def test_a_test_order() -> None:
    order = order_of(TEST_ORDER, TEST_KEY)
    assert order == TestOrder(
        id="01a1de23-96a5-7be9-bf2f-390000000001",
        environment=Environment.TEST,
        symbol_code="GOLD",
        trade_type=TradeType.BUY,
        quantity=Decimal("5.0000"),
        unit=Unit.GRAM,
        price=Decimal("150634.00"),
        total=Decimal("75317.00"),
        status=OrderStatus.FILLED,
        client_order_id=None,
        created_at=datetime(2026, 11, 15, 7, 37, 16, 709034, UTC),
        deal_label="T-1",
    )
    assert str(order.quantity) == "5.0000"


def test_a_production_order_that_is_closed() -> None:
    closed = {"close_price": "150700.00", "realized_pnl": "-33.00", "closed_at": "2026-11-16T09:00:00+05:30"}
    order = order_of(LIVE_ORDER | closed | {"status": "closed"})
    assert isinstance(order, ProductionOrder)
    assert (order.close_price, order.realized_pnl) == (Decimal("150700.00"), Decimal("-33.00"))
    assert order.closed_at == datetime(2026, 11, 16, 3, 30, tzinfo=UTC)
    assert (order.deal_no, order.source, order.status_detail) == (1, "api", "BOOKED")


def test_of_a_production_order_only_what_is_required_must_be_there() -> None:
    required = ("id", "symbol_code", "trade_type", "quantity", "unit", "status", "status_detail")
    order = order_of({name: LIVE_ORDER[name] for name in required})
    assert isinstance(order, ProductionOrder)
    assert order.environment is Environment.PRODUCTION
    assert (order.price, order.deal_no, order.created_at, order.closed_at) == (None, None, None, None)
    for name in required:
        with pytest.raises(UnexpectedAnswer) as caught:
            order_of({other: value for other, value in LIVE_ORDER.items() if other != name})
        assert caught.value.field == name


def test_unknown_words_and_unknown_fields_survive() -> None:
    order = order_of(LIVE_ORDER | {"status": "netted", "unit": "tola", "trade_type": "swap", "news": [1]})
    assert (order.status, order.unit, order.trade_type) == ("netted", "tola", "swap")
    assert not order.status.known


@pytest.mark.parametrize(
    "changes",
    [
        {"quantity": 5},
        {"quantity": 5.5},
        {"quantity": "5,5"},
        {"quantity": "1e3"},
        {"quantity": "NaN"},
        {"quantity": "Infinity"},
        {"quantity": "٥"},
        {"quantity": None},
        {"price": 150634.0},
        {"created_at": "yesterday"},
        {"created_at": "2026-11-15T07:37:16"},
        {"created_at": 7},
        {"deal_no": "1"},
        {"deal_no": True},
        {"deal_no": 1.5},
        {"status": 7},
        {"id": None},
    ],
    ids=str,
)
def test_a_wrongly_typed_field_is_named(changes: dict[str, object]) -> None:
    with pytest.raises(UnexpectedAnswer) as caught:
        order_of(LIVE_ORDER | changes)
    assert caught.value.field == next(iter(changes))
    assert "newer bullion-client" in str(caught.value)


def test_a_field_of_a_list_is_named_with_its_place() -> None:
    page = {"items": [LIVE_ORDER, {**LIVE_ORDER, "unit": 7}], "total": 2}
    with pytest.raises(UnexpectedAnswer) as caught:
        World(answer(200, page)).run(caller()._order_page(50, 0, {}))
    assert caught.value.field == "items[1].unit"


@pytest.mark.parametrize("page", [{"items": {}, "total": 0}, {"items": [7], "total": 1}, {"items": []}])
def test_a_list_that_is_none(page: object) -> None:
    with pytest.raises(UnexpectedAnswer):
        World(answer(200, page)).run(caller()._order_page(50, 0, {}))


def test_symbols_and_quotes() -> None:
    (symbol,) = World(answer(200, {"items": [SYMBOL]})).run(caller()._symbols())
    assert (symbol.metal, symbol.unit) == (Metal.GOLD, Unit.GRAM)
    assert symbol.sides == (TradeType.BUY, TradeType.SELL)
    assert (symbol.quoted_weight, symbol.step) == (Decimal(10), Decimal(1))
    world = World(answer(200, {"items": [QUOTE]}))
    (quote,) = world.run(caller()._quotes("GOLD & CO"))
    assert (quote.buy, quote.sell, quote.reason) == (Decimal("150634.00"), None, "trading_halted")
    assert quote.at == datetime(2026, 11, 15, 7, 37, 16, 349241, UTC)
    assert world.sent[0].url.query == b"symbol_code=GOLD+%26+CO"


def test_positions_of_both_environments() -> None:
    positions = World(answer(200, POSITIONS)).run(caller(TEST_KEY)._positions())
    assert (positions.gold.net, positions.silver.unit) == (Decimal(-5), Unit.KILOGRAM)
    assert positions.symbols == ()
    positions = World(answer(200, POSITIONS | {"symbols": [ROW]})).run(caller()._positions())
    (row,) = positions.symbols
    assert (row.buy, row.sell, row.net, row.metal) == (Decimal(1), Decimal(6), Decimal(-5), Metal.GOLD)


def test_values_are_frozen_and_can_be_hashed() -> None:
    order: Any = order_of(LIVE_ORDER)
    with pytest.raises(dataclasses.FrozenInstanceError):
        order.status = "closed"
    assert {order} == {dataclasses.replace(order)}


def test_filters_and_ids_are_quoted() -> None:
    world = World(answer(200, {"items": [], "total": 0}))
    since = {"since": "2026-11-15T07:37:16+05:30"}
    world.run(caller()._order_page(7, 3, {"client_order_id": "a&b=c", "status": None, **since}))
    assert world.sent[0].url.query == (
        b"limit=7&offset=3&client_order_id=a%26b%3Dc&since=2026-11-15T07%3A37%3A16%2B05%3A30"
    )
    world = World(answer(200, LIVE_ORDER))
    world.run(caller()._order("../me?x=#y"))
    assert world.sent[0].url.raw_path == b"/api/trading/v1/orders/..%2Fme%3Fx%3D%23y"


@pytest.mark.parametrize(("limit", "offset"), [(0, 0), (201, 0), (50, -1)])
def test_a_page_that_is_none_is_refused(limit: int, offset: int) -> None:
    with pytest.raises(ValueError, match="must be"):
        caller()._order_page(limit, offset, {})


def test_an_empty_id_would_be_the_list() -> None:
    with pytest.raises(ValueError, match="order_id is empty"):
        caller()._order("")
