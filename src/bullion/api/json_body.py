"""Reads the body of a request as one JSON object, and reports all problems at once.

Numbers stay text. Objects are tuples of pairs, so that duplicate names can be detected.
"""

import re
from collections import Counter
from collections.abc import Sequence
from json import JSONDecodeError, JSONDecoder
from typing import Any

from .problems import Problems, excerpt

BODY_BYTES_MAX = 64 * 1024
MISSING = object()

_CONTENT_TYPE = ("header", "Content-Type")
_BODY = ("body",)
_TOKEN = rb"[!#$%&'*+.^_`|~0-9a-z-]++"
_QUOTED = rb'"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t -~\x80-\xff])*+"'
_UTF8 = rb"(?:utf-?8|us-ascii)"
_PARAMETER = rb'(?:charset=(?:%b|"%b")|(?!charset=)%b=(?:%b|%b))' % (_UTF8, _UTF8, _TOKEN, _TOKEN, _QUOTED)
# All repetitions are possessive: the time to match is linear.
_JSON_IN_UTF8 = re.compile(
    rb"[ \t]*+application/json[ \t]*+(?:;[ \t]*+(?:%b[ \t]*+)?)*+" % _PARAMETER, re.IGNORECASE
)
"""US-ASCII is accepted because it is a subset of UTF-8."""


def check_content_type(sent: Sequence[bytes], problems: Problems) -> None:
    if not any(value.strip(b" \t") for value in sent):
        problems.add(_CONTENT_TYPE, "Send the header Content-Type: application/json.", "missing")
    elif len(sent) > 1:
        problems.add(_CONTENT_TYPE, "Content-Type was sent more than once. Send one.", "duplicate")
    elif not _JSON_IN_UTF8.fullmatch(sent[0]):
        message = excerpt(sent[0].decode("latin-1"))
        problems.add(
            _CONTENT_TYPE,
            f'Content-Type must be application/json, in UTF-8 if it names a charset; this is "{message}".',
            "bad_content_type",
        )


class Number(str):
    """The text of a JSON number, not yet parsed."""

    __slots__ = ()


class _NotFinite(str):
    """NaN, Infinity or -Infinity: not JSON, but reported as a problem of the field, not of the body."""

    __slots__ = ()


_DECODER = JSONDecoder(
    object_pairs_hook=tuple, parse_int=Number, parse_float=Number, parse_constant=_NotFinite
)


def read_object(body: bytes, problems: Problems, name: str) -> tuple[tuple[str, Any], ...] | None:
    """`name`: what the object is, such as `order`, for messages."""
    try:
        value = _DECODER.decode(body.decode())
    except UnicodeDecodeError as error:
        problems.add(_BODY, f"The body is not UTF-8: see the byte at {error.start}.", "not_utf8")
    except JSONDecodeError as error:
        problems.add(_BODY, _not_json(body, error, name), "not_json")
    except RecursionError:
        message = f"The body is nested too deeply. {article(name).capitalize()} is one flat JSON object."
        problems.add(_BODY, message, "not_json")
    else:
        if type(value) is tuple:
            return value
        problems.add(_BODY, f"The body must be a JSON object, not {kind(value)}.", "not_an_object")
    return None


def article(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _not_json(body: bytes, error: JSONDecodeError, name: str) -> str:
    if not body.strip():
        return f"The body is empty. Send the {name} as a JSON object."
    if body.startswith(b"\xef\xbb\xbf"):
        return "The body starts with a byte order mark. Send the JSON without it."
    return f"The body is not valid JSON: see line {error.lineno}, column {error.colno}."


def kind(value: object) -> str:
    """The JSON type of a value, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, _NotFinite):
        return str(value)
    if isinstance(value, Number):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an object" if isinstance(value, tuple) else "an array"


def check_names(
    pairs: tuple[tuple[str, Any], ...], fields: Sequence[str], problems: Problems, name: str
) -> None:
    """Refuse unknown and duplicate fields: a mistyped one must not be ignored."""
    counts = Counter(each for each, _ in pairs)
    twice = [each for each, number in counts.items() if number > 1]
    unknown = [each for each in counts if each not in fields]
    problems.add_names(twice, "is there more than once.", "duplicate")
    message = f"is not a field of {article(name)}. The fields are {', '.join(fields)}."
    problems.add_names(unknown, message, "unknown_field")


_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
"""PostgreSQL stores no NUL. A surrogate that is left after decoding is unpaired, and not a character."""


def check_characters(sent: dict[str, Any], fields: Sequence[str], problems: Problems) -> None:
    for field in fields:
        value = sent.get(field)
        if type(value) is str and _NOT_STORABLE.search(value):
            message = f"{field} may have neither a NUL character nor a lone surrogate."
            problems.add(("body", field), message, "bad_character")


def read_text(field: str, sent: dict[str, Any], problems: Problems) -> str | None:
    value = sent.get(field, MISSING)
    if type(value) is str:
        return value
    if value is MISSING:
        problems.add(("body", field), f"{field} is required.", "missing")
    else:
        problems.add(("body", field), f"{field} must be a string, not {kind(value)}.", "not_a_string")
    return None


def check_length(field: str, text: str, length_max: int, problems: Problems) -> None:
    if len(text) > length_max:
        message = f"{field} has {len(text)} characters; it may have up to {length_max}."
        problems.add(("body", field), message, "too_long")
