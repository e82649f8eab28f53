"""The values that events have. The kind of an event follows from its type: `match` on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bullion_client.enums import Environment, EventType, Metal, Unit
from bullion_client.models import Answered, Order, Positions


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to the account. Those of types that are not known have `data` as sent."""

    id: str
    """Its own id, the same in the list, the stream and a webhook. Use it to do nothing twice."""

    number: int
    """Its number, from 1 without a gap for each account and environment. Go on after the last you handled."""

    type: EventType
    """What happened."""

    timestamp: datetime
    """When it happened."""

    environment: Environment
    """Where it happened."""

    data: object
    """What it happened to, as the API would have returned it then."""

    raw: Mapping[str, object] = field(compare=False, repr=False)
    """The whole event as it was sent, with the fields that this version does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEvent(Event):
    """An order was created, or its status changed: the types `order.…`."""

    data: Order
    """The order as it was then. To see it as it is now, use `Client.order`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocationEvent(Event):
    """The account's allocation changed: the type `allocation.changed`."""

    data: Positions
    """The positions as they were then, with the new limits."""


@dataclass(frozen=True, slots=True)
class KeyChange:
    """An API key that was rotated or revoked."""

    key_id: str
    """The key's public id."""

    key_name: str
    """The name the key was issued with."""

    environment: Environment
    """The environment of the key."""

    scopes: tuple[str, ...]
    """What the key could do."""

    replaced_by: str | None = None
    """The id of the key that replaces it, if it was rotated."""

    overlap_ends_at: datetime | None = None
    """Until when the old key works beside the new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyEvent(Event):
    """A key of the account was rotated or revoked: the types `key.…`."""

    data: KeyChange
    """The key."""


@dataclass(frozen=True, slots=True)
class TradingState:
    """Whether trading is halted for everyone."""

    halted: bool
    """True while orders are refused with `trading_halted`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TradingEvent(Event):
    """Trading was halted or resumed: the types `trading.…`."""

    data: TradingState
    """The state since then."""


@dataclass(frozen=True, slots=True)
class SymbolState:
    """Whether a symbol is frozen."""

    symbol_code: str
    """The symbol."""

    metal: Metal
    """Its metal."""

    unit: Unit
    """The unit of its weights."""

    frozen: bool
    """True while its orders are refused with `symbol_frozen`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolEvent(Event):
    """A symbol was frozen or resumed: the types `symbol.…`."""

    data: SymbolState
    """The state since then."""


@dataclass(frozen=True, slots=True)
class EventPage(Answered):
    """One page of the list of events, oldest first."""

    items: tuple[Event, ...]
    """The events of the page."""

    next_after: int
    """Go on after this number for the next page."""

    has_more: bool
    """Whether there are events after this page already."""
