"""A FIX venue and the process that holds the line to it, killed at random while orders are under way.

The line and the venue are faulty besides, and the venue executes a doubled id. `BULLION_TEST_SCALE` above 1,
as in a campaign, sends thousands of orders and kills more than a hundred times.
"""

import csv
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from uuid import UUID

import msgspec
import pytest

from bullion.market_demo.exchange import Exchange
from bullion.market_demo.faults import Faults
from bullion.market_demo.fix_acceptor import open_book
from tests.support.fix_venue import GRAMS

from .scale import SCALE

CAMPAIGN = SCALE > 1
ORDERS, KILLS = (300 * SCALE, 6 * SCALE) if CAMPAIGN else (60, 4)
GAP_S = 0.03
PATIENCE_S = 120
CHANCES = {
    "lost": 0.01, "half": 0.005, "cut_before": 0.003, "cut_after": 0.003, "swapped": 0.01, "garbled": 0.005,
    "late": 0.1, "twice": 0.05, "reordered": 0.1, "unreported": 0.03, "swallowed": 0.03, "lag": 0.1,
    "question_swallowed": 0.05, "partial": 0.1, "split": 0.2, "refused": 0.1, "hung_up": 0.05,
}  # fmt: skip


class Stage:
    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.seed = seed
        self.port = 0
        self.acceptor: subprocess.Popen[str] | None = None
        self.hedger: subprocess.Popen[str] | None = None

    def start_acceptor(self, *, faulty: bool = True) -> None:
        self.seed += 1
        plan = msgspec.json.encode({"seed": self.seed, "chances": CHANCES if faulty else {}}).decode()
        command = ["--book", str(self.folder / "venue.db"), "--port", str(self.port), "--accept-doubles"]
        command += ["--sender", "THEM", "--target", "US", "--faults", plan]
        self.acceptor = subprocess.Popen(
            [sys.executable, "-m", "bullion.market_demo.fix_acceptor", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.acceptor.stdout is not None
        for line in self.acceptor.stdout:
            if line.startswith("listening on "):
                self.port = int(line.split()[-1])
                return
        raise AssertionError("the acceptor did not start")

    def start_hedger(self) -> None:
        command = [str(self.folder / name) for name in ("bullion.db", "plan.json", "journal")]
        command = [command[0], str(self.port), command[1], command[2], str(GAP_S)]
        self.hedger = subprocess.Popen(
            [sys.executable, "-m", "tests.support.fix_hedger", *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def kill(self, process: "subprocess.Popen[str] | None") -> None:
        if process is not None and process.poll() is None:
            process.kill()
            assert process.wait(timeout=30) == -signal.SIGKILL
            if process.stdout is not None:
                process.stdout.close()


@contextmanager
def staged(folder: Path, seed: int) -> Iterator[Stage]:
    stage = Stage(folder, seed)
    try:
        stage.start_acceptor()
        stage.start_hedger()
        yield stage
    finally:
        stage.kill(stage.hedger)
        stage.kill(stage.acceptor)


def test_either_side_killed_at_random_executes_nothing_twice(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    seed = random.randrange(1 << 30) if CAMPAIGN else 11  # noqa: S311
    print(f"seed {seed}")
    chance = random.Random(seed)  # noqa: S311
    shutil.copy(request.getfixturevalue("migrated_file"), tmp_path / "bullion.db")
    orders = {
        str(UUID(int=chance.getrandbits(128))): (chance.choice(["buy", "sell"]), chance.randint(1, 500))
        for _ in range(ORDERS)
    }
    plan = [[order_id, side, grams] for order_id, (side, grams) in orders.items()]
    (tmp_path / "plan.json").write_bytes(msgspec.json.encode(plan))
    with staged(tmp_path, seed) as stage:
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.2, 2.0))  # The moment of the kill.
            if chance.random() < 0.5:
                stage.kill(stage.hedger)
                stage.start_hedger()
            else:
                stage.kill(stage.acceptor)
                stage.start_acceptor()
        stage.kill(stage.acceptor)
        stage.start_acceptor(faulty=False)
        assert stage.hedger is not None
        assert stage.hedger.wait(timeout=PATIENCE_S * (3 if CAMPAIGN else 1)) == 0
    check(tmp_path, orders)


def check(folder: Path, orders: dict[str, tuple[str, int]]) -> None:
    """The venue's own book against what the process was answered."""
    exchange = Exchange(open_book(str(folder / "venue.db")), Faults())
    executed = exchange.executed_orders()
    answers: dict[str, tuple[str, int]] = {}
    for line in (folder / "journal").read_text("ascii").splitlines():
        if line.startswith("answered "):
            _, order_id, kind, quantity = line.split()
            assert answers.setdefault(order_id, (kind, int(quantity))) == (kind, int(quantity)), "it changed"
    assert answers.keys() == orders.keys()
    doubled = {order_id: deals for order_id, deals in executed.items() if len(deals) > 1}
    assert doubled == {}
    for order_id, (_, grams) in orders.items():
        kind, filled_e8 = answers[order_id]
        done_e8 = sum(executed.get(order_id, {}).values())
        whole_e8 = GRAMS.quantity_e8(grams * 1_000)
        assert filled_e8 == done_e8, f"{order_id} is {kind} with {filled_e8}, the venue executed {done_e8}"
        expected = "Confirmed" if done_e8 == whole_e8 else "PartiallyFilled" if done_e8 else "Declined"
        assert kind == expected, order_id
    check_statement(folder, executed)


def check_statement(folder: Path, executed: dict[str, dict[str, int]]) -> None:
    """The venue's statement of the day has every execution."""
    command = [sys.executable, "-m", "bullion.market_demo.fix_acceptor"]
    command += ["--book", str(folder / "venue.db"), "--statement"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = list(csv.DictReader(StringIO(done.stdout)))
    assert {row["order_id"] for row in rows} == executed.keys()
    assert len({row["execution_id"] for row in rows}) == len(rows)
    assert {row["price"] for row in rows} == {"2000.0"}
