"""Applies events to orders, and says what that means for their book. Pure functions."""

import msgspec

from bullion.metals.scaled import scaled
from bullion.metals.symbol import Side

from .order import API, Order
from .status import HOLDING, TRANSITIONS, Event, Status


class NotAllowed(Exception):
    """The order's state does not allow the event. Nothing was changed."""

    def __init__(self, order: Order, event: Event) -> None:
        super().__init__(f"an order that is {order.status} cannot take the event {event}")
        self.order = order
        self.event = event


def after(
    order: Order,
    event: Event,
    at_us: int,
    *,
    deal_no: int | None = None,
    close_price_paise: int | None = None,
) -> Order:
    """The order after the event. May raise NotAllowed.

    `deal_no` is for a confirmation, `close_price_paise` for the completion of a close.
    """
    to = TRANSITIONS[event].get(Status(order.status))
    if to is None:
        raise NotAllowed(order, event)
    match event:
        case Event.CONFIRM:
            return msgspec.structs.replace(order, status=to.value, deal_no=deal_no)
        case Event.COMPLETE:
            if close_price_paise is None:
                raise ValueError("closing is completed at a price")
            return msgspec.structs.replace(
                order,
                status=to.value,
                close_price_paise=close_price_paise,
                realized_pnl_paise=realized_pnl_paise(order, close_price_paise),
                closed_at_us=at_us,
            )
        case _:
            return msgspec.structs.replace(order, status=to.value)


def realized_pnl_paise(order: Order, close_price_paise: int) -> int:
    """Rounded once, halves away from zero."""
    gain = close_price_paise - order.price_paise
    if order.asked.trade_type != Side.BUY:
        gain = -gain
    weight_e4 = quoted_weight_e4(order)
    size = (2 * abs(gain) * order.asked.quantity_e4 + weight_e4) // (2 * weight_e4)
    return size if gain > 0 else -size


def quoted_weight_e4(order: Order) -> int:
    """As it was when the order was priced: the desk may have changed the symbol since."""
    return scaled(msgspec.json.decode(order.price_anatomy)["quoted_weight"], 4)


def releases_weight(before: Order, now: Order) -> bool:
    """Whether the order held a position and no longer does, so that its weight returns to book and stock."""
    return Status(before.status) in HOLDING and Status(now.status) not in HOLDING


def hidden(order: Order) -> bool:
    """Whether the API hides the order: it came by another channel and is not a deal."""
    return order.source != API and order.status in (Status.PENDING, Status.REJECTED)


def kinds_of(order: Order) -> set[tuple[str, str, str]]:
    """The kinds that the order is counted under, each as symbol, side and status.

    The first is the order's own kind; its status has a suffix if the API hides the order. The second counts
    everything that the API lists without a filter by status.
    """
    is_hidden = hidden(order)
    status = f"{order.status}{HIDDEN_SUFFIX}" if is_hidden else order.status
    own = (order.asked.symbol_code, order.asked.trade_type, status)
    return {own} if is_hidden or order.status == Status.DELETED else {own, ("", "", SHOWN)}


HIDDEN_SUFFIX = " elsewhere"
SHOWN = "shown"
