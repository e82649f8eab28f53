"""Bodies and headers that mean harm: each is refused as it should be, books nothing, and trade goes on."""

import gzip
import json
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.support.node import Node, until
from tests.support.orders import ORDERS, Market, Trader, booked, problems, refused, replayed

JSON = b"Content-Type: application/json"
GOOD = b'{"symbol_code":"GOLD","trade_type":"buy","quantity":1}'


@pytest.fixture
def victim(market: Market) -> Iterator[Trader]:
    """Nothing that a test sends in its name may be booked; afterwards a decent order is."""
    trader = market.trader()
    yield trader
    assert trader.orders() == {"items": [], "total": 0}
    assert trader.net() == "0.0000"
    booked(trader.place())


def body(**changes: str) -> bytes:
    """The good body with fields as they are written, raw; a field of '' is left out."""
    fields = {"symbol_code": '"GOLD"', "trade_type": '"buy"', "quantity": "1", **changes}
    return ("{" + ",".join(f'"{name}":{value}' for name, value in fields.items() if value) + "}").encode()


# --- What is not an order at all --------------------------------------------------------------------------

NOT_AN_ORDER: dict[str, bytes] = {
    "nothing": b"",
    "blanks": b" \r\n\t",
    "a word": b"buy",
    "half": GOOD[:-1],
    "two": GOOD + GOOD,
    "a tail": GOOD + b"x",
    "a comment": GOOD + b"// please",
    "a trailing comma": GOOD[:-1] + b",}",
    "single quotes": GOOD.replace(b'"', b"'"),
    "an array": b"[" + GOOD + b"]",
    "null": b"null",
    "true": b"true",
    "a number": b"1",
    "a string": b'"GOLD"',
    "an empty object": b"{}",
    "an empty array": b"[]",
    "a form": b"symbol_code=GOLD&trade_type=buy&quantity=1",
    "XML": b"<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><x>&a;</x>",
    "a byte order mark": b"\xef\xbb\xbf" + GOOD,
    "UTF-16": GOOD.decode().encode("utf-16"),
    "UTF-32": GOOD.decode().encode("utf-32"),
    "latin-1": body(client_order_id='"café"').decode().encode("latin-1"),
    "an overlong encoding": body(client_order_id='"@"').replace(b"@", b"\xc0\xaf"),
    "half a character": body(client_order_id='"@"').replace(b"@", b"\xe2\x82"),
    "a surrogate in UTF-8": body(client_order_id='"@"').replace(b"@", b"\xed\xa0\x80"),
    "a NUL": b"\x00" + GOOD,
    "a raw NUL in a string": body(client_order_id='"@"').replace(b"@", b"\x00"),
    "a raw new line in a string": body(client_order_id='"@"').replace(b"@", b"\n"),
    "gzip without saying so": gzip.compress(GOOD),
    "100,000 arrays deep": b"[" * 32_000 + b"]" * 32_000,
    "objects deep": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "unclosed arrays": b"[" * 65_000,
    "deep in a field": b'{"quantity":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    "deep in a name nobody knows": GOOD[:-1] + b',"x":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    "many fields": b"{" + b",".join(b'"%d":0' % number for number in range(6000)) + b"}",
    "one name many times": b"{" + b",".join([b'"quantity":1'] * 4000) + b"}",
    "a long name": b'{"' + b"x" * 60_000 + b'":1}',
}


@pytest.mark.parametrize("name", NOT_AN_ORDER)
def test_what_is_not_an_order(victim: Trader, name: str) -> None:
    found = problems(victim.send(NOT_AN_ORDER[name], str(uuid4())))
    assert found[0][0][0] == "body"


def test_an_answer_to_thousands_of_problems_is_not_itself_a_flood(victim: Trader) -> None:
    for name in ("many fields", "one name many times", "a long name"):
        assert len(victim.send(NOT_AN_ORDER[name], str(uuid4())).content) < 32 * 1024


def test_twenty_problems_are_listed_and_the_rest_is_counted(victim: Trader) -> None:
    def errors(names: int) -> list[dict[str, Any]]:
        raw = body(**{f"unknown{number}": "0" for number in range(names)})
        found: list[dict[str, Any]] = victim.send(raw, str(uuid4())).json()["detail"]["errors"]
        return found

    assert [error["type"] for error in errors(20)] == ["unknown_field"] * 20
    *listed, last = errors(3_000)
    assert [error["loc"][1] for error in listed] == [f"unknown{number}" for number in range(20)]
    assert last == {"loc": ["body"], "msg": "2980 more problems are not listed.", "type": "more_problems"}
    assert errors(21)[-1]["msg"] == "1 more problem is not listed."


