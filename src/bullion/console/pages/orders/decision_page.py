"""Why an order was accepted or refused: how far it came, and which numbers were compared."""

from collections.abc import Sequence
from dataclasses import dataclass

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.paths import (
    DECISION,
    ORDERS,
    REFUSALS,
    account_path,
    decision_path,
    order_path,
    page_path,
)
from bullion.console.widgets.components import BAD, GOOD, WARN, card, empty, facts, state
from bullion.console.widgets.formatting import moment
from bullion.desk.actions import orders, traces
from bullion.desk.desk import Desk, View
from bullion.environment import Environment
from bullion.orders.status import Status
from bullion.records.token import Actor
from bullion.refusals import catalogue as codes
from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.desk import LOCK_EXPIRED
from bullion.refusals.refusal import RefusalCode, RefusalError, Retry

from .comparison import comparison_facts, comparison_sentences, request_text
from .order_format import account_link, environment

_REPLAYED, _SCENARIO = "replayed", "scenario"
_NAMES: dict[str, str] = {
    _REPLAYED: "replayed",
    _SCENARIO: "scenario",
    **dict.fromkeys(tuple(Status), "accepted"),
}
"""Of outcomes that are not refusals."""
_REFUSALS = {refusal.code: refusal for refusal in (*CATALOGUE, LOCK_EXPIRED)}
_NEXT = {
    Retry.NEVER: "Do not retry until the cause is fixed: the same order would be refused again.",
    Retry.SAME_KEY: "Retry in a moment with the same Idempotency-Key.",
    Retry.SAME_KEY_AFTER: "Retry after the seconds of Retry-After with the same Idempotency-Key.",
    Retry.NEW_KEY: "Decide again. A new order needs a new Idempotency-Key.",
}
_NOT_YET = "Decisions are recorded within a second or two. This page refreshes by itself."
_IN_DOUBT = (
    codes.BOOKING_NOT_COMPLETED,
    codes.BOOKING_OUTCOME_UNKNOWN,
    codes.SERVICE_UNAVAILABLE,
    codes.INTERNAL_ERROR,
)
"""After these the order may have been recorded nevertheless."""


async def decision_page(visit: Visit) -> Html:
    request_id = visit.params["request_id"].lower()

    async def read(desk: Desk, actor: Actor) -> tuple[View, str | None]:
        trace = await traces.get_trace(desk, actor, request_id)
        if trace["order_id"] is None:
            return trace, trace["compared"].get("unit")
        return trace, (await orders.get_order(desk, actor, trace["order_id"]))["unit"]

    reading = await visit.read((ORDERS, DECISION, request_id), read)
    if reading.value is None and reading.refused is not None:
        raise RefusalError(reading.refused.refusal, f"{reading.refused.message} {_NOT_YET}")
    trace, unit = reading.require()
    return el(
        "div",
        el("p", _back(trace), class_="back"),
        el("div", el("h1", _title(trace)), environment(trace["environment"]), class_="title"),
        el(
            "div",
            el("div", _meaning(trace), _request(visit, trace, unit), class_="wide"),
            el("div", decision_card(visit, trace, unit), class_="narrow"),
            class_="overview",
        ),
        class_="orders-page",
    )


def _back(trace: View) -> Html:
    if trace["outcome"] in _REFUSALS:
        return el("a", "‹ Refusals", href=f"/{REFUSALS}")
    return el("a", "‹ Orders", href=f"/{ORDERS}")


def decision_card(visit: Visit, trace: View | None, unit: str | None) -> Html:
    """How far it came and what was compared; `unit` is the metal's, where it is known."""
    if trace is None:
        nothing = empty("No decision is recorded.", "It is not recorded yet, or was deleted with age.")
        return card("Decision", nothing, name="decision")
    sentences = [el("p", each) for each in comparison_sentences(trace, unit)]
    compared = comparison_facts(visit, trace, unit)
    numbers = None
    if sentences or compared:
        numbers = el("div", el("h3", "What was compared"), sentences, facts(compared), class_="said")
    return card("Decision", _checks(trace), numbers, aside=_outcome(trace), name="decision")


