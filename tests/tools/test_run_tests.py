"""What `make test` does about failed tests: few of them get a second try, and no race gets one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.stacks import STACKS

ROOT = Path(__file__).parents[2]
SPREAD = ("--workers", "2")
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
        [sys.executable, "-m", "tools.run_tests", "-q", "-p", "tests.support.parallel", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_test_that_passes_alone_is_named(tmp_path: Path) -> None:
    marks = "@pytest.mark.one_worker('some')\n@pytest.mark.parametrize('at', ['a@b'])\n"
    in_a_group = FAILS_ONCE.replace("def test_it()", f"import pytest\n{marks}def test_it(at)")
    done = run(tmp_path, *SPREAD, test_slow=in_a_group, test_good="def test_it(): pass\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Running 1 failed tests once more" in done.stdout
    assert done.stdout.rstrip().endswith("waited for:\n  tests/test_slow.py::test_it[a@b]")


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


def test_all_tests_of_a_file_get_a_second_try(tmp_path: Path) -> None:
    """As when the node that they share did not start in time."""
    once = FAILS_ONCE.replace("test_it()", "test_it(number)").replace(".seen", "{number}.seen")
    each = "import pytest\n@pytest.mark.parametrize('number', range(11))\n"
    done = run(tmp_path, test_slow=once.replace("def", each + "def").replace('"{', 'f"{'))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Running 11 failed tests once more" in done.stdout


def test_failures_in_many_files_get_no_second_try(tmp_path: Path) -> None:
    done = run(tmp_path, **{f"test_{number}": FAILS_ONCE for number in range(21)})
    assert done.returncode == 1
    assert "once more" not in done.stdout


def test_a_run_that_cannot_start_gets_no_second_try(tmp_path: Path) -> None:
    done = run(tmp_path, test_slow="import nothing_of_this_name\n")
    assert done.returncode == 2
    assert "once more" not in done.stdout


def test_a_test_that_is_named_is_run_also_out_of_its_turn() -> None:
    """A second try names its tests. Of a whole file, each test has one stack."""
    name = "tests/desk/test_orders.py::test_every_order_is_listed_newest_first"
    both = [f"{name}[{stack}]" for stack in STACKS]

    def collected(*asked: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", *asked],
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
            capture_output=True,
            text=True,
            check=True,
        )
        return [line for line in done.stdout.splitlines() if line in both]

    assert collected(*both) == both
    assert len(collected("tests/desk/test_orders.py")) == 1