@pytest.mark.parametrize("length", [1, 41, 128, 129, 60_000])
def test_the_name_of_a_field_is_told_as_sent_up_to_128_characters(victim: Trader, length: int) -> None:
    name = "é" + "x" * (length - 1)
    told = name if length <= 128 else name[:128] + "…"
    (error,) = victim.send(body(**{name: "0"}), str(uuid4())).json()["detail"]["errors"]
    assert error["loc"] == ["body", told]
    assert f'"{told}"' in error["msg"]
    twice = body(**{name: "0"})[:-1] + f',"{name}":1}}'.encode()
    if len(twice) < 64 * 1024:
        found = victim.send(twice, str(uuid4())).json()["detail"]["errors"]
        assert [error["loc"] for error in found] == [["body", told]] * 2


# --- Numbers --------------------------------------------------------------------------------------------

NOT_A_QUANTITY = {
    "zero": "0",
    "zero with places": "0.0000",
    "minus zero": "-0",
    "minus zero with places": "-0.0",
    "below zero": "-1",
    "five places": "1.00005",
    "twenty places": "1.00000000000000000001",
    "a hair": "0.00001",
    "too much": "1000000.0001",
    "far too much": "1000001",
    "a string": '"1"',
    "an empty string": '""',
    "true": "true",
    "null": "null",
    "an array": "[1]",
    "an object": '{"g":1}',
    "NaN": "NaN",
    "infinity": "Infinity",
    "minus infinity": "-Infinity",
    "a huge exponent": "1e999999",
    "a huger exponent": "1e99999999999999999999",
    "a tiny one": "1e-99999999999999999999",
    "a huge zero": "0e99999999999999999999",
    "5,000 digits": "1" * 5000,
    "5,000 places": "0." + "1" * 5000,
    "60,000 zeros": "1" + "0" * 60_000,
    "leading zeros that are none": "0." + "0" * 4999 + "1",
    "101 characters": "1." + "0" * 99,
}
NO_NUMBER = {
    "a leading zero": "01",
    "a plus": "+1",
    "no whole": ".5",
    "no part": "1.",
    "hexadecimal": "0x1",
    "underscores": "1_0",
    "a comma": "1,5",
    "Arabic digits": "١",
    "full-width digits": "１",
    "superscript": "²",
    "an exponent alone": "e5",
    "an open exponent": "1e",
    "two points": "1.2.3",
    "a unit": "1g",
    "a python float": "1.0f",
    "nan in small letters": "nan",
}


@pytest.mark.parametrize("name", NOT_A_QUANTITY)
def test_what_is_not_a_quantity(victim: Trader, name: str) -> None:
    answer = victim.send(body(quantity=NOT_A_QUANTITY[name]), str(uuid4()))
    assert [loc for loc, _ in problems(answer)] == [["body", "quantity"]]


@pytest.mark.parametrize("name", NO_NUMBER)
def test_what_is_not_even_json_for_a_number(victim: Trader, name: str) -> None:
    for field in ("quantity", "expected_price"):
        answer = victim.send(body(**{field: NO_NUMBER[name]}), str(uuid4()))
        assert problems(answer) == [(["body"], "not_json")]


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "-1",
        "-0",
        '"71240"',
        "true",
        "NaN",
        "Infinity",
        "[]",
        "{}",
        "1e999999",
        "1e-999999",
        "1e99999999999999999999",
        "1" * 21,
        "0." + "1" * 21,
        "1" * 5000,
        "0.0e5",
    ],
)
def test_what_is_not_an_expected_price(victim: Trader, text: str) -> None:
    answer = victim.send(body(expected_price=text), str(uuid4()))
    assert {tuple(loc) for loc, _ in problems(answer)} == {("body", "expected_price")}


