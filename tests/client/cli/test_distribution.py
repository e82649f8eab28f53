"""The client's own distribution: what is in it, that it can be built from source, and works alone."""

import email
import email.message
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from sysconfig import get_path

import pytest

from bullion_client import __version__
from tools.release.distributions import unpack

ROOT = Path(__file__).resolve().parents[3]
CLIENT = ROOT / "client"
SOURCES = {
    str(path.relative_to(ROOT / "src"))
    for path in (ROOT / "src/bullion_client").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}
LIBRARY_NEEDS = ("anyio", "certifi", "h11", "httpcore", "httpx", "idna", "typing_extensions.py")
INFO = f"bullion_client-{__version__}.dist-info"


def build(project: Path, into: Path, *targets: str) -> list[Path]:
    """As `make client` does: with the build backend that is installed here, and nothing from elsewhere."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(into)]
    for target in targets:
        command += ["-t", target]
    subprocess.run(command, cwd=project, check=True, capture_output=True, timeout=60)
    return sorted(into.iterdir())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Wheel and source archive."""
    wheel, archive = build(CLIENT, tmp_path_factory.mktemp("dist"))
    return wheel, archive


@pytest.fixture(scope="module")
def installed(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new virtual environment that has the wheel, and for the rest borrows from ours."""
    folder = tmp_path_factory.mktemp("alone")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=60)
    python = folder / "bin/python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", built[0]], check=True, timeout=60)
    packages = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    # Of ours, what the library itself needs and no more. Our editable installs stay out with the rest.
    for name in LIBRARY_NEEDS:
        Path(packages, name).symlink_to(Path(get_path("purelib"), name))
    return folder / "bin"


def run(program: Path, *words: str, extra: bool = False) -> subprocess.CompletedProcess[str]:
    """With `extra`, our click and rich are there as well."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BULLION_", "PYTHON"))}
    path = {"PYTHONPATH": get_path("purelib")} if extra else {}
    return subprocess.run(
        [program, *words], env=kept | path, cwd="/", capture_output=True, text=True, timeout=60, check=False
    )


def metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as opened:
        return email.message_from_string(opened.read(f"{INFO}/METADATA").decode())


def test_the_wheel_has_the_client_and_nothing_else(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        names = set(wheel.namelist())
        licence = wheel.read(f"{INFO}/licenses/LICENSE")
    assert {name for name in names if not name.startswith(INFO)} == SOURCES
    assert {"bullion_client/py.typed", "bullion_client/cli/program.py"} <= names
    assert licence == (ROOT / "LICENSE").read_bytes()


def test_its_metadata_names_what_it_needs(built: tuple[Path, Path]) -> None:
    found = metadata(built[0])
    assert (found["Name"], found["Version"]) == ("bullion-client", __version__)
    needed = [requirement.split(";") for requirement in found.get_all("Requires-Dist", [])]
    assert [each[0] for each in needed if len(each) == 1] == ["httpx>=0.28"]
    extras = {each[0]: each[1].strip() for each in needed if len(each) == 2}
    assert extras == {"click>=8.1": "extra == 'cli'", "rich>=13.9": "extra == 'cli'"}
    assert found["License-Expression"] == "Apache-2.0"
    assert found.get_payload() == (CLIENT / "README.md").read_text("utf-8")


def test_the_source_archive_gives_the_same_wheel(built: tuple[Path, Path], tmp_path: Path) -> None:
    wheel, archive = built
    with tarfile.open(archive) as opened:
        assert all(member.isfile() for member in opened)
    project = unpack(archive, tmp_path / "unpacked")
    (again,) = build(project, tmp_path / "dist", "wheel")
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


def test_the_library_works_without_service_click_and_rich(installed: Path) -> None:
    looked = (
        "import sys, importlib.util as u, bullion_client as c; "
        "print(*map(u.find_spec, ('bullion', 'click', 'rich'))); "
        "print(c.Client('http://x.example', 'key_test.x').environment, c.__file__)"
    )
    done = run(installed / "python", "-W", "error", "-c", looked)
    assert done.returncode == 0, done.stderr
    *others, environment, place = done.stdout.split()
    assert (others, environment) == (["None"] * 3, "test")
    assert Path(place).is_relative_to(installed.parent)


def test_without_its_extra_the_command_line_says_what_to_install(installed: Path) -> None:
    done = run(installed / "bullion-client", "me")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'bullion-client[cli]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_with_its_extra_the_command_line_runs(installed: Path) -> None:
    done = run(installed / "bullion-client", "--version", extra=True)
    assert (done.returncode, done.stdout) == (0, f"bullion-client, version {__version__}\n")
    done = run(installed / "bullion-client", "me", extra=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "BULLION_BASE_URL is not set" in done.stderr
