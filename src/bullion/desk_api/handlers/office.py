"""Calls about the desk itself: its tokens and its audit trail."""

from bullion.desk import bodies, conversion
from bullion.desk.actions import audit, tokens
from bullion.desk_api.request import Request, Resources, listed
from bullion.web.answer import Answer, json_answer


async def _get_tokens(request: Request) -> Answer:
    return listed(await tokens.list_tokens(request.desk, request.actor, request.page()))


async def _post_token(request: Request) -> Answer:
    body = conversion.read(request.body, bodies.TokenBody)
    return json_answer(await tokens.create_token(request.desk, request.actor, body), 201)


async def _delete_token(request: Request) -> Answer:
    return json_answer(await tokens.delete_token(request.desk, request.actor, request.path["token_id"]))


async def _get_audit(request: Request) -> Answer:
    return listed(await audit.list_audit(request.desk, request.actor, request.page()))


RESOURCES: Resources = {
    "/tokens": {"GET": _get_tokens, "POST": _post_token},
    "/tokens/{token_id}": {"DELETE": _delete_token},
    "/audit": {"GET": _get_audit},
}
