"""One request to a receiver: to an address that was checked, within 10 seconds, with a small response.

The name is resolved once, every address that it has is checked, and the connection is made to one of them.
TLS is verified against the name. Redirects are not followed, and proxies of the environment are not used.
"""

import asyncio
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from http import HTTPStatus
from ipaddress import ip_address
from time import perf_counter

import httpx

from .webhook import RESPONSE_BYTES_KEPT, Receipt
from .webhook_address import Address, Destination, UrlRefused, is_public, read_url
from .webhook_http import Answer, NoAnswer, NoConnection, post

CALL_S = 10.0
_ADDRESSES_TRIED = 3
_LOOK_UPS_MAX = 16
_MS_PER_S = 1000

Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]


class _NotCalled(Exception):
    """The receiver was not called. The message says why, for people."""


class WebhookCalls:
    def __init__(
        self,
        *,
        allow_private: bool = False,
        resolve: Resolve | None = None,
        is_allowed: Callable[[Address], bool] = is_public,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`resolve`, `is_allowed` and `tls` are replaced in tests only."""
        self.allow_private = allow_private
        self._resolve = resolve or NameLookups().resolve
        self._is_allowed = (lambda _: True) if allow_private else is_allowed
        self._own_tls = tls

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Reading the certificates takes time, so it is done once, and only if it is needed."""
        return self._own_tls or httpx.create_ssl_context()

    async def post(self, url: str, headers: dict[str, str], body: bytes) -> Receipt:
        """Never raises: whatever goes wrong is in the receipt."""
        began = perf_counter()
        status, response = None, ""
        try:
            async with asyncio.timeout(CALL_S):
                status, response = await self._post(url, headers, body)
            error = _status_error(status)
        except TimeoutError:
            error = f"There was no answer within {CALL_S:.0f} seconds."
        except (UrlRefused, _NotCalled, NoConnection, NoAnswer) as reason:
            error = str(reason)
        duration_ms = round((perf_counter() - began) * _MS_PER_S)
        return Receipt(status=status, duration_ms=duration_ms, error=error, response=response)

    async def _post(self, url: str, headers: dict[str, str], body: bytes) -> tuple[int, str]:
        destination = read_url(url, allow_private=self.allow_private)
        tls = self._tls if destination.scheme == "https" else None
        *others, last = await self._addresses(destination)
        for address in others:
            try:
                return _shown(await post(address, destination, headers, body, tls))
            except NoConnection:  # Nothing was sent, so the next address can be tried.
                continue
        return _shown(await post(last, destination, headers, body, tls))

    async def _addresses(self, destination: Destination) -> Sequence[Address]:
        try:
            found = [ip_address(destination.host)]
        except ValueError:
            try:
                found = [*await self._resolve(destination.host, destination.port)]
            except OSError:
                found = []
        if not found:
            raise _NotCalled("The host name could not be resolved.")
        if not all(map(self._is_allowed, found)):
            raise _NotCalled("The host name leads to a private, local or reserved address.")
        return found[:_ADDRESSES_TRIED]


def _shown(answer: Answer) -> tuple[int, str]:
    """The status, and the beginning of the body as text without control characters."""
    text = answer.body[:RESPONSE_BYTES_KEPT].decode("utf-8", "replace")
    return answer.status, "".join(each if each.isprintable() else " " for each in text).strip()


def _status_error(status: int) -> str | None:
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return None
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return f"The receiver answered {status}. Redirects are not followed: enter the final URL."
    return f"The receiver answered {status}."


class NameLookups:
    """Looks up names on threads of its own.

    A name whose servers do not answer occupies a thread for a while. The threads of the event loop are not
    used, so only other webhooks may have to wait for it.
    """

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(_LOOK_UPS_MAX)

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        """May raise OSError."""
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Sequence[Address]] = loop.create_future()

        def finish(result: Sequence[Address] | OSError) -> None:
            self._free.release()
            if found.done():  # The call was given up meanwhile.
                return
            if isinstance(result, OSError):
                found.set_exception(result)
            else:
                found.set_result(result)

        def look_up() -> None:
            result: Sequence[Address] | OSError
            try:
                rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
                result = [*dict.fromkeys(ip_address(row[4][0]) for row in rows)]
            except (OSError, ValueError) as error:
                result = error if isinstance(error, OSError) else OSError(str(error))
            try:
                loop.call_soon_threadsafe(finish, result)
            except RuntimeError:
                return  # The loop has ended, and nobody waits any more.

        threading.Thread(target=look_up, name="webhook name", daemon=True).start()
        return await found
