"""One connection to Redis that all callers share: commands of one turn of the loop are sent together.

It reconnects by itself. While it is not connected, and when an answer does not come in time, callers get
LinkDown at once. No command is ever sent twice.

Faster than redis-py: about 7 µs of Python per call, not 106 (45 with calls pipelined).
"""

import asyncio
import ssl
from collections import deque
from time import monotonic
from typing import Any, cast
from urllib.parse import unquote, urlsplit

import hiredis
import structlog

_ANSWER_S = 0.5
"""How long a caller waits. Redis normally answers in well under a millisecond."""
_HANG_S = 1.5
"""After this long without an answer the connection is closed and opened again."""
_CONNECT_S = 1.0
_RETRY_S = 0.1
_CHECK_EVERY_S = 0.05
_SECOND_CHECK_S = 0.01

_log = structlog.get_logger("redis")

_NOTHING_YET = object()


class LinkDown(Exception):
    """Redis did not answer, or not in the Redis protocol."""


def packed(*words: str | bytes | int) -> bytes:
    """A command as it goes over the wire."""
    # The stub of pack_command names a tuple of one word only.
    command: bytes = hiredis.pack_command(words)  # type: ignore[arg-type]
    return command


class RedisLink:
    def __init__(self, url: str, answer_s: float = _ANSWER_S) -> None:
        self._url = urlsplit(url)
        self._answer_s = answer_s
        self._connection: _Connection | None = None
        self.why_down = "not connected yet"
        self.tried = asyncio.Event()
        """Set after the first attempt to connect, successful or not."""

    @property
    def connected(self) -> bool:
        return self._connection is not None

    def send(self, command: bytes) -> "asyncio.Future[Any]":
        """Send a packed command. LinkDown, or the ReplyError that Redis answered with, if it fails."""
        connection = self._connection
        if connection is None:
            raise LinkDown(self.why_down)
        return connection.send(command)

    def reconnect(self) -> None:
        """Close the connection, after an answer that makes no sense; `run` opens another one."""
        if self._connection is not None:
            self._connection.close("an answer that makes no sense")

    async def run(self) -> None:
        """Connect, and reconnect, for as long as the node runs."""
        logged = False
        while True:
            try:
                async with asyncio.timeout(_CONNECT_S):  # `wait_for` can lose a cancellation.
                    connection = await self._connect()
            except (OSError, LinkDown, TimeoutError, hiredis.ReplyError) as error:
                self.why_down = repr(error)
                if not logged:
                    _log.error("redis_down", error=self.why_down)
                logged = True
                self.tried.set()
            else:
                _log.info("redis_up")
                logged = False
                self._connection = connection
                self.tried.set()
                try:
                    await connection.lost.wait()
                finally:
                    self._connection = None
                    connection.close("closing")
                self.why_down = connection.why
                _log.error("redis_lost", why=connection.why)
            await asyncio.sleep(_RETRY_S)

    async def _connect(self) -> "_Connection":
        loop = asyncio.get_running_loop()

        def make() -> _Connection:
            return _Connection(loop, self._answer_s)

        url = self._url
        if url.scheme == "unix":
            _, connection = await loop.create_unix_connection(make, url.path)
        else:
            security = ssl.create_default_context() if url.scheme == "rediss" else None
            host, port = url.hostname or "127.0.0.1", url.port or 6379
            _, connection = await loop.create_connection(make, host, port, ssl=security)
        try:
            await self._greet(connection)
        except BaseException:
            connection.close("the greeting failed")
            raise
        return connection

    async def _greet(self, connection: "_Connection") -> None:
        url = self._url
        if url.password:
            user = [unquote(url.username)] if url.username else []
            await connection.send(packed("AUTH", *user, unquote(url.password)))
        database = url.path.strip("/") if url.scheme != "unix" else ""
        if database:
            await connection.send(packed("SELECT", database))
        if await connection.send(packed("PING")) != b"PONG":
            raise LinkDown("it does not answer like Redis")


class _Connection(asyncio.Protocol):
    def __init__(self, loop: asyncio.AbstractEventLoop, answer_s: float) -> None:
        self._loop = loop
        self._answer_s = answer_s
        self._reader = hiredis.Reader(notEnoughData=_NOTHING_YET)
        self._transport: asyncio.Transport | None = None
        self._outgoing: list[bytes] = []
        self._waiting: deque[tuple[asyncio.Future[Any], float]] = deque()
        self._watch: asyncio.TimerHandle | None = None
        self._checked_twice = False
        self.lost = asyncio.Event()
        self.why = ""

    def send(self, command: bytes) -> "asyncio.Future[Any]":
        """Answers come in the order of the commands, also if a caller has stopped waiting."""
        answer: asyncio.Future[Any] = self._loop.create_future()
        if self._transport is None:
            answer.set_exception(LinkDown(self.why or "not connected"))
            return answer
        if not self._outgoing:
            self._loop.call_soon(self._flush)
        self._outgoing.append(command)
        self._waiting.append((answer, monotonic()))
        if self._watch is None:
            self._watch = self._loop.call_later(_CHECK_EVERY_S, self._check_answers)
        return answer

    def _flush(self) -> None:
        outgoing, self._outgoing = self._outgoing, []
        if self._transport is not None:
            self._transport.write(b"".join(outgoing))

    def _check_answers(self) -> None:
        """Fail commands that have waited too long; close the connection if it hangs."""
        self._watch = None
        now = monotonic()
        if self._waiting and now - self._waiting[0][1] >= self._answer_s and not self._checked_twice:
            # This process may be late: answers that have arrived are read before the second check.
            self._checked_twice = True
            self._watch = self._loop.call_later(_SECOND_CHECK_S, self._check_answers)
            return
        self._checked_twice = False
        for answer, sent_at in self._waiting:
            if now - sent_at < self._answer_s:
                break
            if not answer.done():
                answer.set_exception(LinkDown("no answer in time"))
        if self._waiting and now - self._waiting[0][1] > _HANG_S:
            self.close("no answer")
        elif self._waiting:
            self._watch = self._loop.call_later(_CHECK_EVERY_S, self._check_answers)

    def close(self, why: str) -> None:
        self.why = self.why or why
        if self._transport is not None:
            self._transport.abort()
            self.connection_lost(None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not asyncio's by type, but a stream is what we asked for.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        try:
            self._reader.feed(data)
            while (reply := self._reader.gets()) is not _NOTHING_YET:
                if not self._waiting:
                    self.close("an answer without a command")
                    return
                answer, _ = self._waiting.popleft()
                if answer.done():
                    continue
                if isinstance(reply, hiredis.ReplyError):
                    answer.set_exception(reply)
                else:
                    answer.set_result(reply)
        except hiredis.ProtocolError as error:
            self.close(f"not the Redis protocol: {error}")

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self.why = self.why or (repr(exc) if exc else "closed by Redis")
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        for answer, _ in self._waiting:
            if not answer.done():
                answer.set_exception(LinkDown(self.why))
        self._waiting.clear()
        self.lost.set()
