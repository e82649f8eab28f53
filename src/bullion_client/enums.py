"""String enums of the API. Each accepts values that a later version of the service may add."""

from enum import StrEnum
from typing import Self


class OpenEnum(StrEnum):
    """A string enum that accepts unknown values instead of failing on them.

    An unknown value becomes a member of the class that is not listed among its members: its `value` is the
    text as sent, its `name` is `UNKNOWN` and `known` is false. Compare with `==`, not with `is`: reading the
    same unknown text twice gives two objects.
    """

    @property
    def known(self) -> bool:
        """Whether this version of the client knows the value."""
        return any(self is member for member in type(self))

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        # Not registered with the class, so that values from a server cannot make the process grow.
        unknown = str.__new__(cls, value)
        unknown._name_ = "UNKNOWN"
        unknown._value_ = value
        return unknown

    def __reduce_ex__(self, _protocol: object, /) -> tuple[type[Self], tuple[str]]:
        """By value: before Python 3.11.4, enums are pickled by name, which an unknown value has not."""
        return type(self), (self.value,)


class Environment(OpenEnum):
    """Where orders go. A key belongs to exactly one environment."""

    TEST = "test"
    """Orders are simulated and nothing is booked."""

    PRODUCTION = "production"
    """Orders are real."""


class TradeType(OpenEnum):
    """The side of an order, from the account's point of view."""

    BUY = "buy"
    """The account gets the metal."""

    SELL = "sell"
    """The account gives the metal."""


class OrderStatus(OpenEnum):
    """The state of an order. Test orders are `FILLED`; the other states are for production."""

    FILLED = "filled"
    """A test order. It is final, and nothing was booked."""

    PENDING = "pending"
    """Accepted, but the operator's hedge has not confirmed it. Not a deal yet."""

    OPEN = "open"
    """A deal, booked at its price."""

    CLOSING = "closing"
    """The operator is closing it."""

    CLOSED = "closed"
    """Closed: the closing price, the profit or loss and the time are set."""

    REJECTED = "rejected"
    """The hedge refused it. Nothing was booked."""

    DELETED = "deleted"
    """The operator removed it."""


class EventType(OpenEnum):
    """What happened."""

    ORDER_CREATED = "order.created"
    """An order was accepted: filled in test, pending in production."""

    ORDER_OPENED = "order.opened"
    """A pending order became a deal, or another channel of the operator made one."""

    ORDER_REJECTED = "order.rejected"
    """The hedge refused a pending order. Nothing was booked."""

    ORDER_CLOSING = "order.closing"
    """The operator is closing a deal."""

    ORDER_CLOSED = "order.closed"
    """A deal was closed: its closing price and its profit or loss are set."""

    ORDER_DELETED = "order.deleted"
    """The operator removed an order."""

    ALLOCATION_CHANGED = "allocation.changed"
    """The operator changed the account's allocation."""

    KEY_ROTATED = "key.rotated"
    """An API key of the account was replaced by another one."""

    KEY_REVOKED = "key.revoked"
    """An API key of the account was revoked."""

    TRADING_HALTED = "trading.halted"
    """The operator halted trading for everyone."""

    TRADING_RESUMED = "trading.resumed"
    """The operator resumed trading."""

    SYMBOL_FROZEN = "symbol.frozen"
    """The operator froze a symbol."""

    SYMBOL_RESUMED = "symbol.resumed"
    """The operator resumed a frozen symbol."""


class Metal(OpenEnum):
    """What is traded."""

    GOLD = "gold"
    """Measured in grams."""

    SILVER = "silver"
    """Measured in kilograms."""


class Unit(OpenEnum):
    """The unit of a weight."""

    GRAM = "g"
    """For gold."""

    KILOGRAM = "kg"
    """For silver."""
