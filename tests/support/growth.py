"""Whether the time that a piece of work takes grows with its input, or with the square of its input.

It is measured in CPU time of this thread, so that other processes on the machine count for little, and judged
by a ratio: four times the input may take at most twice its share. A square takes four times its share.
"""

import gc
import time
from collections.abc import Callable

Prepare = Callable[[int], Callable[[], object]]
"""Makes an input of a size, and returns the work on it. Only the work is measured."""

_SHARE_MAX = 2.0
_ATTEMPTS = 4
_REPEATS = 5
_ENOUGH_S = 0.5
"""A size that took so long was measured well enough by one repeat."""


class GrowsTooFast(AssertionError):
    """The work takes more than its share of time for a larger input."""


def assert_linear(prepare: Prepare, size: int) -> None:
    """Fail if the work on `8 * size` takes more than twice its share of what `2 * size` takes.

    A busy machine can make one attempt look bad, and work that is quadratic looks bad in each of them.
    """
    told = ""
    for _ in range(_ATTEMPTS):
        seconds = {each: _least_s(prepare, each) for each in (size, 2 * size, 4 * size, 8 * size)}
        share = seconds[8 * size] / seconds[2 * size] / 4
        if share <= _SHARE_MAX:
            return
        told = ", ".join(f"{each}: {s * 1000:.2f} ms" for each, s in seconds.items())
    raise GrowsTooFast(f"four times the input takes {4 * share:.1f} times as long ({told})")


def _least_s(prepare: Prepare, size: int) -> float:
    least_s = float("inf")
    for _ in range(_REPEATS):
        work = prepare(size)
        collects = gc.isenabled()
        gc.disable()
        try:
            began_s = time.thread_time()
            work()
            took_s = time.thread_time() - began_s
        finally:
            if collects:
                gc.enable()
        least_s = min(least_s, took_s)
        if took_s > _ENOUGH_S:
            break
    return max(least_s, 1e-7)
