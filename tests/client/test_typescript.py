"""The TypeScript client: its types are fresh, it builds strictly, and its own tests pass on a demo.

Skipped where node or its packages cannot be had.
"""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bullion_client import Client
from tests.docs.demo import Demo, demo_in
from tests.docs.markdown import ROOT, blocks
from tests.support.command import environment
from tests.support.orders import UNBOUNDED
from tools.docs_page.languages import ORDER_ID, SHOWN, TYPESCRIPT, in_other_languages
from tools.npm_programs import NotInstalled, npm_program
from tools.typescript_types import TYPES, types

pytestmark = pytest.mark.one_worker("typescript-client")

PACKAGE = ROOT / "clients/typescript"
PAGE = ROOT / "docs/typescript-client.md"
SEPARATOR = "\x1e"
STRICT = ("--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck")
LIBRARIES = ("--lib", "es2022,dom,dom.iterable,dom.asynciterable")
PROCESS = "declare const process: { env: Record<string, string | undefined> };\n"


def program(name: str) -> str:
    try:
        return npm_program(name)
    except NotInstalled as error:
        pytest.skip(str(error))


def run(folder: Path, *command: str, **variables: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with its `dist`, in a place where Node finds it by its name."""
    compiler = program("tsc")
    folder = tmp_path_factory.mktemp("project") / "node_modules/bullion-client"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    # The compiler's own libraries are not ours to check.
    run(folder, compiler, "--skipDefaultLibCheck")
    return folder


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    with demo_in(tmp_path_factory.mktemp("demo")) as demo:
        with demo.desk() as desk:
            desk.patch("/switches", json={"budgets": UNBOUNDED}).raise_for_status()
        yield demo


def address(demo: Demo) -> dict[str, str]:
    return {name: demo.variables()[name] for name in ("BULLION_BASE_URL", "BULLION_API_KEY")}


def test_the_types_are_those_of_the_description() -> None:
    program("openapi-typescript")
    assert TYPES.read_text("utf-8") == types(), "run: python -m tools.typescript_types"


def test_its_own_tests_pass(built: Path, demo: Demo) -> None:
    told = run(built, "node", "--test", "test/", **address(demo))
    assert "# fail 0" in told
    assert "# skipped 0" in told


@pytest.fixture(scope="module")
def programs(built: Path, demo: Demo) -> Path:
    """The program of its page, the check of its types and all calls of the reference, compiled in one run."""
    project = built.parents[1]
    types = (built / "test/types.ts").read_text("utf-8").replace("../src/index.js", "bullion-client")
    (project / "types.mts").write_text(types, "utf-8")
    shown = "\n".join(block.text for block in blocks(PAGE) if block.language == "ts")
    (project / "page.mts").write_text(PROCESS + shown, "utf-8")
    (project / "calls").mkdir()
    with Client(demo.variables()["API"], demo.variables()["KEY"]) as client:
        order_id = client.buy("GOLD", 1).id
    for anchor in SHOWN:
        text = in_other_languages(anchor)[TYPESCRIPT].replace(ORDER_ID, order_id)
        (project / f"calls/{anchor}.mts").write_text(PROCESS + text, "utf-8")
    calls = sorted(f"calls/{anchor}.mts" for anchor in SHOWN)
    run(project, program("tsc"), *STRICT, *LIBRARIES, "page.mts", "types.mts", *calls)
    return project


def test_its_types_know_the_environment_and_the_program_of_its_page_works(programs: Path, demo: Demo) -> None:
    """All blocks of the page, one after the other."""
    bought, found, event = run(programs, "node", "page.mjs", **address(demo)).splitlines()
    assert bought == "filled 5.0000 g"
    assert len(found) == 36
    assert event.split()[1] == "order.created"


def test_the_calls_of_the_reference_work(programs: Path, demo: Demo) -> None:
    """Those that end and need no webhook are run, one after the other in one process."""
    ending = sorted(anchor for anchor in SHOWN if "webhooks" not in anchor and not anchor.endswith("stream"))
    assert len(ending) > 5
    each = "".join(
        f'process.stdout.write("{SEPARATOR}");\nawait import("./{name}.mjs");\n' for name in ending
    )
    (programs / "calls/all.mjs").write_text(each, "utf-8")
    told = run(programs / "calls", "node", "all.mjs", **address(demo)).split(SEPARATOR)[1:]
    assert [anchor for anchor, text in zip(ending, told, strict=True) if not text.strip()] == []


def test_it_has_no_dependency_and_names_no_registry() -> None:
    package = (PACKAGE / "package.json").read_text("utf-8")
    assert '"dependencies"' not in package
    files = [file for file in PACKAGE.rglob("*") if file.is_file() and "node_modules" not in file.parts]
    assert not [file for file in files if file.name in ("package-lock.json", ".npmrc", "yarn.lock")]
