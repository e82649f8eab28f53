"""FIX messages as bytes: exact both ways, and what is garbled is skipped without losing what follows."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.hedge.fix.codec import (
    Decoder,
    Garbled,
    Message,
    Pair,
    WrongGroup,
    check_sum,
    encode,
    message_of,
    time_text,
    time_us,
)

ORDER: list[Pair] = [(35, "D"), (49, "US"), (56, "THEM"), (34, 7), (11, "a=b"), (54, 1), (38, "32.15")]
TAGS = st.integers(min_value=1, max_value=50_000).filter(lambda tag: tag not in {8, 9, 10, 35})
PLAIN_TAGS = TAGS.filter(lambda tag: tag not in {90, 93, 95, 212, 445, 618, 621} and not 348 <= tag <= 364)
VALUES = st.text(st.characters(max_codepoint=255, exclude_characters="\x00\x01"), min_size=1, max_size=20)


def pipes(text: str) -> bytes:
    """A message as people write it."""
    return text.replace("|", "\x01").encode("latin-1")


def framed(body: str) -> bytes:
    """A body with any content, with length and checksum that fit."""
    data = b"8=FIX.4.4\x019=%d\x01" % len(pipes(body)) + pipes(body)
    return data + b"10=%03d\x01" % (sum(data) % 256)


def only(data: bytes) -> Message:
    (found,) = Decoder().feed(data)
    assert isinstance(found, Message)
    return found


def test_a_message_is_framed_as_the_standard_says() -> None:
    # BodyLength counts from 35 to the separator before 10, CheckSum all bytes before 10.
    text = "8=FIX.4.4|9=32|35=0|49=A|56=B|34=1|112=the end|"
    assert encode([(35, "0"), (49, "A"), (56, "B"), (34, 1), (112, "the end")]) == pipes(
        f"{text}10={sum(pipes(text)) % 256:03}|"
    )


@pytest.mark.parametrize("text", ["no\0\0", "a=b\0"])
def test_a_value_that_is_padded_with_nul_can_be_stored(text: str) -> None:
    """PostgreSQL keeps no NUL in a text."""
    assert only(encode([(35, "8"), (58, text)])).get(58) == text.replace("\0", "?")


@given(st.lists(st.tuples(PLAIN_TAGS, VALUES), max_size=20), st.lists(st.integers(0, 400), max_size=6))
def test_what_was_encoded_is_read_as_it_was_however_it_arrives(
    pairs: list[tuple[int, str]], cuts: list[int]
) -> None:
    data = encode([(35, "8"), *pairs])
    decoder = Decoder()
    found: list[Message | Garbled] = []
    places = sorted({0, *(cut for cut in cuts if cut < len(data)), len(data)})
    for begin, end in pairwise(places):
        found += decoder.feed(data[begin:end])
    (message,) = found
    assert isinstance(message, Message)
    assert message.pairs == [(8, "FIX.4.4"), (35, "8"), *pairs]
    assert (message.type, message.raw, message.problem) == ("8", data, None)


@given(st.binary(max_size=2000))
def test_the_checksum_is_the_sum_of_all_bytes(data: bytes) -> None:
    assert check_sum(data) == sum(data) % 256


@pytest.mark.parametrize("value", ["", "a\x01b", "\x01"])
def test_a_value_that_no_message_can_carry_is_not_encoded(value: str) -> None:
    with pytest.raises(ValueError, match="tag 58"):
        encode([(35, "5"), (58, value)])


def test_text_outside_of_latin_1_is_not_encoded() -> None:
    with pytest.raises(ValueError, match="latin-1"):
        encode([(35, "5"), (58, "₹")])


def test_the_first_of_several_fields_and_all_of_them() -> None:
    message = message_of([(35, "W"), (270, "1"), (270, "2")])
    assert message.get(270) == "1"
    assert message.all(270) == ["1", "2"]
    assert (message.get(271), message.all(271)) == (None, [])


# --- Garbled ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"noise", "BeginString"),
        (encode(ORDER)[:-4] + b"999\x01"[-4:], "CheckSum"),
        (encode(ORDER).replace(b"9=45", b"9=44"), "BodyLength"),
        (encode(ORDER).replace(b"9=45", b"9=00046"), "BodyLength"),
        (encode(ORDER).replace(b"9=45", b"9=x3"), "BeginString"),
        (encode(ORDER).replace(b"8=FIX.4.4\x01", b""), "BeginString"),
        (framed("49=US|35=D|"), "third"),
        (framed("35=|49=US|"), "empty"),
        (b"8=FIX.4.4\x019=99999999\x01", "more than"),
    ],
)
def test_what_is_garbled_is_skipped_and_counted_and_the_next_message_is_read(bad: bytes, reason: str) -> None:
    assert b"9=45\x01" in encode(ORDER)
    decoder = Decoder()
    found = decoder.feed(encode(ORDER) + bad + encode(ORDER) + encode(ORDER))
    garbled = [each for each in found if isinstance(each, Garbled)]
    assert [type(each) for each in found] == [Message, Garbled, Message, Message]
    assert reason in garbled[0].reason
    assert garbled[0].size == len(bad)
    assert decoder.garbled == 1


def test_a_body_length_that_is_too_long_costs_one_message_only() -> None:
    decoder = Decoder()
    long = encode(ORDER).replace(b"9=45", b"9=200")
    found = [*decoder.feed(long), *decoder.feed(encode(ORDER)), *decoder.feed(encode(ORDER))]
    found += [*decoder.feed(encode(ORDER))]
    assert [type(each) for each in found] == [Garbled, Message, Message, Message]


@given(st.binary(max_size=300), st.lists(st.integers(1, 60), max_size=8))
def test_noise_never_hides_the_messages_behind_it(noise: bytes, cuts: list[int]) -> None:
    """A message whose length reaches over others is the exception: those come with the bytes behind them."""
    decoder = Decoder(size_max=200)
    found: list[Message | Garbled] = []
    data = noise + encode(ORDER) * 6
    while data:
        size = cuts.pop() if cuts else len(data)
        found += decoder.feed(data[:size])
        data = data[size:]
    found += decoder.feed(b"-" * 250)
    assert [each.raw for each in found if isinstance(each, Message)][-5:] == [encode(ORDER)] * 5


def test_noise_without_end_takes_no_memory() -> None:
    decoder = Decoder(size_max=1000)
    for _ in range(200):
        decoder.feed(b"8=FIX.4.4\x01" * 100)
    assert len(decoder._buffer) < 2_000


# --- Fields that cannot be read -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "tag", "reason"),
    [
        ("35=D|49=US|x=1|34=7|", None, 0),
        ("35=D|49=US|011=1|34=7|", None, 0),
        ("35=D|49=US|-1=1|34=7|", None, 0),
        ("35=D|49=US|1_1=1|34=7|", None, 0),
        ("35=D|49=US|=1|34=7|", None, 0),
        ("35=D|49=US||34=7|", None, 0),
        ("35=D|49=US|55=|34=7|", 55, 4),
        ("35=D|49=US|55|34=7|", 55, 4),
        ("35=D|49=US|58|59=1=2|34=7|", 58, 4),
        ("35=D|49=US|95=9|96=abc|34=7|", 96, 6),
    ],
)
def test_a_field_that_cannot_be_read_is_named_and_the_others_are_there(
    body: str, tag: int | None, reason: int
) -> None:
    message = only(framed(body))
    assert message.problem is not None
    assert (message.problem.tag, message.problem.reason) == (tag, reason)
    assert message.get(49) == "US"


def test_data_may_contain_separators() -> None:
    message = only(framed("35=B|95=7|96=a|b=c|d|58=end|"))
    assert message.problem is None
    assert message.pairs[2:] == [(95, "7"), (96, "a\x01b=c\x01d"), (58, "end")]


def test_data_at_the_end_of_the_message() -> None:
    message = only(framed("35=B|354=3|355=a|b|"))
    assert (message.get(355), message.problem) == ("a\x01b", None)


# --- Groups -------------------------------------------------------------------------------------------


def test_the_entries_of_a_group() -> None:
    message = message_of(
        [
            (35, "W"),
            (55, "XAU"),
            (268, 2),
            (269, 0),
            (270, "1.5"),
            (269, 1),
            (270, "1.6"),
            (271, 5),
            (58, "x"),
        ]
    )
    bid, ask = message.groups(268, 269, frozenset({269, 270, 271}))
    assert bid.pairs == [(269, "0"), (270, "1.5")]
    assert ask.pairs == [(269, "1"), (270, "1.6"), (271, "5")]
    assert message.groups(268, 269)[1].get(58) == "x"
    assert message.groups(146, 55) == []
    assert message_of([(35, "W"), (268, 0), (58, "x")]).groups(268, 269) == []


def test_a_group_within_a_group() -> None:
    message = message_of(
        [(35, "y"), (146, 2), (55, "A"), (454, 2), (455, "1"), (455, "2"), (55, "B"), (454, 1), (455, "3")]
    )
    inner = [[each.get(455) for each in entry.groups(454, 455)] for entry in message.groups(146, 55)]
    assert inner == [["1", "2"], ["3"]]


@pytest.mark.parametrize(
    "pairs", [[(268, 3), (269, 0), (269, 1)], [(268, 1), (270, 1), (269, 0)], [(268, "x")]]
)
def test_a_group_that_is_not_as_it_says(pairs: list[tuple[int, str | int]]) -> None:
    with pytest.raises(WrongGroup) as wrong:
        message_of([(35, "W"), *pairs]).groups(268, 269)
    assert wrong.value.count_tag == 268


# --- Times --------------------------------------------------------------------------------------------


@given(st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_times_are_those_of_the_calendar(at: datetime) -> None:
    at_us = (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert time_text(at_us) == f"{at:%Y%m%d-%H:%M:%S}.{at.microsecond // 1000:03}"
    assert time_us(time_text(at_us)) == at_us // 1000 * 1000
    assert time_us(f"{at:%Y%m%d-%H:%M:%S.%f}") == time_us(f"{at:%Y%m%d-%H:%M:%S.%f}999") == at_us
    assert time_us(f"{at:%Y%m%d-%H:%M:%S}") == at_us // 1_000_000 * 1_000_000


def test_a_leap_second_is_read() -> None:
    assert time_us("20161231-23:59:60.5") == time_us("20161231-23:59:59.5")


@pytest.mark.parametrize(
    "text", ["", "20261117", "20261117-24:00:00", "20261317-00:00:00", "20261117 05:30:00", "x"]
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match="time"):
        time_us(text)
