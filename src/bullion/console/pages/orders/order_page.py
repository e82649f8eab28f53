"""One order: what it is, what became of it and by whom, its price, the decision on it, and its hedge."""

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.widgets.components import BAD, GOOD, WARN, card, empty, state
from bullion.console.widgets.formatting import rupees, times_words, weight
from bullion.console.widgets.times import moment
from bullion.desk.actions import hedge, orders
from bullion.desk.desk import Desk, View
from bullion.hedge.venue import BY_HAND
from bullion.orders.status import Status
from bullion.records.hedges import BROKEN, WAITING
from bullion.records.page import Page
from bullion.records.token import Actor

from .addresses import PAGE_NAME, decision_path
from .decision_page import decision_card
from .order_actions import buttons
from .order_format import account_link, deal, environment, facts, freshness, in_words, is_test, status, what
from .price_breakdown import anatomy_card

_EXECUTIONS = Page(50, 0)
_Whole = tuple[View, list[View]]
_RECORDED = {
    Status.FILLED: "Recorded and filled",
    Status.PENDING: "Recorded, and sent to the hedge",
}
_BECAME = {
    Status.OPEN: "The hedge is confirmed: a deal",
    Status.REJECTED: "The hedge refused it",
    Status.CLOSING: "Closing began",
    Status.CLOSED: "Closed",
    Status.DELETED: "Deleted",
}


async def order_page(visit: Visit, order_id: str) -> Html:
    order_id = order_id.lower()

    async def read(desk: Desk, actor: Actor) -> _Whole:
        order = await orders.get_order(desk, actor, order_id)
        if is_test(order):
            return order, []
        executions, _ = await hedge.list_executions(desk, actor, order_id, _EXECUTIONS)
        return order, executions

    reading = await visit.watch.shared((PAGE_NAME, "order", order_id), read).get(visit.actor)
    back = el("p", el("a", "‹ Orders", href=f"/{PAGE_NAME}"), class_="back")
    order, executions = reading.required()
    return el(
        "div",
        back,
        _head(visit, order, freshness(reading)),
        el(
            "div",
            el(
                "div",
                _about(visit, order),
                _life(visit, order),
                _hedge(visit, order, executions),
                class_="wide",
            ),
            el(
                "div",
                anatomy_card(visit, order),
                decision_card(visit, order["trace"], order["unit"]),
                class_="narrow",
            ),
            class_="overview",
        ),
        class_="orders-page",
    )


def _head(visit: Visit, order: View, fresh: Child) -> Html:
    login_id = order["login_id"]
    return el(
        "div",
        el("h1", what(order), " for ", login_id),
        status(order["status"]),
        environment(order["environment"]),
        fresh,
        el("div", buttons(visit, order), class_="actions", role="group", aria_label="What can be done now"),
        class_="title",
    )


def _about(visit: Visit, order: View) -> Html:
    anatomy, login_id = order["price_anatomy"], order["login_id"]
    per = weight(anatomy["quoted_weight"], anatomy["unit"])
    request_id = order["request_id"]
    return card(
        "The order",
        facts(
            [
                ("State", f"{order['status']}: {in_words(order['status'])}"),
                ("Price", [el("b", rupees(order["price"])), f" per {per}"]),
                ("Total", el("b", rupees(order["total"]))),
                ("Closed at", order["close_price"] and rupees(order["close_price"])),
                ("The client's result", order["realized_pnl"] and result(order["realized_pnl"])),
                ("Deal", deal(order)),
                ("Placed", moment(order["created_at"], visit.zone, visit.now)),
                ("Account", account_link(login_id)),
                ("Channel", _channel(order)),
                ("Client order id", order["client_order_id"]),
                ("Order id", el("code", order["id"])),
                ("Request id", el("a", el("code", request_id), href=decision_path(request_id))),
                ("Idempotency-Key", el("code", order["idempotency_key"])),
                ("Archived", "yes: it is out of lists and positions" if order["archived"] else None),
            ]
        ),
        name="about",
    )


def result(plain: str) -> Html:
    """Profit or loss of the client, with its sign and its colour."""
    loss, none = plain.startswith("-"), plain.strip("-0.") == ""
    sign, kind = ("", "") if none else ("", "loss") if loss else ("+", "gain")
    return el("b", f"{sign}{rupees(plain)}", class_=f"result {kind}".strip())


def _channel(order: View) -> str:
    key_id = order["key_id"]
    return f"{order['source']}, by the key {key_id}" if key_id else f"{order['source']}, placed by the desk"


def _life(visit: Visit, order: View) -> Html:
    events = order["events"]
    lines = [
        el(
            "li",
            el("i", class_=f"dot {each['status']}", aria_hidden="true"),
            el(
                "b", _RECORDED.get(each["status"], each["status"]) if number == 0 else _BECAME[each["status"]]
            ),
            el(
                "span",
                moment(each["at"], visit.zone, visit.now),
                f" · {_by(order, each, number)}",
                class_="by",
            ),
            el("p", each["words"]) if each["words"] else None,
            data_key=f"event-{number}",
        )
        for number, each in enumerate(events)
    ]
    return card("Its life", el("ol", lines, class_="timeline"), name="life")


def _by(order: View, event: View, number: int) -> str:
    if number == 0:
        return f"by {order['login_id']} over {event['by']}"
    return f"by {event['by']}"


def _hedge(visit: Visit, order: View, executions: list[View]) -> Child:
    if is_test(order):
        return None
    held = order["hedge"]
    if held is None:
        return card("The hedge", empty("Nothing is kept about its hedge.", ""), name="hedge")
    by_hand = held["venue"] == BY_HAND
    lines = [
        el(
            "li",
            el("b", f"{each['outcome']}: {weight(each['quantity'], order['unit'])}"),
            el("span", moment(each["at"], visit.zone, visit.now), " · ", el("code", each["execution_id"])),
            data_key=each["execution_id"],
        )
        for each in executions
    ]
    return card(
        "The hedge",
        facts(
            [
                ("Covered by", "the desk itself" if by_hand else f"the {held['venue']} venue"),
                ("Instrument", held["instrument"]),
                ("Last word", held["words"]),
                ("Asked in vain", times_words(held["tries"]) if held["tries"] else None),
                (
                    "Asked again",
                    None
                    if held["due_at"] is None or by_hand
                    else moment(held["due_at"], visit.zone, visit.now),
                ),
                ("Answered", held["answered_at"] and moment(held["answered_at"], visit.zone, visit.now)),
                ("Settled", held["resolution"] and f"{held['resolution']}, by {held['resolved_by']}"),
            ]
        ),
        el("div", el("h3", "Executions"), el("ul", lines, class_="executions"), class_="said")
        if lines
        else None,
        aside=_hedge_state(held),
        name="hedge",
    )


def _hedge_state(held: View) -> Html:
    if held["state"] == WAITING:
        return state(WARN, "waits for you" if held["venue"] == BY_HAND else "waits for the venue")
    if held["state"] == BROKEN:
        return state(BAD, "a break: it contradicts the order")
    return state(GOOD, held["outcome"] or held["state"])
