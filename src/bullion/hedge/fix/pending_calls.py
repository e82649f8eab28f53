"""Calls that wait for the venue: for the outcome of an order, or for the answer to a question."""

import asyncio

import msgspec

from bullion.hedge.venue import StatusAnswer, SubmitAnswer, Unconfirmed, VenueUnreachable

Answer = SubmitAnswer | StatusAnswer


class PendingCall(msgspec.Struct, eq=False):
    question: str
    """Empty: a `submit`."""
    done: "asyncio.Future[Answer]"
    names: list[str] = []
    """ClOrdIDs under which it is found."""


class PendingCalls:
    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._calls: dict[str, list[PendingCall]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._calls

    def begin(self, name: str, question: str) -> PendingCall:
        call = PendingCall(question, asyncio.get_running_loop().create_future())
        self.add_name(call, name)
        return call

    def add_name(self, call: PendingCall, name: str) -> None:
        call.names.append(name)
        self._calls.setdefault(name, []).append(call)

    def end(self, call: PendingCall) -> None:
        for name in call.names:
            waiting = self._calls[name]
            waiting.remove(call)
            if not waiting:
                del self._calls[name]

    async def wait(self, call: PendingCall, message: str) -> Answer:
        """Its answer. After a while it is unconfirmed, with this message."""
        # A timer of the loop's own costs a third of `asyncio.timeout`.
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._patience_s, _answer, call, Unconfirmed(message))
        try:
            return await call.done
        finally:
            timer.cancel()

    def answer(self, name: str, answer: Answer, question: str | None) -> bool:
        """Whether a call waited for it. `question`: None for all calls."""
        answered = False
        for call in self._calls.get(name, ()):
            if question in (None, call.question):
                answered |= _answer(call, answer)
        return answered

    def fail_all(self, error: VenueUnreachable) -> None:
        for calls in self._calls.values():
            for call in calls:
                if not call.done.done():
                    call.done.set_exception(error)
                    call.done.exception()  # Mark it as retrieved: the caller may be cancelled before.


def _answer(call: PendingCall, answer: Answer) -> bool:
    """Whether it had no answer yet."""
    waited = not call.done.done()
    if waited:
        call.done.set_result(answer)
    return waited
