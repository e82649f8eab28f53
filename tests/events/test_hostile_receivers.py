"""Receivers that try to keep the service busy, or to lead it to the inside of the broker's network."""

import asyncio
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from bullion.events import webhook_call, webhook_http
from bullion.events.webhook import RESPONSE_BYTES_KEPT
from bullion.events.webhook_address import Address
from bullion.events.webhook_call import LookUpsBusy, NameLookups, WebhookCalls
from tests.support.receiver import Received, answer, certificate, receiving
from tests.support.servers import find

pytestmark = pytest.mark.anyio

PUBLIC, INSIDE = "127.0.0.2", "127.0.0.1"
"""In these tests: an address of the internet, and one of the broker's network."""
HEADERS = {"webhook-id": "evt_1"}
SOON_S = 0.3


def names(*looks: Sequence[str]) -> Callable[[str, int], object]:
    """A name that has other addresses at each look."""
    left = [*looks]

    async def resolve(_host: str, _port: int) -> list[Address]:
        return [ip_address(each) for each in left.pop(0)]

    return resolve


def calls(*looks: Sequence[str], tls: ssl.SSLContext | None = None) -> WebhookCalls:
    return WebhookCalls(
        resolve=names(*looks),  # type: ignore[arg-type]
        is_allowed=lambda address: str(address) == PUBLIC,
        tls=tls,
    )


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_call, "CALL_S", SOON_S)
    monkeypatch.setattr(webhook_http, "_BODY_S", SOON_S / 3)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_delivery(tmp_path: Path, version: ssl.TLSVersion) -> None:
    server, trusted = certificate(tmp_path, "hooks.example.com")
    server.minimum_version = server.maximum_version = version
    async with receiving(answer(204, b"thanks"), address=PUBLIC, tls=server) as receiver:
        tls = ssl.create_default_context(cafile=str(trusted))
        url = f"https://hooks.example.com:{receiver.port}/hook?a=b"
        receipt = await calls([PUBLIC], tls=tls).post(url, HEADERS, b"{}")
        assert (receipt.status, receipt.error) == (204, None)
        (sent,) = receiver.received
        assert sent.headers[":request"] == "POST /hook?a=b HTTP/1.1"
        assert sent.headers["host"] == f"hooks.example.com:{receiver.port}"
        assert (sent.headers["webhook-id"], sent.body) == ("evt_1", b"{}")


@pytest.mark.parametrize("trusts", [True, False])
async def test_a_certificate_that_is_not_valid(tmp_path: Path, trusts: bool) -> None:
    """Made for another name, or by nobody that we know."""
    server, made = certificate(tmp_path, "other.example.com")
    tls = ssl.create_default_context(cafile=str(made)) if trusts else ssl.create_default_context()
    async with receiving(address=PUBLIC, tls=server) as receiver:
        name = "hooks.example.com" if trusts else "other.example.com"
        receipt = await calls([PUBLIC], tls=tls).post(f"https://{name}:{receiver.port}/", HEADERS, b"{}")
        assert receipt.status is None
        assert receipt.error is not None
        assert "certificate" in receipt.error
        assert receiver.received == []


@contextmanager
def tls_server(folder: Path, *options: str) -> Iterator[tuple[int, ssl.SSLContext]]:
    """A server of OpenSSL with these options that never answers: its port, and a context that trusts it."""
    openssl, key, made = find("openssl"), str(folder / "rsa.key"), str(folder / "rsa.crt")
    request = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=hooks.example.com"]
    request += ["-addext", "subjectAltName=DNS:hooks.example.com", "-keyout", key, "-out", made]
    subprocess.run(request, check=True, capture_output=True)
    command = [openssl, "s_server", "-accept", "127.0.0.2:0", "-cert", made, "-key", key, *options]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            port = next(line.rpartition(":")[2] for line in process.stdout if line.startswith("ACCEPT"))
            yield int(port), ssl.create_default_context(cafile=made)
        finally:
            process.kill()


