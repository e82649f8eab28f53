"""The holder's side of a line: answers the calls of other processes with its own venue."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from bullion.hedge.venue import Venue, VenueUnreachable

from .line_frames import (
    Call,
    Cancel,
    ExecutionsBody,
    Frame,
    InstrumentsBody,
    StreamBroken,
    Unreachable,
    answer_of,
    body_of,
    prove_as_server,
    read_frame,
    write_frame,
)

_PROOF_S = 2.0
_CONNECTIONS_MAX = 256
_CALL_S = 30.0
"""Longer than any caller waits: for callers that vanished without a word."""

_log = structlog.get_logger("hedge")


class LineServer:
    def __init__(self, line: str, venue: Venue, token: str, held: Callable[[], bool]) -> None:
        """`held`: whether this process holds the line. If not, no call reaches the venue."""
        self._line = line
        self._venue = venue
        self._token = token
        self._held = held
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.StreamWriter] = set()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Listen, and return the address for the lease."""
        self._server = await asyncio.start_server(self._serve, host, port)
        bound = self._server.sockets[0].getsockname()
        return f"{bound[0]}:{bound[1]}"

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            for each in tuple(self._connections):
                each.transport.abort()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) >= _CONNECTIONS_MAX:
            writer.transport.abort()
            return
        self._connections.add(writer)
        calls: dict[int, asyncio.Task[None]] = {}
        try:
            async with asyncio.timeout(_PROOF_S):
                await prove_as_server(reader, writer, self._line, self._token)
            while True:
                self._take(await read_frame(reader), writer, calls)
                await writer.drain()
        except StreamBroken as error:
            _log.warning("line_caller_refused", line=self._line, error=str(error))
        except (EOFError, OSError, TimeoutError):
            pass
        finally:
            self._connections.discard(writer)
            writer.transport.abort()
            for task in calls.values():
                task.cancel()

    def _take(self, frame: Frame, writer: asyncio.StreamWriter, calls: dict[int, asyncio.Task[None]]) -> None:
        if isinstance(frame, Cancel):
            if (running := calls.get(frame.number)) is not None:
                running.cancel()
            return
        if not isinstance(frame, Call) or frame.number in calls:
            raise StreamBroken("a call was expected")
        body = body_of(frame)
        task = asyncio.ensure_future(self._answer(frame, body, writer))
        calls[frame.number] = task
        task.add_done_callback(lambda _: calls.pop(frame.number, None))

    async def _answer(self, call: Call, body: Any, writer: asyncio.StreamWriter) -> None:
        """Whatever fails, the caller learns no more than that the outcome is not known."""
        try:
            if not self._held():
                raise VenueUnreachable("this process does not hold the line any more")
            async with asyncio.timeout(_CALL_S):
                answer = await self._call(call.method, body)
            frame: Frame = answer_of(call.number, call.method, answer)
        except VenueUnreachable as error:
            frame = Unreachable(call.number, str(error))
        except Exception as error:  # noqa: BLE001 - an error of the adapter, as for a caller in this process
            _log.warning("line_call_failed", line=self._line, method=call.method, error=repr(error))
            frame = Unreachable(call.number, repr(error))
        if not writer.is_closing():
            write_frame(writer, frame)

    def _call(self, method: str, body: Any) -> Coroutine[Any, Any, object]:
        if isinstance(body, InstrumentsBody):
            return self._venue.instruments(body.broker, body.named)
        if isinstance(body, ExecutionsBody):
            return self._venue.executions(body.broker, body.after, body.limit)
        return self._venue.submit(body) if method == "submit" else self._venue.order_status(body)
