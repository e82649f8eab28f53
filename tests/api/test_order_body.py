"""`POST /orders` as it arrives: what is read, what is refused, and that every problem is told at once."""

import json
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from bullion.api.order_body import read_place_order
from bullion.orders.request import PlaceOrder
from bullion.refusals.catalogue import IDEMPOTENCY_KEY_REQUIRED, INVALID_REQUEST
from bullion.refusals.refusal import RefusalError
from bullion.web.headers import values_by_name

KEY = (b"idempotency-key", b"5f0c9a52-7f6e-4a51-9d0e-3b1c1f6d2a77")
JSON = (b"content-type", b"application/json")
HEADERS = [(b"host", b"localhost"), KEY, JSON, (b"accept", b"*/*")]
FIELDS: dict[str, str] = {
    "symbol_code": '"GOLD"',
    "trade_type": '"buy"',
    "quantity": "12.5",
    "expected_price": "71234.50",
    "client_order_id": '"desk-7"',
}


class Problem(NamedTuple):
    loc: tuple[str, ...]
    type: str


def body(**changed: str | None) -> bytes:
    """The JSON of a good order, with fields put in as they are or, with None, left out."""
    fields = {name: text for name, text in (FIELDS | changed).items() if text is not None}
    return ("{" + ", ".join(f'"{name}": {text}' for name, text in fields.items()) + "}").encode()


def read(raw: bytes) -> PlaceOrder:
    return read_place_order(values_by_name(HEADERS), raw)[1]


def attempt(raw: bytes) -> PlaceOrder | RefusalError:
    try:
        return read(raw)
    except RefusalError as refusal:
        return refusal


def refused(raw: bytes, headers: list[tuple[bytes, bytes]] = HEADERS) -> RefusalError:
    with pytest.raises(RefusalError) as caught:
        read_place_order(values_by_name(headers), raw)
    return caught.value


def errors(raw: bytes, headers: list[tuple[bytes, bytes]] = HEADERS) -> list[dict[str, Any]]:
    refusal = refused(raw, headers)
    assert refusal.refusal is INVALID_REQUEST
    # As the caller gets them: what cannot be answered with is not a list of errors.
    answered = json.loads(msgspec.json.encode(refusal.body()))
    found: list[dict[str, Any]] = answered["detail"]["errors"]
    for error in found:
        assert list(error) == ["loc", "msg", "type"]
        assert error["msg"].endswith(".")
        assert len(error["msg"]) < 300
        assert error["msg"].isprintable()
    return found


def problems(raw: bytes, headers: list[tuple[bytes, bytes]] = HEADERS) -> list[Problem]:
    return [Problem(tuple(error["loc"]), error["type"]) for error in errors(raw, headers)]


def of(field: str, kind: str) -> list[Problem]:
    return [Problem(("body", field), kind)]


WHOLE = ("body",)

# --- What is read -------------------------------------------------------------------------------------


def test_a_good_order_is_read() -> None:
    key, order = read_place_order(values_by_name(HEADERS), body())
    assert key == "5f0c9a52-7f6e-4a51-9d0e-3b1c1f6d2a77"
    assert order == PlaceOrder("GOLD", "buy", 125_000, "71234.5", "desk-7")
    assert type(order.expected_price) is str


@pytest.mark.parametrize("text", [None, "null"])
def test_an_optional_field_may_be_absent_or_null(text: str | None) -> None:
    order = read(body(expected_price=text, client_order_id=text))
    assert order == PlaceOrder("GOLD", "buy", 125_000, None, None)


def test_order_of_fields_and_white_space_do_not_matter() -> None:
    names = reversed(FIELDS)
    raw = " \t\r\n{\n" + ",\r\n".join(f'\t"{name}"  :  {FIELDS[name]}' for name in names) + "\n}\n \t\r\n"
    assert read(raw.encode()) == read(body())


