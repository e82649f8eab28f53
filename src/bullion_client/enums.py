"""The words of the service that a program branches on. Each takes values of later versions too."""

from bullion_client.open_enum import OpenEnum


class TradeType(OpenEnum):
    """The side of an order, as its owner sees it."""

    BUY = "buy"
    """The account gets the metal."""

    SELL = "sell"
    """The account gives the metal."""


class OrderStatus(OpenEnum):
    """Where an order is in its life. Test orders are `FILLED`; the others are production's."""

    FILLED = "filled"
    """A test order: done, and it means nothing."""

    PENDING = "pending"
    """Taken, but the operator's hedge has not confirmed it. Not a deal yet."""

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


class Metal(OpenEnum):
    """What is traded."""

    GOLD = "gold"
    """Measured in grams."""

    SILVER = "silver"
    """Measured in kilograms."""


class Unit(OpenEnum):
    """What a weight is measured in."""

    GRAM = "g"
    """Of gold."""

    KILOGRAM = "kg"
    """Of silver."""
