"""The desk's HTTP interface: tokens, roles, and the actions under `/desk/v1`."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import groupby
from operator import attrgetter
from time import perf_counter_ns
from typing import Any

import structlog
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.routing import Route as StarletteRoute

from bullion.desk.desk import Desk, require
from bullion.desk.doorkeeper import Doorkeeper
from bullion.desk.unavailable import unavailable
from bullion.faults import StoreFault
from bullion.refusals.catalogue import INTERNAL_ERROR, METHOD_NOT_ALLOWED, SERVICE_UNAVAILABLE
from bullion.refusals.refusal import RefusalError
from bullion.web import health
from bullion.web.answer import (
    NOT_FOUND,
    Answer,
    Receive,
    Scope,
    Send,
    new_request_id,
    refusal_answer,
    send_answer,
)
from bullion.web.body import CallerLeft, read_body
from bullion.web.calls import Call, CallJournal
from bullion.web.framing import ENCODED_SLASH
from bullion.web.health import Checks

from .request import Request
from .routes import Route, desk_routes

BASE = "/desk/v1"
_BODY_BYTES_MAX = 256 * 1024
_WITH_BODY = {"POST", "PUT", "PATCH"}
_log = structlog.get_logger("desk")


class _Resource:
    """One path of the desk, as an ASGI application: token, body, action, answer."""

    def __init__(
        self,
        path: str,
        routes: Sequence[Route],
        desk: Desk,
        doorkeeper: Doorkeeper,
        journal: CallJournal,
    ) -> None:
        self._path = path
        self._routes = {route.method: route for route in routes}
        self._desk = desk
        self._doorkeeper = doorkeeper
        self._journal = journal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _ends_elsewhere(scope, self._path):
            await _not_found(scope, receive, send)
            return
        started_ns = perf_counter_ns()
        call = Call(new_request_id(), scope["method"], BASE + self._path)
        try:
            answer = await self._answer(call, scope, receive)
        except CallerLeft:
            return
        call.status = answer.status
        call.ms = (perf_counter_ns() - started_ns) / 1_000_000
        self._journal.note(call)
        await send_answer(scope, send, answer, call.request_id)

    async def _answer(self, call: Call, scope: Scope, receive: Receive) -> Answer:
        try:
            route = self._routes.get(scope["method"])
            if route is None:
                raise RefusalError(METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(sorted(self._routes))})
            actor = await self._doorkeeper.admit(call, scope)
            require(actor, route.role)
            body = b""
            if call.method in _WITH_BODY:
                body = await read_body(scope["headers"], receive, _BODY_BYTES_MAX)
            query = QueryParams(scope["query_string"])
            request_id = call.request_id.decode("ascii")
            return await route.handler(
                Request(self._desk, actor, scope["path_params"], query, body, request_id)
            )
        except CallerLeft:
            raise
        except RefusalError as refused:
            call.code = refused.refusal.code
            return refusal_answer(refused)
        except StoreFault as fault:
            _log.warning("store_fault", request_id=call.request_id.decode(), fault=repr(fault))
            call.code = SERVICE_UNAVAILABLE.code
            return refusal_answer(unavailable(fault))
        except Exception:  # noqa: BLE001 - the last line of defence: whatever it was, nothing of it goes out
            _log.exception("internal_error", request_id=call.request_id.decode())
            call.code = INTERNAL_ERROR.code
            return refusal_answer(RefusalError(INTERNAL_ERROR))


class _Open:
    """A page that needs no token."""

    def __init__(self, make: Callable[[], Awaitable[Answer]], methods: Sequence[str] = ("GET",)) -> None:
        self._make = make
        self._methods = methods

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        if _ends_elsewhere(scope, ""):
            answer = NOT_FOUND
        elif scope["method"] in self._methods:
            answer = await self._make()
        else:
            allow = ", ".join(self._methods)
            answer = refusal_answer(RefusalError(METHOD_NOT_ALLOWED, headers={"Allow": allow}))
        await send_answer(scope, send, answer, new_request_id())


async def _not_found(scope: Scope, _receive: Receive, send: Send) -> None:
    await send_answer(scope, send, NOT_FOUND, new_request_id())


def desk_app(
    desk: Desk,
    doorkeeper: Doorkeeper,
    journal: CallJournal,
    checks: Checks,
    metrics: Callable[[], Answer],
) -> Any:
    async def live() -> Answer:
        return health.live()

    async def ready() -> Answer:
        return await health.ready(checks)

    async def measured() -> Answer:
        return metrics()

    by_path = groupby(desk_routes(), key=attrgetter("path"))
    routes = [
        StarletteRoute(BASE + path, _Resource(path, list(found), desk, doorkeeper, journal))
        for path, found in by_path
    ]
    routes += [
        StarletteRoute(health.LIVE, _Open(live, health.METHODS)),
        StarletteRoute(health.READY, _Open(ready, health.METHODS)),
        StarletteRoute("/metrics", _Open(measured)),
    ]
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False
    app.router.default = _not_found
    return app


def _ends_elsewhere(scope: Scope, path: str) -> bool:
    """Starlette's patterns end in `$`, so a new line may come after a path that does not end in a name.

    They also take an encoded slash for part of a name.
    """
    asked: str = scope["path"]
    return ENCODED_SLASH in asked or (asked.endswith("\n") and not path.endswith("}"))
