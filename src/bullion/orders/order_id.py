"""Order ids: version 7 UUIDs, which begin with their time, so that new ones are adjacent in an index.

They end with the order's ordinal, so that an order is found in its book without an index of ids.
"""

from functools import lru_cache

_VERSION_AND_VARIANT = 7 << 76 | 2 << 62
_REST_BYTES = 10
"""Behind the six bytes of the time."""
_ORDINAL_BITS = 40
_ORDINAL_DIGITS = _ORDINAL_BITS // 4
_LOW_BITS = 62 - _ORDINAL_BITS
_LOW = (1 << _LOW_BITS) - 1
RANDOM_BITS = 12 + _LOW_BITS


def order_id(at_us: int, ordinal: int, random_bits: int) -> str:
    high, low = random_bits >> _LOW_BITS << 64, (random_bits & _LOW) << _ORDINAL_BITS
    rest = high | low | _VERSION_AND_VARIANT | ordinal
    # Through bytes: faster than to format it as a number.
    digits = rest.to_bytes(_REST_BYTES, "big").hex()
    return f"{_time_digits(at_us // 1000)}-{digits[:4]}-{digits[4:8]}-{digits[8:]}"


@lru_cache(maxsize=16)
def _time_digits(at_ms: int) -> str:
    """Cached: the orders of a batch share their time."""
    text = f"{at_ms:012x}"
    return f"{text[:8]}-{text[8:]}"


def ordinal_of(of_order_id: str) -> int:
    return int(of_order_id[-_ORDINAL_DIGITS:], 16)


def made_at_us(of_order_id: str) -> int:
    """To the millisecond."""
    return int(of_order_id[:8] + of_order_id[9:13], 16) * 1000


def ids_since(at_us: int) -> str:
    """Ids made at that time or later sort at or after this."""
    return _time_digits(max(0, at_us) // 1000)
