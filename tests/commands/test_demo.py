"""`bullion demo`: what it prints works when pasted, and a start that was killed does no harm to the next."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx

from tests.support.command import PROGRAM, bullion, environment
from tests.support.forked_process import Process, start
from tests.support.loopback_transport import LoopbackTransport
from tests.support.node import until

FREE = {"BULLION_PORT": "0", "BULLION_DESK_PORT": "0", "BULLION_CONSOLE_PORT": "0"}
LAST_LINE = "Ctrl+C stops the demo."
Launch = Callable[[Sequence[str], Path, Mapping[str, str], IO[bytes], IO[bytes]], Process]
"""Of a command, in a folder, with an environment and two streams: a process."""


def caller(url: str, headers: dict[str, str]) -> httpx.Client:
    transport = LoopbackTransport()
    return httpx.Client(base_url=url, headers=headers, transport=transport, timeout=20)


@dataclass
class Demo:
    process: Process
    out: Path
    log: Path

    @property
    def banner(self) -> str:
        return self.out.read_text()

    @property
    def curls(self) -> list[str]:
        return [line.strip() for line in self.banner.splitlines() if line.startswith("  curl ")]

    @property
    def keys(self) -> list[str]:
        """Of the table, not of the curl lines."""
        return re.findall(r"(?:test|live) key +(key_\S+)", self.banner)

    @property
    def desk_token(self) -> str:
        return self._said(r"Desk token +(\S+)")

    @property
    def console_url(self) -> str:
        return self._said(r"Console +(http\S+)")

    def url(self, name: str) -> str:
        return self._said(rf"{name} API +(http\S+)")

    def _said(self, pattern: str) -> str:
        found = re.search(pattern, self.banner)
        assert found is not None, self.banner
        return str(found[1])

    def desk(self, method: str, path: str, body: Any = None) -> Any:
        with caller(self.url("Desk"), {"Authorization": f"Bearer {self.desk_token}"}) as client:
            answer = client.request(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def me(self, key: str) -> httpx.Response:
        base = "/api/trading/test/v1" if key.startswith("key_test.") else "/api/trading/v1"
        with caller(self.url("Trading"), {"X-API-Key": key}) as client:
            return client.get(f"{base}/me")

    def has_begun(self) -> bool:
        """Whether it has told of an action of the desk, or of everything."""
        return '"event": "action"' in self.log.read_text() or LAST_LINE in self.banner

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(30)


def interpreter(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], stdout: IO[bytes], stderr: IO[bytes]
) -> Process:
    """One that has imported nothing, and starts its console in another such one."""
    return subprocess.Popen([*PROGRAM, *words], cwd=folder, env=environment, stdout=stdout, stderr=stderr)


@contextmanager
def launched(folder: Path, launch: Launch = start, /, **settings: str) -> Iterator[Demo]:
    """The demo, just started."""
    number = len(list(folder.glob("out*")))
    out, log = folder / f"out{number}", folder / f"log{number}"
    with out.open("wb") as stdout, log.open("wb") as stderr:
        process = launch(["demo"], folder, environment(**FREE | settings), stdout, stderr)
    demo = Demo(process, out, log)
    try:
        yield demo
    finally:
        demo.stop(signal.SIGKILL)


@contextmanager
def running(folder: Path, launch: Launch = start, /, **settings: str) -> Iterator[Demo]:
    """The demo with its banner printed."""
    with launched(folder, launch, **settings) as demo:
        until(lambda: LAST_LINE in demo.banner or demo.process.poll() is not None, 30)
        assert demo.process.poll() is None, demo.log.read_text()
        yield demo


def status(curl: str) -> str:
    """What the line answers when it is pasted into a shell."""
    command, _, comment = curl.partition("   #")
    quiet = f"{command} -s -o /dev/null -w '%{{http_code}}' #{comment}"
    return subprocess.run(["/bin/sh", "-c", quiet], capture_output=True, text=True, check=True).stdout


def pasted(curl: str) -> str:
    """What the terminal shows."""
    return subprocess.run(["/bin/sh", "-c", curl], capture_output=True, text=True, check=True).stdout


def works(demo: Demo) -> None:
    """Everything that the banner promises."""
    assert len(demo.curls) == 10
    # In the order in which they are printed: the order is placed once, and its second line is a replay of it.
    answers = [status(curl) for curl in demo.curls]
    assert answers == ["200", "200", "201", *["200"] * 7], dict(zip(demo.curls, answers, strict=True))
    assert all(pasted(curl).endswith("\n") for curl in demo.curls), "the prompt would follow the answer"
    assert len(set(demo.keys)) == 4
    assert [demo.me(key).status_code for key in demo.keys] == [200] * 4
    assert {demo.me(key).json()["login_id"] for key in demo.keys} == {"aurum", "rajat"}
    with caller(demo.console_url, {}) as client:
        assert client.get("/login").status_code == 200


def test_the_banners_lines_work_and_the_next_start_prints_the_same_keys_unless_one_is_revoked(
    tmp_path: Path,
) -> None:
    with running(tmp_path, interpreter) as demo:
        works(demo)
        keys, token = demo.keys, demo.desk_token
        _it_trades_round_the_clock_in_the_sizes_of_its_market(demo)
        demo.desk("PATCH", "/accounts/aurum", {"firm_name": "Renamed"})
        done = demo.desk("GET", "/audit?limit=1")["total"]
        assert demo.stop() == 0
        _its_log_is_json_without_secrets(demo)
    with running(tmp_path) as demo:
        works(demo)
        assert (demo.keys, demo.desk_token) == (keys, token)
        # What the desk changed stays changed, and nothing else was done.
        assert demo.desk("GET", "/accounts/aurum")["firm_name"] == "Renamed"
        assert demo.desk("GET", "/audit?limit=1")["total"] == done
        demo.desk("POST", f"/keys/{keys[0].split('.')[2]}/revoke")
        demo.desk("POST", f"/keys/{keys[3].split('.')[2]}/rotate")
        assert demo.me(keys[0]).json()["detail"]["code"] == "credential_revoked"
        assert demo.stop(signal.SIGINT) == 0
    # In place of a revoked or rotated key it prints another.
    with running(tmp_path) as demo:
        works(demo)
        assert demo.keys[1:3] == keys[1:3]
        assert not {demo.keys[0], demo.keys[3]} & set(keys)
        assert demo.desk("GET", "/accounts")["total"] == 2


def _it_trades_round_the_clock_in_the_sizes_of_its_market(demo: Demo) -> None:
    symbols = demo.desk("GET", "/symbols")["items"]
    assert demo.desk("GET", "/switches")["trading_hours"] is None
    sizes = {(each["metal"], each["unit"], each["minimum"], each["step"]) for each in symbols}
    assert sizes == {("gold", "g", "1.0000", "1.0000"), ("silver", "kg", "1.0000", "1.0000")}


def _its_log_is_json_without_secrets(demo: Demo) -> None:
    """Of a demo that has stopped: one JSON object a line, and none of the secrets that the banner shows."""
    secrets = [key.rpartition(".")[2] for key in demo.keys] + [demo.desk_token]
    log = demo.log.read_text()
    assert [json.loads(line)["event"] for line in log.splitlines()][-1] == "stopped"
    assert [secret for secret in secrets if secret in log] == []


def test_a_start_killed_early_leads_to_a_working_one(tmp_path: Path) -> None:
    for seconds in (0.1, 0.25, 0.4, 0.55, 0.7):
        with launched(tmp_path, interpreter) as demo:
            time.sleep(seconds)
            demo.stop(signal.SIGKILL)
    with running(tmp_path) as demo:
        works(demo)


def test_a_start_killed_between_two_actions_leads_to_a_working_one(tmp_path: Path) -> None:
    for _ in range(3):
        with launched(tmp_path) as demo:
            # It goes on while we look: where it is killed differs from run to run.
            until(lambda demo=demo: demo.has_begun(), 30)
            demo.stop(signal.SIGKILL)
    with running(tmp_path) as demo:
        works(demo)
        trail = demo.desk("GET", "/audit?limit=200")["items"]
        made = [entry["subject"] for entry in trail if entry["before"] is None]
        # Of before there was a duty: the broker, two groups, two accounts, four keys, and the symbols.
        assert len(made) == len(set(made)) == 14
        assert demo.desk("GET", "/symbols")["total"] == 4
        assert demo.desk("GET", "/brokers")["items"][0]["name"] == "Demo Bullion"
        secret = (tmp_path / "var" / "demo" / "secret").read_text()
        assert demo.stop() == 0
    store = {"BULLION_DATABASE_URL": "sqlite:///var/demo/bullion.db", "BULLION_SECRET": secret}
    assert bullion(tmp_path, "audit", "verify", **store).returncode == 0
