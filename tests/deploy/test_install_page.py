"""docs/install-debian.md: every command of the page is run, in its order, as root, under a real systemd.

The machine is a throw-away copy of this one with a loopback interface and no other network. The packages of
the page are installed already: `apt-get` finds them there, and `pip` finds the locked packages in the virtual
environment. With `TEST_SCALE` above 1, as in a campaign, they are removed first and then installed
from their usual sources. Not covered: the public certificate, the copy of the release by SSH, and a boot.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from tests.docs.blocks_not_run import APART
from tests.docs.examples import NOT_RUN, Example, examples, untrue
from tests.docs.markdown import ROOT, blocks
from tests.support.node import until
from tests.support.release import EXPAND, LEVEL
from tests.support.scale import SCALE
from tests.support.servers import NotInstalled, find, missing
from tests.support.systemd import CannotRun, Systemd, running_systemd
from tools.release.distributions import build

pytestmark = pytest.mark.one_worker("install-page")

PAGE = ROOT / "docs/install-debian.md"
REAL = SCALE > 1
PYTHON = Path("/usr/bin/python3")
OUTSIDE = ("apt-get ", "/bin/pip")
"""Commands that need a way out, when they really install."""
WANTED = ("systemd-journald.service", "dbus.service")
"""Always there on Debian, and not on a systemd that has nothing enabled."""
PACKAGES = (
    "pgbackrest",
    "postgresql*",
    "redis-server",
    "nginx*",
    "prometheus",
    "prometheus-node-exporter",
    "logrotate",
)
BLOCK_S = 1200 if REAL else 300
SHELL = ("HOME=/root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
FOR_PIP = tuple(f"{name}={value}" for name, value in os.environ.items() if name.startswith("PIP_"))
"""Where this machine's packages come from."""
EXAMPLES = examples(PAGE, "bash")
(LISTENING,) = [each.source.text for each in EXAMPLES if each.source.text.startswith("ss ")]
PRELUDE = """set -euo pipefail
[ ! -f /run/page ] || . /run/page
trap 'export -p > /run/page' EXIT
cd /root
"""


class Machine:
    def __init__(self, systemd: Systemd) -> None:
        self._systemd = systemd
        self.failed = ""
        """The block that failed, if one did."""

    def root(self, script: str, *, outside: bool = False) -> str:
        """The output of a script. `outside`: on the network of this machine, with its sources of packages."""
        command = ["env", "-i", *SHELL, *(FOR_PIP if outside else []), "bash", "-c", PRELUDE + script]
        return self._systemd.run(*command, outside=outside, timeout_s=BLOCK_S).stdout


def _text(name: str) -> str:
    (found,) = re.findall(rf"(?m)^export {name}=(\S+)$", PAGE.read_text("utf-8"))
    return str(found)


def test_the_version_is_that_of_this_release() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert _text("RELEASE") == project["version"]


def test_the_blocks_that_are_not_run_are_few_and_say_why() -> None:
    marked = [block.text for block in blocks(PAGE) if block.text.startswith(NOT_RUN)]
    assert [text.splitlines()[1].split()[0] for text in marked] == ["ssh", "apt-get"]
    assert "certbot certonly" in marked[1]
    listed = [row for row in APART if row.page == "docs/install-debian.md"]
    assert [row.run_by for row in listed] == ["", ""]
    assert all(any(text.startswith(row.begins) for text in marked) for row in listed)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    _require_programs()
    folder = tmp_path_factory.mktemp("install-page")
    files = folder / "files"
    releases = _releases(files, folder / "dist")
    if not REAL:
        for release in releases:
            _install_dependencies(files / f"opt/bullion-{release}")
    wants = files / "etc/systemd/system/tests.target.wants"
    wants.mkdir(parents=True)
    for unit in WANTED:
        (wants / unit).symlink_to(f"/lib/systemd/system/{unit}")
    try:
        with running_systemd(folder / "out", files, own_network=True) as started:
            machine = Machine(started)
            _empty(machine)
            yield machine
    except CannotRun as reason:
        pytest.skip(f"no systemd can be run here: {reason}")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.source.place.partition(":")[2])
