"""Changes of production orders by the desk: close, complete, delete, confirm and refuse.

Concurrent changes of one order are serialized; the second gets an error with the order's new state.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from secrets import token_hex

import msgspec

from bullion.booking.house_book import IN_BOOK
from bullion.booking.partial_fills import LAST_CHILD
from bullion.desk.audit_wording.orders import tell_complete, tell_confirmed, tell_order
from bullion.desk.audit_wording.parts import Tell
from bullion.desk.bodies import CompleteBody, ConfirmBody, CoverBody, DeletionBody, ReasonBody
from bullion.desk.conversion import require_valid
from bullion.desk.desk import ChangeResult, Desk, OnlyIf, View
from bullion.desk.price_guard import Deal, PriceRow, far_closing_price, market_paise, price_text
from bullion.desk.price_snapshot import read_snapshot
from bullion.desk.problems import invalid_field
from bullion.desk.registry import F, action
from bullion.hedge.simulated import CONFIRMED, REFUSED
from bullion.hedge.venues import abilities_of
from bullion.metals.rupees import paise
from bullion.metals.symbol import Side
from bullion.metals.weight import weight_e4, weight_text
from bullion.orders import life
from bullion.orders.instant import instant_text
from bullion.orders.order import Order
from bullion.orders.status import TRANSITIONS, Event, Status
from bullion.records.hedges import Execution, Hedge
from bullion.records.orders import AccountOrder
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

from .hand_covers import execute, leg_of, note_cover, noted_cover
from .order_view import ORDER_RESULT_COLUMNS, cover_view, full_view, view
from .orders import find_order

_PAISE_MAX = 2**63 - 1
"""The largest amount that a store can keep."""
_DONE = {
    Event.CONFIRM: "confirmed",
    Event.REFUSE: "refused",
    Event.CLOSE: "closed",
    Event.COMPLETE: "completed",
    Event.DELETE: "deleted",
}
_DEFAULT_REASON = "The desk refused it."

Make = Callable[[Records, Order, int], Awaitable[tuple[Order, str | None]]]
"""Returns the changed order, which is locked, and the message for its event."""
Price = Callable[[Records, AccountOrder], Awaitable[list[PriceRow]]]
"""The prices that a change sets and that somebody may have to confirm."""


def _order_action(
    what: str, audit_text: str, tell: Tell, question: str | None = None, *, moves_prices: bool = False
) -> Callable[[F], F]:
    return action(
        f"POST /orders/{{id}}/{what}",
        Role.DEALER,
        audit_text=audit_text,
        tell=tell,
        command=f"orders {what}",
        columns=ORDER_RESULT_COLUMNS,
        question=question,
        moves_prices=moves_prices,
    )


@_order_action("close", "started to close an order", tell_order("is being closed"))
async def close_order(desk: Desk, actor: Actor, order_id: str) -> View:
    """Start to close an open order."""

    async def make(_records: Records, order: Order, at_us: int) -> tuple[Order, None]:
        return life.after(order, Event.CLOSE, at_us), None

    return await _change(desk, actor, order_id, make)


@_order_action(
    "complete",
    "closed an order",
    tell_complete,
    "Close the order {order} at {close_price}? Compare the two prices: this cannot be undone.",
    moves_prices=True,
)
async def complete_order(desk: Desk, actor: Actor, order_id: str, body: CompleteBody) -> View:
    """Complete the closing of an order at a price, which sets its final profit or loss."""
    close_price_paise = paise(body.close_price)

    async def make(_records: Records, order: Order, at_us: int) -> tuple[Order, None]:
        return _completed(order, at_us, close_price_paise), None

    async def price(records: Records, found: AccountOrder) -> list[PriceRow]:
        deal = await _deal(records, actor.broker, found)
        return far_closing_price(await read_snapshot(records, actor.broker), deal, close_price_paise)

    return await _change(desk, actor, order_id, make, price)


async def _deal(records: Records, broker: str, found: AccountOrder) -> Deal:
    order, client = found.order, await records.client(broker, found.login_id)
    anatomy = msgspec.json.decode(order.price_anatomy)
    return Deal(
        symbol_code=order.asked.symbol_code,
        group="" if client is None else client.account.group,
        closed_by=Side.SELL if order.asked.trade_type == Side.BUY else Side.BUY,
        price_paise=order.price_paise,
        quoted_weight_e4=weight_e4(anatomy["quoted_weight"]),
        weight_unit=order.metal.unit,
    )


async def preview_completion(desk: Desk, actor: Actor, order_id: str, body: CompleteBody) -> View:
    """The order as its completion at that price would leave it; nothing is changed."""
    require_valid(body)
    close_price_paise = paise(body.close_price)

    async def work(records: Records) -> View:
        found = await find_order(records, actor.broker, order_id)
        try:
            completed = _completed(found.order, await records.now_us(), close_price_paise)
        except life.NotAllowed as not_allowed:
            raise await _refused(records, found, not_allowed.event) from None
        return view(replace(found, order=completed))

    return await desk.read(actor, "order", work)


async def closing_market(desk: Desk, actor: Actor, order_id: str) -> View:
    """The client's price now for closing a deal, and the result at it. Both null while there is no price."""

    async def work(records: Records) -> View:
        found = await find_order(records, actor.broker, order_id)
        deal = await _deal(records, actor.broker, found)
        price_paise = market_paise(await read_snapshot(records, actor.broker), deal)
        result_paise = None
        if price_paise is not None:
            at_us, order = await records.now_us(), found.order
            try:
                closing = order if order.status == Status.CLOSING else life.after(order, Event.CLOSE, at_us)
            except life.NotAllowed as not_allowed:
                raise await _refused(records, found, not_allowed.event) from None
            result_paise = _completed(closing, at_us, price_paise).realized_pnl_paise
        return {
            "price": price_text(price_paise),
            "trade_type": deal.closed_by.value,
            "realized_pnl": price_text(result_paise),
        }

    return await desk.read(actor, "order", work)


