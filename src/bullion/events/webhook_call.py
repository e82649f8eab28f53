"""One request to a receiver: to an address that was checked, within 10 seconds, with a small response.

The name is resolved once, every address that it has is checked, and the connection is made to one of them.
TLS is verified against the name, with key exchanges that take little time. Redirects are not followed, and
proxies of the environment are not used.
"""

import asyncio
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from http import HTTPStatus
from ipaddress import ip_address
from time import perf_counter
from weakref import WeakValueDictionary

import httpx

from .webhook import RESPONSE_BYTES_KEPT, Receipt
from .webhook_address import Address, Destination, UrlRefused, is_public, read_url
from .webhook_http import Answer, NoAnswer, NoConnection, post

CALL_S = 10.0
LOOK_UP_TURN_S = 1.0
"""How long a call waits until its name can be looked up. It is not the receiver's time."""
_ADDRESSES_MAX = 64
"""Of one name. They are checked on the event loop, and an answer of a name server may hold thousands."""
_ADDRESSES_TRIED = 3
_LOOK_UPS_MAX = 32
_LOOK_UPS_OF_ONE_OWNER = 2
_MS_PER_S = 1000

Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]


class LookUpsBusy(Exception):
    """Other names are being looked up. The receiver was not called, and has not failed."""


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
        self._resolve = resolve
        self._lookups = NameLookups()
        self._is_allowed = (lambda _: True) if allow_private else is_allowed
        self._own_tls = tls

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Reading the certificates takes time, so it is done once, and only if it is needed."""
        context = self._own_tls or httpx.create_ssl_context()
        _limit_key_exchange(context)
        return context

    async def post(self, url: str, headers: dict[str, str], body: bytes, *, owner: int = 0) -> Receipt:
        """May raise LookUpsBusy. Whatever else goes wrong is in the receipt.

        `owner`: whose webhook it is. Few names of one owner are looked up at once.
        """
        status, response = None, ""
        began = perf_counter()
        try:
            destination = read_url(url, allow_private=self.allow_private)
            looked_up = await self._look_up(destination, owner)
            began = perf_counter()
            async with asyncio.timeout(CALL_S):
                addresses = await self._checked(looked_up)
                status, response = await self._post(destination, addresses, headers, body)
            error = _status_error(status)
        except TimeoutError:
            error = f"There was no answer within {CALL_S:.0f} seconds."
        except (UrlRefused, _NotCalled, NoConnection, NoAnswer) as reason:
            error = str(reason)
        duration_ms = round((perf_counter() - began) * _MS_PER_S)
        return Receipt(status=status, duration_ms=duration_ms, error=error, response=response)

    async def _post(
        self, destination: Destination, addresses: Sequence[Address], headers: dict[str, str], body: bytes
    ) -> tuple[int, str]:
        tls = self._tls if destination.scheme == "https" else None
        own = self.allow_private
        *others, last = addresses
        for address in others:
            try:
                return _shown(await post(address, destination, headers, body, tls, allow_own=own))
            except NoConnection:  # Nothing was sent, so the next address can be tried.
                continue
        return _shown(await post(last, destination, headers, body, tls, allow_own=own))

    async def _look_up(self, destination: Destination, owner: int) -> Awaitable[Sequence[Address]]:
        host, port = destination.host, destination.port
        try:
            address = ip_address(host)
        except ValueError:
            if self._resolve is not None:
                return self._resolve(host, port)
            return await self._lookups.begin(host, port, owner)
        known: asyncio.Future[Sequence[Address]] = asyncio.get_running_loop().create_future()
        known.set_result([address])
        return known

    async def _checked(self, looked_up: Awaitable[Sequence[Address]]) -> Sequence[Address]:
        try:
            found = await looked_up
        except OSError:
            found = []
        if not found:
            raise _NotCalled("The host name could not be resolved.")
        if len(found) > _ADDRESSES_MAX:
            raise _NotCalled(f"The host name has more than {_ADDRESSES_MAX} addresses.")
        if not all(map(self._is_allowed, found)):
            raise _NotCalled("The host name leads to a private, local or reserved address.")
        return found[:_ADDRESSES_TRIED]


def _limit_key_exchange(context: ssl.SSLContext) -> None:
    """Allow elliptic curves alone.

    The handshake runs on the event loop. In a finite field, a receiver that chooses a large group keeps the
    loop busy for up to a second. P-256 is the one group that nearly every server has, and Python 3.11 cannot
    name several.
    """
    context.set_ciphers("ECDHE+AESGCM:ECDHE+CHACHA20")  # TLS 1.2
    context.set_ecdh_curve("prime256v1")  # TLS 1.2 and 1.3
    context.options |= ssl.OP_NO_RENEGOTIATION


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
    used, and one owner's names never occupy all of them.
    """

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(_LOOK_UPS_MAX)
        self._of_owners: WeakValueDictionary[int, asyncio.Semaphore] = WeakValueDictionary()

    async def begin(self, host: str, port: int, owner: int) -> asyncio.Future[Sequence[Address]]:
        """The addresses, or OSError, when they are known. May raise LookUpsBusy."""
        turns = (self._of_owners.setdefault(owner, asyncio.Semaphore(_LOOK_UPS_OF_ONE_OWNER)), self._free)
        async with AsyncExitStack() as taken:
            try:
                async with asyncio.timeout(LOOK_UP_TURN_S):
                    for turn in turns:
                        await taken.enter_async_context(turn)
            except TimeoutError:
                raise LookUpsBusy from None
            loop = asyncio.get_running_loop()
            found: asyncio.Future[Sequence[Address]] = loop.create_future()

            def finish(result: Sequence[Address] | OSError) -> None:
                for turn in turns:
                    turn.release()
                if found.done():  # The call was given up meanwhile.
                    return
                if isinstance(result, OSError):
                    found.set_exception(result)
                else:
                    found.set_result(result)

            def look_up() -> None:
                result = _addresses(host, port)
                try:
                    loop.call_soon_threadsafe(finish, result)
                except RuntimeError:
                    return  # The loop has ended, and nobody waits any more.

            try:
                threading.Thread(target=look_up, name="webhook name", daemon=True).start()
            except RuntimeError:  # The system has no thread for it now.
                raise LookUpsBusy from None
            taken.pop_all()  # The thread gives them back.
            return found


def _addresses(host: str, port: int) -> Sequence[Address] | OSError:
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [*dict.fromkeys(ip_address(row[4][0]) for row in rows)]
    except (OSError, ValueError) as error:
        return error if isinstance(error, OSError) else OSError(str(error))
