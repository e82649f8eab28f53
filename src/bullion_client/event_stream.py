"""Iterators over events as they happen: `client.stream()`."""

from types import TracebackType
from typing import Protocol, Self

from bullion_client.event_feed import EventFeed
from bullion_client.event_models import Event
from bullion_client.flow import Flow, Value


class _Run(Protocol):
    def __call__(self, flow: Flow[Value], /) -> Value: ...


class _RunAsync(Protocol):
    async def __call__(self, flow: Flow[Value], /) -> Value: ...


class EventStream:
    """The events of an account, one after the other, without end. Each comes once, and none is left out.

    Use it with `with`, which connects: everything that happens from then on comes. It belongs to one thread.
    """

    def __init__(self, feed: EventFeed, run: _Run) -> None:
        self._feed = feed
        self._run = run

    @property
    def position(self) -> int | None:
        """The number of the last event that you got. Store it, and give it as `after` to go on later."""
        return self._feed.position

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        return self._run(self._feed.next())

    def close(self) -> None:
        """Close the connection."""
        self._run(self._feed.close())

    def __enter__(self) -> Self:
        self._run(self._feed.open())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncEventStream:
    """`EventStream` for asyncio: use it with `async with` and `async for`.

    Waiting for an event may be cancelled, for example by a timeout. The next wait goes on without a gap.
    """

    def __init__(self, feed: EventFeed, run: _RunAsync) -> None:
        self._feed = feed
        self._run = run

    @property
    def position(self) -> int | None:
        """The number of the last event that you got. Store it, and give it as `after` to go on later."""
        return self._feed.position

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        return await self._run(self._feed.next())

    async def aclose(self) -> None:
        """Close the connection."""
        await self._run(self._feed.close())

    async def __aenter__(self) -> Self:
        await self._run(self._feed.open())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
