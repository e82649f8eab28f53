"""The hedge: the simulated venue's behaviour, its executions, orders that wait for it, and the exposure."""

from collections.abc import Mapping

from bullion.desk.audit_wording.hedging import tell_venue
from bullion.desk.bodies import HedgeBody, Option
from bullion.desk.conversion import Changes
from bullion.desk.desk import ChangeResult, Desk, OnlyIf, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.desk.unreadable import read_or_unreadable, unreadable_error, unreadable_view
from bullion.hedge.simulated import Mode, VenueBehaviour
from bullion.hedge.venue import Tradeability
from bullion.metals.metal import Metal
from bullion.metals.weight import weight_text
from bullion.orders.instant import instant_text
from bullion.records.hedges import Execution, Exposure, OrderHedge
from bullion.records.orders import AccountOrder
from bullion.records.page import FIRST_PAGE, Page
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records
from bullion.unreadable import Unreadable

from .order_view import rest_view
from .order_view import view as every_field_of
from .orders import ORDER_ID

_US_PER_S = 1_000_000
ORDER_COLUMNS = "login_id symbol_code trade_type quantity unit price status"
_ORDER_FIELDS = (*ORDER_COLUMNS.split(), "total", "source", "created_at")


@action("GET /hedge", command="hedge show")
async def get_hedge(desk: Desk, actor: Actor) -> View:
    """Show the venue. For the simulated one, also its behaviour."""
    if not desk.venue.behaviour:
        nothing = dict.fromkeys(("mode", "delay_ms", "fill_percent", "unasked"))
        return {"venue": desk.hedge, **nothing, "instruments": {}}
    return _held_view(desk, await desk.read(actor, "hedge", lambda records: _find(records, actor.broker)))


@action("PATCH /hedge", Role.ADMIN, audit_text="changed the venue", tell=tell_venue, command="hedge set")
async def patch_hedge(
    desk: Desk, actor: Actor, changes: Changes[HedgeBody], *, only_if: OnlyIf | None = None
) -> View:
    """Change the behaviour of the simulated venue.

    mode is fill, refuse, hold or down; an instrument is tradable, suspended or unknown. With a fill_percent
    below 100 it fills orders in part. With unasked=true it reports outcomes by itself.

    \b
    Examples:
      bullion desk hedge set mode=hold
      bullion desk hedge set mode=fill delay_ms=500 instruments.GOLD=suspended
    """
    if not desk.venue.behaviour:
        why = "the desk answers each order itself" if desk.venue.by_hand else "a real venue answers"
        raise RefusalError(
            CONFLICT, f"There is no simulated venue here: with BULLION_HEDGE={desk.hedge}, {why}."
        )

    async def work(records: Records) -> ChangeResult:
        held = await _find(records, actor.broker)
        current = {
            "mode": "down",
            "delay_ms": 0,
            "instruments": {},
            "fill_percent": 100,
            "unasked": False,
        }
        if isinstance(held, VenueBehaviour):
            current = {name: value for name, value in view(desk, held).items() if name != "venue"}
        elif not {"mode", "instruments"} <= changes.fields.keys():
            raise unreadable_error(held)
        body = changes.applied_to(current)
        instruments = {each: Tradeability(word) for each, word in body.instruments.items()}
        after = VenueBehaviour(
            actor.broker, Mode(body.mode), body.delay_ms, instruments, body.fill_percent, body.unasked
        )
        await records.put_venue_behaviour(after)
        return ChangeResult(_held_view(desk, held), view(desk, after))

    return await desk.change(actor, actor.broker, work, only_if=only_if)


