"""Which requirements a run looks at, in which order, and how long that will take."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from bullion_conformance.check import Check, Need, Turn
from bullion_conformance.checks import CHECKS
from bullion_conformance.context import Means
from bullion_conformance.requirement import Profile, Requirement
from bullion_conformance.samples import SHARED_ORDERS
from bullion_conformance.table import TABLE

_CALLS_PER_CHECK = 4
"""Of every kind, those to the desk included."""
_ORDERS_PER_S, _ORDERS_AT_ONCE = 1, 10
_REFUSALS_PER_MINUTE = 18


def wanted(profile: Profile, patterns: Sequence[str]) -> list[Requirement]:
    """Those of the profile (Bullion's has the specification's too) that some pattern names."""
    profiles = {Profile.SPECIFICATION, profile}
    return [
        requirement
        for requirement in TABLE.values()
        if requirement.profile in profiles
        and (not patterns or any(names(each, requirement.id) for each in patterns))
    ]


def names(pattern: str, id_: str) -> bool:
    """A pattern is an id, the beginning of some, or has * in it."""
    return id_ == pattern or id_.startswith(f"{pattern}.") or fnmatchcase(id_, pattern)


def lacking(check: Check, means: Means) -> str | None:
    """Why a check cannot be made with these means."""
    if check.turn in (Turn.BURNS_FIRST, Turn.BURNS) and not means.burn:
        return "it uses up a budget; --burn-budgets does it"
    match check.need:
        case Need.KEY if means.broker is None and means.test is None:
            return "it needs a test key"
        case Need.LIVE_KEY if means.broker is None and means.live is None:
            return "it needs a live key, or the desk"
        case Need.DESK if means.broker is None:
            return "it needs the desk"
        case Need.PRODUCTION if means.broker is None:
            return "it needs the desk, with production open"
        case Need.PRODUCTION if not means.production_open:
            return means.production_closed
        case _:
            return None


def in_order(requirements: Sequence[Requirement], means: Means) -> list[Check]:
    """The checks that can be made: what might spoil others comes last."""
    found = [CHECKS[each.id] for each in requirements if each.id in CHECKS]
    return sorted(
        (check for check in found if lacking(check, means) is None),
        key=lambda check: (check.turn, check.waits_s),
    )


def estimate_s(checks: Sequence[Check], means: Means, *, quick: bool) -> float:
    """Roughly; what is waited for dominates, and that is the budgets where one key does everything."""
    orders = sum(check.orders for check in checks) + SHARED_ORDERS
    refusals = sum(check.refusals for check in checks if check.turn is Turn.REFUSED)
    calls = len(checks) * _CALLS_PER_CHECK + orders
    seconds = sum(check.waits_s for check in checks) + means.latency_s * calls
    if means.broker is None:
        seconds += max(orders - _ORDERS_AT_ONCE, 0) / _ORDERS_PER_S
    if not quick:
        seconds += (max(refusals - 1, 0) // _REFUSALS_PER_MINUTE) * 60.0
    return seconds