@pytest.mark.parametrize(
    "options",
    [("-tls1_2", "-cipher", "DHE"), ("-tls1_3", "-groups", "ffdhe2048")],
)
async def test_a_key_exchange_that_would_keep_the_event_loop_busy_is_refused(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    """In a finite field. The groups here are small; with larger ones a handshake takes a second."""
    with tls_server(tmp_path, *options) as (port, tls):
        receipt = await calls([PUBLIC], tls=tls).post(f"https://hooks.example.com:{port}/", HEADERS, b"{}")
        assert receipt.error == "No TLS connection could be made."


async def test_a_name_with_very_many_addresses_is_refused_unchecked() -> None:
    checked: list[Address] = []

    def is_allowed(address: Address) -> bool:
        checked.append(address)
        return False

    for many, error in ((64, "leads to a private"), (65, "has more than 64 addresses")):
        found = [f"10.0.0.{each}" for each in range(many)]
        client = WebhookCalls(resolve=names(found), is_allowed=is_allowed)  # type: ignore[arg-type]
        receipt = await client.post("https://hooks.example.com/", HEADERS, b"{}")
        assert receipt.error is not None
        assert error in receipt.error
    assert len(checked) == 1


async def test_a_name_that_leads_inside_on_the_second_look(tmp_path: Path) -> None:
    server, trusted = certificate(tmp_path, "hooks.example.com")
    tls = ssl.create_default_context(cafile=str(trusted))
    async with receiving(address=PUBLIC, tls=server) as receiver:
        client = calls([PUBLIC], [INSIDE], tls=tls)
        url = f"https://hooks.example.com:{receiver.port}/"
        # One look for each call, and the connection goes to what was checked.
        assert (await client.post(url, HEADERS, b"{}")).delivered
        assert len(receiver.received) == 1
        refused = await client.post(url, HEADERS, b"{}")
        assert refused.error == "The host name leads to a private, local or reserved address."
        assert receiver.connections == 1


@pytest.mark.parametrize(
    "found", [[INSIDE], [PUBLIC, INSIDE], ["::1"], ["::ffff:127.0.0.1"], ["169.254.169.254"]]
)
async def test_nothing_is_sent_to_a_name_that_has_an_address_inside(found: list[str]) -> None:
    async with receiving(address=INSIDE) as inside:
        url = f"https://hooks.example.com:{inside.port}/"
        receipt = await calls(found).post(url, HEADERS, b"{}")
        assert receipt.error == "The host name leads to a private, local or reserved address."
        assert inside.connections == 0


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "https://127.0.0.1:{port}/",
        "https://[::ffff:127.0.0.1]:{port}/",
        "https://localhost:{port}/",
    ],
)
async def test_nothing_is_sent_to_an_address_inside(url: str) -> None:
    """Also if such a webhook was stored while the deployment allowed it."""
    async with receiving(address=INSIDE) as inside:
        receipt = await WebhookCalls().post(url.format(port=inside.port), HEADERS, b"{}")
        assert receipt.error is not None
        assert (receipt.status, inside.connections) == (None, 0)


async def test_nothing_is_sent_to_this_machine_by_an_address_that_looks_public(tmp_path: Path) -> None:
    server, trusted = certificate(tmp_path, "hooks.example.com")
    tls = ssl.create_default_context(cafile=str(trusted))
    async with receiving(address=INSIDE, tls=server) as receiver:
        url = f"https://hooks.example.com:{receiver.port}/"
        own = WebhookCalls(resolve=names([INSIDE]), is_allowed=lambda _: True, tls=tls)  # type: ignore[arg-type]
        receipt = await own.post(url, HEADERS, b"{}")
        assert receipt.error == "The host name leads to a machine of the service."
        assert receiver.received == []