@action(
    "GET /hedge/executions",
    command="hedge executions",
    columns="at outcome quantity execution_id order_id",
    query={"order_id": Option("Only for this order.", "--order", "ID")},
)
async def list_executions(
    desk: Desk, actor: Actor, order_id: str | None = None, page: Page = FIRST_PAGE
) -> tuple[list[View], int]:
    """List what the simulated venue, or the desk in its place, executed or refused, newest orders first.

    Deals over FIX are shown with their orders and covers.
    """
    if order_id is not None:
        order_id = order_id.lower()
        if not ORDER_ID.fullmatch(order_id):
            raise invalid_field(("order_id",), "is not the id of an order", within="query")
    listed, total = await desk.read(
        actor, "executions", lambda records: records.executions(actor.broker, order_id, page)
    )
    return [_execution_view(each) for each in listed], total


@action(
    "GET /hedge/queue", command="hedge queue", columns=f"order_id age_s {ORDER_COLUMNS} source tries words"
)
async def list_queue(desk: Desk, actor: Actor, page: Page) -> tuple[list[View], int]:
    """List the orders that wait for the venue's answer, oldest first."""

    async def work(records: Records) -> tuple[list[View], int]:
        now_us = await records.now_us()
        waiting, total = await records.hedge_queue(actor.broker, page)
        names = await records.firm_names(actor.broker, {each.account_order.login_id for each in waiting})
        return [_waiting_view(each, now_us, names) for each in waiting], total

    return await desk.read(actor, "hedge_queue", work)


async def _find(records: Records, broker: str) -> VenueBehaviour | Unreadable:
    return await read_or_unreadable(records.venue_behaviour(broker))


def _held_view(desk: Desk, held: VenueBehaviour | Unreadable) -> View:
    if isinstance(held, VenueBehaviour):
        return view(desk, held)
    return view(desk, VenueBehaviour(held.broker, Mode.DOWN)) | unreadable_view(held)


def view(desk: Desk, behaviour: VenueBehaviour) -> View:
    return {
        "venue": desk.hedge,
        "mode": behaviour.mode.value,
        "delay_ms": behaviour.delay_ms,
        "fill_percent": behaviour.fill_percent,
        "unasked": behaviour.unasked,
        "instruments": {name: word.value for name, word in sorted(behaviour.instruments.items())},
    }


def _execution_view(execution: Execution) -> View:
    return {
        "order_id": execution.order_id,
        "execution_id": execution.execution_id,
        "outcome": execution.outcome,
        "quantity": weight_text(execution.quantity_e4),
        "at": instant_text(execution.at_us),
    }


def order_view(found: AccountOrder) -> View:
    whole = every_field_of(found)
    return {"order_id": whole["id"], **{name: whole[name] for name in whole if name in _ORDER_FIELDS}}


def _waiting_view(each: OrderHedge, now_us: int, names: Mapping[str, str | None]) -> View:
    hedge, age_us = each.hedge, now_us - each.account_order.order.created_at_us
    return {
        **order_view(each.account_order),
        "firm_name": names.get(each.account_order.login_id),
        "venue": hedge.venue,
        "age_s": max(0, age_us) // _US_PER_S,
        "instrument": hedge.instrument,
        "tries": hedge.tries,
        "words": hedge.words,
        "due_at": None if hedge.partly_covered else instant_text(hedge.due_at_us),
        "rest": rest_view(each.account_order.order, hedge),
    }


@action(
    "GET /hedge/exposure", command="hedge exposure", columns="metal net hedged unhedged unit waiting breaks"
)
async def get_exposure(desk: Desk, actor: Actor) -> list[View]:
    """Show the net position of all clients in production: in total, hedged and unhedged."""
    # Above zero: clients are long.
    found = await desk.read(actor, "exposure", lambda records: records.exposure(actor.broker))
    return [_exposure_view(metal, found.get(metal, Exposure())) for metal in Metal]


def _exposure_view(metal: Metal, exposure: Exposure) -> View:
    return {
        "metal": metal.value,
        "unit": metal.unit,
        "net": weight_text(exposure.net_e4),
        "hedged": weight_text(exposure.hedged_e4),
        "unhedged": weight_text(exposure.net_e4 - exposure.hedged_e4),
        "waiting": exposure.waiting,
        "breaks": exposure.breaks,
    }
