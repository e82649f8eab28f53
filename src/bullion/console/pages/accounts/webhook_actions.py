"""What the desk does to webhooks of accounts: set up, switch, rotate, delete and replay."""

from typing import Any

from bullion.console.forms import Choice, Dialog, Field, Group
from bullion.console.html import Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import ACCOUNTS
from bullion.console.widgets.components import shown_once
from bullion.console.widgets.formatting import count
from bullion.desk.actions.accounts import get_account
from bullion.desk.actions.webhooks import (
    create_webhook,
    delete_webhook,
    disable_webhook,
    enable_webhook,
    get_webhook,
    list_dead_events,
    replay_webhook,
    rotate_webhook,
)
from bullion.desk.bodies import ReplayBody, WebhookBody
from bullion.desk.conversion import convert
from bullion.desk.desk import View
from bullion.environment import Environment


async def _now(visit: Visit) -> View:
    return await get_webhook(visit.desk, visit.actor, visit.param("login"), visit.param("webhook"))


def _names(visit: Visit) -> tuple[str, str]:
    return visit.param("login"), visit.param("webhook")


def _revealed(made: View, done: str, *more: str) -> Html:
    return shown_once(
        f"{done}: the {made['environment']} webhook of {made['login_id']}",
        [
            el("b", "Its secret is shown only now. Copy it: nobody can see it again."),
            "Send it in a way that nobody else can read. With it the client's program verifies what it gets.",
            *more,
        ],
        made["secret"],
        label="the secret",
    )


# --- Set up ---------------------------------------------------------------------------------------------


async def _ask_create(visit: Visit) -> Dialog:
    now = await get_account(visit.desk, visit.actor, visit.param("login"))
    return Dialog(
        title=f"Set up a webhook for {now['login_id']}",
        text=[
            "Every event of the account from now on is sent to this URL, signed and in order.",
            "The secret is shown once, right after. Have a safe way to send it ready.",
        ],
        confirm="Set up the webhook",
    )


async def _create(visit: Visit) -> Result:
    values = visit.values
    body: dict[str, Any] = {
        "environment": values["environment"],
        "url": values["url"],
        "description": values["description"] or "",
    }
    made = await create_webhook(visit.desk, visit.actor, visit.param("login"), convert(body, WebhookBody))
    return Result("The webhook is set up.", reveal=_revealed(made, "Set up"))


# --- On and off -----------------------------------------------------------------------------------------


async def _ask_enable(visit: Visit) -> Dialog:
    now = await _now(visit)
    return Dialog(
        title=f"Switch on the {now['environment']} webhook of {now['login_id']}?",
        text=[
            el("span", "Events are sent to ", el("code", now["url"]), "."),
            f"It goes on where it stopped: {count(now['waiting'])} events wait.",
        ],
        confirm="Switch it on",
    )


async def _enable(visit: Visit) -> Result:
    await enable_webhook(visit.desk, visit.actor, *_names(visit))
    return Result("The webhook is on.")


async def _ask_disable(visit: Visit) -> Dialog:
    now = await _now(visit)
    return Dialog(
        title=f"Switch off the {now['environment']} webhook of {now['login_id']}?",
        text=[
            el("span", "Nothing is sent to ", el("code", now["url"]), " until somebody switches it on."),
            "Its events are kept as long as all events are. Orders are not affected.",
        ],
        confirm="Switch it off",
        danger=True,
    )


async def _disable(visit: Visit) -> Result:
    await disable_webhook(visit.desk, visit.actor, *_names(visit))
    return Result("The webhook is off.")


# --- Secret ---------------------------------------------------------------------------------------------


async def _ask_rotate(visit: Visit) -> Dialog:
    now = await _now(visit)
    return Dialog(
        title=f"Make a new secret for the {now['environment']} webhook of {now['login_id']}?",
        text=["For 24 hours everything is signed with both secrets. Then the old one is no longer used."],
        confirm="Make a new secret",
    )


async def _rotate(visit: Visit) -> Result:
    made = await rotate_webhook(visit.desk, visit.actor, *_names(visit))
    more = "For 24 hours the old secret verifies too."
    return Result("The webhook has a new secret.", reveal=_revealed(made, "Rotated", more))


# --- Delete ---------------------------------------------------------------------------------------------


async def _ask_delete(visit: Visit) -> Dialog:
    now = await _now(visit)
    return Dialog(
        title=f"Delete the {now['environment']} webhook of {now['login_id']}?",
        text=[
            el("span", "Nothing more is sent to ", el("code", now["url"]), "."),
            "Its secret, its log and the list of what was given up are deleted. This cannot be undone.",
        ],
        confirm="Delete the webhook",
        danger=True,
    )


async def _delete(visit: Visit) -> Result:
    await delete_webhook(visit.desk, visit.actor, *_names(visit))
    return Result("The webhook is deleted.")


# --- Replay ---------------------------------------------------------------------------------------------


async def _ask_replay(visit: Visit) -> Dialog:
    now = await _now(visit)
    dead = await list_dead_events(visit.desk, visit.actor, *_names(visit))
    return Dialog(
        title=f"Replay to the {now['environment']} webhook of {now['login_id']}?",
        text=[
            f"{count(len(dead))} events could not be delivered within three days. Each is sent once more.",
            "One that fails again stays in the list.",
        ],
        confirm="Send them again",
    )


async def _replay(visit: Visit) -> Result:
    done = await replay_webhook(visit.desk, visit.actor, *_names(visit), convert({}, ReplayBody))
    return Result(f"{count(done['replaying'])} events are sent again.")


CREATE = Action(
    ACCOUNTS,
    "create-webhook",
    "Set up a webhook",
    create_webhook,
    _ask_create,
    _create,
    (
        Field("url", "URL", "With https, on the public internet.", required=True),
        Group(
            "pair",
            [
                Choice(
                    "environment",
                    "Environment",
                    options=[
                        (Environment.TEST, "test"),
                        (Environment.PRODUCTION, "production: real orders"),
                    ],
                ),
                Field("description", "Description", "What it is for."),
            ],
        ),
    ),
)
ENABLE = Action(ACCOUNTS, "enable-webhook", "Switch on", enable_webhook, _ask_enable, _enable)
DISABLE = Action(ACCOUNTS, "disable-webhook", "Switch off", disable_webhook, _ask_disable, _disable)
ROTATE = Action(ACCOUNTS, "rotate-webhook", "New secret", rotate_webhook, _ask_rotate, _rotate)
DELETE = Action(ACCOUNTS, "delete-webhook", "Delete", delete_webhook, _ask_delete, _delete)
REPLAY = Action(ACCOUNTS, "replay-webhook", "Replay", replay_webhook, _ask_replay, _replay)
ACTIONS = (CREATE, ENABLE, DISABLE, ROTATE, DELETE, REPLAY)


def buttons(visit: Visit, each: View) -> Html:
    """What can be done to a webhook."""
    about, url = {"login": each["login_id"], "webhook": each["webhook_id"]}, each["url"]
    switch = DISABLE if each["enabled"] else ENABLE
    return el(
        "span",
        switch.button(visit, about, kind="small", label=f"{switch.label}: {url}"),
        ROTATE.button(visit, about, kind="small", label=f"New secret for {url}"),
        DELETE.button(visit, about, kind="small risky", label=f"Delete {url}"),
        class_="acts",
    )
