"""What the desk can do to an order, by its state. Each dialog says first what will happen."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from bullion.console.forms import Choice, Dialog, Fields, FormErrors, Hidden, field_of, read_fields
from bullion.console.html import Child, Html, el, join
from bullion.console.page import Action, Result, Visit, partly_covered
from bullion.console.pages.breaks import NOTE, settle
from bullion.console.paths import ORDERS
from bullion.console.stale_form import SEEN, seen, unchanged
from bullion.console.widgets.components import BAD, NOTHING, hint, state
from bullion.console.widgets.formatting import clock, deviation_text, is_zero, rupees, weight
from bullion.desk.actions import breaks, order_life
from bullion.desk.actions.orders import get_order
from bullion.desk.bodies import Body, CompleteBody, ConfirmBody, CoverBody, DeletionBody, ReasonBody
from bullion.desk.desk import View
from bullion.hedge.venues import abilities_of
from bullion.metals.rupees import paise
from bullion.metals.symbol import Side
from bullion.orders.status import FINAL, Status
from bullion.records.hedges import BROKEN
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError

from .order_format import deal_number, is_test, left_to_cover, row_name

_AT_ONCE = "It takes effect at once. The order's history and the audit trail record your name."
_FAR_PERCENT = 10
"""The preview warns of a closing price that deviates more from the deal's."""
_REASON_HINT = "Optional, up to 500 characters. It is kept with the order."
_REASON = field_of(ReasonBody, "reason", "Reason", _REASON_HINT)
_WHY_DELETED = field_of(
    DeletionBody,
    "reason",
    "Reason",
    "Required, up to 500 characters. It is kept with the order.",
    required=True,
)
_COVERED = field_of(ConfirmBody, "covered", "Weight covered", "Empty: all of it. Otherwise the rest waits.")
_LEFT = Hidden("left", "")
"""What the dialog said is left to cover."""
_COVER = (
    field_of(ConfirmBody, "cover_price", "Cover price", "Optional: the price that you dealt at."),
    field_of(ConfirmBody, "cover_reference", "Reference of the cover", "Optional, up to 64 characters."),
    field_of(ConfirmBody, "reason", "Where and how it was covered", _REASON_HINT),
)
_REST = (
    SEEN,
    Choice(  # Not named `action`: in a page that is the address of the form.
        "rest",
        "The rest",
        options=[
            ("take", "take it into the hedge book, and confirm the order"),
            ("again", "send it to the venue again"),
            ("refuse", "refuse the order: what was filled has been sold back"),
        ],
    ),
    field_of(CoverBody, "note", "Note", "Required, up to 500 characters. It is kept with the order."),
)
_PRICE = field_of(CompleteBody, "close_price", "Closing price")


def buttons(visit: Visit, order: View) -> Child:
    """Those that the order's state allows, or why there are none."""
    if is_test(order):
        return hint("A test order: there is nothing to do.")
    settling: list[Child] = []
    about = {"id": order["id"]}
    if _has_break(order):
        settling = [
            state(BAD, "A break: the venue's answer contradicts the order"),
            RESOLVE.button(visit, about, kind="primary"),
        ]
    if order["status"] in FINAL or order["archived"]:
        return settling or hint(f"The order is {order['status']}: there is nothing to do.")
    match order["status"]:
        case Status.PENDING if _by_hand(visit, order):
            other = COVER if _partly_covered(order) else REFUSE
            allowed = [CONFIRM.button(visit, about, kind="primary"), other.button(visit, about)]
        case Status.PENDING if _partly_covered(order):
            allowed = [COVER.button(visit, about, kind="primary")]
        case Status.OPEN:
            allowed = [CLOSE.button(visit, about, kind="primary")]
        case Status.CLOSING:
            allowed = [COMPLETE.button(visit, about, kind="primary")]
        case _:
            allowed = [hint("Waiting for the venue.")]
    return [*settling, *allowed, DELETE.button(visit, about, kind="warning apart")]


