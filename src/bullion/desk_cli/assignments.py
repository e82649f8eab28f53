"""`field=value` on the command line, read by the type that the field has in the desk's bodies."""

import typing
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from bullion.desk.bodies import Body
from bullion.desk.body_fields import alternatives

_YES_NO = {"yes": "true", "on": "true", "no": "false", "off": "false"}
"""As our own tables and settings say it."""
_EXPECTED = {bool: "true or false", int: "a whole number"}
"""What a field of this type takes, in words."""


def assigned(shape: type[Body], assignments: Sequence[str]) -> dict[str, Any]:
    """The fields of a PATCH: `halted=true`, `allocation.gold=500`, `sides=buy,sell`, `stock=null`,
    `instruments.GOLD=suspended`.
    """
    patch: dict[str, Any] = {}
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not equals:
            raise click.UsageError(f"{assignment!r} is not of the form field=value.")
        *parents, field = path.split(".")
        within: Any = shape
        place = patch
        for parent in parents:
            within = _holder_of(_field_type(within, parent), path)
            place = place.setdefault(parent, {})
        place[field] = _value(path, text, _field_type(within, field))
    return patch


def _field_type(shape: Any, name: str) -> Any:
    if typing.get_origin(shape) is dict:
        return typing.get_args(shape)[1]
    hints = typing.get_type_hints(shape, include_extras=True)
    if name not in hints:
        raise click.UsageError(f"There is no field {name!r}; there are: {', '.join(sorted(hints))}.")
    return hints[name]


def _holder_of(kind: Any, path: str) -> Any:
    """What holds further fields: a body, or a dictionary by whichever name."""
    for each in alternatives(kind):
        if typing.get_origin(each) is dict or (isinstance(each, type) and issubclass(each, Body)):
            return each
    raise click.UsageError(f"{path!r}: only fields that hold others can be followed by a dot.")


def _value(path: str, text: str, kind: Any) -> Any:
    kinds = alternatives(kind)
    try:
        if text.startswith(("{", "[")):
            return msgspec.json.decode(text)
        if any(typing.get_origin(each) is list for each in kinds):
            return [part.strip() for part in text.split(",") if part.strip()]
        if type(None) in kinds and text == "null":
            return None
        if bool in kinds:
            text = _YES_NO.get(text.lower(), text)
        return msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError as error:
        for each, words in _EXPECTED.items():
            # A number out of bounds has a message of its own.
            if each in kinds and "got `str`" in str(error):
                raise click.UsageError(f"{path} must be {words}, not {text!r}.") from None
        raise click.UsageError(f"{path}: {error}.") from None
    except msgspec.DecodeError as error:
        raise click.UsageError(f"{path}: {error}.") from None
