"""Confirms or refuses several waiting orders: each by its own call of the desk, with its own result."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from bullion.console.forms import Dialog, Fields, FormErrors, Hidden, field_of, read_fields
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import ORDERS
from bullion.console.widgets.components import hint
from bullion.console.widgets.formatting import rupees, weight
from bullion.desk.actions import order_life
from bullion.desk.actions.orders import ORDER_ID, get_order
from bullion.desk.bodies import ConfirmBody, ReasonBody
from bullion.desk.desk import View
from bullion.faults import StoreFault
from bullion.metals.rupees import paise, rupees_text
from bullion.refusals.desk import CONFLICT, INVALID_BODY, NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .order_format import left_to_cover, row_name

_MAX = 100
_ROW_COVER = (
    field_of(ConfirmBody, "cover_price", "Cover price"),
    field_of(ConfirmBody, "cover_reference", "Cover reference"),
)
_UNKNOWN = "The store did not answer: look whether it was done before you repeat it."
_NOT_TRIED = "Not tried."


@dataclass(frozen=True, slots=True)
class _Outcome:
    name: str
    message: str
    done: bool = False


def _order_ids(visit: Visit) -> list[str]:
    ids = list(dict.fromkeys(visit.param("ids").split(",")))
    if not ids or len(ids) > _MAX or not all(ORDER_ID.fullmatch(each) for each in ids):
        raise RefusalError(NOT_FOUND, f"Choose between 1 and {_MAX} orders.")
    return ids


def _row_cover(visit: Visit, order_id: str, name: str) -> dict[str, str | None]:
    """What was typed into the row of this order; the script sends it with the ids."""
    typed = {each.name: visit.param(f"{each.name} {order_id}") for each in _ROW_COVER}
    try:
        return read_fields(_ROW_COVER, typed)
    except FormErrors as errors:
        # The dialog has no such fields: its message says which row is meant.
        wrong = [
            f"{each.label}: {errors.by_field[each.name]}"
            for each in _ROW_COVER
            if each.name in errors.by_field
        ]
        raise RefusalError(INVALID_BODY, f"{name}: {' '.join(wrong)}") from None


def _ask(
    verb: str, explanation: str, fields: Fields, *, danger: bool
) -> Callable[[Visit], Awaitable[Dialog]]:
    async def ask(visit: Visit) -> Dialog:
        orders = [await get_order(visit.desk, visit.actor, each) for each in _order_ids(visit)]
        total = rupees(rupees_text(sum(paise(each["total"]) for each in orders)))
        count = f"{len(orders)} orders" if len(orders) > 1 else "1 order"
        rows = [
            el(
                "li",
                row_name(each),
                None if danger else _cover_notes(visit, each),
                el("span", rupees(each["total"]), class_="number"),
            )
            for each in orders
        ]
        return Dialog(
            title=f"{verb} {count}, {total}?",
            text=[explanation, "Each is answered by itself. If one fails, the others go on."],
            details=el("ul", rows, class_="batch-list"),
            confirm=f"{verb} {count}",
            danger=danger,
            fields=[*fields, *(Hidden(_left_name(each["id"]), "") for each in orders)],
            values={_left_name(each["id"]): left_to_cover(each) for each in orders},
        )

    return ask


def _left_name(order_id: str) -> str:
    """The field with what the dialog said is left to cover of an order."""
    return f"left {order_id}"


def _cover_notes(visit: Visit, order: View) -> list[Child]:
    """Lists name an order by all of its weight, of which a part may be covered already."""
    left = left_to_cover(order)
    partly = "" if left == order["quantity"] else f" {weight(left, order['unit'])} of it are left to cover"
    return [hint(partly), hint(_cover_text(_row_cover(visit, order["id"], row_name(order))))]


def _cover_text(cover: Mapping[str, str | None]) -> str:
    price, reference = cover["cover_price"], cover["cover_reference"]
    parts = [f"cover {rupees(price)}" if price else "", reference or ""]
    return ", ".join(filter(None, parts))


async def _each(
    visit: Visit, change: Callable[[str], Awaitable[View]], done: Callable[[View], str]
) -> list[_Outcome]:
    outcomes: list[_Outcome] = []
    ids = _order_ids(visit)
    for number, order_id in enumerate(ids):
        name = order_id
        try:
            name = row_name(await get_order(visit.desk, visit.actor, order_id))
            changed = await change(order_id)
        except RefusalError as refused:
            outcomes.append(_Outcome(name, refused.message))
        except StoreFault:
            outcomes.append(_Outcome(name, _UNKNOWN))
            return [*outcomes, *(_Outcome(each, _NOT_TRIED) for each in ids[number + 1 :])]
        else:
            outcomes.append(_Outcome(name, done(changed), done=True))
    return outcomes


def _result(outcomes: Sequence[_Outcome], verb: str) -> Result:
    done = sum(each.done for each in outcomes)
    if done == len(outcomes):
        return Result(f"{done} {verb}: " + "; ".join(f"{each.name}, {each.message}" for each in outcomes))
    failed = len(outcomes) - done
    summary = f"{done} of {len(outcomes)} {verb}, {failed} not."
    if done == 0 and len(outcomes) == 1:
        raise RefusalError(CONFLICT, outcomes[0].message)
    return Result(summary, reveal=_reveal(summary, outcomes))


def _reveal(summary: str, outcomes: Sequence[_Outcome]) -> Html:
    rows: list[Child] = [
        el(
            "li",
            el("b", "done" if each.done else "not done", class_="gain" if each.done else "loss"),
            f" {each.name}: {each.message}",
        )
        for each in outcomes
    ]
    close = el("button", "Close", type="button", class_="primary", data_close=True)
    return el(
        "div",
        el("h2", summary, id="dialog-title"),
        el("ul", rows, class_="batch-list"),
        el("div", close, class_="buttons"),
        class_="dialog",
    )


async def _confirm_all(visit: Visit) -> Result:
    bodies = {}
    for order_id in _order_ids(visit):
        noted = {
            name: value for name, value in _row_cover(visit, order_id, order_id).items() if value is not None
        }
        left = visit.form.get(_left_name(order_id))
        bodies[order_id] = ConfirmBody(**{**visit.values, **noted}, left=left)
    outcomes = await _each(
        visit,
        lambda order_id: order_life.confirm_order(visit.desk, visit.actor, order_id, bodies[order_id]),
        lambda order: f"deal {order['deal_no']}",
    )
    return _result(outcomes, "confirmed")


async def _refuse_all(visit: Visit) -> Result:
    body = ReasonBody(**visit.values)
    outcomes = await _each(
        visit,
        lambda order_id: order_life.refuse_order(visit.desk, visit.actor, order_id, body),
        lambda order: str(order["status"]),
    )
    return _result(outcomes, "refused")


_SAME_FOR_ALL = "Optional. It is kept with each of the orders."
_COVER_FIELDS: Fields = (
    field_of(
        ConfirmBody,
        "cover_reference",
        "Reference of the cover",
        "Optional. It is kept with each order that has none in its row.",
    ),
    field_of(ConfirmBody, "reason", "Where and how they were covered", _SAME_FOR_ALL),
)
_WHY_REFUSED: Fields = (field_of(ReasonBody, "reason", "Reason", _SAME_FOR_ALL),)
CONFIRM_ALL = Action(
    ORDERS,
    "confirm-all",
    "Confirm all",
    order_life.confirm_order,
    _ask(
        "Confirm",
        "Each order becomes a deal with a number, and its client sees it as open.",
        _COVER_FIELDS,
        danger=False,
    ),
    _confirm_all,
    _COVER_FIELDS,
)
REFUSE_ALL = Action(
    ORDERS,
    "refuse-all",
    "Refuse all",
    order_life.refuse_order,
    _ask("Refuse", "Each order is rejected for good, and nothing is booked.", _WHY_REFUSED, danger=True),
    _refuse_all,
    _WHY_REFUSED,
)


def batch_bar(visit: Visit) -> Html | None:
    """What can be done to all chosen rows. The script shows it while there are any."""
    if not visit.has_role(CONFIRM_ALL.role):
        return None

    def button(action: Action, verb: str, letter: str, kind: str) -> Html:
        return el(
            "button",
            el("span", verb),
            el("kbd", letter, aria_hidden="true"),
            type="button",
            class_=kind,
            data_batch=action.path("dialogs"),
            data_verb=verb,
            data_letter=letter.lower(),
            aria_haspopup="dialog",
        )

    return el(
        "div",
        el("b", role="status", class_="chosen"),
        button(CONFIRM_ALL, "Confirm", "C", "primary"),
        button(REFUSE_ALL, "Refuse", "R", ""),
        el(
            "button",
            "Clear ",
            el("kbd", "Esc", aria_hidden="true"),
            type="button",
            data_clear=True,
            class_="quiet",
        ),
        class_="batch",
        id="batch",
        hidden=True,
        data_keep=True,
        role="group",
        aria_label="Chosen orders",
    )
