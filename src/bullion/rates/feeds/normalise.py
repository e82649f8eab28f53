"""From a source's symbols, numbers and times to ours: exact decimals, never a float."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from bullion.rates.tick import PLACES

from .exact_json import JsonNumber, NotJson, pointer_keys, read_json, value_at
from .quote import Alive, Item, Quote, Unreadable
from .source_settings import Fields, SourceInstrument, SourceSettings

_NUMBER = re.compile(r"[+-]?[0-9]{1,20}(?:\.[0-9]{0,18})?(?:[eE][+-]?[0-9]{1,2})?")
_E6_BELOW = 10**9 * 10**PLACES
"""As for rates of the desk: prices stay within 64 bits."""
_EXACT = Context(prec=300)
_ONE = Decimal(1)
_US_PER = {"s": Decimal(10**6), "ms": Decimal(1000), "us": Decimal(1), "ns": Decimal("0.001")}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME_US_BELOW = 253_402_214_400_000_000
"""Later times cannot be written in every zone."""
_ITEMS_MAX = 1000
"""No message of a price feed has more quotes than this."""


class NotANumber(ValueError):
    """It is not a number, or too large for a price or a time."""


def exact(text: str) -> Decimal:
    if not _NUMBER.fullmatch(text):
        raise NotANumber
    return Decimal(text)


def side_e6(text: str, scale: Decimal, *, up: bool) -> int:
    """The price of a side in millionths. Further decimals are rounded so that the spread never shrinks."""
    value = _EXACT.multiply(exact(text), scale).scaleb(PLACES, _EXACT)
    if abs(value) >= _E6_BELOW:
        raise NotANumber
    return int(value.quantize(_ONE, ROUND_CEILING if up else ROUND_FLOOR, _EXACT))


def time_us(text: str, unit: str) -> int:
    if unit == "iso":
        return _iso_us(text)
    value = _EXACT.multiply(exact(text), _US_PER[unit])
    if not 0 <= value < _TIME_US_BELOW:
        raise NotANumber
    return int(value)


def _iso_us(text: str) -> int:
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is None:
            at = at.replace(tzinfo=UTC)
        found = (at - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError):
        raise NotANumber from None
    if not 0 <= found < _TIME_US_BELOW:
        raise NotANumber
    return found


class SymbolTable:
    """A source's symbols, each with our instrument and the factor to our measure."""

    def __init__(self, source: str, instruments: Sequence[SourceInstrument]) -> None:
        self._source = source
        self._by_symbol = {each.symbol: (each.instrument, Decimal(each.scale)) for each in instruments}

    def quote(
        self, symbol: str, bid: str | None, ask: str | None, at_us: int | None, received_us: int
    ) -> Quote | None:
        """None for a symbol that we do not use. Raises NotANumber."""
        found = self._by_symbol.get(symbol)
        if found is None:
            return None
        instrument, scale = found
        return Quote(
            self._source,
            instrument,
            None if bid is None else side_e6(bid, scale, up=False),
            None if ask is None else side_e6(ask, scale, up=True),
            at_us,
            received_us,
        )

    def instrument(self, symbol: str) -> str | None:
        found = self._by_symbol.get(symbol)
        return None if found is None else found[0]


class JsonReader:
    """Reads the messages of one source: a quote, or a list of quotes, at the places that settings name."""

    def __init__(self, settings: SourceSettings) -> None:
        self._source = settings.name
        self._table = SymbolTable(settings.name, settings.instruments)
        fields: Fields = settings.fields
        self._items = pointer_keys(fields.items)
        self._symbol, self._bid, self._ask = map(pointer_keys, (fields.symbol, fields.bid, fields.ask))
        self._time = None if fields.time is None else pointer_keys(fields.time)
        self._unit = fields.time_unit
        self._only_symbol = settings.instruments[0].symbol if not fields.symbol else None

    def read(self, data: str | bytes, received_us: int) -> Iterator[Item]:
        """First that the line is alive, then what the message says."""
        yield Alive(self._source, received_us)
        try:
            document = read_json(data)
        except NotJson:
            yield Unreadable(self._source, None, received_us)
            return
        found = value_at(document, self._items)
        items = found if isinstance(found, list) else [found]
        for each in items[:_ITEMS_MAX]:
            item = self._item(each, received_us)
            if item is not None:
                yield item

    def _item(self, each: Any, received_us: int) -> Quote | Unreadable | None:
        symbol = self._only_symbol or value_at(each, self._symbol)
        if not isinstance(symbol, str):
            return None  # Such as a heartbeat, or the answer to a subscription.
        instrument = self._table.instrument(symbol)
        if instrument is None:
            return None
        try:
            at_us = None if self._time is None else time_us(_text(value_at(each, self._time)), self._unit)
            bid, ask = (_side(value_at(each, keys)) for keys in (self._bid, self._ask))
            return self._table.quote(symbol, bid, ask, at_us, received_us)
        except NotANumber:
            return Unreadable(self._source, instrument, received_us)


def _side(value: Any) -> str | None:
    return None if value is None else _text(value)


def _text(value: Any) -> str:
    """Numbers come as numbers or as text."""
    if isinstance(value, (JsonNumber, str)):
        return value
    raise NotANumber
