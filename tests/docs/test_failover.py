"""The page about failover: its settings are read, and its configurations are taken by their programs.

Those of Patroni and Redis Sentinel are run by tests/support/patroni.py and tests/support/sentinels.py.
"""

import subprocess
from pathlib import Path

import pytest

from bullion.settings import Settings, read_settings
from bullion.store import postgres_hosts, postgres_stalls
from tests.docs.markdown import ROOT
from tests.support.servers import NotInstalled, find, missing
from tests.support.shown import shown

PAGE = ROOT / "docs/failover.md"


def test_the_settings_it_shows_are_read(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(shown(PAGE, "# .env"), "utf-8")
    assert read_settings({}, file) != Settings()


def test_haproxy_takes_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "haproxy.cfg"
    file.write_text(shown(PAGE, "listen bullion_postgres") + "\n", "utf-8")
    try:
        done = subprocess.run([find("haproxy"), "-c", "-f", str(file)], capture_output=True, text=True)
    except NotInstalled as error:
        missing(error, "haproxy")
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr


@pytest.mark.parametrize(
    ("step", "time_s"),
    [
        ("a connection in use is suspected to be silent", postgres_stalls.SUSPECT_S),
        ("silent connections to the same server", postgres_stalls._LOOKS * postgres_stalls.LOOK_EVERY_S),
    ],
)
def test_the_times_are_those_of_the_code(step: str, time_s: float) -> None:
    (row,) = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith(f"| {step}")]
    assert f"| {time_s:g} s" in row
    assert postgres_hosts._AGAIN_S == 1, "the page says: every second"