def _checks(trace: View) -> Html | None:
    if trace["outcome"] == _SCENARIO:
        return el("p", trace["message"], class_="note")
    if trace["outcome"] != _REPLAYED:
        return stages(trace)
    return el(
        "p",
        "The same order was sent before with the same Idempotency-Key. The client got ",
        _order_link(trace, "that order"),
        " again, and nothing new was booked.",
        class_="note",
    )


def _order_link(trace: View, text: str) -> Child:
    found = trace["order_id"]
    return text if found is None else el("a", text, href=order_path(found))


def _outcome(trace: View) -> Html:
    outcome = trace["outcome"]
    if outcome not in _NAMES:
        return state(BAD, f"refused: {_words(outcome)}")
    return state(WARN if outcome in (_REPLAYED, _SCENARIO) else GOOD, _NAMES[outcome])


def _title(trace: View) -> Child:
    outcome = trace["outcome"]
    return _NAMES[outcome].capitalize() if outcome in _NAMES else f"Refused: {_words(outcome)}"


def _words(code: str) -> str:
    return code.replace("_", " ")


def _meaning(trace: View) -> Html:
    refusal = _REFUSALS.get(trace["outcome"])
    if refusal is None:
        link = trace["message"] or _order_link(trace, "See the order")
        return card("Outcome", el("p", link, class_="note"), name="meaning")
    pairs: list[tuple[str, Child]] = [
        ("Meaning", _with_code(refusal.when)),
        ("Message to the client", trace["message"] or refusal.message),
        ("What the client can do", _NEXT[refusal.retry]),
        ("Idempotency-Key", _key_text(refusal)),
        ("Code", [el("code", refusal.code), f", HTTP status {refusal.status}"]),
        ("More like it", _more_like(trace)),
        ("Order", None if trace["order_id"] is None else _order_link(trace, trace["order_id"])),
    ]
    return card("Why", facts(pairs), name="meaning")


def _more_like(trace: View) -> list[Child]:
    code, login_id = trace["outcome"], trace["login_id"]
    own = page_path(REFUSALS, {"code": code, "login": login_id})
    return [
        el("a", f"of {login_id}", href=own),
        " · ",
        el("a", "of all accounts", href=page_path(REFUSALS, {"code": code})),
    ]


def _key_text(refusal: RefusalCode) -> str:
    if refusal.settles_key:
        return "It is used up, and gives this refusal again."
    if refusal is codes.IDEMPOTENCY_KEY_REUSED:
        return "It was used before, by another order."
    if refusal in _IN_DOUBT:
        return "A retry with it returns the order if it was recorded, and else checks it again. Never both."
    return "It stays free: the order is checked again when it is sent again."


def _with_code(text: str) -> list[Child]:
    """The catalogue puts names of fields into backticks."""
    return [el("code", part) if number % 2 else part for number, part in enumerate(text.split("`"))]


def _request(visit: Visit, trace: View, unit: str | None) -> Html:
    asked, request_id = trace["asked"], trace["request_id"]
    pairs: list[tuple[str, Child]] = [
        ("Order", request_text(asked, unit)),
        ("Account", account_link(trace["login_id"])),
        ("Time", moment(trace["at"], visit.zone, visit.now)),
        ("Client order id", None if asked is None else asked["client_order_id"]),
        ("Expected price", None if asked is None else asked["expected_price"]),
        ("Idempotency-Key", trace["idempotency_key"]),
        ("API key", _key_link(trace)),
        ("Request id", el("a", el("code", request_id), href=decision_path(request_id))),
    ]
    return card("Request", facts(pairs), name="asked")


def _key_link(trace: View) -> Child:
    key_id = trace["key_id"]
    if key_id is None:
        return "none: placed by the desk"
    return el("a", el("code", key_id), href=f"{account_path(trace['login_id'])}#keys")


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
    Stage("It is recorded, and passed on in production", codes.BOOKING_OUTCOME_UNKNOWN),
)
_PLACES = {refusal.code: place for place, refusal in enumerate(CATALOGUE)}
_PASSED, _FAILED, _NOT_REACHED = ("passed", "✓"), ("failed", "✗"), ("unreached", "·")


def stages(trace: View) -> Html | None:
    """Each stage with its mark. None for a refusal of no stage, such as an error of the service."""
    place = _PLACES.get(trace["outcome"])
    if trace["outcome"] in _REFUSALS and (place is None or place > _PLACES[STAGES[-1].last.code]):
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
