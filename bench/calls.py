"""The calls that are measured, as the bytes that go over the wire."""

from dataclasses import dataclass

from bullion.environment import Environment

from .connection import FRESH_KEY
from .endpoint import Endpoint

BASE = Environment.TEST.base_path
_BODY = b'{"symbol_code":"GOLD","trade_type":"%b","quantity":1,"client_order_id":"%b"}'


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    endpoint: Endpoint
    requests: tuple[bytes, ...]
    connections: tuple[int, ...] = (1, 16, 64)


def get(path: str, key: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\nX-API-Key: {key}\r\n\r\n".encode(
        "ascii"
    )


def orders(keys: tuple[str, ...]) -> tuple[bytes, ...]:
    """Buys and sells in turn, so that no account runs into its allocation."""
    return tuple(
        _order(key, b"buy" if number % 2 else b"sell", b"ref-%04d" % number)
        for number, key in enumerate(keys)
    )


def _order(key: str, side: bytes, reference: bytes) -> bytes:
    body = _BODY % (side, reference)
    lines = (
        b"POST %b/orders HTTP/1.1" % BASE.encode("ascii"),
        b"Host: 127.0.0.1",
        b"Accept: */*",
        b"X-API-Key: %b" % key.encode("ascii"),
        b"Content-Type: application/json",
        b"Idempotency-Key: %b" % FRESH_KEY,
        b"Content-Length: %d" % len(body),
    )
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
