"""Parsers for text fields: amounts, times and addresses.

Each function parses the text of a field whose type in `bodies` names it. On ValueError the field is refused
with that message, which follows the name of the field.
"""

import re
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from ipaddress import IPv6Address, IPv6Network, ip_network
from zoneinfo import available_timezones

from bullion.accounts.trading_hours import DAYS
from bullion.keys.key import Network
from bullion.metals.fine_weight import FINENESS_E4_ONE
from bullion.metals.pricing import FACTOR_PLACES
from bullion.metals.rupees import PLACES as RUPEES_PLACES
from bullion.metals.rupees import RUPEES_PAISE_MAX, paise
from bullion.metals.scaled import plain, scaled
from bullion.metals.weight import PLACES as WEIGHT_PLACES
from bullion.metals.weight import WEIGHT_E4_MAX, weight_e4
from bullion.orders.bounds import PRICE_DIGITS_MAX, QUANTITY_MAX
from bullion.orders.instant import EPOCH
from bullion.rates.tick import PLACES as RATE_PLACES

_RATE_E6_BELOW = 10**9 * 10**RATE_PLACES
"""A thousand million: a larger rate is a typing error, and prices stay within 64 bits."""
_PERCENT_E4_MAX = 100_0000
_MG_MAX = 10**9 * 1000
_SECONDS_MAX = 366 * 24 * 3600
_NG_MAX = 10**6 * 10**9
_QUANTITY_E8_MAX = 10**6 * 10**8
_PRICE_PLACES = 15
_YEAR_9999_US = (datetime(9999, 1, 1, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
"""Later times could not be written in every zone."""
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")
END_OF_DAY = "24:00"
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_NO_PLACES = {"localtime", "Factory"}
"""Zones of the machine, not of the broker."""


def weight(text: str) -> int:
    return _within(weight_e4(text), 0, WEIGHT_E4_MAX, WEIGHT_PLACES)


def positive_weight(text: str) -> int:
    return _positive(weight_e4(text), WEIGHT_E4_MAX, WEIGHT_PLACES)


def rupees(text: str) -> int:
    return _within(paise(text), 0, RUPEES_PAISE_MAX, RUPEES_PLACES)


def signed_rupees(text: str) -> int:
    return _within(paise(text), -RUPEES_PAISE_MAX, RUPEES_PAISE_MAX, RUPEES_PLACES)


def price(text: str) -> int:
    return _positive(paise(text), RUPEES_PAISE_MAX, RUPEES_PLACES)


def _within(value: int, least: int, most: int, places: int) -> int:
    if not least <= value <= most:
        raise ValueError(f"must be from {_short(least, places)} to {_short(most, places)}")
    return value


def _positive(value: int, most: int, places: int) -> int:
    if value > most:
        raise ValueError(f"must be at most {_short(most, places)}")
    return _above_0(value)


def _above_0(value: int) -> int:
    if value <= 0:
        raise ValueError("must be above 0")
    return value


def _short(value: int, places: int) -> str:
    """Without zeros at the end of its decimals."""
    return f"{Decimal(value).scaleb(-places).normalize():f}"


def rate(text: str) -> int:
    value = scaled(text, RATE_PLACES)
    if not 0 < value < _RATE_E6_BELOW:
        raise ValueError("must be above 0 and below 1000000000")
    return value


def milligrams(text: str) -> int:
    """A fine weight, written in grams."""
    return _within(scaled(text, 3), 0, _MG_MAX, 3)


def nanograms(text: str) -> int:
    """A gross weight, written in grams."""
    return _positive(scaled(text, 9), _NG_MAX, 9)


def cover_quantity(text: str) -> int:
    """In lots or ounces, with up to 8 decimals."""
    return _positive(scaled(text, 8), _QUANTITY_E8_MAX, 8)


def seconds(text: str) -> int:
    return _within(scaled(text, 0), 0, _SECONDS_MAX, 0)


def percent(text: str) -> int:
    return _within(scaled(text, 4), 0, _PERCENT_E4_MAX, 4)


def fineness(text: str) -> int:
    """In thousandths, as the trade writes it: 999 or 999.9."""
    return _positive(scaled(text, 1), FINENESS_E4_ONE, 1)


def fineness_text(e4: int) -> str:
    return plain(e4, 1)


def factor(text: str) -> Decimal:
    """A number of a formula, exact."""
    scaled(text, FACTOR_PLACES)
    return Decimal(text) or Decimal(0)  # There is no minus zero.


def positive_factor(text: str) -> Decimal:
    value = factor(text)
    if value <= 0:
        raise ValueError("must be above 0")
    return value


def quantity(text: str) -> int:
    value = weight(text)
    if not 0 < value <= QUANTITY_MAX * 10**WEIGHT_PLACES:
        raise ValueError(f"must be above 0 and at most {QUANTITY_MAX}")
    return value


def expected_price(text: str) -> str:
    """In its shortest form, so that equivalent bodies are equal."""
    value = _above_0(scaled(text, _PRICE_PLACES))
    if len(str(value).rstrip("0")) > PRICE_DIGITS_MAX:
        raise ValueError(f"may have up to {PRICE_DIGITS_MAX} significant digits")
    return plain(value, _PRICE_PLACES).rstrip("0").rstrip(".")


def day(text: str) -> date:
    """A date as YYYY-MM-DD."""
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass  # Raised below.
    raise ValueError(f"{text[:20]!r} is not a date such as 2026-11-09")


def instant_us(text: str) -> int:
    """An ISO 8601 time; without a zone it is read as UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not an ISO 8601 time such as 2027-01-31T12:00:00+00:00") from None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    at_us = (at - EPOCH) // timedelta(microseconds=1)
    if not 0 <= at_us < _YEAR_9999_US:
        raise ValueError(f"{text[:40]} is too far away")
    return at_us


def query_instant_us(text: str) -> int:
    """The same from a query, where a `+` that was not encoded as %2B arrives as a space."""
    early, space, late = text.rpartition(" ")
    if space and re.fullmatch(r"[0-9]{2}:?[0-9]{2}", late) and ":" in early:
        text = f"{early}+{late}"
    return instant_us(text)


def clock(text: str) -> time:
    if not _CLOCK.fullmatch(text):
        raise ValueError(f"{text[:20]!r} is not a time such as 09:00")
    return time.fromisoformat(text)


def closing(text: str) -> time | None:
    """A time of day; None is its end."""
    return None if text == END_OF_DAY else clock(text)


def weekday(text: str) -> str:
    if text not in DAYS:
        raise ValueError(f"{text[:20]!r} is not one of {', '.join(DAYS)}")
    return text


def zone(text: str) -> str:
    if text not in _zones():
        raise ValueError("is not a time zone such as Asia/Kolkata")
    return text


@cache
def _zones() -> set[str]:
    """Cached: it reads a directory of files."""
    return available_timezones() - _NO_PLACES


def network(text: str) -> Network:
    """An address or a CIDR block."""
    found = ip_network(text)
    mapped = isinstance(found, IPv6Network) and found.network_address.ipv4_mapped is not None
    if mapped or "%" in text:
        raise ValueError(f"{text!r} is not how a caller's address is written: use plain IPv4 or IPv6")
    return found


def host(text: str) -> str:
    name = text.lower().rstrip(".")
    if _HOST.fullmatch(name):
        return name
    try:
        return str(IPv6Address(name.removeprefix("[").removesuffix("]")))
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a host name; leave out scheme, port and path") from None
