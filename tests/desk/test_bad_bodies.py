"""Bodies that are no bodies: refused in words, cheaply, on every call that takes one; nothing changes."""

import gzip
import json
from typing import Any

import pytest

from tests.support.desk import KEY, SYMBOL, Office, nothing_changed, refusal
from tests.support.processes import cpu_s

NOT_OBJECTS: dict[str, bytes] = {
    "no JSON": b"metal=gold",
    "half of it": b'{"name": "A',
    "two of them": b"{} {}",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "not UTF-8": b'{"name": "\xff\xfe"}',
    "NUL bytes": b"\x00\x00",
    "a list": b"[]",
    "a text": b'"gold"',
    "a number": b"7",
    "null": b"null",
    "NaN": b'{"x": NaN}',
    "a comment": b"{} // nothing",
    "deep arrays": b"[" * 100_000,
    "deep objects": b'{"a":' * 40_000,
    "deep inside a field": b'{"name": ' + b"[" * 100_000,
    "a number of 5,000 digits": b'{"name": ' + b"1" * 5_000 + b"}",
    "a huge exponent": b'{"name": 1e99999999999999999999}',
    "a lone surrogate": rb'{"name": "\ud800"}',
    "a lone surrogate, then more": rb'{"name": "\ud800 and more"}',
    "a lone low surrogate": rb'{"name": "a\udc00b"}',
    "a lone surrogate for a name": rb'{"\ud800": "and some more text"}',
}
NEVER = "01a1de14-d0ac-74ff-b60f-dff545fade43"
WRITES = [
    ("PUT", "/symbols/GOLD"),
    ("PATCH", "/symbols/GOLD"),
    ("PUT", "/groups/retail"),
    ("PUT", "/rates/GOLD"),
    ("PUT", "/duties/gold"),
    ("POST", "/accounts/client/test-book/reset"),
    ("POST", "/accounts"),
    ("PATCH", "/accounts/client"),
    ("POST", "/accounts/client/keys"),
    ("POST", "/keys/{key_id}/rotate"),
    ("POST", "/keys/{key_id}/revoke"),
    ("PATCH", "/switches"),
    ("POST", "/tokens"),
    ("POST", "/orders"),
    *(("POST", f"/orders/{NEVER}/{what}") for what in ("close", "complete", "delete", "confirm", "refuse")),
    ("PATCH", "/hedge"),
    ("PATCH", "/hedge/book/gold"),
    ("PUT", "/hedge/contracts/GOLDM"),
    ("POST", "/hedge/covers"),
    ("POST", f"/hedge/covers/{NEVER}/drop"),
    ("POST", f"/hedge/covers/{NEVER}/fill"),
    ("POST", "/hedge/currency"),
    ("POST", "/hedge/statement"),
    ("POST", f"/hedge/breaks/{NEVER}/resolve"),
]


@pytest.mark.parametrize("raw", NOT_OBJECTS.values(), ids=NOT_OBJECTS)
def test_what_is_no_json_object_is_refused_everywhere(standing: Office, key_id: str, raw: bytes) -> None:
    with nothing_changed(standing.desk):
        for method, path in WRITES:
            refusal(standing.desk.raw(method, path.format(key_id=key_id), raw), 422, "invalid_request")


def test_a_body_of_very_many_fields_is_refused_quickly(standing: Office) -> None:
    raw = json.dumps({f"field{number}": 0 for number in range(15_000)}).encode()
    assert 200_000 < len(raw) < 256 * 1024
    with nothing_changed(standing.desk):
        before_s = cpu_s(standing.node.process.pid)
        refusal(standing.desk.raw("PATCH", "/switches", raw), 422, "invalid_request")
        assert cpu_s(standing.node.process.pid) - before_s < 1


def test_two_values_for_one_name_are_refused(standing: Office, key_id: str) -> None:
    """Which one was meant? The last would win in silence."""
    bodies = {
        ("PATCH", "/switches"): b'{"halted": true, "halted": false}',
        ("PATCH", "/symbols/GOLD"): b'{"frozen": true, "frozen": false}',
        ("PATCH", "/accounts/client"): b'{"allocation": {"gold": "1", "gold": "2"}}',
        ("POST", "/accounts"): b'{"login_id": "a", "group": "retail", "login_id": "b"}',
        ("PUT", "/groups/retail"): b'{"terms": {"GOLD": {}, "GOLD": {"step": "1"}}}',
        ("PUT", "/rates/GOLD"): b'{"bid": "1", "ask": "2", "bid": "2"}',
        ("PUT", "/duties/gold"): b'[{"from": "2026-05-13", "rupees": "1", "rupees": "2"}]',
        ("PATCH", "/hedge"): b'{"instruments": {"GOLD": "unknown", "GOLD": "tradable"}}',
        ("POST", f"/orders/{NEVER}/complete"): b'{"close_price": "1", "close_price": "2"}',
        ("POST", f"/keys/{key_id}/rotate"): b'{"overlap_s": 1, "overlap_s": 2}',
    }
    with nothing_changed(standing.desk):
        for (method, path), raw in bodies.items():
            refusal(standing.desk.raw(method, path, raw), 422, "invalid_request")


def test_a_deep_body_is_refused_in_words_about_the_body(standing: Office, key_id: str) -> None:
    answer = standing.desk.raw("PATCH", "/switches", b'{"name": ' + b"[" * 100_000)
    assert "recursion" not in refusal(answer, 422, "invalid_request")


