"""Clients generated from the description place an order and read the code of a refusal.

A generator that cannot be had is skipped. `openapi-python-client` comes with the tools of the tests, npm
installs those for TypeScript; CONTRIBUTING.md tells how to get the other.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.node import running
from tests.support.orders import GOLD
from tools.npm_programs import NotInstalled, npm_program

pytestmark = pytest.mark.one_worker("generated-clients")

PROGRAMS = Path(__file__).with_name("generated")
DESCRIPTION = Path(__file__).parents[2] / "docs/openapi.json"
EXPECTED = ["filled", "unknown_symbol", "quantity_rule", "idempotency_key_reused"]
"""What becomes of the four orders of each program: 201, 404, 400, and a 422 that could have two bodies."""

Service = tuple[str, str]
"""Its address, and a key."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("node")) as node, node.desk() as desk:
        desk.add_group().account("client", allocation={"gold": "100", "silver": "0"})
        desk.do("PUT", "/symbols/GOLD", GOLD | {"minimum": "1", "step": "1"})
        yield node.api_url, desk.key("client")["key"]


def tool(name: str) -> str:
    """Beside this interpreter, or on the PATH."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def npm_tool(name: str) -> str:
    try:
        return npm_program(name)
    except NotInstalled as error:
        pytest.skip(str(error))


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def python_beside(program: str) -> str:
    """The interpreter that a generator was installed for: it has what the generated client imports."""
    beside = Path(program).with_name("python")
    return str(beside) if beside.exists() else sys.executable


def test_openapi_python_client(service: Service, tmp_path: Path) -> None:
    generator = tool("openapi-python-client")
    made = tmp_path / "bullion_generated"
    run(
        tmp_path,
        generator,
        "generate",
        "--path",
        str(DESCRIPTION),
        "--meta",
        "none",
        "--output-path",
        str(made),
    )
    shutil.copy(PROGRAMS / "python_client.py", tmp_path)
    assert json.loads(run(tmp_path, python_beside(generator), "python_client.py", *service)) == EXPECTED


def test_openapi_generator(service: Service, tmp_path: Path) -> None:
    tool("java")
    generator = tool("openapi-generator-cli")
    options = ("-g", "python", "--package-name", "bullion_generated", "-o", str(tmp_path))
    run(tmp_path, generator, "generate", "-i", str(DESCRIPTION), *options)
    shutil.copy(PROGRAMS / "openapi_generator.py", tmp_path)
    assert json.loads(run(tmp_path, python_beside(generator), "openapi_generator.py", *service)) == EXPECTED


def test_openapi_typescript(service: Service, tmp_path: Path) -> None:
    node, generator, compiler = tool("node"), npm_tool("openapi-typescript"), npm_tool("tsc")
    run(tmp_path, generator, str(DESCRIPTION), "--output", "schema.d.ts")
    shutil.copy(PROGRAMS / "typescript.ts", tmp_path)
    options = ("--strict", "--target", "es2022", "--module", "commonjs", "--lib", "es2022,dom")
    # The compiler's own libraries are not ours to check.
    run(tmp_path, compiler, *options, "--skipDefaultLibCheck", "typescript.ts")
    assert json.loads(run(tmp_path, node, "typescript.js", *service)) == EXPECTED
