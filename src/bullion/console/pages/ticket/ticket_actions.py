"""What the order ticket does: find clients, lock a price, and book the order at that price.

The ticket's script sends these requests, so there are no dialogs. What the dealer reads is written here.
"""

from typing import NoReturn

from bullion.console.forms import Dialog
from bullion.console.html import Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import ORDERS, TICKET, order_path, page_path
from bullion.console.widgets.components import BAD, GOOD, WAIT, state
from bullion.console.widgets.cover import simulated_note
from bullion.console.widgets.formatting import weight
from bullion.desk.actions.account_summaries import list_account_summaries
from bullion.desk.actions.place_order import Placed, place_order
from bullion.desk.actions.preview_order import lock_price
from bullion.desk.bodies import LockPriceBody, PlaceOrderBody
from bullion.desk.conversion import convert
from bullion.desk.desk import View
from bullion.desk.order_checks import remedy_of
from bullion.desk.unreadable import is_unreadable
from bullion.orders.status import Status
from bullion.refusals.catalogue import ACCOUNT_INACTIVE, BOOKING_CONFLICT
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import Proof, RefusalCode, RefusalError

from .ticket_format import (
    booking_text,
    client_name,
    order_of,
    pays,
    price_text,
    quoted_for,
    sentence,
    total_text,
)

_CLIENTS_SHOWN = 8
_RING_RADIUS = 22
SOURCE = "desk"


async def _no_dialog(_visit: Visit) -> Dialog:
    return _refuse()


async def _nothing(_visit: Visit) -> Result:
    return _refuse()


def _refuse() -> NoReturn:
    raise RefusalError(NOT_FOUND, "The ticket does this without a dialog.")


async def _find_clients(visit: Visit) -> Html:
    """Clients whose login or firm contains what was typed, in any case, as options of a list."""
    typed = visit.form.get("q", "").strip()
    found, more = await list_account_summaries(visit.desk, visit.actor, typed, "", _CLIENTS_SHOWN)
    options = [_option(number, each) for number, each in enumerate(found) if not is_unreadable(each)]
    if not options:
        nobody = el("span", f"No client has “{typed[:40]}” in its login or firm.", class_="hint")
        return el("li", nobody, role="option", aria_disabled="true", aria_selected="false")
    last = el("span", "There are more: type more letters.", class_="hint")
    rest = el("li", last, role="option", aria_disabled="true", aria_selected="false") if more else None
    return Html("".join(options) + (rest or ""))


def _option(number: int, each: View) -> Html:
    off = "" if each["active"] else " · not active"
    return el(
        "li",
        el("b", each["firm_name"] or each["login_id"]),
        el("span", f"{each['login_id']} · {each['group']}{off}", class_="hint"),
        role="option",
        id=f"client-{number}",
        aria_selected="false",
        data_login=each["login_id"],
    )


async def _lock(visit: Visit) -> Result:
    body = convert({**order_of(visit.form), "source": SOURCE}, LockPriceBody)
    try:
        locked = await lock_price(visit.desk, visit.actor, body)
    except RefusalError as refused:
        return Result("", reveal=_refused(refused, "denied"))
    return Result("", reveal=_locked(locked))


def _locked(locked: View) -> Html:
    what = booking_text(locked)
    side = locked["trade_type"]
    hidden = {
        "login": locked["login_id"],
        "symbol": locked["symbol_code"],
        "side": side,
        "quantity": locked["quantity"],
        "key": locked["idempotency_key"],
        "lock": locked["lock"],
    }
    return el(
        "div",
        el("span", f"{client_name(locked)}’s price, locked", class_="label"),
        el(
            "div",
            el("span", price_text(locked["price"]), class_=f"hero {side}"),
            _ring(),
            el("span", quoted_for(locked), class_="hint"),
            class_="lock",
        ),
        el(
            "dl",
            el("dt", "Weight"),
            el("dd", weight(locked["quantity"], locked["unit"])),
            el("dt", f"Client {pays(side)}", class_="all"),
            el("dd", total_text(locked["total"]), class_="all"),
            class_="sum",
        ),
        sentence(locked),
        [el("input", type="hidden", name=name, value=value) for name, value in hidden.items()],
        data_locked=what,
        data_lock_ms=locked["lock_ms"],
        class_="locked-price",
    )


