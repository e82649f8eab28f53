"""Calls to the venue: how long one may take, and when it is made again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from bullion.faults import StoreFault
from bullion.hedge.venue import HedgeRequest, VenueUnreachable, cancelled_by_adapter

CALL_S = 3.0
"""Time limit of one call. Shorter than a lease, so two nodes never call the venue for one id at once."""
FIRST_PAUSE_S, PAUSE_S_MAX = 1.0, 4.0
US_PER_S = 1_000_000

T = TypeVar("T")


async def call_venue(
    call: Callable[[HedgeRequest], Awaitable[T]], request: HedgeRequest, within_s: float = CALL_S
) -> T:
    """Raises VenueUnreachable if there is no answer."""
    try:
        async with asyncio.timeout(within_s):
            return await call(request)
    except TimeoutError:
        raise VenueUnreachable(f"no answer within {within_s:g} seconds") from None
    except StoreFault as fault:  # The simulated venue keeps its book in the store.
        raise VenueUnreachable(f"its book cannot be reached: {fault}") from fault
    except asyncio.CancelledError as error:
        if not cancelled_by_adapter():
            raise
        raise VenueUnreachable("no answer: the adapter cancelled the call") from error


def pause_us(tries: int) -> int:
    """How long to wait after that many calls without a final answer."""
    return int(min(FIRST_PAUSE_S * 2 ** min(tries, 8), PAUSE_S_MAX) * US_PER_S)