def test_texts_are_kept_as_they_are() -> None:
    odd = "a\n\x1b[31m\u202e🪙 सोना '; drop table orders; -- <b>"
    order = read(body(client_order_id=json.dumps(odd), trade_type='"Buy "', symbol_code='" gold\\t"'))
    assert (order.client_order_id, order.trade_type, order.symbol_code) == (odd, "Buy ", " gold\t")
    assert read(body(client_order_id=json.dumps(odd, ensure_ascii=False).replace("\x1b", "\\u001b"))) == read(
        body(client_order_id=json.dumps(odd))
    )


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=64))
def test_every_text_of_64_characters_is_a_reference(text: str) -> None:
    assert read(body(client_order_id=json.dumps(text))).client_order_id == text
    assert read(body(trade_type=json.dumps(text))).trade_type == text


@pytest.mark.parametrize(("field", "most"), [("symbol_code", 32), ("client_order_id", 64)])
def test_lengths_are_counted_in_characters(field: str, most: int) -> None:
    for character in "a", "é", "🪙":
        assert getattr(read(body(**{field: json.dumps(character * most)})), field) == character * most
        assert problems(body(**{field: json.dumps(character * (most + 1))})) == of(field, "too_long")


def test_a_reference_may_be_empty_and_a_symbol_may_not() -> None:
    assert read(body(client_order_id='""')).client_order_id == ""
    assert problems(body(symbol_code='""')) == of("symbol_code", "empty")


def test_a_side_that_is_none_is_not_judged_here() -> None:
    for text in "hold", "", "BUY", "b" * 1000:
        assert read(body(trade_type=json.dumps(text))).trade_type == text


# --- Numbers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "e4"),
    [
        ("1", 10_000),
        ("1.0", 10_000),
        ("100.00000", 1_000_000),
        ("1e2", 1_000_000),
        ("1E+2", 1_000_000),
        ("0.0001", 1),
        ("1e-4", 1),
        ("0.00010000000", 1),
        ("10000e-8", 1),
        ("0.00001e1", 1),
        ("1000000", 10**10),
        ("1000000.0000000", 10**10),
        ("1e6", 10**10),
        ("0.000000000000000000000000001e33", 10**10),
        ("1e0000000000000000000000000000002", 1_000_000),
        ("1e-0", 10_000),
        ("999999.9999", 9_999_999_999),
        ("0." + "0" * 80 + "15e81", 15_000),
        ("1." + "0" * 98, 10_000),
    ],
)
def test_a_quantity_is_read_by_its_value(text: str, e4: int) -> None:
    assert read(body(quantity=text)).quantity_e4 == e4


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0", "too_small"),
        ("0.00000", "too_small"),
        ("-0", "too_small"),
        ("-0.0", "too_small"),
        ("0e999999999", "too_small"),
        ("-1", "too_small"),
        ("-1e99999999999999999999", "too_small"),
        ("1.00005", "too_many_digits"),
        ("1.00000000000000000001", "too_many_digits"),
        ("0.00001", "too_many_digits"),
        ("1e-5", "too_many_digits"),
        ("1e-999999", "too_many_digits"),
        ("1e-99999999999999999999", "too_many_digits"),
        ("1000000.0001", "too_large"),
        ("1000001", "too_large"),
        ("9999999", "too_large"),
        ("1e7", "too_large"),
        ("1e999999", "too_large"),
        ("1e99999999999999999999", "too_large"),
        ("1e" + "9" * 98, "too_large"),
        ("12345678901234567890.5", "too_large"),
        ("1." + "0" * 99, "too_long"),
        ("1e" + "9" * 99, "too_long"),
        ("1" * 5_000, "too_long"),
        ("1." + "1" * 5_000, "too_long"),
        ("1e" + "1" * 5_000, "too_long"),
        ("true", "not_a_number"),
        ("false", "not_a_number"),
        ("null", "not_a_number"),
        ('"12.5"', "not_a_number"),
        ('""', "not_a_number"),
        ("[1]", "not_a_number"),
        ('{"a": 1}', "not_a_number"),
        ("{}", "not_a_number"),
        ("NaN", "not_a_number"),
        ("Infinity", "not_a_number"),
        ("-Infinity", "not_a_number"),
        (None, "missing"),
    ],
)
def test_a_bad_quantity_is_told(text: str | None, kind: str) -> None:
    assert problems(body(quantity=text)) == of("quantity", kind)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("100", "100"),
        ("100.00", "100"),
        ("71234.50", "71234.5"),
        ("0.05", "0.05"),
        ("5e-2", "0.05"),
        ("0.050e0", "0.05"),
        ("1e2", "100"),
        ("1.5E3", "1500"),
        ("12345678901234567891", "12345678901234567891"),
        ("12345678901234567891000", "12345678901234567891000"),
        ("1234567890.1234567890", "1234567890.123456789"),
        ("0.12345678901234567890", "0.1234567890123456789"),
        ("0.1", "0.1"),
        ("1e100", "1" + "0" * 100),
        ("9.9e100", "99" + "0" * 99),
        ("1e-100", "0." + "0" * 99 + "1"),
        ("1" + "0" * 99, "1" + "0" * 99),
    ],
)
def test_a_price_has_one_plain_text(text: str, plain: str) -> None:
    assert read(body(expected_price=text)).expected_price == plain


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0", "too_small"),
        ("0.0", "too_small"),
        ("-0", "too_small"),
        ("-71234.5", "too_small"),
        ("1e101", "too_large"),
        ("10e100", "too_large"),
        ("0.1e-100", "too_small"),
        ("1e999999", "too_large"),
        ("1e-999999", "too_small"),
        ("1e99999999999999999999", "too_large"),
        ("1e-" + "9" * 97, "too_small"),
        ("123456789012345678901", "too_many_digits"),
        ("0.123456789012345678901", "too_many_digits"),
        ("1" * 5_000, "too_long"),
        ('"71234.5"', "not_a_number"),
        ("true", "not_a_number"),
        ("NaN", "not_a_number"),
        ("[]", "not_a_number"),
    ],
)
def test_a_bad_price_is_told(text: str, kind: str) -> None:
    assert problems(body(expected_price=text)) == of("expected_price", kind)


