"""Partly filled orders: the rest is sent under the id of a child, so that every id has one final answer.

The first child of an order has its id followed by `b`, the next by `c`, and so on. The order is pending until
all of it is filled, or until the desk decides about the rest.
"""

from string import ascii_lowercase

import msgspec

from bullion.hedge.venue import Declined, FinalAnswer, HedgeRequest, PartiallyFilled
from bullion.metals.rounding import half_up

CHILDREN_MAX = 5
"""After so many children the rest waits for the desk. The desk may send more."""
LAST_CHILD = len(ascii_lowercase) - 1
_ID_LENGTH = 36
TOLERANCE_E4 = 20
"""The weight of a part is rounded to fine milligrams and back. It may differ from the venue's by so much."""


class Rest(msgspec.Struct, frozen=True):
    """The unfilled rest of an order."""

    child: int
    """The number of the child under whose id it is sent; 1 is the first."""
    quantity_e4: int
    fine_mg: int


class Part(msgspec.Struct, frozen=True):
    """The final answer for one id of a partly filled order, by weight."""

    filled_e4: int
    filled_fine_mg: int
    left_e4: int
    left_fine_mg: int


def child_id(order_id: str, child: int) -> str:
    """The id that a child is sent under; child 0 is the order itself."""
    return order_id + ascii_lowercase[child] if child else order_id


def order_and_child(sent_id: str) -> tuple[str, int]:
    """The order's id and the number of the child, from an id that was sent."""
    child = ascii_lowercase.find(sent_id[-1]) if len(sent_id) == _ID_LENGTH + 1 else 0
    return (sent_id[:-1], child) if child > 0 else (sent_id, 0)


def part_of(request: HedgeRequest, answer: FinalAnswer) -> Part:
    """What an answer filled of its request, and what it left."""
    quantity_e4, fine_mg = request.quantity_e4, request.fine_mg
    if isinstance(answer, Declined):
        return Part(0, 0, quantity_e4, fine_mg)
    left_fine_mg = answer.fine_mg_left if isinstance(answer, PartiallyFilled) else 0
    left_fine_mg = min(max(left_fine_mg, 0), fine_mg)
    if left_fine_mg == 0:
        return Part(quantity_e4, fine_mg, 0, 0)
    left_e4 = max(1, half_up(quantity_e4 * left_fine_mg, fine_mg))
    return Part(quantity_e4 - left_e4, fine_mg - left_fine_mg, left_e4, left_fine_mg)
