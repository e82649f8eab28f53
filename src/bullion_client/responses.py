"""Reads responses: accepted or refused, and the values in them, each field by its type.

A field of a dataclass is read from the field of the same name. If it has a default, it may be missing or
null in the response; `str | None` without a default may be null. Fields that the dataclass does not have
are ignored, so that the service can add some without breaking older clients.
"""

import json
import re
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache, partial
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import httpx

from bullion_client.advice import Family
from bullion_client.errors import (
    AccessRefused,
    BudgetRefused,
    CredentialRefused,
    EventsGone,
    KeyReused,
    LimitExceeded,
    MarketRefused,
    NotFound,
    OrderRejected,
    PriceMoved,
    QuantityRefused,
    Refusal,
    RequestRefused,
    Unavailable,
    UnexpectedAnswer,
    UnknownSymbol,
)
from bullion_client.models import Order, OrderPage, ProductionOrder, Quote
from bullion_client.retry import advice_on

_Value = TypeVar("_Value")
_Order = TypeVar("_Order", bound=Order)

OTHER_VERSION = "The service may be of another version than this client: look for a newer bullion-client"
_DECIMAL = re.compile(r"-?[0-9]{1,100}(?:\.[0-9]{1,100})?")
_CLASSES: dict[Family, type[Refusal]] = {
    Family.CREDENTIAL: CredentialRefused,
    Family.ACCESS: AccessRefused,
    Family.RATE_LIMIT: BudgetRefused,
    Family.REQUEST: RequestRefused,
    Family.NOT_FOUND: NotFound,
    Family.UNKNOWN_SYMBOL: UnknownSymbol,
    Family.QUANTITY: QuantityRefused,
    Family.ALLOCATION: LimitExceeded,
    Family.KEY_REUSED: KeyReused,
    Family.EVENTS_GONE: EventsGone,
    Family.MARKET: MarketRefused,
    Family.PRICE_MOVED: PriceMoved,
    Family.ORDER_REJECTED: OrderRejected,
    Family.UNAVAILABLE: Unavailable,
}


# --- Values -------------------------------------------------------------------------------------------------


def _decimal(value: object) -> Decimal:
    """The service writes exact numbers as strings; a JSON number could have been rounded."""
    if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
        raise ValueError
    return Decimal(value)


def _time(value: object) -> datetime:
    time = datetime.fromisoformat(_instance(str, value))
    if time.tzinfo is None:
        raise ValueError
    return time


def _instance(kind: type[_Value], value: object) -> _Value:
    # A bool is an int to Python, but not in JSON.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError
    return value


_READERS: dict[object, tuple[str, Callable[[Any], object]]] = {
    str: ("a string", partial(_instance, str)),
    bool: ("a boolean", partial(_instance, bool)),
    int: ("a whole number", partial(_instance, int)),
    list: ("an array", partial(_instance, list)),
    dict: ("an object", partial(_instance, dict)),
    Decimal: ("a decimal string", _decimal),
    datetime: ("a time with a UTC offset", _time),
}
"""By type: its name in errors, and a function that raises ValueError for another value."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A JSON object of a response. A missing or mistyped field raises `UnexpectedAnswer`, which names it."""

    response: httpx.Response
    fields: dict[str, object]
    path: str = ""
    """Its place in the response, such as `items[3].`."""

    def value(self, name: str, kind: Any) -> Any:
        """Read a field of this type: one of `_READERS`, a string enum or a dataclass."""
        return self._convert(name, self._field(name), kind)

    def values(self, name: str, kind: Any) -> tuple[Any, ...]:
        """Read an array of values of this type."""
        items = self.value(name, list)
        return tuple(self._convert(f"{name}[{index}]", item, kind) for index, item in enumerate(items))

    def objects(self, name: str) -> "tuple[Answer, ...]":
        """Read an array of objects."""
        items = self.values(name, dict)
        return tuple(
            Answer(self.response, item, f"{self.path}{name}[{index}].") for index, item in enumerate(items)
        )

    def has(self, name: str) -> bool:
        """Whether a field is there and not null."""
        return self.fields.get(name) is not None

    def value_or_none(self, name: str, kind: Any) -> Any:
        """Read a field of this type, or null. The field itself must be there."""
        return None if self._field(name) is None else self.value(name, kind)

    def _convert(self, name: str, value: object, kind: Any) -> Any:
        if is_dataclass(kind):
            inner = self._convert(name, value, dict)
            return read(kind, Answer(self.response, inner, f"{self.path}{name}."))  # type: ignore[arg-type]
        expected, convert = _READERS.get(kind, _READERS[str])
        try:
            converted = convert(value)
        except ValueError:
            field = self.path + name
            problem = f"its field {field!r} is not {expected}"
            raise unexpected(self.response, problem, OTHER_VERSION, field) from None
        return converted if kind in _READERS else kind(converted)

    def _field(self, name: str) -> object:
        if name not in self.fields:
            field = self.path + name
            raise unexpected(self.response, f"its field {field!r} is missing", OTHER_VERSION, field)
        return self.fields[name]


