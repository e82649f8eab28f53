"""Posts events to a program on this machine, signed as the service signs webhooks."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from bullion_client import Event
from bullion_client.cli.json_output import line
from bullion_client.webhook_signature import sign

_TIMEOUT_S = 10.0
PAUSES_S = (0.5, 1.0, 2.0)
"""Before each further try."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What came of one try."""

    status: int | None
    """The status of the response, if there was one."""
    error: str | None
    """Why there was none."""
    took_ms: int
    final: bool
    """Whether there is no further try."""

    @property
    def done(self) -> bool:
        """Whether the program has accepted it."""
        return self.status is not None and 200 <= self.status < 300


class WebhookForwarder:
    """Delivers one event after the other; each is tried a few times."""

    def __init__(self, http: httpx.AsyncClient, url: str, secret: str) -> None:
        self._http = http
        self._url = url
        self._secret = secret

    async def deliver(self, event: Event) -> AsyncIterator[Delivery]:
        """Try until it is accepted, or often enough."""
        body = line(event.raw).encode()
        for pause_s in (*PAUSES_S, None):
            began = time.monotonic()
            status, error = await self._post(event, body)
            took_ms = round((time.monotonic() - began) * 1000)
            tried = Delivery(status, error, took_ms, final=pause_s is None)
            yield tried
            if tried.done or pause_s is None:
                return
            await asyncio.sleep(pause_s)

    async def _post(self, event: Event, body: bytes) -> tuple[int | None, str | None]:
        headers = {"Content-Type": "application/json", "User-Agent": "bullion-client listen"}
        headers |= sign(body, event.id, int(time.time()), self._secret)
        try:
            # The body of the response is not read.
            async with self._http.stream("POST", self._url, content=body, headers=headers) as response:
                return response.status_code, None
        except httpx.RequestError as error:
            return None, str(error) or type(error).__name__


@asynccontextmanager
async def open_forwarder(url: str, secret: str) -> AsyncIterator[WebhookForwarder]:
    """A forwarder with connections of its own, past any proxy."""
    async with httpx.AsyncClient(timeout=_TIMEOUT_S, follow_redirects=False, trust_env=False) as http:
        yield WebhookForwarder(http, url, secret)
