"""An event loop with a clock of its own and lines in memory, so that hours pass in seconds and runs repeat.

When nothing is left to do, the clock moves to the next timer. Sockets are pairs of transports with a latency.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, seed: int) -> None:
        self._now = 0.0
        self.chance = Random(seed)  # noqa: S311
        self.servers: dict[int, Callable[[], asyncio.Protocol]] = {}
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds

    def now_us(self) -> int:
        return 1_794_906_000_000_000 + int(self._now * 1_000_000)

    async def create_connection(self, factory: Any, host: Any = None, port: Any = None, **_: Any) -> Any:  # type: ignore[override]
        await asyncio.sleep(0.001)
        accept = self.servers.get(port)
        if accept is None:
            raise ConnectionRefusedError(f"nobody listens on {port}")
        ours, theirs = factory(), accept()
        near, far = _Pipe(self, ours), _Pipe(self, theirs)
        near.peer, far.peer = far, near
        theirs.connection_made(far)
        ours.connection_made(near)
        return near, ours


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if not found:
            if timeout is None:
                raise RuntimeError("everything waits, and no timer is set")
            self._loop.advance(timeout)
        return found


class _Pipe(asyncio.Transport):
    """One end of a line. What is written arrives in its order; what is under way when it is cut may not."""

    def __init__(self, loop: VirtualLoop, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._loop = loop
        self._protocol = protocol
        self._closing = False
        self._ended = False
        self._last_at = 0.0
        self.peer: _Pipe | None = None

    def write(self, data: Any) -> None:
        if not self._closing:
            self._later(lambda peer: peer.deliver(bytes(data)))

    def _later(self, what: Callable[["_Pipe"], None]) -> None:
        peer = self.peer
        assert peer is not None
        at = self._loop.time() + self._loop.chance.uniform(0.0002, 0.004)
        self._last_at = max(at, self._last_at + 1e-6)
        self._loop.call_at(self._last_at, what, peer)

    def deliver(self, data: bytes) -> None:
        if not self._ended:
            self._protocol.data_received(data)

    def end(self, error: Exception | None = None) -> None:
        if not self._ended:
            self._ended = self._closing = True
            self._protocol.connection_lost(error)

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._later(lambda peer: peer.end())
            self._loop.call_soon(self.end)

    def abort(self) -> None:
        if self._ended:
            return
        self._closing = True
        if self._loop.chance.random() < 0.5:
            self._later(lambda peer: peer.end(ConnectionResetError("reset")))
        elif self.peer is not None:
            self._loop.call_soon(self.peer.end, ConnectionResetError("reset"))
        self._loop.call_soon(self.end)

    def is_closing(self) -> bool:
        return self._closing

    def get_write_buffer_size(self) -> int:
        return 0


def run_virtually(seed: int, main: Callable[[VirtualLoop], Coroutine[Any, Any, T]]) -> T:
    """What `main` returns. An error in a callback or a forgotten task fails the run, too."""
    loop = VirtualLoop(seed)
    errors: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: errors.append(context))
    try:
        result = loop.run_until_complete(main(loop))
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
    assert errors == []
    return result
