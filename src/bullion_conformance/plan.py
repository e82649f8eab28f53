"""Selects the requirements of a run, orders their checks, and estimates the duration."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from bullion_conformance.check import Check, Need, Phase
from bullion_conformance.checks import CHECKS
from bullion_conformance.context import Setup
from bullion_conformance.requirement import REQUIREMENTS, Profile, Requirement
from bullion_conformance.samples import SHARED_ORDERS

_CALLS_PER_CHECK = 4
"""Including calls to the desk."""
_ORDERS_PER_S, _ORDERS_AT_ONCE = 1, 10
_REFUSALS_PER_MINUTE = 18


def select(profile: Profile, patterns: Sequence[str]) -> list[Requirement]:
    """The requirements of the profile that match a pattern. Bullion's profile includes the specification."""
    profiles = {Profile.SPECIFICATION, profile}
    return [
        requirement
        for requirement in REQUIREMENTS.values()
        if requirement.profile in profiles
        and (not patterns or any(matches(each, requirement.id) for each in patterns))
    ]


def matches(pattern: str, id_: str) -> bool:
    """A pattern is an id, the beginning of ids, or contains *."""
    return id_ == pattern or id_.startswith(f"{pattern}.") or fnmatchcase(id_, pattern)


def missing_need(check: Check, setup: Setup) -> str | None:
    """Why a check cannot run with this setup."""
    if check.phase in (Phase.BURNS_FIRST, Phase.BURNS) and not setup.burn:
        return "it uses up a budget; add --burn-budgets"
    match check.need:
        case Need.KEY if setup.broker is None and setup.test is None:
            return "it needs a test key"
        case Need.LIVE_KEY if setup.broker is None and setup.live is None:
            return "it needs a live key, or the desk"
        case Need.DESK if setup.broker is None:
            return "it needs the desk"
        case Need.PRODUCTION if setup.broker is None:
            return "it needs the desk, with production open"
        case Need.PRODUCTION if not setup.production_open:
            return setup.production_closed
        case _:
            return None


def ordered_checks(requirements: Sequence[Requirement], setup: Setup) -> list[Check]:
    """The checks that can run; those that could disturb others come last."""
    found = [CHECKS[each.id] for each in requirements if each.id in CHECKS]
    return sorted(
        (check for check in found if missing_need(check, setup) is None),
        key=lambda check: (check.phase, check.waits_s),
    )


def estimate_s(checks: Sequence[Check], setup: Setup, *, quick: bool) -> float:
    """A rough estimate. With a single key, waiting for its budgets dominates."""
    orders = sum(check.orders for check in checks) + SHARED_ORDERS
    refusals = sum(check.refusals for check in checks if check.phase is Phase.REFUSED)
    calls = len(checks) * _CALLS_PER_CHECK + orders
    seconds = sum(check.waits_s for check in checks) + setup.latency_s * calls
    if setup.broker is None:
        seconds += max(orders - _ORDERS_AT_ONCE, 0) / _ORDERS_PER_S
    if not quick:
        seconds += (max(refusals - 1, 0) // _REFUSALS_PER_MINUTE) * 60.0
    return seconds
