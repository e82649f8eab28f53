"""A venue whose line another process holds: every call goes to the holder over a private stream."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from itertools import count
from typing import Any

from bullion.faults import StoreFault
from bullion.hedge.venue import (
    HedgeRequest,
    ListedExecution,
    OutcomeReport,
    StatusAnswer,
    SubmitAnswer,
    Tradeability,
    Venue,
    VenueAbilities,
    VenueUnreachable,
    no_reports,
)

from .lease import LineHolder, LineLeases
from .line_frames import (
    Answer,
    Cancel,
    ExecutionsBody,
    InstrumentsBody,
    StreamBroken,
    Unreachable,
    answered,
    call_of,
    prove_as_client,
    read_frame,
    write_frame,
)

_LOOK_S = 0.5
"""How often it looks who holds the line, at most."""
_CONNECT_S = 2.0


class LineClient:
    """VenueUnreachable if nobody holds the line, or its holder is gone: also if a call may have arrived."""

    def __init__(
        self,
        line: str,
        abilities: VenueAbilities,
        leases: LineLeases,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.abilities = abilities
        self._line = line
        self._leases = leases
        self._monotonic = monotonic
        self._turn = asyncio.Lock()
        self._looked_at: float | None = None
        self._stream: _Stream | None = None
        self.on_gone: Callable[[], None] | None = None
        """Called when the connection to the holder ends."""

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        answer: SubmitAnswer = await self._call("submit", request)
        return answer

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        answer: StatusAnswer = await self._call("order_status", request)
        return answer

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        answer: Mapping[str, Tradeability] = await self._call(
            "instruments", InstrumentsBody(broker, [*named])
        )
        return answer

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        answer: Sequence[ListedExecution] = await self._call(
            "executions", ExecutionsBody(broker, after, limit)
        )
        return answer

    def reports(self) -> AsyncIterator[OutcomeReport]:
        """None: the holder itself records what the venue reports."""
        return no_reports()

    async def close(self) -> None:
        if self._stream is not None:
            await self._stream.close()

    async def _call(self, method: str, body: object) -> Any:
        """The answer's type follows from the method: `line_frames` decodes it."""
        stream = await self._connected()
        return await stream.call(method, body)

    async def _connected(self) -> "_Stream":
        """The stream to whoever holds the line now."""
        async with self._turn:
            stream, now = self._stream, self._monotonic()
            looked = self._looked_at is not None and now - self._looked_at < _LOOK_S
            if stream is not None and not stream.broken and looked:
                return stream
            holder = await self._holder()
            self._looked_at = now
            if stream is not None and (stream.broken or stream.holder != holder):
                await stream.close()
                stream = self._stream = None
            if stream is None:
                stream = self._stream = await _connect(self._line, holder)
                stream.on_gone = self.on_gone
            return stream

    async def _holder(self) -> LineHolder:
        try:
            holder = await self._leases.holder(self._line)
        except StoreFault as fault:
            raise VenueUnreachable(f"the holder of the line {self._line} is not known: {fault!r}") from fault
        if holder is None:
            raise VenueUnreachable(f"no process holds the line {self._line}")
        return holder


class LineVenue:
    """The line of this node: its own adapter while it holds the line, and otherwise the holder's."""

    def __init__(self, own: Venue, client: LineClient, held: Callable[[], bool]) -> None:
        self.abilities = own.abilities
        self._own = own
        self._client = client
        self._held = held

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:
        return await self._venue().submit(request)

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:
        return await self._venue().order_status(request)

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:
        return await self._venue().instruments(broker, named)

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:
        return await self._venue().executions(broker, after, limit)

    def reports(self) -> AsyncIterator[OutcomeReport]:
        """Of our own adapter, which has some whenever it holds the line."""
        return self._own.reports()

    def _venue(self) -> Venue:
        return self._own if self._held() else self._client


class _Stream:
    """One connection to a holder, with any number of calls under way."""

    def __init__(
        self, holder: LineHolder, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.holder = holder
        self.broken = False
        self.on_gone: Callable[[], None] | None = None
        self._reader = reader
        self._writer = writer
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Answer | Unreachable]] = {}
        self._task = asyncio.ensure_future(self._read())

    async def call(self, method: str, body: object) -> object:
        if self.broken:
            raise VenueUnreachable("the holder of the line is gone")
        number = next(self._numbers)
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        try:
            write_frame(self._writer, call_of(number, method, body))
            answer = await waiting
        except asyncio.CancelledError:
            if not self.broken:
                write_frame(self._writer, Cancel(number))
            raise
        except StreamBroken as error:
            raise VenueUnreachable(str(error)) from error
        finally:
            self._waiting.pop(number, None)
        if isinstance(answer, Unreachable):
            raise VenueUnreachable(answer.message)
        try:
            return answered(answer)
        except StreamBroken as error:
            raise VenueUnreachable(str(error)) from error

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self) -> None:
        reason = "the holder of the line is gone"
        try:
            while True:
                frame = await read_frame(self._reader)
                if not isinstance(frame, Answer | Unreachable):
                    raise StreamBroken("an answer was expected")
                waiting = self._waiting.get(frame.number)
                if waiting is not None and not waiting.done():
                    waiting.set_result(frame)
        except StreamBroken as error:
            reason = str(error)
        except (EOFError, OSError):
            pass
        finally:
            self.broken = True
            self._writer.transport.abort()
            for each in self._waiting.values():
                if not each.done():
                    each.set_exception(VenueUnreachable(reason))
            if self.on_gone is not None:
                self.on_gone()


async def _connect(line: str, holder: LineHolder) -> _Stream:
    host, _, port = holder.address.rpartition(":")
    try:
        async with asyncio.timeout(_CONNECT_S):
            reader, writer = await asyncio.open_connection(host, int(port))
            try:
                await prove_as_client(reader, writer, line, holder.token)
            except BaseException:
                writer.transport.abort()
                raise
    except (OSError, EOFError, TimeoutError, ValueError, StreamBroken) as error:
        raise VenueUnreachable(f"the holder of the line {line} does not answer: {error!r}") from error
    return _Stream(holder, reader, writer)
