"""The requirements: what the specification, or a rule of Bullion's own, asks of a service."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files

from bullion_conformance.codes import CODES

_UNCHECKED = {
    "clients": "it tells clients what to do, and asks nothing of the service that can be observed",
    "inside": "it cannot be observed from outside",
    "fault": "it needs a fault inside the service, which cannot be caused from outside",
}


class Profile(StrEnum):
    SPECIFICATION = "specification"
    """Holds for every service that offers the trading API."""
    BULLION = "bullion"
    """How Bullion decides what the specification leaves open, and what it adds; other services may differ."""


@dataclass(frozen=True, slots=True)
class Requirement:
    id: str
    section: str
    """The section of the specification that it comes from."""
    words: str
    profile: Profile
    unchecked: str | None = None
    """Why it cannot be checked from outside; None if there is a check."""


def _read() -> Iterator[Requirement]:
    text = files("bullion_conformance").joinpath("requirements.toml").read_text("utf-8")
    for section, rows in tomllib.loads(text).items():
        for environment in ("test", "production"):
            if section == f"Errors: the {environment} path":
                yield from _code_requirements(section, environment)
        for id_, row in rows.items():
            profile = Profile.BULLION if id_.startswith("bullion.") else Profile.SPECIFICATION
            if isinstance(row, str):
                yield Requirement(id_, section, row, profile)
            else:
                reason = row["unchecked"]
                yield Requirement(id_, section, row["words"], profile, _UNCHECKED.get(reason, reason))


def _code_requirements(section: str, environment: str) -> Iterator[Requirement]:
    for code in CODES:
        if environment == "production" or code.in_test:
            words = f"{code.status} {code.name} on the {environment} path: {code.when}."
            id_ = f"errors.{environment}.{code.name}"
            yield Requirement(id_, section, words, Profile.SPECIFICATION, code.unchecked)


def _by_id(requirements: Iterator[Requirement]) -> dict[str, Requirement]:
    found: dict[str, Requirement] = {}
    for requirement in requirements:
        if requirement.id in found:
            raise ValueError(f"two requirements have the id {requirement.id}")
        found[requirement.id] = requirement
    return found


REQUIREMENTS = _by_id(_read())
"""By id, in the order of the specification; Bullion's own rules come last."""
