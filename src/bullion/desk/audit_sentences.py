"""The entries of the audit trail as sentences, such as "retail: buy premium of SILVER ₹150 → ₹120 per 1 kg".

One place for the console, the command line and the HTTP interface. The parts of a sentence that name a thing
are references, which the console shows as links. What an old or a newer version wrote may lack fields or have
others: what cannot be put into words is told by the action's own text.
"""

from collections.abc import Iterable, Mapping

from .audit_wording import orders, people
from .audit_wording.parts import NOTHING, Ref, Sentence, State, Tell, Told, Units, write_rupees
from .desk import CONFIRMED, View
from .registry import all_actions

_CONFIRMED_SHOWN = 3


def sentences(entry: View, units: Mapping[str, Units]) -> list[Sentence]:
    """What an entry of the trail says. `entry` is as the desk's list of the trail shows it."""
    before, after = entry["before"] or {}, dict(entry["after"] or {})
    confirmed = after.pop(CONFIRMED, None)
    told = Told(entry["subject"], before, after, units)
    try:
        tell = _wording(entry["action"])[1]
        found = list(tell(told)) if tell else []
    except (KeyError, TypeError, AttributeError, ValueError):
        found = []  # Another version wrote it with other fields.
    if not found:
        nothing = ", nothing changed" if before == after else ""
        found = [[f"{audit_text_of(entry['action'])}: {entry['subject']}{nothing}"]]
    if "unreadable" in before:
        found.append(["it could not be read before"])
    return found if confirmed is None else [*found, [_confirmed(confirmed)]]


def text_of(found: Iterable[Sentence]) -> str:
    """As plain text."""
    return "; ".join("".join(part.text if isinstance(part, Ref) else part for part in each) for each in found)


def _confirmed(confirmed: State) -> str:
    """What somebody saw and confirmed before the change was made."""
    rows = confirmed.get("prices") or []
    told = [_problem(row) for row in rows[:_CONFIRMED_SHOWN]]
    more = len(rows) - len(told) + int(confirmed.get("prices_left_out") or 0)
    return "after confirming: " + ", ".join([*told, *([f"and {more} more"] if more else [])])


def _problem(row: State) -> str:
    problems, per = row["problems"], f" per {row['unit']}" if row["unit"] else ""
    where = f"{row['symbol']} in {row['group']}" if row["group"] else str(row["symbol"])
    if "crossed" in problems:
        return f"{where} crossed by {write_rupees(row['loss'])}{per}"
    if "losing" in problems:
        return f"{where} loses {write_rupees(row['loss'])}{per}"
    if "tolerance" in problems:
        return "a tolerance above the limit of price moves"
    if "limit" in problems:
        largest = f": {where} by up to {write_rupees(row['new'])}{per}" if row["symbol"] else ""
        return f"larger price moves without asking{largest}"
    if "unprotected" in problems:
        crossed = f": {where} is crossed by {write_rupees(row['loss'])}{per}" if row["symbol"] else ""
        return f"orders at crossed prices are accepted{crossed}"
    if "wide" in problems:
        return f"ask of {where} far above its bid"
    side = f" {row['side']}" if row["side"] else ""
    old, new = (NOTHING if row[name] is None else write_rupees(row[name]) for name in ("old", "new"))
    return f"{where}{side} {old} → {new}{per}"


_OTHER_ENTRIES: dict[str, tuple[str, Tell]] = {
    "archive_orders": ("archived orders", orders.tell_archive("archiving of test orders started")),
    "archive_traces": ("archived decisions", orders.tell_archive("decisions moved into a file")),
    "archived_orders": ("finished archiving orders", orders.tell_archive("{number} test orders archived")),
    "enrol_second_factor": ("set up a second factor", people.tell_about_user("second factor set up")),
    "exchange_secret": ("exchanged the deployment's secret", orders.tell_secret),
    "move_broker": (
        "moved the broker to another store",
        people.tell_move("closed here, and moved to the store at"),
    ),
    "cancel_move": (
        "took back the move of the broker to another store",
        people.tell_move("open here again: it was not moved to the store at"),
    ),
    "remove_second_factor": (
        "turned off a second factor",
        people.tell_about_user("second factor turned off"),
    ),
    "use_recovery_code": (
        "logged in with a recovery code",
        people.tell_about_user("logged in with a recovery code"),
    ),
}
"""Entries that are not named after an action: the text after the actor's name, and how they are told."""


def audit_text_of(name: str) -> str:
    """The text of an audit entry, which follows the actor's name."""
    return _wording(name)[0] or name.replace("_", " ")


def _wording(name: str) -> tuple[str | None, Tell | None]:
    declared = all_actions().get(name)
    if declared is not None:
        return declared.audit_text, declared.tell
    return _OTHER_ENTRIES.get(name, (None, None))


def entry_names() -> list[str]:
    """The names of all kinds of entries in the audit trail."""
    return [*(each.name for each in all_actions().values() if each.audit_text), *_OTHER_ENTRIES]
