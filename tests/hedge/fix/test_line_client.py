"""Calls to the process that holds a line: who is let in, and what becomes of calls when the holder goes."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import suppress

import pytest

from bullion.faults import StoreUnavailable
from bullion.hedge.fix import line_client
from bullion.hedge.fix.lease import LineHolder
from bullion.hedge.fix.line_client import LineClient, LineVenue
from bullion.hedge.fix.line_frames import Challenge, Proof, read_frame, write_frame
from bullion.hedge.fix.line_server import LineServer
from bullion.hedge.venue import (
    Confirmed,
    Declined,
    Duplicate,
    Fill,
    HedgeRequest,
    ListedExecution,
    OutcomeReport,
    PartiallyFilled,
    StatusAnswer,
    SubmitAnswer,
    Tradeability,
    Unconfirmed,
    UnknownOrder,
    VenueAbilities,
    VenueUnreachable,
    no_reports,
)
from tests.support.fix_peer import until

pytestmark = pytest.mark.anyio

REQUEST = HedgeRequest("id", "main", "GOLD", "buy", 10_000, 7_000_000, "gold", 9_990)
TOKEN = "token"
ABILITIES = VenueAbilities("fix", partial=True, covers=True)
FILLS = (Fill("E1", 32_150_000_00, 2_650_250_000, 7), Fill("E2", 1, 2, 3))
EXECUTION = ListedExecution("E1", "id", "GOLD", "buy", 10_000, 5, "17")


class Held:
    """A venue of the holder that answers what it is told to, or not at all."""

    abilities = ABILITIES

    def __init__(self) -> None:
        self.answer: SubmitAnswer | StatusAnswer | Exception = Confirmed("E1", FILLS)
        self.calls: list[str] = []
        self.cancelled = 0
        self.hangs = False

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        answer = await self._answer(f"submit {request.order_id}")
        assert not isinstance(answer, UnknownOrder)
        return answer

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        answer = await self._answer(f"status {request.order_id}")
        assert not isinstance(answer, Duplicate)
        return answer

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        return dict.fromkeys(named, Tradeability.SUSPENDED)

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        return [EXECUTION] * limit if (broker, after) == ("main", "16") else ()

    def reports(self) -> AsyncIterator[OutcomeReport]:
        return no_reports()

    async def _answer(self, call: str) -> SubmitAnswer | StatusAnswer:
        self.calls.append(call)
        if self.hangs:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Stage:
    """Leases in memory, and a holder."""

    def __init__(self) -> None:
        self.row: LineHolder | None = None
        self.fault = False
        self.is_held = True
        self.venue = Held()
        self.servers: list[LineServer] = []
        self.clients: list[LineClient] = []

    async def take(self, line: str, holder: LineHolder, lease_s: float) -> bool:
        return False

    async def release(self, line: str, holder: str) -> None: ...

    async def holder(self, line: str) -> LineHolder | None:
        if self.fault:
            raise StoreUnavailable("gone")
        return self.row

    async def begin_connection(self, line: str, holder: str) -> int:
        return 0

    async def serve(self, name: str, venue: Held, token: str = TOKEN) -> LineServer:
        server = LineServer("gold", venue, token, lambda: self.is_held)
        self.row = LineHolder(name, await server.start(), token)
        self.servers.append(server)
        return server

    def client(self) -> LineClient:
        client = LineClient("gold", ABILITIES, self)
        self.clients.append(client)
        return client


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    monkeypatch.setattr(line_client, "_LOOK_S", 0.0)
    stage = Stage()
    await stage.serve("one", stage.venue)
    yield stage
    for client in stage.clients:
        await client.close()
    for server in stage.servers:
        await server.stop()


@pytest.mark.parametrize(
    "answer",
    [
        Confirmed("E1", FILLS),
        Declined("", "no"),
        PartiallyFilled("E1", FILLS, 7, "the rest was cancelled", below_step=True),
        Unconfirmed("later"),
    ],
)
async def test_answers_arrive_as_they_were_given(stage: Stage, answer: Confirmed) -> None:
    client = stage.client()
    stage.venue.answer = answer
    assert await client.submit(REQUEST) == answer
    assert await client.order_status(REQUEST) == answer
    assert stage.venue.calls == ["submit id", "status id"]


async def test_the_other_calls(stage: Stage) -> None:
    client = stage.client()
    stage.venue.answer = Duplicate()
    assert await client.submit(REQUEST) == Duplicate()
    stage.venue.answer = UnknownOrder()
    assert await client.order_status(REQUEST) == UnknownOrder()
    assert await client.instruments("main", {"GOLD"}) == {"GOLD": Tradeability.SUSPENDED}
    assert await client.instruments("main", []) == {}
    assert await client.executions("main", "16", 2) == [EXECUTION, EXECUTION]
    assert await client.executions("main", "17", 2) == []
    assert [each async for each in client.reports()] == []
    assert client.abilities == ABILITIES


@pytest.mark.parametrize(
    "error", [VenueUnreachable("the venue is down"), KeyError("a defect of the adapter")]
)
async def test_an_error_of_the_venue_is_an_outcome_that_is_not_known(stage: Stage, error: Exception) -> None:
    client = stage.client()
    stage.venue.answer = error
    with pytest.raises(VenueUnreachable, match=r"down|defect"):
        await client.submit(REQUEST)
    stage.venue.answer = Confirmed("E1")
    assert await client.submit(REQUEST) == Confirmed("E1")


async def test_a_call_that_is_cancelled_is_cancelled_at_the_holder(stage: Stage) -> None:
    client = stage.client()
    stage.venue.hangs = True
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await client.submit(REQUEST)
    await until(lambda: stage.venue.cancelled == len(stage.venue.calls))
    stage.venue.hangs = False
    assert await client.order_status(REQUEST) == Confirmed("E1", FILLS)


async def test_a_holder_that_goes_fails_the_calls_under_way(stage: Stage) -> None:
    client = stage.client()
    stage.venue.hangs = True
    calls = [asyncio.ensure_future(client.submit(REQUEST)) for _ in range(5)]
    await until(lambda: len(stage.venue.calls) == 5)
    await stage.servers[0].stop()
    for call in calls:
        with pytest.raises(VenueUnreachable):
            await call
    with pytest.raises(VenueUnreachable):
        await client.submit(REQUEST)
    await until(lambda: stage.venue.cancelled == 5)


async def test_calls_go_to_the_new_holder(stage: Stage) -> None:
    client = stage.client()
    await client.submit(REQUEST)
    other = Held()
    await stage.serve("two", other, "another token")
    await client.submit(REQUEST)
    assert (len(stage.venue.calls), len(other.calls)) == (1, 1)


async def test_nobody_holds_the_line_or_nobody_knows(stage: Stage) -> None:
    client = stage.client()
    stage.row = None
    with pytest.raises(VenueUnreachable, match="no process"):
        await client.submit(REQUEST)
    stage.fault = True
    with pytest.raises(VenueUnreachable, match="not known"):
        await client.submit(REQUEST)
    assert stage.venue.calls == []


async def test_a_process_that_lost_the_line_answers_nothing(stage: Stage) -> None:
    client = stage.client()
    stage.is_held = False
    with pytest.raises(VenueUnreachable, match="does not hold"):
        await client.submit(REQUEST)
    assert stage.venue.calls == []
    stage.is_held = True
    assert await client.submit(REQUEST) == Confirmed("E1", FILLS)


@pytest.mark.parametrize("line", ["gold", "silver"])
async def test_whoever_does_not_know_the_token_of_the_line_is_not_let_in(stage: Stage, line: str) -> None:
    assert stage.row is not None
    stage.row = LineHolder("one", stage.row.address, "a guess" if line == "gold" else "token")
    client = LineClient(line, ABILITIES, stage)
    with pytest.raises(VenueUnreachable, match="does not answer"):
        await client.submit(REQUEST)
    assert stage.venue.calls == []


@pytest.mark.parametrize("data", [b"", b"\x00\x00\x00\x02{}", b"\xff\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n"])
async def test_a_stranger_is_hung_up_on(stage: Stage, data: bytes) -> None:
    assert stage.row is not None
    host, _, port = stage.row.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(data)
    writer.write_eof()
    received = b""
    with suppress(ConnectionResetError):
        received = await asyncio.wait_for(reader.read(), 20)
    assert b"token" not in received
    writer.close()
    assert await stage.client().submit(REQUEST) == Confirmed("E1", FILLS)


async def test_a_process_that_does_not_know_the_token_gets_no_order(stage: Stage) -> None:
    """An address in the store may be old: another program may listen there now."""
    received = bytearray()

    async def impostor(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        write_frame(writer, Challenge(b"x" * 32))
        await read_frame(reader)
        write_frame(writer, Proof(b"", b"y" * 32))
        received.extend(await reader.read())
        writer.close()

    server = await asyncio.start_server(impostor, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    stage.row = LineHolder("one", f"127.0.0.1:{port}", "token")
    with pytest.raises(VenueUnreachable, match="token"):
        await stage.client().submit(REQUEST)
    server.close()
    await server.wait_closed()
    assert received == b""


async def test_a_node_uses_its_own_adapter_while_it_holds_the_line(stage: Stage) -> None:
    own, holds = Held(), [True]
    venue = LineVenue(own, stage.client(), lambda: holds[0])
    await venue.submit(REQUEST)
    holds[0] = False
    await venue.order_status(REQUEST)
    assert (own.calls, stage.venue.calls) == (["submit id"], ["status id"])
    assert await venue.executions("main", "16", 1) == [EXECUTION]
    assert await venue.instruments("main", ["GOLD"]) == {"GOLD": Tradeability.SUSPENDED}
    assert venue.abilities == ABILITIES
