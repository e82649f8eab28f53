"""The board: the newer of two sources wins, and the serial says when anything changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.rates.board import MARKET, Board
from bullion.rates.tick import Tick


def tick(instrument: str, at_us: int, bid_e6: int = 1) -> Tick:
    return Tick(instrument, bid_e6, bid_e6 + 1, at_us, at_us)


def test_a_new_board_is_not_ready_and_knows_nothing() -> None:
    board = Board()
    assert not board.ready
    assert board.version is None
    assert board.serial == 0
    assert board.tick("main", "GOLD") is None
    assert board.ticks("main") == []


def test_an_empty_set_is_a_set() -> None:
    board = Board()
    board.apply([], 7)
    assert board.ready
    assert (board.version, board.serial) == (7, 1)
    assert board.tick("main", "GOLD") is None


def test_the_serial_moves_by_one_for_a_take_that_changed_anything() -> None:
    board = Board()
    board.apply([(MARKET, tick("GOLD", 10)), (MARKET, tick("SILVER", 10))], 1)
    assert board.serial == 1
    board.apply([], 2)
    board.apply([(MARKET, tick("GOLD", 10))], 4)
    assert (board.serial, board.version) == (1, 4)
    board.apply([(MARKET, tick("GOLD", 11)), (MARKET, tick("SILVER", 11))], 5)
    assert (board.serial, board.version) == (2, 5)


def test_a_tick_that_came_again_with_a_new_time_moves_the_serial() -> None:
    """The price is the same, but it is not as old."""
    board = Board()
    board.apply([(MARKET, Tick("GOLD", 1, 2, 10, 10))], 1)
    board.apply([(MARKET, Tick("GOLD", 1, 2, 20, 10))], 2)
    assert board.serial == 2
    assert board.tick("main", "GOLD") == Tick("GOLD", 1, 2, 20, 10)


def test_what_the_store_has_is_taken_even_if_it_is_older() -> None:
    """The store takes an older tick only after its clock was set back."""
    board = Board()
    board.apply([("main", tick("GOLD", 10, bid_e6=1))], 1)
    board.apply([("main", tick("GOLD", 10, bid_e6=2))], 2)
    assert board.tick("main", "GOLD") == tick("GOLD", 10, bid_e6=2)
    board.apply([("main", tick("GOLD", 9, bid_e6=3))], 3)
    assert board.tick("main", "GOLD") == tick("GOLD", 9, bid_e6=3)


def test_a_store_put_back_to_an_older_copy_gives_its_own_version() -> None:
    board = Board()
    board.apply([], 9)
    board.apply([], 4)
    assert board.version == 4


def test_the_newer_of_the_brokers_own_and_the_markets() -> None:
    board = Board()
    board.apply([(MARKET, tick("GOLD", 10, 1)), ("main", tick("GOLD", 11, 2))], 1)
    assert board.tick("main", "GOLD") == tick("GOLD", 11, 2)
    board.apply([(MARKET, tick("GOLD", 12, 3))], 2)
    assert board.tick("main", "GOLD") == tick("GOLD", 12, 3)
    board.apply([("main", tick("GOLD", 12, 4))], 3)
    assert board.tick("main", "GOLD") == tick("GOLD", 12, 4)


def test_a_broker_never_sees_the_ticks_of_another() -> None:
    board = Board()
    board.apply([("other", tick("GOLD", 99)), (MARKET, tick("SILVER", 1))], 1)
    assert board.tick("main", "GOLD") is None
    assert board.ticks("main") == [tick("SILVER", 1)]
    assert board.ticks("other") == [tick("GOLD", 99), tick("SILVER", 1)]


TAKEN = st.lists(
    st.tuples(
        st.sampled_from([MARKET, "main", "other"]),
        st.builds(tick, st.sampled_from("ABC"), st.integers(0, 5), st.integers(1, 9)),
    )
)


@pytest.mark.slow
@given(st.lists(TAKEN))
def test_what_is_held_is_the_newer_of_the_last(takes: list[list[tuple[str, Tick]]]) -> None:
    board = Board()
    for version, ticks in enumerate(takes):
        board.apply(ticks, version)
    expected = []
    for instrument in "ABC":
        last = {broker: each for ticks in takes for broker, each in ticks if each.instrument == instrument}
        both = [last[broker] for broker in ("main", MARKET) if broker in last]
        found = max(both, key=lambda each: each.at_us, default=None)  # The broker's own if both are as new.
        assert board.tick("main", instrument) == found
        expected += [found] if found else []
    assert board.ticks("main") == expected


@pytest.mark.parametrize(("market_us", "wins"), [(15, "desk"), (20, "desk"), (21, "feed")])
def test_a_pinned_rate_holds_until_its_end(market_us: int, wins: str) -> None:
    board = Board()
    pinned = Tick("GOLD", 1, 2, 10, 10, pinned_until_us=20)
    market = Tick("GOLD", 3, 4, market_us, market_us)
    board.apply([("main", pinned), (MARKET, market)], 1)
    assert board.tick("main", "GOLD") == (pinned if wins == "desk" else market)
    assert board.tick("other", "GOLD") == market
    ended = Tick("GOLD", 1, 2, 10, 10)
    board.apply([("main", ended)], 2)
    assert board.tick("main", "GOLD") == market
