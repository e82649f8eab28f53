"""The health strip in the frame of every page: a light for each part that orders need."""

from datetime import UTC, datetime, timedelta

from bullion.desk.actions import health
from bullion.desk.desk import View
from bullion.environment import Environment
from bullion.refusals.catalogue import PRODUCTION_PREREQUISITES_UNMET

from .html import Child, Html, el
from .page import Visit
from .paths import REFUSALS, page_path
from .watch import MINUTES
from .widgets.components import BAD, GOOD, OFF, SIMULATED, WARN, mark
from .widgets.cover import simulated_note
from .widgets.formatting import clock

_MARKS = {
    health.OK: GOOD,
    health.LOOK_SOON: WARN,
    health.ACT_NOW: BAD,
    health.UNKNOWN: OFF,
    health.OFF: OFF,
}
_FEEDS_SHOWN = 4
"""Where there are more, those that are well share one light."""


def health_strip(visit: Visit) -> Html:
    lights = _lights(visit)
    bad = [each for each in lights if each["state"] == health.ACT_NOW]
    alarm = ". ".join(f"{each['name']}: {each['text']}" for each in bad)
    return el(
        "div",
        el("span", alarm, class_="unseen", role="alert") if alarm else None,
        simulated_note(visit),
        el("ul", [_light(visit, each) for each in _together(lights)], aria_label="Health"),
        class_="health",
    )


def _lights(visit: Visit) -> list[View]:
    reading = visit.frame.health
    lights = list(reading.value or ())
    if visit.frame.switches.error is not None:
        lost = visit.frame.switches
        store = _own_light(
            "Store",
            "cannot be read",
            "If the nodes cannot reach it either, nobody can trade: orders are refused with "
            "service_unavailable.",
            "Start the store, or check its connection. The console tries again every second.",
            visit.now - timedelta(seconds=lost.error_age_s),
        )
        # What was read before says nothing about now.
        others = [each | _UNKNOWN for each in lights if each["part"] != health.STORE]
        return [store, *others]
    if visit.frame.api.value:
        api = _own_light(
            "API",
            "does not answer",
            f"{visit.frame.api.value} Clients that use this address cannot trade.",
            "Start the node, or correct BULLION_CONSOLE_API_URL.",
        )
        return [api, *lights]
    return lights


_UNKNOWN = {"state": health.UNKNOWN, "text": "unknown", "since": None, "clients": "The store cannot be read."}


def _own_light(name: str, text: str, clients: str, remedy: str, since: datetime | None = None) -> View:
    """A light about what the console itself sees."""
    return {
        "part": name.lower(),
        "name": name,
        "state": health.ACT_NOW,
        "text": text,
        "since": None if since is None else since.isoformat(),
        "clients": clients,
        "remedy": remedy,
        "simulated": False,
    }


def _together(lights: list[View]) -> list[View]:
    well = [each for each in lights if each["part"] == health.FEED and each["state"] == health.OK]
    if len(well) <= _FEEDS_SHOWN:
        return lights
    simulated = " simulated" if any(each["simulated"] for each in well) else ""
    one = {**well[0], "name": "Rates", "text": f"{len(well)}{simulated} and fresh"}
    one["clients"] = ", ".join(each["name"] for each in well) + " are fresh."
    place = lights.index(well[0])
    return [*lights[:place], one, *(each for each in lights[place:] if each not in well)]


def _light(visit: Visit, light: View) -> Html:
    state = light["state"]
    kind = _MARKS[state]
    told = state in (health.ACT_NOW, health.LOOK_SOON)
    since = None if light["since"] is None else clock(datetime.fromisoformat(light["since"]), visit.zone)
    more = f"{light['text']}, since {since}" if told and since else light["text"]
    if light["part"] == health.VENUE and visit.frame.refused:
        more += f", {visit.frame.refused} refused"
    summary = el(
        "summary",
        mark(SIMULATED if light["simulated"] and kind == GOOD else kind),
        el("span", light["name"]),
        el("span", _short(light, more, told=told), class_="more"),
        None if told else el("span", f": {more}", class_="unseen"),
    )
    facts: list[tuple[str, Child]] = [
        ("Now", light["text"]),
        ("Since", since),
        ("For clients", [light["clients"], _refused(visit, light)]),
        ("What to do", light["remedy"]),
    ]
    panel = el(
        "dl", [el("div", el("dt", name), el("dd", text)) for name, text in facts if text], class_="panel"
    )
    css = f"is-{kind}" if told else None
    return el("li", el("details", summary, panel, class_="light"), class_=css, data_light=light["name"])


def _short(light: View, more: str, *, told: bool) -> str | None:
    """What stands in the strip itself: little while all is well."""
    if told:
        return more
    if light["state"] != health.OK or light["part"] == health.WORKERS:
        return str(light["text"])
    return "simulated" if light["simulated"] and light["part"] == health.FEED else None


def _refused(visit: Visit, light: View) -> Child:
    """How many live orders were refused because the venue is down."""
    if light["part"] != health.VENUE or light["state"] != health.ACT_NOW or visit.frame.refused is None:
        return None
    number = visit.frame.refused
    if not number:
        return " None was refused so far."
    since = (datetime.now(UTC) - timedelta(minutes=MINUTES)).isoformat(timespec="seconds")
    query = {
        "code": PRODUCTION_PREREQUISITES_UNMET.code,
        "environment": Environment.PRODUCTION.value,
        "since": since,
    }
    orders = "1 live order was" if number == 1 else f"{number} live orders were"
    return [
        " ",
        el("a", f"{orders} refused", href=page_path(REFUSALS, query)),
        f" in the last {MINUTES} minutes.",
    ]
