"""Reports that contradict what a line sent or saw, as the desk is shown them."""

import msgspec

from .codec import Message, time_us
from .known_order import KnownOrder
from .order_effects import BreakReason, LineBreak, LineOrder
from .order_messages import CANCELLED_TRADE, NO_SYMBOL, Report, executed_at, price_text, quantity_text


def other_terms(order: LineOrder, report: Report) -> str:
    """A venue may add the name that our contract does not have."""
    contract = order.contract
    if report.side not in (None, order.side):
        return f"The order's side is {order.side}, the report's {report.side}."
    if contract.security_id and report.security_id not in (None, contract.security_id):
        return f"The order's security is {contract.security_id}, the report's {report.security_id}."
    if contract.venue_symbol and report.symbol not in (None, NO_SYMBOL, contract.venue_symbol):
        return f"The order's symbol is {contract.venue_symbol}, the report's {report.symbol}."
    if report.ordered_e8 not in (None, 0, order.quantity_e8):
        return "The report names another ordered quantity."
    return ""


def break_of(reason: BreakReason, report: Report, order: LineOrder | None, message: str) -> LineBreak:
    return LineBreak(
        reason=reason,
        execution_id=report.execution_id or f"{reason.value}:{report.client_order_id}",
        client_order_id=report.client_order_id,
        order=order,
        symbol=report.symbol or (order.contract.venue_symbol if order else ""),
        side=report.side or (order.side if order else ""),
        quantity_e8=report.last_e8 or report.filled_e8,
        price_e6=report.last_price_e6 or report.average_e6,
        at_us=report.at_us,
        message=message,
        security_id=report.security_id or "",
    )


def excess(known: KnownOrder, report: Report) -> LineBreak:
    """A report of an order with a final answer names a larger total."""
    order = known.order
    made = break_of(BreakReason.OVERFILL, report, order, "The total is larger than the final answer said.")
    return msgspec.structs.replace(made, execution_id=f"total:{order.client_order_id}:{report.filled_e8}")


def excess_of_total(known: KnownOrder, total_e8: int) -> LineBreak:
    order = known.order
    return LineBreak(
        reason=BreakReason.OVERFILL,
        execution_id=f"total:{order.client_order_id}:{total_e8}",
        client_order_id=order.client_order_id,
        order=order,
        symbol=order.contract.venue_symbol,
        side=order.side,
        quantity_e8=total_e8 - order.quantity_e8,
        price_e6=known.average_e6,
        at_us=0,
        message="The venue filled more than was ordered.",
    )


def total_break(made: LineBreak, named: str, total_e8: int, new_e8: int) -> LineBreak:
    """What the total of an order, named by an id of it, says more than its trades."""
    return msgspec.structs.replace(made, execution_id=f"total:{named}:{total_e8}", quantity_e8=new_e8)


def changed_trade(
    order: LineOrder | None, report: Report, price_e6: int, before_e8: int, after_e8: int
) -> LineBreak:
    """The venue cancelled or corrected a trade. Listed is the difference: a cancelled purchase is a sale."""
    if report.kind == CANCELLED_TRADE:
        reason, words = BreakReason.TRADE_CANCELLED, f"Trade {report.execution_ref}."
    else:
        reason = BreakReason.TRADE_CORRECTED
        now = f"{quantity_text(after_e8)} at {price_text(price_e6)}"
        words = f"Trade {report.execution_ref} is now {now}."
    made = break_of(reason, report, order, f"{words} {report.text}".strip())
    change_e8 = after_e8 - before_e8
    side = made.side if change_e8 >= 0 else {"1": "2", "2": "1"}.get(made.side, made.side)
    return msgspec.structs.replace(made, quantity_e8=abs(change_e8), side=side, price_e6=price_e6)


def unreadable(message: Message, order: LineOrder | None, error: str) -> LineBreak:
    client_order_id = message.get(11) or ""
    execution_id = message.get(17) or f"unreadable:{message.get(11)}"
    try:
        at_us = time_us(executed_at(message))
    except ValueError:
        at_us = 0
    return LineBreak(BreakReason.UNREADABLE, execution_id, client_order_id, order, "", "", 0, 0, at_us, error)
