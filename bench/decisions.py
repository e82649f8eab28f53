"""How often an order is decided until it is recorded, as a service with several workers tells it."""

import re
import time
from collections.abc import Callable

import httpx

from .load import Outcome
from .ratio import RatioResult
from .spread import Spread

_PUBLISHED_S = 1.3
"""Until what was counted is in the metrics of every worker."""
_DECIDED = "bullion_booking_decisions_total"
_ORDERS = "bullion_booking_batch_orders_sum"


def decisions_per_order(
    name: str, call: str, desk_url: str, measure: Callable[[], Outcome]
) -> RatioResult | None:
    """Of test orders, while this is measured. None if the service does not tell."""
    before = _counted(desk_url)
    measure()
    after = _counted(desk_url)
    orders = after.get(_ORDERS, 0) - before.get(_ORDERS, 0)
    if _DECIDED not in after or not orders:
        return None
    value = (after[_DECIDED] - before.get(_DECIDED, 0)) / orders
    divides = (
        f"decisions of {call} at 64 connections ÷ its orders; more than 1: another worker had moved the book"
    )
    return RatioResult(name, Spread(value, value, value), divides, None)


def _counted(desk_url: str) -> dict[str, float]:
    time.sleep(_PUBLISHED_S)
    return read_counts(httpx.get(f"{desk_url}/metrics").raise_for_status().text)


def read_counts(metrics: str) -> dict[str, float]:
    """What there is of the two, for test orders."""
    found: dict[str, float] = {}
    for name in (_DECIDED, _ORDERS):
        line = re.search(rf'^{name}{{environment="test"}} (\S+)$', metrics, re.MULTILINE)
        if line is not None:
            found[name] = float(line[1])
    return found
