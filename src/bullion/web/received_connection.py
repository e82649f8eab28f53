"""Connections that other workers accepted, and that go on here."""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable
from typing import Any

from uvicorn.server import ServerState

from .connections import EXEMPT, ConnectionCount
from .hand_over import HandedOver, Outcome, Place
from .protocol import GuardedProtocol


class ReceivedConnection(GuardedProtocol):
    def __init__(
        self, *args: Any, received: bytes, counted_for: str | None, stays: bool, **more: Any
    ) -> None:
        """`received`: what the other worker has read. `counted_for`: what `ConnectionCount.enter` returned.

        `stays`: it is not handed over again.
        """
        super().__init__(*args, **more)
        self._received = received
        self._counted_for = counted_for
        self._stays = stays
        self.was_connected = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.was_connected = True
        super().connection_made(transport)
        hand_over, self._hand_over = self._hand_over, None  # Not back at once, whatever the other one says.
        # Nothing was read from the socket here yet.
        received, self._received = self._received, b""
        self.data_received(received)
        if not self._stays:
            self._hand_over = hand_over
        # uvloop begins to read after this, even if reading was paused.
        self._loop.call_soon(self._pause_again)

    def _pause_again(self) -> None:
        if self._read_paused and not self._transport.is_closing():
            self._transport.pause_reading()


class Receiver:
    """Takes the connections over that are handed to this worker."""

    def __init__(
        self,
        place: Place,
        make: Callable[..., ReceivedConnection],
        count: ConnectionCount,
        server_state: ServerState,
        outcomes: Counter[Outcome],
    ) -> None:
        """`make` gets what `ReceivedConnection` needs beyond the arguments of `GuardedProtocol`."""
        self._place = place
        self._make = make
        self._count = count
        self._server_state = server_state
        self._outcomes = outcomes

    def open(self) -> None:
        self._place.open(self.accept, self._count_outcome)

    def leave(self) -> None:
        """The server stops soon. From now on nothing is sent to other workers, and nothing should come."""
        self._place.leave()

    def close(self) -> None:
        """The server listens no more. What has come by now is still served."""
        self._place.close()

    def accept(self, handed_over: HandedOver) -> None:
        accepted = socket.socket(fileno=handed_over.descriptor)
        try:
            client = accepted.getpeername()
        except OSError:  # The client has left.
            accepted.close()
            return
        counted_for = self._count.enter(client[0])
        if counted_for is None:
            if handed_over.stays:
                accepted.close()  # Both workers have as many of its address as they may have.
                return
            outcome = self._place.send_back(handed_over)
            if outcome is Outcome.HANDED_OVER:
                self._count_outcome(Outcome.RETURNED)
            if outcome is not Outcome.OWNER_AWAY:
                accepted.close()
                return
            counted_for = EXEMPT  # It was accepted once. There is nobody else to serve it.
        task = asyncio.get_running_loop().create_task(self._connect(accepted, handed_over, counted_for))
        # A server that stops waits for these.
        self._server_state.tasks.add(task)
        task.add_done_callback(self._server_state.tasks.discard)

    def _count_outcome(self, outcome: Outcome) -> None:
        self._outcomes[outcome] += 1

    async def _connect(self, accepted: socket.socket, handed_over: HandedOver, counted_for: str) -> None:
        made: ReceivedConnection | None = None

        def make() -> ReceivedConnection:
            nonlocal made
            made = self._make(received=handed_over.received, counted_for=counted_for, stays=handed_over.stays)
            return made

        try:
            await asyncio.get_running_loop().connect_accepted_socket(make, accepted)
        except OSError:  # The client has left.
            accepted.close()
            if made is None or not made.was_connected:
                self._count.leave(counted_for)
