"""Waiting for a pending order, for about half a minute.

Where the service has events, they say when to read the order. Otherwise it is polled every second or two.
"""

from collections.abc import Callable
from typing import TypeVar

from bullion_client.enums import OrderStatus
from bullion_client.errors import BullionError
from bullion_client.flow import Flow, now, sleep
from bullion_client.models import Order
from bullion_client.retry import judge_read

_Order = TypeVar("_Order", bound=Order)

_SHORTEST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 2.0


def wait_until_decided(
    order: _Order | str,
    timeout_s: float,
    read: Callable[[float], Flow[_Order]],
    news: Callable[[float], Flow[bool]],
    chance: Callable[[], float],
) -> Flow[_Order]:
    """Wait until the order is no longer pending; after `timeout_s` return it as it was last read.

    A failed read that may work later does not end the wait. If the order was never read, the last error is
    raised. `read` gets the number of seconds that it may take. So does `news`, which returns true when it is
    time to read, and false if it cannot know: then there is a pause of one to two seconds.
    """
    began = yield from now()
    seen = None if isinstance(order, str) else order
    failure: BullionError | None = None
    # An order that was passed in counts as read just now.
    pause = 0.0 if seen is None else _pause(chance)
    while seen is None or seen.status == OrderStatus.PENDING:
        moment = yield from now()
        left = began.seconds + timeout_s - moment.seconds
        told = seen is not None and failure is None and (yield from news(left))
        moment = yield from now()
        left = began.seconds + timeout_s - moment.seconds
        if not told:
            if pause and pause > left:
                break
            yield from sleep(pause)
        pause = _pause(chance)
        try:
            seen = yield from read(left)
            failure = None
        except BullionError as error:
            verdict = judge_read(error)
            if not verdict.again:
                raise
            failure, pause = error, max(pause, verdict.after or 0)
    if seen is None:
        assert failure is not None  # noqa: S101 - it was read at least once
        raise failure
    return seen


def _pause(chance: Callable[[], float]) -> float:
    return _SHORTEST_PAUSE_S + (_LONGEST_PAUSE_S - _SHORTEST_PAUSE_S) * chance()
