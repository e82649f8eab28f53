"""schemathesis makes up good and bad calls from the description, and finds nothing with all its checks.

The demo's market is as wide as the API allows: what is left to refuse is what the description says of a call.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from bullion.keys.key import Scope
from tests.api.description import TEST
from tests.docs.demo import demo_in
from tests.support.command import environment
from tests.support.orders import UNBOUNDED
from tests.support.scale import SCALE

CALLS = 3 * SCALE
"""Made up at random for each operation, besides those at the edges of every schema."""
BUDGETS = UNBOUNDED | {"account_orders_per_minute": 100_000, "failed_auth_per_minute": 100_000}
ANY_SIZE = {"minimum": "0.0001", "maximum": "1000000", "step": "0.0001"}
NO_END = {"gold": "900000000", "silver": "900000000"}
SETTINGS = {"BULLION_PRODUCTION": "on", "BULLION_WEBHOOK_ALLOW_PRIVATE": "on"}
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Served:
    url: str
    keys: dict[str, str]
    """With all scopes, by environment."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with demo_in(tmp_path_factory.mktemp("demo"), **SETTINGS) as demo:
        demo.open_production()
        with demo.desk() as desk:
            _change(desk, "/switches", {"budgets": BUDGETS})
            _change(desk, "/accounts/aurum", {"allocation": NO_END})
            for symbol in desk.get("/symbols").json()["items"]:
                _change(desk, f"/symbols/{symbol['code']}", ANY_SIZE)
            keys = {environment: _key(desk, environment) for environment in ("test", "production")}
        yield Served(demo.variables()["API"], keys)


def _key(desk: httpx.Client, environment: str) -> str:
    body = {"environment": environment, "name": "fuzzer", "scopes": [scope.value for scope in Scope]}
    key: str = desk.post("/accounts/aurum/keys", json=body).raise_for_status().json()["key"]
    return key


def _change(desk: httpx.Client, path: str, body: object) -> None:
    desk.patch(path, json=body).raise_for_status()


PHASES = "examples,coverage,fuzzing" + (",stateful" if SCALE > 1 else "")
STREAMS = "" if SCALE > 1 else "/stream$"
"""Each of them is listened to for seconds, so they are left to `make campaign`."""
IN_TEST = ("test", "--include-path-regex", f"^{TEST}/(?!.*{STREAMS or 'nothing'})")
OTHERS = ("production", "--exclude-path-regex", f"^{TEST}/|{STREAMS or 'nothing'}")


@pytest.mark.parametrize(("its", "which", "paths"), [IN_TEST, OTHERS], ids=["in test", "others"])
def test_nothing_is_found(its: str, which: str, paths: str, demo: Served, tmp_path: Path) -> None:
    settings = tmp_path / "schemathesis.toml"
    settings.write_text(f"[auth.openapi.ApiKey]\napi_key = {json.dumps(demo.keys[its])}\n", "utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(settings), "run"),
            *(f"{demo.url}/openapi.json", "--checks", "all", "--continue-on-failure"),
            *(which, paths, "--max-examples", f"{CALLS}", "--seed", "1", "--no-color"),
            *("--phases", PHASES),
        ],
        cwd=tmp_path,
        env=environment(SCHEMATHESIS_HOOKS="tests.api.fuzzed_calls", PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
        timeout=60 + 20 * CALLS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No issues found" in done.stdout, done.stdout
