"""Reads events from JSON: from a page of the list, from the stream, or from a webhook's body."""

import json
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

import httpx

from bullion_client.enums import Environment, EventType
from bullion_client.event_models import (
    AllocationEvent,
    Event,
    EventPage,
    KeyChange,
    KeyEvent,
    OrderEvent,
    SymbolEvent,
    SymbolState,
    TradingEvent,
    TradingState,
)
from bullion_client.models import Positions, ProductionOrder, TestOrder
from bullion_client.responses import Answer, unexpected

_KINDS: dict[str, tuple[type[Event], type[object] | None]] = {
    "order": (OrderEvent, None),
    "allocation": (AllocationEvent, Positions),
    "key": (KeyEvent, KeyChange),
    "trading": (TradingEvent, TradingState),
    "symbol": (SymbolEvent, SymbolState),
}
"""By the first word of a known type: the kind of the event and of its data. Orders differ by environment."""


def read_event(answer: Answer) -> Event:
    """Read one event."""
    type_ = answer.value("type", EventType)
    environment = answer.value("environment", Environment)
    kind, data_kind = _KINDS[type_.partition(".")[0]] if type_.known else (Event, dict)
    if kind is OrderEvent:
        data_kind = TestOrder if environment == Environment.TEST else ProductionOrder
    return kind(
        id=answer.value("id", str),
        number=answer.value("number", int),
        type=type_,
        timestamp=answer.value("timestamp", datetime),
        environment=environment,
        data=answer.value("data", data_kind),
        raw=answer.fields,
    )


MISSING = "Read again after the last event that you have; if that does not help, ask the operator"


def read_event_page(after: int | None, answer: Answer) -> EventPage:
    """Read a page of the list. Its events must follow `after`, and each other, without a gap."""
    events = tuple(read_event(item) for item in answer.objects("items"))
    page = EventPage(events, answer.value("next_after", int), answer.value("has_more", bool))
    problem = gap_after(after, (event.number for event in events))
    last = events[-1].number if events else after
    if not problem and ((last is not None and page.next_after != last) or (page.has_more and not events)):
        problem = f"its events end with {last}, and it says to go on after {page.next_after}"
    if problem:
        raise unexpected(answer.response, problem, MISSING)
    return page


def gap_after(after: int | None, numbers: Iterable[int]) -> str:
    """What is wrong with numbers that should follow this one; empty if nothing is."""
    for number in numbers:
        if after is not None and number != after + 1:
            return f"its events do not follow each other: after {after} comes {number}"
        after = number
    return ""


def event_answer(response: httpx.Response, text: str | bytes) -> Answer:
    """The JSON object of an event. Raises `UnexpectedAnswer` for anything else."""
    try:
        fields = json.loads(text, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        # ArithmeticError: an exponent too large for Decimal. RecursionError: nesting that is too deep.
        raise unexpected(response, "an event in it is not JSON", MISSING) from error
    if not isinstance(fields, dict):
        raise unexpected(response, "an event in it is not a JSON object", MISSING)
    return Answer(response, fields)
