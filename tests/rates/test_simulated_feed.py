"""The simulated feed: repeatable, believable for days, and it goes on where another left off."""

from math import isqrt

import msgspec
import pytest

from bullion.rates.feeds.simulated import INSTRUMENTS, STEP_US, SimulatedFeed
from bullion.rates.tick import Tick
from tests.support.scale import SCALE

RUPEE_E6 = 1_000_000
UNIT_E6 = {
    "XAUUSD": 10_000,
    "XAGUSD": 1_000,
    "USDINR": 100,
    "GOLD": RUPEE_E6,
    "GOLD995": RUPEE_E6,
    "SILVER": RUPEE_E6,
}
LEVEL_E6 = {
    "XAUUSD": 4_800 * RUPEE_E6,
    "XAGUSD": 95_700_000,
    "USDINR": 92 * RUPEE_E6,
    "GOLD": 150_000 * RUPEE_E6,
    "GOLD995": 149_400 * RUPEE_E6,
    "SILVER": 300_000 * RUPEE_E6,
}


def prices(feed: SimulatedFeed, steps: int, now_us: int = 0) -> list[list[tuple[str, int, int]]]:
    return [
        [(tick.instrument, tick.bid_e6, tick.ask_e6) for tick in feed.step(now_us + step * STEP_US)]
        for step in range(steps)
    ]


def middle_e6(tick: Tick) -> int:
    return (tick.bid_e6 + tick.ask_e6) // 2


def test_the_same_seed_gives_the_same_prices_at_any_time() -> None:
    assert prices(SimulatedFeed(7), 500) == prices(SimulatedFeed(7), 500, now_us=10**15)
    assert prices(SimulatedFeed(7), 5) != prices(SimulatedFeed(8), 5)


def test_every_step_has_every_instrument_in_whole_units() -> None:
    feed = SimulatedFeed(3)
    for step in range(500):
        ticks = feed.step(step)
        assert tuple(tick.instrument for tick in ticks) == INSTRUMENTS
        for tick in ticks:
            assert tick.at_us == step
            assert tick.bid_e6 % UNIT_E6[tick.instrument] == 0
            assert tick.ask_e6 % UNIT_E6[tick.instrument] == 0
            assert type(tick.bid_e6) is type(tick.ask_e6) is int


