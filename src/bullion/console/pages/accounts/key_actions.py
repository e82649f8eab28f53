"""What the desk does to an account's keys: issue, rotate and revoke them. A secret is shown once."""

from datetime import date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from bullion.console.forms import Choice, Day, Dialog, Field, Group, Hidden, Lines, Tick
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import ACCOUNTS
from bullion.console.widgets.components import hint
from bullion.console.widgets.copyable import shown_once
from bullion.console.widgets.times import moment
from bullion.desk.actions.accounts import get_account
from bullion.desk.actions.keys import get_key, issue_key, revoke_key, rotate_key
from bullion.desk.bodies import KeyBody, RotateBody
from bullion.desk.conversion import convert
from bullion.desk.desk import View
from bullion.desk.registry import role_of
from bullion.environment import Environment
from bullion.keys.key import Scope
from bullion.orders.instant import instant_text
from bullion.refusals.desk import UNREADABLE
from bullion.refusals.refusal import RefusalError

_SCOPES = {
    Scope.ACCOUNT_READ: "Read the account: prices, positions, allocation",
    Scope.ORDERS_READ: "Read its orders",
    Scope.ORDERS_WRITE: "Place orders",
}
_SCOPE_TICKS = [Tick(f"scope {scope}", [text, el("code", scope.value)]) for scope, text in _SCOPES.items()]
_OVERLAPS = {
    "0": "none: the old key stops at once",
    "3600": "one hour",
    "86400": "one day",
    "604800": "one week",
    "2592000": "30 days",
}
LAST_DAY = Day("expires_at", "Last day", "Empty: until it is revoked.")
ADDRESSES = Lines(
    "allowed_addresses",
    "Allowed addresses",
    "One per line, such as 203.0.113.7 or 203.0.113.0/24. Empty: from anywhere.",
    rows=3,
    separator=r"[\s,;]+",
)
_LIMITS = Group("pair", [LAST_DAY, ADDRESSES])
_END_OF_DAY = time(23, 59, 59)


def end_of_day(day: date | None, zone: ZoneInfo) -> str | None:
    """The end of the last day of a key; None: it is valid until it is revoked."""
    if day is None:
        return None
    return instant_text(int(datetime.combine(day, _END_OF_DAY, zone).timestamp()) * 1_000_000)


def day_of(instant: str | None, zone: ZoneInfo) -> str | None:
    return None if instant is None else datetime.fromisoformat(instant).astimezone(zone).date().isoformat()


# --- Issue ----------------------------------------------------------------------------------------------


async def _ask_issue(visit: Visit) -> Dialog:
    now = await get_account(visit.desk, visit.actor, visit.param("login"))
    text: list[Child] = ["The key is shown once, right after it is issued. Have a safe way to send it ready."]
    if not now["production_trading"]:
        text.append(hint("Production trading is off: a production key can read but not trade."))
    return Dialog(
        title=f"Issue a key for {now['login_id']}",
        text=text,
        confirm="Issue the key",
        values=dict.fromkeys((each.name for each in _SCOPE_TICKS), True),
    )


async def _issue(visit: Visit) -> Result:
    values = visit.values
    body = {
        "environment": values["environment"],
        "name": values["name"],
        "scopes": [scope.value for scope in Scope if values[f"scope {scope}"]],
        "expires_at": end_of_day(values["expires_at"], visit.zone),
        "allowed_addresses": values["allowed_addresses"] or [],
    }
    made = await issue_key(visit.desk, visit.actor, visit.param("login"), convert(body, KeyBody))
    return Result(f"Key {made['name']} is issued.", reveal=_revealed(made, "Issued"))


def _revealed(made: View, done: str, *more: str) -> Html:
    return shown_once(
        f"{done}: {made['name']}, for {made['login_id']} in {made['environment']}",
        [
            el("b", "It is shown only now. Copy it: nobody can see it again, neither here nor in the store."),
            "Send it in a way that nobody else can read. A lost key has to be replaced.",
            *more,
        ],
        made["key"],
        label="the key",
    )


