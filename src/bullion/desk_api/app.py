"""The desk's HTTP interface: tokens, roles, and the actions under `/desk/v1`."""

from collections.abc import Callable
from urllib.parse import parse_qs

import structlog

from bullion.desk.authenticator import DeskAuthenticator
from bullion.desk.desk import Desk, require
from bullion.desk.problems import unavailable
from bullion.faults import StoreFault
from bullion.refusals.refusal import RefusalError
from bullion.web.body import read_body
from bullion.web.calls import Call, CallLog
from bullion.web.health import Checks, health_pages
from bullion.web.http_app import HttpApp, answer_public_page
from bullion.web.response import Receive, Response, Scope
from bullion.web.router import Router

from .request import Request
from .routes import Route, desk_routes

BASE = "/desk/v1"
_BODY_BYTES_MAX = 256 * 1024
_WITH_BODY = {"POST", "PUT", "PATCH"}


class DeskApi(HttpApp):
    log = structlog.get_logger("desk")

    def __init__(
        self,
        desk: Desk,
        authenticator: DeskAuthenticator,
        call_log: CallLog,
        checks: Checks,
        metrics: Callable[[], Response],
    ) -> None:
        async def metrics_page(_scope: Scope) -> Response:
            return metrics()

        self._desk = desk
        self._authenticator = authenticator
        self._call_log = call_log
        resources: dict[str, dict[str, Route]] = {}
        for route in desk_routes():
            resources.setdefault(BASE + route.path, {})[route.method] = route
        self._router = Router(resources)
        self._pages = Router(health_pages(checks) | {"/metrics": {"GET": metrics_page}})

    async def handle(self, call: Call, scope: Scope, receive: Receive) -> Response:
        found = self._router.find(scope["path"])
        if found is None:
            return await answer_public_page(self._pages, call, scope)
        call.route = found.path
        route = found.target(call.method)
        actor = await self._authenticator.authenticate(call, scope)
        require(actor, route.role)
        body = b""
        if call.method in _WITH_BODY:
            body = await read_body(scope["headers"], receive, _BODY_BYTES_MAX)
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        request_id = call.request_id.decode("ascii")
        return await route.handler(Request(self._desk, actor, found.params, query, body, request_id))

    def record_call(self, call: Call) -> None:
        if call.route.startswith(BASE):  # Health checks and the metrics themselves are not counted.
            self._call_log.add(call)

    def unavailable(self, fault: StoreFault) -> RefusalError:
        return unavailable(fault)
