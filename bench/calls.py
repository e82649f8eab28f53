"""The calls that are measured, as the bytes that go over the wire."""

from bullion.environment import Environment

from .connection import FRESH_KEY

BASE = Environment.TEST.base_path
LIVE_BASE = Environment.PRODUCTION.base_path
_BODY = b'{"symbol_code":"GOLD","trade_type":"%b","quantity":1,"client_order_id":"%b"}'


def get(path: str, key: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\nX-API-Key: {key}\r\n\r\n".encode(
        "ascii"
    )


def orders(keys: tuple[str, ...], base: str = BASE) -> tuple[bytes, ...]:
    """Buys and sells in turn, so that no account runs into its allocation."""
    return tuple(
        _order(base, key, b"buy" if number % 2 else b"sell", b"ref-%04d" % number)
        for number, key in enumerate(keys)
    )


def _order(base: str, key: str, side: bytes, reference: bytes) -> bytes:
    body = _BODY % (side, reference)
    lines = (
        b"POST %b/orders HTTP/1.1" % base.encode("ascii"),
        b"Host: 127.0.0.1",
        b"Accept: */*",
        b"X-API-Key: %b" % key.encode("ascii"),
        b"Content-Type: application/json",
        b"Idempotency-Key: %b" % FRESH_KEY,
        b"Content-Length: %d" % len(body),
    )
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
