"""Exact decimals as integers in their smallest unit, and their plain text."""

import re
from functools import lru_cache

_PLAIN = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")


class NotAnAmount(ValueError):
    """The text is not a plain decimal with at most the allowed decimals. Its message is for people."""


@lru_cache(maxsize=8192)
def scaled(text: str, places: int) -> int:
    """Read a plain decimal, exactly: `scaled("1.5", 4)` is 15000. Cached, as `plain` is."""
    if not _PLAIN.fullmatch(text):
        raise NotAnAmount(f"{text[:40]!r} is not a plain decimal number such as 12.5")
    whole, _, part = text.partition(".")
    part = part.rstrip("0")
    if len(part) > places:
        raise NotAnAmount(f"{text!r} has more than {places} decimal places")
    return int(whole + part.ljust(places, "0"))


@lru_cache(maxsize=8192)
def plain(value: int, places: int) -> str:
    """Write it back: always all its places, never an exponent, never `-0`.

    Cached: the same prices and weights are written again and again.
    """
    sign = "-" if value < 0 else ""
    whole, part = divmod(abs(value), 10**places)
    return f"{sign}{whole}.{part:0{places}d}"
