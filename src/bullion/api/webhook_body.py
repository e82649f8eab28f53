"""Reads the bodies of the calls that set up webhooks, and reports all problems at once."""

from typing import Any

import msgspec

from bullion.events.event import EventType
from bullion.events.webhook import DESCRIPTION_LENGTH_MAX
from bullion.web.headers import Headers

from .json_body import (
    Number,
    check_characters,
    check_content_type,
    check_length,
    check_names,
    kind,
    read_object,
    read_text,
)
from .problems import Problems, excerpt
from .wire.webhooks import ChangeWebhook, CreateWebhook, ReplayWebhook

_TYPES = [each.value for each in EventType]
_NUMBER_DIGITS_MAX = 18


class SentWebhook(msgspec.Struct, frozen=True):
    """What was sent. None: the field was left out."""

    url: str | None
    types: tuple[str, ...] | None
    """Empty: all."""
    description: str | None
    enabled: bool | None = None


def read_create(headers: Headers, body: bytes) -> SentWebhook:
    """May raise RefusalError."""
    problems = Problems()
    sent = _read(headers, body, CreateWebhook, "webhook", problems)
    url = None if sent is None else read_text("url", sent, problems)
    return _webhook(sent or {}, url, problems)


def read_change(headers: Headers, body: bytes) -> SentWebhook:
    """May raise RefusalError."""
    problems = Problems()
    sent = _read(headers, body, ChangeWebhook, "webhook", problems) or {}
    url = read_text("url", sent, problems) if "url" in sent else None
    return _webhook(sent, url, problems)


def read_replay(headers: Headers, body: bytes) -> int | None:
    """The number of an event, or None for all. The body may be empty. May raise RefusalError."""
    if not body:
        return None
    problems = Problems()
    sent = _read(headers, body, ReplayWebhook, "replay", problems) or {}
    value, number = sent.get("number"), None
    if type(value) is Number and value.isdigit() and len(value) <= _NUMBER_DIGITS_MAX and int(value):
        number = int(value)
    elif value is not None:
        message = f"number must be a whole number from 1 on, not {_shown(value)}."
        problems.add(("body", "number"), message, "not_an_integer")
    if problems:
        raise problems.to_error()
    return number


def _read(
    headers: Headers, body: bytes, shape: type[msgspec.Struct], name: str, problems: Problems
) -> dict[str, Any] | None:
    check_content_type([value for each, value in headers if each == b"content-type"], problems)
    pairs = read_object(body, problems, name)
    if pairs is None:
        return None
    sent = dict(pairs)
    check_characters(sent, ("url", "description"), problems)
    check_names(pairs, shape.__struct_fields__, problems, name)
    return sent


def _webhook(sent: dict[str, Any], url: str | None, problems: Problems) -> SentWebhook:
    types = _read_types(sent, problems) if "types" in sent else None
    description = read_text("description", sent, problems) if "description" in sent else None
    if description is not None:
        check_length("description", description, DESCRIPTION_LENGTH_MAX, problems)
    enabled = sent.get("enabled")
    if "enabled" in sent and not isinstance(enabled, bool):
        message = f"enabled must be true or false, not {_shown(enabled)}."
        problems.add(("body", "enabled"), message, "not_a_choice")
    if problems:
        raise problems.to_error()
    return SentWebhook(url, types, description, enabled)


def _read_types(sent: dict[str, Any], problems: Problems) -> tuple[str, ...]:
    value, where = sent["types"], ("body", "types")
    if value is None:
        return ()
    if not isinstance(value, list):
        problems.add(where, f"types must be an array or null, not {_shown(value)}.", "not_a_choice")
        return ()
    if not value:
        problems.add(where, "types is empty. Send null for all types.", "empty")
    wrong = [each for each in value if type(each) is not str or each not in _TYPES]
    if wrong:
        message = f"types may have {', '.join(_TYPES)}; this has {_shown(wrong[0])}."
        problems.add(where, message, "not_a_choice")
        return ()
    if len({*value}) < len(value):
        problems.add(where, "types has a type more than once.", "duplicate")
    return tuple(value)


def _shown(value: object) -> str:
    """What was sent, for messages."""
    return f'"{excerpt(value)}"' if type(value) is str else kind(value)
