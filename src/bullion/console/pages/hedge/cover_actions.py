"""What the desk does with covers: make one, send it, record a deal by telephone, drop or settle it."""

from dataclasses import replace
from uuid import uuid4

from bullion.console.forms import (
    Amount,
    Choice,
    Dialog,
    Field,
    FormErrors,
    Hidden,
    Lines,
    Values,
    field_of,
    read_fields,
)
from bullion.console.html import Html, el
from bullion.console.page import Action, Result, Visit, locked_button
from bullion.console.paths import MARKET
from bullion.console.widgets.fine_weight import fine, milligrams, position_mg
from bullion.console.widgets.formatting import trim_zeros, weight
from bullion.desk.actions.cover_settling import settle_cover
from bullion.desk.actions.covers import (
    create_cover,
    drop_cover,
    fill_cover,
    list_contracts,
    list_covers,
    preview_cover,
    send_cover,
)
from bullion.desk.actions.hedge_book import get_book
from bullion.desk.bodies import BookCoverBody, CoverFillBody, CoverSettlingBody, ExecutedBody, ReasonBody
from bullion.desk.desk import View
from bullion.hedge.contract import DOLLARS
from bullion.hedge.cover import OPEN
from bullion.hedge.venues import sends_to
from bullion.records.page import Page
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .cover_text import currency_sign, plain_text, quantity
from .hedge_data import COVERS_SHOWN, by_metal, signed_mg

_RECORDED = "The audit trail records your name."
_KEY = Hidden("key", "")
"""One for each form: sending it twice makes one cover."""
_CONTRACT = Choice("contract", "Contract", required=True)
_SIDE = Choice("side", "The house", options=(("buy", "buys"), ("sell", "sells")))
_QUANTITY = field_of(BookCoverBody, "quantity", "Quantity, lots or ounces", "as the contract counts it")
_REASON = field_of(
    ReasonBody, "reason", "Reason", "Optional, up to 500 characters. It is kept with the cover."
)
_DEALT = field_of(CoverFillBody, "quantity", "Quantity dealt")
_PRICE = field_of(CoverFillBody, "price", "Price")
_REFERENCE = field_of(
    CoverFillBody,
    "reference",
    "Reference",
    "of the counterparty's deal; it counts once, up to 64 characters",
)
_FEE = field_of(CoverFillBody, "fee", "Fee", required=False)
_DOLLAR: Field = Amount("dollar", "Rupees for a dollar, ₹", "the rate that you cover the dollars at")
_DEAL = (_DEALT, _PRICE, _REFERENCE, _FEE, _DOLLAR)


_OUTCOME = Choice(
    "outcome", "The venue", options=(("executed", "has executed it"), ("none", "has none of it"))
)
_EXECUTED = Lines("fills", "Executions", rows=3)
_SAID = field_of(CoverSettlingBody, "reason", "Who said so, and when", "It is kept with the cover.")
_SETTLING = (_OUTCOME, _EXECUTED, _SAID)


def cover_buttons(visit: Visit, cover: View, place: str) -> list[Html]:
    """Of a cover that is suggested; `place` tells apart where a page shows them twice."""
    about, name = {"id": cover["id"]}, plain_text(cover)
    send = SEND.button(visit, about, kind="small primary", label=f"{SEND.label}: {name}")
    if visit.has_role(SEND.role) and not sends_to(visit.desk.venue, cover["venue"]):
        why = "dealt by telephone: record the deal"
        send = locked_button(SEND.label, why, name=f"why-send-{place}-{cover['id']}", kind="small")
    others = (RECORD, DROP)
    return [
        send,
        *(each.button(visit, about, kind="small", label=f"{each.label}: {name}") for each in others),
    ]


def end_button(visit: Visit, cover: View) -> Html:
    """Of a cover that was sent: it is dropped while the venue cannot have it, and settled afterwards."""
    end = DROP if cover["reference"] is None else SETTLE
    return end.button(visit, {"id": cover["id"]}, kind="small", label=f"{end.label}: {plain_text(cover)}")


