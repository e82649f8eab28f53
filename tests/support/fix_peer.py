"""The other side of a FIX line in tests: an acceptor on our own session, without a book."""

import asyncio
import ssl
from collections.abc import Callable
from time import time_ns

from bullion.hedge.fix.codec import Message, Pair
from bullion.hedge.fix.connection import Chunk, FixConnection
from bullion.hedge.fix.session import Session
from bullion.hedge.fix.session_effects import Close, LoggedOn, Numbers, Role, SessionSettings

PATIENCE_S = 30.0


def clock_us() -> int:
    return time_ns() // 1000


async def until(condition: Callable[[], object]) -> None:
    """Wait for a condition that other tasks bring about."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.005)


class FixPeer:
    """Accepts connections one after the other, and keeps its numbers between them."""

    def __init__(self) -> None:
        self.settings = SessionSettings(sender="THEM", target="US", role=Role.ACCEPTOR)
        self.numbers = Numbers()
        self.logons: list[Message] = []
        self.received: list[Message] = []
        self.closes: list[Close] = []
        self.connections: list[FixConnection] = []
        self.refusal = ""
        """The text of a Logout that answers every logon; none if empty."""
        self.hang_ups = 0
        """How many of the next logons it hangs up on without a word."""
        self.greeting = ""
        """A message that it sends at once when it has logged somebody on."""
        self.port = 0
        self._server: asyncio.Server | None = None

    async def start(self, tls: ssl.SSLContext | None = None) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._accept, "127.0.0.1", self.port, ssl=tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            for each in self.connections:
                each.abort("stopped")
            await self._server.wait_closed()

    @property
    def connection(self) -> FixConnection:
        return self.connections[-1]

    def send(self, *pairs: Pair) -> int:
        return self.connection.send(pairs)

    def _accept(self) -> FixConnection:
        connection = FixConnection(self._begin, _PeerOwner(self), clock_us)
        self.connections.append(connection)
        return connection

    def _begin(self, message: Message | None) -> Session | None:
        assert message is not None
        self.logons.append(message)
        if self.hang_ups:
            self.hang_ups -= 1
            return None
        session = Session(self.settings, clock_us(), self.numbers)
        session.refusal = self.refusal
        return session


class _PeerOwner:
    def __init__(self, peer: FixPeer) -> None:
        self._peer = peer

    def logged_on(self, effect: LoggedOn) -> None:
        session = self._peer.connection.session
        assert session is not None
        self._peer.numbers = session.numbers
        if self._peer.greeting:
            self._peer.send((35, "B"), (58, self._peer.greeting))

    def received(self, chunk: Chunk) -> None:
        self._peer.received += chunk.messages

    def closed(self, close: Close) -> None:
        self._peer.closes.append(close)
