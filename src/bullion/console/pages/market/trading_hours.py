"""Trading hours: the weekly timetable and the holidays, whether the market is open, and when that changes."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from zoneinfo import ZoneInfo

from bullion.accounts.trading_hours import DAYS
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, FormErrors, Result, Visit
from bullion.console.stale_form import seen, still
from bullion.console.widgets.components import GOOD, OFF, WARN, Column, Line, card, empty, state, table
from bullion.console.widgets.dialog import action_button, choice, dialog, field, hidden, lines
from bullion.console.widgets.times import age, day_and_clock
from bullion.desk.actions import switches
from bullion.desk.bodies import SwitchesBody
from bullion.desk.conversion import Changes
from bullion.desk.desk import OnlyIf, View
from bullion.records.token import Role
from bullion.refusals.refusal import RefusalError

from .duty_tables import day_words
from .forms import Form, saved
from .market_data import opening_of, switches_of
from .names import PAGE_NAME

_NAMES = dict(
    zip(DAYS, ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"), strict=True)
)
_USUAL_ZONE = "Asia/Kolkata"
_ZONES = ("Asia/Kolkata", "Asia/Dubai", "Asia/Singapore", "Europe/London", "America/New_York", "UTC")
_OPENING = re.compile(r"([0-9]{1,2}:[0-9]{2})\s*(?:-|–|to)\s*([0-9]{1,2}:[0-9]{2})")
_ALL_DAY = ("00:00", "24:00")
_MINUTES_A_DAY = 24 * 60
_NEVER = (
    "A week without any opening would close the market for good: "
    "halt trading instead, or write when a day is open."
)


async def render(visit: Visit) -> Html:
    held, opening = await switches_of(visit), await opening_of(visit)
    hours = held["trading_hours"]
    change = action_button(visit, PAGE_NAME, WEEK, "Change the hours", kind="small")
    if hours is None:
        shown = empty(
            "The market is open round the clock.",
            "Set hours with Change the hours: outside of them new orders are refused with trading_halted.",
        )
        return card("Trading hours", _now(visit, held, opening), shown, aside=change, name="hours")
    columns = (Column("Day"), Column("Open"), Column("0 to 24 hours"))
    local = visit.now.astimezone(ZoneInfo(hours["zone"]))
    rows = [
        Line(
            day,
            _day_cells(day, hours["week"].get(day, [])),
            "today" if DAYS[local.weekday()] == day else None,
        )
        for day in DAYS
    ]
    zone = el("span", f"clocks of {hours['zone']}", class_="hint")
    return el(
        "div",
        card(
            "Trading hours",
            _now(visit, held, opening),
            table(columns, rows, name="week-table"),
            aside=[zone, change],
            name="hours",
        ),
        _holidays(visit, hours, local.date().isoformat()),
        class_="overview",
    )


def _day_cells(day: str, openings: list[list[str]]) -> tuple[Child, ...]:
    return el("b", _NAMES[day]), el("span", _day_words(openings), class_="order"), _bar(openings)


def _now(visit: Visit, held: View, opening: View) -> Html:
    if held["halted"]:
        shown = state(WARN, "Trading is halted by the desk")
    elif opening["open"]:
        shown = state(GOOD, "The market is open")
    else:
        shown = state(OFF, "The market is closed")
    return el("p", shown, _next(visit, opening), class_="inside now")


def _next(visit: Visit, opening: View) -> Html | None:
    if opening["changes_at"] is None:
        return None
    at = datetime.fromisoformat(opening["changes_at"])
    verb = "closes" if opening["open"] else "opens"
    seconds = max(0, int((at - visit.now).total_seconds()))
    return el("span", f"{verb} {day_and_clock(at, visit.zone)}, in {age(seconds)}", class_="hint")


def _day_words(openings: list[list[str]]) -> str:
    if not openings:
        return "closed"
    if [tuple(each) for each in openings] == [_ALL_DAY]:
        return "all day"
    return ", ".join(f"{start} – {end}" for start, end in openings)


def _bar(openings: list[list[str]]) -> Html:
    """The day as a strip, open parts filled."""
    drawn = [
        el("rect", x=_minute(start), y=0, width=_minute(end) - _minute(start), height=10, class_="taken")
        for start, end in openings
    ]
    ground = el("rect", x=0, y=0, width=_MINUTES_A_DAY, height=10, class_="ground")
    box = f"0 0 {_MINUTES_A_DAY} 10"
    return el(
        "svg",
        ground,
        drawn,
        viewBox=box,
        preserveAspectRatio="none",
        class_="bar-chart day",
        aria_hidden="true",
    )


def _minute(text: str) -> int:
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


def _holidays(visit: Visit, hours: View, today: str) -> Html:
    change = action_button(visit, PAGE_NAME, HOLIDAYS, "Change the holidays", kind="small")
    coming = [day for day in hours["holidays"] if day >= today]
    over = len(hours["holidays"]) - len(coming)
    if not coming:
        shown: Child = empty("No holiday is to come.", "On a holiday the market is closed all day.")
    else:
        columns = (Column("Holiday"), Column(""))
        rows = [Line(day, (day_words(day), "today" if day == today else "")) for day in coming]
        shown = table(columns, rows, name="holidays-table")
    past = el("span", f"{over} over", class_="hint") if over else None
    return card("Holidays", shown, aside=[past, change], name="holidays")


async def _ask_week(visit: Visit) -> Html:
    hours = (await switches.get_switches(visit.desk, visit.actor))["trading_hours"]
    week: Mapping[str, list[list[str]]] = {} if hours is None else hours["week"]
    kinds = [("week", "by this timetable"), ("always", "round the clock")]
    days = [field(_NAMES[day], day, value="" if not week.get(day) else _day_words(week[day])) for day in DAYS]
    zone = _USUAL_ZONE if hours is None else hours["zone"]
    fields = [
        hidden("seen", seen(hours)),
        el(
            "div",
            choice("The market is open", "kind", kinds, value="always" if hours is None else "week"),
            field("Time zone", "zone", value=zone, suggested=_ZONES, hint="whose clocks and calendar count"),
            class_="whole row",
        ),
        *days,
    ]
    words = [
        "Write when each day is open: 09:00 – 17:00, or 09:00 – 12:30, 14:00 – 23:30, or all day.",
        "A day that is left empty is closed.",
        "Outside of the hours new orders are refused with trading_halted, in production and in test.",
    ]
    return dialog("Trading hours", words, confirm="Save", fields=fields, broad=True)


def _openings(form: Form, day: str) -> list[list[str]]:
    text = form.text(day)
    if not text or text.lower() == "closed":
        return []
    if text.lower() == "all day":
        return [list(_ALL_DAY)]
    found: list[list[str]] = []
    for part in text.split(","):
        match = _OPENING.fullmatch(part.strip())
        if match is None:
            form.troubles[day] = f"{part.strip()[:30]!r} is not an opening such as 09:00 – 17:00."
            return []
        start, end = (each.zfill(5) for each in match.groups())
        if not (_is_clock(start) and (end == _ALL_DAY[1] or _is_clock(end))):
            form.troubles[day] = f"{part.strip()[:30]!r} has a time that no clock shows."
        elif not start < end:
            form.troubles[day] = f"The opening from {start} has to end later on the same day."
        elif found and start < found[-1][1]:
            form.troubles[day] = "The openings have to follow each other."
        found.append([start, end])
    return found


def _is_clock(text: str) -> bool:
    hours, minutes = text.split(":")
    return int(hours) < 24 and int(minutes) < 60


async def _set_week(visit: Visit) -> Result:
    form = Form(visit.form)
    wanted: View | None = None
    if form.text("kind") != "always":
        week = {day: found for day in DAYS if (found := _openings(form, day))}
        if not week and not form.troubles:
            form.troubles["kind"] = _NEVER
        wanted = {"zone": form.text("zone"), "week": week, "holidays": []}
    form.check()
    held = await switches.get_switches(visit.desk, visit.actor)
    only_if = still(visit, "The timetable", held, _hours_in)
    before = _hours_in(held)
    if wanted is not None and before is not None:
        wanted["holidays"] = before["holidays"]
    after = await _patched(visit, only_if, wanted)
    opening = await switches.get_opening(visit.desk, visit.actor)
    now = "open" if opening["open"] else "closed"
    return Result(f"{saved('Trading hours', _spoken(before), _spoken(after))} The market is {now} now.")


def _hours_in(held: View) -> View | None:
    hours: View | None = held["trading_hours"]
    return hours


async def _patched(visit: Visit, only_if: OnlyIf, hours: View | None) -> View | None:
    try:
        changes = Changes(SwitchesBody, {"trading_hours": hours})
        after = await switches.patch_switches(visit.desk, visit.actor, changes, only_if=only_if)
    except RefusalError as refused:
        if any(each.loc == ("body", "trading_hours", "zone") for each in refused.errors):
            raise FormErrors({"zone": "This is not a time zone such as Asia/Kolkata."}) from None
        raise
    found: View | None = after["trading_hours"]
    return found


def _spoken(hours: View | None) -> dict[str, str]:
    if hours is None:
        return {"open": "round the clock"}
    days = {_NAMES[day]: _day_words(hours["week"].get(day, [])) for day in DAYS}
    return {"open": "by the timetable", "zone": hours["zone"], **days}


async def _ask_holidays(visit: Visit) -> Html:
    hours = (await switches.get_switches(visit.desk, visit.actor))["trading_hours"] or {"holidays": []}
    shown = "\n".join(hours["holidays"])
    fields = [
        hidden("seen", seen(hours)),
        lines("Holidays", "holidays", value=shown, hint="one date on each line, such as 2026-11-09", rows=10),
    ]
    words = ["On a holiday the market is closed from midnight to midnight, by the clocks of the timetable."]
    return dialog("Holidays", words, confirm="Save", fields=fields)


async def _set_holidays(visit: Visit) -> Result:
    days = sorted({line.strip() for line in visit.form.get("holidays", "").splitlines() if line.strip()})
    wrong = [day for day in days if not _is_day(day)]
    if wrong:
        raise FormErrors({"holidays": f"{wrong[0][:30]!r} is not a date such as 2026-11-09."})
    held = await switches.get_switches(visit.desk, visit.actor)
    only_if = still(visit, "The list of holidays", held, lambda each: _hours_in(each) or {"holidays": []})
    before = _hours_in(held)
    if before is None:
        raise FormErrors({"holidays": "Set the trading hours first: round the clock knows no holidays."})
    after = await _patched(visit, only_if, {**before, "holidays": days})
    was, now = set(before["holidays"]), set((after or before)["holidays"])
    added = [f"{day_words(day)} added" for day in sorted(now - was)]
    gone = [f"{day_words(day)} removed" for day in sorted(was - now)]
    told = "; ".join([*added, *gone])
    return Result(f"Holidays: {told}." if told else "The holidays are as they were: nothing was changed.")


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


WEEK = Action("hours", Role.ADMIN, _ask_week, _set_week)
HOLIDAYS = Action("holidays", Role.ADMIN, _ask_holidays, _set_holidays)
ACTIONS = (WEEK, HOLIDAYS)