# --- Texts and fields -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "field", "kind"),
    [
        ({"symbol_code": '""'}, "symbol_code", "empty"),
        ({"symbol_code": '"' + "x" * 33 + '"'}, "symbol_code", "too_long"),
        ({"symbol_code": "1"}, "symbol_code", "not_a_string"),
        ({"symbol_code": "null"}, "symbol_code", "not_a_string"),
        ({"symbol_code": '["GOLD"]'}, "symbol_code", "not_a_string"),
        ({"symbol_code": ""}, "symbol_code", "missing"),
        ({"symbol_code": r'"GOLD\u0000"'}, "symbol_code", "bad_character"),
        ({"symbol_code": r'"\ud800"'}, "symbol_code", "bad_character"),
        ({"trade_type": ""}, "trade_type", "missing"),
        ({"trade_type": "null"}, "trade_type", "not_a_string"),
        ({"trade_type": "true"}, "trade_type", "not_a_string"),
        ({"trade_type": r'"buy\u0000"'}, "trade_type", "bad_character"),
        ({"quantity": ""}, "quantity", "missing"),
        ({"client_order_id": '"' + "x" * 65 + '"'}, "client_order_id", "too_long"),
        ({"client_order_id": "7"}, "client_order_id", "not_a_string"),
        ({"client_order_id": "{}"}, "client_order_id", "not_a_string"),
        ({"client_order_id": r'"\u0000"'}, "client_order_id", "bad_character"),
        ({"client_order_id": r'"\udc00\ud800"'}, "client_order_id", "bad_character"),
        ({"status": '"filled"'}, "status", "unknown_field"),
        ({"price": "1"}, "price", "unknown_field"),
        ({"environment": '"production"'}, "environment", "unknown_field"),
        ({"id": '"1"'}, "id", "unknown_field"),
        ({"expectedPrice": "1"}, "expectedPrice", "unknown_field"),
        ({"Quantity": "1"}, "Quantity", "unknown_field"),
        ({"quantity ": "1"}, "quantity ", "unknown_field"),
        ({"__proto__": "{}"}, "__proto__", "unknown_field"),
        ({r"\u0000": "1"}, r"\x00", "unknown_field"),
        ({r"\ud800": "1"}, r"\ud800", "unknown_field"),
    ],
)
def test_bad_fields_are_named(victim: Trader, changes: dict[str, str], field: str, kind: str) -> None:
    answer = victim.send(body(**changes), str(uuid4()))
    assert problems(answer) == [(["body", field], kind)]


@pytest.mark.parametrize(
    "name", ["symbol_code", "trade_type", "quantity", "expected_price", "client_order_id", "other"]
)
def test_a_name_sent_twice_is_refused_even_with_the_same_value(victim: Trader, name: str) -> None:
    value = {"symbol_code": '"GOLD"', "trade_type": '"buy"', "client_order_id": '"x"'}.get(name, "1")
    twice = body(**{name: value})[:-1] + f',"{name}":{value}}}'.encode()
    assert (["body", name], "duplicate") in problems(victim.send(twice, str(uuid4())))
    escaped = body(**{name: value})[:-1] + f',"\\u{ord(name[0]):04x}{name[1:]}":{value}}}'.encode()
    assert (["body", name], "duplicate") in problems(victim.send(escaped, str(uuid4())))


HOSTILE_CODES = [
    "'; DROP TABLE orders; --",
    "GOLD' OR '1'='1",
    'GOLD"',
    "GOLD\\",
    "%",
    "_OLD",
    "{0}",
    "%s%n",
    "${jndi:ldap://x}",
    "../../etc/passwd",
    "GOLD\n",
    "\u202eDLOG",
    "ＧＯＬＤ",
    "GОLD",
    "\U0001f947",
    "$1",
]


@pytest.mark.parametrize("code", HOSTILE_CODES)
def test_hostile_text_in_a_symbol_is_an_unknown_symbol(victim: Trader, code: str) -> None:
    refused(victim.place(symbol_code=code), "unknown_symbol")


HOSTILE_NAMES = [
    "two\nlines",
    "\r\nX-Injected: yes",
    '{"event": "forged"}\n{"event": "forged"}',
    "\x1b[2J\x1b[31mred\x07",
    "tab\tand\x7fdelete\x1f",
    "\u2028\u2029\u0085",
    "\u202eesrever",
    "'; DROP TABLE orders; --",
    "<script>alert(1)</script>",
    "\U0001f947\u0301\ufeff",
    "\ufffe\uffff",
    "%00%0a",
]