def test_two_faults_of_one_number_are_both_told() -> None:
    found = problems(body(expected_price="1.23456789012345678901e200"))
    assert found == of("expected_price", "too_many_digits") + of("expected_price", "too_large")


NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)


@given(NUMBERS)
@example("1000000.0001")
@example("1000000.00010e0")
def test_a_quantity_is_what_an_exact_decimal_says(text: str) -> None:
    e4 = Decimal(text).scaleb(4)
    if 0 < e4 <= 10**10 and e4 == e4.to_integral_value():
        assert read(body(quantity=text)).quantity_e4 == e4
    else:
        assert {problem.loc for problem in problems(body(quantity=text))} == {("body", "quantity")}


@given(NUMBERS)
def test_a_price_is_what_an_exact_decimal_says(text: str) -> None:
    value = Decimal(text)
    digits = "".join(map(str, value.as_tuple().digits)).strip("0")
    if value > 0 and len(digits) <= 20 and abs(value.adjusted()) <= 100:
        plain = read(body(expected_price=text)).expected_price
        assert plain is not None
        assert Decimal(plain) == value
        assert read(body(expected_price=plain if len(plain) <= 100 else text)).expected_price == plain
    else:
        assert {problem.loc for problem in problems(body(expected_price=text))} == {
            ("body", "expected_price")
        }


@given(st.integers(1, 10**20 - 1), st.integers(-40, 40), st.integers(0, 20))
def test_equal_prices_have_equal_texts(digits: int, power: int, zeros: int) -> None:
    one = f"{digits}e{power}"
    other = f"{Decimal(one):f}"
    other += "0" * zeros if "." in other else "." + "0" * (zeros + 1)
    assume(len(other) <= 100)
    plain = read(body(expected_price=one)).expected_price
    assert plain == read(body(expected_price=other)).expected_price
    assert plain is not None
    assert "e" not in plain
    assert plain == plain.strip() == plain.lstrip("+")
    assert "." not in plain or not plain.endswith(("0", "."))
    assert not plain.startswith("0") or plain.startswith("0.")


