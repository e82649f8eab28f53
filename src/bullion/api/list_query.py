"""Reads the queries of lists strictly, and reports all problems at once.

Unknown parameters are ignored.
"""

from urllib.parse import unquote_to_bytes

import msgspec

from bullion.orders.bounds import CLIENT_ORDER_ID_LENGTH_MAX, SYMBOL_CODE_LENGTH_MAX
from bullion.orders.instant import read_instant_us
from bullion.orders.listing import ALL, LIMIT_DEFAULT, LIMIT_MAX, ListQuery
from bullion.web.headers import Headers

from .problems import Problems, excerpt
from .wire.events import WAIT_S_MAX
from .wire.orders import PRODUCTION_STATUSES, TRADE_TYPE_LENGTH_MAX

_STATUSES = [*PRODUCTION_STATUSES, ALL]
_OFFSET_MAX = 2**62
"""Beyond the last order of any book, and within 64 bits. Larger offsets give the same empty page."""
_DIGITS_MAX = 18
"""A number with this many digits is below `_OFFSET_MAX`. A longer one is not parsed."""
_EVERYTHING, _EVERYTHING_SHOWN = ListQuery(), ListQuery(status=ALL)


def read_list_query(query_string: bytes, *, with_status: bool) -> ListQuery:
    """The query, or RefusalError. Test orders have only one status, so `status` is ignored there."""
    if not query_string:
        return _EVERYTHING_SHOWN if with_status else _EVERYTHING
    problems = Problems()
    sent = _Sent(query_string, problems)
    query = ListQuery(
        limit=_read_limit(sent, problems),
        offset=_read_number("offset", sent, problems) or 0,
        symbol_code=_read_filter("symbol_code", SYMBOL_CODE_LENGTH_MAX, sent, problems),
        trade_type=_read_filter("trade_type", TRADE_TYPE_LENGTH_MAX, sent, problems),
        since_us=_read_since_us(sent, problems),
        client_order_id=_read_filter("client_order_id", CLIENT_ORDER_ID_LENGTH_MAX, sent, problems),
        status=_read_status(sent, problems) if with_status else None,
    )
    if problems:
        raise problems.to_error()
    return query


def read_symbol_filter(query_string: bytes) -> str | None:
    """The one filter of `GET /quotes`."""
    problems = Problems()
    symbol_code = _read_filter("symbol_code", SYMBOL_CODE_LENGTH_MAX, _Sent(query_string, problems), problems)
    if problems:
        raise problems.to_error()
    return symbol_code


class EventQuery(msgspec.Struct, frozen=True):
    after: int | None
    """None: from the oldest event that is kept."""
    limit: int
    wait_s: int


def read_event_query(query_string: bytes) -> EventQuery:
    problems = Problems()
    sent = _Sent(query_string, problems)
    query = EventQuery(
        _read_number("after", sent, problems),
        _read_limit(sent, problems),
        _read_number("wait", sent, problems, WAIT_S_MAX) or 0,
    )
    if problems:
        raise problems.to_error()
    return query


def read_stream_position(query_string: bytes, headers: Headers) -> int | None:
    """The number of the last event that the client has. None: it wants what happens from now on.

    The header counts more than the query: a browser that connects again sends it with the first address.
    """
    problems = Problems()
    position = _read_number("after", _Sent(query_string, problems), problems)
    sent = [value for name, value in headers if name == b"last-event-id" and value]
    if sent:
        position = _number(sent[-1].decode("latin-1"))
        if position is None or position < 0:
            message = "Last-Event-ID must be the number of an event, in digits 0 to 9."
            problems.add(("header", "Last-Event-ID"), message, "not_an_integer")
    if problems:
        raise problems.to_error()
    return position


