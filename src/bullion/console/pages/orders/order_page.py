"""One order: its details, its history, its price, the decision on it, and its hedge."""

from urllib.parse import parse_qsl

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.paths import ORDERS, decision_path, page_path
from bullion.console.widgets.components import BAD, GOOD, WARN, card, empty, facts, freshness, state
from bullion.console.widgets.formatting import is_zero, moment, rupees, times_text, weight
from bullion.desk.actions import hedge, orders
from bullion.desk.actions.health import NOTHING_COVERED
from bullion.desk.desk import Desk, View
from bullion.hedge.venue import VenueAbilities
from bullion.hedge.venues import abilities_of
from bullion.metals.grouping import grouped
from bullion.orders.status import Status
from bullion.records.hedges import BROKEN, WAITING
from bullion.records.page import Page
from bullion.records.token import Actor

from .decision_page import decision_card
from .order_actions import buttons
from .order_format import account_link, deal_number, environment, is_test, order_text, status, status_text
from .price_breakdown import price_card

_EXECUTIONS = Page(50, 0)
_BACK_MAX = 1_000
_FIRST_EVENTS = {Status.FILLED: "Recorded and filled", Status.PENDING: "Recorded and sent to the venue"}
_LATER_EVENTS = {
    Status.OPEN: "Confirmed: a deal",
    Status.REJECTED: "Hedge refused",
    Status.CLOSING: "Closing started",
    Status.CLOSED: "Closed",
    Status.DELETED: "Deleted",
}


async def order_page(visit: Visit) -> Html:
    order_id = visit.params["order_id"].lower()

    async def read(desk: Desk, actor: Actor) -> tuple[View, list[View]]:
        order = await orders.get_order(desk, actor, order_id)
        if is_test(order):
            return order, []
        executions, _ = await hedge.list_executions(desk, actor, order_id, _EXECUTIONS)
        return order, executions

    reading = await visit.read((ORDERS, "order", order_id), read)
    order, executions = reading.require()
    left = _details(visit, order), _history(visit, order), _hedge(visit, order, executions)
    right = price_card(visit, order), decision_card(visit, order["trace"], order["unit"])
    return el(
        "div",
        el("p", el("a", "‹ Orders", href=_list_path(visit)), class_="back"),
        _heading(visit, order, freshness(reading)),
        el("div", el("div", left, class_="wide"), el("div", right, class_="narrow"), class_="overview"),
        class_="orders-page",
    )


def _list_path(visit: Visit) -> str:
    """The list that the visitor came from, with its filters."""
    query = dict(parse_qsl(visit.param("back"))) if len(visit.param("back")) < _BACK_MAX else {}
    return page_path(ORDERS, query)


def _heading(visit: Visit, order: View, fresh: Child) -> Html:
    return el(
        "div",
        el("h1", order_text(order), " for ", order["login_id"]),
        status(order["status"]),
        environment(order["environment"]),
        fresh,
        el("div", buttons(visit, order), class_="actions", role="group", aria_label="Actions"),
        class_="title",
    )


def _details(visit: Visit, order: View) -> Html:
    anatomy, request_id = order["price_anatomy"], order["request_id"]
    per = weight(anatomy["quoted_weight"], anatomy["unit"])
    pairs: list[tuple[str, Child]] = [
        ("State", f"{order['status']}: {status_text(order['status'])}"),
        ("Price", [el("b", rupees(order["price"])), f" per {per}"]),
        ("Total", el("b", rupees(order["total"]))),
        ("Closed at", order["close_price"] and rupees(order["close_price"])),
        ("Client's result", order["realized_pnl"] and _profit(order["realized_pnl"])),
        ("Deal", deal_number(order)),
        ("Placed", moment(order["created_at"], visit.zone, visit.now)),
        ("Client", order["firm_name"]),
        ("Account", account_link(order["login_id"])),
        ("Channel", _channel(order)),
        ("Client order id", order["client_order_id"]),
        ("Order id", el("code", order["id"])),
        ("Request id", el("a", el("code", request_id), href=decision_path(request_id))),
        ("Idempotency-Key", el("code", order["idempotency_key"])),
        ("Archived", "yes: not in lists and positions" if order["archived"] else None),
    ]
    return card("Order", facts(pairs), name="about")


