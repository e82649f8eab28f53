"""Reads a TOML file into structs, and reports all its mistakes at once, each with its line."""

import difflib
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, TypeVar

import msgspec

Place = tuple[str | int, ...]
"""The keys and indexes that lead to an entry."""
S = TypeVar("S", bound=msgspec.Struct)

_SHOWN_MAX = 60
_KINDS = {int: "a whole number", bool: "true or false", Decimal: "a number", str: "text in quotes"}


class WrongFile(Exception):
    """The file has mistakes. Its message has one line for each, in the order of the file."""


class TomlFile:
    """The tables of a file, and the mistakes that were found in them."""

    def __init__(self, text: str) -> None:
        """Raises WrongFile if it is not TOML."""
        self._text = text
        self._mistakes: list[tuple[Place, str]] = []
        try:
            self.tables = _parse(text)
        except tomllib.TOMLDecodeError as error:
            raise WrongFile(f"This is not TOML: {error}.") from None

    def add_mistake(self, place: Place, message: str) -> None:
        self._mistakes.append((place, message))

    def read(self, value: Any, shape: type[S], place: Place = ()) -> S | None:
        """A value of the tables as `shape`. None if it has mistakes, which are added to the others."""
        before = len(self._mistakes)
        found = self._read(value, shape, place)
        return typing.cast("S", found) if len(self._mistakes) == before else None

    def raise_mistakes(self) -> None:
        """Raise WrongFile if there is one."""
        if self._mistakes:
            located = sorted((_line_of(self._text, place), message) for place, message in self._mistakes)
            raise WrongFile("\n".join(f"line {line}: {message}" for line, message in located))

    def _read(self, value: Any, shape: Any, place: Place) -> Any:
        origin, parts = typing.get_origin(shape), typing.get_args(shape)
        if origin in (typing.Union, types.UnionType) and value is not None:
            kinds = [each for each in parts if each is not type(None)]
            if len(kinds) == 1:
                return self._read(value, kinds[0], place)
        if isinstance(shape, type) and issubclass(shape, msgspec.Struct):
            return self._read_struct(value, shape, place)
        if origin in (dict, Mapping):
            if not isinstance(value, dict):
                return self._wrong(value, "a table", place)
            return {key: self._read(each, parts[1], (*place, key)) for key, each in value.items()}
        if origin is list or (origin is tuple and Ellipsis in parts):
            if not isinstance(value, list | tuple):
                return self._wrong(value, "a list", place)
            return origin(self._read(each, parts[0], (*place, index)) for index, each in enumerate(value))
        try:
            return msgspec.convert(value, shape)
        except msgspec.ValidationError:
            return self._wrong(value, _expected(shape), place)

    def _read_struct(self, value: Any, shape: type[msgspec.Struct], place: Place) -> Any:
        if not isinstance(value, dict):
            return self._wrong(value, "a table", place)
        fields = {each.encode_name: each for each in msgspec.structs.fields(shape)}
        before = len(self._mistakes)
        found: dict[str, Any] = {}
        for key, each in value.items():
            if key in fields:
                found[fields[key].name] = self._read(each, fields[key].type, (*place, key))
            else:
                self.add_mistake((*place, key), _unknown(key, list(fields), place))
        for name, field in fields.items():
            if field.required and name not in value:
                missing = f"{name_of((*place, name))} is missing: expected {_expected(field.type)}."
                self.add_mistake(place, missing)
        if len(self._mistakes) > before:
            return None
        try:
            return shape(**found)
        except ValueError as error:  # Raised by the struct's own check.
            self.add_mistake(place, f"{name_of(place) or 'the file'}: {error}")
            return None

    def _wrong(self, value: Any, expected: str, place: Place) -> None:
        self.add_mistake(place, f"{name_of(place)} is {_shown(value)}: expected {expected}.")


def read_toml(text: str, shape: type[S]) -> S:
    """The whole file as `shape`, or WrongFile."""
    file = TomlFile(text)
    found = file.read(file.tables, shape)
    file.raise_mistakes()
    return typing.cast("S", found)


def name_of(place: Place) -> str:
    """A place in the file: `lines.spot.hours[2]` is the second entry of a list."""
    return "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")


def _parse(text: str) -> dict[str, Any]:
    # Decimal, because a price or weight must not pass through a float.
    return tomllib.loads(text, parse_float=Decimal)


def _unknown(key: str, known: list[str], place: Place) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    advice = f"Did you mean {near[0]}?" if near else f"Expected one of: {', '.join(known)}."
    return f"{name_of((*place, key))} is not known. {advice}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN_MAX else text[:_SHOWN_MAX] + "…"


def _expected(shape: Any) -> str:
    return " or ".join(dict.fromkeys(_expectations(shape)))


def _expectations(shape: Any, metas: Sequence[msgspec.Meta] = ()) -> Iterator[str]:
    """What a value may be. A union allows several."""
    origin, parts = typing.get_origin(shape), typing.get_args(shape)
    if origin is typing.Annotated:
        yield from _expectations(parts[0], [each for each in parts[1:] if isinstance(each, msgspec.Meta)])
    elif origin in (typing.Union, types.UnionType):
        for each in parts:
            if each is not type(None):  # TOML has no null.
                yield from _expectations(each, metas)
    elif origin is Literal:
        yield "one of: " + ", ".join(f'"{each}"' for each in parts)
    elif isinstance(shape, type) and issubclass(shape, Enum):
        yield "one of: " + ", ".join(f'"{each.value}"' for each in shape)
    else:
        told = next((each.description for each in metas if each.description), None)
        kind = "a list" if origin in (list, tuple) else _KINDS.get(shape, "a table")
        yield told or kind + _bounds(metas)


def _bounds(metas: Sequence[msgspec.Meta]) -> str:
    for meta in metas:
        if meta.ge is not None and meta.le is not None:
            return f" from {meta.ge} to {meta.le}"
        if meta.ge is not None:
            return f" of at least {meta.ge}"
    return ""


def _line_of(text: str, place: Place) -> int:
    """The line where the entry stands: the last line of the shortest beginning of the file that has it."""
    lines = text.splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        try:
            found: Any = _parse("".join(lines[:count]))
        except tomllib.TOMLDecodeError:
            continue  # A value of several lines does not end here.
        if _has(found, place):
            return count
    return 1


def _has(found: Any, place: Place) -> bool:
    for part in place:
        try:
            found = found[part]
        except (LookupError, TypeError):  # TypeError: it is neither a table nor a list.
            return False
    return True
