"""What schemathesis cannot know of an order: a key names one order, so each that it makes up gets its own."""

import re
from typing import Any
from uuid import uuid4

import schemathesis

_KEY = re.compile("[!-~]([ -~]{0,62}[!-~])?")


@schemathesis.hook
def before_call(_context: Any, case: Any, _kwargs: Any) -> None:
    """A key that has to be refused is sent as it is."""
    key = (case.headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and _KEY.fullmatch(key):
        case.headers["Idempotency-Key"] = str(uuid4())
