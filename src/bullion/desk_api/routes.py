"""The routes under `/desk/v1`, made from the desk's registry of actions."""

from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

import msgspec

from bullion.desk.actions.place_order import Placed
from bullion.desk.bodies import Body
from bullion.desk.conversion import Changes, convert, read_json
from bullion.desk.desk import require
from bullion.desk.registry import Action, all_actions
from bullion.orders.instant import instant_text
from bullion.records.token import Role
from bullion.web.response import JSON, Response, encode_json, json_response

from .request import Handler, Request, listed, paged

_REPLAYED = (b"idempotent-replayed", b"true")
_AS_OF = b"x-bullion-as-of"
"""The time that a report is complete up to, if it was read at a standby."""
_WHOLE_NUMBERS = ("minutes", "after")


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    path: str
    role: Role
    """The least role, checked before the body is read."""
    handler: Handler


def desk_routes() -> list[Route]:
    """Sorted by path, so that a fixed segment comes before a parameter."""
    routes = [
        Route(each.method, each.path, each.least_role, _handler(each)) for each in all_actions().values()
    ]
    return sorted(routes, key=lambda route: (route.path, route.method))


def _handler(action: Action) -> Handler:
    async def handle(request: Request) -> Response:
        arguments = [*(request.path[name] for name in action.path_names), *_sent(action, request)]
        named = _named(action, request)
        as_of_us: list[int] = []
        desk = replace(request.desk, on_standby=as_of_us.append)
        found = await action.work(desk, request.actor, *arguments, **named)
        response = _response(action, request, found)
        if not as_of_us:
            return response
        as_of = (_AS_OF, instant_text(min(as_of_us)).encode("ascii"))
        return msgspec.structs.replace(response, headers=(*response.headers, as_of))

    return handle


def _response(action: Action, request: Request, found: Any) -> Response:
    if isinstance(found, Placed):
        return _placed(found)
    if isinstance(found, tuple):
        return listed(found)
    if isinstance(found, list):
        return json_response({"items": found}) if action.takes("limit") else paged(found, request.page())
    return json_response(found, action.status)


def _sent(action: Action, request: Request) -> list[Any]:
    """The body, if the action takes one. The role is checked before the body's problems."""
    if action.method in ("GET", "DELETE"):
        return []
    if action.changes is not None:
        fields = read_json(request.body)
        require(request.actor, action.role_for(fields if isinstance(fields, dict) else {}))
        return [Changes(action.changes, fields)]
    # A POST may come without a body if no field is required.
    raw = request.body if action.method == "PUT" else request.body or b"{}"
    body = convert(read_json(raw), action.body or Body)
    return [] if action.body is None else [body]


def _named(action: Action, request: Request) -> dict[str, Any]:
    """The arguments from the query, and from the request itself."""
    named: dict[str, Any] = {}
    for name in action.query:
        text = request.filter(name)
        if text is not None:
            named[name] = request.whole_number(name, default=0) if name in _WHOLE_NUMBERS else text
    if action.takes("filters"):
        named = {"filters": named}
    if action.takes("page"):
        named["page"] = request.page()
    if action.takes("limit"):
        named["limit"] = request.page().limit
    if action.takes("request_id"):
        named["request_id"] = request.request_id
    return named


def _placed(placed: Placed) -> Response:
    if placed.replayed:
        return Response(HTTPStatus.OK, encode_json(placed.order), (JSON, _REPLAYED))
    return json_response(placed.order, HTTPStatus.ACCEPTED if placed.pending else HTTPStatus.CREATED)
