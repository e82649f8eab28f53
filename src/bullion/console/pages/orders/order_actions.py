"""What the desk may do to an order, by its state: each asked before, with what will happen."""

from bullion.console.html import Child, Html, el, join
from bullion.console.page import Action, Result, Visit
from bullion.console.widgets.components import BAD, state
from bullion.console.widgets.dialog import action_button, dialog, field, hidden, preview_place
from bullion.console.widgets.formatting import off_words, rupees, ungrouped, weight
from bullion.desk.actions import breaks, order_life, orders
from bullion.desk.bodies import CompleteBody, NoteBody, ReasonBody
from bullion.desk.conversion import convert
from bullion.desk.desk import View, require
from bullion.hedge.venue import BY_HAND
from bullion.metals.rupees import paise
from bullion.orders.status import FINAL, Status
from bullion.records.hedges import BROKEN
from bullion.records.token import Role
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError

from .addresses import PAGE_NAME
from .order_format import deal, is_test

_LOGGED = "It holds at once, and your name stands in the order's life and in the audit trail."
_FAR_PERCENT = 10
"""A closing price so far from the deal's is asked about again."""
_REASON_HINT = "If you like, up to 500 characters. It stays with the order."


def buttons(visit: Visit, order: View) -> Child:
    """Those that the order's state allows; in words why there is none."""
    if is_test(order):
        return el("span", "A test order: nothing is left to do.", class_="hint")
    broken = _settling(visit, order)
    if order["status"] in FINAL or order["archived"]:
        return broken or el("span", f"It is {order['status']}: nothing is left to do.", class_="hint")
    about = {"id": order["id"]}
    allowed: list[Child] = []
    match order["status"]:
        case Status.PENDING if _by_hand(visit, order):
            allowed = [
                action_button(visit, PAGE_NAME, CONFIRM, "Confirm hedge", about=about, kind="primary"),
                action_button(visit, PAGE_NAME, REFUSE, "Refuse", about=about),
            ]
        case Status.OPEN:
            allowed = [action_button(visit, PAGE_NAME, CLOSE, "Close", about=about, kind="primary")]
        case Status.CLOSING:
            allowed = [action_button(visit, PAGE_NAME, COMPLETE, "Complete", about=about, kind="primary")]
        case _:
            allowed = [el("span", "The venue has the word.", class_="hint")]
    delete = action_button(visit, PAGE_NAME, DELETE, "Delete", about=about, kind="warning apart")
    return [*broken, *allowed, delete]


def _settling(visit: Visit, order: View) -> list[Child]:
    """Of an order with a break, in whichever state it is."""
    if order["hedge"] is None or order["hedge"]["state"] != BROKEN:
        return []
    about = {"id": order["id"]}
    return [
        state(BAD, "A break: the venue's word contradicts the order"),
        action_button(visit, PAGE_NAME, RESOLVE, "Settle the break", about=about, kind="primary"),
    ]


def _by_hand(visit: Visit, order: View) -> bool:
    hedge = order["hedge"]
    return visit.desk.hedge == BY_HAND or (hedge is not None and hedge["venue"] == BY_HAND)


def _told(order: View) -> str:
    """Sell 5 g GOLD for client, at 71,230.00"""
    size = weight(order["quantity"], order["unit"])
    what = f"{order['trade_type'].capitalize()} {size} {order['symbol_code']} for {order['login_id']}"
    return f"{what}, at {rupees(order['price'])}, together {rupees(order['total'])}."


async def _order(visit: Visit) -> View:
    return await orders.get_order(visit.desk, visit.actor, visit.query.get("id", ""))


def _reason(visit: Visit) -> ReasonBody:
    sent = {"reason": visit.form.get("reason", "").strip() or None}
    return convert(sent, ReasonBody)


async def _ask_close(visit: Visit) -> Html:
    order = await _order(visit)
    return dialog(
        f"Close deal {deal(order)}?",
        [
            _told(order),
            (
                "The deal becomes closing, and the client sees that. It counts toward the position until you "
                "complete it with the price at which it was closed. There is no way back to open."
            ),
            _LOGGED,
        ],
        confirm="Close the deal",
    )


async def _close(visit: Visit) -> Result:
    await order_life.close_order(visit.desk, visit.actor, visit.query.get("id", ""))
    return Result("The deal is closing. Complete it with the closing price.")


async def _ask_complete(visit: Visit) -> Html:
    order = await _order(visit)
    anatomy = order["price_anatomy"]
    per = weight(anatomy["quoted_weight"], anatomy["unit"])
    return dialog(
        f"Complete the closing of deal {deal(order)}?",
        [
            _told(order),
            (
                "The deal becomes closed at this price. It leaves the client's position, its weight goes "
                "back to the stock, and the result below is final."
            ),
            _LOGGED,
        ],
        confirm="Complete at this price",
        fields=[
            field(f"Closing price, in rupees per {per}", "close_price", required=True),
            preview_place(PAGE_NAME, COMPLETE, {"id": order["id"]}, needed=True),
        ],
    )


async def _preview_complete(visit: Visit) -> Html:
    typed = visit.form.get("close_price", "").strip()
    if not typed:
        words = "Type the price: what it comes to is shown here before you confirm."
        return el("p", words, class_="hint", data_not_yet=True)
    try:
        body = _close_price(typed)
        found = await order_life.preview_completion(visit.desk, visit.actor, visit.query.get("id", ""), body)
    except RefusalError as refused:
        return el("p", refused.message, class_="refused", data_not_yet=True)
    pnl = str(found["realized_pnl"])
    if pnl.strip("-0.") == "":
        words, kind = "The client neither gains nor loses", ""
    else:
        words, kind = ("The client loses", "loss") if pnl.startswith("-") else ("The client gains", "gain")
    told = el(
        "p",
        f"Closed at {rupees(found['close_price'])}. {words} ",
        el("b", rupees(pnl.lstrip("-")), class_=f"result {kind}".strip()),
        ".",
    )
    return join([told, el("p", odd, class_="refused")]) if (odd := _odd(found)) else told