def read(kind: Callable[..., _Value], answer: Answer) -> _Value:
    """Read a value of this dataclass."""
    return kind(**{field.name: _read_field(answer, field, hint) for field, hint in _fields(kind)})


@cache
def _fields(kind: Any) -> tuple[tuple[Field[Any], Any], ...]:
    hints = get_type_hints(kind)
    return tuple((field, hints[field.name]) for field in fields(kind))


def _read_field(answer: Answer, field: Field[Any], hint: Any) -> object:
    if field.default is not MISSING and not answer.has(field.name):
        return field.default
    if isinstance(hint, UnionType):
        hint = get_args(hint)[0]
        if field.default is MISSING:
            return answer.value_or_none(field.name, hint)
    if get_origin(hint) is tuple:
        return answer.values(field.name, get_args(hint)[0])
    return answer.value(field.name, hint)


def read_page(kind: type[_Order], answer: Answer) -> OrderPage[_Order]:
    """Read a page of the list of orders."""
    return OrderPage(answer.values("items", kind), answer.value("total", int))


def read_quote(symbol_code: str, answer: Answer) -> Quote:
    """Read the quote of one symbol, which must exist."""
    return read_quotes(symbol_code, answer)[0]


def read_quotes(symbol_code: str | None, answer: Answer) -> tuple[Quote, ...]:
    """Read the quotes of all symbols, or of one symbol, which must exist."""
    quotes: tuple[Quote, ...] = answer.values("items", Quote)
    if symbol_code is not None and not quotes:
        raise UnknownSymbol(
            "unknown_symbol",
            answer.response.status_code,
            f"There is no symbol {symbol_code!r}",
            request_id=request_id(answer.response),
        )
    return quotes


# --- Accepted or refused ------------------------------------------------------------------------------------


def accepted(response: httpx.Response) -> Answer:
    """Return the object of an accepted call; raise the refusal, or `UnexpectedAnswer`, otherwise."""
    if response.has_redirect_location:
        # Following it would send the key to the redirect's target.
        location = response.headers["Location"][:200]
        raise unexpected(
            response, f"it redirects to {location!r}, and the key is not sent there", "Check base_url"
        )
    fields = json_object(response)
    if response.is_success:
        return Answer(response, fields)
    raise _refusal(response, fields)


def json_object(response: httpx.Response) -> dict[str, object]:
    """The object in the body. Numbers with a point stay exact."""
    advice = _foreign_advice(response.status_code)
    try:
        body = json.loads(response.content, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        # ArithmeticError: an exponent too large for Decimal. RecursionError: nesting that is too deep.
        raise unexpected(response, "not in JSON", advice) from error
    if not isinstance(body, dict):
        raise unexpected(response, "not with a JSON object", advice)
    return body


def _refusal(response: httpx.Response, fields: dict[str, object]) -> Refusal | UnexpectedAnswer:
    detail = fields.get("detail")
    if not response.is_error or not isinstance(detail, dict) or not isinstance(detail.get("code"), str):
        advice = _foreign_advice(response.status_code)
        return unexpected(response, "without the code that a refusal has", advice)
    code, message = detail["code"], detail.get("message")
    refusal = _CLASSES[advice_on(code, response.status_code).family](
        code,
        response.status_code,
        # The message is for people: a refusal without one is still a refusal.
        message if isinstance(message, str) else "",
        retry_after(response),
        request_id(response),
        detail,
    )
    if isinstance(refusal, OrderRejected):
        try:
            refusal.order = Answer(response, detail, "detail.").value("order", ProductionOrder)
        except UnexpectedAnswer:
            # The code is enough: an order that cannot be read does not change the refusal.
            refusal.order = None
    return refusal


def _foreign_advice(status: int) -> str:
    """The advice for a response that does not come from the service."""
    if status == 404:
        return "A 404 without a code comes from a wrong host or path: check base_url"
    if status >= 500:
        return "It seems to come from a proxy in front of the service: try again later"
    return "Check base_url, and any proxy on the way"


def unexpected(
    response: httpx.Response, problem: str, advice: str, field: str | None = None
) -> UnexpectedAnswer:
    """The error for a response that the service does not give."""
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
    """The seconds of `Retry-After`. HTTP's other form, a date, cannot come from the service."""
    seconds = response.headers.get("Retry-After", "")
    return int(seconds) if re.fullmatch("[0-9]{1,9}", seconds) else None
