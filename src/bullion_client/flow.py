"""One flow for both clients.

A flow is a generator that yields what it wants done, is sent the result (or is thrown the error), and returns
the value of the call. It can ask for four things: to send a request, to sleep, to know the time, and to run a
function that may block on a file. It does none of them itself, so the synchronous and the asynchronous client
share every decision about a call, a test drives them without time passing, and they differ in `run` and
`run_async` only.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeVar

import httpx

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Sleep:
    """Ask to go on after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Now:
    """Ask for the `Moment` that it is."""


@dataclass(frozen=True, slots=True)
class Run:
    """Ask to run a function that may block, without holding up an event loop."""

    function: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time by two clocks: one to measure with, which nobody sets, and one to write down."""

    seconds: float
    utc: datetime


Effect: TypeAlias = httpx.Request | Sleep | Now | Run
Flow: TypeAlias = Generator[Effect, Any, Value]


# --- What a flow asks for, with the types of what it gets ------------------------------------------------


def send(request: httpx.Request) -> Flow[httpx.Response]:
    """Send a request and return its whole answer. Raises httpx's errors."""
    response = yield request
    assert isinstance(response, httpx.Response)  # noqa: S101 - for the types: a driver keeps to it
    return response


def sleep(seconds: float) -> Flow[None]:
    """Go on later."""
    yield Sleep(seconds)


def now() -> Flow[Moment]:
    """Look at the clocks."""
    moment = yield Now()
    assert isinstance(moment, Moment)  # noqa: S101 - as above
    return moment


def run_function(function: Callable[[], Value]) -> Flow[Value]:
    """Run a function that may block, and return what it returns."""
    value: Value = yield Run(function)
    return value


# --- The drivers ------------------------------------------------------------------------------------------


def moment_now() -> Moment:
    """The time by this machine's clocks."""
    return Moment(time.monotonic(), datetime.now(UTC))


def run(flow: Flow[Value], send_request: Callable[[httpx.Request], httpx.Response]) -> Value:
    """Drive a flow to its end with a function that sends."""

    def do(effect: Effect) -> object:
        match effect:
            case Sleep(seconds):
                time.sleep(seconds)
                return None
            case Now():
                return moment_now()
            case Run(function):
                return function()
            case request:
                return send_request(request)

    with closing(flow):
        try:
            effect = next(flow)
            while True:
                try:
                    result = do(effect)
                except Exception as error:  # noqa: BLE001 - the flow knows which of them it can mend
                    effect = flow.throw(error)
                else:
                    effect = flow.send(result)
        except StopIteration as end:
            value: Value = end.value
            return value


async def run_async(
    flow: Flow[Value], send_request: Callable[[httpx.Request], Awaitable[httpx.Response]]
) -> Value:
    """Drive a flow to its end with a coroutine function that sends."""

    async def do(effect: Effect) -> object:
        match effect:
            case Sleep(seconds):
                await asyncio.sleep(seconds)
                return None
            case Now():
                return moment_now()
            case Run(function):
                return await asyncio.to_thread(function)
            case request:
                return await send_request(request)

    with closing(flow):
        try:
            effect = next(flow)
            while True:
                try:
                    result = await do(effect)
                except Exception as error:  # noqa: BLE001 - the flow knows which of them it can mend
                    effect = flow.throw(error)
                else:
                    effect = flow.send(result)
        except StopIteration as end:
            value: Value = end.value
            return value
