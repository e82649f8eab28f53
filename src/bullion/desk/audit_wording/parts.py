"""What a sentence of the audit trail is made of: references, and values in words."""

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, NamedTuple

from bullion.metals.grouping import grouped

State = Mapping[str, Any]

NOTHING = "none"


class Ref(NamedTuple):
    """A part of a sentence that names a thing."""

    kind: str
    """One of `KINDS`."""
    id: str
    text: str


KINDS = ("account", "group", "symbol", "rate", "duty", "order", "key", "user", "switches", "venue", "entry")

Sentence = list[str | Ref]


class Units(NamedTuple):
    """Of a symbol, as it is now: an entry about a group does not contain them."""

    price: str
    """The weight that prices are for, such as `10 g`."""
    weight: str
    """The unit of weights, such as `g`."""


class Told(NamedTuple):
    """An entry, as the functions below get it."""

    subject: str
    before: State
    """Empty if there was nothing."""
    after: State
    units: Mapping[str, Units]
    """By symbol."""


Tell = Callable[[Told], Iterator[Sentence]]
"""Puts an entry into words."""


def write_number(plain: Any) -> str:
    """Grouped, without trailing zeros: 150480.500000 is 1,50,480.5."""
    text = str(plain)
    return grouped(text.rstrip("0").rstrip(".") if "." in text else text)


def write_rupees(plain: Any) -> str:
    """₹150, −₹1,20,000.50"""
    text = str(plain)
    text = text.removesuffix(".00")
    number = grouped(text.removeprefix("-"))
    return f"\N{MINUS SIGN}₹{number}" if text.startswith("-") else f"₹{number}"


def write_percent(plain: Any) -> str:
    return f"{write_number(plain)} %"


def write_seconds(value: Any) -> str:
    return f"{value} s"


def write_plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or NOTHING
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


Write = Callable[[Any], str]


def write_weight(unit: str) -> Write:
    return lambda value: f"{write_number(value)} {unit}".strip()


def change_text(label: str, was: Any, now: Any, write: Write, end: str = "") -> str:
    """`label old → new`; of something new or removed, one of the two."""
    if was is None:
        return f"{label} {write(now)}{end}"
    if now is None:
        return f"{label} {write(was)}{end} → {NOTHING}"
    return f"{label} {write(was)} → {write(now)}{end}"


def changed_fields(
    told: Told, begin: Sentence, written: Mapping[str, tuple[str, Write]]
) -> Iterator[Sentence]:
    """One sentence for each of these fields that differs. An empty text is no value."""
    for name, (label, write) in written.items():
        was, now = (
            None if at == "" else at for at in (value_at(told.before, name), value_at(told.after, name))
        )
        if was != now:
            yield [*begin, change_text(label, was, now, write)]


def other_changes(told: Told, begin: Sentence, known: Container[str]) -> Iterator[Sentence]:
    """One sentence for each further field that differs, under its own name."""
    others = [name for name in {**told.before, **told.after} if name not in known]
    yield from changed_fields(told, begin, {name: (name.replace("_", " "), write_plain) for name in others})


def changed_flags(told: Told, begin: Sentence, words: Mapping[str, tuple[str, str]]) -> Iterator[Sentence]:
    """One sentence for each switch that differs: the first words for on, the others for off."""
    for name, (on, off) in words.items():
        was, now = told.before.get(name), told.after.get(name)
        if now is not None and was != now:
            yield [*begin, on if now else off]


def value_at(state: State, path: str) -> Any:
    value: Any = state
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
