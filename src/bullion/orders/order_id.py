"""Order ids: UUIDs of version 7, which begin with their time and so lie side by side in an index."""

_VERSION = 7 << 76
_VARIANT = 2 << 62
_RANDOM_HIGH = 0xFFF
_RANDOM_LOW = (1 << 62) - 1
RANDOM_BITS = 74


def order_id(at_us: int, random_bits: int) -> str:
    high, low = random_bits >> 62 & _RANDOM_HIGH, random_bits & _RANDOM_LOW
    text = f"{at_us // 1000 << 80 | _VERSION | high << 64 | _VARIANT | low:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def ids_since(at_us: int) -> str:
    """Ids made at that time or later sort at or after this."""
    text = f"{max(0, at_us) // 1000:012x}"
    return f"{text[:8]}-{text[8:12]}"
