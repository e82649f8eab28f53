"""A break: the venue's answer contradicts the state of the order. The desk sees it and resolves it."""

from enum import StrEnum

import msgspec

from bullion.hedge.venue import Confirmed, FinalAnswer, ListedExecution
from bullion.metals.metal import Metal
from bullion.metals.symbol import Side
from bullion.orders.order import Order

from .attempt import ToHedge


class Mismatch(StrEnum):
    """Why an execution is a break of its own."""

    UNKNOWN_ORDER = "unknown_order"
    """No recorded order has its order id."""
    SECOND_EXECUTION = "second_execution"
    """The venue gave a final answer to its order before, such as another execution."""
    DIFFERS = "differs"
    """Its side or weight is not the order's."""


class UnmatchedExecution(msgspec.Struct, frozen=True):
    """An execution that no order accounts for, or not for all of it."""

    execution: ListedExecution
    reason: Mismatch
    metal: Metal | None
    """None: the broker hedges nothing in that instrument."""
    excess_e4: int
    """What it covers beyond its order, above zero for a buy."""


def contradicts(order: Order, answer: FinalAnswer, known_execution: str | None) -> bool:
    """Whether the answer contradicts an order that is no longer pending.

    It does if it fills an order that was refused or deleted, refuses a deal, or is a second execution.
    """
    is_deal = order.deal_no is not None  # Also a deal that the desk deleted later.
    if isinstance(answer, Confirmed):
        return not is_deal or known_execution not in (None, answer.execution_id)
    return is_deal


def second_execution(
    to_hedge: ToHedge, execution_id: str, at_us: int, filled_e4: int | None = None
) -> UnmatchedExecution:
    """A second execution of an order. If its weight is not known, it is assumed to be the request's."""
    order, request = to_hedge.order, to_hedge.request()
    execution = ListedExecution(
        execution_id,
        request.order_id,
        request.instrument,
        request.trade_type,
        request.quantity_e4 if filled_e4 is None else filled_e4,
        at_us,
        cursor="",
    )
    return UnmatchedExecution(execution, Mismatch.SECOND_EXECUTION, order.metal, signed_weight(execution))


def weight_beyond(trade_type: str, quantity_e4: int, execution: ListedExecution) -> int:
    """What it covers beyond that side and weight, above zero for a buy; 0 if they agree."""
    return signed_weight(execution) - _signed(trade_type, quantity_e4)


def signed_weight(execution: ListedExecution) -> int:
    return _signed(execution.trade_type, execution.quantity_e4)


def _signed(trade_type: str, quantity_e4: int) -> int:
    return quantity_e4 if trade_type == Side.BUY else -quantity_e4