def row_actions(visit: Visit, order: View, *, by_hand: bool) -> Child:
    """What the state of an order allows in a row of a list; nothing for people who may not do it."""
    if is_test(order) or not visit.has_role(DELETE.role):
        return None
    name = row_name(order)
    delete = _row_button(DELETE, order["id"], "Delete …", name, kind="later")
    match order["status"]:
        case Status.PENDING if by_hand:
            refuse = _row_button(REFUSE, order["id"], "Refuse …", name)
            # Telephones have no room for fields in a row: there a dialog asks for the cover.
            cover = _row_button(CONFIRM, order["id"], "Cover …", name, kind="phone-only", letter=None)
            # A list does not know what is covered already: an order of which a part is covered is refused.
            return [_confirm_now(order["id"], name, order["quantity"]), refuse, cover, delete]
        case Status.PENDING:
            return [delete]
        case Status.OPEN:
            return [_row_button(CLOSE, order["id"], "Close …", name, kind="later"), delete]
        case Status.CLOSING:
            return [_row_button(COMPLETE, order["id"], "Complete …", name), delete]
        case _:
            return None


def queue_actions(visit: Visit, row: View) -> Child:
    """The buttons of one row of the desk's queue: one press confirms the order.

    The element of the row needs `data_key` with the order's id and `data_row` with `row_name(row)`, and its
    list `data_rows`, for the keyboard.
    """
    by_hand = visit.desk.venue.by_hand or abilities_of(row["venue"]).by_hand
    if not by_hand or row["status"] != Status.PENDING or not visit.has_role(CONFIRM.role):
        return None
    order_id, name = row["order_id"], row_name(row)
    rest = row["rest"]
    return el(
        "span",
        _confirm_now(order_id, name, row["quantity"] if rest is None else rest["quantity"]),
        _row_button(COVER, order_id, "Decide …", name, letter=None)
        if partly_covered(row)
        else _row_button(REFUSE, order_id, "Refuse …", name),
        _row_button(CONFIRM, order_id, "Cover …", name, letter=None),
        class_="row-actions",
    )


_LETTERS = {"confirm": "c", "refuse": "r"}


def _row_button(
    action: Action, order_id: str, text: str, name: str, *, kind: str = "", letter: str | None = ""
) -> Html:
    label = f"{text.removesuffix(' …')} {name}"
    return el(
        "button",
        text,
        type="button",
        class_=f"small {kind}".strip(),
        data_dialog=action.path("dialogs", {"id": order_id}),
        data_letter=_LETTERS.get(action.name) if letter == "" else letter,
        data_key=f"{action.name} {text}",
        aria_haspopup="dialog",
        aria_label=label,
    )


def _confirm_now(order_id: str, name: str, left: str) -> Html:
    """Confirms at once, with the cover that was typed into the row, if so much is left to cover."""
    return el(
        "button",
        "Confirm",
        type="button",
        class_="small primary",
        data_row_act=CONFIRM.path("actions", {"id": order_id}),
        data_left=left,
        data_letter="c",
        data_key="confirm",
        aria_label=f"Confirm {name}",
    )


def cover_input(visit: Visit, order: View, name: str) -> Child:
    """A field in the row of a waiting order, which is sent with its confirmation."""
    if not visit.has_role(CONFIRM.role):
        return NOTHING
    what = "Cover price" if name == "cover_price" else "Cover reference"
    return el(
        "input",
        name=name,
        id=f"{name}-{order['id']}",
        class_="cover",
        aria_label=f"{what} of {row_name(order)}",
        placeholder="₹" if name == "cover_price" else "reference",
        inputmode="decimal" if name == "cover_price" else None,
        maxlength=64,
        autocomplete="off",
        spellcheck="false",
    )


def _has_break(order: View) -> bool:
    return order["hedge"] is not None and order["hedge"]["state"] == BROKEN


def _partly_covered(order: View) -> bool:
    return order["hedge"] is not None and partly_covered(order["hedge"])


