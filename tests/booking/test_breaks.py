"""When the venue's word contradicts what has become of an order that is no longer pending."""

from itertools import product

import pytest

from bullion.booking.breaks import contradicts
from bullion.hedge.venue import Confirmed, Final, Refused
from bullion.orders.order import Order
from bullion.orders.status import Status
from tests.orders.orders import order_in

FILL, REFUSAL = Confirmed("E1"), Refused("E1", "no")
SETTLED = ["open", "closing", "closed", "rejected", "deleted"]


DEALS = ["open", "closing", "closed"]


def settled(status: str) -> Order:
    return order_in(Status(status), deal_no=7 if status in DEALS else None)


@pytest.mark.parametrize(("status", "word"), list(product(SETTLED, [FILL, REFUSAL])))
def test_a_first_word_contradicts_an_order_that_went_the_other_way(status: str, word: Final) -> None:
    assert contradicts(settled(status), word, None) is ((status in DEALS) is not (word is FILL))


@pytest.mark.parametrize(("word", "known"), [(FILL, "E1"), (FILL, None)])
def test_a_deal_that_the_desk_deleted_was_filled_all_the_same(word: Final, known: str | None) -> None:
    deleted = order_in(Status.DELETED, deal_no=7)
    assert not contradicts(deleted, word, known)
    assert contradicts(deleted, REFUSAL, known)


@pytest.mark.parametrize(("status", "word"), list(product(SETTLED, [FILL, REFUSAL])))
def test_the_word_that_is_known_already_contradicts_as_the_first_time(status: str, word: Final) -> None:
    order = settled(status)
    assert contradicts(order, word, "E1") is contradicts(order, word, None)


@pytest.mark.parametrize("status", SETTLED)
def test_a_second_execution_is_always_a_break(status: str) -> None:
    assert contradicts(settled(status), FILL, "E2")