# --- Bodies that are none -----------------------------------------------------------------------------

NOT_OBJECTS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "not_json"),
    "white space": (b" \r\n", "not_json"),
    "a form": (b"symbol_code=GOLD&quantity=1", "not_json"),
    "half of it": (body()[:-1], "not_json"),
    "two of them": (body() + body(), "not_json"),
    "more after it": (body() + b" x", "not_json"),
    "a comma too many": (body()[:-1] + b",}", "not_json"),
    "a comment": (b"// order\n" + body(), "not_json"),
    "single quotes": (body().replace(b'"', b"'"), "not_json"),
    "a byte order mark": (b"\xef\xbb\xbf" + body(), "not_json"),
    "UTF-16": (body().decode().encode("utf-16-le"), "not_json"),
    "UTF-16 with its mark": (body().decode().encode("utf-16"), "not_utf8"),
    "Latin-1": (body(client_order_id='"é"').decode().encode("latin-1"), "not_utf8"),
    "an overlong NUL": (body().replace(b"desk", b"\xc0\x80"), "not_utf8"),
    "a surrogate in UTF-8": (body().replace(b"desk", b"\xed\xa0\x80"), "not_utf8"),
    "NUL bytes": (b"\0\0\0", "not_json"),
    "a NUL after it": (body() + b"\0", "not_json"),
    "a raw NUL in a string": (body().replace(b"desk", b"\0"), "not_json"),
    "a raw new line in a string": (body().replace(b"desk", b"\n"), "not_json"),
    "a half escape": (body(client_order_id=r'"\u12"'), "not_json"),
    "Unicode digits": (body(quantity="١٢"), "not_json"),
    "full-width digits": (body(quantity="１２.５"), "not_json"),
    "a Unicode digit among others": (body(quantity="1٢"), "not_json"),
    "a plus sign": (body(quantity="+1"), "not_json"),
    "a leading zero": (body(quantity="01"), "not_json"),
    "no digit before the point": (body(quantity=".5"), "not_json"),
    "no digit after the point": (body(quantity="1."), "not_json"),
    "hexadecimal": (body(quantity="0x10"), "not_json"),
    "an underscore": (body(quantity="1_000"), "not_json"),
    "no-break space": ("\u00a0".encode() + body(), "not_json"),
    "a list": (b"[" + body() + b"]", "not_an_object"),
    "pairs in a list": (b'[["symbol_code", "GOLD"]]', "not_an_object"),
    "a string": (b'"GOLD"', "not_an_object"),
    "a number": (b"7", "not_an_object"),
    "a number of 5,000 digits": (b"7" * 5_000, "not_an_object"),
    "null": (b"null", "not_an_object"),
    "true": (b"true", "not_an_object"),
    "NaN": (b"NaN", "not_an_object"),
    "deep arrays": (b"[" * 100_000, "not_json"),
    "deep arrays, closed": (b"[" * 100_000 + b"]" * 100_000, "not_json"),
    "deep objects": (b'{"a":' * 100_000, "not_json"),
    "deep inside a field": (body(quantity="[" * 32_000 + "]" * 32_000), "not_json"),
}


@pytest.mark.parametrize(("raw", "kind"), NOT_OBJECTS.values(), ids=NOT_OBJECTS)
def test_what_is_no_json_object_is_one_problem_of_the_body(raw: bytes, kind: str) -> None:
    assert problems(raw) == [Problem(WHOLE, kind)]


def test_the_place_of_the_fault_is_told() -> None:
    assert "line 2, column 3" in errors(b"{\n  quantity: 1}")[0]["msg"]
    assert "byte order mark" in errors(b"\xef\xbb\xbf{}")[0]["msg"]
    assert "empty" in errors(b"")[0]["msg"]
    assert "an array" in errors(b"[]")[0]["msg"]
    assert "recursion" not in errors(b"[" * 100_000)[0]["msg"]


def test_a_field_may_be_nested_a_little_and_is_then_refused_as_what_it_is() -> None:
    deep = '{"a": ' * 100 + "[NaN, 1e999999, " + "1" * 5_000 + "]" + "}" * 100
    assert problems(body(symbol_code=deep)) == of("symbol_code", "not_a_string")