def _completed(order: Order, at_us: int, close_price_paise: int) -> Order:
    closed = life.after(order, Event.COMPLETE, at_us, close_price_paise=close_price_paise)
    if abs(closed.realized_pnl_paise or 0) > _PAISE_MAX:
        raise invalid_field(("close_price",), "is so far from the price that the result cannot be kept")
    return closed


@_order_action(
    "delete",
    "deleted an order",
    tell_order("deleted"),
    "Delete the order {order}? This cannot be undone. Its hedge at the venue stays, and a later fill of a "
    "pending order is shown as a break.",
)
async def delete_order(
    desk: Desk, actor: Actor, order_id: str, body: DeletionBody, *, only_if: OnlyIf | None = None
) -> View:
    """Delete an order that is pending, open or closing, for a reason.

    It no longer counts in positions, and can still be read. A fill that the venue reports later is shown
    as a break.
    """

    async def make(records: Records, order: Order, at_us: int) -> tuple[Order, str | None]:
        deleted = life.after(order, Event.DELETE, at_us)
        hedge = await records.hedge(order)
        answered_here = hedge is not None and (hedge.partly_covered or hedge.venue == IN_BOOK)
        if answered_here or await _by_hand(desk, records, order):
            await records.withdraw_hedge(order, at_us)  # There is no venue to ask.
        return deleted, body.reason

    return await _change(desk, actor, order_id, make, only_if=only_if)


