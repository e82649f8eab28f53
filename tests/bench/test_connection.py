"""The load generator counts an answer only when it is whole, alone and a 200."""

import pytest

from bench.connection import MORE_TO_COME, fault_of

WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-Other: 9\r\n\r\nbody"


def test_whole_answer_has_no_fault() -> None:
    assert fault_of(WHOLE) is None


@pytest.mark.parametrize("size", range(len(WHOLE)))
def test_cut_anywhere_it_is_waited_for(size: int) -> None:
    assert fault_of(WHOLE[:size]) is MORE_TO_COME


@pytest.mark.parametrize(
    ("received", "fault"),
    [
        (WHOLE.replace(b"200 OK", b"429 Too Many Requests"), "status 429"),
        (WHOLE + b"H", "more than one answer"),
        (WHOLE.replace(b"Content-Length", b"X-Length"), "no Content-Length"),
        (WHOLE.replace(b": 4", b": four"), "unreadable Content-Length"),
        (b"HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", None),
    ],
)
def test_anything_else_is_named(received: bytes, fault: str | None) -> None:
    assert fault_of(received) == fault
