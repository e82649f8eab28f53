"""The query of `GET /orders`: what is read, what is refused, what is ignored."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.api.list_query import read_list_query
from bullion.orders.listing import ListQuery
from bullion.refusals.catalogue import INVALID_REQUEST
from bullion.refusals.refusal import RefusalError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_US = 86_400_000_000


def read(query: str | bytes, *, with_status: bool = True) -> ListQuery:
    return read_list_query(query.encode() if isinstance(query, str) else query, with_status=with_status)


def attempt(query: str | bytes, *, with_status: bool = True) -> ListQuery | RefusalError:
    try:
        return read(query, with_status=with_status)
    except RefusalError as refusal:
        return refusal


def errors(query: str | bytes, *, with_status: bool = True) -> list[dict[str, Any]]:
    with pytest.raises(RefusalError) as caught:
        read(query, with_status=with_status)
    assert caught.value.refusal is INVALID_REQUEST
    found: list[dict[str, Any]] = json.loads(msgspec.json.encode(caught.value.body()))["detail"]["errors"]
    for error in found:
        assert list(error) == ["loc", "msg", "type"]
        assert error["msg"].endswith(".")
        assert len(error["msg"]) < 200
        assert error["msg"].isprintable()
    return found


def problems(query: str | bytes, *, with_status: bool = True) -> list[tuple[str, str]]:
    found = errors(query, with_status=with_status)
    assert {error["loc"][0] for error in found} == {"query"}
    return [(error["loc"][1], error["type"]) for error in found]


def us(year: int, month: int = 1, day: int = 1, hour: int = 0, minute: int = 0, second: int = 0) -> int:
    return (datetime(year, month, day, hour, minute, second, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize("with_status", [True, False])
def test_no_query_is_the_first_page_of_everything(with_status: bool) -> None:
    status = "all" if with_status else None
    assert read("", with_status=with_status) == ListQuery(50, 0, None, None, None, None, status)


def test_every_parameter_is_read() -> None:
    query = (
        "limit=20&offset=40&symbol_code=GOLD&trade_type=buy&since=2026-01-31&client_order_id=a&status=open"
    )
    assert read(query) == ListQuery(20, 40, "GOLD", "buy", us(2026, 1, 31), "a", "open")


@pytest.mark.parametrize(
    "query", ["page=2", "x", "&", "=", "=5", "Limit=0", "limit%20=0", "%ff=1", "a=%ff", "limit[]=0"]
)
def test_what_is_not_known_is_ignored(query: str) -> None:
    assert read(query) == ListQuery(status="all")


def test_names_and_values_are_percent_decoded() -> None:
    assert read("%6Cimit=%31%30&symbol_code=a+b%2B%26%3D&&client_order_id=x=y") == ListQuery(
        10, 0, "a b+&=", None, None, "x=y", status="all"
    )


# --- The page -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "limit"), [("1", 1), ("200", 200), ("007", 7), ("0" * 5_000 + "9", 9)])
def test_a_limit(text: str, limit: int) -> None:
    assert read(f"limit={text}").limit == limit


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("0", 0),
        ("00", 0),
        ("-0", 0),
        ("7", 7),
        ("999999999999999999", 10**18 - 1),
        (str(10**18), 2**62),
        (str(2**62), 2**62),
        (str(2**64), 2**62),
        ("9" * 10_000, 2**62),
        ("0" * 10_000 + "12", 12),
    ],
)
def test_any_integer_is_an_offset_and_what_is_beyond_all_orders_is_one(text: str, offset: int) -> None:
    assert read(f"offset={text}").offset == offset


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("limit=0", "too_small"),
        ("limit=-1", "too_small"),
        ("limit=-" + "9" * 10_000, "too_small"),
        ("limit=201", "too_large"),
        ("limit=" + "9" * 10_000, "too_large"),
        ("offset=-1", "too_small"),
        ("offset=-" + "9" * 10_000, "too_small"),
    ],
)
def test_a_number_out_of_bounds_is_told(query: str, kind: str) -> None:
    assert problems(query) == [(query.partition("=")[0], kind)]


@pytest.mark.parametrize("name", ["limit", "offset"])
@pytest.mark.parametrize(
    "text",
    [
        "ten",
        "1.0",
        "1e2",
        "+5",
        "%2B5",
        "5+",
        " 5",
        "--5",
        "-",
        "0x10",
        "1_0",
        "٣",
        "５",
        "²",
        "5%00",
        "1,0",
        "null",
    ],
)
def test_only_ascii_digits_are_digits(name: str, text: str) -> None:
    assert problems(f"{name}={quote(text, safe='+%')}") == [(name, "not_an_integer")]


@given(st.integers(-(10**30), 10**30))
def test_a_page_of_any_integers(number: int) -> None:
    if 1 <= number <= 200:
        assert read(f"limit={number}").limit == number
    else:
        assert [name for name, _ in problems(f"limit={number}")] == ["limit"]
    if number >= 0:
        offset = read(f"offset={number}").offset
        assert offset == (number if number < 10**18 else 2**62)


# --- Empty, or sent twice -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["limit", "offset", "since", "status"])
def test_empty_or_sent_twice_is_refused(name: str) -> None:
    value = {"limit": "5", "offset": "5", "since": "2026-01-01", "status": "open"}[name]
    assert read(f"{name}={value}") != ListQuery(status="all")
    for empty in f"{name}=", name, f"x=1&{name}=&y=2":
        assert problems(empty) == [(name, "empty")]
    for twice in (
        f"{name}={value}&{name}={value}",
        f"{name}=&{name}={value}",
        f"{name}&{name}",
        f"{name}={value}&{name}=?",
    ):
        assert problems(twice) == [(name, "duplicate")]


@pytest.mark.parametrize("name", ["symbol_code", "trade_type", "client_order_id"])
def test_a_filter_may_be_empty_and_the_last_of_two_counts(name: str) -> None:
    assert getattr(read(f"{name}="), name) == ""
    assert getattr(read(name), name) == ""
    assert getattr(read(f"{name}=one&{name}=two"), name) == "two"


# --- Filters ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "most"), [("symbol_code", 32), ("trade_type", 8), ("client_order_id", 64)])
def test_a_filter_has_a_length_in_characters(name: str, most: int) -> None:
    for character in "a", "é", "🪙", "%":
        assert getattr(read(f"{name}={quote(character * most)}"), name) == character * most
        assert problems(f"{name}={quote(character * (most + 1))}") == [(name, "too_long")]


@pytest.mark.parametrize("name", ["symbol_code", "trade_type", "client_order_id"])
def test_a_filter_that_no_store_can_be_asked_for_is_refused(name: str) -> None:
    assert problems(f"{name}=a%00") == [(name, "bad_character")]
    assert problems(f"{name}=%ff") == [(name, "not_utf8")]
    assert problems(name.encode() + b"=\xff") == [(name, "not_utf8")]
    assert problems(f"{name}=%ED%A0%80") == [(name, "not_utf8")]
    assert problems(f"{name}={'a' * 65}%00") == [(name, "too_long"), (name, "bad_character")]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=64))
def test_every_other_text_is_a_filter_as_it_is(text: str) -> None:
    assert read(f"client_order_id={quote(text)}").client_order_id == text
    assert read(f"client_order_id={quote_plus(text)}").client_order_id == text


# --- Since --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "since_us"),
    [
        ("2026-01-31", us(2026, 1, 31)),
        ("20260131", us(2026, 1, 31)),
        ("2026-W05-6", us(2026, 1, 31)),
        ("2026W056", us(2026, 1, 31)),
        ("2026-01-31T12:30", us(2026, 1, 31, 12, 30)),
        ("2026-01-31 12:30", us(2026, 1, 31, 12, 30)),
        ("2026-01-31T12:30:15Z", us(2026, 1, 31, 12, 30, 15)),
        ("20260131T123015Z", us(2026, 1, 31, 12, 30, 15)),
        ("2026-01-31T12:30:15+00:00", us(2026, 1, 31, 12, 30, 15)),
        ("2026-01-31T12:30:15+05:30", us(2026, 1, 31, 7, 0, 15)),
        ("2026-01-31T12:30:15-0530", us(2026, 1, 31, 18, 0, 15)),
        ("2026-01-31T12:30:15.000001Z", us(2026, 1, 31, 12, 30, 15) + 1),
        ("2026-01-31T12:30:15,5", us(2026, 1, 31, 12, 30, 15) + 500_000),
        ("1970-01-01", 0),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("0001-01-01", us(1)),
        ("0001-01-01T00:00+23:59", us(1) - DAY_US + 60_000_000),
        ("9999-12-31T23:59:59.999999", us(9999, 12, 31) + DAY_US - 1),
        ("9999-12-31T23:59:59.999999-23:59", us(9999, 12, 31) + 2 * DAY_US - 60_000_000 - 1),
    ],
)
def test_a_time_is_read(text: str, since_us: int) -> None:
    assert read(f"since={quote(text)}").since_us == since_us


@pytest.mark.parametrize(
    ("query", "since_us"),
    [
        ("2026-01-31T12:30:15+05:30", us(2026, 1, 31, 7, 0, 15)),
        ("2026-01-31T12:30:15%2005:30", us(2026, 1, 31, 7, 0, 15)),
        ("2026-01-31T12:30:15.5+00:00", us(2026, 1, 31, 12, 30, 15) + 500_000),
        ("20260131T123015+0530", us(2026, 1, 31, 7, 0, 15)),
        ("2026-01-31+12:30:15", us(2026, 1, 31, 12, 30, 15)),
        ("2026-01-31+12:30:15+05:30", us(2026, 1, 31, 7, 0, 15)),
        ("2026-01-31%2012:30:15%2005:30", us(2026, 1, 31, 7, 0, 15)),
    ],
)
def test_a_plus_that_came_as_a_space_is_forgiven(query: str, since_us: int) -> None:
    assert read(f"since={query}").since_us == since_us


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "1769817600",
        "2026",
        "2026-01",
        "2026-02-30",
        "2026-13-01",
        "0000-01-01",
        "10000-01-01",
        "9999-W53-7",
        "0000-W01-1",
        "2026-01-31T25:00",
        "2026-01-31T12:30+24:00",
        "2026-01-31T12:30:15 05:30 05:30",
        "31.01.2026",
        "12:30",
        " ",
        "٢٠٢٦-٠١-٣١",
        "２０２６-01-31",
        "2026-01-31T12:30:15.123456٣",
        "2026-01-31T12:30:15.123456٣+05:30",
        "2026-01-31٣12:30",
        "2026-01-31T12:30:15Z\0",
        "2026-01-31\0",
        "2026-01-31T12:30:15Z\n",
        "2" * 10_000,
    ],
)
def test_what_is_no_time_is_refused(text: str) -> None:
    assert problems(f"since={quote(text)}") == [("since", "not_a_time")]


def test_a_time_that_is_not_utf8_is_refused() -> None:
    assert problems("since=2026-01-31%ff12:30") == [("since", "not_utf8")]


ZONES = st.none() | st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(timezones=ZONES), st.booleans())
def test_every_time_of_the_calendar_is_read_exactly(at: datetime, encoded: bool) -> None:
    text = at.isoformat()
    aware = at if at.tzinfo else at.replace(tzinfo=UTC)
    expected = (aware - EPOCH) // timedelta(microseconds=1)
    assert read(f"since={quote(text) if encoded else text}").since_us == expected


@given(st.from_regex(r"[0-9]{4}-?(W[0-9]{2}|[0-9]{2})-?[0-9]{0,2}[T +.]?[0-9:.,Z+-]{0,24}", fullmatch=True))
def test_nothing_that_looks_like_a_time_is_a_fault_of_ours(text: str) -> None:
    outcome = attempt(f"since={quote(text)}")
    if isinstance(outcome, RefusalError):
        assert outcome.refusal is INVALID_REQUEST
    else:
        assert outcome.since_us is not None
        assert us(1) - DAY_US < outcome.since_us < us(9999, 12, 31) + 2 * DAY_US


# --- Status -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["pending", "open", "closing", "closed", "rejected", "deleted"])
def test_a_status_is_read(status: str) -> None:
    assert read(f"status={status}").status == status


def test_all_is_what_no_status_means() -> None:
    assert read("status=all") == read("") == ListQuery(status="all")


@pytest.mark.parametrize("status", ["filled", "OPEN", "open ", "open,closed", "*", "x" * 5_000, "\0", "🪙"])
def test_another_status_is_refused(status: str) -> None:
    assert problems(f"status={quote(status)}") == [("status", "not_a_choice")]


@pytest.mark.parametrize(
    "query", ["status=open", "status=", "status", "status=x", "status=%ff", "status=a&status=b"]
)
def test_on_the_test_path_status_is_ignored(query: str) -> None:
    assert read(query, with_status=False) == ListQuery()


# --- All together -------------------------------------------------------------------------------------


def test_every_problem_is_told_at_once() -> None:
    sent = {
        "limit": "201",
        "offset": "-1",
        "symbol_code": "x" * 33,
        "trade_type": "x" * 9,
        "since": "soon",
        "client_order_id": "x" * 65,
        "status": "gone",
    }
    told = [
        ("limit", "too_large"),
        ("offset", "too_small"),
        ("symbol_code", "too_long"),
        ("trade_type", "too_long"),
        ("since", "not_a_time"),
        ("client_order_id", "too_long"),
        ("status", "not_a_choice"),
    ]
    assert problems(urlencode(sent)) == told
    assert problems(urlencode(sent), with_status=False) == told[:-1]


def test_of_what_was_sent_a_safe_excerpt_is_told() -> None:
    (error,) = errors(f"since={quote(chr(0x202E) + chr(27) + 'x' * 5_000)}")
    assert r'"\u202e\x1b' + "x" * 38 + '…"' in error["msg"]


@given(st.binary(max_size=100), st.booleans())
def test_no_query_is_a_fault_of_ours(tail: bytes, with_status: bool) -> None:
    for head in b"", b"limit=", b"offset=", b"since=", b"symbol_code=", b"status=":
        outcome = attempt(head + tail, with_status=with_status)
        if isinstance(outcome, RefusalError):
            assert outcome.refusal is INVALID_REQUEST
            assert msgspec.json.encode(outcome.body())
        else:
            assert 1 <= outcome.limit <= 200
            assert 0 <= outcome.offset <= 2**62
            assert "\0" not in (outcome.symbol_code or "")