async def _find(visit: Visit) -> View:
    for state in (OPEN, None):
        rows, _ = await list_covers(visit.desk, visit.actor, state, Page(COVERS_SHOWN, 0))
        for each in rows:
            if each["id"] == visit.param("id"):
                return each
    raise RefusalError(NOT_FOUND, "The cover is not among the newest any more.")


async def _ask_new(visit: Visit) -> Dialog:
    contracts = [each for each in await list_contracts(visit.desk, visit.actor) if each["active"]]
    if not contracts:
        raise RefusalError(NOT_FOUND, "There is no active contract. An admin activates one under Contracts.")
    return Dialog(
        title="New cover",
        text=[f"It is made as a suggestion: send it then, or deal it by telephone. {_RECORDED}"],
        confirm="Make the cover",
        values={
            "key": str(uuid4()),
            "contract": visit.param("contract"),
            "side": visit.param("side") or "buy",
        },
        options={"contract": [(each["code"], _offer(each)) for each in contracts]},
    )


def _offer(contract: View) -> str:
    lot = weight(contract["lot"], "g")
    return (
        f"{contract['code']}: {contract['metal']}, lot {lot} at {contract['fineness']}, {contract['venue']}"
    )


async def _preview_new(visit: Visit) -> Html:
    try:
        typed = read_fields((_CONTRACT, _SIDE, _QUANTITY), visit.form)
        wanted = await preview_cover(visit.desk, visit.actor, _body(typed, "preview"))
    except FormErrors:
        return el("p", "Enter a quantity to see what it leaves of the book.", class_="hint")
    except RefusalError as refused:
        return el(
            "p", refused.errors[0].msg.capitalize() if refused.errors else refused.message, class_="hint"
        )
    metal = wanted["metal"]
    book = by_metal(await get_book(visit.desk, visit.actor))[metal]
    before_mg = milligrams(book["residual"])
    leads = f"{position_mg(before_mg, metal)} → {position_mg(before_mg + signed_mg(wanted), metal)}"
    return el("p", f"{fine(wanted['fine'], metal)} fine. Book of {metal}: {leads}.")


def _body(values: Values, key: str) -> BookCoverBody:
    return BookCoverBody(
        contract=values["contract"], side=values["side"], quantity=values["quantity"], idempotency_key=key
    )


async def _create(visit: Visit) -> Result:
    made = await create_cover(visit.desk, visit.actor, _body(visit.values, visit.values["key"]))
    return Result(f"Cover made: {plain_text(made)}, {fine(made['fine'], made['metal'])} fine.")


async def _ask_send(visit: Visit) -> Dialog:
    cover = await _find(visit)
    book = by_metal(await get_book(visit.desk, visit.actor))[cover["metal"]]
    metal, before_mg = cover["metal"], milligrams(book["residual"])
    after = position_mg(before_mg + signed_mg(cover), metal)
    return Dialog(
        title=f"Send the cover: {plain_text(cover)}?",
        text=[
            f"{fine(cover['fine'], metal)} fine, to the venue {cover['venue']}.",
            f"Book of {metal}: {position_mg(before_mg, metal)} → {after} when it is filled.",
            f"It cannot be taken back once the venue has it. {_RECORDED}",
        ],
        confirm=f"Send: {plain_text(cover)}",
    )


async def _send(visit: Visit) -> Result:
    sent = await send_cover(visit.desk, visit.actor, visit.param("id"))
    return Result(f"Sent: {plain_text(sent)}. The tab Covers shows what becomes of it.")


async def _ask_drop(visit: Visit) -> Dialog:
    cover = await _find(visit)
    return Dialog(
        title=f"Drop the cover: {plain_text(cover)}?",
        text=[f"It was not dealt, and is not dealt any more. The book stays as it is. {_RECORDED}"],
        confirm="Drop it",
    )


