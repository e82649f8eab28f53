"""Failover by a table: when a source is left, when it is taken again, and when neither is believed."""

from bullion.rates.feeds.choice import Candidate, Choice, choose

from .feed_settings import T0, S, feed_settings, source

SETTINGS = feed_settings(source("one"), source("two"))
LEVEL_E6 = 2 * 4_800 * S


def candidate(name: str, good_s: int | None, *, bps: int = 0, level_us: int = T0) -> Candidate:
    """Good for so many seconds at T0; None: it is not."""
    since_us = None if good_s is None else T0 - good_s * S
    return Candidate(name, since_us, LEVEL_E6 * (10_000 + bps) // 10_000, level_us)


def chosen(before: Choice, *candidates: Candidate, insisted: str | None = None) -> Choice:
    return choose(SETTINGS, before, candidates, T0, insisted)


def test_the_first_good_source_in_order_is_taken() -> None:
    assert chosen(Choice(), candidate("one", 0), candidate("two", 9)) == Choice("one")
    assert chosen(Choice(), candidate("one", None), candidate("two", 0)) == Choice("two")
    assert chosen(Choice(), candidate("one", None), candidate("two", None)) == Choice()


def test_a_source_is_left_after_three_seconds_without_a_good_quote() -> None:
    bad, good = candidate("one", None), candidate("two", 60)
    assert chosen(Choice("one"), bad, good) == Choice("one", T0)
    assert chosen(Choice("one", T0 - 3 * S + 1), bad, good) == Choice("one", T0 - 3 * S + 1)
    assert chosen(Choice("one", T0 - 3 * S), bad, good) == Choice("two")


def test_a_source_is_left_as_soon_after_the_clock_was_set_back() -> None:
    lost = chosen(Choice("one", T0 + 3600 * S), candidate("one", None), candidate("two", 60))
    assert lost == Choice("one", T0)


def test_nothing_is_published_while_the_chosen_source_is_bad() -> None:
    assert Choice("one").publishes
    assert not Choice("one", T0).publishes
    assert not Choice("one", None, "two").publishes
    assert not Choice().publishes


def test_a_source_that_recovers_in_time_is_kept() -> None:
    assert chosen(Choice("one", T0 - 2 * S), candidate("one", 0), candidate("two", 60)) == Choice("one")


def test_the_preferred_source_returns_after_thirty_good_seconds() -> None:
    other = candidate("two", 600)
    assert chosen(Choice("two"), candidate("one", 29), other) == Choice("two")
    assert chosen(Choice("two"), candidate("one", 30), other) == Choice("one")


def test_a_less_preferred_source_does_not_replace_a_good_one() -> None:
    assert chosen(Choice("one"), candidate("one", 1), candidate("two", 600)) == Choice("one")


def test_sources_that_differ_are_both_not_published() -> None:
    left = Choice("one", T0 - 9 * S)
    assert chosen(left, candidate("one", None), candidate("two", 60, bps=50)) == Choice("two")
    blocked = chosen(left, candidate("one", None), candidate("two", 60, bps=51))
    assert blocked == Choice("one", T0 - 9 * S, "two")
    assert not blocked.publishes
    back = chosen(Choice("two"), candidate("one", 30, bps=-51), candidate("two", 60))
    assert back == Choice("two", None, "one")


def test_after_a_pause_sources_may_differ_by_more() -> None:
    left, weekend_us = Choice("one", T0 - 9 * S), T0 - 2 * 86_400 * S
    old = candidate("one", None, level_us=weekend_us)
    assert chosen(left, old, candidate("two", 60, bps=500)) == Choice("two")
    assert chosen(left, old, candidate("two", 60, bps=501)).differs_from == "two"


HOUR_US = 3600 * S


def test_no_hour_settles_which_of_two_sources_is_right() -> None:
    """They differed when the first was lost: that its price is old by now proves nothing."""
    old = candidate("one", None, level_us=T0 - 2 * HOUR_US)
    blocked = Choice("one", T0 - 2 * HOUR_US, "two")
    assert chosen(blocked, old, candidate("two", 60, bps=51)) == blocked
    away = chosen(blocked, old, candidate("two", None, bps=51))
    assert not away.publishes
    assert chosen(away, old, candidate("two", 0, bps=51)) == blocked
    assert chosen(blocked, old, candidate("two", 60, bps=50)) == Choice("two")
    assert chosen(blocked, candidate("one", 0, level_us=T0), candidate("two", 60, bps=51)) == Choice("one")


def test_a_source_that_has_been_quiet_for_an_hour_still_says_its_price() -> None:
    quiet = candidate("two", 7200, level_us=T0 - 2 * HOUR_US)
    assert chosen(Choice("two"), candidate("one", 30, bps=51), quiet) == Choice("two", None, "one")


def test_the_desk_decides_between_sources_that_differ() -> None:
    blocked = Choice("one", T0 - 9 * S, "two")
    two = candidate("two", 0, bps=400)
    assert chosen(blocked, two, candidate("one", None), insisted="two") == Choice("two")
    assert chosen(blocked, candidate("two", None), candidate("one", 0), insisted="two") == Choice("one")
