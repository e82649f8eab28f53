"""Each rule of the guard by a table, and random days: no bad quote passes, no good one is dropped."""

from random import Random

import msgspec
import pytest

from bullion.rates.feeds.guard import Drop, GuardRules, QuoteHistory, accepted, judge
from bullion.rates.feeds.quote import Quote
from bullion.rates.feeds.source_settings import GuardNumbers
from tests.support.scale import SCALE

from .feed_settings import T0, S, quote

RULES = GuardRules(GuardNumbers(), lowest_e6=1_000 * S, highest_e6=20_000 * S)
KNOWN = accepted(quote(4_800, T0))


def verdict(
    given: Quote,
    *others: int,
    history: QuoteHistory = KNOWN,
    rules: GuardRules = RULES,
    is_open: bool = True,
) -> Drop | None:
    return judge(rules, history, given, others, is_open=is_open)[1]


def of(bid_e6: int | None, ask_e6: int | None, at_us: int | None = T0 + S) -> Quote:
    return Quote("one", "XAUUSD", bid_e6, ask_e6, at_us, T0 + S)


@pytest.mark.parametrize(
    ("bid_e6", "ask_e6", "expected"),
    [
        (4_799 * S, 4_801 * S, None),
        (4_800 * S, 4_800 * S, None),  # Locked.
        (4_800 * S + 1, 4_800 * S, Drop.SIDES),  # Crossed.
        (None, 4_800 * S, Drop.SIDES),
        (4_800 * S, None, Drop.SIDES),
        (None, None, Drop.SIDES),
        (0, 4_800 * S, Drop.SIDES),
        (-4_800 * S, 4_800 * S, Drop.SIDES),
        (-4_801 * S, -4_800 * S, Drop.SIDES),
        (4_776 * S, 4_824 * S, None),  # 100 bps.
        (4_776 * S - 1, 4_824 * S, Drop.WIDTH),
        (999 * S, 1_001 * S, Drop.BOUNDS),
        (19_999 * S, 20_001 * S, Drop.BOUNDS),
        (4_800_000 * S, 4_801_000 * S, Drop.BOUNDS),
        (4_835 * S, 4_837 * S, None),  # 75 bps.
        (4_835 * S, 4_837 * S + 1, Drop.SPIKE),
        (4_763 * S, 4_765 * S, None),
        (4_763 * S - 1, 4_765 * S, Drop.SPIKE),
    ],
)
def test_sides_width_bounds_and_spikes(bid_e6: int | None, ask_e6: int | None, expected: Drop | None) -> None:
    assert verdict(of(bid_e6, ask_e6)) is expected


@pytest.mark.parametrize(
    ("age_us", "expected"),
    [
        (0, None),
        (S, None),
        (5 * S, Drop.LATE),  # Young enough, but the quote that stands is newer.
        (5 * S + 1, Drop.TIME),
        (365 * 86_400 * S, Drop.TIME),
        (-2 * S, None),
        (-2 * S - 1, Drop.TIME),
    ],
)
def test_the_source_s_own_time(age_us: int, expected: Drop | None) -> None:
    assert verdict(of(4_800 * S, 4_801 * S, T0 + S - age_us)) is expected


def test_a_source_without_a_time_of_its_own_passes() -> None:
    assert verdict(of(4_800 * S, 4_801 * S, None)) is None


def test_nothing_passes_outside_of_the_hours() -> None:
    assert verdict(of(4_800 * S, 4_801 * S), is_open=False) is Drop.HOURS


@pytest.mark.parametrize(
    ("pause_s", "middle", "expected"),
    [
        (3_600, 4_900, Drop.SPIKE),
        (3_601, 4_900, None),
        (2 * 86_400, 5_040, None),  # 500 bps over a weekend.
        (2 * 86_400, 5_041, Drop.SPIKE),
        (2 * 86_400, 4_559, Drop.SPIKE),
    ],
)
def test_the_first_quote_after_a_pause_has_more_room(
    pause_s: int, middle: int, expected: Drop | None
) -> None:
    assert verdict(quote(middle, T0 + pause_s * S)) is expected


