"""What was typed into a form, read field by field, and what a change came to, told before and after."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from bullion.console.page import FormErrors
from bullion.console.widgets.formatting import grouped, ungrouped
from bullion.metals.scaled import NotAnAmount, scaled
from bullion.refusals.refusal import RefusalError

NOTHING = "–"
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")


class Form:
    """Reads what was typed; what cannot be taken is collected, so that everything is told at once."""

    def __init__(self, typed: Mapping[str, str]) -> None:
        self._typed = typed
        self.troubles: dict[str, str] = {}

    def text(self, name: str) -> str:
        return self._typed.get(name, "").strip()

    def is_yes(self, name: str) -> bool:
        return self.text(name) == "yes"

    def code(self, name: str) -> str:
        """A name as symbols, groups and instruments have them."""
        text = self.text(name)
        if not _CODE.fullmatch(text):
            self.troubles[name] = (
                "Use up to 32 letters, digits, dots, dashes and underscores." if text else "This is needed."
            )
        return text

    def amount(self, name: str, places: int) -> str:
        """A plain decimal number; commas may group its digits."""
        found = self.amount_if_any(name, places)
        if found is None:
            self.troubles[name] = "This is needed: type a number."
        return found or "0"

    def amount_if_any(self, name: str, places: int) -> str | None:
        text = self.text(name)
        if not text:
            return None
        plain = ungrouped(text)
        try:
            scaled(plain, places)
        except NotAnAmount as error:
            self.troubles[name] = f"{str(error)[:1].upper()}{str(error)[1:]}."
            return "0"
        return plain

    def count(self, name: str, least: int, most: int) -> int:
        found = self.count_if_any(name, least, most)
        if found is None:
            self.troubles[name] = "This is needed: type a whole number."
        return least if found is None else found

    def count_if_any(self, name: str, least: int, most: int) -> int | None:
        text = self.text(name)
        if not text:
            return None
        plain = ungrouped(text)
        if not (plain.isascii() and plain.isdigit() and len(plain) < 12 and least <= int(plain) <= most):
            self.troubles[name] = f"{text[:20]!r} is not a whole number from {least} to {grouped(str(most))}."
            return least
        return int(plain)

    def check(self) -> None:
        if self.troubles:
            raise FormErrors(self.troubles)


@contextmanager
def beside_fields(names: Mapping[str, str]) -> Iterator[None]:
    """A refusal of the desk that is about a field of this form is told beside the field."""
    try:
        yield
    except FormErrors:
        raise
    except RefusalError as refused:
        told = {str(each.loc[-1]): each.msg for each in refused.errors}
        if told and told.keys() <= set(names):
            raise FormErrors(told) from None
        raise


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """What changed, each thing as it was and as it is; empty when nothing did."""
    names = [*before, *(name for name in after if name not in before)]
    return "; ".join(
        f"{name} {before.get(name, NOTHING)} → {after.get(name, NOTHING)}"
        for name in names
        if before.get(name, NOTHING) != after.get(name, NOTHING)
    )


def saved(subject: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The sentence that confirms a change."""
    changes = difference(before, after)
    return f"{subject}: {changes}." if changes else f"{subject} is as it was: nothing was changed."


def short(plain: str) -> str:
    """A decimal number as one would type it."""
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