@_order_action("confirm", "confirmed an order", tell_confirmed)
async def confirm_order(desk: Desk, actor: Actor, order_id: str, body: ConfirmBody) -> View:
    """Confirm that a pending order is hedged: it becomes a deal. Only with BULLION_HEDGE=desk.

    With covered, only that weight of it is hedged. The rest waits: confirm it too, take it into the hedge
    book, or refuse the order after you have sold back what was covered. With left, a call that is repeated
    does not cover the rest too.
    """
    execution_id = _new_execution_id()
    cover = noted_cover(body)

    async def make(records: Records, order: Order, at_us: int) -> tuple[Order, str]:
        hedge = await _require_by_hand(desk, records, order)
        life.after(order, Event.CONFIRM, at_us)  # Before a deal number is used up.
        leg = leg_of(order, hedge)
        leg.require_left(body.left)
        part = leg.part(body.covered)
        wanted = leg.execution(part, CONFIRMED, execution_id, at_us)
        execution = await execute(records, actor.broker, wanted)
        message = body.reason or f"execution {execution.execution_id}"
        if cover is not None:
            await note_cover(records, actor.broker, leg, execution, cover)
        if part.left_e4 or leg.child or hedge.rest is not None:
            await records.cover_part(order, leg.child, execution, part)
        if part.left_e4:
            await records.keep_rest_waiting(order, message)
            return order, message
        await records.answer_hedge(order, execution, message)
        deal_no = await records.next_deal_no(actor.broker)
        return life.after(order, Event.CONFIRM, at_us, deal_no=deal_no), message

    return await _change(desk, actor, order_id, make)


@_order_action("cover", "decided about the rest of a partly covered order", tell_order("rest decided"))
async def cover_order(
    desk: Desk, actor: Actor, order_id: str, body: CoverBody, *, only_if: OnlyIf | None = None
) -> View:
    """Decide about the rest of an order that the venue filled in part.

    take leaves the rest to the hedge book, and the order becomes a deal. again sends the rest to the venue
    once more. refuse rejects the order: first sell back what was filled for it.
    """

    async def make(records: Records, order: Order, at_us: int) -> tuple[Order, str]:
        hedge = await records.hedge(order)
        event = Event.REFUSE if body.action == "refuse" else Event.CONFIRM
        life.after(order, event, at_us)
        again = body.action == "again"
        waits = hedge is not None and hedge.partly_covered
        # Where the desk is the venue, nobody else answers for a rest that was sent.
        waits = waits or (not again and await _by_hand(desk, records, order))
        if hedge is None or hedge.rest is None or not waits:
            raise RefusalError(CONFLICT, "No rest of this order waits for a decision of the desk.")
        if again:
            if hedge.rest.child >= LAST_CHILD:
                raise RefusalError(CONFLICT, "The rest of this order was sent too often. Take or refuse it.")
            await records.send_rest_again(order, at_us, body.note)
            return order, body.note
        execution_id = await records.first_fill(order)
        if execution_id is None:
            raise LookupError("a partly covered order has no fill")
        asked, confirmed = order.asked, body.action == "take"
        outcome = CONFIRMED if confirmed else REFUSED
        execution = Execution(
            order.id, hedge.instrument, asked.trade_type, asked.quantity_e4, outcome, execution_id, at_us
        )
        await records.answer_hedge(order, execution, body.note)
        if not confirmed:
            return life.after(order, Event.REFUSE, at_us), body.note
        await records.take_rest(order)
        deal_no = await records.next_deal_no(actor.broker)
        return life.after(order, Event.CONFIRM, at_us, deal_no=deal_no), body.note

    return await _change(desk, actor, order_id, make, only_if=only_if)


@_order_action("refuse", "refused an order", tell_order("refused"))
async def refuse_order(desk: Desk, actor: Actor, order_id: str, body: ReasonBody) -> View:
    """Refuse to hedge a pending order: nothing is booked.

    Only with BULLION_HEDGE=desk, or for an order that waits for room in the hedge book.
    """
    execution_id = _new_execution_id()
    message = body.reason or _DEFAULT_REASON

    async def make(records: Records, order: Order, at_us: int) -> tuple[Order, str]:
        if await _in_book(records, order):
            rejected = life.after(order, Event.REFUSE, at_us)
            asked = (order.id, "", order.asked.trade_type, order.asked.quantity_e4)
            await records.answer_hedge(order, Execution(*asked, REFUSED, execution_id, at_us), message)
            return rejected, message
        hedge = await _require_by_hand(desk, records, order)
        rejected = life.after(order, Event.REFUSE, at_us)
        if hedge.rest is not None:
            raise RefusalError(
                CONFLICT, "A part of this order is covered. Sell it back, and refuse the rest with cover."
            )
        leg = leg_of(order, hedge)
        wanted = leg.execution(leg.part(None), REFUSED, execution_id, at_us)
        execution = await execute(records, actor.broker, wanted)
        await records.answer_hedge(order, execution, message)
        return rejected, message

    return await _change(desk, actor, order_id, make)


