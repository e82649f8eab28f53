"""The age of a residual: since when there has been a lot to cover on its side."""

from collections.abc import Sequence
from datetime import date
from itertools import groupby

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.hedge.book.age import Age, LookBack, ages_of
from bullion.hedge.book.rules import Rule, RuleKind

from .samples import GOLDM, GOLDPETAL

LOT_MG = 100
Entry = tuple[int, int]
"""The time in seconds, and the change."""


def since_s(entries: Sequence[Entry], threshold_s: int = 10**6, now_s: int = 100) -> int | None:
    back = LookBack(sum(change for _, change in entries), Age(LOT_MG, threshold_s), now_s * 10**6)
    if not back.is_open:
        return None
    for at_s, change_mg in reversed(entries):
        if back.reaches(at_s * 10**6, change_mg):
            break
    since_us = back.since_us()
    return None if since_us is None else since_us // 10**6


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        ([], None),
        ([(1, 99)], None),
        ([(1, 100)], 1),
        ([(1, 50), (5, 50)], 5),
        ([(1, -50), (5, -50), (9, -1)], 5),
        ([(1, 150), (5, -100), (9, 100)], 9),
        ([(1, 150), (5, -300)], 5),  # the other side: another residual
        # One transaction confirmed a sale and a purchase: what was between them was never to be covered.
        ([(1, 150), (5, -300), (5, 300), (9, 1)], 1),
        ([(1, 150), (5, 300), (5, -350)], 1),
    ],
)
def test_it_counts_from_when_the_residual_became_a_lot(entries: list[Entry], found: int | None) -> None:
    assert since_s(entries) == found


def test_nobody_looks_back_further_than_the_rule_needs() -> None:
    entries = [(at_s, 100) for at_s in range(100)]
    assert since_s(entries) == 0
    assert since_s(entries, threshold_s=30) == 70
    back = LookBack(10_000, Age(LOT_MG, 30), 100 * 10**6)
    read = [back.reaches(at_s * 10**6, 100) for at_s, _ in reversed(entries)]
    assert read.index(True) == 30


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(-150, 150)), max_size=30), st.integers(0, 30))
def test_it_is_what_a_count_from_the_first_entry_gives(entries: list[Entry], known: int) -> None:
    """Also if an earlier answer is known, and only the entries since are read."""
    entries = sorted(entries, key=lambda each: each[0])
    moments = [
        (at_s, [change for _, change in own]) for at_s, own in groupby(entries, key=lambda each: each[0])
    ]
    residual_mg, since = 0, None
    answers: dict[int, tuple[int, int | None]] = {0: (0, None)}
    count = 0
    for at_s, changes in moments:
        before_mg = residual_mg
        residual_mg += sum(changes)
        count += len(changes)
        if abs(residual_mg) < LOT_MG:
            since = None
        elif since is None or (before_mg > 0) != (residual_mg > 0):
            since = at_s
        answers[count] = (count, since)
    assert since_s(entries) == since
    start, known_s = answers[max(each for each in answers if each <= known)]
    back = LookBack(residual_mg, Age(LOT_MG, 10**6), 0)
    if back.is_open:
        reached = any(back.reaches(at_s, change) for at_s, change in reversed(entries[start:]))
        assert back.since_us(None if reached else known_s) == since


def test_the_lot_is_the_smallest_that_the_rule_itself_may_deal_today() -> None:
    aged = Rule("aged", RuleKind.AGE, 60, ("GOLDM", "GOLDPETAL"))
    over = Rule("over", RuleKind.OVER, 60, ("GOLDPETAL",))
    contracts = {"GOLDM": GOLDM, "GOLDPETAL": msgspec.structs.replace(GOLDPETAL, expires_on="2026-11-16")}
    assert ages_of([aged, over], contracts, date(2026, 11, 16)) == {"aged": Age(999, 60)}
    assert ages_of([aged, over], contracts, date(2026, 11, 17)) == {"aged": Age(99_500, 60)}
    assert ages_of([aged, over], {}, date(2026, 11, 17)) == {}
