"""The units of deploy/systemd: sandboxed, equal where they should be, and started by a real systemd."""

import configparser
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.util import cache_from_source
from pathlib import Path

import httpx
import pytest

from bullion import serve
from bullion.__main__ import main as command_line
from bullion.settings import _READERS, SECRET_FILES
from bullion.workers import worker_pool
from tests.docs.markdown import blocks
from tests.support.node import until
from tests.support.systemd import CannotRun, Systemd, running_systemd
from tools.release.distributions import ROOT, build
from tools.release.requirements import read_needs

PAGE = ROOT / "docs/deployment.md"
LOGS_PAGE = ROOT / "docs/logs-and-traces.md"
UNITS = ROOT / "deploy/systemd"
CHECKOUT = "/srv/checkout"
SERVICES = sorted(UNITS.glob("*.service"))
EXPOSURE_MAX = 2.5
OWN_LINES = re.compile(r"(?m)^(?:#.*|(?:StateDirectory(?:Mode)?|ReadWritePaths|RemoveIPC)=.*)\n")
SANDBOX = re.compile(r"# Sandbox\..*?(?=\n\n|\Z)", re.DOTALL)
NOTIFY_RELOAD_SINCE = 253


class Unit(configparser.RawConfigParser):
    """Keeps every value of a name that is given several times, one on a line."""

    def __init__(self, file: Path) -> None:
        super().__init__(strict=False, delimiters=("=",))
        self.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their letters
        found: dict[tuple[str, str], list[str]] = {}
        section = ""
        for line in file.read_text("utf-8").splitlines():
            if line.startswith("["):
                section = line.strip("[]")
            elif "=" in line and not line.startswith("#"):
                name, value = line.split("=", 1)
                found.setdefault((section, name), []).append(value)
        for (section, name), values in found.items():
            if not self.has_section(section):
                self.add_section(section)
            self.set(section, name, "\n".join(values))


