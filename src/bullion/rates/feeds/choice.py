"""Failover: which source an instrument is taken from. Bid and ask always come from the same one."""

from collections.abc import Sequence

import msgspec

from .quote import apart
from .source_settings import FeedSettings

_US_PER_S = 1_000_000
_PAUSE_US = 3600 * _US_PER_S
_PAUSE_BPS = 500
"""How far prices of two sources may differ if the older one is from before a pause, such as a weekend.

Not if they differed before: no pause settles which of them is right.
"""


class Candidate(msgspec.Struct, frozen=True):
    source: str
    good_since_us: int | None
    """Since when its quote stands without a break; None: it does not."""
    level_e6: int | None
    level_us: int


class Choice(msgspec.Struct, frozen=True):
    source: str | None = None
    bad_since_us: int | None = None
    """Since when the chosen source has no good quote; None: it has one."""
    differs_from: str | None = None
    """A source that should replace it, but whose price is too different: nothing is published."""

    @property
    def publishes(self) -> bool:
        return self.source is not None and self.bad_since_us is None and self.differs_from is None


def choose(
    settings: FeedSettings,
    choice: Choice,
    candidates: Sequence[Candidate],
    now_us: int,
    insisted: str | None = None,
) -> Choice:
    """The choice at that time. `candidates` are in the order of preference.

    `insisted`: the source that the desk has asked for. It is taken if it is good, whatever its price.
    """
    current = next((each for each in candidates if each.source == choice.source), None)
    good = [each for each in candidates if each.good_since_us is not None]
    if current is None:
        return Choice(good[0].source) if good else Choice()
    if insisted is not None and any(each.source == insisted for each in good):
        return Choice(insisted)
    bad_since_us = None if current.good_since_us is not None else min(choice.bad_since_us or now_us, now_us)
    target = _target(settings, candidates, current, bad_since_us, now_us)
    if target is None:
        # While the other source is away, too, they still differ.
        return Choice(current.source, bad_since_us, choice.differs_from if bad_since_us else None)
    if _differ(settings, choice, current, target, now_us):
        return Choice(current.source, bad_since_us, target.source)
    return Choice(target.source)


def _target(
    settings: FeedSettings,
    candidates: Sequence[Candidate],
    current: Candidate,
    bad_since_us: int | None,
    now_us: int,
) -> Candidate | None:
    """The source that should replace the current one, if any."""
    if bad_since_us is not None:
        if now_us - bad_since_us < settings.failover_s * _US_PER_S:
            return None
        return next((each for each in candidates if each.good_since_us is not None), None)
    for each in candidates:
        if each is current:
            return None
        if each.good_since_us is not None and now_us - each.good_since_us >= settings.return_s * _US_PER_S:
            return each
    return None


def _differ(
    settings: FeedSettings, choice: Choice, current: Candidate, target: Candidate, now_us: int
) -> bool:
    if current.level_e6 is None or target.level_e6 is None:
        return False
    paused = (
        choice.differs_from is None
        and current.good_since_us is None
        and now_us - current.level_us > _PAUSE_US
    )
    return apart(target.level_e6, current.level_e6, _PAUSE_BPS if paused else settings.switch_bps)
