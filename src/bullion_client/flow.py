"""Flows: the logic of a call, shared by the synchronous and the asynchronous client.

A flow is a generator that yields effects, gets their results (or errors), and returns the value of the call.
There are four effects: send a request, sleep, read the clock, and run a function that may block on a file. A
flow performs none of them itself. So both clients share every decision about a call and differ only in `run`
and `run_async`, and a test can drive a flow without waiting.
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
    """Continue after this many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Now:
    """Return the current `Moment`."""


@dataclass(frozen=True, slots=True)
class Run:
    """Run a function that may block, without blocking an event loop."""

    function: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time by two clocks: a monotonic one to measure with, and UTC to write down."""

    seconds: float
    utc: datetime


Effect: TypeAlias = httpx.Request | Sleep | Now | Run
Flow: TypeAlias = Generator[Effect, Any, Value]


# --- Effects with typed results --------------------------------------------------------------------------


def send(request: httpx.Request) -> Flow[httpx.Response]:
    """Send a request and return the whole response. Raises the errors of httpx."""
    response = yield request
    assert isinstance(response, httpx.Response)  # noqa: S101 - for mypy
    return response


def sleep(seconds: float) -> Flow[None]:
    """Continue after this many seconds."""
    yield Sleep(seconds)


def now() -> Flow[Moment]:
    """Read the clocks."""
    moment = yield Now()
    assert isinstance(moment, Moment)  # noqa: S101 - for mypy
    return moment


def run_function(function: Callable[[], Value]) -> Flow[Value]:
    """Run a function that may block, and return its value."""
    value: Value = yield Run(function)
    return value


# --- The drivers ------------------------------------------------------------------------------------------


def moment_now() -> Moment:
    """The time of this machine's clocks."""
    return Moment(time.monotonic(), datetime.now(UTC))


def run(flow: Flow[Value], send_request: Callable[[httpx.Request], httpx.Response]) -> Value:
    """Drive a flow to its end with a function that sends requests."""

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
                except Exception as error:  # noqa: BLE001 - the flow decides which errors it handles
                    effect = flow.throw(error)
                else:
                    effect = flow.send(result)
        except StopIteration as end:
            value: Value = end.value
            return value


async def run_async(
    flow: Flow[Value], send_request: Callable[[httpx.Request], Awaitable[httpx.Response]]
) -> Value:
    """Drive a flow to its end with a coroutine function that sends requests."""

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
                except Exception as error:  # noqa: BLE001 - the flow decides which errors it handles
                    effect = flow.throw(error)
                else:
                    effect = flow.send(result)
        except StopIteration as end:
            value: Value = end.value
            return value
