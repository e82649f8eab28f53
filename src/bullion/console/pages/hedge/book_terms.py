"""The terms of a metal's hedge book: who confirms orders, and how far the book may go."""

from dataclasses import dataclass, replace
from typing import Any

from bullion.console.forms import Amount, Choice, Dialog, field_of, saved
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.stale_form import SEEN, seen, unchanged
from bullion.console.widgets.fine_weight import fine
from bullion.console.widgets.formatting import trim_zeros
from bullion.desk.actions.hedge_book import get_book, patch_book
from bullion.desk.bodies import HedgeBookBody
from bullion.desk.body_fields import body_fields
from bullion.desk.conversion import Changes
from bullion.desk.desk import View
from bullion.metals.metal import Metal
from bullion.metals.scaled import plain, scaled
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .hedge_data import by_metal

_TERMS = ("policy", "limit", "volatility_percent")
POLICIES = {
    "each": "the venue confirms each order",
    "book": "the house's book confirms orders within the limit",
}


@dataclass(frozen=True, slots=True)
class FineWeight(Amount):
    """A fine weight, typed in the unit of the metal; the desk wants grams."""

    unit: str = "g"

    def text(self, value: Any) -> str:
        return Amount.text(self, value if value is None or self.unit == "g" else plain(scaled(value, 3), 6))

    def parse(self, typed: str) -> str:
        number = Amount.parse(self, typed)
        return number if self.unit == "g" else plain(scaled(number, 6), 3)


_LIMIT = FineWeight(
    "limit",
    "Limit",
    "to both sides; with the policy book, orders beyond it wait",
    required=True,
    of=body_fields(HedgeBookBody)["limit"].shape,
)
_VOLATILITY = field_of(
    HedgeBookBody, "volatility_percent", "Volatility of a day, %", "for the value at risk; 0: none is shown"
)
_POLICY = Choice("policy", "Policy", options=[(name, f"{name}: {text}") for name, text in POLICIES.items()])


def _fields(metal: str) -> tuple[Any, ...]:
    unit = Metal(metal).unit
    return SEEN, _POLICY, replace(_LIMIT, label=f"Limit, {unit} of fine {metal}", unit=unit), _VOLATILITY


async def _find(visit: Visit) -> View:
    found = by_metal(await get_book(visit.desk, visit.actor)).get(visit.param("metal"))
    if found is None:
        raise RefusalError(NOT_FOUND, "There is no such metal: it is gold or silver.")
    return found


def _terms(book: View) -> View:
    return {name: book[name] for name in _TERMS}


async def _ask(visit: Visit) -> Dialog:
    book = await _find(visit)
    metal = book["metal"]
    text = ["It applies to new orders within a second. Orders that wait are judged again."]
    if not book["open"]:
        text.append("This opens the book. The deals that there are count as covered.")
    return Dialog(
        title=f"Book of {metal}",
        text=text,
        fields=_fields(metal),
        values={**_terms(book), **seen(_terms(book) if book["open"] else None)},
    )


def _change(metal: str) -> Action:
    async def do(visit: Visit) -> Result:
        before = await _find(visit)
        wanted = {name: visit.values[name] for name in _TERMS}
        only_if = unchanged(visit, f"The book of {metal}")
        after = await patch_book(
            visit.desk, visit.actor, metal, Changes(HedgeBookBody, wanted), only_if=only_if
        )
        return Result(saved(f"Book of {metal}", _text(before), _text({**before, **after})))

    return Action(MARKET, f"book-{metal}", "Change", patch_book, _ask, do, _fields(metal))


def _text(book: View) -> dict[str, str]:
    return {
        "policy": book["policy"],
        "limit": fine(book["limit"], book["metal"]),
        "volatility": f"{trim_zeros(book['volatility_percent'])} %",
    }


CHANGE = {metal.value: _change(metal.value) for metal in Metal}
ACTIONS = tuple(CHANGE.values())
