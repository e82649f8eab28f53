"""Too old, or standing still: both at their exact edges."""

import pytest

from bullion.rates.freshness import fresh_from_us, frozen, stale_after_us
from bullion.rates.tick import Tick

S = 1_000_000
NOW_US = 1_000 * S


def tick(at_us: int, moved_at_us: int | None = None) -> Tick:
    return Tick("GOLD", 1, 2, at_us, at_us if moved_at_us is None else moved_at_us)


def test_a_price_is_as_old_as_its_oldest_tick() -> None:
    assert stale_after_us((tick(NOW_US), tick(NOW_US - 7), tick(NOW_US - 3)), 30) == NOW_US - 7 + 30 * S
    assert stale_after_us((tick(NOW_US + 5 * S),), 1) == NOW_US + 6 * S


def test_without_a_limit_or_without_ticks_nothing_gets_stale() -> None:
    assert stale_after_us((tick(0),), None) is None
    assert stale_after_us((), 1) is None


@pytest.mark.parametrize(
    ("unmoved_us", "stands_still"), [(0, False), (300 * S - 1, False), (300 * S, True), (300 * S + 1, True)]
)
def test_frozen_is_unmoved_for_the_limit(unmoved_us: int, stands_still: bool) -> None:
    assert frozen((tick(NOW_US, NOW_US - unmoved_us),), 300) is stands_still


def test_a_price_moves_when_any_of_its_ticks_does() -> None:
    still, moving = tick(NOW_US, NOW_US - 400 * S), tick(NOW_US - 1, NOW_US - 10 * S)
    assert frozen((still,), 300)
    assert not frozen((still, moving), 300)
    assert not frozen((moving, still), 300)
    assert frozen((still, tick(NOW_US - 200 * S, NOW_US - 300 * S)), 300)


def test_a_feed_that_fell_silent_is_not_frozen() -> None:
    """It is stale. Frozen is told from the ticks alone, whatever the time is."""
    silent = (tick(5 * S, 5 * S),)
    assert not frozen(silent, 1)
    assert stale_after_us(silent, 1) == 6 * S


def test_without_a_limit_or_without_ticks_nothing_is_frozen() -> None:
    assert not frozen((tick(NOW_US, 0),), None)
    assert not frozen((), 1)


def test_a_pinned_rate_ages_from_the_end_of_its_pin() -> None:
    pinned = Tick("GOLD", 1, 2, 10, 10, pinned_until_us=20)
    assert stale_after_us([pinned], 5) == 20 + 5 * 1_000_000
    assert stale_after_us([pinned, Tick("USDINR", 1, 2, 15, 15)], 5) == 15 + 5 * 1_000_000


def test_a_price_is_from_before_the_clock_was_set_back_if_one_of_its_ticks_is() -> None:
    assert fresh_from_us((tick(NOW_US), tick(NOW_US + 7), tick(NOW_US + 3)), 30) == NOW_US + 7 - 6 * S
    assert fresh_from_us((tick(NOW_US),), None) is None
    assert fresh_from_us((), 1) is None
