"""One call of the service, and a read that is retried until it is answered."""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

import httpx

from bullion_client.errors import BullionError, NoAnswer, UnexpectedAnswer
from bullion_client.flow import Flow, Value, now, send, sleep
from bullion_client.models import Answered, note_request_id
from bullion_client.rate_limit import Kind, Pacer
from bullion_client.responses import Answer, accepted, request_id
from bullion_client.retry import Tries, judge, judge_read

log = logging.getLogger("bullion_client")

_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
"""No connection was made, so nothing of the request was sent."""
_BROKE = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)


@dataclass(frozen=True, slots=True)
class Call(Generic[Value]):
    """A request that can be sent as often as needed, and how its response is read."""

    kind: Kind
    request: Callable[[], httpx.Request]
    read: Callable[[Answer], Value]
    pacer: Pacer | None = None
    hold_s: float = 0.0
    """How long the service may hold the response back, because it was asked to."""

    def once(self, tries: Tries) -> Flow[Value]:
        """Send it as one more of these tries. Raises a `BullionError` if it fails."""
        if self.pacer is None:
            return (yield from self._exchange(tries, None))
        yield from self._take_slot(self.pacer, tries)
        headers: list[httpx.Headers] = []
        try:
            return (yield from self._exchange(tries, headers))
        finally:
            # The pacer has its own clock: a flow must not ask for the time while it is being closed.
            self.pacer.done(self.kind, headers[0] if headers else None)

    def _take_slot(self, pacer: Pacer, tries: Tries) -> Flow[None]:
        """Wait for a slot in the budget. If the deadline comes first, send it anyway: the service decides."""
        while (pause := pacer.ask(self.kind)) > 0:
            moment = yield from now()
            if pause >= tries.left(moment.seconds):
                pacer.push(self.kind)
                return
            yield from sleep(pause)

    def _exchange(self, tries: Tries, headers: list[httpx.Headers] | None) -> Flow[Value]:
        moment = yield from now()
        request = self.request()
        timeout = tries.next_timeout(moment.seconds)
        request.extensions["timeout"] = timeouts(timeout, timeout + self.hold_s)
        try:
            response = yield from send(request)
        except httpx.DecodingError as error:
            raise UnexpectedAnswer(
                "its body cannot be decoded", "Check base_url, and any proxy on the way", str(request.url)
            ) from error
        except httpx.RequestError as error:
            raise no_answer(request, error) from error
        if headers is not None:
            headers.append(response.headers)
        value = self.read(accepted(response))
        log.debug("%s %s: request id %s", request.method, request.url.path, request_id(response))
        if isinstance(value, Answered):
            note_request_id(value, request_id(response))
        return value


def read_until_answered(call: Call[Value], tries: Tries) -> Flow[Value]:
    """Retry a read until it is answered, refused finally, or out of time."""
    while True:
        try:
            return (yield from call.once(tries))
        except BullionError as error:
            moment = yield from now()
            verdict = judge_read(error)
            pause = tries.pause(verdict, moment.seconds) if verdict.again else None
            if pause is None:
                raise
            log.debug("trying again in %.2f s: %s", pause, error)
        yield from sleep(pause)


def write_until_answered(call: Call[Value], tries: Tries) -> Flow[Value]:
    """Retry a change only while the service cannot have made it."""
    while True:
        try:
            return (yield from call.once(tries))
        except BullionError as error:
            moment = yield from now()
            verdict = judge(error)
            pause = tries.pause(verdict, moment.seconds) if verdict.again and not verdict.unsure else None
            if pause is None:
                raise
            log.debug("trying again in %.2f s: %s", pause, error)
        yield from sleep(pause)


def timeouts(each_s: float, read_s: float) -> dict[str, float | None]:
    """The timeouts of a request for httpx: of each wait, and of the wait for the next bytes."""
    each = None if math.isinf(each_s) else each_s
    return httpx.Timeout(each, read=None if math.isinf(read_s) else read_s).as_dict()


def no_answer(request: httpx.Request, error: httpx.RequestError) -> NoAnswer:
    """The error for a request whose response did not come, or not whole."""
    sent, broke = not isinstance(error, _NEVER_SENT), isinstance(error, _BROKE)
    return NoAnswer(str(request.url), _reason(error), sent=sent, broke=broke)


def _reason(error: httpx.RequestError) -> str:
    # The timeouts of httpx often have no message.
    text = "timed out" if isinstance(error, httpx.TimeoutException) else str(error)
    return f"{text} ({type(error).__name__})".lstrip()