def _ring() -> Html:
    """Runs out with the lock. The script sets how much is left."""
    circle = {"cx": 27, "cy": 27, "r": _RING_RADIUS}
    return el(
        "svg",
        el("circle", class_="rail", **circle),
        el(
            "circle",
            class_="left",
            pathLength=100,
            stroke_dasharray="100 100",
            transform="rotate(-90 27 27)",
            **circle,
        ),
        el("text", "5 s", x=27, y=32),
        viewBox="0 0 54 54",
        class_="ring",
        role="timer",
        aria_label="Seconds left at this price",
    )


async def _book(visit: Visit) -> Result:
    """The outcome is told in any case: booked, refused for certain, or to be asked for again."""
    form = visit.form
    order = {**order_of(form), "source": SOURCE, "idempotency_key": form.get("key"), "lock": form.get("lock")}
    try:
        body = convert(order, PlaceOrderBody)
        placed = await place_order(visit.desk, visit.actor, body, visit.request_id)
    except RefusalError as refused:
        return Result("", reveal=_refused(refused, _outcome(refused.refusal)))
    return Result("", reveal=_booked(visit, placed))


def _outcome(refusal: RefusalCode) -> str:
    """`refused`: no order is booked under the key. `again`: only the same call tells. `denied`: neither."""
    if refusal.proves in (Proof.NOT_RECORDED, Proof.SETTLED) or refusal is ACCOUNT_INACTIVE:
        return "refused"
    return "again" if refusal.status >= 500 or refusal is BOOKING_CONFLICT else "denied"


def _refused(refused: RefusalError, outcome: str) -> Html:
    remedy = remedy_of(refused.refusal)
    return el(
        "div",
        el("p", state(BAD, el("b", refused.message))),
        el("p", remedy) if remedy else None,
        class_="outcome bad",
        data_outcome=outcome,
    )


def _booked(visit: Visit, placed: Placed) -> Html:
    order = placed.order
    login = order["login_id"]
    if placed.pending:
        kind, heading = WAIT, "Waiting for the venue"
    elif order["status"] == Status.DELETED:  # The call is a repeated one.
        kind, heading = BAD, "The order was deleted"
    else:
        kind, heading = GOOD, f"Booked: deal {order['deal_no']}"
    what = el("a", f"Order {order['id']}", href=order_path(order["id"]))
    size = f"{weight(order['quantity'], order['unit'])} {order['symbol_code']}"
    text = f"{login} {order['trade_type']}s {size} at {price_text(order['price'])}"
    return el(
        "div",
        el("p", state(kind, el("b", heading, class_="focal"))),
        el("p", f"{text}, in all {total_text(order['total'])}."),
        el("p", "It is in the queue until it is confirmed.") if placed.pending else None,
        simulated_note(visit),
        el("p", what),
        el(
            "div",
            el(
                "a",
                "Another for the same client",
                href=page_path(TICKET, {"login": login}),
                class_="button primary",
                data_first=True,
            ),
            el("a", "New client", href=page_path(TICKET), class_="button"),
            el(
                "a", "All orders of this client", href=page_path(ORDERS, {"login_id": login}), class_="button"
            ),
            class_="chipline",
        ),
        class_="outcome",
        data_outcome="booked",
    )


FIND_CLIENTS = Action(
    page=TICKET,
    name="clients",
    label="Find a client",
    work=None,
    ask=_no_dialog,
    do=_nothing,
    preview=_find_clients,
)
LOCK = Action(page=TICKET, name="lock", label="Lock the price", work=lock_price, ask=_no_dialog, do=_lock)
BOOK = Action(page=TICKET, name="book", label="Book", work=place_order, ask=_no_dialog, do=_book)
ACTIONS = (FIND_CLIENTS, LOCK, BOOK)
