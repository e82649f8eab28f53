"""An answer of the service: telling accepted from refused, and reading fields out of it."""

import json
import re
from dataclasses import dataclass

import httpx

from bullion_client.errors import (
    AccessRefused,
    BudgetRefused,
    CredentialRefused,
    Refusal,
    RequestRefused,
    Unavailable,
    UnexpectedAnswer,
)

_FAMILIES: dict[int, type[Refusal]] = {401: CredentialRefused, 403: AccessRefused, 429: BudgetRefused}

_NOT_THE_SERVICE = "Check base_url, and any proxy on the way"
_OTHER_VERSION = "The service may be of another version than this client: look for a newer bullion-client"


@dataclass(frozen=True, slots=True)
class Answer:
    """The JSON object of an accepted call, read field by field.

    A field that is missing or wrongly typed raises `UnexpectedAnswer`, which names it. Fields that nobody
    asks for are ignored, so that the service can add some without breaking older clients.
    """

    response: httpx.Response
    fields: dict[str, object]

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

    def _field(self, name: str) -> object:
        if name not in self.fields:
            raise _unexpected(self.response, f"its field {name!r} is missing", _OTHER_VERSION, field=name)
        return self.fields[name]

    def _mistyped(self, name: str, expected: str) -> UnexpectedAnswer:
        return _unexpected(self.response, f"its field {name!r} is not {expected}", _OTHER_VERSION, field=name)


def accepted(response: httpx.Response) -> Answer:
    """Return the answer to read if the call was accepted; raise the refusal, or what else it is, if not."""
    if response.has_redirect_location:
        # Following would carry the key to wherever the redirect points.
        location = response.headers["Location"][:200]
        raise _unexpected(
            response, f"it redirects to {location!r}, and the key is not sent there", "Check base_url"
        )
    fields = _json_object(response)
    if response.is_success:
        return Answer(response, fields)
    raise _refusal(response, fields)


def _json_object(response: httpx.Response) -> dict[str, object]:
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError) as error:  # the latter from absurdly deep nesting
        raise _unexpected(response, "not in JSON", _foreign_advice(response.status_code)) from error
    if not isinstance(body, dict):
        raise _unexpected(response, "not with a JSON object", _foreign_advice(response.status_code))
    return body


def _refusal(response: httpx.Response, fields: dict[str, object]) -> Refusal | UnexpectedAnswer:
    detail = fields.get("detail")
    if not response.is_error or not isinstance(detail, dict) or not isinstance(detail.get("code"), str):
        advice = _foreign_advice(response.status_code)
        return _unexpected(response, "without the code that a refusal has", advice)
    message = detail.get("message")
    fallback = Unavailable if response.is_server_error else RequestRefused
    return _FAMILIES.get(response.status_code, fallback)(
        detail["code"],
        response.status_code,
        # The message is for people: a refusal without one is still a refusal.
        message if isinstance(message, str) else "",
        _retry_after(response),
        _request_id(response),
        detail,
    )


def _foreign_advice(status: int) -> str:
    if status == 404:
        return "A 404 without a code comes from a wrong host or path: check base_url"
    if status >= 500:
        return "It seems to come from a proxy in front of the service: try again later"
    return _NOT_THE_SERVICE


def _unexpected(
    response: httpx.Response, problem: str, advice: str, field: str | None = None
) -> UnexpectedAnswer:
    return UnexpectedAnswer(
        problem, advice, str(response.url), response.status_code, _request_id(response), field
    )


def _request_id(response: httpx.Response) -> str | None:
    request_id: str | None = response.headers.get("X-Request-Id")
    return request_id


def _retry_after(response: httpx.Response) -> int | None:
    # The service sends whole seconds; HTTP's other form, a date, could only come from something else.
    seconds = response.headers.get("Retry-After", "")
    return int(seconds) if re.fullmatch("[0-9]{1,9}", seconds) else None
