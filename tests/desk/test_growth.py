"""The time to read what is sent to the desk grows with its length, never with the square of it."""

from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import pytest

from bullion.desk import bodies, conversion, texts
from bullion.desk.actions.orders import _since_us
from bullion.desk.authenticator import _token_text
from bullion.desk_api.request import Request
from bullion.records.token import read_token
from bullion.refusals.refusal import RefusalError
from tests.support.growth import assert_linear

REGEX = "Expected `str` matching regex '"

BODIES: dict[str, Callable[[int], str]] = {
    "unknown field": lambda size: '{"' + "x" * size + '": 1}',
    "unknown field like a message of ours": lambda size: '{"' + REGEX * (size // len(REGEX)) + '": 1}',
    "unknown field full of quotes": lambda size: '{"' + REGEX + "'" * size + '": 1}',
    "digits": lambda size: '{"login_id": ' + "9" * size + "}",
    "fields": lambda size: "{" + ",".join(f'"{each}":1' for each in range(size // 8)) + "}",
    "one field twice": lambda size: '{"group":"' + "x" * size + '","group":""}',
    "long code": lambda size: '{"login_id":"' + "x" * size + '"}',
    "code of blanks": lambda size: '{"login_id":"' + " " * size + 'é"}',
    "long name": lambda size: '{"login_id":"a","group":"a","firm_name":"' + " " * size + '"}',
    "escapes": lambda size: '{"login_id":"' + "\\u0000" * (size // 6) + '"}',
    "surrogates": lambda size: '{"login_id":"' + "\\ud800" * (size // 6) + '"}',
    "arrays": lambda size: "[" * size,
    "objects": lambda size: '{"a":' * (size // 5),
    "blanks": lambda size: " " * size,
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("shape", [bodies.NewAccountBody, dict[str, Any]], ids=["account", "patch"])
def test_bodies(name: str, shape: type[object]) -> None:
    def prepare(size: int) -> Callable[[], object]:
        body = BODIES[name](size).encode()
        return lambda: refused(lambda: conversion.read(body, shape))

    assert_linear(prepare, 16 * 1024)


READERS: dict[str, Callable[[str], object]] = {
    "code": lambda text: conversion.require_code("code", text),
    "weight": lambda text: texts.weight(text),
    "rupees": lambda text: texts.signed_rupees(text),
    "day": lambda text: texts.day(text),
    "instant": lambda text: texts.instant_us(text),
    "since": _since_us,
    "network": lambda text: texts.network(text),
    "networks": lambda text: [texts.network(each) for each in text.split(",")],
    "token": read_token,
    "authorization": lambda text: _token_text([(b"authorization", b"Bearer " + text.encode())]),
    "query": lambda text: page(text).page(),
    "limit": lambda text: page(f"limit={text}").page(),
    "filter": lambda text: page(f"a={text}").filter("a"),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "unit",
    ["9", "9.", "-", " ", "é", "::", "1.1.1.1,", "/", "desk.", "'", REGEX, "&", "a=1&", "%20", "+", "0"],
)
def test_texts(name: str, unit: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        text = unit * (size // len(unit))
        return lambda: refused(lambda: READERS[name](text))

    assert_linear(prepare, 2 * 1024)


def page(query: str) -> Request:
    nobody: Any = SimpleNamespace()
    return Request(nobody, nobody, {}, parse_qs(query, keep_blank_values=True), b"", "")


def refused(read: Callable[[], object]) -> None:
    """Whether it is refused or read does not matter here."""
    with suppress(RefusalError, ValueError):
        read()
