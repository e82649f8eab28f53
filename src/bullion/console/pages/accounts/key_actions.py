"""What the desk does to an account's keys: issue, rotate and revoke them. A secret is shown once."""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from bullion.console.forms import Checkbox, Choice, Day, Dialog, Group, Hidden, Lines, field_of
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import ACCOUNTS
from bullion.console.shared_read import Reading
from bullion.console.watch import Listed
from bullion.console.widgets.components import (
    BAD,
    GOOD,
    OFF,
    WARN,
    Column,
    hint,
    shown_once,
    small,
    state,
    table_card,
)
from bullion.console.widgets.formatting import age, moment, moment_in_column
from bullion.desk.actions.account_summaries import SOON_S
from bullion.desk.actions.accounts import get_account
from bullion.desk.actions.keys import get_key, issue_key, revoke_key, rotate_key
from bullion.desk.bodies import KeyBody, RotateBody
from bullion.desk.conversion import convert
from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable
from bullion.environment import Environment
from bullion.keys.key import DEFAULT_SCOPES, Scope
from bullion.orders.instant import instant_text
from bullion.refusals.desk import UNREADABLE
from bullion.refusals.refusal import RefusalError

_SCOPES = {
    Scope.ACCOUNT_READ: "Read the account: prices, positions, allocation",
    Scope.ORDERS_READ: "Read its orders",
    Scope.ORDERS_WRITE: "Place orders",
    Scope.WEBHOOKS_MANAGE: "Set up webhooks: addresses that get its events",
}
_SCOPE_CHECKBOXES = [
    Checkbox(f"scope {scope}", [text, el("code", scope.value)]) for scope, text in _SCOPES.items()
]
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
_KEY_ID_SHOWN = 64
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
        values={f"scope {scope}": True for scope in DEFAULT_SCOPES},
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
        title=f"Rotate the {now['environment']} key “{now['name']}” of {now['login_id']}",
        text=[
            el("span", "Key ", el("code", now["key_id"]), f", account {now['login_id']}."),
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
        title = f"Revoke the key {visit.param('key')[:_KEY_ID_SHOWN]}?"
        return Dialog(title=title, text=text, confirm="Revoke the key", danger=True)
    used: Child = "It was never used."
    if now["last_used_at"]:
        used = el("span", "It was last used at ", moment(now["last_used_at"], visit.zone, visit.now), ".")
    return Dialog(
        title=f"Revoke the {now['environment']} key “{now['name']}” of {now['login_id']}?",
        text=[
            el("span", "Key id ", el("code", now["key_id"]), f", account {now['login_id']}. ", used),
            f"Every request with this {now['environment']} key is then refused with credential_revoked.",
            "It takes effect within a second.",
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
    issue_key,
    _ask_issue,
    _issue,
    (
        Group(
            "pair",
            [
                field_of(
                    KeyBody,
                    "name",
                    "Name",
                    "What it is for, such as: pricing program.",
                    rule="Use up to 120 visible characters.",
                ),
                _ENVIRONMENT,
            ],
        ),
        Group("", _SCOPE_CHECKBOXES, legend=Hidden("scopes", "Scopes", rule="Choose at least one.")),
        _LIMITS,
    ),
)
ROTATE = Action(
    ACCOUNTS,
    "rotate-key",
    "Rotate",
    rotate_key,
    _ask_rotate,
    _rotate,
    (Choice("overlap_s", "Overlap", options=[*_OVERLAPS.items()]), _LIMITS, Hidden("day_before", "")),
)
REVOKE = Action(ACCOUNTS, "revoke-key", "Revoke", revoke_key, _ask_revoke, _revoke)
ACTIONS = (ISSUE, ROTATE, REVOKE)


KEYS_SHOWN = 50
_SOON = timedelta(seconds=SOON_S)


def keys_card(visit: Visit, login_id: str, reading: Reading[Listed]) -> Html:
    issue = ISSUE.button(visit, {"login": login_id}, kind="primary")
    found, total = reading.value or ([], 0)

    def ended(key: View) -> bool:
        return key_state(key, visit.now)[0] in (OFF, BAD)

    return table_card(
        visit,
        "Keys",
        "keys",
        _COLUMNS,
        sorted(found, key=ended),
        key="key_id",
        nothing=(
            "This account has no key.",
            "Its program needs one to call the API. Start with a key for the test environment.",
        ),
        css=lambda each: "gone" if ended(each) else None,
        aside=[None if total == len(found) else hint(f"the newest {len(found)} of {total}"), issue],
        reading=reading,
    )


def key_state(key: View, now: datetime) -> tuple[str, str, str | None]:
    """Its kind, its name, and what to know about it."""
    if is_unreadable(key):
        return WARN, "cannot be read", key["remedy"]
    if key["revoked_at"]:
        return OFF, "revoked", None
    if key["overlap_ends_at"]:
        ends, successor = datetime.fromisoformat(key["overlap_ends_at"]), f"replaced by {key['replaced_by']}"
        if ends <= now:
            return OFF, "rotated", successor
        return WARN, f"rotated, {age(int((ends - now).total_seconds()))} left", successor
    if key["expires_at"]:
        ends = datetime.fromisoformat(key["expires_at"])
        if ends <= now:
            return BAD, "expired", "rotate it to get a new one"
        if ends - now <= _SOON:
            return WARN, f"expires in {age(int((ends - now).total_seconds()))}", "rotate it before then"
    return GOOD, "valid", None


def _name(_visit: Visit, key: View) -> Child:
    key_id = el("code", key["key_id"])
    return key_id if is_unreadable(key) else [el("b", key["name"]), small(key_id)]


def _codes(field: str, otherwise: str = "") -> Callable[[Visit, View], Child]:
    return lambda _, key: (
        [el("code", each, class_="scope") for each in key.get(field, ())]
        or (None if is_unreadable(key) else otherwise)
    )


def _expires(visit: Visit, key: View) -> Child:
    if is_unreadable(key):
        return [key["unreadable"], small(f"{key['effect']} {key['remedy']}")]
    return _time(visit, key["expires_at"])


def _time(visit: Visit, at: str | None) -> Child:
    return hint("never") if at is None else moment_in_column(at, visit.zone, visit.now)


def _state(visit: Visit, key: View) -> Html:
    kind, text, note = key_state(key, visit.now)
    return state(BAD if is_unreadable(key) else kind, text, note)


def _buttons(visit: Visit, key: View) -> Child:
    about, name = {"key": key["key_id"]}, key.get("name", key["key_id"])
    revoke = REVOKE.button(visit, about, kind="small risky", label=f"Revoke {name}")
    if is_unreadable(key):
        return revoke
    rotate = ROTATE.button(visit, about, kind="small", label=f"Rotate {name}")
    if key["revoked_at"]:
        return el("span", class_="acts")
    return el("span", None if key["replaced_by"] else rotate, revoke, class_="acts")


_COLUMNS = (
    Column("Key", _name),
    Column("Environment", lambda _, key: key.get("environment")),
    Column("Scopes", _codes("scopes")),
    Column("Allowed addresses", _codes("allowed_addresses", "anywhere")),
    Column(
        "Last used",
        lambda visit, key: None if is_unreadable(key) else _time(visit, key["last_used_at"]),
        time=True,
    ),
    Column("Expires", _expires, time=True),
    Column("State", _state),
    Column("", _buttons),
)