def _odd(found: View) -> str | None:
    """Why somebody should look twice: a digit too many or too few is far from the price it was dealt at."""
    dealt, closed = paise(found["price"]), paise(found["close_price"])
    if abs(closed - dealt) * 100 <= dealt * _FAR_PERCENT:
        return None
    return f"This is {off_words(closed, dealt)} the price of the deal, which is {rupees(found['price'])}."


def _close_price(typed: str) -> CompleteBody:
    """As people write amounts: 1,23,456.50 and a sign of the rupee are understood."""
    plain = ungrouped(typed.strip().removeprefix("₹").strip())
    return convert({"close_price": plain}, CompleteBody)


async def _complete(visit: Visit) -> Result:
    require(visit.actor, Role.DEALER)  # Before anything is told of the deal.
    body = _close_price(visit.form.get("close_price", ""))
    order_id = visit.query.get("id", "")
    found = await order_life.preview_completion(visit.desk, visit.actor, order_id, body)
    odd = _odd(found)
    if odd and visit.form.get("sure") != body.close_price:
        return Result("", ask_again=_again(body.close_price, odd))
    done = await order_life.complete_order(visit.desk, visit.actor, order_id, body)
    return Result(f"The deal is closed at {rupees(done['close_price'])}.")


def _again(close_price: str, odd: str) -> Html:
    """That somebody is sure holds for this very price alone."""
    return dialog(
        f"Is {rupees(close_price)} right?",
        [odd, "Nothing was done so far. The result is final once you complete it."],
        confirm="It is right, complete",
        danger=True,
        fields=[hidden("close_price", close_price), hidden("sure", close_price)],
    )


async def _ask_delete(visit: Visit) -> Html:
    order = await _order(visit)
    warning = "It is for orders that should not be there. A deal that is over is closed, not deleted."
    if order["status"] == Status.PENDING and not _by_hand(visit, order):
        warning = (
            "The venue may fill it all the same: then the fill stands without an order, is shown as a break, "
            "and is yours to settle with the venue."
        )
    return dialog(
        "Delete this order?",
        [
            _told(order),
            el("strong", warning),
            (
                "It becomes deleted for good, and leaves the client's position; its weight goes back to the "
                "stock. It can still be read, by you and by the client."
            ),
            _LOGGED,
        ],
        confirm="Delete the order",
        danger=True,
        fields=[field("Reason", "reason", hint=_REASON_HINT)],
    )


async def _delete(visit: Visit) -> Result:
    await order_life.delete_order(visit.desk, visit.actor, visit.query.get("id", ""), _reason(visit))
    return Result("The order is deleted.")


async def _ask_confirm(visit: Visit) -> Html:
    order = await _order(visit)
    return dialog(
        "Confirm the hedge?",
        [
            _told(order),
            (
                "Confirm it when you have covered it. The order becomes a deal with a number, and the client "
                "is told that it is open."
            ),
            _LOGGED,
        ],
        confirm="Confirm the hedge",
        fields=[field("Where and how it was covered", "reason", hint=_REASON_HINT)],
    )


async def _confirm(visit: Visit) -> Result:
    done = await order_life.confirm_order(visit.desk, visit.actor, visit.query.get("id", ""), _reason(visit))
    return Result(f"The order is deal {done['deal_no']}.")


async def _ask_refuse(visit: Visit) -> Html:
    order = await _order(visit)
    return dialog(
        "Refuse this order?",
        [
            _told(order),
            (
                "The order becomes rejected for good: nothing is booked, it leaves the client's position, "
                "and the client is told that the hedge refused it."
            ),
            _LOGGED,
        ],
        confirm="Refuse the order",
        danger=True,
        fields=[field("Reason", "reason", hint=_REASON_HINT)],
    )


async def _refuse(visit: Visit) -> Result:
    await order_life.refuse_order(visit.desk, visit.actor, visit.query.get("id", ""), _reason(visit))
    return Result("The order is rejected.")


async def _ask_resolve(visit: Visit) -> Html:
    order = await _order(visit)
    if not _settling(visit, order):
        raise RefusalError(CONFLICT, "There is no break on this order.")
    return dialog(
        "Settle the break?",
        [
            _told(order),
            f"The order is {order['status']}, and the venue's last word is: {order['hedge']['words']}",
            (
                "Nothing is mended by itself: settle it with the venue first, then write down what was done. "
                "The break leaves the overview, and the order stays as it is."
            ),
            _LOGGED,
        ],
        confirm="It is settled",
        fields=[field("What was done", "note", hint="It stays with the order.", required=True)],
    )


async def _resolve(visit: Visit) -> Result:
    sent = {"note": visit.form.get("note", "").strip()}
    body = convert(sent, NoteBody)
    await breaks.resolve_break(visit.desk, visit.actor, visit.query.get("id", ""), body)
    return Result("The break is settled.")


CLOSE = Action("close", Role.DEALER, _ask_close, _close)
COMPLETE = Action("complete", Role.DEALER, _ask_complete, _complete, _preview_complete)
DELETE = Action("delete", Role.DEALER, _ask_delete, _delete)
CONFIRM = Action("confirm", Role.DEALER, _ask_confirm, _confirm)
REFUSE = Action("refuse", Role.DEALER, _ask_refuse, _refuse)
RESOLVE = Action("resolve", Role.DEALER, _ask_resolve, _resolve)
ACTIONS = (CLOSE, COMPLETE, DELETE, CONFIRM, REFUSE, RESOLVE)
