"""Flows: the logic of a call, shared by the synchronous and the asynchronous client.

A flow is a generator that yields effects, gets their results (or errors), and returns the value of the call.
The effects: send a request, open a response and read it bit by bit, sleep, read the clock, and run a function
that may block on a file. A flow performs none of them itself. So both clients share every decision about a
call and differ only in `run` and `run_async`, and a test can drive a flow without waiting.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import closing, suppress
from contextvars import copy_context
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


@dataclass(frozen=True, slots=True)
class Open:
    """Send a request, and return an `OpenResponse` as soon as the headers of the response are there."""

    request: httpx.Request


@dataclass(frozen=True, slots=True)
class OpenResponse:
    """A response whose body is read bit by bit. It must be closed."""

    response: httpx.Response
    chunks: Any
    """An iterator of its bytes; for the asynchronous client an asynchronous one."""


@dataclass(frozen=True, slots=True)
class Take:
    """Return the next bytes of an open response, and none at its end."""

    opened: OpenResponse


@dataclass(frozen=True, slots=True)
class Close:
    """Close an open response."""

    opened: OpenResponse


Effect: TypeAlias = httpx.Request | Sleep | Now | Run | Open | Take | Close
Flow: TypeAlias = Generator[Effect, Any, Value]


class NotSentError(RuntimeError):
    """The request was not sent, because the client is closed."""


# --- Effects with typed results --------------------------------------------------------------------------


def send(request: httpx.Request) -> Flow[httpx.Response]:
    """Send a request and return the whole response. Raises the errors of httpx."""
    response = yield request
    assert isinstance(response, httpx.Response)  # noqa: S101 - for mypy
    return response


def open_response(request: httpx.Request) -> Flow[OpenResponse]:
    """Send a request and return its open response. Raises the errors of httpx."""
    opened = yield Open(request)
    assert isinstance(opened, OpenResponse)  # noqa: S101 - for mypy
    return opened


def take(opened: OpenResponse) -> Flow[bytes]:
    """The next bytes of an open response, none at its end. Raises the errors of httpx."""
    chunk = yield Take(opened)
    assert isinstance(chunk, bytes)  # noqa: S101 - for mypy
    return chunk


def close(opened: OpenResponse) -> Flow[None]:
    """Close an open response."""
    yield Close(opened)


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


def _no_open_responses(request: httpx.Request) -> Any:
    raise NotImplementedError(f"nothing opens {request.url}")


def moment_now() -> Moment:
    """The time of this machine's clocks."""
    return Moment(time.monotonic(), datetime.now(UTC))


def run(
    flow: Flow[Value],
    send_request: Callable[[httpx.Request], httpx.Response],
    open_request: Callable[[httpx.Request], httpx.Response] = _no_open_responses,
) -> Value:
    """Drive a flow to its end with a function that sends requests, and one that leaves the body unread."""
    with closing(flow):
        try:
            effect = next(flow)
            while True:
                try:
                    result = _do(effect, send_request, open_request)
                except Exception as error:  # noqa: BLE001 - the flow decides which errors it handles
                    effect = flow.throw(error)
                else:
                    effect = flow.send(result)
        except StopIteration as end:
            value: Value = end.value
            return value


def _do(
    effect: Effect,
    send_request: Callable[[httpx.Request], httpx.Response],
    open_request: Callable[[httpx.Request], httpx.Response],
) -> object:
    result: object = None
    match effect:
        case Sleep(seconds):
            time.sleep(seconds)
        case Now():
            result = moment_now()
        case Run(function):
            result = function()
        case Open(request):
            response = open_request(request)
            result = OpenResponse(response, response.iter_bytes())
        case Take(opened):
            chunks: Iterator[bytes] = opened.chunks
            result = next(chunks, b"")
        case Close(opened):
            opened.response.close()
        case request:
            result = send_request(request)
    return result


async def run_async(
    flow: Flow[Value],
    send_request: Callable[[httpx.Request], Awaitable[httpx.Response]],
    open_request: Callable[[httpx.Request], Awaitable[httpx.Response]] = _no_open_responses,
) -> Value:
    """Drive a flow to its end with coroutine functions: one sends requests, one leaves the body unread."""
    with closing(flow):
        try:
            effect = next(flow)
            while True:
                try:
                    result = await _do_async(effect, send_request, open_request)
                except Exception as error:  # noqa: BLE001 - the flow decides which errors it handles
                    effect = flow.throw(error)
                else:
                    effect = flow.send(result)
        except StopIteration as end:
            value: Value = end.value
            return value


async def _do_async(
    effect: Effect,
    send_request: Callable[[httpx.Request], Awaitable[httpx.Response]],
    open_request: Callable[[httpx.Request], Awaitable[httpx.Response]],
) -> object:
    result: object = None
    match effect:
        case Sleep(seconds):
            await asyncio.sleep(seconds)
        case Now():
            result = moment_now()
        case Run(function):
            result = await _in_thread(function)
        case Open(request):
            response = await open_request(request)
            result = OpenResponse(response, response.aiter_bytes())
        case Take(opened):
            chunks: AsyncIterator[bytes] = opened.chunks
            result = await anext(chunks, b"")
        case Close(opened):
            await opened.response.aclose()
        case request:
            result = await send_request(request)
    return result


async def _in_thread(function: Callable[[], object]) -> object:
    """Run it in a thread, also to its end if the task is cancelled: what follows must find it done."""
    running = asyncio.get_running_loop().run_in_executor(None, copy_context().run, function)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        while not running.done():
            with suppress(asyncio.CancelledError):  # anyio cancels again and again.
                await asyncio.wait([running])
        raise
