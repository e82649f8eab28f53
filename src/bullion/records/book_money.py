"""The money of a hedge book as the store keeps it."""

from datetime import date

import msgspec

from bullion.hedge.book.marks import BookMark
from bullion.hedge.book.money import BookMoney
from bullion.metals.metal import Metal


class DayMark(msgspec.Struct, frozen=True):
    """A book at the end of a day, or now, if the day has not ended."""

    day: date
    money: BookMoney
    mark: BookMark | None = None
    """What valued it last on that day. None: no node saw a fresh rate."""


class CurrencyRecord(msgspec.Struct, frozen=True):
    """Dollars that the desk bought or sold for a book."""

    id: str
    broker: str
    metal: Metal
    cents: int
    """Above 0: bought."""
    rate_e6: int
    cash_paise: int
    fee_paise: int
    reference: str
    made_by: str
    idempotency_key: str
    at_us: int