@given(st.binary(max_size=200))
def test_no_bytes_do_anything_but_be_refused(raw: bytes) -> None:
    assert problems(raw)


@given(st.data())
def test_no_change_of_some_bytes_is_a_fault_of_ours(data: st.DataObject) -> None:
    raw = bytearray(body(client_order_id=r'"\ud83e\ude99"', expected_price="1.5e-3"))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    outcome = attempt(bytes(raw))
    if isinstance(outcome, RefusalError):
        assert outcome.refusal is INVALID_REQUEST
        assert msgspec.json.encode(outcome.body())
    else:
        assert 0 < outcome.quantity_e4 <= 10**10
        assert msgspec.json.encode(outcome)


# --- Texts that cannot be kept ------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["symbol_code", "trade_type", "client_order_id"])
@pytest.mark.parametrize(
    "text", [r"\u0000", r"a\u0000b", r"\ud800", r"a\uDC00b", r"\udc00\ud800", r"\ud83e x"]
)
def test_a_nul_or_a_lone_surrogate_is_refused(field: str, text: str) -> None:
    assert problems(body(**{field: f'"{text}"'})) == of(field, "bad_character")


def test_a_pair_of_surrogates_is_a_character() -> None:
    assert read(body(client_order_id=r'"\ud83e\ude99"')).client_order_id == "🪙"


def test_an_escaped_backslash_is_no_escape() -> None:
    assert read(body(client_order_id=r'"\\u0000 \\ud800"')).client_order_id == r"\u0000 \ud800"


def test_a_bad_character_and_a_length_are_both_told() -> None:
    found = problems(body(symbol_code='"' + r"\u0000" * 33 + '"'))
    assert found == of("symbol_code", "too_long") + of("symbol_code", "bad_character")


# --- Names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["status", "price", "expected_prise", "Quantity", "quantity ", "", "🪙", "__class__"]
)
def test_an_unknown_field_is_named(name: str) -> None:
    raw = body(**{name: "null"})
    assert problems(raw) == of(name, "unknown_field")
    assert f'"{name}"' in errors(raw)[0]["msg"]


def test_a_known_name_may_be_written_with_escapes() -> None:
    assert read(body().replace(b"quantity", rb"\u0071uantity")) == read(body())


@pytest.mark.parametrize("name", FIELDS)
def test_a_name_sent_twice_is_refused(name: str) -> None:
    raw = body()[:-1] + f', "{name}": {FIELDS[name]}}}'.encode()
    assert problems(raw) == of(name, "duplicate")
    escaped = body()[:-1] + f', "\\u{ord(name[0]):04x}{name[1:]}": {FIELDS[name]}}}'.encode()
    assert problems(escaped) == of(name, "duplicate")


def test_an_unknown_name_sent_twice_is_both() -> None:
    assert problems(body(x="1")[:-1] + b', "x": 2}') == of("x", "duplicate") + of("x", "unknown_field")


def test_of_a_strange_name_a_safe_excerpt_is_told() -> None:
    raw = body()[:-1] + rb', "\ud800\u0000\u202e\u001b' + b"x" * 60_000 + b'": 1}'
    (error,) = errors(raw)
    assert error["type"] == "unknown_field"
    assert error["loc"] == ["body", r"\ud800\x00\u202e\x1b" + "x" * 124 + "…"]


def test_thousands_of_names_give_a_bounded_answer() -> None:
    names = [f"{number:x}" for number in range(6_000)]
    raw = body(**dict.fromkeys(names, "0"), quantity="0")
    assert len(raw) < 64 * 1024
    found = errors(raw)
    assert len(found) == 21
    assert (found[0]["loc"], found[0]["type"]) == (["body", "quantity"], "too_small")
    assert (found[-1]["loc"], found[-1]["type"]) == (["body"], "more_problems")
    assert "5981 more" in found[-1]["msg"]


