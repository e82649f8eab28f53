"""The clients' interface as one plain ASGI function: route, gate, endpoint, answer."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from time import perf_counter_ns

import structlog

from bullion.environment import Environment
from bullion.faults import StoreFault
from bullion.keys.key import Scope
from bullion.refusals.catalogue import INTERNAL_ERROR, METHOD_NOT_ALLOWED, SERVICE_UNAVAILABLE
from bullion.refusals.refusal import RefusalError
from bullion.web import health
from bullion.web.answer import (
    NOT_FOUND,
    Answer,
    HangUp,
    Receive,
    Send,
    new_request_id,
    refusal_answer,
    send_answer,
)
from bullion.web.answer import Scope as AsgiScope
from bullion.web.body import CallerLeft
from bullion.web.calls import Call, CallJournal
from bullion.web.framing import ENCODED_SLASH
from bullion.web.health import Checks

from .charges import rate_limit_lines
from .gate import Gate
from .request import Request

_log = structlog.get_logger("api")


Answering = Callable[[Request], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A call of the interface: which environment it is in, the scope its key needs, and what answers it."""

    environment: Environment
    scope: Scope
    answer: Answering
    pretend: Answering | None = None
    """What answers a call that asks for a scenario. None in production: there the header is no header."""


Methods = dict[str, Endpoint]


class TradingApi:
    def __init__(
        self,
        gate: Gate,
        journal: CallJournal,
        checks: Checks,
        pages: Mapping[str, Answer],
        endpoints: Mapping[str, Methods],
    ) -> None:
        """`endpoints` by path; one whose path ends in `/{…}` takes any last part."""
        self._gate = gate
        self._journal = journal
        self._checks = checks
        self._pages = pages
        self._endpoints = {path: methods for path, methods in endpoints.items() if not path.endswith("}")}
        self._items = {
            path.rpartition("/")[0]: (path, methods)
            for path, methods in endpoints.items()
            if path.endswith("}")
        }

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        started_ns = perf_counter_ns()
        call = Call(new_request_id(), scope["method"])
        try:
            answer, more = await self._answer(call, scope, receive)
        except CallerLeft:
            return
        except HangUp:
            call.ms = (perf_counter_ns() - started_ns) / 1_000_000
            self._journal.note(call)
            raise
        call.status = answer.status
        call.ms = (perf_counter_ns() - started_ns) / 1_000_000
        self._journal.note(call)
        await send_answer(scope, send, answer, call.request_id, more)

    async def _answer(self, call: Call, scope: AsgiScope, receive: Receive) -> tuple[Answer, bytes]:
        """The answer, and the header lines that come with it in any case: how the caller's budget stands."""
        request: Request | None = None
        try:
            path = scope["path"]
            item, methods = "", self._endpoints.get(path)
            if methods is None:
                collection, _, item = path.rpartition("/")
                named = item and ENCODED_SLASH not in item
                path, methods = self._items.get(collection, (path, None)) if named else (path, None)
            if methods is None:
                return await self._open_page(call, path), b""
            call.route = path
            endpoint = methods.get(call.method)
            if endpoint is None:
                raise _method_not_allowed(methods)
            client = scope["client"]
            caller = await self._gate.admit(
                call, scope["headers"], client[0] if client else "", endpoint.environment, endpoint.scope
            )
            more = b"" if caller.standing is None else rate_limit_lines(caller.standing)
            request = Request(call, caller, scope, receive, item, more)
            if caller.scenario and endpoint.pretend is not None:
                return await endpoint.pretend(request), request.more
            return await endpoint.answer(request), request.more
        except (CallerLeft, HangUp):
            raise
        except RefusalError as refused:
            call.code = refused.refusal.code
            return refusal_answer(refused), _more(request)
        except StoreFault as fault:
            _log.warning("store_fault", request_id=call.request_id.decode(), fault=repr(fault))
            call.code = SERVICE_UNAVAILABLE.code
            return refusal_answer(RefusalError(SERVICE_UNAVAILABLE)), _more(request)
        except Exception:  # noqa: BLE001 - the last line of defence: whatever it was, nothing of it goes out
            _log.exception("internal_error", request_id=call.request_id.decode())
            call.code = INTERNAL_ERROR.code
            return refusal_answer(RefusalError(INTERNAL_ERROR)), _more(request)

    async def _open_page(self, call: Call, path: str) -> Answer:
        """What needs no key: health, the description of the interface, and nothing else."""
        page = self._pages.get(path)
        if page is None and path not in (health.LIVE, health.READY):
            return NOT_FOUND
        call.route = path
        methods = health.METHODS if page is None else ("GET",)
        if call.method not in methods:
            raise _method_not_allowed(methods)
        if page is not None:
            return page
        return health.live() if path == health.LIVE else await health.ready(self._checks)


def _more(request: Request | None) -> bytes:
    return b"" if request is None else request.more


def _method_not_allowed(methods: Mapping[str, Endpoint] | tuple[str, ...]) -> RefusalError:
    return RefusalError(METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(sorted(methods))})
