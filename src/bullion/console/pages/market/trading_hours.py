"""Trading hours: the week and the holidays, whether the market is open, and when that changes."""

import re
from dataclasses import replace
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from bullion.accounts.trading_hours import DAYS
from bullion.console.forms import Choice, Dialog, Field, Fields, FormErrors, Group, Lines, saved
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.stale_form import SEEN, seen, unchanged
from bullion.console.widgets.components import GOOD, OFF, WARN, Column, card, empty, hint, state, table
from bullion.console.widgets.formatting import age, day_and_clock, day_text
from bullion.desk.actions.switches import get_opening, get_switches, patch_switches
from bullion.desk.bodies import SwitchesBody
from bullion.desk.conversion import Changes
from bullion.desk.desk import View

from .market_data import opening_of, switches_of

_NAMES = dict(
    zip(DAYS, ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"), strict=True)
)
_DEFAULT_ZONE = "Asia/Kolkata"
_ZONES = ("Asia/Kolkata", "Asia/Dubai", "Asia/Singapore", "Europe/London", "America/New_York", "UTC")
_OPENING = re.compile(r"([0-9]{1,2}:[0-9]{2})\s*(?:-|–|to)\s*([0-9]{1,2}:[0-9]{2})")
_ALL_DAY = ["00:00", "24:00"]
_MINUTES_PER_DAY = 24 * 60
_NEVER_OPEN = "At least one day must be open. To close the market, halt trading instead."
_TYPED_BESIDE = "You changed hours below. Choose “by the week” for them, or “around the clock” without them."
_Openings = list[list[str]]


class OpeningHours(Field):
    """The opening hours of a day, such as 09:00 – 12:30, 14:00 – 23:30. Empty: closed."""

    def text(self, value: Any) -> str:
        return _hours_text(value) if value else ""

    def parse(self, typed: str) -> _Openings:
        if typed.lower() == "closed":
            return []
        if typed.lower() == "all day":
            return [_ALL_DAY]
        found: _Openings = []
        for part in typed.split(","):
            match = _OPENING.fullmatch(part.strip())
            if match is None:
                raise ValueError(f"{part.strip()[:30]!r} is not a time span such as 09:00 – 17:00.")
            start, end = (each.zfill(5) for each in match.groups())
            if not (_is_clock(start) and (end == _ALL_DAY[1] or _is_clock(end))):
                raise ValueError(f"{part.strip()[:30]!r} has an invalid time.")
            if not start < end:
                raise ValueError(f"The opening from {start} must end later on the same day.")
            if found and start < found[-1][1]:
                raise ValueError("The openings must be in order, without overlaps.")
            found.append([start, end])
        return found


class Holidays(Lines):
    def parse(self, typed: str) -> list[str]:
        days = sorted(set(super().parse(typed)))
        for day in days:
            if not _is_day(day):
                raise ValueError(f"{day[:30]!r} is not a date such as 2026-11-09.")
        return days


def _is_clock(text: str) -> bool:
    hours, minutes = text.split(":")
    return int(hours) < 24 and int(minutes) < 60


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


async def render(visit: Visit) -> Html:
    held, opening = await switches_of(visit), await opening_of(visit)
    hours = held["trading_hours"]
    change = WEEK.button(visit, kind="small")
    if hours is None:
        shown = empty(
            "The market is open around the clock.",
            "Set hours with Change the hours: outside of them new orders are refused with trading_halted.",
        )
        return card("Trading hours", _now(visit, held, opening), shown, aside=change, name="hours")
    local = visit.now.astimezone(ZoneInfo(hours["zone"]))
    week = table(
        visit,
        "week-table",
        _WEEK_COLUMNS,
        [(day, hours["week"].get(day, [])) for day in DAYS],
        key=0,
        css=lambda row: "today" if DAYS[local.weekday()] == row[0] else None,
    )
    aside = [hint(f"time zone {hours['zone']}"), change]
    return el(
        "div",
        card("Trading hours", _now(visit, held, opening), week, aside=aside, name="hours"),
        _holidays(visit, hours, local.date().isoformat()),
        class_="overview",
    )


def _now(visit: Visit, held: View, opening: View) -> Html:
    if held["halted"]:
        shown = state(WARN, "Trading is halted by the desk")
    else:
        shown = state(GOOD, "The market is open") if opening["open"] else state(OFF, "The market is closed")
    if opening["changes_at"] is None:
        return el("p", shown, class_="inside now")
    at = datetime.fromisoformat(opening["changes_at"])
    verb = "closes" if opening["open"] else "opens"
    seconds = max(0, int((at - visit.now).total_seconds()))
    return el(
        "p", shown, hint(f"{verb} {day_and_clock(at, visit.zone)}, in {age(seconds)}"), class_="inside now"
    )


def _hours_text(openings: _Openings) -> str:
    if not openings:
        return "closed"
    if openings == [_ALL_DAY]:
        return "all day"
    return ", ".join(f"{start} – {end}" for start, end in openings)


def _day_chart(openings: _Openings) -> Html:
    """The day as a strip, with the opening hours filled."""

    def bar(start: str, end: str, css: str) -> Html:
        at = _minute(start)
        return el("rect", x=at, y=0, width=_minute(end) - at, height=10, class_=css)

    return el(
        "svg",
        bar("00:00", "24:00", "ground"),
        [bar(start, end, "taken") for start, end in openings],
        viewBox=f"0 0 {_MINUTES_PER_DAY} 10",
        preserveAspectRatio="none",
        class_="bar-chart day",
        aria_hidden="true",
    )


def _minute(text: str) -> int:
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


_WEEK_COLUMNS = (
    Column("Day", lambda _, row: el("b", _NAMES[row[0]])),
    Column("Open, hours", lambda _, row: el("span", _hours_text(row[1]), class_="order")),
    Column("0 to 24 hours", lambda _, row: _day_chart(row[1])),
)


def _holidays(visit: Visit, hours: View, today: str) -> Html:
    coming = [day for day in hours["holidays"] if day >= today]
    past = len(hours["holidays"]) - len(coming)
    shown: Child = empty("No upcoming holidays.", "On a holiday the market is closed all day.")
    if coming:
        columns = (
            Column("Holiday", lambda _, day: day_text(day)),
            Column("", lambda _, day: "today" if day == today else ""),
        )
        shown = table(visit, "holidays-table", columns, coming, key=str)
    aside = [hint(f"{past} past") if past else None, HOLIDAYS.button(visit, kind="small")]
    return card("Holidays", shown, aside=aside, name="holidays")


# --- Changes --------------------------------------------------------------------------------------------


def _hours(switches: View) -> View | None:
    hours: View | None = switches["trading_hours"]
    return hours


async def _ask_week(visit: Visit) -> Dialog:
    hours = _hours(await get_switches(visit.desk, visit.actor))
    shown = {"kind": "always", "zone": _DEFAULT_ZONE}
    if hours is not None:
        shown = {"kind": "week", "zone": hours["zone"], **hours["week"]}
    return Dialog(
        title="Trading hours",
        text=[
            "Enter the hours of each day: 09:00 – 17:00, or 09:00 – 12:30, 14:00 – 23:30, or all day.",
            "A day that is left empty is closed. Around the clock, no hours apply.",
            "Outside of the hours new orders are refused with trading_halted, in production and in test.",
        ],
        wide=True,
        values={**shown, **seen(hours)},
        options={"zone": [(each, "") for each in _ZONES]},
    )


async def _set_week(visit: Visit) -> Result:
    values = visit.values
    week = {day: values[day] for day in DAYS if values[day]}
    only_if = unchanged(visit, "The trading hours", _hours)
    always = values["kind"] == "always"
    if not week and not always:
        raise FormErrors({"kind": _NEVER_OPEN})
    switches = await get_switches(visit.desk, visit.actor)
    only_if(switches)
    before = _hours(switches)
    if always and week and (before is None or week != before["week"]):
        raise FormErrors({"kind": _TYPED_BESIDE})
    holidays = [] if before is None else before["holidays"]
    wanted = None if always else {"zone": values["zone"] or "", "week": week, "holidays": holidays}
    changes = Changes(SwitchesBody, {"trading_hours": wanted})
    after = _hours(await patch_switches(visit.desk, visit.actor, changes, only_if=only_if))
    opening = await get_opening(visit.desk, visit.actor)
    now = "open" if opening["open"] else "closed"
    return Result(f"{saved('Trading hours', _text(before), _text(after))} The market is {now} now.")


def _text(hours: View | None) -> dict[str, str]:
    if hours is None:
        return {"open": "around the clock"}
    days = {_NAMES[day]: _hours_text(hours["week"].get(day, [])) for day in DAYS}
    return {"open": "by the week", "zone": hours["zone"], **days}


def _hours_or_none(switches: View) -> View:
    return _hours(switches) or {"holidays": []}


async def _ask_holidays(visit: Visit) -> Dialog:
    hours = _hours_or_none(await get_switches(visit.desk, visit.actor))
    return Dialog(
        title="Holidays",
        text=["On a holiday the market is closed from midnight to midnight in the time zone of the hours."],
        values={"holidays": hours["holidays"], **seen(hours)},
    )


async def _set_holidays(visit: Visit) -> Result:
    only_if = unchanged(visit, "The list of holidays", _hours_or_none)
    switches = await get_switches(visit.desk, visit.actor)
    only_if(switches)
    before = _hours(switches)
    if before is None:
        raise FormErrors({"holidays": "Set the trading hours first: around the clock has no holidays."})
    wanted = {**before, "holidays": visit.values["holidays"] or []}
    changes = Changes(SwitchesBody, {"trading_hours": wanted})
    after = _hours(await patch_switches(visit.desk, visit.actor, changes, only_if=only_if)) or before
    was, now = set(before["holidays"]), set(after["holidays"])
    added = [f"{day_text(day)} added" for day in sorted(now - was)]
    removed = [f"{day_text(day)} removed" for day in sorted(was - now)]
    return Result(f"Holidays: {'; '.join([*added, *removed]) or 'nothing changed'}.")


_WEEK_FIELDS: Fields = (
    SEEN,
    Group(
        "whole row",
        [
            Choice(
                "kind",
                "The market is open",
                options=[("week", "by the week"), ("always", "around the clock")],
            ),
            Field("zone", "Time zone", "of the hours and holidays"),
        ],
    ),
    *(OpeningHours(day, name) for day, name in _NAMES.items()),
)
_HOLIDAY_FIELDS = (SEEN, Holidays("holidays", "Holidays", "one date per line, such as 2026-11-09", rows=10))
WEEK = Action(
    MARKET,
    "hours",
    "Change the hours",
    patch_switches,
    _ask_week,
    _set_week,
    _WEEK_FIELDS,
    changes="trading_hours",
)
HOLIDAYS = replace(
    WEEK,
    name="holidays",
    label="Change the holidays",
    ask=_ask_holidays,
    do=_set_holidays,
    fields=_HOLIDAY_FIELDS,
)
ACTIONS = (WEEK, HOLIDAYS)