def test_a_lone_surrogate_is_not_called_a_cut_off_body(standing: Office, key_id: str) -> None:
    answer = standing.desk.raw("PATCH", "/accounts/client", rb'{"firm_name": "\ud800"}')
    assert "truncated" not in refusal(answer, 422, "invalid_request")


def test_a_body_of_300_kib_is_413(standing: Office, key_id: str) -> None:
    raw = json.dumps({"name": "x" * 300 * 1024}).encode()
    with nothing_changed(standing.desk):
        for method, path in WRITES:
            answer = standing.desk.raw(method, path.format(key_id=key_id), raw)
            assert refusal(answer, 413, "request_too_large") == "The body is over 256 KiB."


def test_a_body_of_untold_length_is_413_once_it_is_too_long(standing: Office) -> None:
    with nothing_changed(standing.desk):
        answer = standing.desk.post("/accounts", content=(b" " * 16_384 for _ in range(20)))
        refusal(answer, 413, "request_too_large")


def test_a_body_just_under_the_limit_is_read(standing: Office) -> None:
    body = json.dumps({"name": "x"}).encode()
    padded = body + b" " * (256 * 1024 - len(body))
    assert "role" in refusal(standing.desk.raw("POST", "/tokens", padded), 422, "invalid_request")


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "deflate, gzip", "br", "nonsense"])
def test_a_compressed_body_is_415(standing: Office, key_id: str, encoding: str) -> None:
    raw = gzip.compress(json.dumps(SYMBOL).encode())
    with nothing_changed(standing.desk):
        for method, path in WRITES:
            answer = standing.desk.raw(
                method, path.format(key_id=key_id), raw, **{"Content-Encoding": encoding}
            )
            refusal(answer, 415, "unsupported_encoding")


def test_identity_is_no_compression(office: Office) -> None:
    body = json.dumps({"login_id": "plain", "group": "retail"}).encode()
    assert office.desk.raw("POST", "/accounts", body, **{"Content-Encoding": "identity"}).status_code == 201


CONTROLS = {
    "NUL": "a\x00b",
    "NUL last": "a\x00",
    "a tab": "a\tb",
    "a new line": "a\nb",
    "a new line first": "\na",
    "a new line last": "a\n",
    "a carriage return last": "a\r",
    "an escape": "a\x1b[2Jb",
    "a delete": "a\x7fb",
}
TEXTS: dict[str, tuple[str, str, Any]] = {
    "a firm's name": ("POST", "/accounts", {"login_id": "x", "group": "retail", "firm_name": ...}),
    "a login": ("POST", "/accounts", {"login_id": ..., "group": "retail"}),
    "an account's group": ("POST", "/accounts", {"login_id": "x", "group": ...}),
    "a changed firm's name": ("PATCH", "/accounts/client", {"firm_name": ...}),
    "a key's name": ("POST", "/accounts/client/keys", KEY | {"name": ...}),
    "a rotated key's name": ("POST", "/keys/{key_id}/rotate", {"name": ...}),
    "a token's name": ("POST", "/tokens", {"name": ..., "role": "viewer"}),
    "an instrument": ("PUT", "/symbols/X", SYMBOL | {"pricing": {"kind": "direct", "instrument": ...}}),
    "the time of a rate": ("PUT", "/rates/GOLD", {"bid": "1", "ask": "2", "at": ...}),
    "the day of a duty": ("PUT", "/duties/gold", [{"from": ..., "rupees": "1"}]),
    "the symbol of a group's terms": ("PUT", "/groups/x", {"terms": {...: {"buy_premium": "0"}}}),
    "a time zone": ("PATCH", "/switches", {"trading_hours": {"zone": ..., "week": {}}}),
    "an expiry": ("POST", "/accounts/client/keys", KEY | {"expires_at": ...}),
    "an address": ("POST", "/accounts/client/keys", KEY | {"allowed_addresses": [...]}),
}


def filled(body: Any, text: str) -> Any:
    """The body with the text where it has dots."""
    match body:
        case dict():
            return {filled(name, text): filled(value, text) for name, value in body.items()}
        case list():
            return [filled(value, text) for value in body]
    return text if body is ... else body


@pytest.mark.parametrize("text", CONTROLS.values(), ids=CONTROLS)
def test_control_characters_are_refused_in_every_text(office: Office, text: str) -> None:
    office.desk.account("client")
    key_id = office.desk.key("client")["key_id"]
    taken = []
    for what, (method, path, body) in TEXTS.items():
        with_text = json.dumps(filled(body, text)).encode()
        answer = office.desk.raw(method, path.format(key_id=key_id), with_text)
        if answer.status_code != 422:
            taken.append(f"{what}: {answer.status_code}")
    assert taken == []


def test_text_of_any_script_is_kept_as_it_is(office: Office) -> None:
    name = "सोना & Söhne «A» \"B\" <script>alert('x')</script> \\ ' ; -- 🪙"
    office.desk.account("script", firm_name=name)
    assert office.desk.do("GET", "/accounts/script")["firm_name"] == name


def test_a_content_type_does_not_matter(office: Office) -> None:
    body = json.dumps({"login_id": "typed", "group": "retail"}).encode()
    assert office.desk.raw("POST", "/accounts", body, **{"Content-Type": "text/plain"}).status_code == 201
