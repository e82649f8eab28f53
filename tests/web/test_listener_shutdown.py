"""The end of listening: every connection is accepted or refused, none is reset."""

import errno
import select
import socket

import pytest

from bullion.web.listener_shutdown import accept_waiting, ignore_new_connections

PATIENCE_S = 20


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_who_waits_is_accepted_and_who_comes_later_is_refused(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listener:
        address = listener.getsockname()
        shared = listener.dup()
        with socket.create_connection(address[:2], timeout=PATIENCE_S) as early:
            ignore_new_connections(shared)  # For the other descriptor as well.
            shared.close()
            with socket.socket(family) as late:
                late.settimeout(0)
                assert late.connect_ex(address) == errno.EINPROGRESS
                (accepted,) = accept_waiting(listener)
                listener.close()
                with accepted:
                    _say(accepted, early)
                    _say(early, accepted)
                assert select.select([], [late], [], PATIENCE_S)[1]
                assert late.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED


def _say(sender: socket.socket, receiver: socket.socket) -> None:
    sender.sendall(b"x")
    receiver.settimeout(PATIENCE_S)
    assert receiver.recv(1) == b"x"


def test_a_socket_that_is_closed_already_is_left_alone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        pass
    ignore_new_connections(listener)
    assert listener.fileno() == -1
