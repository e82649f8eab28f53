"""The drivers: a flow may ask several times, see failures and go on, and is always closed."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import anyio
import anyio.lowlevel
import httpx
import pytest

from bullion_client.flow import Flow, now, run, run_async, run_function, send, sleep

FIRST, SECOND = (httpx.Request("GET", f"http://x/{number}") for number in (1, 2))

Driver = Callable[[Flow[str], list[httpx.Response | Exception], list[str]], str]


def _take(
    outcomes: Iterator[httpx.Response | Exception], sent: list[str], request: httpx.Request
) -> httpx.Response:
    sent.append(request.url.path)
    outcome = next(outcomes)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _sync(flow: Flow[str], outcomes: list[httpx.Response | Exception], sent: list[str]) -> str:
    left = iter(outcomes)
    return run(flow, lambda request: _take(left, sent, request))


def _async(flow: Flow[str], outcomes: list[httpx.Response | Exception], sent: list[str]) -> str:
    left = iter(outcomes)

    async def send(request: httpx.Request) -> httpx.Response:
        await anyio.lowlevel.checkpoint()
        return _take(left, sent, request)

    return anyio.run(run_async, flow, send)


@pytest.fixture(params=[_sync, _async], ids=["sync", "async"])
def drive(request: pytest.FixtureRequest) -> Driver:
    driver: Driver = request.param
    return driver


def test_each_request_gets_its_response(drive: Driver) -> None:
    def flow() -> Flow[str]:
        first = yield FIRST
        second = yield SECOND
        return f"{first.text} {second.text}"

    sent: list[str] = []
    answers: list[httpx.Response | Exception] = [httpx.Response(200, text="a"), httpx.Response(200, text="b")]
    assert drive(flow(), answers, sent) == "a b"
    assert sent == ["/1", "/2"]


def test_a_flow_may_try_again_after_a_failure(drive: Driver) -> None:
    def flow() -> Flow[str]:
        try:
            response = yield from send(FIRST)
        except httpx.ConnectError:
            response = yield from send(SECOND)
        return response.text

    sent: list[str] = []
    assert drive(flow(), [httpx.ConnectError("down"), httpx.Response(200, text="b")], sent) == "b"
    assert sent == ["/1", "/2"]


def test_a_flow_is_closed_when_sending_breaks_down(drive: Driver) -> None:
    closed: list[bool] = []

    def flow() -> Flow[str]:
        try:
            yield FIRST
        finally:
            closed.append(True)
        return "never"

    kept = flow()  # held here, so that only the driver can have closed it
    with pytest.raises(ZeroDivisionError):
        drive(kept, [ZeroDivisionError()], [])
    assert closed == [True]


def test_a_flow_may_sleep_look_at_the_clocks_and_run_a_function(drive: Driver) -> None:
    def flow() -> Flow[str]:
        before = yield from now()
        yield from sleep(0.05)
        after = yield from now()
        assert 0.05 <= after.seconds - before.seconds < 5
        assert abs((after.utc - datetime.now(UTC)).total_seconds()) < 5
        return (yield from run_function(lambda: "done"))

    assert drive(flow(), [], []) == "done"


def test_a_flow_is_thrown_what_a_function_raises(drive: Driver) -> None:
    def fail() -> str:
        raise OSError("disk full")

    def flow() -> Flow[str]:
        try:
            return (yield from run_function(fail))
        except OSError as error:
            return f"told: {error}"

    assert drive(flow(), [], []) == "told: disk full"


def test_functions_that_block_do_not_hold_up_an_event_loop() -> None:
    async def ticking() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await anyio.sleep(0.01)
                ticks += 1

        async with anyio.create_task_group() as group:
            group.start_soon(tick)
            await run_async(run_function(lambda: time.sleep(0.3)), _never)
            group.cancel_scope.cancel()
        return ticks

    assert anyio.run(ticking) > 3


async def _never(request: httpx.Request) -> httpx.Response:
    raise AssertionError(request)
