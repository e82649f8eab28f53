"""The guard: which quotes of a source are believed."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from .quote import Quote, apart
from .source_settings import GuardNumbers

_US_PER_S = 1_000_000
_US_PER_MS = 1000


class Drop(StrEnum):
    """Why a quote was not believed."""

    UNREADABLE = "unreadable"
    SIDES = "sides"
    WIDTH = "width"
    BOUNDS = "bounds"
    TIME = "time"
    LATE = "late"
    SPIKE = "spike"
    HOURS = "hours"


class HeldQuotes(msgspec.Struct, frozen=True):
    """Quotes far from the last good one. They are not published until they are confirmed."""

    first: Quote
    """The first of those that agree."""
    newest: Quote
    count: int
    since_us: int
    """When the source left its last good level."""
    standing: bool = True
    """Whether `newest` is still what the source says."""


class QuoteHistory(msgspec.Struct, frozen=True):
    """What is known of one instrument at one source."""

    good: Quote | None = None
    standing: bool = False
    """Whether `good` is still what the source says: nothing else followed, and its line is not lost."""
    level_e6: int | None = None
    """What the next quote is compared with: that of `good`, or of what another node published."""
    level_us: int = 0
    held: HeldQuotes | None = None
    newest_at_us: int | None = None
    """The source's own time of its newest quote, whether believed, held or dropped."""


class GuardRules(msgspec.Struct, frozen=True):
    numbers: GuardNumbers
    lowest_e6: int | None = None
    highest_e6: int | None = None

    @property
    def bounded(self) -> bool:
        return self.lowest_e6 is not None and self.highest_e6 is not None


def judge(
    rules: GuardRules, history: QuoteHistory, quote: Quote, others_e6: Sequence[int], *, is_open: bool
) -> tuple[QuoteHistory, Drop | None]:
    """`others_e6`: the levels that other sources with a live line state for the instrument now."""
    reason = Drop.HOURS if not is_open else _fault(rules, quote) or _fault_of_time(rules, history, quote)
    if reason is Drop.LATE:  # What is known of the newer quote that overtook it still holds.
        return history, reason
    history = _noted(rules, history, quote)
    if reason is not None:
        return suspended(history), reason
    if _near(rules, history, quote) or any(
        not apart(quote.level_e6, other, rules.numbers.agree_bps) for other in others_e6
    ):
        return accepted(quote), None
    held = _held(rules, history.held, quote)
    if _confirmed(rules, history, held):
        return accepted(quote), None
    return msgspec.structs.replace(history, standing=False, held=held), Drop.SPIKE


def suspended(history: QuoteHistory) -> QuoteHistory:
    """The source no longer says what it said: the last good quote must age, and no held one is believed."""
    held = history.held
    if held is not None and held.standing:
        held = msgspec.structs.replace(held, standing=False)
    elif not history.standing:
        return history
    return msgspec.structs.replace(history, standing=False, held=held)


def accepted(quote: Quote) -> QuoteHistory:
    return QuoteHistory(
        good=quote,
        standing=True,
        level_e6=quote.level_e6,
        level_us=quote.received_us,
        newest_at_us=quote.at_us,
    )


def _noted(rules: GuardRules, history: QuoteHistory, quote: Quote) -> QuoteHistory:
    """Later quotes may not be older than this one, unless its time is wrong."""
    at_us, newest_us = quote.at_us, history.newest_at_us
    if at_us is None or _out_of_time(rules, quote.received_us - at_us) or at_us <= (newest_us or 0):
        return history
    return msgspec.structs.replace(history, newest_at_us=at_us)


def _fault(rules: GuardRules, quote: Quote) -> Drop | None:
    bid, ask = quote.bid_e6, quote.ask_e6
    if bid is None or ask is None or bid <= 0 or ask < bid:
        return Drop.SIDES
    if (ask - bid) * 20_000 > rules.numbers.width_bps * (ask + bid):
        return Drop.WIDTH
    if rules.lowest_e6 is not None and bid < rules.lowest_e6:
        return Drop.BOUNDS
    if rules.highest_e6 is not None and ask > rules.highest_e6:
        return Drop.BOUNDS
    return None


def _fault_of_time(rules: GuardRules, history: QuoteHistory, quote: Quote) -> Drop | None:
    if quote.at_us is None:
        return None
    if _out_of_time(rules, quote.received_us - quote.at_us):
        return Drop.TIME
    newest_us = None if quote.in_order else history.newest_at_us
    if newest_us is None or _out_of_time(rules, quote.received_us - newest_us):
        return None  # The clock was set back, or nothing came for long.
    return Drop.LATE if quote.at_us < newest_us else None


def _out_of_time(rules: GuardRules, age_us: int) -> bool:
    return not -rules.numbers.ahead_s * _US_PER_S <= age_us <= rules.numbers.old_s * _US_PER_S


def _near(rules: GuardRules, history: QuoteHistory, quote: Quote) -> bool:
    if history.level_e6 is None:
        return False
    last_us = history.level_us if history.held is None else history.held.newest.received_us
    paused = quote.received_us - last_us > rules.numbers.gap_s * _US_PER_S
    bps = rules.numbers.gap_bps if paused else rules.numbers.spike_bps
    return not apart(quote.level_e6, history.level_e6, bps)


def _held(rules: GuardRules, held: HeldQuotes | None, quote: Quote) -> HeldQuotes:
    if held is None:
        return HeldQuotes(quote, quote, 1, quote.received_us)
    if apart(quote.level_e6, held.first.level_e6, rules.numbers.agree_bps):
        return HeldQuotes(quote, quote, 1, held.since_us)
    return HeldQuotes(held.first, quote, held.count + 1, held.since_us)


def _confirmed(rules: GuardRules, history: QuoteHistory, held: HeldQuotes) -> bool:
    """Whether the source has confirmed the move by itself."""
    numbers = rules.numbers
    if held.count < numbers.agree_count:
        return False
    if held.newest.received_us - held.first.received_us < numbers.agree_ms * _US_PER_MS:
        return False
    if history.level_e6 is None:
        return rules.bounded
    return not apart(held.newest.level_e6, history.level_e6, numbers.jump_bps)
