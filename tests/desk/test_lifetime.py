"""The service's life: what was answered stays, what is under way is finished, and no input ends it."""

import json
import signal
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.desk import KEY, first_caller, refusal
from tests.support.node import DESK_TOKEN, Node, own_address, running, until


def connect(node: Node) -> socket.socket:
    url = urlsplit(node.desk_url)
    assert url.hostname is not None
    connection = socket.create_connection((url.hostname, url.port or 0), 10, (own_address(), 0))
    connection.settimeout(10)
    return connection


def read_until(connection: socket.socket, end: bytes) -> bytes:
    """Up to and with `end`; all there is when that is empty."""
    read = b""
    while not end or end not in read:
        more = connection.recv(65536)
        if not more:
            break
        read += more
    return read


def test_a_token_deleted_while_its_body_is_on_the_way_changes_nothing(tmp_path: Path) -> None:
    body = json.dumps({"login_id": "too-late", "group": "retail"}).encode()
    with running(tmp_path) as node, first_caller(node) as desk:
        desk.add_group()
        made = desk.do("POST", "/tokens", {"name": "Leaving", "role": "admin"})
        head = (
            "POST /desk/v1/accounts HTTP/1.1\r\n"
            "Host: desk\r\n"
            "Connection: close\r\n"
            f"Authorization: Bearer {made['token']}\r\n"
            f"Content-Length: {len(body)}\r\n"
            "Expect: 100-continue\r\n\r\n"
        )
        with connect(node) as connection:
            connection.sendall(head.encode())
            # The service asks for the body: the token was good when it looked.
            assert read_until(connection, b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
            desk.do("DELETE", f"/tokens/{made['token_id']}")
            connection.sendall(body)
            assert read_until(connection, b"").startswith(b"HTTP/1.1 401 ")
        refusal(desk.get("/accounts/too-late"), 404, "not_found")


def test_a_call_that_is_half_sent_is_finished_before_the_service_stops(tmp_path: Path) -> None:
    body = json.dumps({"login_id": "half-sent", "group": "retail"}).encode()
    head = (
        "POST /desk/v1/accounts HTTP/1.1\r\n"
        "Host: desk\r\n"
        f"Authorization: Bearer {DESK_TOKEN}\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Expect: 100-continue\r\n\r\n"
    )
    with running(tmp_path) as node:
        with first_caller(node) as desk:
            desk.add_group()
        with connect(node) as connection:
            connection.sendall(head.encode())
            # The service asks for the body: from here on the call is under way.
            assert read_until(connection, b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
            connection.sendall(body[:10])
            node.process.send_signal(signal.SIGTERM)
            until(lambda: node.entries("stopping"), 5)
            connection.sendall(body[10:])
            answer = read_until(connection, b"")
        assert answer.startswith(b"HTTP/1.1 201 ")
        assert node.process.wait(10) == 0
    assert node.entries("stopped")
    with running(tmp_path) as again, first_caller(again) as desk:
        assert desk.do("GET", "/accounts/half-sent")["group"] == "retail"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_open_connection_does_not_hold_the_stop_up(tmp_path: Path, number: int) -> None:
    with running(tmp_path) as node, first_caller(node) as desk:
        desk.add_group()
        started = time.monotonic()
        assert node.stop(number) == 0
        assert time.monotonic() - started < 5


def test_what_was_answered_outlives_a_kill(tmp_path: Path) -> None:
    with running(tmp_path) as node, first_caller(node) as desk:
        desk.add_group()
        made = [desk.account(f"client{number}") for number in range(5)]
        issued = desk.key("client0")
        assert node.stop(signal.SIGKILL) == -signal.SIGKILL
    with running(tmp_path) as again, first_caller(again) as desk:
        assert desk.all("/accounts") == made
        assert [key["key_id"] for key in desk.all("/accounts/client0/keys")] == [issued["key_id"]]
        with again.api(issued["key"]) as client:
            assert client.get("/api/trading/test/v1/me").status_code == 200


def test_a_restart_keeps_keys_tokens_and_switches(tmp_path: Path) -> None:
    with running(tmp_path) as node, first_caller(node) as desk:
        desk.add_group()
        desk.account("client")
        desk.key("client")
        desk.do("POST", "/tokens", {"name": "n", "role": "viewer"})
        desk.do("PATCH", "/switches", {"halted": True})
        before = desk.state()
    with running(tmp_path) as again, first_caller(again) as desk:
        assert desk.state() == before


def test_an_address_that_breaks_its_list_apart_does_not_end_the_service(tmp_path: Path) -> None:
    """Stored with a blank inside, it would be a key that no node can read: neither now nor at a restart."""
    with running(tmp_path) as node, first_caller(node) as desk:
        desk.add_group()
        desk.account("client")
        for address in ("fe80::1%a b", "fe80::1%a\tb"):
            body = KEY | {"allowed_addresses": [address]}
            assert "allowed_addresses" in desk.refused("POST", "/accounts/client/keys", body)
        assert desk.get("/accounts").status_code == 200
        assert node.process.poll() is None


def test_a_caller_that_leaves_half_way_is_no_fault_of_ours(tmp_path: Path) -> None:
    head = f"POST /desk/v1/accounts HTTP/1.1\r\nHost: desk\r\nAuthorization: Bearer {DESK_TOKEN}\r\n"
    with running(tmp_path) as node, first_caller(node) as desk:
        for _ in range(3):
            with connect(node) as connection:
                connection.sendall(f"{head}Content-Length: 100\r\nExpect: 100-continue\r\n\r\n".encode())
                assert read_until(connection, b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
                connection.sendall(b'{"login_id": ')
        desk.refused("GET", "/accounts/nobody", status=404, code="not_found")
        assert desk.all("/accounts") == []
        metrics = desk.get(f"{node.desk_url}/metrics").text
    # The service has stopped, so its log is whole.
    assert [entry["code"] for entry in node.entries("call")] == ["not_found"]
    assert node.entries("internal_error") == []
    assert 'status="500"' not in metrics


def test_a_store_that_cannot_be_read_is_told_on_both_ports(tmp_path: Path) -> None:
    with running(tmp_path) as node, first_caller(node) as desk, node.api() as api:
        desk.add_group()
        for file in ("bullion.db", "bullion.db-wal"):
            (tmp_path / "var" / file).write_bytes(b"no database" * 20_000)
        answers = [desk.get(f"{node.desk_url}/health/ready"), api.get("/health/ready")]
        refusal(desk.get("/accounts"), 503, "service_unavailable")
        assert desk.get(f"{node.desk_url}/health/live").json() == {"live": True}
        node.stop(signal.SIGKILL)
    assert [answer.status_code for answer in answers] == [503, 503]
    for answer in answers:
        assert answer.headers["x-request-id"]
        assert answer.headers["retry-after"] == "1"
    assert answers[0].json() == answers[1].json()
