"""The caller's program is killed around the moment in which it sends: the next run finishes what it began."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bullion_client import Client, Environment, Journal
from tests.client.fixtures import Deployment

PROGRAM = Path(__file__).with_name("killed_program.py")
ENVIRONMENTS = pytest.mark.parametrize("environment", [Environment.TEST, Environment.PRODUCTION])


def run(key: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", str(PROGRAM), *arguments],
        env={**os.environ, "KEY": key, "NO_PROXY": "*"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def booked(deployment: Deployment, key: str) -> list[str]:
    with Client(deployment.url, key) as client:
        orders = list(client.orders())
    assert all(order.client_order_id == "meant once" for order in orders)
    return [order.id for order in orders]


@ENVIRONMENTS
def test_killed_between_sending_and_the_answer(
    deployment: Deployment, environment: Environment, tmp_path: Path
) -> None:
    key, path = deployment.key(deployment.account(), environment), str(tmp_path / "journal")
    assert run(key, "place", deployment.url, path, "after").returncode == -signal.SIGKILL
    (order_id,) = booked(deployment, key)
    (intent,) = Journal(path).unsettled()
    assert intent.client_order_id == "meant once"
    again = run(key, "resume", deployment.url, path)
    assert (again.stdout.split(), again.stderr) == ([order_id], "")
    assert booked(deployment, key) == [order_id]
    assert Journal(path).unsettled() == ()


def test_killed_before_sending(deployment: Deployment, tmp_path: Path) -> None:
    key, path = deployment.key(deployment.account()), str(tmp_path / "journal")
    assert run(key, "place", deployment.url, path, "before").returncode == -signal.SIGKILL
    assert booked(deployment, key) == []
    again = run(key, "resume", deployment.url, path)
    assert again.stdout.split() == booked(deployment, key)
    assert len(booked(deployment, key)) == 1
    assert Journal(path).unsettled() == ()


def test_killed_again_while_it_resumes(deployment: Deployment, tmp_path: Path) -> None:
    key, path = deployment.key(deployment.account()), str(tmp_path / "journal")
    assert run(key, "place", deployment.url, path, "before").returncode == -signal.SIGKILL
    for where in ("before", "after"):
        assert run(key, "resume", deployment.url, path, where).returncode == -signal.SIGKILL
    assert run(key, "resume", deployment.url, path).stdout.split() == booked(deployment, key)
    assert len(booked(deployment, key)) == 1


def test_killed_at_any_moment(deployment: Deployment, tmp_path: Path) -> None:
    """Without a word of its own, from outside: whatever it has done by then, the end is one order."""
    key = deployment.key(deployment.account())
    for number in range(3):
        path = tmp_path / f"journal{number}"
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM), "place", deployment.url, str(path)],
            env={**os.environ, "KEY": key, "NO_PROXY": "*"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        give_up_at = time.monotonic() + 30
        # The head of the journal stands a few milliseconds before the order is sent.
        while not path.exists() and process.poll() is None and time.monotonic() < give_up_at:
            time.sleep(0.0005)
        time.sleep(0.004 * number)
        process.kill()
        process.wait()
        before = len(booked(deployment, key))
        left = Journal(path).unsettled()
        resumed = run(key, "resume", deployment.url, str(path)).stdout.split()
        assert len(resumed) == len(left)
        assert set(resumed) <= set(booked(deployment, key))
        assert len(booked(deployment, key)) <= min(before + len(left), number + 1)
