"""A source that pushes JSON over a WebSocket. Needs the extra `market`."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from .normalise import JsonReader
from .quote import Alive, SourceLost, Take
from .secret_text import filled
from .source_settings import SourceSettings

_OPEN_S = 10.0
_CLOSE_S = 1.0
_MESSAGE_BYTES_MAX = 1 << 20


class _Connect(connect):
    def process_redirect(self, exc: Exception) -> Exception | str:
        """Follow none: the secret is for the host that the settings name."""
        return exc


class WebSocketSource:
    def __init__(self, settings: SourceSettings, secret: str | None, now_us: Callable[[], int]) -> None:
        self.name = settings.name
        self._settings = settings
        self._secret = secret
        self._now_us = now_us
        self._reader = JsonReader(settings)

    async def run(self, take: Take) -> None:
        reason: str | None = None
        try:
            async with self._connection() as line:
                take(Alive(self.name, self._now_us()))
                for text in self._settings.subscribe:
                    await line.send(filled(text, self._secret))
                async with asyncio.TaskGroup() as group:
                    pings = group.create_task(self._ping(line, take))
                    await self._read(line, take)
                    pings.cancel()
        except* TimeoutError:
            reason = "it did not answer in time"
        except* (OSError, WebSocketException) as errors:
            reason = _reason(errors.exceptions[0])
        if reason is not None:
            raise SourceLost(reason)

    def _connection(self) -> AbstractAsyncContextManager[ClientConnection]:
        settings = self._settings
        headers = {}
        if settings.header_name is not None:
            headers[settings.header_name] = filled(settings.header_value, self._secret)
        return _Connect(
            filled(settings.url, self._secret),
            additional_headers=headers,
            open_timeout=_OPEN_S,
            close_timeout=_CLOSE_S,
            ping_interval=None,
            max_size=_MESSAGE_BYTES_MAX,
        )

    async def _read(self, line: ClientConnection, take: Take) -> None:
        async for message in line:
            for item in self._reader.read(message, self._now_us()):
                take(item)

    async def _ping(self, line: ClientConnection, take: Take) -> None:
        """Show that the line is alive while the market is quiet."""
        while True:
            await asyncio.sleep(self._settings.ping_s)
            answer = await line.ping()
            async with asyncio.timeout(self._settings.alive_s - self._settings.ping_s):
                await answer
            take(Alive(self.name, self._now_us()))


def _reason(error: BaseException) -> str:
    """The kind of an error, not its text: that may contain the URL, and with it the secret."""
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    return type(error).__name__ if status is None else f"the server answered with status {status}"
