"""The ASGI application that every port extends: request ids, timing, the call log, and error responses."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from time import perf_counter_ns
from typing import Any

from bullion.faults import StoreFault
from bullion.refusals.catalogue import INTERNAL_ERROR, SERVICE_UNAVAILABLE
from bullion.refusals.refusal import RefusalError
from bullion.request_ids import CURRENT

from .body import CallerLeft
from .calls import Call
from .response import (
    NOT_FOUND,
    AbortConnection,
    Receive,
    Response,
    Scope,
    Send,
    new_request_id,
    refusal_response,
    send_response,
)
from .router import Router

PublicPage = Callable[[Scope], Awaitable[Response]]
"""A page that needs neither key nor token."""


class HttpApp(ABC):
    """A subclass handles calls, and says how its error responses differ."""

    log: Any

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started_ns = perf_counter_ns()
        call = Call(new_request_id(), scope["method"])
        CURRENT.set(call.request_id)
        try:
            response = await self.handle(call, scope, receive)
        except CallerLeft:
            return
        except AbortConnection:
            call.ms = (perf_counter_ns() - started_ns) / 1_000_000
            self.record_call(call)
            raise
        except Exception as error:  # noqa: BLE001 - every error becomes a response without its details
            refused = self._refusal(error)
            call.code = refused.refusal.code
            response = self.refuse(scope, refused)
        call.status = response.status
        call.ms = (perf_counter_ns() - started_ns) / 1_000_000
        self.record_call(call)
        await send_response(scope, send, response, call.request_id, call.header_lines)

    @abstractmethod
    async def handle(self, call: Call, scope: Scope, receive: Receive) -> Response: ...

    @abstractmethod
    def record_call(self, call: Call) -> None:
        """Count and log the call."""

    def refuse(self, _scope: Scope, refused: RefusalError) -> Response:
        return refusal_response(refused)

    def unavailable(self, _fault: StoreFault) -> RefusalError:
        return RefusalError(SERVICE_UNAVAILABLE)

    def _refusal(self, error: Exception) -> RefusalError:
        match error:
            case RefusalError():
                return error
            case StoreFault():
                self.log.warning("store_fault", fault=repr(error))
                return self.unavailable(error)
            case _:
                self.log.error("internal_error", exc_info=error)
                return RefusalError(INTERNAL_ERROR)


async def answer_public_page(pages: Router[PublicPage], call: Call, scope: Scope) -> Response:
    found = pages.find(scope["path"])
    if found is None:
        return NOT_FOUND
    call.route = found.path
    return await found.target(call.method)(scope)