class _Sent:
    """The raw parameters. Each is decoded and checked when it is read."""

    def __init__(self, query_string: bytes, problems: Problems) -> None:
        self._problems = problems
        self._values: dict[bytes, list[bytes]] = {}
        for pair in query_string.split(b"&"):
            name, _, value = pair.partition(b"=")
            self._values.setdefault(_unquoted(name), []).append(value)

    def last(self, name: str) -> str | None:
        values = self._values.get(name.encode())
        if values is None:
            return None
        try:
            return _unquoted(values[-1]).decode()
        except UnicodeDecodeError:
            self._problems.add(("query", name), f"{name} is not UTF-8.", "not_utf8")
            return None

    def only(self, name: str) -> str | None:
        """The value of a parameter that must not be empty or sent twice."""
        if len(self._values.get(name.encode(), ())) > 1:
            self._problems.add(("query", name), f"{name} was sent more than once. Send one.", "duplicate")
            return None
        value = self.last(name)
        if value == "":
            self._problems.add(("query", name), f"{name} is empty. Leave it out, or give a value.", "empty")
            return None
        return value


def _unquoted(part: bytes) -> bytes:
    return unquote_to_bytes(part.replace(b"+", b" "))


# --- The page -----------------------------------------------------------------------------------------


def _read_limit(sent: _Sent, problems: Problems) -> int:
    text = sent.only("limit")
    if text is None:
        return LIMIT_DEFAULT
    limit = _number(text)
    if limit is None:
        problems.add(("query", "limit"), _not_an_integer("limit", text), "not_an_integer")
        return LIMIT_DEFAULT
    if limit < 1:
        problems.add(("query", "limit"), "limit must be at least 1.", "too_small")
    elif limit > LIMIT_MAX:
        problems.add(("query", "limit"), f"limit may be at most {LIMIT_MAX}.", "too_large")
    return limit


def _read_number(name: str, sent: _Sent, problems: Problems, most: int = _OFFSET_MAX) -> int | None:
    """A whole number from 0 on."""
    text = sent.only(name)
    if text is None:
        return None
    number = _number(text)
    if number is None:
        problems.add(("query", name), _not_an_integer(name, text), "not_an_integer")
    elif number < 0:
        problems.add(("query", name), f"{name} must be at least 0.", "too_small")
    elif number > most:
        problems.add(("query", name), f"{name} may be at most {most}.", "too_large")
    return number


def _number(text: str) -> int | None:
    """An integer, clamped to `±_OFFSET_MAX`. Only ASCII digits are accepted."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        return None
    digits = digits.lstrip("0")
    size = int(digits or "0") if len(digits) <= _DIGITS_MAX else _OFFSET_MAX
    return -size if text.startswith("-") else size


def _not_an_integer(name: str, text: str) -> str:
    return f'{name} must be a whole number in digits 0 to 9; this is "{excerpt(text)}".'


# --- Filters ------------------------------------------------------------------------------------------


def _read_filter(name: str, length_max: int, sent: _Sent, problems: Problems) -> str | None:
    """Compared verbatim, also if empty. If sent twice, the last value counts."""
    text = sent.last(name)
    if text is None:
        return None
    if len(text) > length_max:
        message = f"{name} has {len(text)} characters; it may have up to {length_max}."
        problems.add(("query", name), message, "too_long")
    if "\0" in text:
        # No order has one, and PostgreSQL does not accept it as a value.
        problems.add(("query", name), f"{name} may not have a NUL character.", "bad_character")
    return text


def _read_status(sent: _Sent, problems: Problems) -> str:
    status = sent.only("status")
    if status is None:
        return ALL
    if status not in _STATUSES:
        message = f'status must be one of {", ".join(_STATUSES)}; this is "{excerpt(status)}".'
        problems.add(("query", "status"), message, "not_a_choice")
    return status


def _read_since_us(sent: _Sent, problems: Problems) -> int | None:
    text = sent.only("since")
    if text is None:
        return None
    since_us = read_instant_us(text)
    if since_us is None:
        # A `+` that was not encoded as %2B arrives as a space. Python accepts any character between date and
        # time, so replacing that one too does no harm.
        since_us = read_instant_us(text.replace(" ", "+"))
    if since_us is None:
        message = f'since must be an ISO 8601 time such as 2026-01-31T12:00:00Z; this is "{excerpt(text)}".'
        problems.add(("query", "since"), message, "not_a_time")
    return since_us
