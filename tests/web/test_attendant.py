"""The task that runs the application for a connection, and is kept from one request to the next."""

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bullion.web.attendant import Attendant
from bullion.web.exchange import Exchange

pytestmark = pytest.mark.anyio

Act = Callable[[], Awaitable[None]]


class Line:
    """As much of a connection as an exchange asks for when it ends."""

    write_paused = False

    def __init__(self) -> None:
        self.done: list[asyncio.Task[None]] = []
        self.failed: list[Exchange] = []

    def ended(self, task: "asyncio.Task[None]") -> None:
        self.done.append(task)

    def fail(self, exchange: Exchange) -> None:
        self.failed.append(exchange)


class Scope(dict[str, Any]):
    """One that can be watched as it goes."""


def request(act: Act) -> Scope:
    return Scope(act=act)


async def app(scope: Any, _receive: Any, _send: Any) -> None:
    await scope["act"]()


async def nothing() -> None:
    pass


def begin(line: Line, scope: Scope) -> Attendant:
    return Attendant(app, asyncio.get_running_loop(), scope, exchange(line))


def exchange(line: Line) -> Exchange:
    return Exchange(line, "GET", keep_alive=True, waits_for_leave=False)  # type: ignore[arg-type]


def free(attendant: Attendant) -> bool:
    """By a call: it changes between two looks."""
    return attendant.free


async def turns(number: int = 5) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_requests_that_follow_each_other_are_one_tasks_work() -> None:
    line, tasks = Line(), list[Any]()

    async def note() -> None:
        tasks.append(asyncio.current_task())

    attendant = begin(line, request(note))
    assert not free(attendant)
    for number in range(1, 4):
        await turns()
        assert len(line.done) == number
        assert free(attendant)
        attendant.attend(request(note), exchange(line))
        assert not free(attendant)
    await turns()
    assert tasks == [attendant.task] * 4 == line.done
    attendant.dismiss()
    await asyncio.wait_for(attendant.task, 5)


async def test_one_that_is_busy_is_not_free_and_is_dismissed_without_harm() -> None:
    line, gate = Line(), asyncio.Event()

    async def waits() -> None:
        await gate.wait()

    attendant = begin(line, request(waits))
    await turns()
    assert not free(attendant)
    attendant.dismiss()
    await turns()
    assert not attendant.task.done()
    gate.set()
    await asyncio.wait_for(attendant.task, 5)
    assert line.done == [attendant.task]


async def test_nothing_of_a_request_is_kept_until_the_next_one() -> None:
    line, scope = Line(), request(nothing)
    watched = weakref.ref(scope)
    attendant = begin(line, scope)
    del scope
    await turns()
    gc.collect()
    assert free(attendant)
    assert watched() is None
    attendant.dismiss()
    await attendant.task


async def test_a_request_that_fails_does_not_end_it() -> None:
    line = Line()

    async def fails() -> None:
        raise RuntimeError("whatever the application meant by it")

    attendant = begin(line, request(fails))
    await turns()
    assert len(line.failed) == 1
    assert free(attendant)
    attendant.attend(request(nothing), exchange(line))
    await turns()
    assert len(line.done) == 2
    attendant.dismiss()
    await attendant.task


@pytest.mark.parametrize("busy", [True, False])
async def test_one_that_is_cancelled_takes_no_more_requests(busy: bool) -> None:
    line, gate = Line(), asyncio.Event()

    async def waits() -> None:
        await gate.wait()

    attendant = begin(line, request(waits if busy else nothing))
    await turns()
    attendant.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attendant.task
    assert not free(attendant)
    assert len(line.done) == 1  # Of the request itself; a pause belongs to none.
    assert len(line.failed) == 1  # None of these was answered.
    attendant.dismiss()
