"""A column of times in the broker's zone, which the head of the column names once."""

from datetime import datetime

from bullion.console.html import Html, el
from bullion.console.page import Visit

from .components import Column
from .formatting import zone_name


def time_column(visit: Visit, title: str, field: str) -> Column:
    """`field` has the times, as the desk's actions write them."""
    zone = zone_name(visit.now.astimezone(visit.zone))
    return Column(f"{title} ({zone})", lambda row_visit, row: _time(row_visit, row[field]))


def _time(visit: Visit, text: str) -> Html:
    """16:32:05, with its day unless that is today. The exact time is in the title."""
    local, today = datetime.fromisoformat(text).astimezone(visit.zone), visit.now.astimezone(visit.zone)
    shown = f"{local:%H:%M:%S}" if local.date() == today.date() else f"{local:%d %b %Y %H:%M:%S}"
    return el("time", shown, datetime=text, title=text)
