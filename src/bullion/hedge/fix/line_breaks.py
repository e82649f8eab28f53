"""Reports that contradict what a line sent or saw, as the desk is shown them."""

import msgspec

from .codec import Message
from .known_order import KnownOrder
from .order_effects import BreakReason, LineBreak, LineOrder
from .order_messages import Report


def other_terms(order: LineOrder, report: Report) -> str:
    contract = order.contract
    if report.side not in (None, order.side):
        return f"The order's side is {order.side}, the report's {report.side}."
    if report.security_id not in (None, contract.security_id):
        return f"The order's security is {contract.security_id}, the report's {report.security_id}."
    if report.symbol not in (None, "[N/A]", contract.venue_symbol):
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
    )


def excess(known: KnownOrder, report: Report) -> LineBreak:
    """A report of an order with a final answer names a larger total."""
    order = known.order
    total_e8 = report.filled_e8
    made = break_of(BreakReason.OVERFILL, report, order, "The total is larger than the final answer said.")
    beyond_e8 = total_e8 - max(known.filled_e8, known.listed_e8)
    return msgspec.structs.replace(
        made, execution_id=f"total:{order.client_order_id}:{total_e8}", quantity_e8=beyond_e8
    )


def excess_of_total(known: KnownOrder, filled_e8: int) -> LineBreak:
    order = known.order
    return LineBreak(
        reason=BreakReason.OVERFILL,
        execution_id=f"total:{order.client_order_id}:{filled_e8}",
        client_order_id=order.client_order_id,
        order=order,
        symbol=order.contract.venue_symbol,
        side=order.side,
        quantity_e8=filled_e8 - order.quantity_e8,
        price_e6=known.average_e6,
        at_us=0,
        message="The venue filled more than was ordered.",
    )


def changed_trade(known: KnownOrder, report: Report) -> LineBreak:
    """The venue cancelled or corrected a trade."""
    cancelled = report.kind == "H"
    reason = BreakReason.TRADE_CANCELLED if cancelled else BreakReason.TRADE_CORRECTED
    fill = known.fills.get(report.execution_ref)
    quantity_e8 = report.last_e8 or (fill.quantity_e8 if fill else 0)
    made = break_of(reason, report, known.order, f"Trade {report.execution_ref}. {report.text}".strip())
    # What is listed is what the venue did last: a cancelled purchase is a sale.
    side = made.side if not cancelled else {"1": "2", "2": "1"}.get(made.side, made.side)
    price_e6 = report.last_price_e6 or (fill.price_e6 if fill else 0)
    return msgspec.structs.replace(made, quantity_e8=quantity_e8, side=side, price_e6=price_e6)


def unreadable(message: Message, order: LineOrder | None, error: str) -> LineBreak:
    client_order_id = message.get(11) or ""
    execution_id = message.get(17) or f"unreadable:{message.get(11)}"
    return LineBreak(BreakReason.UNREADABLE, execution_id, client_order_id, order, "", "", 0, 0, 0, error)