def test_thousands_of_repeated_names_give_a_bounded_answer() -> None:
    raw = "{" + ", ".join(f'"{number % 2_000:x}": 0' for number in range(4_000)) + "}"
    found = errors(raw.encode())
    assert [error["type"] for error in found] == ["missing"] * 3 + ["duplicate"] * 17 + ["more_problems"]
    assert "3983 more" in found[-1]["msg"]


# --- Headers ------------------------------------------------------------------------------------------


def with_keys(*keys: bytes) -> list[tuple[bytes, bytes]]:
    return [JSON, *((b"idempotency-key", key) for key in keys)]


def with_types(*types: bytes) -> list[tuple[bytes, bytes]]:
    return [KEY, *((b"content-type", content_type) for content_type in types)]


IDEMPOTENCY_KEY = ("header", "Idempotency-Key")
CONTENT_TYPE = ("header", "Content-Type")


@pytest.mark.parametrize("keys", [(), (b"",), (b"   ",), (b"\t ",), (b"", b"")])
@pytest.mark.parametrize("raw", [body(), b"", b"{}", b"[" * 100_000])
def test_without_a_key_only_that_is_told(keys: tuple[bytes, ...], raw: bytes) -> None:
    refusal = refused(raw, with_keys(*keys)[1:])
    assert refusal.refusal is IDEMPOTENCY_KEY_REQUIRED
    assert "errors" not in refusal.body()["detail"]


@pytest.mark.parametrize("key", [b"a", b"A" * 64, b"a b", b"~!@#$%^&*(){}[]\"'\\,;<>?/|`", b"0"])
def test_printable_ascii_is_a_key_as_it_is(key: bytes) -> None:
    assert read_place_order(values_by_name(with_keys(key)), body())[0] == key.decode()


def test_blanks_around_a_key_are_no_part_of_it() -> None:
    assert read_place_order(values_by_name(with_keys(b" \tAbc  ")), body())[0] == "Abc"


@pytest.mark.parametrize(
    ("keys", "kinds"),
    [
        ((b"a" * 65,), ["too_long"]),
        ((b"caf\xe9",), ["bad_character"]),
        ("ключ".encode().split(b" "), ["bad_character"]),
        ((b"a\x7fb",), ["bad_character"]),
        ((b"a\tb",), ["bad_character"]),
        ((b"a\x00",), ["bad_character"]),
        ((b"\xa0",), ["bad_character"]),
        ((b"\xff" * 65,), ["too_long", "bad_character"]),
        ((b"a", b"a"), ["duplicate"]),
        ((b"a", b"b"), ["duplicate"]),
        ((b"", b"b"), ["duplicate"]),
    ],
)
def test_a_bad_key_is_a_problem_among_the_others(keys: tuple[bytes, ...], kinds: list[str]) -> None:
    told = [Problem(IDEMPOTENCY_KEY, kind) for kind in kinds]
    assert problems(body(), with_keys(*keys)) == told
    assert problems(body(quantity="0"), with_keys(*keys)) == told + of("quantity", "too_small")
    assert problems(b"", with_keys(*keys)) == [*told, Problem(WHOLE, "not_json")]


@pytest.mark.parametrize(
    "content_type",
    [
        b"application/json",
        b"Application/JSON",
        b"application/json; charset=utf-8",
        b"application/json;charset=UTF-8",
        b'application/json ; Charset="Utf-8"',
        b"application/json;",
        b" application/json\t",
        b"application/json; charset=utf8",
        b'application/json; charset="US-ascii" ;',
        b'application/json; a=b; c="d; charset=latin-1 \\" \\\\"; charset=UTF8',
        b"application/json; charset_=latin-1",
    ],
)
def test_json_in_utf8_is_taken(content_type: bytes) -> None:
    assert read_place_order(values_by_name(with_types(content_type)), body())[1] == read(body())


