"""The kit finds each of many planted faults, names the requirement that is broken, and blames no other."""

import pytest

from bullion_conformance.context import Setup
from bullion_conformance.plan import select
from bullion_conformance.requirement import REQUIREMENTS, Profile
from bullion_conformance.verdict import Verdict
from tests.conformance.conftest import checked
from tests.conformance.faults import FAULTS, Fault
from tests.conformance.spoiling_proxy import Passing, SpoilingProxy


def test_there_are_enough_and_each_looks_beyond_what_it_breaks() -> None:
    assert len(FAULTS) >= 20
    for fault in FAULTS:
        looked_at = {each.id for each in select(fault.profile, fault.only)}
        assert fault.breaks, fault.name
        assert fault.breaks <= looked_at <= set(REQUIREMENTS), fault.name


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_fault_is_found(fault: Fault, spoilt: Setup, proxy: SpoilingProxy) -> None:
    proxy.spoil = fault.spoil
    proxy.ask = fault.ask or proxy.ask
    report = checked(spoilt, *fault.only, profile=fault.profile)
    failed = {
        finding.requirement.id: finding for finding in report.findings if finding.verdict is Verdict.FAILED
    }
    assert {id_: finding.why for id_, finding in failed.items()}.keys() == fault.breaks
    assert [finding for finding in report.findings if finding.verdict is Verdict.ERROR] == []
    assert not report.well
    for finding in failed.values():
        assert finding.why
        assert finding.exchanges, "a report without the call that decided it"


def test_without_a_fault_nothing_fails(spoilt: Setup) -> None:
    """The proxy by itself is no fault."""
    patterns = {
        pattern
        for fault in FAULTS
        for pattern in fault.only
        if not pattern.startswith(("limits", "list.status"))
    }
    report = checked(spoilt, *patterns, profile=Profile.BULLION)
    others = {
        finding.requirement.id: finding.why
        for finding in report.findings
        if finding.verdict is not Verdict.PASSED
    }
    assert {id_: why for id_, why in others.items() if REQUIREMENTS[id_].unchecked is None} == {}
    assert report.count(Verdict.PASSED) > 60


@pytest.mark.parametrize("wait", [None, "0", "1.5"])
def test_a_503_without_a_wait_breaks_a_ruling(spoilt: Setup, proxy: SpoilingProxy, wait: str | None) -> None:
    def spoil(passing: Passing) -> None:
        if passing.status == 503:
            passing.headers.pop("retry-after", None)
            passing.headers.update({} if wait is None else {"retry-after": wait})

    proxy.spoil = spoil
    report = checked(spoilt, "bullion.retry-after", "errors.test.stale_rate", profile=Profile.BULLION)
    failed = [finding.requirement.id for finding in report.findings if finding.verdict is Verdict.FAILED]
    assert failed == ["bullion.retry-after"]
