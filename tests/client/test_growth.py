"""The time to read what a program gives, and what a service answers, grows with its length alone."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from decimal import Decimal

import httpx
import pytest

from bullion_client.errors import UnexpectedAnswer
from bullion_client.numbers import read_price, read_quantity
from bullion_client.responses import Answer, json_object, retry_after
from bullion_client.sse import MessageReader
from tests.support.growth import assert_linear

NUMBERS: dict[str, Callable[[int], str]] = {
    "digits": lambda size: "9" * size,
    "digits and a letter": lambda size: "9" * size + "x",
    "decimals": lambda size: "1." + "9" * size,
    "decimals and a letter": lambda size: "1." + "9" * size + "x",
    "zeros": lambda size: "0" * size,
    "points": lambda size: "." * size,
    "exponent": lambda size: "1e" + "9" * size,
    "signs": lambda size: "+" * size,
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        text = NUMBERS[name](size)

        def read() -> None:
            for reader in (read_quantity, read_price):
                with suppress(ValueError):
                    reader(text)

        return read

    assert_linear(prepare, 2 * 1024)


STREAMS: dict[str, Callable[[int], bytes]] = {
    "a line": lambda size: b"x" * size,
    "line ends": lambda size: b"\r\n" * (size // 2),
    "carriage returns": lambda size: b"\r" * size,
    "data": lambda size: b"data: x\n" * (size // 8),
    "colons": lambda size: b":" * size,
}


@pytest.mark.parametrize("name", STREAMS)
def test_streams(name: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        stream = STREAMS[name](size)

        def read() -> None:
            reader = MessageReader()
            for place in range(0, len(stream), 64):
                reader.feed(stream[place : place + 64])

        return read

    assert_linear(prepare, 2 * 1024)


ANSWERS: dict[str, Callable[[int], bytes]] = {
    "digits": lambda size: b'{"a": ' + b"9" * size + b"}",
    "decimals": lambda size: b'{"a": 1.' + b"9" * size + b"}",
    "exponent": lambda size: b'{"a": 1e' + b"9" * size + b"}",
    "text of digits": lambda size: b'{"a": "' + b"9" * size + b'"}',
    "text": lambda size: b'{"a": "' + b"\\u00e9" * (size // 6) + b'"}',
    "fields": lambda size: b"{" + b",".join(b'"%d":1' % each for each in range(size // 8)) + b"}",
    "items": lambda size: b'{"a": [' + b"{}," * (size // 3) + b"{}]}",
    "arrays": lambda size: b"[" * size,
    "blanks": lambda size: b" " * size,
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers(name: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        response = httpx.Response(
            200,
            content=ANSWERS[name](size),
            headers={"Retry-After": "9" * size, "X-Request-Id": "x" * size},
            request=httpx.Request("GET", "http://127.0.0.1/"),
        )

        def read() -> None:
            retry_after(response)
            with suppress(UnexpectedAnswer):
                answer = Answer(response, json_object(response))
                for kind in (str, Decimal, datetime):
                    with suppress(UnexpectedAnswer):
                        answer.value("a", kind)

        return read

    assert_linear(prepare, 16 * 1024)
