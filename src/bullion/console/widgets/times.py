"""Times in the broker's zone, always with the zone; days; and ages."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from bullion.console.html import Html, el

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
    """A time of the desk's actions, with its day unless that is today. The exact time is in the title."""
    at = datetime.fromisoformat(text)
    local, today = at.astimezone(zone), (now or datetime.now(UTC)).astimezone(zone)
    shown = clock(at, zone)
    if local.date() != today.date():
        shown = f"{local:%d %b %Y} {shown}"
    return el("time", shown, datetime=text, title=text)


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
