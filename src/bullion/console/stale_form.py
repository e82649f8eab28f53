"""Guards against stale forms: a change that was made since a form was opened is not undone unseen."""

import hashlib
from collections.abc import Callable

import msgspec

from bullion.desk.desk import OnlyIf, View
from bullion.desk.unreadable import is_unreadable
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError

from .forms import FormErrors, Hidden
from .page import Visit

SEEN = Hidden("seen", "")
"""A digest of what a form showed when it was opened."""


def seen(shown: View | None) -> dict[str, str]:
    """The digest, as a value of the form."""
    digest = hashlib.sha256(msgspec.json.encode(shown, order="sorted")).hexdigest()[:24]
    return {SEEN.name: digest}


def only_new(field: str, message: str) -> OnlyIf:
    """The change creates something; where that exists already, the message stands beside the field.

    What cannot be read is replaced.
    """

    def check(before: View | None) -> None:
        if before is not None and not is_unreadable(before):
            raise FormErrors({field: message})

    return check


def unchanged(visit: Visit, subject: str, part: Callable[[View], View | None] = lambda view: view) -> OnlyIf:
    """Refuses a change of what is no longer as the form showed it; `part` is what the form is about."""

    def check(before: View | None) -> None:
        if visit.form.get(SEEN.name) != seen(None if before is None else part(before))[SEEN.name]:
            raise stale_form(subject)

    return check


def stale_form(subject: str) -> RefusalError:
    return RefusalError(
        CONFLICT,
        f"{subject} was changed since you opened this form, so nothing was saved. "
        "Cancel, check the current values, and try again.",
    )
