"""What schemathesis cannot know: a key names one order, and an event has a number only once it has happened.

Each order that it makes up gets a key of its own, and events are read from the first.
"""

import re
from typing import Any
from uuid import uuid4

import schemathesis

_KEY = re.compile("[!-~]([ -~]{0,62}[!-~])?")
_NUMBER = re.compile("[0-9]+")


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
