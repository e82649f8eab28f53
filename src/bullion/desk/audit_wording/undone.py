"""Entries about changes that were taken back."""

from collections.abc import Callable, Iterator

from . import people, prices
from .parts import Ref, Sentence, Told


def tell_undone(told: Told) -> Iterator[Sentence]:
    """The states are those of the thing that was taken back, which its fields tell."""
    number = told.subject.rpartition(" ")[2]
    for field, (name, describe) in _UNDONE.items():
        if field in told.after:
            subject = str(told.after.get(name, ""))
            for each in describe(told._replace(subject=subject)):
                yield ["taken back ", Ref("entry", number, f"(entry {number})"), ": ", *each]
            return


_UNDONE: dict[str, tuple[str, Callable[[Told], Iterator[Sentence]]]] = {
    "terms": ("code", prices.tell_group),
    "pricing": ("code", prices.tell_symbol),
    "bid": ("instrument", prices.tell_rate),
    "duties": ("name", prices.tell_duty),
    "halted": ("", prices.tell_switches),
    "allocation": ("login_id", people.tell_account),
}
