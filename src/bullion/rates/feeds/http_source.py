"""A source that is polled for JSON over HTTP."""

import asyncio
from collections.abc import Callable

import httpx

from .normalise import JsonReader
from .quote import Alive, SourceLost, Take
from .secret_text import filled
from .source_settings import SourceSettings

_TIMEOUT_S = 2.0
_BODY_BYTES_MAX = 1 << 20
_MS_PER_S = 1000


class HttpSource:
    def __init__(self, settings: SourceSettings, secret: str | None, now_us: Callable[[], int]) -> None:
        self.name = settings.name
        self._settings = settings
        self._secret = secret
        self._now_us = now_us
        self._reader = JsonReader(settings)
        self._etag: str | None = None

    async def run(self, take: Take) -> None:
        settings = self._settings
        headers = {"accept": "application/json", "accept-encoding": "identity"}
        if settings.header_name is not None:
            headers[settings.header_name] = filled(settings.header_value, self._secret)
        self._etag = None
        try:
            async with httpx.AsyncClient(headers=headers, timeout=_TIMEOUT_S) as client:
                while True:
                    await self._poll(client, take)
                    await asyncio.sleep(settings.poll_ms / _MS_PER_S)
        except TimeoutError:
            raise SourceLost("it did not answer in time") from None
        except httpx.HTTPError as error:
            # The text of an error may contain the URL, and with it the secret.
            raise SourceLost(type(error).__name__) from None

    async def _poll(self, client: httpx.AsyncClient, take: Take) -> None:
        headers = {} if self._etag is None else {"if-none-match": self._etag}
        # httpx limits each step of a call; a server that sends byte by byte would go on for ever.
        async with (
            asyncio.timeout(_TIMEOUT_S),
            client.stream("GET", filled(self._settings.url, self._secret), headers=headers) as response,
        ):
            if response.status_code == httpx.codes.NOT_MODIFIED:
                take(Alive(self.name, self._now_us()))
                return
            if response.status_code != httpx.codes.OK:
                raise SourceLost(f"the server answered with status {response.status_code}")
            body = await _body(response)
            self._etag = response.headers.get("etag")
        for item in self._reader.read(body, self._now_us()):
            take(item)


async def _body(response: httpx.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > _BODY_BYTES_MAX:
            raise SourceLost("the answer is longer than 1 MiB")
    return bytes(body)