def _profit(plain: str) -> Html:
    """Profit or loss of the client, with its sign and its colour."""
    sign, kind = ("", "loss") if plain.startswith("-") else ("+", "gain")
    if is_zero(plain):
        sign, kind = "", ""
    return el("b", f"{sign}{rupees(plain)}", class_=f"result {kind}".strip())


def _channel(order: View) -> str:
    key_id = order["key_id"]
    return f"{order['source']}, by the key {key_id}" if key_id else f"{order['source']}, placed by the desk"


def _history(visit: Visit, order: View) -> Html:
    items = []
    for number, each in enumerate(order["events"]):
        what = _LATER_EVENTS[each["status"]] if number else _FIRST_EVENTS.get(each["status"], each["status"])
        who = f"by {each['by']}" if number else f"by {order['login_id']} over {each['by']}"
        items.append(
            el(
                "li",
                el("i", class_=f"dot {each['status']}", aria_hidden="true"),
                el("b", what),
                el("span", moment(each["at"], visit.zone, visit.now), f" · {who}", class_="by"),
                el("p", each["words"]) if each["words"] else None,
                data_key=f"event-{number}",
            )
        )
    return card("History", el("ol", items, class_="timeline"), name="life")


_RESTS = {
    "sent": "sent again",
    "partly_covered": "waits for your decision",
    "taken": "taken into the hedge book",
    "unfilled": "not filled",
}


def _venue_text(venue: VenueAbilities) -> str:
    if venue.by_hand:
        return "the desk itself"
    return venue.name if venue.covers else NOTHING_COVERED


def _short(plain: str) -> str:
    """Without trailing zeros, grouped."""
    return grouped(plain.rstrip("0").rstrip("."))


def _hedge(visit: Visit, order: View, executions: list[View]) -> Child:
    if is_test(order):
        return None
    held = order["hedge"]
    if held is None:
        return card("Venue", empty("Nothing is recorded about the venue.", ""), name="hedge")

    def when(at: str | None) -> Child:
        return None if at is None else moment(at, visit.zone, visit.now)

    venue = abilities_of(held["venue"])
    rest = held["rest"]
    pairs: list[tuple[str, Child]] = [
        ("Venue", _venue_text(venue)),
        ("Instrument", held["instrument"]),
        ("Cover price", held["cover_price"] and rupees(held["cover_price"])),
        ("Cover reference", held["cover_reference"]),
        ("Last answer", held["words"]),
        ("Failed attempts", times_text(held["tries"]) if held["tries"] else None),
        ("Not covered", rest and f"{weight(rest['quantity'], rest['unit'])}: {_RESTS[rest['state']]}"),
        ("Next attempt", None if venue.by_hand else when(held["due_at"])),
        ("Answered", when(held["answered_at"])),
        ("Settled", held["resolution"] and f"{held['resolution']}, by {held['resolved_by']}"),
    ]
    items = [
        el(
            "li",
            el("b", f"{each['outcome']}: {weight(each['quantity'], order['unit'])}"),
            el("span", when(each["at"]), " · ", el("code", each["execution_id"])),
            data_key=each["execution_id"],
        )
        for each in executions
    ]
    items += [
        el(
            "li",
            el("b", f"{_short(fill['quantity'])} at {_short(fill['price'])}"),
            el("span", when(fill["at"]), " · ", el("code", fill["execution_id"])),
            data_key=f"fill {fill['execution_id']}",
        )
        for fill in held["fills"]
    ]
    shown = el("div", el("h3", "Executions"), el("ul", items, class_="executions"), class_="said")
    return card("Venue", facts(pairs), shown if items else None, aside=_hedge_state(held), name="hedge")


def _hedge_state(held: View) -> Html:
    if held["state"] == WAITING:
        if held["rest"] is not None and held["rest"]["state"] == "partly_covered":
            return state(BAD, "partly covered: decide about the rest")
        by_hand = abilities_of(held["venue"]).by_hand
        return state(WARN, "waiting for you" if by_hand else "waiting for the venue")
    if held["state"] == BROKEN:
        return state(BAD, "a break: it contradicts the order")
    return state(GOOD, held["outcome"] or held["state"])