def test_each_block_of_the_page(machine: Machine, example: Example) -> None:
    """In the order of the page. After a block that failed, the later ones are not run."""
    if machine.failed:
        pytest.skip(f"{machine.failed} failed")
    machine.failed = example.source.place
    if "/root/old/" in example.source.text:
        machine.root(OLD_STORE)
    output = run_as_root(machine, PAGE, example)
    assert not list(untrue(example, output)), output
    machine.failed = ""


def test_what_the_page_leaves_behind(machine: Machine) -> None:
    if machine.failed:
        pytest.skip(f"{machine.failed} failed")
    root = machine.root
    # Secrets are readable by root alone, and appear in no log and no unit.
    credentials = "/etc/bullion/credentials"
    assert root(f"stat --format='%a %U' {credentials}/* /etc/bullion") == "600 root\n" * 3 + "700 root\n"
    secrets = root(f"cat {credentials}/secret; sed -E 's/.*:(.*)@.*/\\1/' {credentials}/*-url").split()
    logged = root("journalctl --quiet; systemctl show 'bullion*.service'; cat /var/log/*/*.log")
    assert len(secrets) == 3
    assert '"listening"' in logged
    assert not [secret for secret in secrets if secret in logged]
    # The connection to PostgreSQL is encrypted, and cannot be made otherwise.
    encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)"
    encrypted += " WHERE usename = 'bullion_service'"
    assert root(f'runuser -u postgres -- psql -AtXc "{encrypted}"') == "t\n"
    plain = (
        f"psql -w \"$(sed 's/verify-full/disable/' {credentials}/database-url)\" -c 'SELECT 1' 2>&1 || true"
    )
    assert "no encryption" in root(plain)
    # An old TLS, a path outside of the API, and a call without TLS are refused.
    assert root("curl -sk --tls-max 1.1 https://127.0.0.1/ || echo $?") == "35\n"
    code = "curl --silent --insecure --output /dev/null --write-out '%{http_code}'"
    assert root(f"{code} https://127.0.0.1/metrics") == "404"
    assert root(f"{code} http://127.0.0.1/api/trading/test/v1/me") == "404"
    # From outside only nginx can be reached.
    assert root(f"{LISTENING}") == "0.0.0.0:443\n0.0.0.0:80\n"
    # Prometheus knows the state of units, which an alert is about.
    active = 'node_systemd_unit_state{name="bullion.service", state="active"} == 1'
    query = f"promtool query instant http://127.0.0.1:9090 '{active}'"
    until(lambda: "bullion.service" in root(query), within_s=60)
    # No unit failed on the way, and the moved store is the one that serves.
    assert root("systemctl list-units --failed --plain --no-legend") == ""
    assert "rajat" in root("bullion desk accounts list")


def run_as_root(machine: Machine, page: Path, example: Example) -> str:
    """Run a block in a shell of its own, with the variables that earlier blocks exported."""
    assert example in examples(page, "bash")
    outside = REAL and any(word in example.source.text for word in OUTSIDE)
    return machine.root(example.source.text, outside=outside)


OLD_STORE = """
mkdir -m 700 /root/old
cd /root/old
openssl rand -hex 32 > secret
export BULLION_DATABASE_URL=sqlite:////root/old/bullion.db BULLION_SECRET=$(cat secret)
/opt/bullion/bin/bullion migrate
/opt/bullion/bin/bullion desk groups put retail --file - <<'END'
{"default_terms": {"buy_premium": "150", "sell_premium": "-150"}}
END
/opt/bullion/bin/bullion desk accounts create rajat --group retail --gold 5
"""
"""A store on SQLite, as somebody had it before."""


# --- The machine ----------------------------------------------------------------------------------------


