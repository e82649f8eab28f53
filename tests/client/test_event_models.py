"""Events as values: each type has its kind of data, and a later type is no error."""

import dataclasses
import pickle
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from bullion_client import (
    AllocationEvent,
    Event,
    EventType,
    KeyEvent,
    OrderEvent,
    OrderStatus,
    ProductionOrder,
    SymbolEvent,
    TestOrder,
    TradingEvent,
    UnexpectedAnswer,
)
from bullion_client.event_reader import event_answer, read_event, read_event_page
from bullion_client.responses import Answer
from tests.client.event_samples import DATA, event, page

RESPONSE = httpx.Response(200, request=httpx.Request("GET", "http://x/events"))


def read(fields: dict[str, Any]) -> Event:
    return read_event(Answer(RESPONSE, fields))


def test_every_type_is_read() -> None:
    assert {str(each) for each in EventType} == DATA.keys()
    kinds = {type_: type(read(event(1, type_))) for type_ in DATA}
    assert kinds == {
        **{type_: OrderEvent for type_ in DATA if type_.startswith("order.")},
        "allocation.changed": AllocationEvent,
        "key.rotated": KeyEvent,
        "key.revoked": KeyEvent,
        "trading.halted": TradingEvent,
        "trading.resumed": TradingEvent,
        "symbol.frozen": SymbolEvent,
        "symbol.resumed": SymbolEvent,
    }


def test_what_an_event_says() -> None:
    opened = read(event(17, "order.opened"))
    assert (opened.id, opened.number, opened.type) == (f"evt_{17:032x}", 17, "order.opened")
    assert opened.timestamp == datetime(2026, 11, 17, 10, 0, 0, 123456, UTC)
    assert isinstance(opened, OrderEvent)
    assert isinstance(opened.data, ProductionOrder)
    assert opened.data.status == OrderStatus.OPEN
    created = read(event(18, "order.created"))
    assert isinstance(created.data, TestOrder)
    rotated, revoked = read(event(1, "key.rotated")), read(event(1, "key.revoked"))
    assert isinstance(rotated, KeyEvent)
    assert (rotated.data.replaced_by, rotated.data.scopes) == ("k8", ("orders:read",))
    assert rotated.data.overlap_ends_at == datetime(2026, 11, 18, 10, tzinfo=UTC)
    assert isinstance(revoked, KeyEvent)
    assert (revoked.data.replaced_by, revoked.data.overlap_ends_at) == (None, None)
    match read(event(1, "symbol.frozen")):
        case SymbolEvent(data=symbol):
            assert (symbol.symbol_code, symbol.frozen) == ("GOLD", True)
        case other:
            pytest.fail(str(other))


def test_a_type_of_next_year_has_its_data_as_sent() -> None:
    later = read(event(1, "order.split", data={"parts": [1, 2]}, environment="test"))
    assert (type(later), later.type.known, later.data) == (Event, False, {"parts": [1, 2]})


def test_an_event_keeps_what_was_sent_and_is_a_value() -> None:
    sent = event(1, "trading.halted", colour="red")
    first, second = read(sent), read(event(1, "trading.halted"))
    assert (first.raw["colour"], first == second, hash(first) == hash(second)) == ("red", True, True)
    assert "colour" not in repr(first)
    assert pickle.loads(pickle.dumps(first)) == first  # noqa: S301 - our own
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.number = 2  # type: ignore[misc]


@pytest.mark.parametrize("missing", ["id", "number", "type", "timestamp", "environment", "data"])
def test_a_missing_field_is_named(missing: str) -> None:
    fields = {name: value for name, value in event(1).items() if name != missing}
    with pytest.raises(UnexpectedAnswer, match=missing):
        read(fields)


def test_data_of_a_wrong_shape_is_named() -> None:
    with pytest.raises(UnexpectedAnswer, match=r"data\.halted"):
        read(event(1, data={"halted": "yes"}))


@pytest.mark.parametrize(
    "fields",
    [
        page(3, 4, after=5),
        page(3, 4, after=3),
        page(3, 2, after=9),
        page(3, 2, more=True),
        page(4, 5),
        page(2, 3),
        {**page(3, 4), "items": [event(3), event(3)]},
        {**page(3, 4), "items": [event(4), event(3)]},
    ],
    ids=["ahead", "behind", "elsewhere", "more of nothing", "a gap", "again", "a double", "out of order"],
)
def test_a_page_that_would_lead_astray(fields: dict[str, Any]) -> None:
    with pytest.raises(UnexpectedAnswer, match="its events"):
        read_event_page(2, Answer(RESPONSE, fields))


def test_a_page_without_a_beginning_begins_anywhere() -> None:
    assert read_event_page(None, Answer(RESPONSE, page(7, 8))).next_after == 8
    assert read_event_page(None, Answer(RESPONSE, page(1, 0))).items == ()


@pytest.mark.parametrize("text", ["", "[]", "{", "1e999999999999999999", "[" * 100_000])
def test_what_is_no_event(text: str) -> None:
    with pytest.raises(UnexpectedAnswer, match="an event in it"):
        event_answer(RESPONSE, text)
