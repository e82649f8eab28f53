"""A break: the venue's word contradicts what has become of the order. The desk is shown it, and mends it."""

from bullion.hedge.venue import Confirmed, Final
from bullion.orders.order import Order


def contradicts(order: Order, word: Final, known_execution: str | None) -> bool:
    """Of an order that is no longer pending.

    A fill of an order that was refused or deleted; a refusal of one that is a deal; a second execution.
    """
    booked = order.deal_no is not None  # Also one that the desk deleted after it was a deal.
    if isinstance(word, Confirmed):
        return not booked or known_execution not in (None, word.execution_id)
    return booked