def _by_hand(visit: Visit, order: View) -> bool:
    hedge = order["hedge"]
    return visit.desk.venue.by_hand or (hedge is not None and abilities_of(hedge["venue"]).by_hand)


def _shown(order: View) -> View:
    """What a dialog depends on: filled, a pending order is a deal, and its hedge stays if it is deleted."""
    rest = (order.get("hedge") or {}).get("rest") or {}
    left = order.get("left", rest.get("quantity")) if order["status"] == Status.PENDING else None
    return {"status": order["status"], "left": left}


def _summary(order: View) -> str:
    """Sell 5 g GOLD for client, at 71,230.00"""
    size = weight(order["quantity"], order["unit"])
    what = f"{order['trade_type'].capitalize()} {size} {order['symbol_code']} for {order['login_id']}"
    return f"{what}, at {rupees(order['price'])}, total {rupees(order['total'])}."


def _leaves(order: View) -> str:
    """Only buys take from the stock."""
    returns = ", and its weight returns to stock" if order["trade_type"] == Side.BUY else ""
    return f"It leaves the client's position{returns}."


async def _ask_refuse(visit: Visit) -> Dialog:
    order = await get_order(visit.desk, visit.actor, visit.param("id"))
    return Dialog(
        title="Refuse this order?",
        text=[
            _summary(order),
            "The order is rejected for good: nothing is booked, and it leaves the client's position.",
            "The client sees that it was refused.",
            _AT_ONCE,
        ],
        confirm="Refuse the order",
        danger=True,
    )


def _action(
    name: str,
    label: str,
    work: Callable[..., Awaitable[View]],
    ask: Callable[[Visit], Awaitable[Dialog]],
    done: Callable[[View], str],
    fields: Fields = (),
    body: type[Body] | None = None,
) -> Action:
    async def do(visit: Visit) -> Result:
        bodies = [] if body is None else [body(**visit.values)]
        return Result(done(await work(visit.desk, visit.actor, visit.param("id"), *bodies)))

    return Action(ORDERS, name, label, work, ask, do, fields)


async def _market_line(visit: Visit, order_id: str) -> Html:
    """What closing the deal at the market would come to."""
    market = await order_life.closing_market(visit.desk, visit.actor, order_id)
    if market["price"] is None:
        return el("span", "There is no market price now.", class_="market")
    verb = f"The client {market['trade_type']}s at"
    text = f"Market at {clock(visit.now, visit.zone)}: {verb[0].lower()}{verb[1:]} "
    return el(
        "span",
        text,
        el("b", rupees(market["price"])),
        ". ",
        _client_result(market["realized_pnl"]),
        class_="market",
    )


def _client_result(pnl: str) -> list[Child]:
    """The client gains ₹ 2,500.00."""
    if is_zero(pnl):
        return ["The client neither gains nor loses ", el("b", rupees("0.00"), class_="result"), "."]
    text, kind = ("The client loses ", "loss") if pnl.startswith("-") else ("The client gains ", "gain")
    return [text, el("b", rupees(pnl.lstrip("-")), class_=f"result {kind}"), "."]


async def _ask_close(visit: Visit) -> Dialog:
    order = await get_order(visit.desk, visit.actor, visit.param("id"))
    return Dialog(
        title=f"Close deal {deal_number(order)}?",
        text=[
            _summary(order),
            await _market_line(visit, order["id"]),
            "The deal becomes closing, and the client sees that. It cannot be reopened.",
            "It counts in the position until you complete it with its closing price.",
            _AT_ONCE,
        ],
        confirm="Close the deal",
    )