@pytest.mark.parametrize(
    ("types", "kind"),
    [
        ((), "missing"),
        ((b"",), "missing"),
        ((b" ",), "missing"),
        ((b"text/plain",), "bad_content_type"),
        ((b"application/x-www-form-urlencoded",), "bad_content_type"),
        ((b"application/jsonx",), "bad_content_type"),
        ((b"application/json2; charset=utf-8",), "bad_content_type"),
        ((b"application/json-patch+json",), "bad_content_type"),
        ((b"text/json",), "bad_content_type"),
        ((b"application/json, application/json",), "bad_content_type"),
        ((b"application/json charset=utf-8",), "bad_content_type"),
        ((b"application/json; charset=latin-1",), "bad_content_type"),
        ((b"application/json; charset=utf-16",), "bad_content_type"),
        ((b'application/json; charset="utf-8',), "bad_content_type"),
        ((b"application/json; charset=",), "bad_content_type"),
        ((b"application/json\n",), "bad_content_type"),
        ((b"application/json;" + b" " * 16_000 + b"x",), "bad_content_type"),
        ((b"application/json; charset=utf-8 x",), "bad_content_type"),
        ((b"application/json; charset = utf-8",), "bad_content_type"),
        ((b"application/json; charset=utf-8-sig",), "bad_content_type"),
        ((b'application/json; CHARSET="utf-16"',), "bad_content_type"),
        ((b'application/json; a="\x01"',), "bad_content_type"),
        ((b"application/json" + b";a=b" * 4_000 + b"=",), "bad_content_type"),
        ((b'application/json; a="' + b"\\x" * 8_000,), "bad_content_type"),
        ((b"\xff\x00",), "bad_content_type"),
        ((b"application/json", b"application/json"), "duplicate"),
        ((b"application/json", b"text/plain"), "duplicate"),
    ],
)
def test_any_other_content_type_is_a_problem_among_the_others(types: tuple[bytes, ...], kind: str) -> None:
    told = [Problem(CONTENT_TYPE, kind)]
    assert problems(body(), with_types(*types)) == told
    assert problems(body(quantity=None), with_types(*types)) == told + of("quantity", "missing")


# --- All together -------------------------------------------------------------------------------------


def test_every_problem_is_told_at_once() -> None:
    raw = body(
        symbol_code='"' + "x" * 33 + '"',
        trade_type="7",
        quantity='"1"',
        expected_price="-1",
        client_order_id="[]",
        stop_loss="1",
    )
    headers = [(b"idempotency-key", b"a" * 65), (b"content-type", b"text/plain")]
    assert problems(raw[:-1] + b', "quantity": 0}', headers) == [
        Problem(IDEMPOTENCY_KEY, "too_long"),
        Problem(CONTENT_TYPE, "bad_content_type"),
        *of("symbol_code", "too_long"),
        *of("trade_type", "not_a_string"),
        *of("quantity", "too_small"),
        *of("expected_price", "too_small"),
        *of("client_order_id", "not_a_string"),
        *of("quantity", "duplicate"),
        *of("stop_loss", "unknown_field"),
    ]


def test_an_empty_object_lacks_three_fields() -> None:
    assert problems(b"{}") == of("symbol_code", "missing") + of("trade_type", "missing") + of(
        "quantity", "missing"
    )


@pytest.mark.parametrize("field", ["symbol_code", "trade_type"])
@pytest.mark.parametrize("text", ["null", "1", "true", "[]", "{}", "NaN", "1e5"])
def test_a_text_that_is_none_is_told(field: str, text: str) -> None:
    assert problems(body(**{field: text})) == of(field, "not_a_string")


@pytest.mark.parametrize("text", ["1", "true", "false", "[]", '{"a": 1}', "Infinity"])
def test_a_reference_that_is_no_text_is_told(text: str) -> None:
    assert problems(body(client_order_id=text)) == of("client_order_id", "not_a_string")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"1"', "a string"),
        ("null", "null"),
        ("true", "true"),
        ("false", "false"),
        ("[]", "an array"),
        ("{}", "an object"),
        ("-Infinity", "-Infinity"),
    ],
)
def test_what_was_sent_instead_is_told_in_words(text: str, words: str) -> None:
    assert errors(body(quantity=text))[0]["msg"].endswith(f"not {words}.")