@pytest.mark.parametrize("text", HOSTILE_NAMES)
def test_hostile_text_in_a_client_order_id_is_echoed_and_kept(market: Market, text: str) -> None:
    trader = market.trader()
    name = str(uuid4())
    answer = trader.place(name, client_order_id=text)
    order = booked(answer)
    assert order["client_order_id"] == text
    assert "x-injected" not in answer.headers
    assert trader.order(order["id"]).json() == order
    assert trader.orders(client_order_id=text) == {"items": [order], "total": 1}
    assert replayed(trader.place(name, client_order_id=text)) == order


def test_logs_stay_one_entry_a_line_and_hold_no_control_characters(node: Node, market: Market) -> None:
    trader = market.trader()
    for text in HOSTILE_NAMES:
        booked(trader.place(client_order_id=text))
        trader.place(client_order_id=text, quantity=0)
        trader.place(client_order_id=text, symbol_code=text[:32])
    marker = trader.place(symbol_code="LAST").headers["x-request-id"]
    until(lambda: any(entry["request_id"] == marker for entry in node.entries("call")), 5)
    for line in list(node.log):
        assert isinstance(json.loads(line), dict), line
        assert line.rstrip("\n").isprintable(), ascii(line)
    assert not node.entries("forged")
    assert not node.entries("internal_error")


# --- Size, encoding, type ---------------------------------------------------------------------------------


def test_64_kib_are_taken_and_a_byte_more_is_not(market: Market) -> None:
    trader = market.trader()
    whole = GOOD + b" " * (64 * 1024 - len(GOOD))
    booked(trader.send(whole, str(uuid4())))
    refused(trader.send(whole + b" ", str(uuid4())), "request_too_large")
    assert trader.orders()["total"] == 1


def test_a_large_body_is_refused_unread(victim: Trader) -> None:
    announced = b"Content-Length: %d" % (10 * 1024 * 1024)
    started = time.monotonic()
    answer = victim.raw(b"{", JSON, b"Idempotency-Key: k", announced, framed=False)
    refused(answer, "request_too_large")
    assert time.monotonic() - started < 5, "without waiting for the rest"


def test_an_endless_chunked_body_is_cut_off(victim: Trader) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(10_000):
            yield b" " * 1024

    headers = {"Idempotency-Key": str(uuid4()), "Content-Type": "application/json"}
    refused(victim.http.post(ORDERS, content=chunks(), headers=headers), "request_too_large")


def test_a_chunked_body_is_a_body(market: Market) -> None:
    trader = market.trader()

    def chunks() -> Iterator[bytes]:
        for number in range(len(GOOD)):
            yield GOOD[number : number + 1]

    headers = {"Idempotency-Key": str(uuid4()), "Content-Type": "application/json"}
    booked(trader.http.post(ORDERS, content=chunks(), headers=headers))


@pytest.mark.parametrize(
    "encoding", ["gzip", "deflate", "br", "zstd", "GZIP", "gzip, gzip", "x", "identity, gzip"]
)
def test_a_compressed_body_is_not_taken(victim: Trader, encoding: str) -> None:
    answer = victim.send(gzip.compress(GOOD), str(uuid4()), **{"Content-Encoding": encoding})
    refused(answer, "unsupported_encoding")
    bomb = gzip.compress(b" " * 10_000_000)
    refused(victim.send(bomb, str(uuid4()), **{"Content-Encoding": encoding}), "unsupported_encoding")


