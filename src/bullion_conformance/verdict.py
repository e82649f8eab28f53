"""The result of a requirement, and how a check reports it."""

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from bullion_conformance.exchange import Exchange
from bullion_conformance.requirement import Requirement

_DECIDING_MAX = 12


class Verdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    NOT_CHECKED = "not checked"
    ERROR = "error"
    """The check has no result: no response, or one that could not be read."""


class CheckFailed(Exception):
    """The service breaks the requirement; the message explains it to somebody who does not know the kit."""


class NotChecked(Exception):
    """The check cannot be made with this service or this setup; the message says why."""


class SetupError(Exception):
    """The run cannot start; the message is the sentence to show."""


@dataclass(slots=True)
class Finding:
    requirement: Requirement
    verdict: Verdict
    why: str = ""
    exchanges: list[Exchange] = field(default_factory=list)
    """The calls that decided it, in their order."""
    desk_steps: list[str] = field(default_factory=list)
    """The desk calls that prepared it."""
    seconds: float = 0.0

    def deciding(self) -> tuple[int, list[Exchange]]:
        """The last calls, for a report, and the number of earlier calls that are left out."""
        left_out = max(len(self.exchanges) - _DECIDING_MAX, 0)
        return left_out, self.exchanges[left_out:]


def expect(holds: bool, message: str) -> None:
    if not holds:
        raise CheckFailed(message)


def expect_equal(found: object, expected: object, what: str) -> None:
    expect(found == expected, f"{what} is {_shown(found)}; expected {_shown(expected)}.")


def _shown(value: object) -> str:
    return str(value) if isinstance(value, Decimal) else repr(value)
