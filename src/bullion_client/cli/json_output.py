"""JSON output with the field names of the API, exact decimals, and times with an offset."""

import dataclasses
import json
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any

from bullion_client.cli.formatting import plain

Json = dict[str, object]


def wire(value: object) -> object:
    """A value of the library as JSON types."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return fields(value)
    match value:
        case Enum():
            return value.value
        case Decimal():
            return plain(value)
        case datetime():
            return value.isoformat(timespec="microseconds")
        case list() | tuple():
            return [wire(each) for each in value]
        case dict():
            return {str(name): wire(each) for name, each in value.items()}
        case _:
            return value


def fields(value: Any) -> Json:
    """The fields of a dataclass, in their order."""
    return {field.name: wire(getattr(value, field.name)) for field in dataclasses.fields(value)}


def document(value: object) -> str:
    """The JSON text, in ASCII, so that no character can control a terminal."""
    return json.dumps(wire(value), indent=2)


def line(value: object) -> str:
    """The same on one line."""
    return json.dumps(wire(value), separators=(",", ":"))