# --- Rotate ---------------------------------------------------------------------------------------------


async def _ask_rotate(visit: Visit) -> Dialog:
    now = await get_key(visit.desk, visit.actor, visit.param("key"))
    day = day_of(now["expires_at"], visit.zone)
    return Dialog(
        title=f"Rotate {now['name']} of {now['login_id']}",
        text=[
            f"A new {now['environment']} key with the same name and scopes is issued, and shown once.",
            "Until the overlap ends both keys work; then the old key is refused.",
        ],
        confirm="Rotate the key",
        values={
            "overlap_s": "86400",
            "expires_at": day,
            "day_before": day,
            "allowed_addresses": now["allowed_addresses"],
        },
    )


async def _rotate(visit: Visit) -> Result:
    values = visit.values
    body: dict[str, Any] = {
        "overlap_s": int(values["overlap_s"]) if values["overlap_s"] in _OVERLAPS else values["overlap_s"],
        "allowed_addresses": values["allowed_addresses"] or [],
    }
    # The exact end stays as it was unless somebody chose another day.
    if visit.form.get("expires_at", "") != visit.form.get("day_before", ""):
        body["expires_at"] = end_of_day(values["expires_at"], visit.zone)
    made = await rotate_key(visit.desk, visit.actor, visit.param("key"), convert(body, RotateBody))
    overlap = f"Overlap of the old key: {_OVERLAPS.get(values['overlap_s'], '')}."
    return Result(f"Key {made['name']} is rotated.", reveal=_revealed(made, "Rotated", overlap))


# --- Revoke ---------------------------------------------------------------------------------------------


async def _ask_revoke(visit: Visit) -> Dialog:
    try:
        now = await get_key(visit.desk, visit.actor, visit.param("key"))
    except RefusalError as refused:
        if refused.refusal is not UNREADABLE:
            raise
        text = [refused.message, "This cannot be undone."]
        return Dialog(title="Revoke this key?", text=text, confirm="Revoke the key", danger=True)
    used: Child = "It was never used."
    if now["last_used_at"]:
        used = el("span", "It was last used at ", moment(now["last_used_at"], visit.zone, visit.now), ".")
    return Dialog(
        title=f"Revoke {now['name']} of {now['login_id']}?",
        text=[
            f"Every request with this {now['environment']} key is then refused with credential_revoked.",
            "It takes effect within a second.",
            used,
            "This cannot be undone. For a change without interruption, rotate the key instead.",
        ],
        confirm="Revoke the key",
        danger=True,
    )


async def _revoke(visit: Visit) -> Result:
    now = await revoke_key(visit.desk, visit.actor, visit.param("key"))
    return Result(f"Key {now['name']} of {now['login_id']} is revoked.")


_ENVIRONMENT = Choice(
    "environment",
    "Environment",
    options=[(Environment.TEST, "test"), (Environment.PRODUCTION, "production: real orders")],
)
ISSUE = Action(
    ACCOUNTS,
    "issue-key",
    "Issue a key",
    role_of(issue_key),
    _ask_issue,
    _issue,
    (
        Group(
            "pair",
            [
                Field(
                    "name",
                    "Name",
                    "What it is for, such as: pricing program.",
                    required=True,
                    rule="Use up to 120 visible characters.",
                ),
                _ENVIRONMENT,
            ],
        ),
        Group("", _SCOPE_TICKS, legend=Hidden("scopes", "It may", rule="Choose at least one.")),
        _LIMITS,
    ),
)
ROTATE = Action(
    ACCOUNTS,
    "rotate-key",
    "Rotate",
    role_of(rotate_key),
    _ask_rotate,
    _rotate,
    (
        Choice("overlap_s", "Overlap", options=[*_OVERLAPS.items()]),
        _LIMITS,
        Hidden("day_before", ""),
    ),
)
REVOKE = Action(ACCOUNTS, "revoke-key", "Revoke", role_of(revoke_key), _ask_revoke, _revoke)
ACTIONS = (ISSUE, ROTATE, REVOKE)
