"""The drivers: a flow may ask several times, see failures and go on, and is always closed."""

from collections.abc import Callable, Iterator

import anyio
import anyio.lowlevel
import httpx
import pytest

from bullion_client.flow import Flow, run, run_async

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
            response = yield FIRST
        except httpx.ConnectError:
            response = yield SECOND
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
