"""The time to read what a client sends grows with its length, never with the square of it."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from bullion.api.hosts import host_name
from bullion.api.list_query import read_list_query, read_symbol_filter
from bullion.api.order_body import read_place_order
from bullion.keys.text import read_key
from bullion.orders.instant import read_instant_us
from bullion.refusals.refusal import RefusalError
from bullion.web.headers import values_by_name
from tests.support.growth import assert_linear

ORDER = b'{"symbol_code": "GOLD", "trade_type": "buy", "quantity": %b}'
HEADERS = [(b"idempotency-key", b"1"), (b"content-type", b"application/json")]

BODIES: dict[str, Callable[[int], bytes]] = {
    "digits": lambda size: ORDER % (b"9" * size),
    "decimals": lambda size: ORDER % (b"1." + b"9" * size),
    "exponent": lambda size: ORDER % (b"1e" + b"9" * size),
    "zeros": lambda size: ORDER % (b"0." + b"0" * size + b"1"),
    "not a number": lambda size: ORDER % (b"9" * size + b"x"),
    "string": lambda size: ORDER % (b'"' + b"x" * size + b'"'),
    "open string": lambda size: ORDER % (b'"' + b"x" * size),
    "escapes": lambda size: ORDER % (b'"' + b"\\u00e9" * (size // 6) + b'"'),
    "surrogates": lambda size: ORDER % (b'"' + b"\\ud800" * (size // 6) + b'"'),
    "backslashes": lambda size: ORDER % (b'"' + b"\\\\" * (size // 2) + b'"'),
    "quotes": lambda size: b'"' * size,
    "arrays": lambda size: b"[" * size,
    "objects": lambda size: b'{"a":' * (size // 5),
    "array of arrays": lambda size: ORDER % (b"[" + b"[]," * (size // 3) + b"[]]"),
    "fields": lambda size: b"{" + b",".join(b'"%d":1' % each for each in range(size // 8)) + b"}",
    "one field again and again": lambda size: b"{" + b",".join([b'"quantity":1'] * (size // 13)) + b"}",
    "long name": lambda size: b'{"' + b"x" * size + b'":1}',
    "blanks": lambda size: b" " * size,
    "lines": lambda size: b"\n" * size + b"x",
    "blanks inside": lambda size: b"{" + b" " * size + b"}",
    "not UTF-8": lambda size: b"\xff" * size,
    "two bytes a character": lambda size: ORDER % ('"' + "é" * (size // 2) + '"').encode(),
    "nothing in it": lambda size: b"\0" * size,
}


@pytest.mark.parametrize("name", BODIES)
def test_orders(name: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        body = BODIES[name](size)
        return lambda: refused(lambda: read_place_order(values_by_name(HEADERS), body))

    assert_linear(prepare, 8 * 1024)


@pytest.mark.parametrize("header", [b"idempotency-key", b"content-type"])
@pytest.mark.parametrize("start", [b"", b"application/json"], ids=repr)
@pytest.mark.parametrize(
    "unit", [b"x", b" ", b";", b"; ", b";charset=utf-8", b'"', b"\\", b"\t;", b"=", b"a=b;"]
)
def test_headers_of_an_order(header: bytes, start: bytes, unit: bytes) -> None:
    def prepare(size: int) -> Callable[[], object]:
        headers = [
            *(each for each in HEADERS if each[0] != header),
            (header, start + many(size, unit) + b"x"),
        ]
        return lambda: refused(lambda: read_place_order(values_by_name(headers), ORDER % b"1"))

    assert_linear(prepare, 2 * 1024)


@pytest.mark.parametrize("header", [b"idempotency-key", b"content-type", b"x"])
def test_many_headers_of_an_order(header: bytes) -> None:
    def prepare(size: int) -> Callable[[], object]:
        headers = HEADERS + [(header, b"")] * (size // 4)
        return lambda: refused(lambda: read_place_order(values_by_name(headers), ORDER % b"1"))

    assert_linear(prepare, 2 * 1024)


@pytest.mark.parametrize(
    "start", [b"", b"since=", b"limit=", b"limit=-", b"symbol_code=", b"status="], ids=repr
)
@pytest.mark.parametrize(
    "unit", [b"1", b"+", b"%20", b"%", b"&", b"=", b"a&", b"limit=1&", b"2026-01-01T", b":", b"%ff", b"%00"]
)
def test_queries_of_lists(start: bytes, unit: bytes) -> None:
    def prepare(size: int) -> Callable[[], object]:
        query = start + many(size, unit)

        def read() -> None:
            refused(lambda: read_list_query(query, with_status=True))
            refused(lambda: read_symbol_filter(query))

        return read

    assert_linear(prepare, 2 * 1024)


@pytest.mark.parametrize("unit", ["0", "2026-01-01T00:00:00+", ":", ".", "2026-W01-1T", "é", "+", "-"])
def test_times(unit: str) -> None:
    assert_linear(lambda size: lambda: read_instant_us(unit * (size // len(unit))), 2 * 1024)


@pytest.mark.parametrize(
    "unit", [b".", b"a", b"key_test.", b"0", b" ", b"\xff", b"key_test.a.0123456789abcdef."]
)
def test_keys_and_hosts(unit: bytes) -> None:
    def prepare(size: int) -> Callable[[], object]:
        text = many(size, unit)

        def read() -> None:
            read_key([text])
            read_key([text] * 2)
            host_name.__wrapped__(text)

        return read

    assert_linear(prepare, 2 * 1024)


def many(size: int, unit: bytes) -> bytes:
    return unit * (size // len(unit))


def refused(read: Callable[[], object]) -> None:
    """Whether it is refused or read does not matter here."""
    with suppress(RefusalError):
        read()
