"""A real `bullion console` process on a free loopback port, and somebody in front of it with a browser."""

import contextlib
import json
import re
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import Browser, ConsoleMessage, Page

from .command import environment
from .forked_process import Process, serving
from .loopback_transport import LoopbackTransport
from .node import own_address, until

_ON_LOOPBACK = "127.0.0.1"


@dataclass
class ConsoleProcess:
    process: Process
    log: list[str]
    url: str

    def entries(self, event: str) -> list[dict[str, Any]]:
        return [entry for entry in map(_entry, list(self.log)) if entry.get("event") == event]


@contextlib.contextmanager
def running_console(folder: Path, **settings: str) -> Iterator[ConsoleProcess]:
    """Start it, wait until it listens, and stop it again whatever happens.

    It believes what its callers say of their addresses, so that the throttles of tests do not mix.
    """
    given = environment(**{"BULLION_CONSOLE_PORT": "0", "BULLION_TRUSTED_PROXIES": _ON_LOOPBACK} | settings)
    process, stream = serving("bullion", folder, given, "console")
    log: list[str] = []
    reader = threading.Thread(target=log.extend, args=(stream,), daemon=True)
    reader.start()
    console = ConsoleProcess(process, log, "")
    try:
        until(lambda: console.entries("listening") or process.poll() is not None, within_s=30)
        assert process.poll() is None, "".join(log)
        console.url = console.entries("listening")[0]["console"]
        yield console
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
        reader.join(timeout=5)
        stream.close()


def _entry(line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


def session_cookie(client: httpx.Client) -> tuple[str, str]:
    """The name and value of the cookie of the console's session. Each deployment has a name of its own."""
    ((name, value),) = [each for each in client.cookies.items() if each[0].startswith("bullion_console_")]
    return name, value


@contextlib.contextmanager
def session_of(console: ConsoleProcess, token: str) -> Iterator[tuple[httpx.Client, str]]:
    """Somebody logged in without a browser, and the token of their forms."""
    headers = {"X-Forwarded-For": own_address()}
    transport = LoopbackTransport()
    with httpx.Client(base_url=console.url, headers=headers, transport=transport, timeout=20) as client:
        answer = client.post("/login", data={"token": token}, headers={"Origin": console.url})
        assert answer.status_code == 303
        found = re.search(r'name="csrf" value="([^"]+)"', client.get("/overview").text)
        assert found is not None
        yield client, found[1]


@dataclass
class Visitor:
    """Somebody with a browser of their own at the console. What goes wrong in it fails the test later."""

    page: Page
    console: ConsoleProcess
    troubles: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    _expected: list[str] = field(default_factory=list)

    def expect_trouble(self, pattern: str) -> None:
        """The test provokes this, and the browser will say so in its own words."""
        self._expected.append(pattern)

    def log_in(self, token: str) -> None:
        self.page.goto(f"{self.console.url}/login")
        self.page.get_by_label("Desk token").fill(token)
        self.page.get_by_role("button", name="Log in").click()

    def open(self, token: str, page: str = "overview") -> Page:
        """See a page as somebody who is logged in: two pages less to draw than with `log_in`."""
        url = self.console.url
        answer = self.page.context.request.post(
            f"{url}/login", form={"token": token}, headers={"Origin": url}, max_redirects=0
        )
        assert answer.status == 303, answer.text()
        self.page.goto(f"{url}/{page}")
        return self.page

    def confirm(self, button: str, confirm: str | None = None) -> None:
        """Press a button that asks first, and say yes."""
        self.page.get_by_role("button", name=button, exact=True).click()
        dialog = self.page.get_by_role("dialog")
        dialog.get_by_role("button", name=confirm or button, exact=True).click()

    def from_menu(self, role: Literal["button", "link"], name: str) -> None:
        """Press something in the user's menu."""
        self.page.locator(".who summary").click()
        self.page.locator(".who").get_by_role(role, name=name).click()

    def hear(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self.troubles.append(said.text)

    def check(self) -> None:
        unexpected = [
            each for each in self.troubles if not any(re.search(pattern, each) for pattern in self._expected)
        ]
        assert unexpected == []
        assert self.hosts <= {_ON_LOOPBACK}


@contextlib.contextmanager
def visitor(browser: Browser, console: ConsoleProcess, **options: Any) -> Iterator[Visitor]:
    """With an address of their own, as the throttle sees it."""
    headers = {"X-Forwarded-For": own_address()}
    context = browser.new_context(extra_http_headers=headers, **options)
    try:
        someone = Visitor(context.new_page(), console)
        page = someone.page
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: someone.troubles.append(str(error)))
        page.on("console", someone.hear)
        page.on("request", lambda request: someone.hosts.add(urlsplit(request.url).hostname or ""))
        yield someone
        someone.check()
    finally:
        context.close()
