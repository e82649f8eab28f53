"""An order as recorded in a book."""

import msgspec

from bullion.metals.metal import Metal
from bullion.metals.symbol import BUY

from .request import PlaceOrder

API = "api"
"""The channel of orders that were placed through this API."""


class Order(msgspec.Struct, frozen=True, gc=False):
    book_id: int
    ordinal: int
    """Its number in its book, from 1 without gaps."""
    id: str
    source: str
    idempotency_key: str
    asked: PlaceOrder
    metal: Metal
    price_paise: int
    """Fixed when the order is accepted; shown to the client when it is booked."""
    total_paise: int
    status: str
    key_id: str | None
    request_id: str
    created_at_us: int
    price_anatomy: str
    """The components of the price, as JSON for the desk."""
    deal_no: int | None = None
    """The operator's deal number, once it is booked. Test orders have none."""
    close_price_paise: int | None = None
    realized_pnl_paise: int | None = None
    closed_at_us: int | None = None


class PriceMove(msgspec.Struct, frozen=True):
    """A key settled by a moved price: nothing was booked, and nothing will be booked under it."""

    book_id: int
    source: str
    idempotency_key: str
    asked: PlaceOrder
    price_paise: int
    tolerance_percent_e4: int
    request_id: str
    at_us: int


def signed_e4(asked: PlaceOrder) -> int:
    """The change of the net position."""
    return asked.quantity_e4 if asked.trade_type == BUY else -asked.quantity_e4