@pytest.mark.parametrize("file", SERVICES, ids=lambda file: file.name)
def test_a_unit_exposes_little(file: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd-analyze here")
    done = subprocess.run(
        [analyze, "security", "--offline=true", "--no-pager", str(file)],
        capture_output=True,
        text=True,
        check=True,
    )
    (exposure,) = re.findall(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
    assert float(exposure) < EXPOSURE_MAX


def test_the_units_have_the_same_sandbox() -> None:
    """But for the folders that it writes to, and the shared memory of its user."""
    sandboxes = {file.name: SANDBOX.findall(file.read_text("utf-8")) for file in SERVICES}
    (expected,) = sandboxes["bullion.service"]
    for (found,) in sandboxes.values():
        assert OWN_LINES.sub("", found) == OWN_LINES.sub("", expected)


def test_a_unit_leaves_the_shared_memory_of_a_user_that_it_shares() -> None:
    """`RemoveIPC` deletes all shared memory of the unit's user. For `postgres` that is the server's."""
    for file in SERVICES:
        unit = Unit(file)["Service"]
        assert (unit["User"], unit["RemoveIPC"]) in (("bullion", "yes"), ("postgres", "no")), file.name


@pytest.mark.parametrize("file", sorted(UNITS.rglob("*.*f")) + SERVICES, ids=lambda file: file.name)
def test_the_settings_of_a_unit_exist_and_have_their_credential(file: Path) -> None:
    unit = Unit(file)["Service"]
    named = dict(re.findall(r"^(BULLION_\w+)=(.*)$", unit.get("Environment", ""), re.MULTILINE))
    assert set(named) <= set(_READERS) | set(SECRET_FILES)
    loaded = {line.partition(":")[0] for line in unit.get("LoadCredential", "").splitlines()}
    assert {value.removeprefix("%d/") for name, value in named.items() if name in SECRET_FILES} == loaded


def test_the_commands_of_the_units_exist() -> None:
    command = re.compile(r"/bin/(?:bullion|python -P -m bullion) (\w+)")
    used = {word for file in SERVICES for word in command.findall(file.read_text("utf-8"))}
    assert {"serve", "console", "backup", "books"} == used
    assert used <= set(command_line.commands)


def test_the_unit_gives_the_service_the_time_that_it_needs() -> None:
    unit = Unit(UNITS / "bullion.service")["Service"]
    assert unit["Type"] == "notify-reload"
    assert unit["KillMode"] == "mixed"
    assert int(unit["TimeoutStopSec"]) > worker_pool._GRACE_S + 5
    assert int(unit["TimeoutStartSec"]) > worker_pool._START_S
    assert int(unit["LimitNOFILE"]) == serve._OPEN_FILES


# --- Under a real systemd -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def systemd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Systemd]:
    folder = tmp_path_factory.mktemp("systemd")
    files = folder / "files"
    _copy_what_the_page_needs(files)
    _install_service(files / "opt/bullion", folder / "dist")
    try:
        with running_systemd(folder / "out", files) as started:
            yield started
    except CannotRun as reason:
        pytest.skip(f"no systemd can be run here: {reason}")


def test_the_service_starts_reloads_and_stops(systemd: Systemd) -> None:
    _run_page(systemd, "useradd ")
    if int(re.findall(r"\d+", _version())[0]) < NOTIFY_RELOAD_SINCE:
        _run_page(systemd, "install -D ")
    systemd.run("systemctl", "start", "systemd-journald.service")  # Nothing else starts it in the tests.
    _run_page(systemd, "systemctl daemon-reload")
    assert systemd.show("bullion.service", "ActiveState") == "active"
    api = _listening(systemd, "bullion", "api")
    main_process = systemd.show("bullion.service", "MainPID")
    assert httpx.get(f"{api}/health/ready").json()["ready"] is True
    assert httpx.get(f"{_listening(systemd, 'bullion', 'desk')}/metrics").status_code == 200
    store = Path("/var/lib/bullion/bullion.db")
    assert systemd.run("stat", "--format=%U %a", str(store)).stdout == "bullion 600\n"
    assert systemd.run("stat", "--format=%U %a", str(store.parent)).stdout == "bullion 700\n"

    systemd.run("systemctl", "reload", "bullion.service")
    until(lambda: '"restarted"' in _log(systemd, "bullion"), within_s=60)
    assert systemd.show("bullion.service", "ActiveState") == "active"
    assert systemd.show("bullion.service", "MainPID") == main_process
    assert httpx.get(f"{api}/health/ready").json()["ready"] is True

    console = _listening(systemd, "bullion-console", "console")
    assert httpx.get(f"{console}/health/live").status_code == 200

    _run_page(systemd, "systemctl kill ", LOGS_PAGE)
    until(lambda: '"log_level_changed"' in _log(systemd, "bullion"), within_s=20)
    _the_journal_has_the_levels(systemd, console)

    assert "ok   store: SQLite" in _run_page(systemd, "/usr/local/sbin/bullion doctor")

    systemd.run("systemctl", "stop", "bullion.service", "bullion-console.service")
    for unit in ("bullion.service", "bullion-console.service"):
        assert systemd.show(unit, "Result") == "success"
        assert systemd.show(unit, "NRestarts") == "0"
    secret = systemd.run("cat", "/etc/bullion/credentials/secret").stdout.strip()
    assert len(secret) > 32
    assert secret not in systemd.log() + _log(systemd, "bullion-console")


def _the_journal_has_the_levels(systemd: Systemd, console: str) -> None:
    """That of the console. The log of the service is a file, so its lines have no priority."""
    httpx.post(f"{console}/login", headers={"Origin": "http://elsewhere.example"})
    until(lambda: '"forged_request"' in _log(systemd, "bullion-console"), within_s=20)
    shown = systemd.run("journalctl", "--unit=bullion-console", "--output=json", "_COMM=bullion").stdout
    levels = {"info": "6", "warning": "4"}
    entries = [json.loads(line) for line in shown.splitlines()]
    found = {json.loads(entry["MESSAGE"])["level"]: entry["PRIORITY"] for entry in entries}
    assert found == levels
    assert all(line.startswith("{") for line in _log(systemd, "bullion").splitlines())
    _run_page(systemd, "journalctl ", LOGS_PAGE)


def _listening(systemd: Systemd, unit: str, what: str) -> str:
    found = re.findall(rf'"{what}": ?"(http[^"]+)"', _log(systemd, unit))
    assert found, _log(systemd, unit)
    return str(found[0])


def _log(systemd: Systemd, unit: str) -> str:
    if unit == "bullion-console":
        return systemd.run("journalctl", f"--unit={unit}", "--output=cat").stdout
    return (systemd.out / f"{unit}.log").read_text("utf-8")


def _copy_what_the_page_needs(files: Path) -> None:
    """The units at their place in a checkout, and free ports. The commands of the page do the rest."""
    shutil.copytree(UNITS, files / CHECKOUT[1:] / "deploy/systemd")
    (files / "etc/bullion").mkdir(parents=True)
    ports = ("BULLION_PORT", "BULLION_DESK_PORT", "BULLION_CONSOLE_PORT")
    (files / "etc/bullion/bullion.env").write_text("".join(f"{name}=0\n" for name in ports))
    drop_ins = files / "etc/systemd/system/bullion.service.d"
    drop_ins.mkdir(parents=True)
    (drop_ins / "test.conf").write_text("[Service]\nStandardError=file:/run/out/bullion.log\n")


def _run_page(systemd: Systemd, begins: str, page: Path = PAGE) -> str:
    """Run a block of the page, as root in the checkout."""
    (block,) = [each for each in blocks(page) if each.text.startswith(begins)]
    return systemd.run("sh", "-euc", f"cd {CHECKOUT}\n{block.text}").stdout


def _version() -> str:
    systemctl = shutil.which("systemctl")
    if systemctl is None:
        pytest.skip("no systemd can be run here: it is not installed")
    return subprocess.run([systemctl, "--version"], capture_output=True, text=True, check=True).stdout


def _install_service(folder: Path, dist: Path) -> None:
    """The built wheel and what it needs, as a virtual environment; its user can see no checkout."""
    (built,) = build(dist, "bullion")
    wheel = built.wheel
    packages = folder / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    packages.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(packages)
    for module in (packages / "bullion").rglob("*.py"):
        _add_compiled(ROOT / "src" / module.relative_to(packages), module)
    for package in read_needs(wheel).packages.values():
        for file in package.files or []:
            source = Path(str(package.locate_file(file)))
            if ".." not in file.parts and source.is_file():
                (packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, packages / file)  # With its time: compiled files stay valid.
    base = _python()
    (folder / "bin").mkdir()
    (folder / "bin/python").symlink_to(base)
    (folder / "pyvenv.cfg").write_text(f"home = {base.parent}\ninclude-system-site-packages = false\n")
    program = folder / "bin/bullion"
    program.write_text("#!/opt/bullion/bin/python\nfrom bullion.__main__ import main\n\nmain()\n")
    program.chmod(0o755)


def _add_compiled(source: Path, module: Path) -> None:
    """As `pip` would compile the module. Without this, each process that imports it compiles it anew."""
    assert source.read_bytes() == module.read_bytes()
    compiled = Path(cache_from_source(str(source)))
    if compiled.exists():
        shutil.copystat(source, module)  # With its time, by which the compiled file is valid.
        copied = Path(cache_from_source(str(module)))
        copied.parent.mkdir(exist_ok=True)
        shutil.copyfile(compiled, copied)


def _python() -> Path:
    """The interpreter under the tests' environment, or the machine's own: one that the sandbox can see."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for base in (Path(sys.base_prefix) / "bin" / name, Path("/usr/bin") / name):
        if base.exists() and not base.is_relative_to("/root") and base.parts[1] not in ("home", "tmp"):
            return base
    pytest.skip("no systemd can be run here: its sandbox hides the folder that Python is in")
