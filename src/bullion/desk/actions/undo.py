"""Taking back a change of prices, for a minute after it was made."""

from dataclasses import replace

import msgspec

from bullion.desk.audit_wording.undone import tell_undone
from bullion.desk.desk import CONFIRMED, UNDO_US, ChangeResult, Desk, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import Action, action, all_actions
from bullion.orders.instant import instant_text
from bullion.records.audit import AuditFilter, Entry
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT, NOT_FOUND, ROLE_TOO_LOW
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

_LISTED = 20
_LATER_MAX = 1_000
"""So many later entries are looked at."""
_AFTER_ALL = 2**62
_DIGITS_MAX = 18


@action(
    "POST /audit/{number}/undo",
    Role.DEALER,
    audit_text="took back a price change",
    tell=tell_undone,
    command="undo",
    moves_prices=True,
)
async def undo_change(desk: Desk, actor: Actor, number: str) -> View:
    """Take back the price change that entry NUMBER of the audit trail records, within a minute.

    The one who made it may do so, and every admin, as long as nothing has changed it since. It asks only if
    earlier prices would be crossed or losing now. The change itself prints the number.
    """
    if not (number.isascii() and number.isdigit() and len(number) <= _DIGITS_MAX):
        raise invalid_field(("number",), "must be a whole number", "not_an_integer", within="path")

    async def work(records: Records) -> ChangeResult:
        entry = await _find(records, actor.broker, int(number))
        if why_not := _why_not(entry, await records.now_us()):
            raise RefusalError(CONFLICT, why_not)
        declared = all_actions()[entry.action]
        _require_allowed(actor, entry, declared)
        assert declared.undo is not None  # noqa: S101 - checked by `_why_not`
        done = await declared.undo(records, actor.broker, entry.subject, _state(entry.before))
        same = _comparable(done.before) == _comparable(_state(entry.after))
        if not same or await _changed_since(records, entry):
            raise RefusalError(
                CONFLICT, f"{entry.subject} was changed again since then. Nothing was taken back."
            )
        return done

    return await desk.change(actor, f"entry {number}", work, undoes=True)


async def list_undoable(desk: Desk, actor: Actor) -> list[View]:
    """The latest price change of each thing, of the last minute, if it can be taken back; newest first."""

    async def work(records: Records) -> list[View]:
        now_us = await records.now_us()
        newest = await records.audit_matching(actor.broker, AuditFilter(_AFTER_ALL, 1), _LISTED)
        undone = {entry.subject for entry in newest if entry.action == undo_change.__name__}
        latest: dict[object, Entry] = {}
        for entry in newest:
            latest.setdefault(_changed_thing(entry), entry)
        return [
            {
                "number": entry.ordinal,
                "actor": entry.actor,
                "action": entry.action,
                "subject": entry.subject,
                "until": instant_text(entry.at_us + UNDO_US),
                "before": _state(entry.before),
                "after": _state(entry.after),
            }
            for entry in latest.values()
            if _undone_subject(entry) not in undone and _why_not(entry, now_us) is None
        ]

    return await desk.read(actor, "undoable", work)


def _changed_thing(entry: Entry) -> object:
    """The same for all entries about one thing. The switches are one."""
    declared = all_actions().get(entry.action)
    if declared is None or declared.undo is None:
        return entry.ordinal
    return declared.undo, entry.subject if declared.path_names else ""


async def _changed_since(records: Records, entry: Entry) -> bool:
    """Whether it was taken back, or a later change was not: two states may look alike."""
    later = AuditFilter(_AFTER_ALL, entry.ordinal + 1)
    takes_back = replace(later, action=undo_change.__name__)
    undone = {each.subject for each in await records.audit_matching(entry.broker, takes_back, _LATER_MAX)}
    named = bool(all_actions()[entry.action].path_names)
    alike = replace(later, subject=entry.subject) if named else replace(later, action=entry.action)
    changes = [
        each
        for each in await records.audit_matching(entry.broker, alike, _LATER_MAX)
        if _changed_thing(each) == _changed_thing(entry)
    ]
    return _undone_subject(entry) in undone or any(_undone_subject(each) not in undone for each in changes)


def _undone_subject(entry: Entry) -> str:
    """The subject of the entry that takes this one back."""
    return f"entry {entry.ordinal}"


async def _find(records: Records, broker: str, number: int) -> Entry:
    found = await records.audit_matching(broker, AuditFilter(number, number), 1)
    if not found:
        raise RefusalError(NOT_FOUND, f"The audit trail has no entry {number}.")
    return found[0]


def _why_not(entry: Entry, now_us: int) -> str | None:
    """Why a change cannot be taken back, and what to do instead; None if it can."""
    declared, before, after = all_actions().get(entry.action), _state(entry.before), _state(entry.after)
    subject = entry.subject
    if declared is None or declared.undo is None:
        return f"Entry {entry.ordinal} is not a change of prices that can be taken back."
    if now_us - entry.at_us > UNDO_US:
        return f"Entry {entry.ordinal} is more than a minute old. Change {subject} again instead."
    if not before:
        return f"{subject} was created by this change. Change it instead, or switch its trading off."
    if "unreadable" in before:
        return f"{subject} could not be read before this change. Change it again instead."
    if not declared.may_have_moved_prices(before, _comparable(after)):
        return f"Entry {entry.ordinal} moved no prices. Change {subject} again instead."
    return None


def _require_allowed(actor: Actor, entry: Entry, declared: Action) -> None:
    own = entry.actor == actor.name and actor.role.includes(declared.least_role)
    if not own and not actor.role.includes(Role.ADMIN):
        raise RefusalError(
            ROLE_TOO_LOW, f"{entry.actor} made this change: they or an admin can take it back."
        )


def _state(text: str | None) -> View:
    """Empty if there was nothing."""
    state: View = {} if text is None else msgspec.json.decode(text)
    return state


def _comparable(state: View | None) -> View:
    """Without the stock, which bookings move, and without what was confirmed."""
    return {name: value for name, value in (state or {}).items() if name not in (CONFIRMED, "stock")}
