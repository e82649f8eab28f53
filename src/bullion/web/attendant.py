"""Runs the application for a connection: a task that is kept from one request to the next.

To make a task for every request, and to be told of its end, takes a twentieth of a quick call.
"""

import asyncio
from collections.abc import Awaitable, Callable

from .answer import Receive, Scope, Send
from .exchange import Exchange

App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Attendant:
    """Takes one request after the other. One that comes while it is busy needs another attendant."""

    __slots__ = ("_app", "_dismissed", "_loop", "_next", "_pause", "task")

    def __init__(self, app: App, loop: asyncio.AbstractEventLoop, scope: Scope, exchange: Exchange) -> None:
        """It begins with this request."""
        self._app = app
        self._loop = loop
        self._next: tuple[Scope, Exchange] | None = (scope, exchange)
        self._pause: asyncio.Future[None] | None = None
        """What it waits for between two requests."""
        self._dismissed = False
        self.task = loop.create_task(self._attend())

    @property
    def free(self) -> bool:
        return self._pause is not None and not self.task.done()

    def attend(self, scope: Scope, exchange: Exchange) -> None:
        """Only while it is free."""
        self._next = (scope, exchange)
        self._go_on()

    def dismiss(self) -> None:
        """No request will follow. One that is under way is still attended to."""
        self._dismissed = True
        self._go_on()

    def _go_on(self) -> None:
        pause, self._pause = self._pause, None
        if pause is not None and not pause.done():
            pause.set_result(None)

    async def _attend(self) -> None:
        while self._next is not None:
            scope, exchange = self._next
            self._next = None
            error: Exception | None = None
            try:
                await self._app(scope, exchange.receive, exchange.send)
            except asyncio.CancelledError:
                exchange.on_end(self.task, None)
                raise
            except Exception as raised:  # noqa: BLE001 - whatever it is, the exchange tells of it
                error = raised
            exchange.on_end(self.task, error)
            # Nothing of a request is kept here until the next one comes.
            del scope, exchange, error
            if self._dismissed:
                return
            self._pause = self._loop.create_future()
            await self._pause