async def _drop(visit: Visit) -> Result:
    body = ReasonBody(reason=visit.values["reason"])
    dropped = await drop_cover(visit.desk, visit.actor, visit.param("id"), body)
    return Result(f"The cover is dropped: {plain_text(dropped)}.")


async def _ask_record(visit: Visit) -> Dialog:
    cover = await _find(visit)
    sign, per = currency_sign(cover["currency"]), weight(cover["price_weight"], "g")
    fields: list[Field] = [
        replace(_DEALT, label=f"Quantity dealt, of {quantity(cover['quantity'])}"),
        replace(_PRICE, label=f"Price, {sign} per {per}"),
        _REFERENCE,
        replace(_FEE, label=f"Fee, {sign}", hint="empty: none"),
    ]
    if cover["currency"] == DOLLARS:
        fields.append(replace(_DOLLAR, required=True))
    return Dialog(
        title=f"Record a deal: {plain_text(cover)}",
        text=[
            "What you dealt by telephone. The book moves with it at once, and this cannot be undone.",
            f"A deal of less than all of it ends the cover too: make another for the rest. {_RECORDED}",
        ],
        confirm="Record the deal",
        fields=fields,
        values={"quantity": trim_zeros(cover["quantity"])},
    )


async def _record(visit: Visit) -> Result:
    values = visit.values
    body = CoverFillBody(
        quantity=values["quantity"],
        price=values["price"],
        reference=values["reference"],
        fee=values["fee"] or "0",
        dollar=values["dollar"],
    )
    done = await fill_cover(visit.desk, visit.actor, visit.param("id"), body)
    return Result(
        f"Recorded: {plain_text(done)}, {quantity(body.quantity)} dealt, reference {body.reference}."
    )


async def _ask_settle(visit: Visit) -> Dialog:
    cover = await _find(visit)
    price = f"price in {currency_sign(cover['currency'])} per {weight(cover['price_weight'], 'g')}"
    return Dialog(
        title=f"Settle the cover: {plain_text(cover)}?",
        text=[
            f"For a cover that the venue {cover['venue']} does not answer. Call the venue first.",
            "The book moves with what you enter, and this cannot be undone.",
            f"Anything else that the venue reports later is shown as a break. {_RECORDED}",
        ],
        confirm="Settle it",
        fields=[
            _OUTCOME,
            replace(_EXECUTED, hint=f"one execution on each line: its id, the quantity, the {price}"),
            _SAID,
        ],
    )


async def _settle(visit: Visit) -> Result:
    values = visit.values
    fills = [_executed(line) for line in values["fills"] or () if line]
    body = CoverSettlingBody(outcome=values["outcome"], reason=values["reason"], fills=fills)
    done = await settle_cover(visit.desk, visit.actor, visit.param("id"), body)
    return Result(f"The cover is settled: {plain_text(done)}, {done['state']}.")


def _executed(line: str) -> ExecutedBody:
    words = line.split()
    if len(words) != 3:
        raise FormErrors({"fills": "Each line has an execution id, a quantity and a price."})
    return ExecutedBody(execution_id=words[0], quantity=words[1], price=words[2])


NEW = Action(
    MARKET,
    "new-cover",
    "New cover",
    create_cover,
    _ask_new,
    _create,
    (_KEY, _CONTRACT, _SIDE, _QUANTITY),
    preview=_preview_new,
)
SEND = Action(MARKET, "send-cover", "Send", send_cover, _ask_send, _send)
DROP = Action(MARKET, "drop-cover", "Drop", drop_cover, _ask_drop, _drop, (_REASON,))
RECORD = Action(MARKET, "record-deal", "Record a deal", fill_cover, _ask_record, _record, _DEAL)
SETTLE = Action(MARKET, "settle-cover", "Settle", settle_cover, _ask_settle, _settle, _SETTLING)
ACTIONS = (NEW, SEND, DROP, RECORD, SETTLE)
