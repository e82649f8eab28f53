"""The transport of the tests' calls, at a server that says exactly what it is told to."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.support.loopback_transport import LoopbackTransport

OK = b"HTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nok"
Serve = Callable[[socket.socket], None]


@contextmanager
def serving(*served: Serve) -> Iterator[tuple[httpx.Client, list[int]]]:
    """A client of a server that treats its connections so, one after the other, and which were made."""
    made: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(20)

        def serve() -> None:
            for each in served:
                with listening.accept()[0] as accepted:
                    made.append(len(made))
                    each(accepted)

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with httpx.Client(base_url=url, transport=LoopbackTransport(), timeout=2) as client:
            yield client, made
        thread.join(timeout=20)
        assert not thread.is_alive()


def answer(*answers: bytes) -> Serve:
    """Answer one request after the other, then close."""

    def serve(accepted: socket.socket) -> None:
        for each in answers:
            head = b""
            while b"\r\n\r\n" not in head:
                head += accepted.recv(1 << 16)
            accepted.sendall(each)

    return serve


def test_a_connection_is_used_again_until_the_server_closes_it() -> None:
    with serving(answer(OK, OK), answer(OK)) as (client, made):
        for expected in (1, 1, 2):
            response = client.get("/")
            assert (response.status_code, response.reason_phrase, response.text) == (200, "Fine", "ok")
            assert len(made) == expected


def test_a_connection_that_the_server_will_not_use_again_is_closed() -> None:
    last = OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")

    def wait_for_end(accepted: socket.socket) -> None:
        answer(last)(accepted)
        assert accepted.recv(1) == b""

    with serving(wait_for_end, answer(OK)) as (client, made):
        assert [client.get("/").text for _ in range(2)] == ["ok", "ok"]
        assert made == [0, 1]


def test_every_form_of_a_body_is_read() -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    only_head = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"
    informed = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK
    until_close = b"HTTP/1.1 200 OK\r\n\r\nall of it"
    with serving(answer(chunked, only_head, informed, until_close)) as (client, made):
        assert client.get("/").text == "abcde"
        assert client.head("/").headers["content-length"] == "500"
        response = client.get("/")
        assert (response.status_code, response.text, "link" in response.headers) == (200, "ok", False)
        assert client.get("/").text == "all of it"
        assert made == [0]


def test_a_body_of_unknown_length_is_sent_in_chunks() -> None:
    received = []

    def receive(accepted: socket.socket) -> None:
        request = b""
        while not request.endswith(b"0\r\n\r\n"):
            request += accepted.recv(1 << 16)
        received.append(request.partition(b"\r\n\r\n")[2])
        accepted.sendall(OK)

    with serving(receive) as (client, _):
        assert client.post("/", content=iter([b"one", b"", b"three"])).text == "ok"
    assert received == [b"3\r\none\r\n5\r\nthree\r\n0\r\n\r\n"]


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        (b"", httpx.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", httpx.RemoteProtocolError),
        (b"nonsense\r\n\r\n", httpx.RemoteProtocolError),
    ],
)
def test_a_response_that_is_cut_off_or_nonsense_is_an_error(sent: bytes, error: type[Exception]) -> None:
    with serving(answer(sent)) as (client, _), pytest.raises(error):
        client.get("/")


def test_silence_and_a_closed_port_are_errors() -> None:
    def stay_silent(accepted: socket.socket) -> None:
        while accepted.recv(1 << 16):
            pass

    with serving(stay_silent) as (client, _), pytest.raises(httpx.ReadTimeout):
        client.get("/", timeout=0.05)
    with httpx.Client(transport=LoopbackTransport()) as client, pytest.raises(httpx.ConnectError):
        client.get("http://127.0.0.1:1/")
