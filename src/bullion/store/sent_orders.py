"""An order, or one of its children, by the id under which it was sent."""

import msgspec

from bullion.booking.attempt import ToHedge
from bullion.booking.partial_fills import Rest, order_and_child

from . import order_rows
from .engine import Row, Transaction, one_row


async def find_sent(transaction: Transaction, sent_id: str) -> tuple[ToHedge, Row] | None:
    """With its row of `hedged_order`; None for an unknown id, or a child that was not sent.

    The answer to an earlier child may come again after the next one was sent. So a child has the weight
    that it was sent with, not what is left now.
    """
    order_id, child = order_and_child(sent_id)
    row = await transaction.one("hedged_order", order_id)
    if row is None:
        return None
    newest = order_rows.to_hedge(row)
    if child > newest.child:
        return None
    whole = msgspec.structs.replace(newest, rest=None)
    if not child:
        return whole, row
    filled = await one_row(transaction, "filled_before_child", row["book_id"], row["ordinal"], child)
    asked = whole.request()
    rest = Rest(child, asked.quantity_e4 - filled["quantity_e4"], asked.fine_mg - filled["fine_mg"])
    return msgspec.structs.replace(whole, rest=rest), row
