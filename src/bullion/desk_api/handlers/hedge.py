"""Calls about the hedge: the simulated venue, what waits for an answer, and what was contradicted."""

from bullion.desk import bodies, conversion
from bullion.desk.actions import breaks, exposure, hedge
from bullion.desk_api.request import Request, Resources, listed, paged
from bullion.web.answer import Answer, json_answer


async def _get_hedge(request: Request) -> Answer:
    return json_answer(await hedge.get_hedge(request.desk, request.actor))


async def _patch_hedge(request: Request) -> Answer:
    return json_answer(
        await hedge.patch_hedge(
            request.desk,
            request.actor,
            conversion.Changes(bodies.HedgeBody, conversion.read_json(request.body)),
        )
    )


async def _get_executions(request: Request) -> Answer:
    order_id = request.filter("order_id")
    return listed(await hedge.list_executions(request.desk, request.actor, order_id, request.page()))


async def _get_queue(request: Request) -> Answer:
    return listed(await hedge.list_queue(request.desk, request.actor, request.page()))


async def _get_exposure(request: Request) -> Answer:
    return paged(await exposure.get_exposure(request.desk, request.actor), request.page())


async def _get_breaks(request: Request) -> Answer:
    return listed(await breaks.list_breaks(request.desk, request.actor, request.page()))


async def _resolve(request: Request) -> Answer:
    body = conversion.read(request.body, bodies.NoteBody)
    return json_answer(
        await breaks.resolve_break(request.desk, request.actor, request.path["break_id"], body)
    )


RESOURCES: Resources = {
    "/hedge": {"GET": _get_hedge, "PATCH": _patch_hedge},
    "/hedge/executions": {"GET": _get_executions},
    "/hedge/queue": {"GET": _get_queue},
    "/hedge/exposure": {"GET": _get_exposure},
    "/hedge/breaks": {"GET": _get_breaks},
    "/hedge/breaks/{break_id}/resolve": {"POST": _resolve},
}
