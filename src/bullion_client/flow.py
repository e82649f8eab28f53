"""One flow for both clients.

A flow is a generator that yields requests, is sent the responses (or is thrown httpx's error), and returns
the value of the call. It never touches the network itself, so the synchronous and the asynchronous client
share every decision about a call, and differ in the few lines of `run` and `run_async` only.
"""

from collections.abc import Awaitable, Callable, Generator
from contextlib import closing
from typing import TypeAlias, TypeVar

import httpx

from bullion_client.answer import Answer, accepted
from bullion_client.errors import NoAnswer, UnexpectedAnswer

Value = TypeVar("Value")

Flow: TypeAlias = Generator[httpx.Request, httpx.Response, Value]


def exchange(request: httpx.Request, read: Callable[[Answer], Value]) -> Flow[Value]:
    """Send one request once, and read the value out of its answer. Retries will have their place here."""
    try:
        response = yield request
    except httpx.DecodingError as error:
        raise UnexpectedAnswer(
            "its body cannot be decoded", "Check base_url, and any proxy on the way", str(request.url)
        ) from error
    except httpx.RequestError as error:
        raise NoAnswer(str(request.url), _reason(error)) from error
    return read(accepted(response))


def run(flow: Flow[Value], send: Callable[[httpx.Request], httpx.Response]) -> Value:
    """Drive a flow to its end with a function that sends."""
    with closing(flow):
        try:
            request = next(flow)
            while True:
                try:
                    response = send(request)
                except httpx.RequestError as error:
                    request = flow.throw(error)
                else:
                    request = flow.send(response)
        except StopIteration as end:
            value: Value = end.value
            return value


async def run_async(flow: Flow[Value], send: Callable[[httpx.Request], Awaitable[httpx.Response]]) -> Value:
    """Drive a flow to its end with a coroutine function that sends."""
    with closing(flow):
        try:
            request = next(flow)
            while True:
                try:
                    response = await send(request)
                except httpx.RequestError as error:
                    request = flow.throw(error)
                else:
                    request = flow.send(response)
        except StopIteration as end:
            value: Value = end.value
            return value


def _reason(error: httpx.RequestError) -> str:
    # httpx's timeouts often have no text of their own.
    text = "timed out" if isinstance(error, httpx.TimeoutException) else str(error)
    return f"{text} ({type(error).__name__})".lstrip()
