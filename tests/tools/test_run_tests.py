"""What `make test` does about failed tests: few of them get a second try, and no race gets one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPREAD = ("-p", "xdist", "-n", "1", "--dist", "loadgroup")
FAILS_ONCE = """
import pathlib

def test_it():
    seen = pathlib.Path(__file__ + ".seen")
    first = not seen.exists()
    seen.touch()
    assert not first
"""


def run(folder: Path, *arguments: str, **files: str) -> subprocess.CompletedProcess[str]:
    for name, text in files.items():
        path = folder / "tests" / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    return subprocess.run(
        [sys.executable, "-m", "tools.run_tests", "-q", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_test_that_passes_alone_is_named(tmp_path: Path) -> None:
    in_a_group = FAILS_ONCE.replace("def test", "import pytest\n@pytest.mark.xdist_group('some')\ndef test")
    done = run(tmp_path, *SPREAD, test_slow=in_a_group, test_good="def test_it(): pass\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Running 1 failed tests once more" in done.stdout
    assert done.stdout.rstrip().endswith("waited for:\n  tests/test_slow.py::test_it")


def test_a_test_that_fails_again_fails_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, test_slow=FAILS_ONCE, test_bad="def test_it(): assert False\n")
    assert done.returncode == 1
    assert "Running 2 failed tests once more" in done.stdout
    assert "They passed" not in done.stdout


@pytest.mark.parametrize("name", ["kills__test_random", "model__test_books", "test_order_races"])
def test_a_race_gets_no_second_try(tmp_path: Path, name: str) -> None:
    done = run(tmp_path, **{name: FAILS_ONCE})
    assert done.returncode == 1
    assert "once more" not in done.stdout


def test_many_failures_get_no_second_try(tmp_path: Path) -> None:
    done = run(tmp_path, **{f"test_{number}": FAILS_ONCE for number in range(11)})
    assert done.returncode == 1
    assert "once more" not in done.stdout


def test_a_run_that_cannot_start_gets_no_second_try(tmp_path: Path) -> None:
    done = run(tmp_path, test_slow="import nothing_of_this_name\n")
    assert done.returncode == 2
    assert "once more" not in done.stdout
