"""Finds all problems of a body for the desk, each with its location.

msgspec stops at the first problem, so `find_problems` walks the value by the type information of msgspec.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect as kinds

from bullion.faults import OutcomeUnknown, StoreBusy, StoreConflict, StoreFault
from bullion.refusals.catalogue import SERVICE_UNAVAILABLE
from bullion.refusals.desk import INVALID_BODY
from bullion.refusals.refusal import FieldError, RefusalError

Loc = tuple[str | int, ...]
Check = Callable[[str], object]
"""Reads a text; raises ValueError with a message that follows the name of the field."""

_LISTED_MAX = 20
_IN_MESSAGE_MAX = 3
_MESSAGE_MAX = 300
_EXCERPT_MAX = 40


def checked_by(check: Check) -> msgspec.Meta:
    """An annotation: the text is also read by `check`."""
    return msgspec.Meta(extra={"check": check})


def invalid_field(
    loc: Sequence[str | int], message: str, kind: str = "invalid", *, within: str = "body"
) -> RefusalError:
    """The refusal of one field. The message follows its name, and ends without a full stop."""
    return invalid_request([_error((within, *loc), message, kind)])


def invalid_request(errors: Sequence[FieldError]) -> RefusalError:
    message = "; ".join(_summary(each) for each in errors[:_IN_MESSAGE_MAX])
    more = len(errors) - _IN_MESSAGE_MAX
    if more > 0:
        message += f"; and {more} more"
    if len(message) > _MESSAGE_MAX:
        message = f"{message[:_MESSAGE_MAX]}…"
    listed = list(errors[:_LISTED_MAX])
    if len(errors) > _LISTED_MAX:
        unlisted = f"{len(errors) - _LISTED_MAX} more problems are not listed"
        listed.append(_error(("body",), unlisted, "more_problems"))
    return RefusalError(INVALID_BODY, f"{message.rstrip('.')}.", errors=listed)


def _error(loc: Loc, message: str, kind: str) -> FieldError:
    return FieldError(loc, f"{message[:1].upper()}{message[1:]}.", kind)


def _summary(error: FieldError) -> str:
    """Such as `allocation.gold: must be above 0`."""
    place = ".".join(excerpt(str(part)) for part in error.loc[1:])
    message = error.msg.removesuffix(".")
    if place:
        return f"{place}: {message[:1].lower()}{message[1:]}"
    return (
        f"The body {message[:1].lower()}{message[1:]}" if message.startswith(("Has ", "Must ")) else message
    )


def excerpt(text: str) -> str:
    """The start of a text from a request, safe to repeat in a message."""
    start = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text[:_EXCERPT_MAX])
    return start if len(text) <= _EXCERPT_MAX else f"{start}…"


def find_problems(value: Any, shape: Any, *, partial: Sequence[str] | None = None) -> list[FieldError]:
    """Every problem of a body of this shape.

    With `partial`, fields may be missing from it, and from those of its fields that are named there.
    """
    return list(_problems(value, _kind_of(shape), ("body",), partial))


@cache
def _kind_of(shape: Any) -> kinds.Type:
    return kinds.type_info(shape)


FieldErrors = Iterator[FieldError]
Partial = Sequence[str] | None


def _problems(value: Any, kind: Any, loc: Loc, partial: Partial = None) -> FieldErrors:
    expected, wanted, name = _EXPECTED.get(type(kind), (object, "", ""))
    if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
        yield _error(loc, f"must be {wanted}, not {_json_name(value)}", name)
    elif type(kind) in _FINDERS:
        yield from _FINDERS[type(kind)](value, kind, loc, partial)


def _of_checked(value: Any, kind: kinds.Metadata, loc: Loc, partial: Partial) -> FieldErrors:
    found = list(_problems(value, kind.type, loc, partial))
    yield from found
    check: Check | None = (kind.extra or {}).get("check")
    if check is not None and not found and isinstance(value, str):
        try:
            check(value)
        except ValueError as error:
            yield _error(loc, str(error), "invalid")


def _of_object(value: dict[str, Any], kind: kinds.StructType, loc: Loc, partial: Partial) -> FieldErrors:
    fields = {each.encode_name: each for each in kind.fields}
    for name, field in fields.items():
        if name in value:
            inner = () if partial is not None and name in partial else None
            yield from _problems(value[name], field.type, (*loc, name), inner)
        elif field.required and partial is None:
            yield _error((*loc, name), "is required", "missing")
    for name in value:
        if name not in fields and name != kind.tag_field:
            yield _error((*loc, str(name)), f"is not a field here; {_told(fields)}", "unknown_field")


def _told(fields: Collection[str]) -> str:
    if not fields:
        return "there are none"
    return f"the {'fields are' if len(fields) > 1 else 'only field is'} {', '.join(fields)}"


def _of_union(value: Any, kind: kinds.UnionType, loc: Loc, partial: Partial) -> FieldErrors:
    """The problems of the alternative that the tag selects."""
    if value is None and kind.includes_none:
        return
    types = [each for each in kind.types if type(each).__name__ not in ("UnsetType", "NoneType")]
    if len(types) == 1:
        yield from _problems(value, types[0], loc, partial)
        return
    tagged = {each.tag: each for each in types if isinstance(each, kinds.StructType)}
    field = next(iter(tagged.values())).tag_field or ""
    if not isinstance(value, dict):
        yield _error(loc, f"must be an object, not {_json_name(value)}", "not_an_object")
    elif isinstance(value.get(field), str) and value[field] in tagged:
        yield from _problems(value, tagged[value[field]], loc)
    else:
        yield _error((*loc, field), f"must be one of {', '.join(map(str, tagged))}", "not_a_choice")


def _of_dict(value: dict[str, Any], kind: kinds.DictType, loc: Loc, _partial: Partial) -> FieldErrors:
    yield from _length(len(value), kind.min_length, kind.max_length, "entries", loc)
    for name, each in value.items():
        wrong = list(_problems(name, kind.key_type, (*loc, name)))
        yield from wrong or _problems(each, kind.value_type, (*loc, name))


def _of_list(value: Sequence[Any], kind: kinds.ListType, loc: Loc, _partial: Partial) -> FieldErrors:
    yield from _length(len(value), kind.min_length, kind.max_length, "entries", loc)
    for index, each in enumerate(value):
        yield from _problems(each, kind.item_type, (*loc, index))


def _of_tuple(value: Sequence[Any], kind: kinds.TupleType, loc: Loc, _partial: Partial) -> FieldErrors:
    wanted = len(kind.item_types)
    yield from _length(len(value), wanted, wanted, "entries", loc)
    for index, (each, item) in enumerate(zip(value, kind.item_types, strict=False)):
        yield from _problems(each, item, (*loc, index))


def _of_text(value: str, kind: kinds.StrType, loc: Loc, _partial: Partial) -> FieldErrors:
    wrong = list(_length(len(value), kind.min_length, kind.max_length, "characters", loc))
    yield from wrong
    if not wrong and kind.pattern is not None and not re.search(kind.pattern, value):
        yield _error(loc, "has a character that is not allowed there, or is blank", "bad_character")


def _of_integer(value: int, kind: kinds.IntType, loc: Loc, _partial: Partial) -> FieldErrors:
    if kind.ge is not None and value < kind.ge:
        yield _error(loc, f"must be at least {kind.ge}", "too_small")
    elif kind.le is not None and value > kind.le:
        yield _error(loc, f"must be at most {kind.le}", "too_large")


def _of_choice(value: Any, kind: kinds.LiteralType, loc: Loc, _partial: Partial) -> FieldErrors:
    if not isinstance(value, str) or value not in kind.values:
        yield _error(loc, f"must be one of {', '.join(map(str, kind.values))}", "not_a_choice")


def _length(length: int, least: int | None, most: int | None, what: str, loc: Loc) -> FieldErrors:
    if length < (least or 0):
        message = f"must have at least {least} {what}" if length else "must not be empty"
        yield _error(loc, message, "too_small" if length else "empty")
    elif most is not None and length > most:
        yield _error(loc, f"has {length} {what}; it may have up to {most}", "too_long")


_FINDERS: Mapping[type[kinds.Type], Callable[[Any, Any, Loc, Partial], FieldErrors]] = {
    kinds.Metadata: _of_checked,
    kinds.StructType: _of_object,
    kinds.UnionType: _of_union,
    kinds.DictType: _of_dict,
    kinds.ListType: _of_list,
    kinds.TupleType: _of_tuple,
    kinds.StrType: _of_text,
    kinds.IntType: _of_integer,
    kinds.LiteralType: _of_choice,
}
_EXPECTED: Mapping[type[kinds.Type], tuple[Any, str, str]] = {
    kinds.StrType: (str, "a string", "not_a_string"),
    kinds.IntType: (int, "a whole number", "not_an_integer"),
    kinds.BoolType: (bool, "true or false", "not_a_boolean"),
    kinds.ListType: ((list, tuple), "an array", "not_an_array"),
    kinds.TupleType: ((list, tuple), "an array", "not_an_array"),
    kinds.DictType: (dict, "an object", "not_an_object"),
    kinds.StructType: (dict, "an object", "not_an_object"),
}


def _json_name(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    names = {str: "a string", dict: "an object", int: "a number", float: "a number"}
    return names.get(type(value), "an array")


def unavailable(fault: StoreFault) -> RefusalError:
    match fault:
        case OutcomeUnknown():
            message = (
                "The connection to the store was lost while this was recorded. Check whether it was done "
                "before you repeat it."
            )
        case StoreBusy() | StoreConflict():
            message = "The store is busy. Nothing was changed; try again."
        case _:
            message = "The store cannot be reached. Nothing was changed; try again."
    return RefusalError(SERVICE_UNAVAILABLE, message)
