"""The clients' interface as one plain ASGI function: route, gate, endpoint, answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter_ns

import structlog

from bullion.environment import Environment
from bullion.faults import StoreFault
from bullion.keys.key import Scope
from bullion.refusals.catalogue import INTERNAL_ERROR, METHOD_NOT_ALLOWED, SERVICE_UNAVAILABLE
from bullion.refusals.refusal import Refused
from bullion.web import health
from bullion.web.answer import (
    NOT_FOUND,
    Answer,
    Headers,
    Receive,
    Send,
    new_request_id,
    refusal_answer,
    send_answer,
)
from bullion.web.answer import Scope as AsgiScope
from bullion.web.calls import Call, CallJournal
from bullion.web.health import Checks

from .charges import rate_limit_headers
from .gate import Caller, Gate
from .me import Me

_RETRY_AFTER_FAULT_S = 1

_log = structlog.get_logger("api")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A call of the specification: which environment it is in, and the scope its key needs."""

    environment: Environment
    scope: Scope
    answer: Callable[[Caller], Answer]


class TradingApi:
    def __init__(
        self,
        gate: Gate,
        journal: CallJournal,
        checks: Checks,
        pages: Mapping[str, Answer],
        *,
        deploy_on: bool,
    ) -> None:
        self._gate = gate
        self._journal = journal
        self._checks = checks
        self._pages = pages
        me = Me(deploy_on=deploy_on)
        self._endpoints: dict[str, dict[str, Endpoint]] = {
            f"{environment.base_path}/me": {"GET": Endpoint(environment, Scope.ACCOUNT_READ, me)}
            for environment in Environment
        }

    async def __call__(self, scope: AsgiScope, _receive: Receive, send: Send) -> None:
        started_ns = perf_counter_ns()
        call = Call(new_request_id(), scope["method"])
        answer, more = await self._answer(call, scope)
        call.status = answer.status
        call.ms = (perf_counter_ns() - started_ns) / 1_000_000
        self._journal.note(call)
        await send_answer(scope, send, answer, call.request_id, more)

    async def _answer(self, call: Call, scope: AsgiScope) -> tuple[Answer, Headers]:
        """The answer, and the headers that tell how the caller's budget stands."""
        more: Headers = ()
        try:
            path = scope["path"]
            methods = self._endpoints.get(path)
            if methods is None:
                return await self._open_page(call, path), more
            call.route = path
            endpoint = methods.get(call.method)
            if endpoint is None:
                raise _method_not_allowed(methods)
            client = scope["client"]
            caller = await self._gate.admit(
                call, scope["headers"], client[0] if client else "", endpoint.environment, endpoint.scope
            )
            if caller.standing is not None:
                more = rate_limit_headers(caller.standing)
            return endpoint.answer(caller), more
        except Refused as refused:
            call.code = refused.refusal.code
            return refusal_answer(refused), more
        except StoreFault as fault:
            _log.warning("store_fault", request_id=call.request_id.decode(), fault=repr(fault))
            call.code = SERVICE_UNAVAILABLE.code
            return refusal_answer(Refused(SERVICE_UNAVAILABLE, retry_after_s=_RETRY_AFTER_FAULT_S)), more
        except Exception:  # noqa: BLE001 - the last line of defence: whatever it was, nothing of it goes out
            _log.exception("internal_error", request_id=call.request_id.decode())
            call.code = INTERNAL_ERROR.code
            return refusal_answer(Refused(INTERNAL_ERROR)), more

    async def _open_page(self, call: Call, path: str) -> Answer:
        """What needs no key: health, the description of the interface, and nothing else."""
        page = self._pages.get(path)
        if page is None and path not in (health.LIVE, health.READY):
            return NOT_FOUND
        call.route = path
        if call.method != "GET":
            raise _method_not_allowed(("GET",))
        if page is not None:
            return page
        return health.live() if path == health.LIVE else await health.ready(self._checks)


def _method_not_allowed(methods: Mapping[str, Endpoint] | tuple[str, ...]) -> Refused:
    return Refused(METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(sorted(methods))})
