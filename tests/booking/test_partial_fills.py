"""Partly filled orders: the ids of children, and what an answer fills and leaves."""

import pytest

from bullion.booking.partial_fills import LAST_CHILD, Part, child_id, order_and_child, part_of
from bullion.hedge.venue import Confirmed, Declined, FinalAnswer, HedgeRequest, PartiallyFilled

ORDER = "01a1de14-d0ac-74ff-b60f-dff545fade4b"
REQUEST = HedgeRequest(ORDER, "main", "GOLD", "buy", 100_000, 7_000_000, "gold", 9_990)


def left(fine_mg: int) -> PartiallyFilled:
    return PartiallyFilled("P", (), fine_mg, "a part")


def test_a_child_has_the_id_of_its_order_and_a_letter() -> None:
    assert [child_id(ORDER, child)[36:] for child in (0, 1, 2, LAST_CHILD)] == ["", "b", "c", "z"]
    for child in range(LAST_CHILD + 1):
        assert order_and_child(child_id(ORDER, child)) == (ORDER, child)


@pytest.mark.parametrize("other", ["", "of nobody", f"{ORDER}a", f"{ORDER}7", f"{ORDER}bb"])
def test_another_id_is_no_child(other: str) -> None:
    assert order_and_child(other) == (other, 0)


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        (Confirmed("E"), Part(100_000, 9_990, 0, 0)),
        (Declined("R", "no"), Part(0, 0, 100_000, 9_990)),
        (left(3_996), Part(60_000, 5_994, 40_000, 3_996)),
        (left(1), Part(99_990, 9_989, 10, 1)),
        (left(0), Part(100_000, 9_990, 0, 0)),
        (left(-5), Part(100_000, 9_990, 0, 0)),
        (left(99_999), Part(0, 0, 100_000, 9_990)),
    ],
)
def test_what_is_filled_and_what_is_left_is_always_the_request(answer: FinalAnswer, part: Part) -> None:
    assert part_of(REQUEST, answer) == part
    assert part.filled_e4 + part.left_e4 == REQUEST.quantity_e4
    assert part.filled_fine_mg + part.left_fine_mg == REQUEST.fine_mg
