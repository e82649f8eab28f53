"""Calls about what clients did: their orders, and why each was taken or refused."""

from bullion.desk.actions import orders, traces
from bullion.desk.request import Request, Resources, listed
from bullion.web.answer import Answer, json_answer


async def _get_orders(request: Request) -> Answer:
    filters = {name: request.filter(name) for name in orders.FILTERS}
    return listed(await orders.list_orders(request.desk, request.actor, filters, request.page()))


async def _get_order(request: Request) -> Answer:
    return json_answer(await orders.get_order(request.desk, request.actor, request.path["id"]))


async def _get_traces(request: Request) -> Answer:
    """There is no total: how far one looks back is bounded."""
    login_id, outcome = request.filter("login_id"), request.filter("outcome")
    found = await traces.list_traces(request.desk, request.actor, login_id, outcome, request.page().limit)
    return json_answer({"items": found})


async def _get_trace(request: Request) -> Answer:
    return json_answer(await traces.get_trace(request.desk, request.actor, request.path["request_id"]))


RESOURCES: Resources = {
    "/orders": {"GET": _get_orders},
    "/orders/{id}": {"GET": _get_order},
    "/traces": {"GET": _get_traces},
    "/traces/{request_id}": {"GET": _get_trace},
}
