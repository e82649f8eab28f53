"""A browser for tests and pictures: the machine's own Chromium, without a window, bound to this machine."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from .servers import NotInstalled, find, missing

_PACKAGE = "chromium-headless-shell"
"""The engine without the user interface of a browser: a page takes a third of the processor time."""
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-software-rasterizer",  # A page is drawn without an emulated graphics card.
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--renderer-process-limit=1",  # A page that is left keeps its process for the next one.
    "--js-flags=--no-opt",  # No test runs a script for so long that optimised code would pay.
]

# A page may take long on a busy machine. A test that fails waits for it in vain.
expect.set_options(timeout=20_000)


def _program() -> str:
    try:
        return find(_PACKAGE)
    except NotInstalled:
        return find("chromium")


@contextmanager
def chromium() -> Iterator[Browser]:
    """May raise NotInstalled."""
    program = _program()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium_or_skip() as browser:
        yield browser


@contextmanager
def chromium_or_skip() -> Iterator[Browser]:
    try:
        _program()
    except NotInstalled as error:
        missing(error, _PACKAGE)
    with chromium() as browser:
        yield browser
