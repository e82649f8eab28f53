"""What happened to an account, as the list, the stream and the webhooks tell it. All are extensions."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, json

from bullion.allocation.book import OpenWeight, environment_of
from bullion.allocation.position import Position
from bullion.environment import Environment
from bullion.events.event import AccountEvent, EventType
from bullion.metals.metal import Metal
from bullion.orders.listing import LIMIT_DEFAULT, LIMIT_MAX

from .orders import order_view
from .positions import ProductionPositions, TestPositions, metal_position, symbol_position
from .values import Instant, MetalText, Unit, about, time_text

WAIT_S_MAX = 30
_COMPONENTS = "#/components/schemas/"


class KeyNews(Struct):
    """A key that was replaced or revoked."""

    key_id: Annotated[str, about("The key's public id.", "k7f3q9")]
    key_name: Annotated[str, about("The name it was issued with.", "trading desk")]
    environment: Annotated[str, about("The key's environment.", enum=[each.value for each in Environment])]
    scopes: Annotated[list[str], about("What the key may do, or might.")]
    replaced_by: Annotated[str | None, about("The id of the key that replaces it, if one does.")]
    overlap_ends_at: Annotated[Instant | None, about("Until then a replaced key still works.")]


class TradingNews(Struct):
    """Trading was halted for all accounts of the broker, or goes on."""

    halted: Annotated[bool, about("Whether trading is halted now.")]


class SymbolNews(Struct):
    """A symbol was frozen by the desk, or is traded again."""

    symbol_code: Annotated[str, about("The symbol.", "GOLD")]
    metal: Annotated[MetalText, about("Its metal.", "gold")]
    unit: Annotated[Unit, about("Its unit.", "g")]
    frozen: Annotated[bool, about("Whether the symbol is frozen now.")]


def _data(*structs: str) -> Meta:
    named = (*structs, "KeyNews", "TradingNews", "SymbolNews")
    return about(
        "What it is about, exactly as the API would have answered at that time: the order, the positions "
        "with the new allocation, the key, the halt or the symbol.",
        oneOf=[{"$ref": f"{_COMPONENTS}{name}"} for name in named],
    )


class TestEvent(Struct):
    """Something that happened to the account in the test environment."""

    id: Annotated[
        str,
        about(
            "Names the event for ever.", "evt_5f0c2b8e94d14c02a6f0a1c7e3b95d11", pattern="^evt_[0-9a-f]{32}$"
        ),
    ]
    number: Annotated[
        int, Meta(ge=1), about("Its place among the account's events, from 1, without gaps.", 17)
    ]
    type: Annotated[str, about("What happened.", "order.created", enum=[each.value for each in EventType])]
    timestamp: Annotated[Instant, about("When it happened, in UTC.", "2026-11-15T04:31:21.250417+00:00")]
    environment: Annotated[str, about("The environment.", "test", enum=[Environment.TEST.value])]
    data: Annotated[Raw, _data("TestOrder", "TestPositions")]


class ProductionEvent(TestEvent):
    """Something that happened to the account in the production environment."""

    environment: Annotated[str, about("The environment.", "production", enum=[Environment.PRODUCTION.value])]
    data: Annotated[Raw, _data("ProductionOrder", "ProductionPositions")]


_NEXT = about("Send it as `after` to read on: the last number of this page.", 17)
_MORE = about("Whether there are more events already.", example=False)


class TestEventList(Struct):
    """The next events of the account."""

    items: Annotated[list[TestEvent], about("Oldest first.")]
    next_after: Annotated[int, Meta(ge=0), _NEXT]
    has_more: Annotated[bool, _MORE]


class ProductionEventList(Struct):
    """The next events of the account."""

    items: Annotated[list[ProductionEvent], about("Oldest first.")]
    next_after: Annotated[int, Meta(ge=0), _NEXT]
    has_more: Annotated[bool, _MORE]


class EventQuery(Struct):
    """The query of the events."""

    after: Annotated[
        Annotated[int, Meta(ge=0)] | UnsetType,
        about("Only events with a larger number. Without it: from the oldest that is kept."),
    ] = UNSET
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX), about("How many events to show.", 20)] = LIMIT_DEFAULT
    wait: Annotated[
        int,
        Meta(ge=0, le=WAIT_S_MAX),
        about("If there is nothing to show: for how many seconds to wait for the next event."),
    ] = 0


class StreamQuery(Struct):
    """The query of the stream of events."""

    after: Annotated[
        Annotated[int, Meta(ge=0)] | UnsetType,
        about("The stream goes on after this number. Without it: with what happens from now on."),
    ] = UNSET


def event_json(event: AccountEvent) -> bytes:
    """The same bytes in a list, in the stream and in a webhook."""
    return _encode(
        {
            "id": event.id,
            "number": event.number,
            "type": event.type,
            "timestamp": time_text(event.at_us),
            "environment": environment_of(event.book_id),
            "data": _data_of(event),
        }
    )


_encode = json.Encoder().encode


def _data_of(event: AccountEvent) -> Any:
    if event.order is not None:
        return order_view(event.order)
    detail = event.detail or {}
    make = _VIEWS.get(event.type)
    return detail if make is None else make(event, detail)


def _positions(event: AccountEvent, detail: Mapping[str, Any]) -> TestPositions:
    gold = metal_position(Metal.GOLD, Position(*detail[Metal.GOLD.value]))
    silver = metal_position(Metal.SILVER, Position(*detail[Metal.SILVER.value]))
    if environment_of(event.book_id) is Environment.TEST:
        return TestPositions(gold, silver)
    weights = [OpenWeight(code, Metal(metal), buy, sell) for code, metal, buy, sell in detail["symbols"]]
    return ProductionPositions(gold, silver, [symbol_position(each) for each in weights])


def _key(event: AccountEvent, detail: Mapping[str, Any]) -> KeyNews:
    ends_at_us = detail["overlap_ends_at_us"]
    return KeyNews(
        key_id=detail["key_id"],
        key_name=detail["key_name"],
        environment=environment_of(event.book_id).value,
        scopes=detail["scopes"],
        replaced_by=detail["replaced_by"],
        overlap_ends_at=None if ends_at_us is None else time_text(ends_at_us),
    )


_VIEWS: Mapping[EventType, Callable[[AccountEvent, Mapping[str, Any]], Struct]] = {
    EventType.ALLOCATION_CHANGED: _positions,
    EventType.KEY_ROTATED: _key,
    EventType.KEY_REVOKED: _key,
}
"""The others are stored as they are shown."""
