"""Views of an order for the desk: always with the price it was accepted at."""

from collections.abc import Sequence

import msgspec

from bullion.allocation.book import environment_of
from bullion.booking.partial_fills import child_id
from bullion.desk.desk import View
from bullion.environment import Environment
from bullion.metals.rupees import rupees_text
from bullion.metals.scaled import plain
from bullion.metals.weight import weight_text
from bullion.orders.instant import instant_text
from bullion.orders.order import Order
from bullion.orders.status import DETAILS, Status
from bullion.records.hedges import WAITING, Cover, Hedge, OrderFill
from bullion.records.orders import AccountOrder, OrderEvent
from bullion.store.records import Records

ORDER_RESULT_COLUMNS = (
    "id login_id source symbol_code trade_type quantity unit price total status "
    "deal_no close_price realized_pnl closed_at"
)
"""The columns that a command shows after it changed an order."""


def view(found: AccountOrder) -> View:
    order, asked = found.order, found.order.asked
    environment = environment_of(order.book_id)
    return {
        "id": order.id,
        "environment": environment.value,
        "login_id": found.login_id,
        "symbol_code": asked.symbol_code,
        "trade_type": asked.trade_type,
        "quantity": weight_text(asked.quantity_e4),
        "unit": order.metal.unit,
        "price": rupees_text(order.price_paise),
        "total": rupees_text(order.total_paise),
        "status": order.status,
        "status_detail": DETAILS[Status(order.status)],
        "client_order_id": asked.client_order_id,
        "source": order.source,
        "deal_no": order.deal_no,
        "deal_label": f"T-{order.ordinal}" if environment is Environment.TEST else None,
        "close_price": None if order.close_price_paise is None else rupees_text(order.close_price_paise),
        "realized_pnl": None if order.realized_pnl_paise is None else rupees_text(order.realized_pnl_paise),
        "created_at": instant_text(order.created_at_us),
        "closed_at": _instant(order.closed_at_us),
        "request_id": order.request_id,
        "key_id": order.key_id,
    }


async def list_views(records: Records, broker: str, found: Sequence[AccountOrder]) -> list[View]:
    """Orders with the firms that placed them and the covers that the desk noted."""
    names = await records.firm_names(broker, {each.login_id for each in found})
    covers = await records.covers([each.order for each in found])
    return [
        {**view(each), "firm_name": names.get(each.login_id), **cover_view(covers.get(each.order.id))}
        for each in found
    ]


async def full_view(records: Records, broker: str, found: AccountOrder) -> View:
    """Everything about an order except for its decision trace, which takes a search."""
    order = found.order
    hedge = await records.hedge(order)
    cover = (await records.covers([order])).get(order.id)
    names = await records.firm_names(broker, [found.login_id])
    return {
        **view(found),
        "firm_name": names.get(found.login_id),
        "idempotency_key": order.idempotency_key,
        "expected_price": order.asked.expected_price,
        "archived": found.archived,
        "events": [_recorded(found), *map(_event, await records.order_events(order))],
        "hedge": None
        if hedge is None
        else {
            **hedge_view(hedge),
            **cover_view(cover),
            "fills": [_fill_view(each) for each in await records.fills(order)],
            "rest": rest_view(order, hedge),
        },
        "price_anatomy": msgspec.json.decode(order.price_anatomy),
    }


def hedge_view(hedge: Hedge) -> View:
    return {
        "venue": hedge.venue,
        "instrument": hedge.instrument,
        "state": hedge.state,
        "tries": hedge.tries,
        "words": hedge.words,
        "due_at": instant_text(hedge.due_at_us)
        if hedge.state == WAITING and not hedge.partly_covered
        else None,
        "outcome": hedge.outcome,
        "execution_id": hedge.execution_id,
        "answered_at": _instant(hedge.answered_at_us),
        "resolved_by": hedge.resolved_by,
        "resolution": hedge.resolution,
    }


def rest_view(order: Order, hedge: Hedge) -> View | None:
    """What the venue left unfilled of a partly filled order."""
    rest = hedge.rest
    if rest is None:
        return None
    if hedge.fine_mg_taken:
        state = "taken"
    elif hedge.partly_covered:
        state = "partly_covered"
    else:
        state = "sent" if hedge.state == WAITING else "unfilled"
    return {
        "state": state,
        "quantity": weight_text(rest.quantity_e4),
        "unit": order.metal.unit,
        "fine_grams": plain(rest.fine_mg, 3),
        "sent_as": child_id(order.id, rest.child),
    }


def _fill_view(each: OrderFill) -> View:
    fill = each.fill
    return {
        "execution_id": fill.execution_id,
        "sent_as": each.sent_id,
        "venue": each.venue,
        "quantity": plain(fill.quantity_e8, 8),
        "price": plain(fill.price_e6, 6),
        "at": instant_text(fill.at_us),
    }


def cover_view(cover: Cover | None) -> View:
    """What the desk noted about the cover of an order that it confirmed by hand."""
    price = None if cover is None else cover.price_paise
    return {
        "cover_price": None if price is None else rupees_text(price),
        "cover_reference": None if cover is None else cover.reference,
    }


def _recorded(found: AccountOrder) -> View:
    order = found.order
    first = Status.FILLED if environment_of(order.book_id) is Environment.TEST else Status.PENDING
    return {"at": instant_text(order.created_at_us), "status": first.value, "by": order.source, "words": None}


def _event(event: OrderEvent) -> View:
    return {"at": instant_text(event.at_us), "status": event.status, "by": event.actor, "words": event.words}


def _instant(at_us: int | None) -> str | None:
    return None if at_us is None else instant_text(at_us)