def _require_programs() -> None:
    for program in (
        "postgres",
        "redis-server",
        "nginx",
        "prometheus",
        "prometheus-node-exporter",
        "pgbackrest",
    ):
        try:
            find(program)
        except NotInstalled as error:
            missing(error, program)
    version = subprocess.run([PYTHON, "--version"], capture_output=True, text=True, check=False).stdout
    if ".".join(version.split()[1].split(".")[:2]) != ".".join(map(str, sys.version_info[:2])):
        pytest.skip("no systemd can be run here: the packages of the tests are for another Python")


def _empty(machine: Machine) -> None:
    """Remove what the use of this machine left: servers are as their packages install them."""
    if REAL:
        packages = " ".join(PACKAGES)
        machine.root(f"DEBIAN_FRONTEND=noninteractive apt-get purge --yes {packages}")
        machine.root("rm -rf /etc/postgresql /var/lib/postgresql /etc/redis /etc/nginx /etc/prometheus")
        return
    machine.root("""
    rm -rf /etc/apt/sources.list.d/* /var/lib/apt/lists/*  # So that apt-get wants no newer version.
    : > /etc/apt/sources.list
    cd /var/lib
    rm -rf /etc/postgresql/* postgresql/* redis/* prometheus/metrics2 pgbackrest/*
    version=$(ls /usr/lib/postgresql | sort --numeric-sort | tail --lines=1)
    pg_createcluster "$version" main
    systemctl daemon-reload
    """)


def _releases(files: Path, dist: Path) -> list[str]:
    """Put this release and the next one into the folders that the page names."""
    (built,) = build(dist, "bullion")
    now, new = _text("RELEASE"), _text("NEW")
    for release in (now, new):
        source = files / f"root/bullion-{release}"
        (source / "dist").mkdir(parents=True)
        shutil.copytree(ROOT / "deploy", source / "deploy")
        shutil.copy(ROOT / "requirements.txt", source)
        wheel = source / "dist" / built.wheel.name.replace(now, release)
        if release == now:
            shutil.copy(built.wheel, wheel)
        else:
            _make_next(built.wheel, wheel, now, new)
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        (source / "dist/SHA256SUMS").write_text(f"{digest}  {wheel.name}\n")
    return [now, new]


def _make_next(wheel: Path, into: Path, now: str, new: str) -> None:
    """The same code as a later version, with one more migration step."""
    with zipfile.ZipFile(wheel) as opened:
        contents = {
            name.replace(f"bullion-{now}.dist-info", f"bullion-{new}.dist-info"): opened.read(name)
            for name in opened.namelist()
        }
    described = f"bullion-{new}.dist-info/METADATA"
    contents[described] = contents[described].replace(
        f"\nVersion: {now}\n".encode(), f"\nVersion: {new}\n".encode()
    )
    code = "bullion/__init__.py"
    contents[code] = contents[code].replace(f'"{now}"'.encode(), f'"{new}"'.encode())
    contents[f"bullion/store/migrations/{LEVEL + 1:04}_note.sql"] = EXPAND.encode()
    record = f"bullion-{new}.dist-info/RECORD"
    del contents[record]
    lines = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in contents.items()]
    contents[record] = "".join([*lines, f"{record},,\n"]).encode()
    with zipfile.ZipFile(into, "w") as written:
        for name, data in contents.items():
            written.writestr(name, data)


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _install_dependencies(environment: Path) -> None:
    """The locked packages, from the environment of the tests: `pip` finds them there and fetches nothing."""
    packages = environment / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    names = re.findall(r"(?m)^([\w.-]+)==", (ROOT / "requirements.txt").read_text("utf-8"))
    for name in names:
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # Another system's or another Python's.
        for file in found.files or []:
            source = Path(str(found.locate_file(file)))
            if ".." not in file.parts and source.is_file():
                (packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, packages / file)  # With its time: compiled files stay valid.
