"""What schemathesis cannot know of our calls.

A key names one order, so each order gets a key of its own. An event has a number only once it has happened,
so events are read from the first. No test calls a host of the internet, so webhooks lead to a port of this
machine on which nobody listens.
"""

import re
from typing import Any
from uuid import uuid4

import schemathesis

_KEY = re.compile("[!-~]([ -~]{0,62}[!-~])?")
_NUMBER = re.compile("[0-9]+")
_NOBODY = "http://127.0.0.1:65535/"


@schemathesis.hook
def before_call(_context: Any, case: Any, _kwargs: Any) -> None:
    """A value that has to be refused is sent as it is."""
    headers, query = case.headers or {}, case.query or {}
    key = headers.get("Idempotency-Key")
    if isinstance(key, str) and _KEY.fullmatch(key):
        headers["Idempotency-Key"] = str(uuid4())
    if _NUMBER.fullmatch(str(headers.get("Last-Event-ID", ""))):
        headers["Last-Event-ID"] = "0"
    if _NUMBER.fullmatch(str(query.get("after", ""))):
        query["after"] = 0
    if isinstance(case.body, dict) and isinstance(case.body.get("url"), str) and "://" in case.body["url"]:
        case.body["url"] = _NOBODY
