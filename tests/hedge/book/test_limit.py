"""Which of the orders that wait for a book may be confirmed under its limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.hedge.book.invariants import limit_problems
from bullion.hedge.book.limit import confirmable


@pytest.mark.parametrize(
    ("residual", "limit", "changes", "expected"),
    [
        (0, 10, [], []),
        (0, 10, [-10], [(0,)]),
        (0, 10, [-11], []),
        (0, 10, [-10, 10], [(0,), (1,)]),
        (0, 10, [-11, -5], []),  # Behind its elder.
        (0, 10, [-21, 5], [(1,)]),  # It goes the other way, which brings its elder nearer.
        (0, 10, [-11, 5], [(1,), (0,)]),
        (-8, 10, [-5, 4], [(1,), (0,)]),  # The second makes room for the first.
        (-20, 10, [5], [(0,)]),
        (5, 3, [-9], [(0,)]),  # Past zero, and still less.
        (5, 3, [-11], []),
        (5, 5, [-10], [(0,)]),
        (0, 10, [-6, -6, 3], [(0,), (2,), (1,)]),
        (0, 10, [-6, -6], [(0,)]),
        (0, 10, [-25, 24], [(0, 1)]),  # Neither has room alone, and together they need no cover.
        (0, 10, [-25, 24, -30], [(0, 1)]),
        (-50, 10, [110, -20], [(0, 1)]),  # Together they reduce a residual that is beyond the limit.
    ],
)
def test_which_orders_are_confirmed(
    residual: int, limit: int, changes: list[int], expected: list[tuple[int, ...]]
) -> None:
    assert confirmable(residual, limit, changes) == expected


def test_an_order_that_cannot_be_confirmed_now_keeps_its_place() -> None:
    assert confirmable(0, 10, [-5, -5], [False, True]) == []
    assert confirmable(0, 10, [-25, 24], [True, False]) == []
    assert confirmable(0, 10, [-25, 24], [False, True]) == []


WEIGHTS = st.integers(-(10**8), 10**8).filter(bool)


@given(WEIGHTS, st.integers(1, 10**7), st.lists(WEIGHTS, max_size=12))
def test_no_group_exceeds_the_limit_and_none_that_has_room_waits(
    residual_mg: int, limit_mg: int, changes_mg: list[int]
) -> None:
    left = dict(enumerate(changes_mg))
    for group in confirmable(residual_mg, limit_mg, changes_mg):
        after_mg = residual_mg + sum(left.pop(place) for place in group)
        assert limit_problems(residual_mg, after_mg, limit_mg) == []
        residual_mg = after_mg
    if left:
        assert abs(residual_mg + sum(left.values())) > limit_mg
        assert all(abs(residual_mg + change_mg) > abs(residual_mg) for change_mg in left.values())
    for sign in (-1, 1):
        oldest = next((change_mg for change_mg in left.values() if change_mg * sign > 0), None)
        assert oldest is None or abs(residual_mg + oldest) > limit_mg
