"""What a refusal advises its caller to do, as the generated `retry_table` lists it."""

from dataclasses import dataclass
from enum import Enum


class Retry(Enum):
    """What may be done with the same request."""

    NEVER = "never"
    """The same again would be refused again."""

    SAME_KEY = "same_key"
    """Send it again after a short wait; an order with the same key."""

    SAME_KEY_AFTER = "same_key_after"
    """The same, after the time that the service names."""

    NEW_KEY = "new_key"
    """This order is over. Only the caller can decide on a new one."""


class Family(Enum):
    """What a program does about a refusal; `errors` has a class for each."""

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
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Advice:
    """All that the client knows of a code."""

    retry: Retry
    family: Family
    settles: bool = False
    """The key has its outcome for good, and it is not this order."""

    looked_up: bool = False
    """Given only after the key was looked for: no order was recorded under it then."""

    unsure: bool = False
    """Even so the order may have been booked by this very call."""
