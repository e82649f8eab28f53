"""The checks of an order in the order in which they are made, gathered into stages that people can follow."""

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
    words: str
    last: RefusalCode
    """The catalogue is in the order of the checks: a stage ends with this one."""
    production: bool = False
    """Whether there is such a check in production alone."""


STAGES = (
    Stage("The key, the account and the budget are in order", codes.UNSUPPORTED_ENCODING),
    Stage("Production is open to the account", codes.PRODUCTION_PREREQUISITES_UNMET, production=True),
    Stage("The request is whole, and its Idempotency-Key is not spent", codes.ORDER_NOT_FOUND),
    Stage("The symbol is traded, and on this side", codes.SIDE_NOT_OFFERED),
    Stage("There is a fresh rate, and trading is open", codes.SYMBOL_FROZEN),
    Stage("The quantity fits the symbol", codes.QUANTITY_RULE),
    Stage("The venue trades the instrument", codes.SYMBOL_UNAVAILABLE, production=True),
    Stage("The terms of the group allow it and give a price", codes.PRICING_UNAVAILABLE),
    Stage("It fits the client's allocation, and the stock", codes.OUT_OF_STOCK),
    Stage("The price is near enough to what the client expected", codes.PRICE_MOVED),
    Stage("It is recorded, and in production handed to the hedge", codes.BOOKING_OUTCOME_UNKNOWN),
)
_PLACES = {refusal.code: place for place, refusal in enumerate(CATALOGUE)}
_PASSED, _FAILED, _NOT_REACHED = ("passed", "✓"), ("failed", "✗"), ("unreached", "·")


def stages(trace: View) -> Html | None:
    """Each stage with its mark. A fault of the service can come at any point: then nothing is claimed."""
    place = _PLACES.get(trace["outcome"])
    if place is not None and place > _PLACES[STAGES[-1].last.code]:
        return None
    return el(
        "ol",
        [
            el(
                "li",
                el("i", mark, aria_hidden="true"),
                words,
                el("span", f": {kind}", class_="unseen"),
                class_=kind,
            )
            for words, (kind, mark) in _marked(trace, place)
        ],
        class_="stages",
    )


def _marked(trace: View, place: int | None) -> Sequence[tuple[str, tuple[str, str]]]:
    real = trace["environment"] == Environment.PRODUCTION
    marked, begin = [], 0
    for stage in STAGES:
        end = _PLACES[stage.last.code] + 1
        mark = _PASSED if place is None or place >= end else _FAILED if place >= begin else _NOT_REACHED
        begin = end
        if real or not stage.production:
            marked.append((stage.words, mark))
    return marked
