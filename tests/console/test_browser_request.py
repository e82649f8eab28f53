"""What the console reads of a request before it knows who sent it."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from bullion.console.app import Console
from bullion.console.browser_request import BrowserRequest, _pairs
from bullion.refusals.refusal import RefusalError
from tests.support.growth import assert_linear

Headers = Sequence[tuple[bytes, bytes]]


def call(path: str = "/overview", query: bytes = b"", headers: Headers = ()) -> BrowserRequest:
    scope = {
        "method": "GET",
        "path": path,
        "raw_path": path.encode("latin-1"),
        "query_string": query,
        "headers": [(b"host", b"desk.example"), *headers],
    }
    return BrowserRequest.of(scope)


def with_cookies(text: bytes) -> BrowserRequest:
    return call(headers=[(b"cookie", text)])


@pytest.mark.parametrize(
    ("sent", "session"),
    [
        (b"bullion_console=a.b", "a.b"),
        (b"other=1; bullion_console=a.b; bullion_theme=dark", "a.b"),
        (b"other=1;bullion_console=a.b", "a.b"),
        (b" bullion_console = a.b ", "a.b"),
        (b"bullion_console=a=b", "a=b"),
        (b"bullion_console=", ""),
        # What another application on this host keeps is no cookie of RFC 6265, and none of our business.
        (b'prefs={"a": [1]}; bullion_console=a.b', "a.b"),
        (b"no-value; bullion_console=a.b", "a.b"),
        (b"bullion_console", None),
        (b"xbullion_console=a.b", None),
        (b"BULLION_CONSOLE=a.b", None),
        (b"__Host-bullion_console=a.b", None),
        (b";;;", None),
        (b"", None),
    ],
)
def test_the_session_cookie_is_found_among_others(sent: bytes, session: str | None) -> None:
    assert with_cookies(sent).session_cookie("bullion_console") == session


def test_behind_tls_only_the_cookie_for_tls_counts() -> None:
    cookies = (b"cookie", b"bullion_console=plain; __Host-bullion_console=tls")
    assert (
        call(headers=[cookies, (b"x-forwarded-proto", b"https")]).session_cookie("bullion_console") == "tls"
    )


def test_the_theme_is_a_cookie() -> None:
    assert with_cookies(b"bullion_theme=dark").theme == "dark"
    assert with_cookies(b"").theme == "auto"


@pytest.mark.parametrize(
    ("start", "end"), [(b'bullion_console="', b'"'), (b'a="', b'"'), (b"", b"")], ids=repr
)
@pytest.mark.parametrize("unit", [b"\\\\", b'"', b";", b"=", b"a=b;", b" ", b"\\0", b"\xe9"], ids=repr)
def test_the_time_to_read_cookies_grows_with_their_length_alone(
    start: bytes, end: bytes, unit: bytes
) -> None:
    assert_linear(lambda size: lambda: with_cookies(start + unit * (size // len(unit)) + end), 2048)


@pytest.mark.parametrize(
    "unit", [b"%41", b"%", b"%ff", b"&", b"=", b"+", b"a&", b"a=b&", b";", b"/", b"\xff"], ids=repr
)
def test_the_time_to_read_an_address_grows_with_its_length_alone(unit: bytes) -> None:
    def prepare(size: int) -> Callable[[], object]:
        text = unit * (size // len(unit))

        def read() -> None:
            call("/" + text.decode("latin-1"))
            with suppress(RefusalError):
                call(query=text)

        return read

    assert_linear(prepare, 2048)


@pytest.mark.parametrize(
    "unit", [b"http://", b"[", b"]", b"/", b":", b"@", b"%", b"\xe9", b" ", b"#?"], ids=repr
)
def test_the_time_to_judge_an_origin_grows_with_its_length_alone(unit: bytes) -> None:
    def prepare(size: int) -> Callable[[], object]:
        origin = b"http://" + unit * (size // len(unit))
        asked = call(headers=[(b"origin", origin)])
        return lambda: asked.sent_by_console

    assert_linear(prepare, 2048)


@pytest.mark.parametrize("unit", ["%41", "%", "%ff", "&", "=", "+", "a&", "a=b&", ";", "x"], ids=repr)
def test_the_time_to_read_a_form_grows_with_its_length_alone(unit: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        text = "csrf=" + unit * (size // len(unit))

        def read() -> None:
            with suppress(RefusalError):
                _pairs(text)

        return read

    assert_linear(prepare, 8 * 1024)


@pytest.mark.parametrize(
    ("path", "kind"), [("/overview", "text/html; charset=utf-8"), ("/live/overview", "application/json")]
)
def test_what_nobody_thought_of_is_told_without_its_inside(path: str, kind: str) -> None:
    broken: Any = SimpleNamespace(session=lambda _request: 1 / 0)
    nothing: Any = None
    console = Console(nothing, broken, nothing, nothing, ())
    headers = [(b"host", b"desk.example")]
    scope = {
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
    }
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(console(scope, nothing, send))
    start, body = sent
    assert (start["status"], dict(start["headers"])[b"content-type"]) == (500, kind.encode())
    assert b"ZeroDivision" not in body["body"]
