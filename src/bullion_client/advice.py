"""What the caller may do after a refusal; the generated `retry_table` lists it for every code."""

from dataclasses import dataclass
from enum import Enum


class Retry(Enum):
    """Whether the same request may be sent again."""

    NEVER = "never"
    """It would be refused again."""

    SAME_KEY = "same_key"
    """Retry after a short wait; an order with the same key."""

    SAME_KEY_AFTER = "same_key_after"
    """Retry after the seconds in Retry-After; an order with the same key."""

    NEW_KEY = "new_key"
    """This order is final. Only the caller can decide on a new one, with a new key."""


class Family(Enum):
    """Groups of codes that a program handles alike; `errors` has a class for each."""

    CREDENTIAL = "credential"
    ACCESS = "access"
    RATE_LIMIT = "rate_limit"
    REQUEST = "request"
    NOT_FOUND = "not_found"
    UNKNOWN_SYMBOL = "unknown_symbol"
    QUANTITY = "quantity"
    ALLOCATION = "allocation"
    KEY_REUSED = "key_reused"
    MARKET = "market"
    PRICE_MOVED = "price_moved"
    ORDER_REJECTED = "order_rejected"
    EVENTS_GONE = "events_gone"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Advice:
    """What the client knows about a code."""

    retry: Retry
    family: Family
    settles: bool = False
    """The key has its final outcome, and it is not this order."""

    looked_up: bool = False
    """The service looked up the key first: no order was recorded under it then."""

    unsure: bool = False
    """The order may have been booked by this very call."""
