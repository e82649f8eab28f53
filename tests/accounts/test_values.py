"""Groups' terms and the trading timetable."""

from datetime import time
from zoneinfo import ZoneInfo

import pytest

from bullion.accounts.group import Group, Terms
from bullion.accounts.trading_hours import Opening, TradingHours

CLOSED: tuple[Opening, ...] = ()


def test_named_terms_come_before_the_default_ones() -> None:
    named, default = Terms(1, 2), Terms(3, 4)
    group = Group("main", "retail", trading=True, terms={"GOLD": named}, default_terms=default)
    assert group.terms_for("GOLD") is named
    assert group.terms_for("SILVER") is default


def test_without_default_terms_an_unnamed_symbol_has_none() -> None:
    assert Group("main", "retail", trading=True, terms={}, default_terms=None).terms_for("GOLD") is None


@pytest.mark.parametrize(
    ("minimum", "maximum", "step"), [(0, None, None), (None, 0, None), (None, None, 0), (5, 4, None)]
)
def test_terms_that_nothing_could_meet_cannot_be_made(
    minimum: int | None, maximum: int | None, step: int | None
) -> None:
    with pytest.raises(ValueError, match="must"):
        Terms(0, 0, minimum, maximum, step)


def test_an_opening_ends_after_it_starts() -> None:
    with pytest.raises(ValueError, match="must end later"):
        Opening(time(10), time(10))
    assert Opening(time(10), None).end is None


def test_openings_of_a_day_do_not_overlap() -> None:
    morning, late = Opening(time(9), time(12)), Opening(time(11), time(15))
    with pytest.raises(ValueError, match="without overlap"):
        TradingHours(ZoneInfo("Asia/Kolkata"), ((morning, late), *[CLOSED] * 6), frozenset())
    with pytest.raises(ValueError, match="without overlap"):
        TradingHours(ZoneInfo("Asia/Kolkata"), ((Opening(time(9), None), late), *[CLOSED] * 6), frozenset())
    with pytest.raises(ValueError, match="seven days"):
        TradingHours(ZoneInfo("Asia/Kolkata"), ((morning,),), frozenset())
