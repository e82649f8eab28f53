"""Whether the ticks behind a price are too old, or no longer move.

A price without ticks (one that the desk entered) is neither.
"""

from collections.abc import Sequence

from .tick import Tick

US_PER_S = 1_000_000
AHEAD_US_MAX = 6 * US_PER_S
"""How far a tick may be ahead of the clock: 5 s if the desk says so, and clocks of nodes differ a little.

One from further ahead is from before the clock was set back. Nobody knows how old it is.
"""


def fresh_from_us(ticks: Sequence[Tick], age_s_max: int | None) -> int | None:
    """The time before which the price is from before the clock was set back. None: any."""
    if age_s_max is None or not ticks:
        return None
    return max(tick.at_us for tick in ticks) - AHEAD_US_MAX


def stale_after_us(ticks: Sequence[Tick], age_s_max: int | None) -> int | None:
    """When the price becomes too old: its age is that of its oldest tick. None: never."""
    if age_s_max is None or not ticks:
        return None
    return min(tick.holds_until_us for tick in ticks) + age_s_max * US_PER_S


def frozen(ticks: Sequence[Tick], freeze_after_s: int | None) -> bool:
    """Whether ticks keep arriving but none has moved for the freeze time: the source hangs.

    Measured between ticks, not against the clock: if none arrive at all, the price is stale instead.
    """
    if freeze_after_s is None or not ticks:
        return False
    unmoved_us = max(tick.at_us for tick in ticks) - max(tick.moved_at_us for tick in ticks)
    return unmoved_us >= freeze_after_s * US_PER_S
