"""A break: the venue's word contradicts what has become of the order. The desk is shown it, and mends it."""

from enum import StrEnum

import msgspec

from bullion.hedge.venue import Confirmed, Final, ListedExecution
from bullion.metals.metal import Metal
from bullion.metals.symbol import Side
from bullion.orders.order import Order


class Mismatch(StrEnum):
    """Why an execution is a break of its own, beside any order."""

    UNKNOWN_ORDER = "unknown_order"
    """No order of ours has the id that it was made for."""
    SECOND_EXECUTION = "second_execution"
    """The venue has said something final about its order before, such as another execution."""
    DIFFERS = "differs"
    """Its side or weight is not the order's."""


class UnmatchedExecution(msgspec.Struct, frozen=True):
    """An execution that no order of ours accounts for, or not for all of it."""

    execution: ListedExecution
    reason: Mismatch
    metal: Metal | None
    """None: nothing of the broker's is hedged in that instrument."""
    excess_e4: int
    """What it covers beyond its order, above zero for a buy."""


def contradicts(order: Order, word: Final, known_execution: str | None) -> bool:
    """Of an order that is no longer pending.

    A fill of an order that was refused or deleted; a refusal of one that is a deal; a second execution.
    """
    booked = order.deal_no is not None  # Also one that the desk deleted after it was a deal.
    if isinstance(word, Confirmed):
        return not booked or known_execution not in (None, word.execution_id)
    return booked


def second_execution(order: Order, instrument: str, execution_id: str, at_us: int) -> UnmatchedExecution:
    """Of an order that has its execution already. Its weight is not known, and taken to be the order's."""
    asked = order.asked
    execution = ListedExecution(
        execution_id, order.id, instrument, asked.trade_type, asked.quantity_e4, at_us, cursor=""
    )
    return UnmatchedExecution(execution, Mismatch.SECOND_EXECUTION, order.metal, signed_weight(execution))


def weight_beyond(order: Order, execution: ListedExecution) -> int:
    """What the execution covers beyond its order, above zero for a buy; 0 where side and weight agree."""
    asked = order.asked
    return signed_weight(execution) - _signed(asked.trade_type, asked.quantity_e4)


def signed_weight(execution: ListedExecution) -> int:
    return _signed(execution.trade_type, execution.quantity_e4)


def _signed(trade_type: str, quantity_e4: int) -> int:
    return quantity_e4 if trade_type == Side.BUY else -quantity_e4
