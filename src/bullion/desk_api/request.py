"""An authenticated request to the desk, as its handler gets it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from bullion.desk.desk import Desk, View
from bullion.desk.problems import invalid_field
from bullion.records.page import Page
from bullion.records.token import Actor
from bullion.web.response import Response, json_response

_PAGE_MAX = 200
_OFFSET_MAX = 2**62
_DIGITS_MAX = 18


@dataclass(frozen=True, slots=True)
class Request:
    desk: Desk
    actor: Actor
    path: Mapping[str, str]
    query: Mapping[str, list[str]]
    """A parameter may come more than once."""
    body: bytes
    request_id: str

    def page(self) -> Page:
        limit = self.whole_number("limit", default=50)
        if not 1 <= limit <= _PAGE_MAX:
            raise invalid_field(("limit",), f"must be a whole number from 1 to {_PAGE_MAX}", within="query")
        # Clamped: the store takes 64 bits, and no list is that long.
        return Page(limit, min(self.whole_number("offset", default=0), _OFFSET_MAX))

    def filter(self, name: str) -> str | None:
        """The value of a filter. Two values for one filter are refused."""
        texts = self.query.get(name, [])
        if len(texts) > 1:
            raise invalid_field((name,), "is given more than once", "duplicate", within="query")
        return texts[0] if texts else None

    def whole_number(self, name: str, *, default: int) -> int:
        """Clamped to what the store accepts."""
        texts = self.query.get(name, [])
        if not texts:
            return default
        text = texts[0]
        if len(texts) > 1 or not (text.isascii() and text.isdigit()):
            raise invalid_field((name,), "must be one whole number", "not_an_integer", within="query")
        return int(text[-_DIGITS_MAX:]) if text.lstrip("0")[_DIGITS_MAX:] == "" else _OFFSET_MAX


Handler = Callable[[Request], Awaitable[Response]]


def listed(found: tuple[Sequence[View], int]) -> Response:
    items, total = found
    return json_response({"items": items, "total": total})


def paged(found: Sequence[View], page: Page) -> Response:
    """Cut a page out of a short list that was read completely."""
    return listed((found[page.offset : page.offset + page.limit], len(found)))
