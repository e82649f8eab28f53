"""The built wheels at work: the demo serves, the client places an order, the conformance kit passes."""

import json
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.release.environment import Environment

_START_S = 120
_STOP_S = 60
_COMMAND_S = 600
_LAST_LINE = "Ctrl+C stops the demo."


class TrialFailed(Exception):
    """Something that was built does not work. The message says what."""


@dataclass(frozen=True)
class Demo:
    """What the demo's banner prints."""

    api: str
    key: str
    desk: str
    desk_token: str


@contextmanager
def serve_demo(service: Environment, folder: Path) -> Iterator[Demo]:
    """Run `bullion demo` of the installed wheel on free ports, with its data in `folder`."""
    out, log = folder / "demo.out", folder / "demo.log"
    free = {"BULLION_PORT": "0", "BULLION_DESK_PORT": "0", "BULLION_CONSOLE_PORT": "0"}
    with out.open("wb") as stdout, log.open("wb") as stderr:
        process = subprocess.Popen(
            [service.programs / "bullion", "demo"],
            cwd=folder,
            env=service.variables(**free, BULLION_PRODUCTION="on"),
            stdout=stdout,
            stderr=stderr,
        )
    try:
        give_up_at = time.monotonic() + _START_S
        while _LAST_LINE not in out.read_text("utf-8"):
            if process.poll() is not None or time.monotonic() > give_up_at:
                raise TrialFailed(f"The demo did not start:\n{log.read_text('utf-8')}")
            time.sleep(0.1)
        yield _read_banner(out.read_text("utf-8"))
    finally:
        process.terminate()
        process.wait(timeout=_STOP_S)


def place_order(client: Environment, demo: Demo) -> dict[str, Any]:
    """Buy with the client's command line. Return the order as it was printed."""
    access = {"BULLION_BASE_URL": demo.api, "BULLION_API_KEY": demo.key}
    command: list[str | Path] = [client.programs / "bullion-client", "buy", "GOLD", "5", "--json"]
    order: dict[str, Any] = json.loads(_run(command, client.variables(**access)))
    if order["status"] != "filled":
        raise TrialFailed(f"The client's order is not filled: {order}")
    return order


def check_conformance(kit: Environment, demo: Demo, report: Path, *options: str) -> dict[str, int]:
    """Run the kit with the demo's desk. Return how many requirements have which verdict."""
    access = {
        "CONFORMANCE_BASE_URL": demo.api,
        "CONFORMANCE_DESK_URL": demo.desk,
        "CONFORMANCE_DESK_TOKEN": demo.desk_token,
    }
    words = ["--quick", "--profile", "bullion", "--json", str(report), *options]
    _run([kit.programs / "bullion-conformance", *words], kit.variables(**access))
    counts: dict[str, int] = json.loads(report.read_text("utf-8"))["counts"]
    if not counts["passed"]:
        raise TrialFailed(f"The kit checked nothing: {counts}")
    return counts


def _run(command: Sequence[str | Path], variables: dict[str, str]) -> str:
    # From the root of the file system: nothing of this checkout may be imported.
    done = subprocess.run(
        command, cwd="/", env=variables, capture_output=True, text=True, timeout=_COMMAND_S, check=False
    )
    if done.returncode:
        raise TrialFailed(f"{command[0]}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def _read_banner(banner: str) -> Demo:
    def said(pattern: str) -> str:
        found = re.search(pattern, banner)
        if found is None:
            raise TrialFailed(f"The demo prints nothing like {pattern}:\n{banner}")
        return found[1]

    return Demo(
        said(r"Trading API +(\S+)"),
        said(r"test key +(\S+)"),
        said(r"Desk API +(\S+)/desk/v1"),
        said(r"Desk token +(\S+)"),
    )
