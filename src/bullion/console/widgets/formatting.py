"""Rupees, weights and counts as people in the trade write them. They are text, so they stay exact."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from bullion.console.html import Html, el
from bullion.metals.grouping import grouped as grouped

_NBSP = "\N{NO-BREAK SPACE}"


def clock(at: datetime, zone: ZoneInfo) -> str:
    """16:32:05 IST"""
    local = at.astimezone(zone)
    return f"{local:%H:%M:%S}{_NBSP}{zone_name(local)}"


def day_and_clock(at: datetime, zone: ZoneInfo) -> str:
    """Mon 16 Nov at 09:00 IST"""
    local = at.astimezone(zone)
    return f"{local:%a %d %b at %H:%M}{_NBSP}{zone_name(local)}"


def zone_name(local: datetime) -> str:
    """Zones without a name of letters are shown by their offset from UTC."""
    name = local.tzname() or ""
    return name if name[:1].isalpha() else f"UTC{name}"


def moment(text: str, zone: ZoneInfo, now: datetime | None = None) -> Html:
    """16:32:05 IST, with its day unless that is today. The exact time is in the title."""
    return _moment(text, zone, now, named=True)


def moment_in_column(text: str, zone: ZoneInfo, now: datetime | None = None) -> Html:
    """The same without the zone, which the head of its column names: see `components.Column.time`."""
    return _moment(text, zone, now, named=False)


def _moment(text: str, zone: ZoneInfo, now: datetime | None, *, named: bool) -> Html:
    local, today = (
        each.astimezone(zone) for each in (datetime.fromisoformat(text), now or datetime.now(UTC))
    )
    suffix = f"{_NBSP}{zone_name(local)}"
    shown = f"{local:%H:%M:%S}{suffix if named else ''}"
    if local.date() != today.date():
        shown = f"{local:%d %b %Y} {shown}"
    return el("time", shown, datetime=text, title=f"{local:%a %d %b %Y, %H:%M:%S.%f}{suffix}")


def day_text(text: str) -> str:
    """Mon 16 Nov 2026"""
    return f"{date.fromisoformat(text):%a %d %b %Y}"


def age(seconds: int) -> str:
    """12 s, 3 min 05 s, 2 h 10 min, 3 days"""
    if seconds < 60:
        return f"{seconds}{_NBSP}s"
    minutes, rest_s = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes}{_NBSP}min{_NBSP}{rest_s:02d}{_NBSP}s"
    hours, rest_min = divmod(minutes, 60)
    if hours < 48:
        return f"{hours}{_NBSP}h{_NBSP}{rest_min:02d}{_NBSP}min"
    return f"{hours // 24}{_NBSP}days"


MINUS = "\N{MINUS SIGN}"
_THIN = "\N{NO-BREAK SPACE}"
_TYPED_MAX = 40
"""Longer than any number of the service. Python refuses to parse numbers of thousands of digits."""


def remove_grouping(text: str) -> str:
    """Without the commas of Indian or Western grouping. Other commas stay: a digit may have been lost."""
    if len(text) > _TYPED_MAX:
        return text
    plain = text.replace(",", "").replace(MINUS, "-")
    whole = plain.lstrip("-").partition(".")[0]
    if "," not in text or not (whole.isascii() and whole.isdigit()):
        return text.replace(MINUS, "-")
    typed = text.lstrip(f"-{MINUS}").partition(".")[0]
    return plain if typed in (grouped(whole), f"{int(whole):,}") else text


def rupees(plain: str) -> str:
    """₹1,50,505.00"""
    return f"₹{grouped(plain)}".replace(f"₹{MINUS}", f"{MINUS}₹")


def rate(plain: str, other: str = "") -> str:
    """With at least two decimals, so that digits stand below digits: 92.0008, 1,50,463.00

    `other` is the other side of a quote, which has as many.
    """
    whole, _, part = plain.partition(".")
    digits = max(2, len(other.partition(".")[2].rstrip("0")))
    return grouped(f"{whole}.{part.rstrip('0').ljust(digits, '0')}")


def weight(plain: str, unit: str) -> str:
    """Without trailing zeros: 5.0000 g is 5 g."""
    return f"{grouped(trim_zeros(plain))}{_THIN}{unit}"


def signed_weight(plain: str, unit: str) -> str:
    """A net position: + = client long."""
    number = trim_zeros(plain)
    sign = "" if number == "0" or number.startswith("-") else "+"
    return f"{sign}{grouped(number)}{_THIN}{unit}"


def trim_zeros(plain: str) -> str:
    """A decimal number without trailing zeros, as one would type it."""
    number = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if number == "-0" else number


def is_zero(plain: str) -> bool:
    return plain.strip("-0.") == ""


def count(number: int) -> str:
    return grouped(str(number))


def times_text(number: int) -> str:
    """once, 2 times, 1,234 times"""
    return "once" if number == 1 else f"{count(number)} times"


def deviation_text(now: int, was: int) -> str:
    """99.0 % below, 900.0 % above: how far a number is from an earlier one."""
    tenths = abs(now - was) * 1000 // was
    direction = "above" if now > was else "below"
    return f"{count(tenths // 10)}.{tenths % 10} % {direction}"
