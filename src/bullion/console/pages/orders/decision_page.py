"""Why an order was taken or refused, in words: how far it came, and which numbers were compared."""

from collections.abc import Mapping
from typing import Any

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.widgets.components import BAD, GOOD, WARN, card, empty, state
from bullion.console.widgets.times import moment
from bullion.desk.actions import orders, traces
from bullion.desk.desk import Desk, View
from bullion.orders.status import Status
from bullion.records.token import Actor
from bullion.refusals import catalogue as codes
from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import RefusalCode, RefusalError, Retry

from .addresses import DECISIONS, PAGE_NAME, decision_path, order_path
from .check_stages import stages
from .comparison import asked_words, compared_facts, compared_words
from .order_format import account_link, environment, facts

_REPLAYED, _SCENARIO = "replayed", "scenario"
_NAMES: dict[str, str] = {
    _REPLAYED: "replayed",
    _SCENARIO: "made up",
    **dict.fromkeys(tuple(Status), "taken"),
}
"""Of outcomes that are not refusals."""
_REFUSALS = {refusal.code: refusal for refusal in CATALOGUE}
_NEXT = {
    Retry.NEVER: "Nothing, until the cause is gone: the same order would be refused again.",
    Retry.SAME_KEY: "Send it again in a moment, with the same Idempotency-Key.",
    Retry.SAME_KEY_AFTER: "Send it again after the seconds of Retry-After, with the same Idempotency-Key.",
    Retry.NEW_KEY: "Decide anew. A new order needs a new Idempotency-Key.",
}
_NOT_YET = "Decisions are written down within a second or two: this page looks again by itself."
_IN_DOUBT = (
    codes.BOOKING_NOT_COMPLETED,
    codes.BOOKING_OUTCOME_UNKNOWN,
    codes.SERVICE_UNAVAILABLE,
    codes.INTERNAL_ERROR,
)
"""After these nobody can promise that nothing was recorded."""


async def decision_page(visit: Visit, request_id: str) -> Html:
    request_id = request_id.lower()

    async def read(desk: Desk, actor: Actor) -> tuple[View, str | None]:
        trace = await traces.get_trace(desk, actor, request_id)
        if trace["order_id"] is None:
            return trace, trace["compared"].get("unit")
        return trace, (await orders.get_order(desk, actor, trace["order_id"]))["unit"]

    reading = await visit.watch.shared((PAGE_NAME, DECISIONS, request_id), read).get(visit.actor)
    back = el("p", el("a", "‹ Orders", href=f"/{PAGE_NAME}"), class_="back")
    if reading.value is None and reading.refused is not None:
        raise RefusalError(reading.refused.refusal, f"{reading.refused.message} {_NOT_YET}")
    trace, unit = reading.required()
    return el(
        "div",
        back,
        el("div", el("h1", _title(trace)), environment(trace["environment"]), class_="title"),
        el(
            "div",
            el("div", _meaning(trace), _asked(visit, trace, unit), class_="wide"),
            el("div", decision_card(visit, trace, unit), class_="narrow"),
            class_="overview",
        ),
        class_="orders-page",
    )


def decision_card(visit: Visit, trace: View | None, unit: str | None) -> Html:
    """How far it came and what was compared; `unit` is the metal's, where it is known."""
    if trace is None:
        nothing = empty(
            "There is no word on the decision.",
            "It is not written down yet, or so old that it was forgotten.",
        )
        return card("The decision", nothing, name="decision")
    compared: Mapping[str, Any] = trace["compared"]
    words = compared_words(trace, unit)
    told = compared_facts(visit, compared, unit)
    return card(
        "The decision",
        _way(trace),
        el(
            "div",
            el("h3", "What was compared"),
            [el("p", each) for each in words],
            facts(told),
            class_="said",
        )
        if words or told
        else None,
        aside=_outcome(trace),
        name="decision",
    )


def _way(trace: View) -> Html | None:
    if trace["outcome"] == _SCENARIO:
        return el("p", trace["message"], class_="note")
    if trace["outcome"] != _REPLAYED:
        return stages(trace)
    return el(
        "p",
        "The same order with the same Idempotency-Key had come before. The client was shown ",
        _order_link(trace, "that order"),
        " again, and nothing new was booked.",
        class_="note",
    )


def _order_link(trace: View, words: str) -> Child:
    found = trace["order_id"]
    return words if found is None else el("a", words, href=order_path(found))


def _outcome(trace: View) -> Html:
    outcome = trace["outcome"]
    if outcome not in _NAMES:
        return state(BAD, f"refused: {outcome}")
    return state(WARN if outcome in (_REPLAYED, _SCENARIO) else GOOD, _NAMES[outcome])


def _title(trace: View) -> Child:
    outcome = trace["outcome"]
    return _NAMES[outcome].capitalize() if outcome in _NAMES else ["Refused: ", el("code", outcome)]


def _meaning(trace: View) -> Html:
    refusal = _REFUSALS.get(trace["outcome"])
    if refusal is None:
        link = trace["message"] or _order_link(trace, "See the order")
        return card("What it came to", el("p", link, class_="note"), name="meaning")
    return card(
        "Why",
        facts(
            [
                ("It means", _coded(refusal.when)),
                ("The client was told", trace["message"] or refusal.message),
                ("The client may", _NEXT[refusal.retry]),
                ("Idempotency-Key", _key_words(refusal)),
                ("HTTP status", str(refusal.status)),
                ("Order", None if trace["order_id"] is None else _order_link(trace, trace["order_id"])),
            ]
        ),
        name="meaning",
    )


def _key_words(refusal: RefusalCode) -> str:
    if refusal.settles_key:
        return "It is spent, and gives this refusal again."
    if refusal is codes.IDEMPOTENCY_KEY_REUSED:
        return "It was spent before, by another order."
    if refusal in _IN_DOUBT:
        return "Sent again with it, the order is found if it was recorded, and else judged anew. Never twice."
    return "It stays free: the order is judged anew when it is sent again."


def _coded(text: str) -> list[Child]:
    """The catalogue puts names of fields into backticks."""
    return [el("code", part) if number % 2 else part for number, part in enumerate(text.split("`"))]


def _asked(visit: Visit, trace: View, unit: str | None) -> Html:
    login_id, asked = trace["login_id"], trace["asked"]
    return card(
        "The request",
        facts(
            [
                ("Asked for", asked_words(asked, unit)),
                ("Account", account_link(login_id)),
                ("When", moment(trace["at"], visit.zone, visit.now)),
                ("Client order id", None if asked is None else asked["client_order_id"]),
                ("Expected price", None if asked is None else asked["expected_price"]),
                ("Idempotency-Key", trace["idempotency_key"]),
                ("Key", trace["key_id"] or "none: the desk placed it"),
                ("Request id", _request_link(trace["request_id"])),
            ]
        ),
        name="asked",
    )


def _request_link(request_id: str) -> Html:
    return el("a", el("code", request_id), href=decision_path(request_id))
