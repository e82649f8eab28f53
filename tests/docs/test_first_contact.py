"""What a newcomer needs: where the programs come from, other ports, and what an answer looks like."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.docs.examples import examples
from tests.docs.markdown import PACKAGE_READMES, PAGES, ROOT, blocks, links, name_of, prose
from tests.support.command import environment
from tests.support.node import until
from tests.support.servers import free_port

README = ROOT / "README.md"
PYTHON_CLIENT = ROOT / "docs/python-client.md"
PROGRAMS = re.compile(r"(?m)(?:^|^[^#\n]* )bullion(?:-client)? [a-z]|^from bullion_client import")
PLACES = ("README.md#install", "python-client.md#install", "#install")
GUIDES = [page for page in PAGES if page.parent == ROOT / "docs"]
PORTS = "BULLION_PORT=9000 BULLION_DESK_PORT=9001 BULLION_CONSOLE_PORT=9002 make run"


def uses_programs(page: Path) -> bool:
    return any(PROGRAMS.search(block.text) for block in blocks(page))


@pytest.mark.parametrize("page", [page for page in GUIDES if uses_programs(page)], ids=name_of)
def test_a_page_that_uses_the_programs_says_how_to_get_them(page: Path) -> None:
    assert any(link.endswith(PLACES) for link in links(page)), f"{page} links to none of {PLACES}"


def test_the_pages_that_use_the_programs_are_found() -> None:
    found = {page.name for page in GUIDES if uses_programs(page)}
    assert found >= {"python-client.md", "desk.md", "handbook.md", "conformance.md", "trading-api.md"}


def test_make_install_installs_and_starts_nothing() -> None:
    make = shutil.which("make")
    assert make is not None
    done = subprocess.run(
        [make, "--no-print-directory", "--dry-run", "--always-make", "install"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--editable . --editable ./client" in done.stdout
    assert "bullion demo" not in done.stdout
    assert "`make install`" in prose(README)


@contextmanager
def make_run(folder: Path, settings: dict[str, str]) -> Iterator[None]:
    """`make run` in a folder that looks like a checkout whose environment is up to date."""
    (folder / "Makefile").symlink_to(ROOT / "Makefile")
    (folder / ".venv").symlink_to(sys.prefix)
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(
            ["/usr/bin/env", "make", "--old-file=.venv/.ok", "run"],
            cwd=folder,
            env=environment(**settings),
            stdout=out,
            stderr=out,
        )
    try:
        yield
    finally:
        process.terminate()  # make hands its process over to the demo.
        process.wait(timeout=30)


def test_the_ports_of_the_demo_can_be_moved_as_the_readme_shows(tmp_path: Path) -> None:
    assert PORTS in [line for block in blocks(README) for line in block.text.splitlines()]
    settings = dict(each.split("=") for each in PORTS.split() if "=" in each)
    ports = {name: str(free_port()) for name in settings}
    trading, desk, console = (f"http://127.0.0.1:{port}" for port in ports.values())
    with make_run(tmp_path, ports):
        until(lambda: "Ctrl+C stops the demo." in (tmp_path / "out").read_text("utf-8"), within_s=60)
        banner = (tmp_path / "out").read_text("utf-8")
        for address, path in ((trading, "/health/ready"), (desk, "/health/ready"), (console, "/login")):
            assert address in banner
            assert httpx.get(address + path, trust_env=False, timeout=20).status_code == httpx.codes.OK


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page) and page not in PACKAGE_READMES], ids=name_of
)
def test_json_that_is_shown_laid_out_is_so_or_the_page_says_why_not(page: Path) -> None:
    """The service answers on one line, and ends without a line break."""
    laid_out = [
        example.source
        for example in examples(page, "sh")
        if example.shown is not None
        and example.shown.language == "json"
        and len(example.shown.text.splitlines()) > 1
        and "curl" in example.source.text
        and "json.tool" not in example.source.text
    ]
    assert not laid_out or "python3 -m json.tool" in prose(page), [block.place for block in laid_out]
