"""JSON whose numbers stay text, and JSON pointers (RFC 6901) into it."""

import json
from typing import Any


class NotJson(ValueError):
    """The message is not JSON in UTF-8, or is nested too deeply."""


class JsonNumber(str):
    """A number of a JSON document, as it was written: it is never a float. NaN and Infinity come as well."""

    __slots__ = ()


def read_json(data: str | bytes) -> Any:
    try:
        return json.loads(data, parse_float=JsonNumber, parse_int=JsonNumber, parse_constant=JsonNumber)
    except (ValueError, RecursionError) as error:
        raise NotJson(type(error).__name__) from None


def pointer_keys(pointer: str) -> tuple[str, ...]:
    """The keys of a pointer such as `/data/0/bid`; "" is the whole document. ValueError for another text."""
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise ValueError(f"{pointer[:40]!r} is not a JSON pointer such as /data/bid")
    return tuple(key.replace("~1", "/").replace("~0", "~") for key in pointer[1:].split("/"))


def value_at(document: Any, keys: tuple[str, ...]) -> Any:
    """None if there is nothing at that place."""
    for key in keys:
        if isinstance(document, dict):
            document = document.get(key)
        elif isinstance(document, list) and key.isdecimal() and len(key) < 7 and int(key) < len(document):
            document = document[int(key)]
        else:
            return None
    return document
