"""What the desk does to an account's keys: issues, rotates and revokes them. A secret is shown once."""

from typing import Any

from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.widgets.dialog import choice, dialog, field, hidden, lines, shown_once, tick
from bullion.console.widgets.times import moment
from bullion.desk.actions import accounts, keys
from bullion.desk.bodies import KeyBody, RotateBody
from bullion.desk.conversion import convert
from bullion.desk.desk import View
from bullion.environment import Environment
from bullion.keys.key import Scope
from bullion.records.token import Role
from bullion.refusals.desk import UNREADABLE
from bullion.refusals.refusal import RefusalError

from .forms import addresses, beside_fields, day_of, last_day

_SCOPES = {
    Scope.ACCOUNT_READ: "Read the account: prices, positions, allocation",
    Scope.ORDERS_READ: "Read its orders",
    Scope.ORDERS_WRITE: "Place orders",
}
_OVERLAPS = (
    ("0", "none: the old key stops at once"),
    ("3600", "one hour"),
    ("86400", "one day"),
    ("604800", "one week"),
    ("2592000", "30 days"),
)
_OVERLAP_WORDS = dict(_OVERLAPS)
_ADDRESSES_HINT = "One on each line, such as 203.0.113.7 or 203.0.113.0/24. Empty: from anywhere."


def _expiry(value: str = "") -> Html:
    return field(
        "Works through",
        "expires_at",
        kind="date",
        value=value,
        hint="Its last day; empty: until it is revoked.",
    )


def _from_where(value: str = "") -> Html:
    return lines("Allowed addresses", "allowed_addresses", value=value, rows=3, hint=_ADDRESSES_HINT)


# --- Issue ----------------------------------------------------------------------------------------------


async def _ask_issue(visit: Visit) -> Html:
    now = await accounts.get_account(visit.desk, visit.actor, visit.query.get("login", ""))
    explanation: list[Child] = [
        "The key is shown once, right after it is made. Have a safe way to hand it over ready."
    ]
    if not now["production_trading"]:
        explanation.append(
            el("span", "Production trading is off: a production key can read and not trade.", class_="hint")
        )
    return dialog(
        f"Issue a key for {now['login_id']}",
        explanation,
        confirm="Issue the key",
        fields=[
            el(
                "div",
                field("Name", "name", required=True, hint="What it is for, such as: pricing program."),
                choice(
                    "Environment",
                    "environment",
                    [(Environment.TEST, "test"), (Environment.PRODUCTION, "production: real orders")],
                    value=Environment.TEST,
                ),
                class_="pair",
            ),
            _scope_ticks(),
            el("div", _expiry(), _from_where(), class_="pair"),
        ],
    )


def _scope_ticks() -> Html:
    ticks = [tick([words, el("code", scope)], f"scope {scope}", on=True) for scope, words in _SCOPES.items()]
    # The field's name, for what is wrong with all of them.
    return el("fieldset", el("legend", "It may"), hidden("scopes", ""), ticks)


async def _issue(visit: Visit) -> Result:
    form, login_id = visit.form, visit.query.get("login", "")
    with beside_fields("name", "scopes", "expires_at", "allowed_addresses"):
        body = {
            "environment": form.get("environment", ""),
            "name": form.get("name", "").strip(),
            "scopes": [scope for scope in Scope if form.get(f"scope {scope}") == "yes"],
            "expires_at": last_day(form, visit.zone),
            "allowed_addresses": addresses(form),
        }
        made = await keys.issue_key(visit.desk, visit.actor, login_id, convert(body, KeyBody))
    return Result(f"The key {made['name']} is issued.", reveal=_revealed(made, "Issued: ", ()))


def _revealed(made: View, done: str, more: tuple[Child, ...]) -> Html:
    return shown_once(
        f"{done}{made['name']}, for {made['login_id']} in {made['environment']}",
        [
            el("b", "It is shown only now. Copy it: nobody can see it again, neither here nor in the store."),
            "Hand it over in a way that nobody else can read. Who lost it needs another.",
            *more,
        ],
        made["key"],
        label="the key",
    )


# --- Rotate ---------------------------------------------------------------------------------------------


async def _key(visit: Visit) -> View:
    return await keys.get_key(visit.desk, visit.actor, visit.query.get("key", ""))


async def _ask_rotate(visit: Visit) -> Html:
    now = await _key(visit)
    day = day_of(now["expires_at"], visit.zone)
    return dialog(
        f"Rotate {now['name']} of {now['login_id']}",
        [
            f"A new {now['environment']} key of the same name and scopes is made, and shown once.",
            "Until the overlap ends both work, for the client to change over; then the old one is refused.",
        ],
        confirm="Rotate the key",
        fields=[
            choice("Overlap", "overlap_s", _OVERLAPS, value="86400"),
            el("div", _expiry(day), _from_where("\n".join(now["allowed_addresses"])), class_="pair"),
            hidden("day_before", day),
        ],
    )


async def _rotate(visit: Visit) -> Result:
    form = visit.form
    with beside_fields("overlap_s", "expires_at", "allowed_addresses"):
        overlap = form.get("overlap_s", "")
        body: dict[str, Any] = {
            "overlap_s": int(overlap) if overlap in _OVERLAP_WORDS else overlap,
            "allowed_addresses": addresses(form),
        }
        # The very second of its end stays what it was unless somebody chose another day.
        if form.get("expires_at", "") != form.get("day_before", ""):
            body["expires_at"] = last_day(form, visit.zone)
        made = await keys.rotate_key(
            visit.desk,
            visit.actor,
            visit.query.get("key", ""),
            convert(body, RotateBody),
        )
    told = f"The old key: overlap {_OVERLAP_WORDS.get(overlap, overlap)}."
    return Result(f"The key {made['name']} is rotated.", reveal=_revealed(made, "Rotated: ", (told,)))


# --- Revoke ---------------------------------------------------------------------------------------------


async def _ask_revoke(visit: Visit) -> Html:
    try:
        now = await _key(visit)
    except RefusalError as refused:
        if refused.refusal is not UNREADABLE:
            raise
        words = [refused.message, "It cannot be undone."]
        return dialog("Revoke this key?", words, confirm="Revoke the key", danger=True)
    used = "It was never used."
    if now["last_used_at"]:
        used = el("span", "It was last used at ", moment(now["last_used_at"], visit.zone, visit.now), ".")
    return dialog(
        f"Revoke {now['name']} of {now['login_id']}?",
        [
            f"Within a second every call with this {now['environment']} key is refused: credential_revoked.",
            used,
            "It cannot be undone. For a change without interruption, rotate it instead.",
        ],
        confirm="Revoke the key",
        danger=True,
    )


async def _revoke(visit: Visit) -> Result:
    now = await keys.revoke_key(visit.desk, visit.actor, visit.query.get("key", ""))
    return Result(f"The key {now['name']} of {now['login_id']} is revoked.")


ISSUE = Action("issue-key", Role.ADMIN, _ask_issue, _issue)
ROTATE = Action("rotate-key", Role.ADMIN, _ask_rotate, _rotate)
REVOKE = Action("revoke-key", Role.ADMIN, _ask_revoke, _revoke)
ACTIONS = (ISSUE, ROTATE, REVOKE)
