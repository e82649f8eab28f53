"""The keys of an account: what each may do, from where, when it was used, and whether it is valid."""

from collections.abc import Callable
from datetime import datetime, timedelta

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.shared_read import Reading
from bullion.console.watch import Listed
from bullion.console.widgets.components import (
    BAD,
    GOOD,
    OFF,
    WARN,
    Column,
    card,
    hint,
    not_read,
    small,
    state,
    table_card,
)
from bullion.console.widgets.times import age, moment
from bullion.desk.actions.account_summaries import SOON_S
from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable

from .key_actions import ISSUE, REVOKE, ROTATE

KEYS_SHOWN = 50
_SOON = timedelta(seconds=SOON_S)


def keys_card(visit: Visit, login_id: str, reading: Reading[Listed]) -> Html:
    issue = ISSUE.button(visit, {"login": login_id}, kind="primary")
    if reading.value is None:
        return card("Keys", not_read(reading), aside=issue, name="keys")
    found, total = reading.value

    def ended(key: View) -> bool:
        return key_state(key, visit.now)[0] in (OFF, BAD)

    return table_card(
        visit,
        "Keys",
        "keys",
        _COLUMNS,
        sorted(found, key=ended),
        key=lambda each: str(each["key_id"]),
        nothing=(
            "This account has no key.",
            "Its program needs one to call the API. Start with a key for the test environment.",
        ),
        css=lambda each: "gone" if ended(each) else None,
        aside=[None if total == len(found) else hint(f"the newest {len(found)} of {total}"), issue],
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
    return hint("never") if at is None else moment(at, visit.zone, visit.now)


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
    Column("May", _codes("scopes")),
    Column("From", _codes("allowed_addresses", "anywhere")),
    Column("Last used", lambda visit, key: None if is_unreadable(key) else _time(visit, key["last_used_at"])),
    Column("Expires", _expires),
    Column("State", _state),
    Column("", _buttons),
)
