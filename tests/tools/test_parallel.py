"""Tests in several workers: every test is run once and told once, whatever happens to the workers."""

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support.node import until

ROOT = Path(__file__).parents[2]


def start(folder: Path, *arguments: str, **files: str) -> subprocess.Popen[str]:
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(f"import os, pathlib, pytest, signal, time\n{text}", "utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    one_worker\n", "utf-8")
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "tests.support.parallel", "--workers", "2", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(folder: Path, *arguments: str, **files: str) -> tuple[int, str]:
    running = start(folder, *arguments, **files)
    told = running.communicate(timeout=60)[0]
    return running.returncode, told


def outcomes(told: str) -> dict[str, int]:
    """Of pytest's last line, such as `1 failed, 5 passed in 0.2s`."""
    return {word: int(number) for number, word in re.findall(r"(\d+) (failed|passed|error)", told[-200:])}


RECORDED = """
@pytest.fixture(scope="session", autouse=True)
def recorded(tmp_path_factory):
    (pathlib.Path(__file__).parent / f"begun-{os.getpid()}").touch()
    yield
    (pathlib.Path(__file__).parent / f"ended-{os.getpid()}").touch()
"""
MANY = """
@pytest.mark.parametrize("number", range(60))
def test_it(number, tmp_path):
    time.sleep(0.005)
    with open(pathlib.Path(__file__).with_suffix(".pids"), "a") as file:
        print(number, os.getpid(), tmp_path, file=file)
"""


def test_each_test_runs_once_and_what_a_session_has_begun_is_ended(tmp_path: Path) -> None:
    code, told = run(tmp_path, "-v", "-p", "no:cacheprovider", many=RECORDED + MANY)
    assert (code, outcomes(told)) == (0, {"passed": 60}), told
    assert Counter(re.findall(r"test_it\[(\d+)\] PASSED", told)) == Counter(map(str, range(60)))
    lines = [line.split() for line in (tmp_path / "test_many.pids").read_text().splitlines()]
    assert sorted(int(number) for number, _, _ in lines) == list(range(60))
    workers = {pid for _, pid, _ in lines}
    assert len(workers) == 2
    assert len({folder for _, _, folder in lines}) == 60
    kept = {path.name for path in tmp_path.glob("*-*")}
    assert kept == {f"{when}-{pid}" for when in ("begun", "ended") for pid in workers}


def test_a_group_runs_in_one_worker(tmp_path: Path) -> None:
    marked = 'pytestmark = pytest.mark.one_worker("some")\n' + MANY
    code, told = run(tmp_path, many=marked, more=MANY)
    assert (code, outcomes(told)) == (0, {"passed": 120}), told
    lines = (tmp_path / "test_many.pids").read_text().splitlines()
    assert len({line.split()[1] for line in lines}) == 1


def test_a_failure_shows_what_its_test_wrote_and_no_other(tmp_path: Path) -> None:
    writes = MANY.replace("with open", 'print(f"this is {number}")\n    assert number != 7\n    with open')
    code, told = run(tmp_path, many=writes)
    assert (code, outcomes(told)) == (1, {"failed": 1, "passed": 59}), told
    assert re.findall(r"this is \d+", told) == ["this is 7"]
    assert "test_many.py::test_it[7]" in told


def test_a_worker_that_dies_fails_its_test_and_the_rest_of_the_batch_is_run(tmp_path: Path) -> None:
    dies = MANY.replace("time.sleep(0.005)", "if number in (3, 31): os.kill(os.getpid(), signal.SIGKILL)")
    code, told = run(tmp_path, many=dies)
    assert (code, outcomes(told)) == (1, {"failed": 2, "passed": 58}), told
    assert len(re.findall("^The worker that ran this ended with status -9", told, re.MULTILINE)) == 2
    done = [line.split()[0] for line in (tmp_path / "test_many.pids").read_text().splitlines()]
    assert sorted(map(int, done)) == [number for number in range(60) if number not in (3, 31)]


def test_a_worker_that_does_not_end_well_fails_the_run(tmp_path: Path) -> None:
    """Its tests have passed, but nobody knows what it leaves behind."""
    dies = RECORDED.replace("    yield\n", "    yield\n    os._exit(5)\n") + MANY
    code, told = run(tmp_path, many=dies)
    assert code == 1, told
    assert "ended with status 5" in told


def test_one_failure_is_enough_if_so_asked(tmp_path: Path) -> None:
    code, told = run(tmp_path, "--maxfail=1", many=MANY.replace("time.sleep(0.005)", "assert number != 3"))
    assert code == 1
    assert "stopping after 1 failures" in told
    assert outcomes(told)["passed"] < 40, told


@pytest.mark.parametrize("whom", ["everybody", "the first process"])
def test_an_interrupted_run_ends_what_it_has_begun(tmp_path: Path, whom: str) -> None:
    """Ctrl+C reaches everybody; somebody else's signal may reach the first process alone."""
    slow = RECORDED + MANY.replace("0.005", "0.1")
    running = start(tmp_path, many=slow)
    until(lambda: len(list(tmp_path.glob("begun-*"))) == 2, 30)
    workers = [int(path.name.partition("-")[2]) for path in tmp_path.glob("begun-*")]
    for pid in (running.pid, *(workers if whom == "everybody" else [])):
        os.kill(pid, signal.SIGINT)
    told = running.communicate(timeout=60)[0]
    assert running.returncode == pytest.ExitCode.INTERRUPTED, told
    assert len(list(tmp_path.glob("ended-*"))) == 2, told
    assert [pid for pid in workers if Path(f"/proc/{pid}").exists()] == []
