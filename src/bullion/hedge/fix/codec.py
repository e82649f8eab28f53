"""FIX messages: bytes to tag and value pairs and back, with BodyLength and CheckSum verified.

Text is Latin-1, so every byte of a message survives the way in and out.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from zlib import adler32

import msgspec

SOH = "\x01"
BEGIN = "FIX.4.4"
SIZE_MAX = 256 * 1024
"""The largest message that is read; a longer one counts as garbled."""

Pair = tuple[int, str | int]

# Reasons of a session Reject, tag 373.
INVALID_TAG, REQUIRED_TAG_MISSING, TAG_WITHOUT_VALUE, VALUE_WRONG, FORMAT_WRONG = 0, 1, 4, 5, 6
COMP_ID_WRONG, SENDING_TIME_WRONG, TYPE_WRONG, GROUP_COUNT_WRONG, OTHER = 9, 10, 11, 16, 99

_DATA_TAGS = [90, 91, 93, 89, 95, 96, 212, 213, 348, 349, 350, 351, 352, 353, 354, 355, 356, 357, 358, 359]
_DATA_TAGS += [360, 361, 362, 363, 364, 365, 445, 446, 618, 619, 621, 622]
_DATA_OF_LENGTH = dict(zip(_DATA_TAGS[::2], _DATA_TAGS[1::2], strict=True))
"""Fields whose value may contain SOH, by the field in front that says how long they are."""
_LENGTH_TAGS = frozenset(_DATA_OF_LENGTH)
_US_PER_S = 1_000_000
_TAG_MAX = 999_999_999


class _Tags(dict[str, int]):
    """Tag numbers by their text. Looking one up is quicker than `int`, and stricter."""

    def __missing__(self, text: str) -> int:
        if text.isascii() and text.isdigit() and text[0] != "0" and int(text) <= _TAG_MAX:
            return int(text)
        raise KeyError(text)


_TAGS = _Tags((str(tag), tag) for tag in range(1, 1000))
_tag_of = _TAGS.__getitem__
_ALL_BUT_SEPARATORS = bytes(set(range(256)) - set(b"=\x01"))


class WrongGroup(ValueError):
    """A repeating group does not have as many entries as it says, or begins with another field."""

    def __init__(self, count_tag: int, message: str) -> None:
        super().__init__(message)
        self.count_tag = count_tag


class FieldProblem(msgspec.Struct, frozen=True):
    """What is wrong with a field of a message whose length and checksum are right."""

    tag: int | None
    reason: int
    """As in tag 373."""
    text: str


class Fields:
    """Tags and values in their order: a message, or one entry of a repeating group. Not to be changed."""

    __slots__ = ("_first", "_pairs")

    def __init__(self, pairs: list[tuple[int, str]] | None, first: dict[int, str] | None = None) -> None:
        """Without `pairs`, `first` has all fields: no tag comes twice."""
        self._pairs = pairs
        self._first = first

    @property
    def pairs(self) -> list[tuple[int, str]]:
        if self._pairs is None:
            self._pairs = [*self.first().items()]
        return self._pairs

    def get(self, tag: int) -> str | None:
        """The value of the first field with this tag."""
        first = self._first
        return (self.first() if first is None else first).get(tag)

    def first(self) -> dict[int, str]:
        """By tag, the value of the first field with it."""
        if self._first is None:
            self._first = dict(reversed(self.pairs))
        return self._first

    def all(self, tag: int) -> list[str]:
        return [value for each, value in self.pairs if each == tag]

    def groups(self, count_tag: int, first_tag: int, members: frozenset[int] | None = None) -> list["Fields"]:
        """The entries of a repeating group, each beginning with `first_tag`.

        The last entry ends at the first tag that is not in `members`; without `members`, with the message.
        """
        count = self.get(count_tag)
        if count is None:
            return []
        pairs = self.pairs
        begin = next(place for place, pair in enumerate(pairs) if pair[0] == count_tag) + 1
        end = len(pairs)
        if members is not None:
            end = next((place for place in range(begin, end) if pairs[place][0] not in members), end)
        starts = [place for place in range(begin, end) if pairs[place][0] == first_tag]
        if count != str(len(starts)) or (starts and starts[0] != begin):
            raise WrongGroup(count_tag, f"{count_tag}={count}, but {len(starts)} entries were found")
        return [Fields(pairs[here:after]) for here, after in pairwise([*starts, end])]

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(self.pairs)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'|'.join(f'{tag}={value}' for tag, value in self.pairs)})"


class Message(Fields):
    """A message that was received. `pairs` is without 9 and 10, and begins with 8 and 35."""

    __slots__ = ("problem", "raw", "type")

    def __init__(
        self,
        pairs: list[tuple[int, str]] | None,
        raw: bytes = b"",
        problem: FieldProblem | None = None,
        first: dict[int, str] | None = None,
    ) -> None:
        self._pairs = pairs
        self._first = first
        self.type = self.pairs[1][1] if first is None else first[35]
        self.raw = raw
        self.problem = problem
        """The first field that could not be read. Such fields are not in `pairs`."""


class Garbled(msgspec.Struct, frozen=True):
    """Bytes that are no message. The protocol demands to skip them, without counting a message."""

    reason: str
    size: int


def check_sum(data: bytes) -> int:
    """The sum of all bytes, modulo 256.

    The low half of Adler-32 is that sum plus one, modulo 65,521: exact for 256 bytes, and ten times as quick.
    """
    if len(data) <= 256:
        return ((adler32(data) & 0xFFFF) - 1) & 255
    return sum((adler32(data[at : at + 256]) & 0xFFFF) - 1 for at in range(0, len(data), 256)) & 255


def encode(pairs: Iterable[Pair], begin: str = BEGIN) -> bytes:
    """The message with these fields, from 35 on. A ValueError for a value that no message can carry."""
    return frame(fields_text(pairs), begin)


def fields_text(pairs: Iterable[Pair]) -> str:
    """The fields one behind the other, each with the separator at its end."""
    fields = [f"{tag}={value}\x01" for tag, value in pairs]
    text = "".join(fields)
    # Both looks are quick; a value that ends in "=" is why the second one is not the last word.
    if text.count(SOH) != len(fields) or "=\x01" in text:
        for each in fields:
            tag, _, value = each[:-1].partition("=")
            if not value or SOH in value:
                raise ValueError(f"tag {tag} is empty or contains a separator")
    return text


def frame(text: str, begin: str = BEGIN) -> bytes:
    """The message of `fields_text`, with BeginString, BodyLength and CheckSum."""
    data = f"8={begin}\x019={len(text)}\x01{text}".encode("latin-1")
    return b"%b10=%03d\x01" % (data, check_sum(data))


def message_of(pairs: Iterable[Pair], begin: str = BEGIN) -> Message:
    """The message as the other side would receive it."""
    (found,) = Decoder().feed(encode(pairs, begin))
    if isinstance(found, Garbled):
        raise ValueError(found.reason)
    return found


class Decoder:
    """Finds messages in a stream of bytes."""

    __slots__ = ("_buffer", "_size_max", "garbled")

    def __init__(self, size_max: int = SIZE_MAX) -> None:
        self._buffer = b""
        self._size_max = size_max
        self.garbled = 0
        """How many garbled messages were skipped."""

    def feed(self, data: bytes) -> Sequence[Message | Garbled]:
        """What is complete now, in its order. An incomplete message waits for the next bytes."""
        buffer = self._buffer + data if self._buffer else data
        found: list[Message | Garbled] = []
        place = 0
        while place < len(buffer):
            step = self._next(buffer, place)
            if step is None:
                break
            size, one = step
            place += size
            found.append(one)
            if isinstance(one, Garbled):
                self.garbled += 1
        self._buffer = buffer[place:]
        return found

    def _next(self, buffer: bytes, place: int) -> tuple[int, Message | Garbled] | None:
        """The size of what begins at this place, and what it is; None if more bytes are needed."""
        header = _HEADER.match(buffer, place)
        if header is None:
            if len(buffer) - place < _HEADER_MAX and _may_be_header(buffer[place:]):
                return None
            return _skip(buffer, place, "it does not begin with BeginString and BodyLength")
        body = header.end()
        length = int(header[2])
        if length > self._size_max:
            return _skip(buffer, place, f"BodyLength is more than {self._size_max}")
        end = body + length
        if len(buffer) < end + _TRAILER_SIZE:
            return None
        trailer = _TRAILER.match(buffer, end)
        if trailer is None or buffer[end - 1] != 1:
            return _skip(buffer, place, "BodyLength is wrong")
        if int(trailer[1]) != check_sum(buffer[place:end]):
            return _skip(buffer, place, "CheckSum is wrong")
        if buffer[body : body + 3] != b"35=":
            return _skip(buffer, place, "MsgType is not its third field")
        size = end + _TRAILER_SIZE - place
        raw = buffer[place : place + size]
        message = _message(header[1].decode("latin-1"), buffer[body : end - 1], raw)
        return (size, message) if message is not None else _skip(buffer, place, "MsgType is empty")


_HEADER = re.compile(rb"8=([!-~]{1,16})\x019=([0-9]{1,9})\x01")
_HEADER_MAX = 2 + 16 + 1 + 2 + 9 + 1
_HEADER_PART = re.compile(rb"8(=([!-~]{1,16}(\x01(9(=([0-9]{1,9})?)?)?)?)?)?")
_TRAILER = re.compile(rb"10=([0-9]{3})\x01")
_TRAILER_SIZE = 7
_START = b"8=FIX"


def _may_be_header(part: bytes) -> bool:
    return _HEADER_PART.fullmatch(part) is not None


def _skip(buffer: bytes, place: int, reason: str) -> tuple[int, Garbled]:
    """To where the next message may begin: so a wrong BodyLength costs one message and not the next ones."""
    after = buffer.find(_START, place + 1)
    if after < 0:
        # The end may be the beginning of the next message.
        kept = next((size for size in range(len(_START) - 1, 0, -1) if buffer.endswith(_START[:size])), 0)
        after = max(len(buffer) - kept, place + 1)
    return after - place, Garbled(reason, after - place)


def _message(begin: str, body: bytes, raw: bytes) -> Message | None:
    """All fields at once, if each has exactly one "=": a quarter quicker than field by field."""
    text = body.decode("latin-1").replace("\0", "?")  # PostgreSQL keeps no NUL in a text.
    separators = body.translate(None, _ALL_BUT_SEPARATORS)
    if separators != b"=\x01" * (len(separators) // 2) + b"=":
        return _odd_message(begin, text, raw)
    parts = text.replace("=", SOH).split(SOH)
    values = parts[1::2]
    try:
        tags = [*map(_tag_of, parts[::2])]
    except (KeyError, IndexError):
        return _odd_message(begin, text, raw)
    first = {8: begin}
    first.update(zip(tags, values, strict=True))
    if "" in values or not _LENGTH_TAGS.isdisjoint(first):
        return _odd_message(begin, text, raw)
    if len(first) > len(tags):
        return Message(None, raw, first=first)
    return Message([(8, begin), *zip(tags, values, strict=True)], raw)


def _odd_message(begin: str, body: str, raw: bytes) -> Message | None:
    """A message with data fields, a "=" in a value, or fields that cannot be read: field by field."""
    pairs: list[tuple[int, str]] = [(8, begin)]
    problem: FieldProblem | None = None
    place = 0
    data_tag, data_size = 0, 0
    while place <= len(body):
        end = body.find(SOH, place)
        end = len(body) if end < 0 else end
        name, equals, value = body[place:end].partition("=")
        tag, wrong = _checked(name, equals, value)
        if tag is not None and tag == data_tag and equals:
            start = place + len(name) + 1
            end = start + data_size
            value = body[start:end]
            wrong = (
                None if body[end : end + 1] in ("", SOH) and len(value) == data_size else _wrong_length(tag)
            )
        data_tag = 0
        if tag is not None and wrong is None:
            pairs.append((tag, value))
            if tag in _DATA_OF_LENGTH and value.isascii() and value.isdigit():
                data_tag, data_size = _DATA_OF_LENGTH[tag], int(value)
        problem = problem or wrong
        place = end + 1
    return None if len(pairs) < 2 or pairs[1][0] != 35 else Message(pairs, raw, problem)


def _checked(name: str, equals: str, value: str) -> tuple[int | None, FieldProblem | None]:
    try:
        tag = _TAGS[name]
    except (KeyError, ValueError, IndexError):
        return None, FieldProblem(None, INVALID_TAG, "A tag is not a number.")
    if not equals or not value:
        return tag, FieldProblem(tag, TAG_WITHOUT_VALUE, f"Tag {tag} has no value.")
    return tag, None


def _wrong_length(tag: int) -> FieldProblem:
    return FieldProblem(tag, FORMAT_WRONG, f"Tag {tag} is not as long as the field in front of it says.")


# --- Times --------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _second_text(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y%m%d-%H:%M:%S")


def time_text(at_us: int) -> str:
    """A UTCTimestamp with milliseconds, cut off."""
    second, us = divmod(at_us, _US_PER_S)
    return f"{_second_text(second)}.{us // 1000:03}"


_TIME = re.compile(r"(\d{8}-\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?", re.ASCII)


@lru_cache(maxsize=64)
def time_us(text: str) -> int:
    """A UTCTimestamp with any number of decimals, cut to microseconds. A ValueError if it is none."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a UTC timestamp such as 20261231-23:59:59.999")
    return _second_of(match[1]) * _US_PER_S + int((match[2] or "0").ljust(6, "0")[:6])


@lru_cache(maxsize=8)
def _second_of(text: str) -> int:
    # A leap second counts as the second before it.
    whole = f"{text[:-2]}59" if text.endswith(":60") else text
    return int(datetime.strptime(whole, "%Y%m%d-%H:%M:%S").replace(tzinfo=UTC).timestamp())
