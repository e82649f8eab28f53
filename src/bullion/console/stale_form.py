"""Forms that somebody else was quicker with: nothing of what others did meanwhile is undone unseen."""

import hashlib
from collections.abc import Callable, Mapping

import msgspec

from bullion.desk.desk import OnlyIf, View
from bullion.desk.unreadable import is_unreadable
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError

from .page import FormErrors, Visit


def _all(view: View) -> View:
    return view


def seen(view: View | None) -> str:
    """A mark of what somebody saw when they opened a form."""
    return hashlib.sha256(msgspec.json.encode(view, order="sorted")).hexdigest()[:24]


def new(field: str, words: str) -> OnlyIf:
    """For making what is not there yet; else `words` are told beside the field that names it.

    What cannot be read is replaced.

    Looked at with the change in hand: somebody else may make one of the same name in the same moment.
    """

    def judge(before: View | None) -> None:
        if before is not None and not is_unreadable(before):
            raise FormErrors({field: words})

    return judge


def still(
    visit: Visit, subject: str, found: View | None, part: Callable[[View], View | None] = _all
) -> OnlyIf:
    """As `if_still`, and `found` is looked at now already, before anything is made of it."""
    require_seen(visit.form, None if found is None else part(found), subject)
    return if_still(visit, subject, part)


def if_still(visit: Visit, subject: str, part: Callable[[View], View | None] = _all) -> OnlyIf:
    """For a change of what somebody saw when they opened the form, and of nothing newer.

    Who saved what they saw an hour ago would undo what somebody else did meanwhile. What is there by then
    is looked at with the change in hand; `part` is what of it the form is about.
    """

    def judge(before: View | None) -> None:
        require_seen(visit.form, None if before is None else part(before), subject)

    return judge


def require_seen(typed: Mapping[str, str], view: View | None, subject: str) -> None:
    if typed.get("seen") != seen(view):
        raise overtaken(subject)


def overtaken(subject: str) -> RefusalError:
    return RefusalError(
        CONFLICT,
        f"{subject} was changed since you opened this, so nothing was saved. "
        "Cancel, look at what it is now, and change it again.",
    )