async def _change(
    desk: Desk,
    actor: Actor,
    order_id: str,
    make: Make,
    price: Price | None = None,
    *,
    only_if: OnlyIf | None = None,
) -> View:
    async def work(records: Records) -> ChangeResult:
        found = await find_order(records, actor.broker, order_id, lock=True)
        before = found.order
        seen = {**view(found), **await _noted_cover(records, before), **await _left(records, before)}
        # Clocks differ a little: no event may be earlier than the order.
        at_us = max(await records.now_us(), before.created_at_us)
        try:
            now, message = await make(records, before, at_us)
        except life.NotAllowed as not_allowed:
            raise await _refused(records, found, not_allowed.event) from None
        if now is not before:
            await records.change_order(before, now, at_us, actor.name, message)
        changed = replace(found, order=now)
        noted = {**await _noted_cover(records, now), **await _left(records, now)}
        after = {**view(changed), "words": message, **noted}
        prices = [] if price is None else await price(records, found)
        return ChangeResult(seen, after, await full_view(records, actor.broker, changed), prices=prices)

    return await desk.change(actor, order_id.lower(), work, catalogue=False, only_if=only_if)


async def _noted_cover(records: Records, order: Order) -> View:
    """For the audit trail; empty if the desk noted none."""
    cover = (await records.covers([order])).get(order.id)
    return {} if cover is None else cover_view(cover)


async def _left(records: Records, order: Order) -> View:
    """What is left to cover of a pending order, for the audit trail; empty if nothing is covered yet."""
    if order.status != Status.PENDING:
        return {}
    hedge = await records.hedge(order)
    return {} if hedge is None or hedge.rest is None else {"left": weight_text(hedge.rest.quantity_e4)}


def _new_execution_id() -> str:
    return f"DESK-{token_hex(8)}"


async def _by_hand(desk: Desk, records: Records, order: Order) -> bool:
    """Whether the desk answers this order: also if it was recorded while the desk hedged orders."""
    hedge = await records.hedge(order)
    return desk.venue.by_hand or (hedge is not None and abilities_of(hedge.venue).by_hand)


async def _in_book(records: Records, order: Order) -> bool:
    """Whether the hedge book answers this order, and not a venue."""
    hedge = await records.hedge(order)
    return hedge is not None and hedge.venue == IN_BOOK


async def _require_by_hand(desk: Desk, records: Records, order: Order) -> Hedge:
    if not await _by_hand(desk, records, order):
        raise RefusalError(
            CONFLICT,
            f"The {desk.hedge} venue answers pending orders here. For the desk to answer them itself, "
            "start the service with BULLION_HEDGE=desk.",
        )
    hedge = await records.hedge(order)
    if hedge is None:
        raise LookupError("a pending order has no hedge request")
    if hedge.venue == IN_BOOK:
        raise RefusalError(
            CONFLICT, "The hedge book answers this order: it is confirmed as soon as the limit has room."
        )
    return hedge


async def _refused(records: Records, found: AccountOrder, event: Event) -> RefusalError:
    order, done = found.order, _DONE[event]
    if order.status == Status.FILLED:
        return RefusalError(CONFLICT, f"This is a test order. Only production orders can be {done}.")
    *others, last = (status.value for status in TRANSITIONS[event])
    wanted = f"{', '.join(others)} or {last}" if others else last
    # By its status, not by its time: nodes and store have clocks of their own.
    made_by = [each for each in await records.order_events(order) if each.status == order.status]
    since = f", by {made_by[-1].actor} at {instant_text(made_by[-1].at_us)}" if made_by else ""
    return RefusalError(
        CONFLICT, f"Only an order that is {wanted} can be {done}; this one is {order.status}{since}."
    )
