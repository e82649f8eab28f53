"""Collects the problems of a request, so that the response lists them all."""

from collections.abc import Iterator, Sequence
from typing import Literal

from bullion.refusals.catalogue import INVALID_REQUEST
from bullion.refusals.refusal import RefusalError

from .wire.refusals import PROBLEMS_MAX, Problem

ProblemType = Literal[
    "bad_character",
    "bad_content_type",
    "duplicate",
    "empty",
    "missing",
    "more_problems",
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

_NAME_LENGTH_MAX = 128
_EXCERPT_LENGTH_MAX = 40


class Problems:
    """The content of `detail.errors`. Truthy if there is a problem."""

    __slots__ = ("_found", "_not_listed")

    def __init__(self) -> None:
        self._found: list[Problem] = []
        self._not_listed = 0

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, loc: tuple[str, ...], msg: str, kind: ProblemType) -> None:
        if len(self._found) < PROBLEMS_MAX:
            self._found.append(Problem(list(loc), msg, kind))
        else:
            self._not_listed += 1

    def add_names(self, names: Sequence[str], message: str, kind: ProblemType) -> None:
        """Add the same problem for each of these fields. The message follows the name of the field."""
        room = PROBLEMS_MAX - len(self._found)
        for name in names[:room]:
            field = excerpt(name, _NAME_LENGTH_MAX)
            self.add(("body", field), f'"{field}" {message}', kind)
        self._not_listed += len(names[room:])

    def to_error(self) -> RefusalError:
        return RefusalError(INVALID_REQUEST, fields={"errors": [*self._found, *self._rest()]})

    def _rest(self) -> Iterator[Problem]:
        if self._not_listed:
            more = "problem is" if self._not_listed == 1 else "problems are"
            msg = f"{self._not_listed} more {more} not listed."
            yield Problem(["body"], msg, "more_problems")


def excerpt(text: str, length_max: int = _EXCERPT_LENGTH_MAX) -> str:
    """The start of a text from a request, safe to repeat in a response.

    Control characters, bidirectional marks and lone surrogates (which cannot be encoded) are escaped.
    """
    start = "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text[:length_max]
    )
    return start if len(text) <= length_max else f"{start}…"
