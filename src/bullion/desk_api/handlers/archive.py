"""Calls about the archive of old test orders."""

from bullion.desk import bodies, conversion
from bullion.desk.actions import archive
from bullion.desk_api.request import Request, Resources
from bullion.web.answer import Answer, json_answer


async def _get_archive(request: Request) -> Answer:
    desk, actor = request.desk, request.actor
    what = await archive.wanted(desk, actor, request.filter("before"), request.filter("login_id"))
    return json_answer(await archive.survey(desk, actor, what))


async def _archive_orders(request: Request) -> Answer:
    desk, actor = request.desk, request.actor
    body = conversion.read(request.body, bodies.ArchiveBody)
    what = await archive.wanted(desk, actor, body.before, body.login_id)
    return json_answer(await archive.archive_orders(desk, actor, what, body.limit))


RESOURCES: Resources = {
    "/archive": {"GET": _get_archive},
    "/archive/orders": {"POST": _archive_orders},
}
