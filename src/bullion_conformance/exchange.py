"""One call and its response, as they are kept for the report: exact, and without secrets."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

_KEY = re.compile(r"key_(?:test|live)\.[!-~…]*")
_SHOWN_MAX = 4000
SCENARIO = "X-Bullion-Scenario"


def without_keys(text: str) -> str:
    """Cut off everything that looks like a key after its prefix."""
    return _KEY.sub(lambda found: f"{found[0][:9]}…", text)


@dataclass(frozen=True)
class Exchange:
    environment: str
    """`test`, `production`, or empty for another path."""
    method: str
    target: str
    """Path and query, without the service's address."""
    sent_headers: Mapping[str, str]
    sent: str
    status: int
    headers: Mapping[str, str]
    """By lower-case names."""
    text: str
    seconds: float = field(compare=False)

    @cached_property
    def body(self) -> Any:
        """The JSON of the response, with exact numbers; None if it is not JSON."""
        try:
            return json.loads(self.text, parse_float=Decimal)
        except (ValueError, ArithmeticError, RecursionError):
            return None

    @property
    def detail(self) -> dict[str, Any]:
        """The `detail` object of a refusal; empty if there is none."""
        found = self.body.get("detail") if isinstance(self.body, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def code(self) -> str | None:
        found = self.detail.get("code")
        return found if isinstance(found, str) else None

    @property
    def made_up(self) -> bool:
        """The client asked for this response by a scenario: nothing was counted, refused or done."""
        return SCENARIO.lower() in self.headers

    @property
    def call(self) -> str:
        return f"{self.method} {self.target}"

    @property
    def reply(self) -> str:
        """The status and code."""
        return f"{self.status} {self.code}" if self.code else f"{self.status}"

    def shown(self) -> dict[str, Any]:
        """For reports. Long bodies are cut."""
        return {
            "request": {
                "method": self.method,
                "target": without_keys(self.target),
                "headers": {name: without_keys(value) for name, value in self.sent_headers.items()},
                "body": without_keys(_cut(self.sent)),
            },
            "answer": {
                "status": self.status,
                "headers": {name: without_keys(value) for name, value in self.headers.items()},
                "body": without_keys(_cut(self.text)),
            },
            "seconds": round(self.seconds, 3),
        }


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}… ({len(text)} characters)"