def test_an_hour_of_held_quotes_is_no_pause() -> None:
    wild = [quote(4_880 + 20 * (each % 2), T0 + each * 60 * S) for each in range(1, 70)]
    assert run_of(*wild) == [Drop.SPIKE] * 69
    after = [*wild[:9], quote(4_880, wild[8].received_us + 3_601 * S)]
    assert run_of(*after)[-1] is None


def run_of(*quotes: Quote, history: QuoteHistory = KNOWN, rules: GuardRules = RULES) -> list[Drop | None]:
    verdicts = []
    for each in quotes:
        history, drop = judge(rules, history, each, (), is_open=True)
        assert history.standing is (drop is None)
        verdicts.append(drop)
    return verdicts


def test_three_quotes_over_a_second_confirm_a_jump() -> None:
    jump = [quote(4_880, T0 + each * S // 2) for each in range(1, 5)]
    assert run_of(*jump) == [Drop.SPIKE, Drop.SPIKE, None, None]
    quick = [quote(4_880, T0 + S + each * S // 10) for each in range(12)]
    assert run_of(*quick) == [Drop.SPIKE] * 10 + [None, None]


def test_quotes_that_do_not_agree_confirm_nothing() -> None:
    wild = [quote(4_880 + 20 * (each % 2), T0 + each * S) for each in range(1, 20)]
    assert run_of(*wild) == [Drop.SPIKE] * 19


def test_a_good_quote_between_begins_the_count_anew() -> None:
    mixed = [quote(4_880 if each % 3 else 4_800, T0 + each * S) for each in range(1, 20)]
    assert run_of(*mixed) == [Drop.SPIKE if each % 3 else None for each in range(1, 20)]


def test_a_source_cannot_confirm_a_jump_that_is_too_great() -> None:
    rules = GuardRules(GuardNumbers())
    for middle in (5_041, 48, 4_800_000):
        assert (
            run_of(*(quote(middle, T0 + each * S) for each in range(1, 30)), rules=rules) == [Drop.SPIKE] * 29
        )


def test_the_first_quote_of_all_needs_bounds_to_be_confirmed_by_its_own_source() -> None:
    first = [quote(4_800, T0 + each * S) for each in range(5)]
    assert run_of(*first, history=QuoteHistory()) == [Drop.SPIKE, Drop.SPIKE, None, None, None]
    unbounded = GuardRules(GuardNumbers())
    assert run_of(*first, history=QuoteHistory(), rules=unbounded) == [Drop.SPIKE] * 5


def test_another_live_source_confirms_at_once() -> None:
    assert verdict(quote(5_500, T0 + S), 2 * 5_510 * S) is None
    assert verdict(quote(5_500, T0 + S), 2 * 5_520 * S) is Drop.SPIKE


@pytest.mark.parametrize(
    "bad", [of(None, 4_800 * S), of(4_801 * S, 4_800 * S), of(4_600 * S, 5_000 * S), quote(5_900, T0 + S)]
)
def test_after_a_bad_quote_the_last_good_one_no_longer_stands(bad: Quote) -> None:
    history, drop = judge(RULES, KNOWN, bad, (), is_open=True)
    assert drop is not None
    assert not history.standing
    assert history.good == KNOWN.good


def test_a_quote_that_was_overtaken_changes_nothing() -> None:
    late = Quote("one", "XAUUSD", 4_700 * S, 4_701 * S, T0 - 1, T0 + S)
    assert judge(RULES, KNOWN, late, (), is_open=True) == (KNOWN, Drop.LATE)


@pytest.mark.parametrize(
    ("newer", "reason"),
    [
        (quote(4_900, T0 + 2 * S), Drop.SPIKE),
        (Quote("one", "XAUUSD", None, 4_900 * S, T0 + 2 * S, T0 + 2 * S), Drop.SIDES),
        (quote(4_900, T0 + 2 * S, spread_bps=200), Drop.WIDTH),
    ],
)
def test_a_quote_that_a_held_or_dropped_one_overtook_is_not_believed(newer: Quote, reason: Drop) -> None:
    history, drop = judge(RULES, KNOWN, newer, (), is_open=True)
    assert drop is reason
    late = quote(4_800, T0 + 3 * S, own_us=T0 + S)  # Between the good one and the one that overtook it.
    assert judge(RULES, history, late, (), is_open=True) == (history, Drop.LATE)
    assert judge(RULES, history, quote(4_800, T0 + 3 * S), (), is_open=True)[1] is None


@pytest.mark.parametrize("is_open", [True, False])
def test_a_quote_with_an_impossible_time_overtakes_nothing(is_open: bool) -> None:
    """Or one wrong time of a source would silence it for as long."""
    ahead = Quote("one", "XAUUSD", None, 4_800 * S, T0 + 3600 * S, T0 + S)
    history, drop = judge(RULES, KNOWN, ahead, (), is_open=is_open)
    assert drop is (Drop.SIDES if is_open else Drop.HOURS)
    assert judge(RULES, history, quote(4_800, T0 + 2 * S), (), is_open=True)[1] is None


def test_nothing_overtakes_a_quote_on_a_line_that_keeps_the_order() -> None:
    """Bid and ask may have been set at different times; the newer message is what holds."""
    late = msgspec.structs.replace(of(4_800 * S, 4_801 * S, at_us=T0 - S), in_order=True)
    history, drop = judge(RULES, KNOWN, late, (), is_open=True)
    assert (history.good, drop) == (late, None)
    old = msgspec.structs.replace(late, at_us=T0 - 60 * S)
    assert verdict(old) is Drop.TIME


def bad_quote(chance: Random, middle_e6: int, at_us: int) -> Quote:
    """One of the faults that feeds have shown."""
    bid_e6, ask_e6 = middle_e6 - S, middle_e6 + S
    faults: list[tuple[int | None, int | None, int]] = [
        (None, ask_e6, at_us),
        (bid_e6, None, at_us),
        (-bid_e6, ask_e6, at_us),
        (0, 0, at_us),
        (ask_e6 + 1, bid_e6, at_us),
        (bid_e6 * 9 // 10, ask_e6, at_us),
        (bid_e6, ask_e6, at_us - 365 * 86_400 * S),
        (bid_e6, ask_e6, at_us + 3600 * S),
        (bid_e6 * 1000, ask_e6 * 1000, at_us),
        (bid_e6 // 1000, ask_e6 // 1000, at_us),
        (bid_e6 * 102 // 100, ask_e6 * 102 // 100, at_us),
        (bid_e6 * 97 // 100, ask_e6 * 97 // 100, at_us),
    ]
    bid, ask, own_us = chance.choice(faults)
    return Quote("one", "XAUUSD", bid, ask, own_us, at_us)


@pytest.mark.parametrize("seed", range(2 * SCALE))
def test_random_days(seed: int) -> None:
    """10,000 quotes each, a bad one in 500, and real jumps: each jump passes within 1.5 seconds."""
    chance = Random(seed)  # noqa: S311 - a repeatable test
    rules = GuardRules(GuardNumbers())
    middle_e6, at_us, jumped_us = 4_800 * S, T0, None
    history = accepted(quote(str(middle_e6), at_us))
    bad, jumps = 0, 0
    for _ in range(10_000):
        at_us += chance.randrange(50_000, 450_000)
        middle_e6 += middle_e6 * chance.randrange(-10, 11) // 100_000
        if jumped_us is None and chance.randrange(500) == 0:
            history, drop = judge(rules, history, bad_quote(chance, middle_e6, at_us), (), is_open=True)
            bad += 1
            assert drop is not None
            continue
        if jumped_us is None and chance.randrange(2000) == 0:
            middle_e6 = middle_e6 * (10_000 + chance.choice((-1, 1)) * chance.randrange(80, 200)) // 10_000
            jumped_us, jumps = at_us, jumps + 1
        history, drop = judge(rules, history, quote(str(middle_e6), at_us), (), is_open=True)
        if drop is None:
            jumped_us = None
        else:
            assert drop is Drop.SPIKE
            assert jumped_us is not None
            assert at_us - jumped_us < 1_500_000
    assert bad > 5
    assert jumps > 1
