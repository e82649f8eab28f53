"""Webhooks of an account: a card with all of them, and a page for one with its attempts and lost events."""

import asyncio

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.paths import account_path, webhook_path
from bullion.console.shared_read import Reading
from bullion.console.widgets.components import (
    BAD,
    GOOD,
    OFF,
    WARN,
    Column,
    card,
    facts,
    freshness,
    hint,
    small,
    state,
    table_card,
)
from bullion.console.widgets.formatting import count, moment, moment_in_column
from bullion.desk.actions import webhooks
from bullion.desk.desk import View

from .webhook_actions import CREATE, REPLAY, buttons

EVERY_S = 2.0


def webhooks_card(visit: Visit, login_id: str, reading: Reading[list[View]]) -> Html:
    return table_card(
        visit,
        "Webhooks",
        "webhooks",
        _COLUMNS,
        reading.value or [],
        key="webhook_id",
        nothing=(
            "This account has no webhook.",
            "Its program can set one up itself, with a key that has the scope webhooks:manage.",
        ),
        css=lambda each: None if each["enabled"] else "gone",
        aside=CREATE.button(visit, {"login": login_id}),
        reading=reading,
    )


async def render(visit: Visit) -> Html:
    login_id, webhook_id = visit.params["login_id"], visit.params["webhook_id"]
    name = (login_id, webhook_id)
    webhook, attempts, dead = await asyncio.gather(
        visit.read(("webhook", *name), lambda desk, actor: webhooks.get_webhook(desk, actor, *name), EVERY_S),
        visit.read(
            ("attempts", *name),
            lambda desk, actor: webhooks.list_webhook_attempts(desk, actor, *name),
            EVERY_S,
        ),
        visit.read(
            ("dead", *name), lambda desk, actor: webhooks.list_dead_events(desk, actor, *name), EVERY_S
        ),
    )
    now = webhook.require()
    return el(
        "div",
        el(
            "div",
            el("a", f"← {login_id}", href=account_path(login_id), class_="back"),
            el("h1", "Webhook"),
            _state(visit, now),
            freshness(webhook),
            buttons(visit, now),
            class_="heading",
        ),
        card("Where events are sent", facts(_facts(visit, now)), name="webhook"),
        _attempts_card(visit, attempts),
        _dead_card(visit, now, dead),
        class_="account",
    )


def _facts(visit: Visit, now: View) -> list[tuple[str, Child]]:
    def at(field: str, otherwise: str) -> Child:
        return hint(otherwise) if now[field] is None else moment(now[field], visit.zone, visit.now)

    return [
        ("URL", el("code", now["url"])),
        ("Environment", now["environment"]),
        ("Events", ", ".join(now["types"]) or "all"),
        ("Description", now["description"] or hint("none")),
        ("Set up", [at("created_at", ""), hint(" by ", now["created_by"])]),
        ("Last delivered", at("last_delivered_at", "never")),
        ("Waiting", f"{count(now['waiting'])} events"),
        ("Next try", at("next_try_at", "at once")),
        ("Old secret signs until", at("previous_secret_until", "there is none")),
    ]


def _attempts_card(visit: Visit, reading: Reading[list[View]]) -> Html:
    return table_card(
        visit,
        "Attempts",
        "attempts",
        _ATTEMPTS,
        reading.value or [],
        key=lambda each: f"{each['at']} {each['event_id']}",
        nothing=("Nothing was sent yet.", "The last 100 attempts are listed here, the newest first."),
        reading=reading,
    )


def _dead_card(visit: Visit, now: View, reading: Reading[list[View]]) -> Html:
    dead = reading.value or []
    about = {"login": now["login_id"], "webhook": now["webhook_id"]}
    return table_card(
        visit,
        "Given up",
        "dead",
        _DEAD,
        dead,
        key=lambda each: str(each["number"]),
        nothing=(
            "No event was given up.",
            "An event that cannot be delivered within three days is listed here, and the next one is sent.",
        ),
        aside=REPLAY.button(visit, about) if dead and now["enabled"] else None,
        reading=reading,
    )


def _address(_visit: Visit, each: View) -> Child:
    types = ", ".join(each["types"]) or "all events"
    path = webhook_path(each["login_id"], each["webhook_id"])
    return [
        el("a", el("code", each["url"]), href=path),
        small(" · ".join(filter(None, (each["description"], types)))),
    ]


def _state(visit: Visit, each: View) -> Child:
    if not each["enabled"]:
        return [state(BAD if each["failing_since"] else OFF, "off"), small(each["disabled_reason"])]
    if each["failing_since"]:
        since = moment(each["failing_since"], visit.zone, visit.now)
        return [state(WARN, "failing"), small(["since ", since])]
    return state(GOOD, "on")


def _delivered(visit: Visit, each: View) -> Child:
    if each["last_delivered_at"] is None:
        return hint("never")
    return moment_in_column(each["last_delivered_at"], visit.zone, visit.now)


def _number_dead(_visit: Visit, each: View) -> Child:
    number = count(each["dead_events"])
    return state(WARN, number) if each["dead_events"] else number


def _answer(_visit: Visit, attempt: View) -> Child:
    status = attempt["status"]
    return state(GOOD if attempt["delivered"] else BAD, "no answer" if status is None else str(status))


def _event(_visit: Visit, each: View) -> Child:
    return [el("code", each["type"]), small(f"number {each['number']}" if each["number"] else "a test")]


_COLUMNS = (
    Column("Address", _address),
    Column("Environment", lambda _, each: each["environment"]),
    Column("State", _state),
    Column("Waiting", lambda _, each: count(each["waiting"]), number=True),
    Column("Given up", _number_dead, number=True),
    Column("Last delivered", _delivered, time=True),
    Column("", buttons),
)
_ATTEMPTS = (
    Column("When", lambda visit, each: moment_in_column(each["at"], visit.zone, visit.now), time=True),
    Column("Event", _event),
    Column("Answer", _answer),
    Column("ms", lambda _, each: count(each["duration_ms"]), number=True),
    Column("What was said", lambda _, each: [each["error"], small(each["response"])]),
)
_DEAD = (
    Column("Event", _event),
    Column(
        "Given up",
        lambda visit, each: moment_in_column(each["given_up_at"], visit.zone, visit.now),
        time=True,
    ),
    Column("Tries", lambda _, each: count(each["tries"]), number=True),
    Column("Last error", lambda _, each: each["error"]),
    Column("", lambda _, each: hint("is being sent again") if each["replaying"] else None),
)
