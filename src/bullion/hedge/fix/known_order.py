"""What is known about one order of a line, and what follows from it."""

import msgspec

from bullion.hedge.venue import TOTAL, Confirmed, Declined, Fill, FinalAnswer, PartiallyFilled

from .order_effects import LineOrder, Seen
from .order_messages import Report


class Question(msgspec.Struct, frozen=True):
    question_id: str
    asked_at: float


class Closed(msgspec.Struct, frozen=True):
    """The venue said that nothing more will be executed."""

    filled_e8: int
    message: str


class KnownOrder(msgspec.Struct):
    """What is known about one order."""

    order: LineOrder
    sent_at: float
    line: int
    """On which line it was sent last; 0: on one that was closed before this process got the line."""
    seen: Seen
    fills: dict[str, Fill] = {}
    """By their ExecIDs. To be changed by `add_fill` alone."""
    answer: FinalAnswer | None = None
    filled_e8: int = 0
    """The largest total that the venue named; with an answer, the total of that answer."""
    average_e6: int = 0
    closed: Closed | None = None
    settle_at: float | None = None
    questions: list[Question] = msgspec.field(default_factory=list)
    listed_e8: int = 0
    """The total of `fills`."""

    @property
    def traded_e8(self) -> int:
        """The total of all trades that were reported."""
        return self.listed_e8 + self.seen.beyond_e8

    def add_fill(self, fill: Fill) -> None:
        self.fills[fill.execution_id] = fill
        self.seen.trades.setdefault(fill.execution_id, fill.quantity_e8)
        self.listed_e8 += fill.quantity_e8


def rest_of(known: KnownOrder, filled_e8: int) -> Fill:
    """What the venue filled by its total, but reported no fill for: at the price that the average implies."""
    fills = known.fills.values()
    rest_e8 = filled_e8 - known.listed_e8
    cost = filled_e8 * known.average_e6 - sum(each.quantity_e8 * each.price_e6 for each in fills)
    price_e6 = max((2 * cost + rest_e8) // (2 * rest_e8), 0)
    at_us = max((each.at_us for each in fills), default=0)
    return Fill(f"{TOTAL}{known.order.client_order_id}", rest_e8, price_e6, at_us)


def final_answer(known: KnownOrder, fills: tuple[Fill, ...]) -> FinalAnswer:
    order = known.order
    execution_id = known.seen.venue_order_id or order.client_order_id
    message = known.closed.message if known.closed else ""
    left_mg = max(order.fine_mg - order.contract.fine_mg(known.filled_e8), 0)
    whole = known.filled_e8 >= order.quantity_e8
    if whole and not left_mg:
        return Confirmed(execution_id, fills)
    if not known.filled_e8:
        return Declined(execution_id, message)
    if whole:  # The order was cut to whole steps when it was sent.
        words = f"execution {execution_id}, all but a rest below the smallest quantity"
        return PartiallyFilled(execution_id, fills, left_mg, words, below_step=True)
    below_step = order.contract.quantity_e8(left_mg) == 0
    return PartiallyFilled(execution_id, fills, left_mg, message, below_step)


def standing(report: Report) -> str:
    return f"The venue has it: order state {report.state}. {report.text}".strip()
