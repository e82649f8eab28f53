"""The trading API as an ASGI application: route, gate, endpoint, answer."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import structlog

from bullion.environment import Environment
from bullion.keys.key import Scope
from bullion.web.calls import Call, CallLog
from bullion.web.headers import values_by_name
from bullion.web.health import Checks, health_pages
from bullion.web.http_app import HttpApp, PublicPage, answer_public_page
from bullion.web.response import Receive, Response, connection_memory
from bullion.web.response import Scope as AsgiScope
from bullion.web.router import Router

from .gate import Gate
from .public_rates import PublicRatePages
from .rate_limits import limit_lines
from .request import Request

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A call of the API: its environment, the scope that its key needs, and its handler."""

    environment: Environment
    scope: Scope
    answer: Handler
    simulate: Handler | None = None
    """The handler of calls with a scenario header. None in production, where the header is ignored."""
    opens_stream: bool = False
    """Whether the response stays open. Such calls have a budget of their own."""


Methods = dict[str, Endpoint]


class TradingApi(HttpApp):
    log = structlog.get_logger("api")

    def __init__(
        self,
        gate: Gate,
        call_log: CallLog,
        checks: Checks,
        pages: Mapping[str, Response],
        endpoints: Mapping[str, Methods],
        rates: PublicRatePages | None = None,
    ) -> None:
        """`pages`, the public rates and the health checks need no key."""
        self._gate = gate
        self._call_log = call_log
        self._router = Router(endpoints)
        constant = {path: {"GET": _constant(page)} for path, page in pages.items()}
        public = {} if rates is None else rates.pages()
        self._pages = Router({**constant, **public, **health_pages(checks)})

    async def handle(self, call: Call, scope: AsgiScope, receive: Receive) -> Response:
        found = self._router.find(scope["path"])
        if found is None:
            return await answer_public_page(self._pages, call, scope)
        call.route = found.path
        endpoint = found.target(call.method)
        client, headers = scope["client"], values_by_name(scope["headers"])
        caller = await self._gate.admit(
            call,
            headers,
            client[0] if client else "",
            endpoint.environment,
            endpoint.scope,
            opens_stream=endpoint.opens_stream,
            connection=connection_memory(scope),
        )
        if caller.budget_state is not None:
            call.header_lines = limit_lines(caller.budget_state)
        request = Request(call, caller, scope, receive, headers, found.params)
        if caller.scenario and endpoint.simulate is not None:
            return await endpoint.simulate(request)
        return await endpoint.answer(request)

    def record_call(self, call: Call) -> None:
        self._call_log.add(call)


def _constant(page: Response) -> PublicPage:
    async def answer(_scope: AsgiScope) -> Response:
        return page

    return answer
