"""The three distributions of this checkout, built with the build backend that is installed here."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = {"bullion": ROOT, "bullion-client": ROOT / "client", "bullion-conformance": ROOT / "conformance"}
"""Where each distribution has its pyproject.toml."""


class NotReproducible(Exception):
    """Two builds of the same source differ. The message names the file."""


@dataclass(frozen=True)
class Distribution:
    name: str
    wheel: Path
    archive: Path


def build(into: Path, *names: str) -> list[Distribution]:
    """Build these, or all of them. `into` must hold no other builds of them."""
    for name in names or PROJECTS:
        _build(PROJECTS[name], into)
    return [_find(name, into) for name in names or PROJECTS]


def require_reproducible(built: list[Distribution], folder: Path) -> None:
    """Build a second time, and each wheel also from its source archive: the bytes must be equal."""
    again = {each.name: each for each in build(folder / "again")}
    for each in built:
        other = again[each.name]
        require_equal(each.wheel, other.wheel)
        require_equal(each.archive, other.archive)
        unpacked = folder / each.name
        project = unpack(each.archive, unpacked)
        _build(project, unpacked / "dist", "-t", "wheel")
        require_equal(each.wheel, unpacked / "dist" / each.wheel.name)


def unpack(archive: Path, into: Path) -> Path:
    """The folder of the project. Not with `tarfile`, whose filters early versions of Python 3.11 lack."""
    into.mkdir(exist_ok=True)
    subprocess.run(["tar", "-xzf", str(archive), "-C", str(into)], check=True)  # noqa: S607 - of the PATH
    (project,) = into.iterdir()
    return project


def _build(project: Path, into: Path, *options: str) -> None:
    """Hatchling writes the same time into every file: SOURCE_DATE_EPOCH, or a constant of its own."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(into), *options]
    done = subprocess.run(command, cwd=project, env=os.environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{project}: the build failed:\n{done.stdout}{done.stderr}")


def _find(name: str, folder: Path) -> Distribution:
    file_name = name.replace("-", "_")
    (wheel,) = folder.glob(f"{file_name}-*.whl")
    (archive,) = folder.glob(f"{file_name}-*.tar.gz")
    return Distribution(name, wheel, archive)


def require_equal(one: Path, other: Path) -> None:
    if one.read_bytes() != other.read_bytes():
        raise NotReproducible(f"{one.name} is different in a second build.")
