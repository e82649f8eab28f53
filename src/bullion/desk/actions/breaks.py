"""Breaks: answers of the venue that contradict an order, and executions that no order accounts for."""

from dataclasses import replace

from bullion.booking.breaks import Mismatch
from bullion.desk.audit_wording.orders import tell_break
from bullion.desk.bodies import NoteBody
from bullion.desk.desk import ChangeResult, Desk, View
from bullion.desk.registry import action
from bullion.hedge.simulated import CONFIRMED, REFUSED
from bullion.metals.weight import weight_text
from bullion.orders.instant import instant_text
from bullion.records.hedges import BROKEN, OrderHedge, UnmatchedBreak
from bullion.records.orders import AccountOrder
from bullion.records.page import Page
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

from .hedge import ORDER_COLUMNS, order_view
from .order_view import hedge_view
from .orders import ORDER_ID, find_order

CONTRADICTS_ORDER = "contradicts_order"
"""The reason of a break of an order; executions have those of `Mismatch`."""
_ORDER_FIELDS = ("login_id", "symbol_code", "price", "total", "status", "source", "created_at")
_MESSAGES = {
    Mismatch.UNKNOWN_ORDER: "No recorded order has the id that the venue names.",
    Mismatch.SECOND_EXECUTION: "The venue had executed or refused this order before.",
}


@action(
    "GET /hedge/breaks",
    command="hedge breaks",
    columns=f"break_id reason {ORDER_COLUMNS} outcome execution_id words",
)
async def list_breaks(desk: Desk, actor: Actor, page: Page) -> tuple[list[View], int]:
    """List breaks: executions that do not match our orders, such as a fill of a deleted order."""
    # Executions without an order come first, then orders that the venue contradicts; each oldest first.

    async def work(records: Records) -> tuple[list[View], int]:
        unmatched, before = await records.unmatched_executions(actor.broker, page)
        rest = Page(page.limit - len(unmatched), max(0, page.offset - before))
        broken, total = await records.hedge_breaks(actor.broker, rest)
        views = [await _execution_view(records, actor.broker, each) for each in unmatched]
        return [*views, *map(break_view, broken)], before + total

    return await desk.read(actor, "hedge_breaks", work)


@action(
    "POST /hedge/breaks/{break_id}/resolve",
    Role.DEALER,
    audit_text="settled a break",
    tell=tell_break,
    command="hedge resolve",
)
async def resolve_break(desk: Desk, actor: Actor, break_id: str, body: NoteBody) -> View:
    """Settle a break, with a note on what was done. The order does not change.

    Name the break by its order, or by its execution if that belongs to no recorded order.
    """

    async def work(records: Records) -> ChangeResult:
        unmatched = await records.unmatched_execution(actor.broker, break_id)
        if unmatched is not None:
            return await _resolve_execution(records, actor, unmatched, body.note)
        return await _resolve_order(records, actor, break_id, body.note)

    subject = break_id.lower() if ORDER_ID.fullmatch(break_id.lower()) else break_id
    return await desk.change(actor, subject, work, catalogue=False)


async def _resolve_order(records: Records, actor: Actor, order_id: str, note: str) -> ChangeResult:
    found = await find_order(records, actor.broker, order_id, lock=True)
    hedge = await records.hedge(found.order)
    if hedge is None or hedge.state != BROKEN:
        since = "" if hedge is None or hedge.resolved_by is None else f"; {hedge.resolved_by} resolved it"
        raise RefusalError(CONFLICT, f"There is no break on this order{since}.")
    await records.resolve_break(found.order, actor.name, note)
    after = await records.hedge(found.order)
    if after is None:
        raise LookupError("a hedge request is gone")
    return ChangeResult(break_view(OrderHedge(hedge, found)), break_view(OrderHedge(after, found)))


async def _resolve_execution(
    records: Records, actor: Actor, found: UnmatchedBreak, note: str
) -> ChangeResult:
    if not await records.resolve_unmatched(actor.broker, found, actor.name, note):
        by = found.resolved_by or "another user"
        raise RefusalError(CONFLICT, f"This execution is no break any more; {by} resolved it.")
    resolved = replace(found, resolved_by=actor.name, resolution=note)
    return ChangeResult(
        await _execution_view(records, actor.broker, found),
        await _execution_view(records, actor.broker, resolved),
    )


def break_view(each: OrderHedge) -> View:
    hedge = hedge_view(each.hedge)
    told = ("instrument", "outcome", "execution_id", "words", "answered_at", "resolved_by", "resolution")
    return {
        "break_id": each.account_order.order.id,
        "reason": CONTRADICTS_ORDER,
        **order_view(each.account_order),
        **{name: hedge[name] for name in told},
        "words": _order_words(each),
    }


def _order_words(each: OrderHedge) -> str | None:
    """What the venue says, and of an order that was filled in part, how much of it there is to trade back."""
    hedge, order = each.hedge, each.account_order.order
    if hedge.outcome != CONFIRMED or hedge.rest is None:
        return hedge.words
    filled = f"{weight_text(order.asked.quantity_e4 - hedge.rest.quantity_e4)} {order.metal.unit}"
    return ": ".join(filter(None, (f"{filled} of it are covered", hedge.words)))


async def _execution_view(records: Records, broker: str, each: UnmatchedBreak) -> View:
    unmatched, execution = each.unmatched, each.unmatched.execution
    unit = None if unmatched.metal is None else unmatched.metal.unit
    found: AccountOrder | None = None
    if unmatched.reason is not Mismatch.UNKNOWN_ORDER:
        found = await records.order(broker, execution.order_id)
    order = {} if found is None else order_view(found)
    # The venue's word that it executed nothing, after it had reported a fill.
    refused = execution.quantity_e4 == 0
    differs = (
        "The venue refused it after it had filled it" if refused else "Side or weight is not the order's"
    )
    if not unmatched.excess_e4:
        differs = "It is not what the desk recorded by hand: another execution or price"
    return {
        "break_id": execution.execution_id,
        "reason": unmatched.reason.value,
        "order_id": execution.order_id,
        **{name: order.get(name) for name in _ORDER_FIELDS},
        "trade_type": execution.trade_type,
        "quantity": weight_text(execution.quantity_e4),
        "unit": unit,
        "instrument": execution.instrument,
        "outcome": REFUSED if refused else CONFIRMED,
        "execution_id": execution.execution_id,
        "words": _MESSAGES.get(unmatched.reason)
        or f"{differs}: {weight_text(unmatched.excess_e4)} is covered beyond it.",
        "answered_at": instant_text(execution.executed_at_us),
        "resolved_by": each.resolved_by,
        "resolution": each.resolution,
    }