@pytest.mark.parametrize(
    "content_type",
    [
        b"application/json",
        b"Application/JSON",
        b"application/json;charset=utf-8",
        b'application/json ; charset="UTF-8"',
        b"application/json;",
        b"application/json; charset=utf8",
        b'application/json; charset="UTF8"',
        b"application/json; charset=US-ASCII",
        b'application/json; charset="us-ascii"',
        b"application/json; odata=verbose",
        b'application/json; profile="https://example.org/a;b\\"c"; charset=Utf8; version=1',
    ],
)
def test_json_by_every_name_it_has(market: Market, content_type: bytes) -> None:
    trader = market.trader()
    booked(trader.raw(GOOD, b"Content-Type: " + content_type, b"Idempotency-Key: k"))


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        ([], "missing"),
        ([b""], "missing"),
        ([b"text/plain"], "bad_content_type"),
        ([b"text/json"], "bad_content_type"),
        ([b"application/jsonp"], "bad_content_type"),
        ([b"application/json, text/html"], "bad_content_type"),
        ([b"application/x-www-form-urlencoded"], "bad_content_type"),
        ([b"multipart/form-data; boundary=x"], "bad_content_type"),
        ([b"application/json; charset=latin-1"], "bad_content_type"),
        ([b"application/json; charset=utf-16"], "bad_content_type"),
        ([b"application/json; charset=utf-8; charset=utf-16"], "bad_content_type"),
        ([b"application/json; version=1; charset=latin-1"], "bad_content_type"),
        ([b"application/json; version"], "bad_content_type"),
        ([b"application/json; version="], "bad_content_type"),
        ([b"application/json; =1"], "bad_content_type"),
        ([b'application/json; version="1'], "bad_content_type"),
        ([b"application/json; version=1 2"], "bad_content_type"),
        ([b"application/json\xff"], "bad_content_type"),
        ([b"application/json;" + b" ;" * 5000 + b"x"], "bad_content_type"),
        ([b"application/json", b"application/json"], "duplicate"),
        ([b"application/json", b"text/plain"], "duplicate"),
    ],
)
def test_another_type_is_a_problem_of_the_request(victim: Trader, sent: list[bytes], kind: str) -> None:
    headers = [b"Content-Type: " + value for value in sent]
    answer = victim.raw(GOOD, b"Idempotency-Key: k", *headers)
    assert problems(answer) == [(["header", "Content-Type"], kind)]


# --- The frame of the message -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "framing",
    [
        [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
        [b"Transfer-Encoding: chunked", b"Content-Length: 5"],
        [b"Content-Length: 5", b"Content-Length: 6"],
        [b"Content-Length: -5"],
        [b"Content-Length: +5"],
        [b"Content-Length: five"],
        [b"Content-Length: 5, 5"],
        [b"Transfer-Encoding: gzip, chunked"],
        [b"Transfer-Encoding: xchunked"],
        [b"Content-Length : 5"],
        [b"X-Header: a\x00b"],
        [b"X-Header: a\rb", b"Content-Length: 5"],
        [b" X-Header: folded", b"Content-Length: 5"],
        [b"\xc3\xa9: x", b"Content-Length: 5"],
    ],
)
def test_a_frame_that_can_be_read_two_ways_ends_the_connection(victim: Trader, framing: list[bytes]) -> None:
    chunked = any(b"chunked" in line for line in framing)
    content = b"0\r\n\r\nPOST" if chunked else b"x" * 5
    answer = victim.raw(content, JSON, b"Idempotency-Key: k", *framing, framed=False)
    assert answer.status_code in (400, 501), answer.text
    assert answer.headers["connection"] == "close"


def test_a_malformed_chunk_ends_the_connection(victim: Trader) -> None:
    frame = b"Transfer-Encoding: chunked"
    for chunks in (b"zz\r\n{}\r\n0\r\n\r\n", b"-1\r\n{}\r\n0\r\n\r\n", b"fffffffffffffffffff\r\n{}"):
        answer = victim.raw(chunks, JSON, b"Idempotency-Key: k", frame, framed=False)
        assert answer.status_code in (400, 413), answer.text


def test_long_headers_are_refused(victim: Trader) -> None:
    answer = victim.raw(GOOD, JSON, b"Idempotency-Key: " + b"k" * 17_000)
    refused(answer, "headers_too_large")
    answer = victim.raw(GOOD, JSON, *(b"X-%d: x" % number for number in range(3000)))
    refused(answer, "headers_too_large")


def test_no_hostile_body_takes_long(victim: Trader) -> None:
    """Each costs about what a plain refusal of its size does: there is no input to wait for."""
    started = time.perf_counter()
    for _ in range(10):
        victim.send(b"x" * 60_000, str(uuid4()))
    plain_s = (time.perf_counter() - started) / 10
    contents: dict[str, Any] = NOT_AN_ORDER | {
        name: body(quantity=text) for name, text in NOT_A_QUANTITY.items()
    }
    slow = list(contents)
    for _ in range(3):  # What costs much does so every time; a pause of the machine does not.
        took_s: dict[str, float] = {}
        for name in slow:
            started = time.perf_counter()
            victim.send(contents[name], str(uuid4()))
            took_s[name] = time.perf_counter() - started
        slow = [name for name in slow if took_s[name] > 20 * plain_s + 0.25]
    assert not slow, took_s
