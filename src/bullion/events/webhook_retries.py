"""When a delivery that failed is tried again, and when it is given up."""

from collections.abc import Callable
from enum import StrEnum
from http import HTTPStatus

import msgspec

from .webhook import Receipt, Webhook

US_PER_S = 1_000_000
_MINUTE_S, _HOUR_S = 60, 3600
PAUSES_S = (
    5,
    30,
    2 * _MINUTE_S,
    10 * _MINUTE_S,
    30 * _MINUTE_S,
    _HOUR_S,
    3 * _HOUR_S,
    *(6 * _HOUR_S for _ in range(11)),
)
"""After each failure of an event, until it is given up: three days together."""
OFF_AFTER_S = 5 * 24 * _HOUR_S
"""A webhook is switched off when nothing was delivered for so long."""
OFF_TRIES = 8
"""And when the event that waits has failed so often, for about ten hours: others may have failed long ago."""
TRIES_KEPT = 3
"""So many tries of an event still count when its webhook is switched on again."""
PAUSE_KEPT_S = 2 * _MINUTE_S
"""A pause goes on for up to so long when its webhook is switched on again."""
_JITTER = 0.2
"""Pauses are up to this part shorter or longer, so that failures of one cause do not come back at once."""


class NextStep(StrEnum):
    TRY_AGAIN = "try again"
    GIVE_UP = "give up"
    SWITCH_OFF = "switch off"


class Decision(msgspec.Struct, frozen=True):
    step: NextStep
    try_at_us: int = 0
    reason: str = ""
    """Why it is switched off, for people."""


def after_failure(webhook: Webhook, receipt: Receipt, now_us: int, random: Callable[[], float]) -> Decision:
    """What follows a failed delivery. `random` gives a number from 0 up to 1."""
    if receipt.status == HTTPStatus.GONE:
        return Decision(NextStep.SWITCH_OFF, reason="The receiver answered 410 Gone.")
    since_us = webhook.failing_since_us
    failed_for_days = since_us is not None and now_us - since_us >= OFF_AFTER_S * US_PER_S
    if failed_for_days and webhook.tries >= OFF_TRIES:
        return Decision(NextStep.SWITCH_OFF, reason="Nothing could be delivered for 5 days.")
    if webhook.tries >= len(PAUSES_S):
        return Decision(NextStep.GIVE_UP, now_us)
    factor = 1 - _JITTER + 2 * _JITTER * random()
    return Decision(NextStep.TRY_AGAIN, now_us + round(PAUSES_S[webhook.tries] * factor * US_PER_S))