async def _ask_confirm(visit: Visit) -> Dialog:
    order = await get_order(visit.desk, visit.actor, visit.param("id"))
    anatomy = order["price_anatomy"]
    per = weight(anatomy["quoted_weight"], anatomy["unit"])
    price, *others = _COVER
    left = left_to_cover(order)
    return Dialog(
        title=f"Confirm {row_name(order)}?",
        text=[
            _summary(order),
            *await _reference_line(visit, order),
            "Confirm when you have covered it.",
            "The order becomes a deal with a number, and the client sees it as open.",
            _AT_ONCE,
        ],
        confirm=f"Confirm {weight(left, order['unit'])}",
        fields=[
            _LEFT,
            replace(_COVERED, label=f"Weight covered, of {weight(left, order['unit'])}"),
            replace(price, label=f"Cover price, in rupees per {per}"),
            *others,
        ],
        values={_LEFT.name: left},
    )


def _confirmed(done: View) -> str:
    if done["status"] == Status.PENDING:
        left = weight(done["hedge"]["rest"]["quantity"], done["unit"])
        return f"Covered in part: {row_name(done)}. {left} of it are left to cover."
    return f"Confirmed as deal {done['deal_no']}: {row_name(done)}."


async def _reference_line(visit: Visit, order: View) -> list[Html]:
    """The market's price for the desk, which buys what the client buys."""
    quotes, _ = (await visit.watch.quotes.get(visit.actor)).value or ([], 0)
    name = "ask" if order["trade_type"] == "buy" else "bid"
    found = [each[name] for each in quotes if each["symbol_code"] == order["symbol_code"] and each[name]]
    if not found:
        return []
    text = f"Market before premiums at {clock(visit.now, visit.zone)}: "
    return [el("span", text, el("b", rupees(found[0])), ".", class_="market")]


async def _ask_complete(visit: Visit) -> Dialog:
    order = await get_order(visit.desk, visit.actor, visit.param("id"))
    anatomy = order["price_anatomy"]
    label = f"Closing price, in rupees per {weight(anatomy['quoted_weight'], anatomy['unit'])}"
    return Dialog(
        title=f"Complete the closing of deal {deal_number(order)}?",
        text=[
            _summary(order),
            await _market_line(visit, order["id"]),
            f"The deal is closed at this price. {_leaves(order)}",
            "The result below is final.",
            _AT_ONCE,
        ],
        confirm="Complete at this price",
        fields=[replace(_PRICE, label=label)],
    )


async def _preview_complete(visit: Visit) -> Html:
    if not visit.form.get("close_price", "").strip():
        text = "Enter the price to see the result before you confirm."
        return el("p", text, class_="hint", data_not_yet=True)
    try:
        found = await _completion(visit, read_fields([_PRICE], visit.form)["close_price"])
    except RefusalError as refused:
        message = refused.by_field["close_price"] if isinstance(refused, FormErrors) else refused.message
        return el("p", message, class_="refused", data_not_yet=True)
    shown = el("p", f"Closed at {rupees(found['close_price'])}. ", _client_result(str(found["realized_pnl"])))
    warning = _deviation(found)
    return join([shown, el("p", warning, class_="refused")]) if warning else shown


async def _completion(visit: Visit, close_price: str) -> View:
    body = CompleteBody(close_price=close_price)
    return await order_life.preview_completion(visit.desk, visit.actor, visit.param("id"), body)


def _deviation(found: View) -> str | None:
    """A warning where the price is far from the deal's: a digit may be missing."""
    dealt, closed = paise(found["price"]), paise(found["close_price"])
    if abs(closed - dealt) * 100 <= dealt * _FAR_PERCENT:
        return None
    return (
        f"This is {deviation_text(closed, dealt)} the price of the deal, which is {rupees(found['price'])}."
    )


async def _complete(visit: Visit) -> Result:
    price = visit.values["close_price"]
    body = CompleteBody(close_price=price)
    done = await order_life.complete_order(visit.desk, visit.actor, visit.param("id"), body)
    return Result(f"The deal is closed at {rupees(done['close_price'])}.")


