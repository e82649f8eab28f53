"""Server-sent events from bytes that arrive in any pieces."""

import random

import pytest

from bullion_client.sse import Message, MessageReader, TooLong

STREAM = (
    b"\xef\xbb\xbfretry: 1000\n\n"
    b": a comment\nid: 17\n\n"
    b'id: 18\nevent: order.opened\ndata: {"a":\ndata:1}\n\n'
    b"data:  two blanks\nunknown: x\nnocolon\n\n"
    b"event: alone\n\n"
    b"data\n\n"
    b"id: 1\x009\nretry: soon\ndata: \xe2\x82\xb9 \xff\n\n"
    b"data: not ended\n"
)
MESSAGES = [
    Message("order.opened", '{"a":\n1}'),
    Message("message", " two blanks"),
    Message("message", ""),
    Message("message", "₹ \ufffd"),
]


def read(*chunks: bytes) -> tuple[list[Message], MessageReader]:
    reader = MessageReader()
    return [message for chunk in chunks for message in reader.feed(chunk)], reader


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_every_line_end_and_every_cut(end: bytes) -> None:
    stream = STREAM.replace(b"\n", end)
    for cut in range(len(stream) + 1):
        messages, reader = read(stream[:cut], b"", stream[cut:])
        assert messages == MESSAGES, cut
        assert (reader.last_id, reader.retry_ms) == ("18", 1000)


def test_one_byte_at_a_time() -> None:
    for stream in (STREAM, STREAM.replace(b"\n", b"\r\n")):
        assert read(*(stream[place : place + 1] for place in range(len(stream))))[0] == MESSAGES


def test_random_pieces_and_mixed_line_ends() -> None:
    chance = random.Random(22)  # noqa: S311 - to be the same each time
    lines = STREAM.split(b"\n")
    for _ in range(200):
        ended = (line + chance.choice([b"\n", b"\r\n"]) for line in lines[:-1])
        stream = b"".join(ended) + lines[-1]
        cuts = sorted(chance.choices(range(len(stream)), k=6))
        pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
        assert read(*pieces)[0] == MESSAGES


def test_mixed_line_ends_at_every_two_cuts() -> None:
    stream = b"data: a\r\n\ndata: b\n\r\ndata: c\r\rdata: d\r\n\r\ndata: e\n\r"
    for first in range(len(stream) + 1):
        for second in range(first, len(stream) + 1):
            messages, _ = read(stream[:first], stream[first:second], stream[second:])
            assert [message.data for message in messages] == ["a", "b", "c", "d", "e"], (first, second)


def test_a_position_may_come_without_an_event() -> None:
    messages, reader = read(b"retry: 500\nid: 17\n: \n\n")
    assert (messages, reader.last_id, reader.retry_ms) == ([], "17", 500)


@pytest.mark.parametrize("piece", [b"x" * 65_536, b"data: " + b"x" * 65_536 + b"\n"], ids=["line", "data"])
def test_an_event_that_does_not_end_is_an_error_and_not_a_full_memory(piece: bytes) -> None:
    with pytest.raises(TooLong):
        read(*[piece] * 100)
