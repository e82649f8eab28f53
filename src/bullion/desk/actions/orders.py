"""Orders of all accounts, looked through; one order with everything that is known about it."""

import re

import msgspec

from bullion.allocation.book import environment_of
from bullion.desk import bodies
from bullion.desk.desk import Desk, View
from bullion.environment import Environment
from bullion.metals.rupees import rupees_text
from bullion.metals.weight import weight_text
from bullion.orders.instant import instant_text
from bullion.records.orders import FoundOrder, FoundTrace, OrderFilter
from bullion.records.port import Page, Records
from bullion.records.token import Actor
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import Refused

from . import traces

STATUSES = ("filled", "pending", "open", "closing", "closed", "rejected", "deleted")
FILTERS = (
    "environment",
    "login_id",
    "status",
    "symbol_code",
    "source",
    "client_order_id",
    "request_id",
    "since",
)
_ORDER_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def list_orders(
    desk: Desk, actor: Actor, filters: dict[str, str | None], page: Page
) -> tuple[list[View], int]:
    """`filters` by the names of FILTERS, as they were sent."""
    wanted = _wanted(filters)
    found, total = await desk.read(
        actor, "orders", lambda records: records.orders(actor.broker, wanted, page)
    )
    return [view(each) for each in found], total


async def get_order(desk: Desk, actor: Actor, order_id: str) -> View:
    async def work(records: Records) -> tuple[FoundOrder, FoundTrace | None]:
        known = _ORDER_ID.fullmatch(order_id.lower())
        found = await records.order(actor.broker, order_id.lower()) if known else None
        if found is None:
            raise Refused(NOT_FOUND, "There is no such order on this broker.")
        return found, await records.trace(actor.broker, found.order.request_id)

    found, trace = await desk.read(actor, "order", work)
    order = found.order
    return {
        **view(found),
        "idempotency_key": order.idempotency_key,
        "expected_price": order.asked.expected_price,
        "archived": found.archived,
        "events": [{"at": instant_text(order.created_at_us), "status": order.status, "by": order.source}],
        "price_anatomy": msgspec.json.decode(order.price_anatomy),
        "trace": None if trace is None else traces.view(trace),
    }


def _wanted(filters: dict[str, str | None]) -> OrderFilter:
    environment, status, request_id, since = (
        filters.get(name) for name in ("environment", "status", "request_id", "since")
    )
    if environment is not None and environment not in tuple(Environment):
        raise bodies.refused(f"environment: is one of {', '.join(Environment)}")
    if status is not None and status not in STATUSES:
        raise bodies.refused(f"status: is one of {', '.join(STATUSES)}")
    if request_id is not None and not traces.REQUEST_ID.fullmatch(request_id):
        raise bodies.refused("request_id: is 24 of 0-9 and a-f, as in the X-Request-Id of the answer")
    return OrderFilter(
        environment=None if environment is None else Environment(environment),
        login_id=filters.get("login_id"),
        status=status,
        symbol_code=filters.get("symbol_code"),
        source=filters.get("source"),
        client_order_id=filters.get("client_order_id"),
        request_id=request_id,
        since_us=None if since is None else _since_us(since),
    )


def _since_us(text: str) -> int:
    """A `+` that was not written as %2B arrives as a space, and is forgiven."""
    early, space, late = text.rpartition(" ")
    if space and re.fullmatch(r"[0-9]{2}:?[0-9]{2}", late) and ":" in early:
        text = f"{early}+{late}"
    return bodies.instant_us("since", text)


def view(found: FoundOrder) -> View:
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
        "client_order_id": asked.client_order_id,
        "source": order.source,
        "deal_label": f"T-{order.ordinal}" if environment is Environment.TEST else None,
        "created_at": instant_text(order.created_at_us),
        "request_id": order.request_id,
        "key_id": order.key_id,
    }
