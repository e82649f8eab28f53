"""Calls about orders: placing them, what becomes of them, and why each was taken or refused."""

from http import HTTPStatus

from bullion.desk import bodies, conversion
from bullion.desk.actions import order_life, orders, place_order, traces
from bullion.desk_api.request import Request, Resources, listed
from bullion.web.answer import JSON, Answer, encode_json, json_answer

_REPLAYED = (b"idempotent-replayed", b"true")


async def _get_orders(request: Request) -> Answer:
    filters = {name: request.filter(name) for name in orders.FILTERS}
    return listed(await orders.list_orders(request.desk, request.actor, filters, request.page()))


async def _get_order(request: Request) -> Answer:
    return json_answer(await orders.get_order(request.desk, request.actor, request.path["id"]))


async def _place(request: Request) -> Answer:
    body = conversion.read(request.body, bodies.PlaceOrderBody)
    placed = await place_order.place_order(request.desk, request.actor, body, request.request_id)
    if placed.replayed:
        return Answer(HTTPStatus.OK, encode_json(placed.order), (JSON, _REPLAYED))
    return json_answer(placed.order, HTTPStatus.ACCEPTED if placed.pending else HTTPStatus.CREATED)


async def _close(request: Request) -> Answer:
    conversion.read(request.body or b"{}", bodies.Body)
    return json_answer(await order_life.close_order(request.desk, request.actor, request.path["id"]))


async def _complete(request: Request) -> Answer:
    body = conversion.read(request.body, bodies.CompleteBody)
    return json_answer(await order_life.complete_order(request.desk, request.actor, request.path["id"], body))


async def _delete(request: Request) -> Answer:
    body = conversion.read(request.body or b"{}", bodies.ReasonBody)
    return json_answer(await order_life.delete_order(request.desk, request.actor, request.path["id"], body))


async def _confirm(request: Request) -> Answer:
    body = conversion.read(request.body or b"{}", bodies.ReasonBody)
    return json_answer(await order_life.confirm_order(request.desk, request.actor, request.path["id"], body))


async def _refuse(request: Request) -> Answer:
    body = conversion.read(request.body or b"{}", bodies.ReasonBody)
    return json_answer(await order_life.refuse_order(request.desk, request.actor, request.path["id"], body))


async def _get_traces(request: Request) -> Answer:
    """There is no total: how far one looks back is bounded."""
    login_id, outcome = request.filter("login_id"), request.filter("outcome")
    found = await traces.list_traces(request.desk, request.actor, login_id, outcome, request.page().limit)
    return json_answer({"items": found})


async def _get_counts(request: Request) -> Answer:
    minutes = request.whole_number("minutes", default=traces.MINUTES_USUAL)
    after = None if request.filter("after") is None else request.whole_number("after", default=0)
    return json_answer(await traces.count_traces(request.desk, request.actor, minutes, after))


async def _get_trace(request: Request) -> Answer:
    return json_answer(await traces.get_trace(request.desk, request.actor, request.path["request_id"]))


RESOURCES: Resources = {
    "/orders": {"GET": _get_orders, "POST": _place},
    "/orders/{id}": {"GET": _get_order},
    "/orders/{id}/close": {"POST": _close},
    "/orders/{id}/complete": {"POST": _complete},
    "/orders/{id}/delete": {"POST": _delete},
    "/orders/{id}/confirm": {"POST": _confirm},
    "/orders/{id}/refuse": {"POST": _refuse},
    "/traces": {"GET": _get_traces},
    "/traces/counts": {"GET": _get_counts},
    "/traces/{request_id}": {"GET": _get_trace},
}
