"""Formats numbers, times and texts for people."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

NOTHING = "-"
_JOINERS = "\u200c\u200d"
"""Indian scripts use these to join letters and keep them apart; they cannot move a cursor."""


def plain(number: Decimal) -> str:
    """All digits of the number, and no exponent."""
    return format(number, "f")


def short(number: Decimal) -> str:
    """Without trailing zeros: 10 for 10.0000."""
    whole, point, decimals = plain(number).partition(".")
    return f"{whole}{point}{decimals.rstrip('0')}".rstrip(".") if point else whole


def weight(quantity: Decimal | None) -> str:
    return NOTHING if quantity is None else plain(quantity)


def rupees(amount: Decimal | None) -> str:
    """Grouped as in India: the last three digits of the whole part, then twos. 1,23,456.00"""
    if amount is None:
        return NOTHING
    sign, digits = ("-", plain(-amount)) if amount < 0 else ("", plain(amount))
    whole, point, fraction = digits.partition(".")
    head, last = whole[:-3], whole[-3:]
    groups = [head[max(end - 2, 0) : end] for end in range(len(head), 0, -2)][::-1]
    return f"{sign}{','.join([*groups, last])}{point}{fraction}"


def instant(at: datetime | None) -> str:
    """In the local time zone, with its UTC offset: abbreviations of zones are ambiguous."""
    if at is None:
        return NOTHING
    local = at.astimezone()
    zone = "UTC" if local.utcoffset() == timedelta(0) else local.isoformat()[-6:]
    return f"{local:%Y-%m-%d %H:%M:%S} {zone}"


def age(since: datetime, now: datetime | None = None) -> str:
    """The age in the largest unit that fits."""
    seconds = max(int(((now or datetime.now(UTC)) - since).total_seconds()), 0)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def text(value: object) -> str:
    """Text from elsewhere, with control characters escaped, so that it cannot control the terminal."""
    if value is None:
        return NOTHING
    return "".join(
        each if each.isprintable() or each in _JOINERS else each.encode("unicode_escape").decode()
        for each in str(value)
    )


def yes_no(flag: bool) -> str:
    return "yes" if flag else "no"
