"""How numbers, times and texts are written for people."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from bullion_client.cli.formatting import age, instant, plain, rupees, short, text, weight


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        ("0.00", "0.00"),
        ("7.50", "7.50"),
        ("999.99", "999.99"),
        ("1000.00", "1,000.00"),
        ("75317.00", "75,317.00"),
        ("123456.00", "1,23,456.00"),
        ("1234567.89", "12,34,567.89"),
        ("123456789012.34", "1,23,45,67,89,012.34"),
        ("-123456.00", "-1,23,456.00"),
        ("-0.05", "-0.05"),
        ("150634", "1,50,634"),
    ],
)
def test_rupees_are_grouped_as_in_india(amount: str, written: str) -> None:
    assert rupees(Decimal(amount)) == written
    assert Decimal(written.replace(",", "")) == Decimal(amount)


def test_what_is_not_there_is_a_dash() -> None:
    assert (rupees(None), weight(None), instant(None), text(None)) == ("-", "-", "-", "-")


def test_numbers_have_no_exponent() -> None:
    assert plain(Decimal("1E+6")) == "1000000"
    assert plain(Decimal("0.0001")) == "0.0001"
    assert weight(Decimal("1E-7")) == "0.0000001"


@pytest.mark.parametrize(("number", "written"), [("10.0000", "10"), ("0.5000", "0.5"), ("100", "100")])
def test_a_measure_goes_without_zeros_at_its_end(number: str, written: str) -> None:
    assert short(Decimal(number)) == written


@pytest.fixture
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("zone", "written"),
    [
        ("UTC", "2026-11-15 18:30:00 UTC"),
        ("Asia/Kolkata", "2026-11-16 00:00:00 +05:30"),
        ("America/New_York", "2026-11-15 13:30:00 -05:00"),
    ],
    indirect=["zone"],
)
@pytest.mark.usefixtures("zone")
def test_times_are_local_and_say_how_far_from_utc(written: str) -> None:
    assert instant(datetime(2026, 11, 15, 18, 30, tzinfo=UTC)) == written


@pytest.mark.parametrize(
    ("passed", "written"),
    [
        (timedelta(seconds=-5), "0 s"),
        (timedelta(seconds=59), "59 s"),
        (timedelta(minutes=3, seconds=10), "3 min"),
        (timedelta(hours=5), "5 h"),
        (timedelta(days=20, hours=3), "20 d"),
    ],
)
def test_an_age_is_in_one_unit(passed: timedelta, written: str) -> None:
    now = datetime(2026, 11, 15, tzinfo=UTC)
    assert age(now - passed, now) == written


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("plain [b]text[/b]", "plain [b]text[/b]"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("a\r\nb\tc\x00", "a\\r\\nb\\tc\\x00"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\u0930\u093e\u091c\u0924 \u0938\u094d\u200d", "\u0930\u093e\u091c\u0924 \u0938\u094d\u200d"),
    ],
)
def test_what_could_steer_a_terminal_is_shown_instead(sent: str, shown: str) -> None:
    assert text(sent) == shown
