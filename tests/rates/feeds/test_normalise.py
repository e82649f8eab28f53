"""Messages of sources become quotes exactly, and rubbish becomes none."""

import json
from decimal import Decimal

import pytest

from bullion.rates.feeds.exact_json import NotJson, pointer_keys, read_json, value_at
from bullion.rates.feeds.normalise import JsonReader, NotANumber, side_e6, time_us
from bullion.rates.feeds.quote import Alive, Item, Quote, Unreadable
from bullion.rates.feeds.source_settings import Fields, SourceInstrument, SourceSettings

NOW_US = 1_800_000_000_000_000


@pytest.mark.parametrize(
    ("text", "scale", "bid_e6", "ask_e6"),
    [
        ("4800.15", "1", 4_800_150_000, 4_800_150_000),
        ("4800.1500000", "1", 4_800_150_000, 4_800_150_000),
        ("0.1", "1", 100_000, 100_000),
        ("15046.3", "10", 150_463_000_000, 150_463_000_000),
        ("15046300", "0.01", 150_463_000_000, 150_463_000_000),
        ("4.8e3", "1", 4_800_000_000, 4_800_000_000),
        ("48E+2", "1", 4_800_000_000, 4_800_000_000),
        ("92.0000001", "1", 92_000_000, 92_000_001),  # Rounded outwards.
        ("92.1234567", "1", 92_123_456, 92_123_457),
        ("1", "0.0000001", 0, 1),
        ("0", "1", 0, 0),
        ("-5.5", "1", -5_500_000, -5_500_000),  # A number; the guard refuses it.
        ("999999999.999999", "1", 999_999_999_999_999, 999_999_999_999_999),
        ("123456789.123456789012345678", "1", 123_456_789_123_456, 123_456_789_123_457),
    ],
)
def test_prices_are_exact(text: str, scale: str, bid_e6: int, ask_e6: int) -> None:
    assert side_e6(text, Decimal(scale), up=False) == bid_e6
    assert side_e6(text, Decimal(scale), up=True) == ask_e6


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "nan",
        "sNaN",
        "Infinity",
        "-Infinity",
        "inf",
        "",
        " 1",
        "1 ",
        "1,000",
        "0x10",
        "1_000",
        "١٢",
        "--1",
        *("1e", "e5", ".", "1e999", "1e-999", "1e999999999999", "1e99", "1" * 19, "1" * 400, "1000000000"),
        *("4e9", "true", "None"),
    ],
)
def test_what_is_not_a_price_is_refused(text: str) -> None:
    with pytest.raises(NotANumber):
        side_e6(text, Decimal(1), up=True)


@pytest.mark.parametrize(
    ("text", "unit", "expected_us"),
    [
        ("1800000000", "s", NOW_US),
        ("1800000000.25", "s", NOW_US + 250_000),
        ("1800000000123", "ms", NOW_US + 123_000),
        ("1800000000000001", "us", NOW_US + 1),
        ("1800000000000001999", "ns", NOW_US + 1),
        ("2027-01-15T08:00:00Z", "iso", NOW_US),
        ("2027-01-15T13:30:00.5+05:30", "iso", NOW_US + 500_000),
        ("2027-01-15T08:00:00", "iso", NOW_US),
    ],
)
def test_times_are_exact(text: str, unit: str, expected_us: int) -> None:
    assert time_us(text, unit) == expected_us


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("NaN", "ms"),
        ("-1", "ms"),
        ("1e30", "s"),
        ("999999999999999999", "s"),
        ("yesterday", "iso"),
        ("", "iso"),
        ("0001-01-01T00:00:00", "iso"),
        ("9999-12-31T23:59:59-12:00", "iso"),
    ],
)
def test_what_is_not_a_time_is_refused(text: str, unit: str) -> None:
    with pytest.raises(NotANumber):
        time_us(text, unit)


def test_numbers_of_json_are_never_floats() -> None:
    found = read_json('{"a": 0.1, "b": [1e400, -0.0, 12345678901234567890], "c": NaN, "d": Infinity}')
    assert found == {
        "a": "0.1",
        "b": ["1e400", "-0.0", "12345678901234567890"],
        "c": "NaN",
        "d": "Infinity",
    }


