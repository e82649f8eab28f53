"""What a service has to do: a row for each thing that the specification, or a ruling of ours, asks of it."""

from dataclasses import dataclass
from enum import StrEnum


class Profile(StrEnum):
    SPECIFICATION = "specification"
    """Holds for everybody who serves the trading API."""
    BULLION = "bullion"
    """How Bullion reads the specification where it is silent, and what it adds; others may do otherwise."""


@dataclass(frozen=True, slots=True)
class Requirement:
    id: str
    """Stable: reports of different versions can be compared by it."""
    section: str
    """Where in the specification it comes from."""
    words: str
    profile: Profile
    unchecked: str | None = None
    """Why nobody outside can check it; None when a check does."""


@dataclass(frozen=True, slots=True)
class Row:
    """A requirement without its section, which stands once above many."""

    id: str
    words: str
    unchecked: str | None = None


def rows(section: str, *of_section: Row, profile: Profile = Profile.SPECIFICATION) -> tuple[Requirement, ...]:
    return tuple(Requirement(row.id, section, row.words, profile, row.unchecked) for row in of_section)


OF_CLIENTS = "it tells clients what to do, and asks nothing of the service that could be seen"
INSIDE = "it cannot be seen from outside"
NEEDS_A_FAULT = "it takes a fault inside the service, which cannot be caused from outside"
