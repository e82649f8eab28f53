"""When the venue's word contradicts what has become of an order that is no longer pending."""

from itertools import product

import pytest

from bullion.booking.breaks import contradicts
from bullion.hedge.venue import Confirmed, Final, Refused
from bullion.orders.status import Status
from tests.orders.orders import order_in

FILL, REFUSAL = Confirmed("E1"), Refused("E1", "no")
SETTLED = ["open", "closing", "closed", "rejected", "deleted"]


@pytest.mark.parametrize(("status", "word"), list(product(SETTLED, [FILL, REFUSAL])))
def test_a_first_word_contradicts_an_order_that_went_the_other_way(status: str, word: Final) -> None:
    deal = status in ("open", "closing", "closed")
    assert contradicts(order_in(Status(status)), word, None) is (deal is not (word is FILL))


@pytest.mark.parametrize(("status", "word"), list(product(SETTLED, [FILL, REFUSAL])))
def test_the_word_that_is_known_already_contradicts_as_the_first_time(status: str, word: Final) -> None:
    order = order_in(Status(status))
    assert contradicts(order, word, "E1") is contradicts(order, word, None)


@pytest.mark.parametrize("status", SETTLED)
def test_a_second_execution_is_always_a_break(status: str) -> None:
    assert contradicts(order_in(Status(status)), FILL, "E2")
