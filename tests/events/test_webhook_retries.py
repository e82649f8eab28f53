"""What follows a failed delivery."""

from msgspec.structs import replace

from bullion.events.webhook import Receipt
from bullion.events.webhook_retries import OFF_AFTER_S, OFF_TRIES, PAUSES_S, US_PER_S, NextStep, after_failure

from .fixtures import a_webhook

REFUSED = Receipt(status=500, duration_ms=1, error="The receiver answered 500.")
DAY_US = 86_400 * US_PER_S


def test_pauses_grow_and_span_three_days() -> None:
    assert list(PAUSES_S) == sorted(PAUSES_S)
    assert 2.9 < sum(PAUSES_S) * US_PER_S / DAY_US < 3.3


def test_pauses_have_jitter() -> None:
    at_us = [
        after_failure(a_webhook(), REFUSED, 0, iter([each]).__next__).try_at_us for each in (0.0, 0.5, 1.0)
    ]
    assert at_us == [4 * US_PER_S, 5 * US_PER_S, 6 * US_PER_S]


def test_an_event_is_given_up_after_the_last_pause() -> None:
    steps = [
        after_failure(replace(a_webhook(), tries=tries), REFUSED, 7, lambda: 0.5).step
        for tries in range(len(PAUSES_S) + 1)
    ]
    assert steps == [NextStep.TRY_AGAIN] * len(PAUSES_S) + [NextStep.GIVE_UP]


def test_a_webhook_is_switched_off_after_five_days_without_a_delivery() -> None:
    failing = replace(a_webhook(), tries=OFF_TRIES, failing_since_us=1)
    almost, then = OFF_AFTER_S * US_PER_S, OFF_AFTER_S * US_PER_S + 1
    assert after_failure(failing, REFUSED, almost, lambda: 0.5).step is NextStep.TRY_AGAIN
    off = after_failure(failing, REFUSED, then, lambda: 0.5)
    assert (off.step, off.reason) == (NextStep.SWITCH_OFF, "Nothing could be delivered for 5 days.")
    # The event before was given up long ago: the first failures of the next one end nothing.
    first = replace(failing, tries=OFF_TRIES - 1)
    assert after_failure(first, REFUSED, then, lambda: 0.5).step is NextStep.TRY_AGAIN


def test_a_receiver_that_is_gone_ends_it_at_once() -> None:
    gone = Receipt(status=410, duration_ms=1, error="The receiver answered 410.")
    assert after_failure(a_webhook(), gone, 7, lambda: 0.5).step is NextStep.SWITCH_OFF
