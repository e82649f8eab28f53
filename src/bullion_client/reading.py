"""Values out of responses: each field of a dataclass is read from the field of that name, by its type.

A field with a default may be missing or null in the response; `str | None` without a default may be null.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from datetime import datetime
from decimal import Decimal
from functools import cache, partial
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from bullion_client.answer import Answer, request_id
from bullion_client.environment import Environment
from bullion_client.errors import UnknownSymbol
from bullion_client.market import Quote
from bullion_client.order import Order, OrderPage, ProductionOrder, TestOrder

_Value = TypeVar("_Value")
_READERS: dict[object, Callable[[Answer, str], object]] = {
    str: Answer.text,
    bool: Answer.flag,
    int: Answer.integer,
    Decimal: Answer.decimal,
    datetime: Answer.time,
}


def read(kind: Callable[..., _Value], answer: Answer) -> _Value:
    """Read a value of this dataclass."""
    return kind(**{field.name: _field(answer, field, hint) for field, hint in _fields(kind)})


def read_order(answer: Answer, environment: Environment) -> Order:
    """Read an order of this environment."""
    return read(TestOrder if environment == Environment.TEST else ProductionOrder, answer)


def read_page(answer: Answer, environment: Environment) -> OrderPage:
    """Read a page of the list of orders."""
    items = answer.inners("items", lambda item: read_order(item, environment))
    return OrderPage(items, answer.integer("total"))


def read_quotes(answer: Answer, symbol_code: str | None) -> tuple[Quote, ...]:
    """Read the quotes of all symbols, or of one, which must exist."""
    quotes = answer.inners("items", partial(read, Quote))
    if symbol_code is not None and not quotes:
        response = answer.response
        raise UnknownSymbol(
            "unknown_symbol",
            response.status_code,
            f"There is no symbol {symbol_code!r}",
            request_id=request_id(response),
        )
    return quotes


@cache
def _fields(kind: Any) -> tuple[tuple[Field[Any], Any], ...]:
    hints = get_type_hints(kind)
    return tuple((field, hints[field.name]) for field in fields(kind))


def _field(answer: Answer, field: Field[Any], hint: Any) -> object:
    if field.default is not MISSING and not answer.has(field.name):
        return field.default
    if isinstance(hint, UnionType):
        hint = get_args(hint)[0]
        if field.default is MISSING:
            return answer.text_or_none(field.name)
    if get_origin(hint) is tuple:
        item = get_args(hint)[0]
        if _is_dataclass(item):
            return answer.inners(field.name, partial(read, item))
        return tuple(map(item, answer.texts(field.name)))
    if _is_dataclass(hint):
        return read(hint, answer.inner(field.name))
    reader = _READERS.get(hint)
    return hint(answer.text(field.name)) if reader is None else reader(answer, field.name)


def _is_dataclass(kind: Any) -> bool:
    return hasattr(kind, "__dataclass_fields__")