@pytest.mark.parametrize(
    "data", ["", "{", "{'a': 1}", b"\xff\xfe", "[" * 100_000, '{"a": 01}', "\x00", b"\x80abc"]
)
def test_what_is_not_json_is_refused(data: str | bytes) -> None:
    with pytest.raises(NotJson):
        read_json(data)


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("", {"a/b": {"~": ["x", "y"]}, "n": None}),
        ("/a~1b/~0/1", "y"),
        ("/a~1b/~0/2", None),
        ("/a~1b/~0/-1", None),
        ("/a~1b/~0/99999999999", None),
        ("/n/deeper", None),
        ("/missing", None),
    ],
)
def test_pointers(pointer: str, expected: object) -> None:
    document = {"a/b": {"~": ["x", "y"]}, "n": None}
    assert value_at(document, pointer_keys(pointer)) == expected


def reader(**changed: object) -> JsonReader:
    fields = Fields(
        **{"items": "/data", "symbol": "/s", "bid": "/b", "ask": "/a", "time": "/t", **changed}  # type: ignore[arg-type]
    )
    gold = SourceInstrument(instrument="GOLD", symbol="GC", scale="10")
    silver = SourceInstrument(instrument="SILVER", symbol="SI")
    return JsonReader(
        SourceSettings(name="one", kind="websocket", url="wss://a", instruments=(gold, silver), fields=fields)
    )


def read(document: object, **changed: object) -> list[Item]:
    data = document if isinstance(document, str) else json.dumps(document)
    first, *others = reader(**changed).read(data, NOW_US)
    assert first == Alive("one", NOW_US)
    return others


def test_a_list_of_quotes_in_one_message() -> None:
    both = [
        {"s": "GC", "b": 15046.3, "a": "15048.05", "t": 1_800_000_000_000},
        {"s": "SI", "b": 300000, "a": 300001, "t": 1_800_000_000_001},
        {"s": "ES", "b": 1, "a": 2, "t": 3},
    ]
    assert read({"data": both}) == [
        Quote("one", "GOLD", 150_463_000_000, 150_480_500_000, NOW_US, NOW_US),
        Quote("one", "SILVER", 300_000_000_000, 300_001_000_000, NOW_US + 1000, NOW_US),
    ]


def test_one_quote_as_the_message_itself() -> None:
    assert read({"s": "SI", "b": 1.5, "a": 1.6}, items="", time=None) == [
        Quote("one", "SILVER", 1_500_000, 1_600_000, None, NOW_US)
    ]


def test_missing_sides_stay_missing() -> None:
    assert read({"data": {"s": "SI", "b": None, "t": 1_800_000_000_000}}) == [
        Quote("one", "SILVER", None, None, NOW_US, NOW_US)
    ]


@pytest.mark.parametrize(
    "message", ['{"type": "heartbeat"}', "[]", "null", "7", '{"data": []}', '{"data": {"s": 7, "b": 1}}']
)
def test_other_messages_only_show_that_the_line_is_alive(message: str) -> None:
    assert read(message) == []


@pytest.mark.parametrize(
    ("message", "instrument"),
    [
        ("{", None),
        ('{"data": {"s": "GC", "b": NaN, "a": 2, "t": 1800000000000}}', "GOLD"),
        ('{"data": {"s": "GC", "b": 1, "a": Infinity, "t": 1800000000000}}', "GOLD"),
        ('{"data": {"s": "GC", "b": 1, "a": 1e500, "t": 1800000000000}}', "GOLD"),
        ('{"data": {"s": "GC", "b": true, "a": 1, "t": 1800000000000}}', "GOLD"),
        ('{"data": {"s": "GC", "b": {}, "a": 1, "t": 1800000000000}}', "GOLD"),
        ('{"data": {"s": "GC", "b": 1, "a": 1, "t": "soon"}}', "GOLD"),
        ('{"data": {"s": "GC", "b": 1, "a": 1}}', "GOLD"),
    ],
)
def test_rubbish_is_told(message: str, instrument: str | None) -> None:
    assert read(message) == [Unreadable("one", instrument, NOW_US)]
