"""When the venue's word contradicts what has become of an order that is no longer pending."""

from itertools import product

import pytest

from bullion.booking.breaks import contradicts, weight_beyond
from bullion.hedge.venue import Confirmed, Declined, FinalAnswer, ListedExecution
from bullion.orders.order import Order
from bullion.orders.status import Status
from tests.orders.orders import order_in

FILL, REFUSAL = Confirmed("E1"), Declined("E1", "no")
SETTLED = ["open", "closing", "closed", "rejected", "deleted"]


DEALS = ["open", "closing", "closed"]


def settled(status: str) -> Order:
    return order_in(Status(status), deal_no=7 if status in DEALS else None)


@pytest.mark.parametrize(("status", "word"), list(product(SETTLED, [FILL, REFUSAL])))
def test_a_first_word_contradicts_an_order_that_went_the_other_way(status: str, word: FinalAnswer) -> None:
    assert contradicts(settled(status), word, None) is ((status in DEALS) is not (word is FILL))


@pytest.mark.parametrize(("word", "known"), [(FILL, "E1"), (FILL, None)])
def test_a_deal_that_the_desk_deleted_was_filled_all_the_same(word: FinalAnswer, known: str | None) -> None:
    deleted = order_in(Status.DELETED, deal_no=7)
    assert not contradicts(deleted, word, known)
    assert contradicts(deleted, REFUSAL, known)


@pytest.mark.parametrize(("status", "word"), list(product(SETTLED, [FILL, REFUSAL])))
def test_the_word_that_is_known_already_contradicts_as_the_first_time(status: str, word: FinalAnswer) -> None:
    order = settled(status)
    assert contradicts(order, word, "E1") is contradicts(order, word, None)


@pytest.mark.parametrize("status", SETTLED)
def test_a_second_execution_is_always_a_break(status: str) -> None:
    assert contradicts(settled(status), FILL, "E2")


@pytest.mark.parametrize(
    ("executed", "beyond_e4"),
    [(("buy", 0), 0), (("buy", 5), 5), (("buy", -3), -3), (("sell", 0), None)],
)
def test_an_execution_covers_what_its_order_asked_for_or_more_or_less(
    executed: tuple[str, int], beyond_e4: int | None
) -> None:
    order = settled("open")
    asked = order.asked
    assert asked.trade_type == "buy"
    side, more_e4 = executed
    weight_e4 = asked.quantity_e4 + more_e4
    execution = ListedExecution("E1", order.id, "XAUUSD", side, weight_e4, 1, "1")
    expected_e4 = -2 * asked.quantity_e4 if beyond_e4 is None else beyond_e4
    assert weight_beyond(asked.trade_type, asked.quantity_e4, execution) == expected_e4
