"""Which Python the Makefile chooses for the virtual environment."""

import os
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).resolve().parents[2] / "Makefile"
DISTRIBUTION = "/usr/bin/python3"


def chosen(folder: Path, *arguments: str, optimised: bool) -> str:
    """The one that `make` would use where this is the first `python3` of the PATH."""
    program = folder / "python3"
    program.write_text(f"#!/bin/sh\nexit {0 if optimised else 1}\n", "utf-8")
    program.chmod(0o755)
    makefile = folder / "Makefile"
    makefile.write_text(f"include {MAKEFILE}\nshow:\n\t@echo $(PYTHON)\n", "utf-8")
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHON", "MAKEFLAGS")}
    variables["PATH"] = f"{folder}:{variables['PATH']}"
    command = ["make", "--no-print-directory", "-f", str(makefile), *arguments, "show"]
    return subprocess.run(command, env=variables, check=True, capture_output=True, text=True).stdout.strip()


def distribution_is_usable() -> bool:
    check = "import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 11))"
    try:
        return subprocess.run([DISTRIBUTION, "-c", check], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def test_a_python_that_was_built_with_optimisation_is_used(tmp_path: Path) -> None:
    assert chosen(tmp_path, optimised=True) == "python3"


def test_instead_of_a_slow_one_that_of_the_distribution_is_used(tmp_path: Path) -> None:
    expected = DISTRIBUTION if distribution_is_usable() else "python3"
    assert chosen(tmp_path, optimised=False) == expected


@pytest.mark.parametrize("optimised", [True, False])
def test_a_named_one_is_used(tmp_path: Path, *, optimised: bool) -> None:
    assert chosen(tmp_path, "PYTHON=python3.12", optimised=optimised) == "python3.12"
