"""How many connections an address may have open at once, and that none of them leaves anything behind."""

import gc
import socket
from collections.abc import Callable, Iterator
from functools import partial
from ipaddress import ip_network

import pytest

from bullion.web.address import SourceAddress, client_network
from bullion.web.connections import ConnectionCount
from bullion.web.protocol import GuardedProtocol
from tests.web.wire import CHUNKED, GATED, GET, PATIENCE, Served, Wire, post, refused, served_well, until

Limit = Callable[..., tuple[Served, ConnectionCount]]


@pytest.fixture(params=["uvloop", "asyncio"])
def limited(request: pytest.FixtureRequest) -> Iterator[Limit]:
    running: list[Served] = []

    def start(most: int, *trusted: str) -> tuple[Served, ConnectionCount]:
        count = ConnectionCount(most, SourceAddress([ip_network(each) for each in trusted]).trusts)
        running.append(Served(partial(GuardedProtocol, count=count), request.param))
        return running[-1], count

    yield start
    for served in running:
        served.stop()


def connect(served: Served, address: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", served.port), PATIENCE, source_address=(address, 0))


def closed_at_once(connection: socket.socket, sends: bytes = b"") -> bool:
    """Whether the server ended it without a word, whatever it was sent."""
    try:
        connection.sendall(sends)
        return connection.recv(1000) == b""
    except ConnectionError:
        return True


def test_one_too_many_is_closed_unread_and_the_others_go_on(limited: Limit) -> None:
    served, _ = limited(3)
    wires = [Wire(served) for _ in range(3)]
    until(lambda: served.connections == 3)
    for sends in (b"", GET, b"nonsense\r\n\r\n"):
        with connect(served, "127.0.0.1") as one_more:
            assert closed_at_once(one_more, sends)
    assert served.seen == []
    with connect(served, "127.0.0.2") as other:
        other.sendall(GET)
        assert other.recv(1000).startswith(b"HTTP/1.1 200 ")
    for wire in wires:
        served_well(wire.send(GET))
    wires.pop().socket.close()
    until(lambda: served.connections == 2)
    wires.append(Wire(served))
    served_well(wires[-1].send(GET))
    for wire in wires:
        wire.socket.close()


def test_a_trusted_proxy_may_have_any_number(limited: Limit) -> None:
    served, count = limited(1, "127.0.0.8/30", "10.0.0.0/8")
    proxied = [connect(served, f"127.0.0.{8 + number % 4}") for number in range(8)]
    until(lambda: served.connections == 8)
    assert count.open == {}
    for connection in proxied:
        connection.sendall(GET)
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")
        connection.close()


End = Callable[[Served], None]
ENDS: dict[str, End] = {}


def way_to_end(end: End) -> End:
    ENDS[end.__name__] = end
    return end


@way_to_end
def silent(served: Served) -> None:
    Wire(served).socket.close()


@way_to_end
def answered(served: Served) -> None:
    with Wire(served) as wire:
        served_well(wire.send(GET))


@way_to_end
def refused_once(served: Served) -> None:
    with Wire(served) as wire:
        refused(wire.send(b"nonsense\r\n\r\n"), 400, "malformed_http")


@way_to_end
def reset(served: Served) -> None:
    with Wire(served) as wire:
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        wire.send(GATED)
        until(lambda: bool(served.seen))


@way_to_end
def half(served: Served) -> None:
    with Wire(served) as wire:
        wire.send(GET[:9])


@way_to_end
def half_body(served: Served) -> None:
    with Wire(served) as wire:
        wire.send(CHUNKED + b"3\r\nab")


@way_to_end
def unread(served: Served) -> None:
    with Wire(served) as wire:
        wire.send(GET.replace(b"plain", b"big"))
        until(lambda: bool(served.seen))


@way_to_end
def left_alone(served: Served) -> None:
    with Wire(served) as wire:
        assert wire.send(GET.replace(b"plain", b"hangs-up")).rest() == b""


@way_to_end
def closing(served: Served) -> None:
    with Wire(served) as wire:
        served_well(wire.send(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")))
        assert wire.rest() == b""


@way_to_end
def early(served: Served) -> None:
    with Wire(served) as wire:
        assert wire.send(post("/early", 3)).answer().status == 401


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
def test_however_a_connection_ends_nothing_stays(limited: Limit, end: str) -> None:
    """It is not counted any more, and its memory is free without a run of the collector."""
    served, count = limited(2)
    gc.collect()
    gc.disable()
    try:
        before = protocols()
        for _ in range(3):
            served.seen.clear()
            ENDS[end](served)
            until(lambda: served.connections == 0)
            served.gate.set()
            until(lambda: count.open == {})
        until(lambda: not served.server.server_state.tasks)
        until(lambda: protocols() == before)
    finally:
        gc.enable()


def protocols() -> int:
    return sum(type(each) is GuardedProtocol for each in gc.get_objects())


def test_one_too_many_does_not_count(limited: Limit) -> None:
    served, count = limited(1)
    with Wire(served) as wire:
        served_well(wire.send(GET))
        for _ in range(5):
            with connect(served, "127.0.0.1") as one_more:
                assert closed_at_once(one_more)
        assert count.open == {"127.0.0.1": 1}
        served_well(wire.send(GET))
    until(lambda: count.open == {})


@pytest.mark.parametrize(
    ("address", "counted_as"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:0:1::5", "2001:db8:0:1::/64"),
        ("2001:DB8:0:1:ffff:ffff:ffff:ffff", "2001:db8:0:1::/64"),
        ("2001:db8:0:2::5", "2001:db8:0:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_an_ipv6_client_is_a_64_network(address: str, counted_as: str) -> None:
    assert client_network(address) == counted_as