@pytest.mark.slow
def test_hours_stay_believable() -> None:
    """Never crossed, never far from the usual level, never still for long, no jumps. In a campaign, a day."""
    feed = SimulatedFeed(2026)
    first = feed.step(0)
    lowest, highest = [tick.bid_e6 for tick in first], [tick.ask_e6 for tick in first]
    longest_us = jump_e6 = 0
    moves_e9: list[int] = []
    gold_before = mark = middle_e6(first[0])
    crossed = 0
    for step in range(1, 200_000 if SCALE > 1 else 60_000):
        ticks = feed.step(step * STEP_US)
        for index, tick in enumerate(ticks):
            if tick.bid_e6 >= tick.ask_e6:
                crossed += 1
            if tick.bid_e6 < lowest[index]:
                lowest[index] = tick.bid_e6
            elif tick.ask_e6 > highest[index]:
                highest[index] = tick.ask_e6
            elif tick.at_us - tick.moved_at_us > longest_us:
                longest_us = tick.at_us - tick.moved_at_us
        gold = ticks[0].bid_e6 + ticks[0].ask_e6 >> 1
        jump_e6 = max(jump_e6, abs(gold - gold_before))
        gold_before = gold
        if step % 100 == 0:
            moves_e9.append((gold - mark) * 10**9 // mark)
            mark = gold
    assert crossed == 0
    for name, low_e6, high_e6 in zip(INSTRUMENTS, lowest, highest, strict=True):
        assert LEVEL_E6[name] * 94 // 100 < low_e6, name
        assert high_e6 < LEVEL_E6[name] * 106 // 100, name
    assert 0 < longest_us <= 5_000_000
    assert jump_e6 < LEVEL_E6["XAUUSD"] // 5_000  # Two hundredths of a percent in half a second.
    # What a day of such moves adds up to: about 0.6 %.
    day_e9 = isqrt(sum(move * move for move in moves_e9) * 1728 // len(moves_e9))
    assert 5_000_000 < day_e9 < 7_000_000


def test_a_level_comes_back_from_far_away() -> None:
    """Beside a feed with the same chances, so that nothing but the pull is seen."""
    usual, far = SimulatedFeed(5), SimulatedFeed(5)
    far.resume([Tick("XAUUSD", 6_000 * RUPEE_E6, 6_000 * RUPEE_E6, 0, 0)])
    shares_e6 = []
    for step in range(30_001):
        gold_e6, high_e6 = middle_e6(usual.step(step)[0]), middle_e6(far.step(step)[0])
        if step % 30_000 == 0:
            shares_e6.append((high_e6 - gold_e6) * 10**6 // gold_e6)
    before_e6, after_e6 = shares_e6
    assert abs(before_e6 - 250_000) < 100
    # Over 30,000 of about a million steps: 2.8 % of the way.
    assert before_e6 * 970 < after_e6 * 1000 < before_e6 * 974


def test_contracts_follow_the_metal_and_the_dollar() -> None:
    feed = SimulatedFeed(11)
    for step in range(5_000):
        by_name = {tick.instrument: tick for tick in feed.step(step)}
        gold, silver, dollar, gold_10g, silver_kg = (
            middle_e6(by_name[name]) for name in ("XAUUSD", "XAGUSD", "USDINR", "GOLD", "SILVER")
        )
        for contract, metal, grams in ((gold_10g, gold, 10), (silver_kg, silver, 1000)):
            parity_e6 = metal * dollar * grams * 10_000 * 106 // (311_035 * 100 * RUPEE_E6)
            assert abs(contract - parity_e6) < parity_e6 // 1000
        for side in ("bid_e6", "ask_e6"):
            fine, of_995 = getattr(by_name["GOLD"], side), getattr(by_name["GOLD995"], side)
            assert abs(of_995 * 999 - fine * 995) <= RUPEE_E6 * 999 // 2


def test_moved_at_is_since_when_the_price_has_been_what_it_is() -> None:
    feed = SimulatedFeed(1)
    before = {tick.instrument: tick for tick in feed.step(0)}
    assert all(tick.moved_at_us == 0 for tick in before.values())
    kept = 0
    for step in range(1, 2_000):
        for tick in feed.step(step * STEP_US):
            last = before[tick.instrument]
            same = (tick.bid_e6, tick.ask_e6) == (last.bid_e6, last.ask_e6)
            kept += same
            assert tick.moved_at_us == (last.moved_at_us if same else tick.at_us)
            before[tick.instrument] = tick
    assert kept  # Otherwise the half of it that matters was never looked at.


def test_another_node_goes_on_from_the_last_levels() -> None:
    first = SimulatedFeed(1)
    for step in range(20_000):
        last = first.step(step * STEP_US)
    fresh = SimulatedFeed(2).step(0)
    second = SimulatedFeed(2)
    second.resume(last)
    resumed = second.step(20_000 * STEP_US)
    for before, after, elsewhere in zip(last, resumed, fresh, strict=True):
        close_e6 = before.ask_e6 // 2_000  # A twentieth of a percent.
        assert abs(middle_e6(after) - middle_e6(before)) < close_e6
        assert (after.moved_at_us == after.at_us) == (
            (after.bid_e6, after.ask_e6) != (before.bid_e6, before.ask_e6)
        )
        if before.instrument == "XAUUSD":  # The walk had gone far enough for this test to mean something.
            assert abs(middle_e6(elsewhere) - middle_e6(before)) > close_e6


def test_a_resumed_contract_keeps_its_distance_from_parity_and_then_loses_it() -> None:
    ticks = SimulatedFeed(1).step(0)
    more_e6 = 300 * RUPEE_E6
    gold = ticks[3]
    ticks[3] = msgspec.structs.replace(gold, bid_e6=gold.bid_e6 + more_e6, ask_e6=gold.ask_e6 + more_e6)
    usual, dear = SimulatedFeed(2), SimulatedFeed(2)
    usual.resume([tick for tick in ticks if tick.instrument != "GOLD"])
    dear.resume(ticks)
    apart_e6 = [middle_e6(dear.step(n)[3]) - middle_e6(usual.step(n)[3]) for n in range(3_000)]
    assert abs(apart_e6[0] - more_e6) < 30 * RUPEE_E6
    assert 100 * RUPEE_E6 < apart_e6[200] < 180 * RUPEE_E6
    assert abs(apart_e6[-1]) <= 2 * RUPEE_E6


@pytest.mark.parametrize("level_e6", [-1, 0, 1, 2_400 * RUPEE_E6, 9_600 * RUPEE_E6, 10**18])
def test_a_level_that_was_never_ours_is_not_gone_on_from(level_e6: int) -> None:
    feed = SimulatedFeed(1)
    feed.resume([Tick("XAUUSD", level_e6, level_e6, 0, 0), Tick("GOLD", level_e6, level_e6, 0, 0)])
    assert prices(feed, 10) == prices(SimulatedFeed(1), 10)


def test_what_is_not_simulated_is_ignored_when_resuming() -> None:
    feed = SimulatedFeed(1)
    feed.resume([Tick("PLATINUM", 1, 2, 0, 0)])
    assert prices(feed, 10) == prices(SimulatedFeed(1), 10)


def test_a_price_that_is_the_same_after_resuming_has_not_moved() -> None:
    coming = SimulatedFeed(1).step(0)
    feed = SimulatedFeed(1)
    # GOLD995 has no level of its own: knowing it changes nothing of what comes, but it came before.
    feed.resume([Tick("GOLD995", coming[4].bid_e6, coming[4].ask_e6, 90, 40)])
    assert feed.step(100)[4].moved_at_us == 40
