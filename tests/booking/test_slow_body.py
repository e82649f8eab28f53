"""What was closed while an order's body was still on its way is closed for that order."""

import json
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.node import Node, running

BODY = json.dumps({"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}).encode()


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with running(tmp_path_factory.mktemp("node")) as node:
        with node.desk() as desk:
            desk.add_group()
            desk.do(
                "PUT",
                "/symbols/GOLD",
                {
                    "metal": "gold",
                    "quoted_weight": "10",
                    "minimum": "1",
                    "maximum": "1000",
                    "step": "1",
                    "pricing": {"kind": "fixed", "buy": "70000", "sell": "69000"},
                },
            )
        yield node


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param(None, "booked"),
        pytest.param({"halted": True}, "trading_halted"),
        *(
            pytest.param(change, code)
            for change, code in (
                ("revoke", "credential_revoked"),
                ("expire", "credential_expired"),
                ({"api_access": False}, "api_access_disabled"),
                ({"active": False}, "account_inactive"),
            )
        ),
    ],
)
def test_closed_before_the_body_was_there(node: Node, change: Any, code: str) -> None:
    with node.desk() as desk:
        login = f"client-for-{code.replace('_', '-')}"
        desk.account(login, allocation={"gold": "1000", "silver": "0"})
        expires_at = datetime.now(UTC) + timedelta(seconds=0.9) if change == "expire" else None
        key = desk.key(login, expires_at=expires_at and expires_at.isoformat())
        host, _, port = node.api_url.removeprefix("http://").rpartition(":")
        head = (
            f"POST /api/trading/test/v1/orders HTTP/1.1\r\nHost: x\r\nX-API-Key: {key['key']}\r\n"
            "Idempotency-Key: k\r\nContent-Type: application/json\r\nConnection: close\r\n"
            f"Content-Length: {len(BODY)}\r\n\r\n"
        )
        with socket.create_connection((host, int(port)), timeout=10) as link:
            link.sendall(head.encode() + BODY[:5])
            time.sleep(0.2)
            if change == "revoke":
                desk.do("POST", f"/keys/{key['key_id']}/revoke")
            elif change == {"halted": True}:
                desk.do("PATCH", "/switches", change)
            elif change == "expire":
                pass  # by itself: nothing in the catalogue changes
            elif change is not None:
                desk.do("PATCH", f"/accounts/{login}", change)
            time.sleep(1.0 if change else 0)
            link.sendall(BODY[5:])
            answer = b"".join(iter(lambda: link.recv(65536), b"")).decode()
        if change == {"halted": True}:
            desk.do("PATCH", "/switches", {"halted": False})
        told = json.loads(answer.partition("\r\n\r\n")[2])
        assert told.get("detail", {"code": "booked"})["code"] == code
