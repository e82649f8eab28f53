"""The log of real processes: journal priorities, the level and how it is changed, and request ids."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from bullion.logs import LEVEL_SIGNALS
from tests.support.command import environment
from tests.support.forked_process import start
from tests.support.node import Node, own_address, running, until
from tests.support.orders import ORDERS, Market
from tests.support.processes import children
from tests.support.servers import Postgres, Redis, free_port

ME = "/api/trading/test/v1/me"
LINES = """
import logging, structlog
from bullion.logs import end_logs, set_up_logs
set_up_logs(for_people={for_people}, quiet={quiet})
log = structlog.get_logger("test")
for level in ("debug", "info", "warning", "error", "critical"):
    getattr(log, level)("first\\nsecond")
logging.getLogger("a package").warning("third")
end_logs()
"""


# --- The journal ------------------------------------------------------------------------------------------


def written(stream: str | None, *, quiet: bool = False, for_people: bool = False) -> list[str]:
    """The lines of a process whose standard error is a pipe. `stream` is its JOURNAL_STREAM."""
    ours, theirs = os.pipe()
    status = os.fstat(theirs)
    given = {} if stream is None else {"JOURNAL_STREAM": stream.format(status.st_dev, status.st_ino)}
    with os.fdopen(ours) as reader:
        program = LINES.format(quiet=quiet, for_people=for_people)
        process = subprocess.Popen(
            [sys.executable, "-c", program], env=environment(**given), stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        lines = reader.read().splitlines()
        assert process.wait(timeout=20) == 0
    return lines


def test_in_the_journal_each_line_has_the_priority_of_its_level() -> None:
    lines = written("{}:{}")
    entries = [(line[:3], json.loads(line[3:])["level"]) for line in lines]
    assert entries == [
        ("<6>", "info"),
        ("<4>", "warning"),
        ("<3>", "error"),
        ("<2>", "critical"),
        ("<4>", "warning"),
    ]


def test_in_the_journal_each_line_of_a_text_has_the_priority() -> None:
    lines = written("{}:{}", for_people=True)
    assert [line[:3] for line in lines] == ["<6>"] * 2 + ["<4>"] * 2 + ["<3>"] * 2 + ["<2>"] * 2 + ["<4>"]


def test_commands_write_priorities_too() -> None:
    assert [line[:3] for line in written("{}:{}", quiet=True)] == ["<4>", "<3>", "<2>", "<4>"]


@pytest.mark.parametrize("stream", [None, "", "{}:1", "1:{1}", "nonsense"])
def test_elsewhere_no_line_has_a_priority(stream: str | None) -> None:
    """A process may inherit JOURNAL_STREAM from one that writes to the journal, with another stream."""
    lines = written(stream)
    assert [json.loads(line)["level"] for line in lines] == [
        "info",
        "warning",
        "error",
        "critical",
        "warning",
    ]


# --- The level --------------------------------------------------------------------------------------------


def test_only_lines_of_the_level_are_written(tmp_path: Path) -> None:
    # On an address of its own: no other test can take the port meanwhile.
    host, port = own_address(), free_port()
    settings = {"BULLION_HOST": host, "BULLION_PORT": f"{port}", "BULLION_DESK_PORT": "0"}
    settings["BULLION_LOG_LEVEL"] = "error"
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = start(["serve"], tmp_path, environment(**settings), output, output)
    transport = httpx.HTTPTransport(verify=False, local_address=own_address(), retries=1)
    with httpx.Client(base_url=f"http://{host}:{port}", transport=transport) as client:

        def code() -> int:
            try:
                return client.get(ME).status_code
            except httpx.TransportError:
                return 0

        until(lambda: code() == 401, within_s=60)
        process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 0, log.read_text("utf-8")
    assert not log.read_bytes(), "the start, the refused call and the stop are told at lower levels"


def changes(node: Node, level: str) -> set[int]:
    """The processes that changed to this level."""
    return {entry["pid"] for entry in node.entries("log_level_changed") if entry["to"] == level}


def is_logged(node: Node, request_id: str) -> bool:
    return any(entry["request_id"] == request_id for entry in node.entries("call"))


def test_the_level_of_all_workers_is_changed_without_a_restart(
    postgres: Postgres, redis: Redis, schema_template: str, tmp_path: Path
) -> None:
    address = postgres.new_database(schema_template)
    settings = {"BULLION_DATABASE_URL": address, "BULLION_REDIS_URL": redis.url, "BULLION_WORKERS": "2"}
    with running(tmp_path, **settings) as node, Market.open(node) as market:
        trader = market.trader()
        node.process.send_signal(signal.SIGUSR1)
        workers = children(node.process.pid)
        until(lambda: changes(node, "debug") == {node.process.pid, *workers}, within_s=60)

        def logged() -> bool:
            trader.http.get(ME)
            return any(entry["level"] == "debug" for entry in node.entries("call"))

        until(logged, within_s=60)

        os.kill(workers[0], signal.SIGKILL)
        until(lambda: set(children(node.process.pid)) - set(workers), within_s=60)
        (new,) = set(children(node.process.pid)) - set(workers)
        until(lambda: new in changes(node, "debug"), within_s=60)

        node.process.send_signal(signal.SIGUSR2)
        until(lambda: changes(node, "info") >= {node.process.pid, workers[1], new}, within_s=60)
        until(lambda: trader.http.get("/health/ready").status_code == 200, within_s=60)

        with node.api() as stranger:

            def quiet() -> bool:
                """Whether a call that was carried out is left out, and a later one, refused, is not."""
                carried_out = trader.http.get(ME).headers["x-request-id"]
                refused = stranger.get(ME).headers["x-request-id"]
                until(lambda: is_logged(node, refused), within_s=60)
                return not is_logged(node, carried_out)

            until(quiet, within_s=60)
    postgres.drop(address)


def test_the_signals_do_not_end_a_process_that_starts_or_stops(tmp_path: Path) -> None:
    """The worker that replaces the node inherits what was asked for."""
    with running(tmp_path) as node:
        node.process.send_signal(signal.SIGUSR1)
        node.process.send_signal(signal.SIGHUP)
        until(lambda: children(node.process.pid), within_s=60)
        for _ in range(20):
            for number in LEVEL_SIGNALS:
                node.process.send_signal(number)
                os.kill(children(node.process.pid)[0], number)
        node.process.send_signal(signal.SIGUSR1)
        until(lambda: node.entries("restarted"), within_s=60)
        (worker,) = children(node.process.pid)
        until(lambda: last_level(node, worker) == "debug", within_s=60)
        node.process.send_signal(signal.SIGTERM)
        for number in LEVEL_SIGNALS:
            node.process.send_signal(number)
        assert node.stop() == 0


def last_level(node: Node, pid: int) -> str | None:
    levels = [entry["to"] for entry in node.entries("log_level_changed") if entry["pid"] == pid]
    return levels[-1] if levels else None


# --- Request ids ------------------------------------------------------------------------------------------


def test_each_line_of_a_call_has_its_request_id(tmp_path: Path) -> None:
    with running(tmp_path) as node, Market.open(node) as market:
        trader = market.trader()
        terms = {"default_terms": {"buy_premium": "0", "sell_premium": "0"}}
        changed = market.desk.put("/groups/new", json=terms).headers["x-request-id"]

        def changes() -> list[str]:
            return [each["action"] for each in node.entries("action") if each.get("request_id") == changed]

        until(lambda: changes() == ["put_group"], within_s=60)
        (tmp_path / "var/bullion.db").rename(tmp_path / "var/elsewhere")
        failed = trader.place()
        read = trader.http.get(f"{ORDERS}/{uuid4()}")
        at_desk = market.desk.get("/accounts")
        for answer in (failed, read, at_desk):
            assert answer.status_code == 503, answer.text
            request_id = answer.headers["x-request-id"]
            until(lambda request_id=request_id: is_logged(node, request_id), within_s=60)
            faults = [entry for entry in node.entries("store_fault") if entry["request_id"] == request_id]
            assert len(faults) == 1
        # A line that belongs to no call has none.
        until(lambda: node.entries("store_lost"), within_s=60)
        assert not any("request_id" in entry for entry in node.entries("store_lost"))
