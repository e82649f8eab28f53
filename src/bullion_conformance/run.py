"""A run: gives every selected requirement a verdict."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx

from bullion_conformance.check import Check, CheckFunction
from bullion_conformance.checks import CHECKS
from bullion_conformance.context import Context, Setup
from bullion_conformance.desk import DeskRefused
from bullion_conformance.plan import missing_need, ordered_checks
from bullion_conformance.requirement import Profile, Requirement
from bullion_conformance.verdict import CheckFailed, Finding, NotChecked, Verdict

UNREADABLE = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError)
"""The errors of reading a response that has another form than expected."""


@dataclass(slots=True)
class Report:
    service: str
    profile: Profile
    findings: list[Finding]
    started_at: datetime
    seconds: float
    calls: int
    waited_s: float
    throttled: int
    """The number of calls that got a 429 that no check provoked."""
    setup: list[str] = field(default_factory=list)
    """The setup in words."""

    def count(self, verdict: Verdict) -> int:
        return sum(finding.verdict is verdict for finding in self.findings)

    @property
    def well(self) -> bool:
        return not self.count(Verdict.FAILED) and not self.count(Verdict.ERROR)


def run(
    requirements: Sequence[Requirement],
    setup: Setup,
    *,
    service: str,
    profile: Profile,
    progress: Callable[[Check, int, int], None] = lambda _check, _done, _all: None,
) -> Report:
    """Run the checks in their order. The report is in the order of the requirements."""
    started, started_at = time.perf_counter(), datetime.now(UTC)
    context, waited_before_s = Context(setup), setup.connection.pace.waited_s
    found: dict[str, Finding] = {}
    todo, by_id = ordered_checks(requirements, setup), {each.id: each for each in requirements}
    by_function: dict[CheckFunction, Finding] = {}
    for number, check in enumerate(todo):
        progress(check, number, len(todo))
        requirement = by_id[check.id]
        same = by_function.get(check.function)
        if same is None:
            same = by_function[check.function] = _made(check, requirement, context)
        found[check.id] = Finding(
            requirement, same.verdict, same.why, same.exchanges, same.desk_steps, same.seconds
        )
    return Report(
        service=service,
        profile=profile,
        findings=[found.get(each.id) or _not_made(each, setup) for each in requirements],
        started_at=started_at,
        seconds=time.perf_counter() - started,
        calls=len(setup.connection.seen),
        waited_s=setup.connection.pace.waited_s - waited_before_s,
        throttled=setup.connection.pace.throttled,
    )


def _made(check: Check, requirement: Requirement, context: Context) -> Finding:
    line, broker = context.connection, context.setup.broker
    line.current = []
    steps_before = len(broker.desk.steps) if broker else 0
    started = time.perf_counter()
    finding = Finding(requirement, Verdict.PASSED)
    try:
        check.function(context)
    except CheckFailed as broken:
        finding.verdict, finding.why = Verdict.FAILED, str(broken)
    except NotChecked as reason:
        finding.verdict, finding.why = Verdict.NOT_CHECKED, str(reason)
    except DeskRefused as refusal:
        finding.verdict, finding.why = Verdict.ERROR, f"The setup failed: {refusal}"
    except httpx.HTTPError as error:
        finding.verdict, finding.why = Verdict.ERROR, f"No response: {str(error) or type(error).__name__}"
    except UNREADABLE as error:
        finding.verdict = Verdict.ERROR
        finding.why = f"The response could not be read ({type(error).__name__}: {error})."
    finding.seconds = time.perf_counter() - started
    finding.exchanges = line.current
    finding.desk_steps = broker.desk.steps[steps_before:] if broker else []
    return finding


def _not_made(requirement: Requirement, setup: Setup) -> Finding:
    why = requirement.unchecked or missing_need(CHECKS[requirement.id], setup) or "it was not run"
    return Finding(requirement, Verdict.NOT_CHECKED, why)