async def _ask_delete(visit: Visit) -> Dialog:
    order = await get_order(visit.desk, visit.actor, visit.param("id"))
    warning = "Delete only orders that should not exist. A finished deal is closed, not deleted."
    if order["status"] == Status.PENDING and not _by_hand(visit, order):
        warning = (
            "The venue may still fill it. The fill then has no order, is shown as a break, and you have to "
            "settle it with the venue."
        )
    return Dialog(
        title="Delete this order?",
        text=[
            _summary(order),
            el("strong", warning),
            f"It is deleted for good. {_leaves(order)}",
            "You and the client can still read it.",
            _AT_ONCE,
        ],
        confirm="Delete the order",
        danger=True,
        values=seen(_shown(order)),
    )


async def _delete(visit: Visit) -> Result:
    body, only_if = DeletionBody(reason=visit.values["reason"]), unchanged(visit, "The order", _shown)
    done = await order_life.delete_order(visit.desk, visit.actor, visit.param("id"), body, only_if=only_if)
    return Result(f"Deleted: {row_name(done)}.")


async def _ask_cover(visit: Visit) -> Dialog:
    order = await get_order(visit.desk, visit.actor, visit.param("id"))
    if not _partly_covered(order):
        raise RefusalError(CONFLICT, "No rest of this order waits for a decision of the desk.")
    rest = order["hedge"]["rest"]
    return Dialog(
        title="What happens to the rest?",
        text=[
            _summary(order),
            _unfilled(rest),
            f"Its last answer is: {order['hedge']['words']}",
            _AT_ONCE,
        ],
        confirm="Decide",
        values={"rest": "take", **seen(_shown(order))},
    )


def _unfilled(rest: View) -> str:
    return f"The venue has not filled {weight(rest['quantity'], rest['unit'])} of it."


async def _decide_rest(visit: Visit) -> Result:
    body = CoverBody(action=visit.values["rest"], note=visit.values["note"])
    only_if = unchanged(visit, "The order", _shown)
    done = await order_life.cover_order(visit.desk, visit.actor, visit.param("id"), body, only_if=only_if)
    return Result(f"Decided: {row_name(done)} is {done['status']}.")


async def _ask_resolve(visit: Visit) -> Dialog:
    order = await get_order(visit.desk, visit.actor, visit.param("id"))
    if not _has_break(order):
        raise RefusalError(CONFLICT, "There is no break on this order.")
    rest = order["hedge"]["rest"]
    return Dialog(
        title="Settle the break?",
        text=[
            _summary(order),
            f"The order is {order['status']}, and the venue's last answer is: {order['hedge']['words']}",
            *([_unfilled(rest)] if rest is not None else []),
            "Nothing is corrected by itself: settle it with the venue first, then note what was done.",
            "The break leaves the overview, and the order stays as it is.",
            _AT_ONCE,
        ],
        confirm="Mark as settled",
    )


CLOSE = _action(
    "close",
    "Close",
    order_life.close_order,
    _ask_close,
    lambda _: "The deal is closing. Complete it with the closing price.",
)
COMPLETE = Action(
    ORDERS,
    "complete",
    "Complete",
    order_life.complete_order,
    _ask_complete,
    _complete,
    (_PRICE,),
    preview=_preview_complete,
    preview_required=True,
)
DELETE = Action(
    ORDERS, "delete", "Delete", order_life.delete_order, _ask_delete, _delete, (SEEN, _WHY_DELETED)
)
CONFIRM = _action(
    "confirm",
    "Confirm",
    order_life.confirm_order,
    _ask_confirm,
    _confirmed,
    (_LEFT, _COVERED, *_COVER),
    ConfirmBody,
)
REFUSE = _action(
    "refuse",
    "Refuse",
    order_life.refuse_order,
    _ask_refuse,
    lambda done: f"Refused: {row_name(done)}.",
    (_REASON,),
    ReasonBody,
)
COVER = Action(
    ORDERS, "cover", "Decide about the rest", order_life.cover_order, _ask_cover, _decide_rest, _REST
)
RESOLVE = Action(ORDERS, "resolve", "Settle the break", breaks.resolve_break, _ask_resolve, settle, (NOTE,))
ACTIONS = (CLOSE, COMPLETE, DELETE, CONFIRM, REFUSE, COVER, RESOLVE)
