"""What came of a requirement, and the ways in which a check says so."""

from dataclasses import dataclass, field
from enum import StrEnum

from bullion_conformance.exchange import Exchange
from bullion_conformance.requirement import Requirement

_DECIDING_MAX = 12


class Verdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    NOT_CHECKED = "not checked"
    ERROR = "error"
    """The check could not come to a verdict: no answer, or one that made no sense."""


class CheckFailed(Exception):
    """The service does not keep the requirement; the message is for a stranger to understand."""


class NotChecked(Exception):
    """This service, or these means, do not let the check be made; the message says why."""


class SetupError(Exception):
    """The run makes no sense; the message is the sentence to show."""


@dataclass(slots=True)
class Finding:
    requirement: Requirement
    verdict: Verdict
    why: str = ""
    exchanges: list[Exchange] = field(default_factory=list)
    """The calls that decided it, the last one last."""
    desk_steps: list[str] = field(default_factory=list)
    """What the desk was told to do for it."""
    seconds: float = 0.0

    def deciding(self) -> tuple[int, list[Exchange]]:
        """The calls for a report, and how many before them are left out: those that decide come last."""
        left_out = max(len(self.exchanges) - _DECIDING_MAX, 0)
        return left_out, self.exchanges[left_out:]


def expect(holds: bool, message: str) -> None:
    if not holds:
        raise CheckFailed(message)
