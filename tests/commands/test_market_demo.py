"""`bullion market demo`: a newcomer pastes what it prints, and sees a deal that was covered over FIX."""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import environment
from tests.support.forked_process import Process, start
from tests.support.node import until
from tests.support.processes import children

pytestmark = pytest.mark.slow

FREE = {"BULLION_PORT": "0", "BULLION_DESK_PORT": "0", "BULLION_CONSOLE_PORT": "0"}
LAST_LINE = "Ctrl+C stops everything."
PATIENCE_S = 120
"""A machine that runs all tests at once is slow."""


@contextmanager
def market_demo(folder: Path) -> Iterator[tuple[Process, Path]]:
    out, log = folder / "out", folder / "log"
    with out.open("wb") as stdout, log.open("wb") as stderr:
        process = start(["market", "demo"], folder, environment(**FREE), stdout, stderr)
    try:
        until(lambda: LAST_LINE in out.read_text() or process.poll() is not None, within_s=PATIENCE_S)
        assert process.poll() is None, log.read_text()
        yield process, out
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(30)


def pasted(folder: Path, lines: list[str]) -> list[str]:
    """What each line of the banner prints, in one shell."""
    script = "\n".join(f"{line}\nprintf '\\036'" for line in lines)
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment(NO_PROXY="*"),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\036")[:-1]


def test_what_it_prints_leads_to_a_covered_deal_and_nothing_is_left_running(tmp_path: Path) -> None:
    with market_demo(tmp_path) as (process, out):
        banner = out.read_text()
        steps = banner.partition("Paste into another terminal")[2].partition("At the desk")[0]
        *lines, kill = [line.strip() for line in steps.splitlines() if line.startswith("  ")]
        quote, order, _, hedge, book, messages, _, feeds, _ = pasted(tmp_path, lines)
        assert json.loads(quote)["items"][0]["tradable"]
        deal = json.loads(order)
        assert (deal["status"], deal["quantity"]) == ("open", "100.0000")
        _check_cover(json.loads(hedge))
        gold = next(each for each in json.loads(book)["items"] if each["metal"] == "gold")
        assert (gold["client"], gold["cover"], gold["residual"]) == ("-99.900", "99.842", "-0.058")
        assert " 35=D " in messages
        assert " 150=F " in messages
        spot = next(each for each in json.loads(feeds)["items"] if each["instrument"] == "XAUUSD")
        assert spot["held"] is not None
        assert kill == f"kill {_pid(banner)}"
        started = [process.pid, *children(process.pid)]
        assert len(started) == 4  # With the venue, the quote server and the console.
        pasted(tmp_path, [kill])
        until(lambda: "The FIX venue has ended with signal SIGTERM." in out.read_text(), within_s=20)
    assert process.returncode == 0
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]


def _check_cover(hedge: dict[str, Any]) -> None:
    assert (hedge["venue"], hedge["outcome"]) == ("fix", "confirmed")
    (fill,) = hedge["fills"]
    assert Decimal(fill["quantity"]) == Decimal("3.21")
    assert 4_700 < Decimal(fill["price"]) < 4_900
    assert fill["execution_id"]


def _pid(banner: str) -> int:
    found = re.search(r"FIX venue .*\(process (\d+)", banner)
    assert found is not None
    return int(found[1])
