"""Calls about prices: the desk's own rates, what symbols cost, and duty tables."""

from bullion.desk import bodies, conversion
from bullion.desk.actions import duties, quotes, rates
from bullion.desk_api.request import Request, Resources, listed, paged
from bullion.web.answer import Answer, json_answer


async def _get_rates(request: Request) -> Answer:
    page = request.page()
    return paged(await rates.list_rates(request.desk, request.actor), page)


async def _put_rate(request: Request) -> Answer:
    body = conversion.read(request.body, bodies.RateBody)
    return json_answer(await rates.put_rate(request.desk, request.actor, request.path["instrument"], body))


async def _get_quotes(request: Request) -> Answer:
    return listed(await quotes.list_quotes(request.desk, request.actor, request.page()))


async def _get_duties(request: Request) -> Answer:
    page = request.page()
    return paged(await duties.list_duties(request.desk, request.actor), page)


async def _put_duty(request: Request) -> Answer:
    rows = conversion.read(request.body, bodies.DutyRows)
    return json_answer(await duties.put_duty(request.desk, request.actor, request.path["name"], rows))


RESOURCES: Resources = {
    "/rates": {"GET": _get_rates},
    "/rates/{instrument}": {"PUT": _put_rate},
    "/quotes": {"GET": _get_quotes},
    "/duties": {"GET": _get_duties},
    "/duties/{name}": {"PUT": _put_duty},
}
