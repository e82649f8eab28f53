"""Two releases of the service in one test: the code of this checkout, and a later one made from it.

The later one is a copy of the code with one more migration step. So this checkout is the older of the two:
what it promises to the release after it is what a test can hold it to.
"""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bullion.store.schema import code_level

from .command import environment
from .forked_process import CHECKOUT, Process, serving
from .node import interpreter

LEVEL = code_level("postgres")
EXPAND = f"""-- oldest level: {LEVEL}
ALTER TABLE orders ADD COLUMN note TEXT;
ALTER TABLE groups ADD COLUMN note TEXT;
"""
"""Columns that the older release does not know, in tables that orders use."""
CONTRACT = "ALTER TABLE changes ADD COLUMN note TEXT;\n"
"""Says nothing of older releases, so they are shut out."""


@dataclass(frozen=True)
class Installation:
    """A folder with the code that is installed now. `install` exchanges it in one step."""

    folder: Path

    @property
    def settings(self) -> dict[str, str]:
        """For `start`: imports find the code here before that of the checkout."""
        return {"PYTHONPATH": str(self.folder / "current")}

    def install(self, source: Path) -> None:
        link = self.folder / "next"
        link.symlink_to(source, target_is_directory=True)
        link.replace(self.folder / "current")

    def launch(self, module: str, folder: Path, environment: Mapping[str, str]) -> tuple[Process, IO[str]]:
        """For `start`: a fork while this checkout is installed, whose code the fork server has imported."""
        runs_checkout = (self.folder / "current").resolve() == older()
        return (serving if runs_checkout else interpreter)(module, folder, environment)


def older() -> Path:
    return CHECKOUT / "src"


def later(folder: Path, step: str = EXPAND) -> Path:
    """The source of a release with one more migration step."""
    # With the times of the files, so that their compiled code stays valid.
    source = shutil.copytree(older(), folder / "later")
    migration = source / f"bullion/store/migrations/{LEVEL + 1:04}_note.sql"
    migration.write_text(step, "utf-8")
    return source


def command(source: Path, folder: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command of a release to its end."""
    return subprocess.run(
        [sys.executable, "-m", "bullion", *words],
        cwd=folder,
        env=environment(**settings) | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )
