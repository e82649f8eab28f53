"""How numbers, times and texts are written for people."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

NOTHING = "-"
_JOINERS = "\u200c\u200d"
"""Letters of Indian scripts are joined and kept apart with these; they cannot move a cursor."""


def plain(number: Decimal) -> str:
    """Every digit that the number came with, and no exponent."""
    return format(number, "f")


def short(number: Decimal) -> str:
    """Without the zeros that end its decimals: 10 for 10.0000."""
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
    """In the zone of whoever reads it, with its distance from UTC: a zone's letters are no man's land."""
    if at is None:
        return NOTHING
    local = at.astimezone()
    zone = "UTC" if local.utcoffset() == timedelta(0) else local.isoformat()[-6:]
    return f"{local:%Y-%m-%d %H:%M:%S} {zone}"


def age(since: datetime, now: datetime | None = None) -> str:
    """How long ago, in the largest unit that fits."""
    seconds = max(int(((now or datetime.now(UTC)) - since).total_seconds()), 0)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def text(words: object) -> str:
    """What somebody else wrote, with whatever could steer a terminal shown instead of sent to it."""
    if words is None:
        return NOTHING
    return "".join(
        each if each.isprintable() or each in _JOINERS else each.encode("unicode_escape").decode()
        for each in str(words)
    )


def yes_no(flag: bool) -> str:
    return "yes" if flag else "no"
