"""The keys of an account: what each may do, from where, when it was used, and whether it still works."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.shared_read import Reading
from bullion.console.widgets.components import BAD, GOOD, OFF, WARN, Column, Line, card, empty, state, table
from bullion.console.widgets.dialog import action_button
from bullion.console.widgets.times import age, moment
from bullion.desk.actions.account_summaries import SOON_S
from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable

from .addresses import PAGE_NAME
from .key_actions import ISSUE, REVOKE, ROTATE

KEYS_SHOWN = 50
_SOON = timedelta(seconds=SOON_S)
_COLUMNS = (
    Column("Key"),
    Column("Environment"),
    Column("May"),
    Column("From"),
    Column("Last used"),
    Column("Expires"),
    Column("State"),
    Column(""),
)


def keys_card(visit: Visit, login_id: str, reading: Reading[tuple[list[View], int]]) -> Html:
    issue = action_button(visit, PAGE_NAME, ISSUE, "Issue a key", about={"login": login_id}, kind="primary")
    if reading.value is None:
        shown = empty(reading.trouble or "Not read yet.", "It is tried again by itself.")
        return card("Keys", shown, aside=issue, name="keys")
    found, total = reading.value
    if not found:
        shown = empty(
            "This account has no key.",
            "Its program needs one to call the API: begin with a key for the test environment.",
        )
        return card("Keys", shown, aside=issue, name="keys")
    more = None if total == len(found) else el("span", f"the newest {len(found)} of {total}", class_="hint")
    # Those that work stand above those that are history.
    found = sorted(found, key=lambda each: _ended(visit, each))
    lines = [
        Line(each["key_id"], _cells(visit, each), "gone" if _ended(visit, each) else None) for each in found
    ]
    return card("Keys", table(_COLUMNS, lines, name="keys-table"), aside=[more, issue], name="keys")


def key_state(key: View, now: datetime) -> tuple[str, str, str | None]:
    """Its kind, a word for it, and what to know about it."""
    if is_unreadable(key):
        return WARN, "cannot be read", key["remedy"]
    if key["revoked_at"]:
        return OFF, "revoked", None
    if key["overlap_ends_at"]:
        ends = datetime.fromisoformat(key["overlap_ends_at"])
        if ends <= now:
            return OFF, "rotated", f"its successor is {key['replaced_by']}"
        left = age(int((ends - now).total_seconds()))
        return WARN, f"rotated, {left} left", f"its successor is {key['replaced_by']}"
    if key["expires_at"]:
        ends = datetime.fromisoformat(key["expires_at"])
        if ends <= now:
            return BAD, "expired", "rotate it for a new one"
        if ends - now <= _SOON:
            return WARN, f"expires in {age(int((ends - now).total_seconds()))}", "rotate it before then"
    return GOOD, "works", None


def _ended(visit: Visit, key: View) -> bool:
    return key_state(key, visit.now)[0] in (OFF, BAD)


def _cells(visit: Visit, key: View) -> Sequence[Child]:
    about = {"key": key["key_id"]}
    if is_unreadable(key):
        label = f"Revoke {key['key_id']}"
        revoke = action_button(
            visit, PAGE_NAME, REVOKE, "Revoke", about=about, kind="small risky", label=label
        )
        why = [key["unreadable"], el("small", f"{key['effect']} {key['remedy']}")]
        return el("code", key["key_id"]), *([None] * 4), why, state(BAD, "cannot be read"), revoke
    rotates = not key["revoked_at"] and not key["replaced_by"]
    buttons = [
        action_button(
            visit, PAGE_NAME, ROTATE, "Rotate", about=about, kind="small", label=f"Rotate {key['name']}"
        )
        if rotates
        else None,
        action_button(
            visit, PAGE_NAME, REVOKE, "Revoke", about=about, kind="small risky", label=f"Revoke {key['name']}"
        )
        if not key["revoked_at"]
        else None,
    ]
    return (
        [el("b", key["name"]), el("small", el("code", key["key_id"]))],
        key["environment"],
        [el("code", scope, class_="scope") for scope in key["scopes"]],
        [el("code", each, class_="scope") for each in key["allowed_addresses"]] or "anywhere",
        _when(visit, key["last_used_at"], "never"),
        _when(visit, key["expires_at"], "never"),
        state(*key_state(key, visit.now)),
        el("span", buttons, class_="acts"),
    )


def _when(visit: Visit, at: str | None, otherwise: str) -> Child:
    return el("span", otherwise, class_="hint") if at is None else moment(at, visit.zone, visit.now)
