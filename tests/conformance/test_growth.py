"""Whatever a service under test answers, the kit goes on, in a time that grows with its length alone."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from bullion_conformance.connection import _seconds
from bullion_conformance.exchange import Exchange
from bullion_conformance.report_html import _pretty, _with_code
from bullion_conformance.shapes import decimal, instant
from bullion_conformance.verdict import CheckFailed
from tests.support.growth import assert_linear

UNREADABLE = ["1e9999999999999999999999", "[" * 100_000, "9" * 5_000, "\ud800", ""]


def exchange(text: str) -> Exchange:
    return Exchange("test", "GET", "/", {}, "", 200, {}, text, 0.0)


@pytest.mark.parametrize("text", UNREADABLE, ids=["exponent", "nesting", "digits", "surrogate", "nothing"])
def test_an_answer_that_cannot_be_read_is_no_json(text: str) -> None:
    assert exchange(text).body is None
    assert _pretty(text) == text


def test_any_number_of_seconds_is_a_pause() -> None:
    assert [_seconds(each) for each in ("2", "", None, "x")] == [2.0, 1.0, 1.0, 1.0]
    assert _seconds("9" * 5_000) == _seconds("9" * 9)


READERS: dict[str, Callable[[str], object]] = {
    "body": lambda text: exchange(text).body,
    "text": lambda text: exchange(f'"{text}"').body,
    "shown": lambda text: exchange(text).shown(),
    "pretty": _pretty,
    "in words": _with_code,
    "decimal": lambda text: decimal(text, "price"),
    "time": lambda text: instant(text, "created_at"),
    "seconds": _seconds,
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "unit", ["9", "9x", ".", "`", "` ", "key_test.", "[", "{}", "\\\\", '"', " ", "é", "2026-"]
)
def test_answers(name: str, unit: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        text = unit * (size // len(unit))

        def read() -> None:
            with suppress(CheckFailed):
                READERS[name](text)

        return read

    assert_linear(prepare, 4 * 1024)
