"""The `RateLimit-*` headers: what they say against what was sent."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from bullion_conformance.check import Need, Phase, check
from bullion_conformance.client import refused
from bullion_conformance.context import Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.verdict import expect, expect_equal

_NAMES = ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset")
_BUDGET = 3
_COUNTS_DOWN_S = 1.1
_WINDOWS_S = {"GET": 60, "POST": 10}


@dataclass(frozen=True, slots=True)
class Counted:
    """A call, and how long after the first one it was counted: at least, and at most."""

    answer: Exchange
    since_s: tuple[float, float]

    def number(self, name: str) -> int:
        return _number(self.answer, f"ratelimit-{name}")


@check("bullion.rate-headers", orders=1)
def responses_have_rate_limit_headers(c: Context) -> None:
    client = c.test()
    for answer in (client.me(), client.place(symbol_code="NOWHERE")):
        limit, remaining, reset = (_number(answer, name) for name in _NAMES)
        expect(remaining < limit, f"{answer.call} was counted, and {remaining} of {limit} calls are left.")
        expect(0 < reset <= 60, f"{answer.call} has a reset of {reset} s; no window is longer than 60 s.")


def counted_calls(c: Context) -> tuple[list[Counted], list[Counted]]:
    """Reads and orders of a new key, one more than its budgets of three allow."""
    client = c.new_client()
    with c.budgets(reads_per_minute=_BUDGET, orders_per_10_seconds=_BUDGET):
        return _sent(c, client.me), _sent(c, lambda: client.place(symbol_code="NOWHERE"))


def _sent(c: Context, call: Callable[[], Exchange]) -> list[Counted]:
    first_from, found, first_by = c.clock(), [call()], c.clock()
    calls = [Counted(found[0], (0.0, 0.0))]
    for number in range(_BUDGET):
        if number == _BUDGET - 2:
            c.sleep(_COUNTS_DOWN_S)
        sent = c.clock()
        answer = call()
        calls.append(Counted(answer, (sent - first_by, c.clock() - first_from)))
    refused(calls[-1].answer, "rate_limited")
    return calls


@check(
    "bullion.rate-headers.remaining",
    need=Need.DESK,
    phase=Phase.BURNS,
    orders=_BUDGET + 1,
    waits_s=2 * _COUNTS_DOWN_S,
)
def remaining_is_what_is_left(c: Context) -> None:
    for calls in c.once(counted_calls):
        for number, counted in enumerate(calls, 1):
            call = f"call {number}, {counted.answer.call},"
            expect_equal(counted.number("limit"), _BUDGET, f"RateLimit-Limit of {call}")
            expect_equal(
                counted.number("remaining"), max(_BUDGET - number, 0), f"RateLimit-Remaining of {call}"
            )


@check("bullion.rate-headers.reset", need=Need.DESK, phase=Phase.BURNS)
def reset_counts_down(c: Context) -> None:
    for calls in c.once(counted_calls):
        for counted in calls:
            window_s = _WINDOWS_S[counted.answer.method]
            least, most = (ceil(window_s - since_s) for since_s in reversed(counted.since_s))
            reset = counted.number("reset")
            expect(
                least <= reset <= most,
                f"RateLimit-Reset of {counted.answer.call} is {reset}; expected {least} to {most}.",
            )


def _number(answer: Exchange, name: str) -> int:
    found = answer.headers.get(name, "")
    expect(found.isascii() and found.isdigit(), f"{answer.call} has no {name} with a whole number.")
    return int(found)
