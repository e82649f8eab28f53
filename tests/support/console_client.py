"""An HTTP client of the console: quicker than a browser, and for requests that no browser would send."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from html.parser import HTMLParser
from typing import Any

import httpx

from .console import ConsoleProcess, session_of
from .desk import Office


def text_of(html: str) -> str:
    """What a person reads, with ordinary spaces."""
    plain = unescape(re.sub(r"<[^>]*>", " ", html)).replace("\N{NO-BREAK SPACE}", " ")
    return re.sub(r"\s+", " ", plain)


@dataclass(frozen=True)
class Button:
    """A button in the HTML of a page, as assistive technology has it."""

    name: str
    disabled: bool
    description: str


def buttons_of(html: str) -> list[Button]:
    """Every button, with the text that `aria-describedby` leads to."""
    reader = _ButtonReader()
    reader.feed(html)
    return [
        Button(
            each.get("aria-label") or reader.texts[number].strip(),
            "disabled" in each or each.get("aria-disabled") == "true",
            " ".join(reader.by_id.get(name, "") for name in (each.get("aria-describedby") or "").split()),
        )
        for number, each in enumerate(reader.buttons)
    ]


class _ButtonReader(HTMLParser):
    """Gathers buttons, their texts, and the text of every element with an id."""

    def __init__(self) -> None:
        super().__init__()
        self.buttons: list[dict[str, str | None]] = []
        self.texts: list[str] = []
        self.by_id: dict[str, str] = {}
        self._open: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "button":
            self.buttons.append(given)
            self.texts.append("")
        if tag not in _VOID:
            self._open.append((tag, given.get("id")))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        for tag, name in self._open:
            if tag == "button":
                self.texts[-1] += data
            if name:
                self.by_id[name] = self.by_id.get(name, "") + data


_VOID = {"br", "hr", "img", "input", "link", "meta"}


@dataclass
class ConsoleClient:
    """A session that is logged in and sends what the browser would send."""

    console: ConsoleProcess
    client: httpx.Client
    csrf: str

    def see(self, path: str) -> str:
        """The content of a page, as soon as it shows no error.

        The page of a refusal is there after a second. On a busy machine a check of the service may come too
        late, and the banner about it goes by itself.
        """
        give_up_at = time.monotonic() + 20
        while (parts := self._parts(path))["banner"] or 'class="empty trouble"' in parts["main"]:
            assert time.monotonic() < give_up_at, parts["banner"] + parts["main"]
            time.sleep(0.2)
        return parts["main"]

    def _parts(self, path: str) -> dict[str, str]:
        answer = self.client.get(f"/live/{path}")
        assert answer.status_code == 200, answer.text
        parts: dict[str, str] = answer.json()["parts"]
        return parts

    def ask(self, action: str) -> dict[str, str]:
        """The fields of a dialog, with their values."""
        answer = self.client.get(f"/dialogs/{action}")
        assert answer.status_code == 200, answer.text
        return self.fields(answer.json()["contents"])

    def fields(self, contents: str) -> dict[str, str]:
        """The fields in the HTML of a dialog, with their values."""
        tags = re.findall(r"<input [^>]*>", contents)
        named = [(re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)) for tag in tags]
        fields = {name[1]: value[1] if value else "" for name, value in named if name}
        for select, options in re.findall(r'<select name="([^"]*)">(.*?)</select>', contents):
            chosen = re.search(r'value="([^"]*)" selected', options)
            fields[select] = chosen[1] if chosen else ""
        return fields

    def do(self, action: str, **typed: str) -> dict[str, Any]:
        answer = self.send(action, {**self.ask(action), **typed})
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def send(self, action: str, fields: Mapping[str, str]) -> httpx.Response:
        """Submit exactly these fields."""
        return self._post(f"/actions/{action}", {**fields, "csrf": self.csrf})

    def mistyped(self, action: str, **typed: str) -> dict[str, str]:
        """The errors beside the fields of a form that is refused."""
        answer = self.send(action, {**self.ask(action), **typed})
        assert answer.status_code == 422, answer.text
        troubles: dict[str, str] = answer.json()["fields"]
        return troubles

    def preview(self, action: str, **typed: str) -> str:
        answer = self._post(f"/previews/{action}", {**self.ask(action), **typed, "csrf": self.csrf})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["contents"])

    def _post(self, path: str, fields: dict[str, str]) -> httpx.Response:
        return self.client.post(path, data=fields, headers={"Origin": self.console.url})


@contextmanager
def console_client(
    console: ConsoleProcess, office: Office, token: str | None = None
) -> Iterator[ConsoleClient]:
    """For the office's admin, or whoever holds the token."""
    with session_of(console, token or office.admin_token["token"]) as (client, csrf):
        yield ConsoleClient(console, client, csrf)
