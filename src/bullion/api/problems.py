"""What is wrong with a request, gathered, so that a caller is told of every problem at once."""

from typing import Literal

from bullion.refusals.catalogue import INVALID_REQUEST
from bullion.refusals.refusal import Refused

ProblemType = Literal[
    "bad_character",
    "bad_content_type",
    "duplicate",
    "empty",
    "missing",
    "not_a_choice",
    "not_a_number",
    "not_a_string",
    "not_a_time",
    "not_an_integer",
    "not_an_object",
    "not_json",
    "not_utf8",
    "too_large",
    "too_long",
    "too_many_digits",
    "too_small",
    "unknown_field",
]
"""For programs, like a refusal's code. The message beside it is for people and may change."""

_EXCERPT_MAX = 40


class Problems:
    """The list behind `detail.errors`. True once there is something in it."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: list[dict[str, object]] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, loc: tuple[str, ...], msg: str, kind: ProblemType) -> None:
        self._found.append({"loc": list(loc), "msg": msg, "type": kind})

    def refused(self) -> Refused:
        return Refused(INVALID_REQUEST, fields={"errors": self._found})


def excerpt(text: str) -> str:
    """The start of what was sent, fit to be repeated: short, and with nothing in it that cannot be seen.

    Control characters, turned directions of writing and lone surrogates (which no answer could be made of)
    come out as escapes.
    """
    start = "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text[:_EXCERPT_MAX]
    )
    return start if len(text) <= _EXCERPT_MAX else f"{start}…"
