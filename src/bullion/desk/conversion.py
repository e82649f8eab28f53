"""Makes a typed body of what was sent, or lists every problem of it."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from .bodies import Body, Code
from .problems import excerpt, find_problems, invalid_field, invalid_request

T = TypeVar("T")
S = TypeVar("S", bound=Body)
_MERGED = ("budgets", "allocation", "instruments")
"""Fields whose own fields may be changed one by one. Every other is replaced."""


def read(raw: bytes, shape: Any) -> Any:
    """Decode the body of an HTTP request. In the process, use `convert`."""
    return convert(read_json(raw), shape)


def read_json(raw: bytes) -> Any:
    try:
        values = msgspec.json.decode(raw)
        json.loads(raw, object_pairs_hook=_refuse_duplicates, parse_int=str)
    except RecursionError:
        raise invalid_field((), "The body is nested too deeply", "not_json") from None
    except ValueError:
        raise invalid_field((), "The body is not valid JSON in UTF-8", "not_json") from None
    return values


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> None:
    """msgspec would keep the last of two values for one name, without an error."""
    seen = set()
    for name, _ in pairs:
        if name in seen:
            raise invalid_field((excerpt(name),), "is given more than once", "duplicate")
        seen.add(name)


def convert(values: Any, shape: type[T]) -> T:
    """A body of plain values, such as those of a form; the refusal lists every problem of it."""
    problems = find_problems(values, shape)
    if problems:
        raise invalid_request(problems)
    try:
        return msgspec.convert(values, shape)
    except msgspec.ValidationError as error:
        raise invalid_field((), excerpt(str(error))) from None


def require_valid(body: Body | list[Body]) -> None:
    """For a body that was created in the process: its texts are not checked yet."""
    shape = list[type(body[0])] if isinstance(body, list) and body else type(body)  # type: ignore[misc]
    problems = find_problems(msgspec.to_builtins(body), shape)
    if problems:
        raise invalid_request(problems)


class Changes(Generic[S]):
    """Some valid fields of a body, as in a PATCH. The other fields stay unchanged."""

    __slots__ = ("_shape", "fields")

    def __init__(self, shape: type[S], fields: Mapping[str, Any]) -> None:
        problems = find_problems(fields, shape, partial=_MERGED)
        if problems:
            raise invalid_request(problems)
        self._shape = shape
        self.fields = fields

    def applied_to(self, current: Mapping[str, Any]) -> S:
        """The current state, updated with these fields."""
        whole = {**current, **self.fields}
        for name in _MERGED:
            if name in self.fields and isinstance(current.get(name), dict):
                whole[name] = current[name] | self.fields[name]
        return convert(whole, self._shape)


def require_code(field: str, text: str) -> None:
    """A code that came in the path rather than the body."""
    try:
        msgspec.convert(text, Code)
    except msgspec.ValidationError:
        message = "use up to 32 letters, digits, dots, dashes and underscores"
        raise invalid_field((field,), message, "bad_character", within="path") from None


def rule(loc: tuple[str | int, ...], make: Callable[..., T], *arguments: Any, **fields: Any) -> T:
    """Create a value; a ValueError of its own rules becomes a field error."""
    try:
        return make(*arguments, **fields)
    except ValueError as error:
        raise invalid_field(loc, str(error)) from None
