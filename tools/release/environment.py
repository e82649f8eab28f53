"""A new virtual environment that holds one wheel and what the wheel asks for, and nothing else."""

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from tools.release.requirements import Needs, locked, read_needs

_INSTALL_S = 600


class Environment:
    def __init__(self, folder: Path, wheel: Path, *extras: str) -> None:
        self.programs = folder / "bin"
        self._folder = folder
        self._needs = read_needs(wheel, *extras)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        self._pip("--no-index", "--no-deps", str(wheel))

    @property
    def needs(self) -> Needs:
        return self._needs

    def install_locked(self) -> None:
        """Install what the wheel asks for, by requirements.txt: exact versions, hashes checked."""
        wanted = self._folder / "requirements.txt"
        wanted.write_text(locked(set(self._needs.packages)), "utf-8")
        # Without dependencies: a package that the wheel needs and does not declare stays out.
        self._pip("--no-deps", "--require-hashes", "--requirement", str(wanted))

    def borrow(self) -> None:
        """Link what the wheel asks for from the environment of this process. Nothing is downloaded."""
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        packages = self._folder / "lib" / version / "site-packages"
        for package in self._needs.packages.values():
            for name in _top_level(package):
                (packages / name).symlink_to(Path(str(package.locate_file(name))))

    def variables(self, **more: str) -> dict[str, str]:
        """The variables for a program of this environment: none that leads Python or Bullion elsewhere."""
        ours = ("BULLION_", "CONFORMANCE_", "PYTHON", "VIRTUAL_ENV")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        return kept | more

    def _pip(self, *words: str) -> None:
        pip = [sys.executable, "-m", "pip", "--python", str(self.programs / "python")]
        options = ["--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", *options, *words], check=True, timeout=_INSTALL_S)


def _top_level(package: metadata.Distribution) -> set[str]:
    """The folders and files of a package in site-packages; its programs are elsewhere and stay out."""
    files = package.files or []
    return {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}
