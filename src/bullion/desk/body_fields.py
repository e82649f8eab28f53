"""The fields of a body, read from its type: what the command line and the console make of each."""

import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import msgspec

from .bodies import CODE, Body, Option


@dataclass(frozen=True, slots=True)
class BodyField:
    name: str
    shape: Any
    """As it is declared, with its annotations."""
    required: bool
    default: Any

    @property
    def kinds(self) -> tuple[Any, ...]:
        return alternatives(self.shape)

    @property
    def nullable(self) -> bool:
        return type(None) in self.kinds

    @property
    def title(self) -> str:
        return next(
            (meta.title for meta in self.metas if meta.title), self.name.replace("_", " ").capitalize()
        )

    @property
    def description(self) -> str | None:
        return next((meta.description for meta in self.metas if meta.description), None)

    @property
    def option(self) -> Option | None:
        return next((each for each in annotations(self.shape) if isinstance(each, Option)), None)

    @property
    def metas(self) -> list[msgspec.Meta]:
        return [each for each in annotations(self.shape) if isinstance(each, msgspec.Meta)]

    @property
    def bounds(self) -> tuple[int, int]:
        """Of a whole number."""
        (meta,) = self.metas
        return typing.cast("int", meta.ge), typing.cast("int", meta.le)

    @property
    def is_code(self) -> bool:
        return any(meta.pattern == CODE for meta in self.metas)

    @property
    def is_checked(self) -> bool:
        """Whether its text is read by a function, as amounts are."""
        return any(meta.extra for meta in self.metas)

    @property
    def choices(self) -> tuple[str, ...]:
        literals = [kind for kind in self.kinds if typing.get_origin(kind) is Literal]
        return typing.get_args(literals[0]) if literals else ()

    @property
    def items(self) -> Any:
        """The type of its entries, if it is a list."""
        lists = [kind for kind in self.kinds if typing.get_origin(kind) is list]
        return typing.get_args(lists[0])[0] if lists else None

    @property
    def body(self) -> type[Body] | None:
        """Its type, if it is a body itself."""
        return self.shape if isinstance(self.shape, type) and issubclass(self.shape, Body) else None


@cache
def body_fields(shape: type[Body]) -> dict[str, BodyField]:
    """By name."""
    return {
        each.encode_name: BodyField(each.encode_name, each.type, each.required, each.default)
        for each in msgspec.structs.fields(shape)
    }


def defaults_of(shape: type[Body]) -> dict[str, str | int | bool]:
    """The defaults that are plain values, also those of the bodies within."""
    defaults: dict[str, str | int | bool] = {}
    for name, field in body_fields(shape).items():
        if isinstance(field.default, str | int):
            defaults[name] = field.default
        elif field.body is not None:
            defaults |= defaults_of(field.body)
    return defaults


def alternatives(kind: Any) -> tuple[Any, ...]:
    """The types that a value may have, without annotations."""
    if typing.get_origin(kind) is typing.Annotated:
        return alternatives(typing.get_args(kind)[0])
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return tuple(each for part in typing.get_args(kind) for each in alternatives(part))
    return (kind,)


def annotations(kind: Any) -> Iterator[Any]:
    if typing.get_origin(kind) is typing.Annotated:
        inner, *found = typing.get_args(kind)
        yield from found
        yield from annotations(inner)
    elif typing.get_origin(kind) in (typing.Union, types.UnionType):
        for part in typing.get_args(kind):
            yield from annotations(part)
