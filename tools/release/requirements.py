"""What a wheel needs: its own dependencies and theirs, as they are installed in this environment."""

import re
import zipfile
from dataclasses import dataclass
from email import message_from_string
from email.message import Message
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.release.distributions import ROOT

LOCK = ROOT / "requirements.txt"


@dataclass(frozen=True)
class Needs:
    """The packages that a wheel needs, and which package needs which others, by canonical name."""

    wheel: Message
    """The metadata of the wheel."""
    direct: list[str]
    packages: dict[str, metadata.Distribution]
    edges: dict[str, list[str]]


def read_needs(wheel: Path, *extras: str) -> Needs:
    described = _read_metadata(wheel)
    direct = _names(described.get_all("Requires-Dist", []), set(extras))
    packages: dict[str, metadata.Distribution] = {}
    edges: dict[str, list[str]] = {}
    waiting = list(direct)
    while waiting:
        name = waiting.pop()
        if name not in packages:
            packages[name] = metadata.distribution(name)
            edges[name] = _names(packages[name].requires or [], set())
            waiting += edges[name]
    return Needs(described, direct, dict(sorted(packages.items())), edges)


def locked(names: set[str]) -> str:
    """The lines of requirements.txt for these packages, with their hashes."""
    entries = re.split(r"\n(?=\S)", LOCK.read_text("utf-8").strip())
    found: dict[str, str] = {canonicalize_name(entry.partition("==")[0]): entry for entry in entries}
    return "\n".join(found[name] for name in sorted(names)) + "\n"


def _names(requirements: list[str], extras: set[str]) -> list[str]:
    parsed = [Requirement(each) for each in requirements]
    return sorted({canonicalize_name(each.name) for each in parsed if _applies(each, extras)})


def _applies(requirement: Requirement, extras: set[str]) -> bool:
    if requirement.marker is None:
        return True
    return any(requirement.marker.evaluate({"extra": extra}) for extra in {"", *extras})


def _read_metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_string(opened.read(name).decode())
