"""What was typed about accounts and keys, and what is wrong with it, told beside its field."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from bullion.console.page import FormErrors
from bullion.console.widgets.formatting import ungrouped
from bullion.orders.instant import instant_text
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import FieldError, RefusalError

_SHAPES = {
    "login_id": "Use up to 64 letters, digits and . _ @ -, beginning with a letter or digit.",
    "firm_name": "Use up to 200 characters, none of them invisible.",
    "name": "Use up to 120 characters, and not only blanks.",
    "group": "Choose a group.",
    "scopes": "Choose at least one.",
    "allowed_addresses": "There may be up to 100 addresses.",
    "gold": "Type a weight in grams, such as 1500 or 0.5.",
    "silver": "Type a weight in kilograms, such as 40 or 0.25.",
}
"""What a field takes, for where the desk's own words would be those of a program."""
_END_OF_DAY = time(23, 59, 59)


@contextmanager
def beside_fields(*fields: str, conflict: str | None = None) -> Iterator[None]:
    """Refusals about one of these fields are told there; `conflict` names what must not be there twice."""
    try:
        yield
    except FormErrors:
        raise
    except RefusalError as refused:
        if refused.refusal is CONFLICT and conflict is not None:
            raise FormErrors({conflict: refused.message}) from refused
        # The allocation's fields are named by their metal alone in a form.
        told = {str(each.loc[-1 if "allocation" in each.loc else 1]): each for each in refused.errors}
        if told and told.keys() <= set(fields):
            raise FormErrors({field: _words(field, each) for field, each in told.items()}) from refused
        raise


def _words(field: str, error: FieldError) -> str:
    """What is wrong, and what the field takes where the desk's words say too little of that."""
    if field in ("gold", "silver"):
        return f"{error.msg} {_SHAPES[field]}"
    return error.msg if error.type == "invalid" else _SHAPES.get(field, error.msg)


def weights(form: Mapping[str, str]) -> dict[str, str]:
    """The allocation; commas may group its digits as people do, and stay elsewhere, to be refused."""
    typed = {metal: ungrouped(form.get(metal, "").strip()) for metal in ("gold", "silver")}
    missing = {metal: f"{_SHAPES[metal]} 0 is none." for metal, text in typed.items() if not text}
    if missing:
        raise FormErrors(missing)
    return typed


def addresses(form: Mapping[str, str]) -> list[str]:
    return re.split(r"[\s,;]+", text) if (text := form.get("allowed_addresses", "").strip()) else []


def last_day(form: Mapping[str, str], zone: ZoneInfo) -> str | None:
    """The end of the last day on which a key works; None: it works until it is revoked."""
    text = form.get("expires_at", "").strip()
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
        return instant_text(int(datetime.combine(day, _END_OF_DAY, zone).timestamp()) * 1_000_000)
    except (ValueError, OverflowError):
        raise FormErrors({"expires_at": "Choose a day, such as 2027-03-31, or leave it empty."}) from None


def day_of(instant: str | None, zone: ZoneInfo) -> str:
    """As the browser's field for a day has it."""
    return "" if instant is None else datetime.fromisoformat(instant).astimezone(zone).date().isoformat()
