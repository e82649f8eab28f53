"""What can be traded, and at which price."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from bullion_client.enums import Metal, TradeType, Unit


@dataclass(frozen=True, slots=True)
class Symbol:
    """Something that the account can trade, with the sizes that hold for its group."""

    symbol_code: str
    """Its name in orders."""

    metal: Metal
    """Gold or silver."""

    unit: Unit
    """What its weights are measured in."""

    quoted_weight: Decimal
    """The weight that prices are for: 10 where gold is quoted for 10 g."""

    minimum: Decimal
    """The smallest order."""

    maximum: Decimal
    """The largest order."""

    step: Decimal
    """An order has to be a multiple of it."""

    sides: tuple[TradeType, ...]
    """Which sides are offered."""

    trading: bool
    """Whether trading is on for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """The account's prices for a symbol at one moment."""

    symbol_code: str
    """The symbol."""

    buy: Decimal | None = None
    """What a buyer pays for the quoted weight; None where there is no price or buying is not offered."""

    sell: Decimal | None = None
    """What a seller gets for the quoted weight; None where there is no price or selling is not offered."""

    at: datetime | None = None
    """How old it is: the time of the oldest rate in it."""

    tradable: bool
    """Whether an order would be taken now."""

    reason: str | None = None
    """The code of the refusal that an order would meet, if it is not tradable."""
