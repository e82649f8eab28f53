"""An answer of the service, read field by field."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

import httpx

from bullion_client.errors import UnexpectedAnswer

_Item = TypeVar("_Item")

OTHER_VERSION = "The service may be of another version than this client: look for a newer bullion-client"
_DECIMAL = re.compile(r"-?[0-9]{1,100}(?:\.[0-9]{1,100})?")


@dataclass(frozen=True, slots=True)
class Answer:
    """The JSON object of an accepted call, or one inside of it.

    A field that is missing or wrongly typed raises `UnexpectedAnswer`, which names it. Fields that nobody
    asks for are ignored, so that the service can add some without breaking older clients.
    """

    response: httpx.Response
    fields: dict[str, object]
    path: str = ""
    """Where in the answer it stands, such as `items[3].`."""

    def text(self, name: str) -> str:
        """Read a string."""
        value = self._field(name)
        if not isinstance(value, str):
            raise self._mistyped(name, "a string")
        return value

    def text_or_none(self, name: str) -> str | None:
        """Read a string or null. The field itself must be there."""
        value = self._field(name)
        if value is not None and not isinstance(value, str):
            raise self._mistyped(name, "a string or null")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Read an array of strings."""
        value = self._field(name)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._mistyped(name, "an array of strings")
        return tuple(value)

    def flag(self, name: str) -> bool:
        """Read a boolean."""
        value = self._field(name)
        if not isinstance(value, bool):
            raise self._mistyped(name, "a boolean")
        return value

    def integer(self, name: str) -> int:
        """Read a whole number."""
        value = self._field(name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._mistyped(name, "a whole number")
        return value

    def decimal(self, name: str) -> Decimal:
        """Read an exact number, which the service writes as a string. No float comes near it."""
        value = self._field(name)
        if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
            raise self._mistyped(name, "a decimal string")
        return Decimal(value)

    def time(self, name: str) -> datetime:
        """Read a time with its UTC offset."""
        try:
            value = datetime.fromisoformat(self.text(name))
        except ValueError:
            raise self._mistyped(name, "a time") from None
        if value.tzinfo is None:
            raise self._mistyped(name, "a time with a UTC offset")
        return value

    def has(self, name: str) -> bool:
        """Whether a field is there and not null, for those that need not be."""
        return self.fields.get(name) is not None

    def inner(self, name: str) -> "Answer":
        """Read an object inside of this one."""
        return self._inside(name, self._field(name))

    def inners(self, name: str, read: Callable[["Answer"], _Item]) -> tuple[_Item, ...]:
        """Read an array of objects, each by a function."""
        value = self._field(name)
        if not isinstance(value, list):
            raise self._mistyped(name, "an array")
        return tuple(read(self._inside(f"{name}[{index}]", item)) for index, item in enumerate(value))

    def _inside(self, name: str, value: object) -> "Answer":
        if not isinstance(value, dict):
            raise self._mistyped(name, "an object")
        return Answer(self.response, value, f"{self.path}{name}.")

    def _field(self, name: str) -> object:
        if name not in self.fields:
            field = self.path + name
            raise unexpected(self.response, f"its field {field!r} is missing", OTHER_VERSION, field=field)
        return self.fields[name]

    def _mistyped(self, name: str, expected: str) -> UnexpectedAnswer:
        field = self.path + name
        return unexpected(self.response, f"its field {field!r} is not {expected}", OTHER_VERSION, field=field)


def json_object(response: httpx.Response, advice: str) -> dict[str, object]:
    """The object that the body is. Numbers with a point stay exact, wherever they are."""
    try:
        body = json.loads(response.content, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        # The second from an exponent that Decimal cannot hold, the third from absurdly deep nesting.
        raise unexpected(response, "not in JSON", advice) from error
    if not isinstance(body, dict):
        raise unexpected(response, "not with a JSON object", advice)
    return body


def unexpected(
    response: httpx.Response, problem: str, advice: str, field: str | None = None
) -> UnexpectedAnswer:
    """The error for an answer that is not one of the service's."""
    return UnexpectedAnswer(
        problem,
        advice,
        str(response.url),
        response.status_code,
        request_id(response),
        field,
        retry_after(response),
    )


def request_id(response: httpx.Response) -> str | None:
    """The service's id of the request."""
    value: str | None = response.headers.get("X-Request-Id")
    return value


def retry_after(response: httpx.Response) -> int | None:
    """The seconds of `Retry-After`. HTTP's other form, a date, could only come from something else."""
    seconds = response.headers.get("Retry-After", "")
    return int(seconds) if re.fullmatch("[0-9]{1,9}", seconds) else None
