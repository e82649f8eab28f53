"""Orders as they are sent on a line, and what the venue's reports say about them."""

from enum import StrEnum

import msgspec

from bullion.hedge.contract import Contract
from bullion.hedge.venue import Fill, FinalAnswer


class LineOrder(msgspec.Struct, frozen=True):
    """An order as it is sent on a line."""

    order_id: str
    client_order_id: str
    broker: str
    instrument: str
    trade_type: str
    quantity_e4: int
    fine_mg: int
    quantity_e8: int
    contract: Contract
    limit_e6: int | None = None
    """None: at the market."""
    sends: int = 1
    """How often it was sent; again only after the venue proved that it does not know it."""

    @property
    def side(self) -> str:
        return "1" if self.trade_type == "buy" else "2"


class BreakReason(StrEnum):
    FOREIGN_ID = "foreign_id"
    """It names an order that this line did not send."""
    OTHER_TERMS = "other_terms"
    """Its symbol, side or quantity is not the order's."""
    OVERFILL = "overfill"
    """More was executed than was ordered, or than the final answer said."""
    TRADE_CANCELLED = "trade_cancelled"
    TRADE_CORRECTED = "trade_corrected"
    UNREADABLE = "unreadable"
    """A field is missing or cannot be read, so the report proves nothing."""


class Seen(msgspec.Struct):
    """What was seen of an order besides its fills and its answer, for whoever has the line later."""

    name: str
    """Its ClOrdID. Of orders that are not ours, see `foreign_name`."""
    venue_order_id: str = ""
    trades: dict[str, int] = {}
    """By its ExecID, the quantity of every trade as the venue named it last: also if it does not count."""
    beyond_e8: int = 0
    """The total of trades that do not count, and of what corrections added to others."""
    excess_e8: int = 0
    """How much was listed as breaks, because the venue executed more than counts."""
    others: dict[str, int] = {}
    """How much was listed as breaks of each other order that the venue has under this id, by its OrderID."""
    breaks: set[str] = set()


class LineBreak(msgspec.Struct, frozen=True):
    """A report that contradicts what the line sent or saw. A person has to look at it."""

    reason: BreakReason
    execution_id: str
    client_order_id: str
    order: LineOrder | None
    symbol: str
    side: str
    quantity_e8: int
    price_e6: int
    at_us: int
    message: str
    security_id: str = ""
    seen: Seen | None = None
    """To be stored with it."""


class FillSeen(msgspec.Struct, frozen=True):
    order: LineOrder
    fill: Fill


class OrderFinal(msgspec.Struct, frozen=True):
    order: LineOrder
    answer: FinalAnswer
    filled_e8: int


class OrderSeen(msgspec.Struct, frozen=True):
    """To be stored: something was heard of an order that is no fill, answer or break."""

    seen: Seen


class OrderUnknown(msgspec.Struct, frozen=True):
    """It is proven that the venue never received the order."""

    order: LineOrder


class DuplicateSeen(msgspec.Struct, frozen=True):
    """The venue refused the order because it has one with this id. Ask for that one."""

    order: LineOrder


class StatusAnswered(msgspec.Struct, frozen=True):
    """The venue answered a question, or a report says where the order stands."""

    order: LineOrder
    question: str
    message: str


class Ask(msgspec.Struct, frozen=True):
    """A report leaves open what became of the order."""

    order: LineOrder


Effect = FillSeen | OrderSeen | OrderFinal | OrderUnknown | DuplicateSeen | StatusAnswered | LineBreak | Ask
