"""What every request goes through on every port: an id, the time it takes, the journal, and an answer to
whatever goes wrong."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from time import perf_counter_ns
from typing import Any

from bullion.faults import StoreFault
from bullion.refusals.catalogue import INTERNAL_ERROR, SERVICE_UNAVAILABLE
from bullion.refusals.refusal import RefusalError

from .answer import (
    NOT_FOUND,
    Answer,
    HangUp,
    Receive,
    Scope,
    Send,
    new_request_id,
    refusal_answer,
    send_answer,
)
from .body import CallerLeft
from .calls import Call
from .router import Router

OpenPage = Callable[[], Awaitable[Answer]]
"""A page that needs neither key nor token."""


class RequestShell(ABC):
    """An ASGI application. A port says how it answers, and what differs in its errors."""

    log: Any

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started_ns = perf_counter_ns()
        call = Call(new_request_id(), scope["method"])
        try:
            answer = await self.answer(call, scope, receive)
        except CallerLeft:
            return
        except HangUp:
            call.ms = (perf_counter_ns() - started_ns) / 1_000_000
            self.note(call)
            raise
        except Exception as error:  # noqa: BLE001 - the last line of defence: no detail of it is sent
            refused = self._refusal(call, error)
            call.code = refused.refusal.code
            answer = self.refuse(scope, refused)
        call.status = answer.status
        call.ms = (perf_counter_ns() - started_ns) / 1_000_000
        self.note(call)
        await send_answer(scope, send, answer, call.request_id, call.header_lines)

    @abstractmethod
    async def answer(self, call: Call, scope: Scope, receive: Receive) -> Answer: ...

    @abstractmethod
    def note(self, call: Call) -> None:
        """Count and log the call."""

    def refuse(self, _scope: Scope, refused: RefusalError) -> Answer:
        return refusal_answer(refused)

    def unavailable(self, _fault: StoreFault) -> RefusalError:
        return RefusalError(SERVICE_UNAVAILABLE)

    def _refusal(self, call: Call, error: Exception) -> RefusalError:
        request_id = call.request_id.decode()
        match error:
            case RefusalError():
                return error
            case StoreFault():
                self.log.warning("store_fault", request_id=request_id, fault=repr(error))
                return self.unavailable(error)
            case _:
                self.log.error("internal_error", request_id=request_id, exc_info=error)
                return RefusalError(INTERNAL_ERROR)


async def open_page(pages: Router[OpenPage], call: Call, path: str) -> Answer:
    found = pages.find(path)
    if found is None:
        return NOT_FOUND
    call.route = found.path
    return await found.target(call.method)()
