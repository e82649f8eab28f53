"""Whether an order passes the weight allocation: the ruling's formula, and nothing beside it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bullion.allocation.book import Book, book_id, environment_of
from bullion.allocation.position import Position
from bullion.environment import Environment
from bullion.metals.metal import Metal

NETS = st.integers(-(10**14), 10**14)
LIMITS = st.integers(0, 10**13)


@pytest.mark.parametrize(
    ("net", "limit", "change", "admitted"),
    [
        # Within the limit, up to exactly it, and no further; the same on both sides.
        (0, 10, 10, True),
        (0, 10, 11, False),
        (0, 10, -10, True),
        (0, 10, -11, False),
        (9, 10, 1, True),
        (9, 10, 2, False),
        (-9, 10, -1, True),
        (-9, 10, -2, False),
        (10, 10, 1, False),
        (-10, 10, -1, False),
        # Through zero and out on the other side.
        (10, 10, -20, True),
        (10, 10, -21, False),
        (-10, 10, 20, True),
        (-10, 10, 21, False),
        # Above the limit already: only what takes it closer to nothing, strictly.
        (20, 10, 1, False),
        (20, 10, -1, True),
        (20, 10, -39, True),
        (20, 10, -40, False),
        (20, 10, -41, False),
        (-20, 10, -1, False),
        (-20, 10, 1, True),
        (-20, 10, 39, True),
        (-20, 10, 40, False),
        # No allocation at all: nothing may be opened, everything may be closed.
        (0, 0, 1, False),
        (0, 0, -1, False),
        (5, 0, -5, True),
        (5, 0, -9, True),
        (5, 0, -10, False),
        (5, 0, 1, False),
    ],
)
def test_the_edges(net: int, limit: int, change: int, admitted: bool) -> None:
    assert Position(net, limit).admits(change) is admitted


@given(NETS, LIMITS, NETS)
@example(10**13, 10**13, -2 * 10**13)
def test_it_is_the_rulings_formula(net: int, limit: int, change: int) -> None:
    after = net + change
    assert Position(net, limit).admits(change) is (abs(after) <= limit or abs(after) < abs(net))


@given(NETS, LIMITS, st.data())
def test_a_strict_reduction_always_passes(net: int, limit: int, data: st.DataObject) -> None:
    if net == 0:
        return
    closer = data.draw(st.integers(-abs(net) + 1, abs(net) - 1))
    assert Position(net, limit).admits(closer - net)


@given(NETS, LIMITS, NETS)
def test_what_passes_never_grows_past_the_limit(net: int, limit: int, change: int) -> None:
    if Position(net, limit).admits(change) and abs(net + change) >= abs(net):
        assert Position(net + change, limit).used_e4 <= limit


@given(NETS, LIMITS)
def test_used_and_free(net: int, limit: int) -> None:
    position = Position(net, limit)
    assert position.used_e4 == abs(net)
    assert position.free_e4 == (limit - abs(net) if abs(net) < limit else 0)


@given(st.integers(1, 2**40), st.integers(1, 2**40))
def test_every_account_has_a_book_of_its_own_in_each_environment(one: int, other: int) -> None:
    test, production = (book_id(one, environment) for environment in Environment)
    assert test != production
    assert environment_of(test) is Environment.TEST
    assert environment_of(production) is Environment.PRODUCTION
    if one != other:
        assert {test, production}.isdisjoint(book_id(other, environment) for environment in Environment)


def test_a_book_has_a_position_in_each_metal() -> None:
    book = Book(2, Position(1, 2), Position(3, 4), 0, 0, 0, 1)
    assert book.position(Metal.GOLD) == Position(1, 2)
    assert book.position(Metal.SILVER) == Position(3, 4)


def test_a_position_is_a_value_that_nobody_changes() -> None:
    position = Position(1, 2)
    with pytest.raises(AttributeError):
        position.net_e4 = 3  # type: ignore[misc]
    assert {position, Position(1, 2)} == {position}
