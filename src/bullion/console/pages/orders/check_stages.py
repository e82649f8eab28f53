"""The checks of an order in the order in which they are made, grouped into stages for people."""

from collections.abc import Sequence
from dataclasses import dataclass

from bullion.console.html import Html, el
from bullion.desk.desk import View
from bullion.environment import Environment
from bullion.refusals import catalogue as codes
from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import RefusalCode


@dataclass(frozen=True, slots=True)
class Stage:
    text: str
    last: RefusalCode
    """The catalogue is in the order of the checks: a stage ends with this code."""
    production: bool = False
    """Whether it is checked in production only."""


STAGES = (
    Stage("The key and the account are valid, and within their rate limits", codes.UNSUPPORTED_ENCODING),
    Stage("Production is open to the account", codes.PRODUCTION_PREREQUISITES_UNMET, production=True),
    Stage("The request is valid, and its Idempotency-Key was not used before", codes.ORDER_NOT_FOUND),
    Stage("The symbol is traded on this side", codes.SIDE_NOT_OFFERED),
    Stage("There is a fresh rate, and trading is open", codes.SYMBOL_FROZEN),
    Stage("The quantity fits the symbol", codes.QUANTITY_RULE),
    Stage("The venue trades the instrument", codes.SYMBOL_UNAVAILABLE, production=True),
    Stage("The group's terms allow it and give a price", codes.PRICING_UNAVAILABLE),
    Stage("It fits the client's allocation and the stock", codes.OUT_OF_STOCK),
    Stage("The price is within tolerance of what the client expected", codes.PRICE_MOVED),
    Stage("It is recorded, and in production sent to the hedge", codes.BOOKING_OUTCOME_UNKNOWN),
)
_PLACES = {refusal.code: place for place, refusal in enumerate(CATALOGUE)}
_PASSED, _FAILED, _NOT_REACHED = ("passed", "✓"), ("failed", "✗"), ("unreached", "·")


def stages(trace: View) -> Html | None:
    """Each stage with its mark. None for errors of the service, which can happen at any stage."""
    place = _PLACES.get(trace["outcome"])
    if place is not None and place > _PLACES[STAGES[-1].last.code]:
        return None
    items = [
        el(
            "li",
            el("i", mark, aria_hidden="true"),
            text,
            el("span", f": {kind}", class_="unseen"),
            class_=kind,
        )
        for text, (kind, mark) in _marked(trace, place)
    ]
    return el("ol", items, class_="stages")


def _unseen(text: str) -> Html:
    return el("span", text, class_="unseen")


def _marked(trace: View, place: int | None) -> Sequence[tuple[str, tuple[str, str]]]:
    real = trace["environment"] == Environment.PRODUCTION
    marked, begin = [], 0
    for stage in STAGES:
        end = _PLACES[stage.last.code] + 1
        mark = _PASSED if place is None or place >= end else _FAILED if place >= begin else _NOT_REACHED
        begin = end
        if real or not stage.production:
            marked.append((stage.text, mark))
    return marked