async def test_redirects_are_not_followed() -> None:
    async with receiving(address=INSIDE) as inside:
        async with receiving(answer(307, b"", f"location: {inside.url}")) as receiver:
            receipt = await WebhookCalls(allow_private=True).post(receiver.url, HEADERS, b"{}")
        assert (receipt.status, receipt.delivered) == (307, False)
        assert receipt.error == (
            "The receiver answered 307. Redirects are not followed: enter the final URL."
        )
        assert inside.connections == 0


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with receiving() as proxy, receiving() as receiver:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert (await WebhookCalls(allow_private=True).post(receiver.url, HEADERS, b"{}")).delivered
        assert (proxy.connections, len(receiver.received)) == (0, 1)


async def silent(_request: Received, _writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def dripping(_request: Received, writer: asyncio.StreamWriter) -> None:
    """A head that never ends."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"x-more: 1\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


async def announcing(_request: Received, writer: asyncio.StreamWriter) -> None:
    """Provisional responses without end."""
    while True:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
        await writer.drain()


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("behave", [silent, dripping])
async def test_an_answer_that_never_comes(behave: Callable[..., object]) -> None:
    async with receiving(behave) as receiver:  # type: ignore[arg-type]
        began = monotonic()
        receipt = await WebhookCalls(allow_private=True).post(receiver.url, HEADERS, b"{}")
        assert not receipt.delivered
        assert receipt.status is None
        assert monotonic() - began < 10 * SOON_S


async def huge(_request: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"a" * 65_536)
        await writer.drain()


async def endless_head(_request: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nx: ")
    while True:
        writer.write(b"a" * 65_536)
        await writer.drain()


async def provisional(_request: Received, writer: asyncio.StreamWriter) -> None:
    """Two provisional responses, then one in chunks that come apart."""
    writer.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 20")
    await writer.drain()
    await asyncio.sleep(0.01)
    writer.write(b"0 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nfi\r\n")
    await writer.drain()
    await asyncio.sleep(0.01)
    writer.write(b"2\r\nne\r\n0\r\n\r\n")
    await writer.drain()


async def switching(_request: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nrest")
    await writer.drain()


async def test_other_protocols_are_not_spoken() -> None:
    async with receiving(switching) as receiver:
        receipt = await WebhookCalls(allow_private=True).post(receiver.url, HEADERS, b"{}")
        assert (receipt.status, receipt.error) == (101, "The receiver answered 101.")


async def test_a_url_is_sent_as_one_line() -> None:
    async with receiving() as receiver:
        url = f'http://127.0.0.1:{receiver.port}/a%20b/{{c}}?d="e|f&g=%0D%0A'
        assert (await WebhookCalls(allow_private=True).post(url, HEADERS, b"{}")).delivered
        (sent,) = receiver.received
        assert sent.headers[":request"] == "POST /a%20b/%7Bc%7D?d=%22e%7Cf&g=%0D%0A HTTP/1.1"


async def zipped(_request: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x8b\x08\x00")
    await writer.drain()


async def staying(_request: Received, writer: asyncio.StreamWriter) -> None:
    """Answers, and never closes."""
    writer.write(b"HTTP/1.1 200 OK\r\n\r\nfine")
    await writer.drain()
    await asyncio.Event().wait()


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(
    ("behave", "response"),
    [(huge, "a" * RESPONSE_BYTES_KEPT), (staying, "fine"), (provisional, "fine"), (zipped, "\ufffd")],
)
async def test_of_an_answer_only_the_beginning_is_read(behave: Callable[..., object], response: str) -> None:
    async with receiving(behave) as receiver:  # type: ignore[arg-type]
        receipt = await WebhookCalls(allow_private=True).post(receiver.url, HEADERS, b"{}")
        assert (receipt.status, receipt.delivered) == (200, True)
        assert response in receipt.response
        assert len(receipt.response) <= RESPONSE_BYTES_KEPT


async def closing(_request: Received, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def babbling(_request: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(b"\x00\x01 no HTTP at all \r\n\r\n")
    await writer.drain()


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(
    ("behave", "error"),
    [
        (endless_head, "The answer is too long before it says anything."),
        (announcing, "The answer is too long before it says anything."),
        (closing, "The connection ended before an answer came."),
        (babbling, "The answer is not valid HTTP."),
    ],
)
async def test_what_is_no_answer_is_a_failure(behave: Callable[..., object], error: str) -> None:
    async with receiving(behave) as receiver:  # type: ignore[arg-type]
        receipt = await WebhookCalls(allow_private=True).post(receiver.url, HEADERS, b"{}")
        assert receipt.status is None
        assert receipt.error == error


async def test_nobody_there() -> None:
    async with receiving() as receiver:
        url = receiver.url
    receipt = await WebhookCalls(allow_private=True).post(url, HEADERS, b"{}")
    assert receipt.error == "No connection could be made."


@pytest.mark.usefixtures("soon")
async def test_names_that_take_for_ever_do_not_keep_others_waiting_for_ever() -> None:
    async def never(_host: str, _port: int) -> list[Address]:
        await asyncio.Event().wait()
        return []

    receipt = await WebhookCalls(resolve=never).post("https://slow.example.com/", HEADERS, b"{}")
    assert (receipt.status, receipt.delivered) == (None, False)


async def test_names_are_looked_up_once_each() -> None:
    lookups = NameLookups()
    assert ip_address("127.0.0.1") in await (await lookups.begin("localhost", 443, 1))
    too_long = await lookups.begin("a" * 64 + ".example.com", 443, 1)  # Nobody is asked.
    with pytest.raises(OSError, match=r".+"):
        await too_long


@pytest.fixture
def silent_names(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[list[str], threading.Event]]:
    """Names whose servers are silent until the event: those that were asked for."""
    asked, answer_now = list[str](), threading.Event()

    def silent_server(host: str, *_: object, **__: object) -> list[Any]:
        asked.append(host)
        answer_now.wait(20)
        return [(0, 0, 0, "", ("127.0.0.1", 443))]

    monkeypatch.setattr(socket, "getaddrinfo", silent_server)
    monkeypatch.setattr(webhook_call, "LOOK_UP_TURN_S", 0.05)
    yield asked, answer_now
    answer_now.set()


async def test_names_whose_servers_are_silent_occupy_a_few_threads_of_their_own(
    silent_names: tuple[list[str], threading.Event],
) -> None:
    asked, answer_now = silent_names
    lookups = NameLookups()
    waiting = [await lookups.begin(f"n{each}", 443, each // 2) for each in range(webhook_call._LOOK_UPS_MAX)]
    with pytest.raises(LookUpsBusy):
        await lookups.begin("more", 443, 999)
    # One that nobody waits for any more gives its thread back, too.
    waiting[0].cancel()
    answer_now.set()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert found[1:] == [[ip_address("127.0.0.1")]] * (webhook_call._LOOK_UPS_MAX - 1)
    assert len(asked) == webhook_call._LOOK_UPS_MAX
    again = [await lookups.begin(f"n{each}", 443, each // 2) for each in range(webhook_call._LOOK_UPS_MAX)]
    assert len(await asyncio.gather(*again)) == webhook_call._LOOK_UPS_MAX


async def test_names_of_one_owner_do_not_occupy_all_threads(
    silent_names: tuple[list[str], threading.Event],
) -> None:
    asked, answer_now = silent_names
    calls = WebhookCalls()
    slow = [
        asyncio.create_task(calls.post(f"https://n{each}.example.com/", HEADERS, b"{}", owner=1))
        for each in range(4)
    ]
    with pytest.raises(LookUpsBusy):
        await slow[3]
    assert len(asked) == 2
    answer_now.set()
    other = await calls.post("https://other.example.com/", HEADERS, b"{}", owner=2)
    assert other.error == "The host name leads to a private, local or reserved address."
    await asyncio.gather(*slow, return_exceptions=True)


async def test_a_thread_that_cannot_be_started_occupies_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    lookups = NameLookups()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", fails)
        for _ in range(webhook_call._LOOK_UPS_MAX + 1):
            with pytest.raises(LookUpsBusy):
                await lookups.begin("localhost", 443, 1)
    assert ip_address("127.0.0.1") in await (await lookups.begin("localhost", 443, 1))
