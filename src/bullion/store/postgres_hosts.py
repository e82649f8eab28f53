"""The PostgreSQL servers of one address: connects to the one that accepts writes.

The driver tries them one after the other with one timeout for all: a server that accepts the connection and
then hangs leaves no time for its successor. Here each server gets the whole timeout, and the next one is
tried in parallel after a short head start. While an attempt hangs, all servers are tried again: the attempt
may never be answered although its server has recovered, and another server may have taken over.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl, urlencode

import asyncpg

from .postgres_timeline import FormerPrimary

HEAD_START_S = 0.5
"""More than a healthy server needs, and short compared with the deadline of an order."""
_AGAIN_S = 1.0
"""While an attempt hangs, each server is tried again this often."""

_TELLING = (FormerPrimary, asyncpg.PostgresError)
"""Errors that say more than that a connection failed or that a server is a standby, the best one first."""

Connection = Any
_Attempt = asyncio.Task[tuple[str, Connection]]


class Hosts:
    def __init__(
        self, url: str, check: Callable[[Connection], Awaitable[None]], wanted: str = "read-write"
    ) -> None:
        """`check`: raises if a new connection must not be used; then the other hosts are tried.

        `wanted`: the kind of server, as in the driver's `target_session_attrs`.
        """
        self._urls = one_by_one(url)
        self._check = check
        self._wanted = wanted

    async def connect(self, *, timeout: float, **options: Any) -> Connection:  # noqa: ASYNC109
        """Takes what asyncpg's own `connect` takes, but for the address."""
        options |= {"timeout": timeout, "target_session_attrs": self._wanted}
        async with asyncio.timeout(timeout + HEAD_START_S * (len(self._urls) - 1)):
            url, connection = await self._first_of(tuple(self._urls), options)
        # It is tried first from now on, so that after a failover nobody waits for the old server.
        self._urls.sort(key=lambda each: each != url)
        return connection

    def move_on(self) -> None:
        """Try the host after the one that was used first."""
        self._urls.append(self._urls.pop(0))

    async def _connect(self, url: str, options: dict[str, Any]) -> tuple[str, Connection]:
        connection = await asyncpg.connect(url, **options)
        try:
            await self._check(connection)
        except BaseException:
            connection.terminate()
            raise
        return url, connection

    async def _first_of(self, urls: Sequence[str], options: dict[str, Any]) -> tuple[str, Connection]:
        trying: set[_Attempt] = set()
        errors: list[BaseException] = []
        try:
            for number in count():
                all_tried = number >= len(urls) - 1
                trying.add(asyncio.create_task(self._connect(urls[number % len(urls)], options)))
                pause_s = _AGAIN_S / len(urls) if all_tried else HEAD_START_S
                first = await _success(trying, errors, pause_s, next_at_failure=not all_tried)
                if first is not None:
                    return first
                if all_tried and not trying:
                    break  # Every server has said no.
        finally:
            for task in trying:
                task.cancel()
            for late in await asyncio.gather(*trying, return_exceptions=True):
                if not isinstance(late, BaseException):
                    late[1].terminate()
        raise next((error for kind in _TELLING for error in errors if isinstance(error, kind)), errors[0])


async def _success(
    trying: set[_Attempt], errors: list[BaseException], within_s: float, *, next_at_failure: bool
) -> tuple[str, Connection] | None:
    """The first attempt that succeeds within this time. Failed ones are moved to `errors`."""
    until_s = monotonic() + within_s
    while trying and (left_s := until_s - monotonic()) > 0:
        done, _ = await asyncio.wait(trying, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            trying.discard(task)
            error = task.exception()
            if error is None:
                return task.result()
            errors.append(error)
        if next_at_failure and done:
            break
    return None


def one_by_one(url: str) -> list[str]:
    """One address for each host that the given address names.

    Not with `urlsplit`: recent versions of Python refuse several hosts if one is an IPv6 address.
    """
    scheme, separator, rest = url.partition("://")
    netloc = re.split("[/?#]", rest, maxsplit=1)[0]
    after = rest[len(netloc) :]
    path, _, query = after.partition("?")
    login, at, hosts = netloc.rpartition("@")
    if "," in hosts:
        return [f"{scheme}{separator}{login}{at}{host}{after}" for host in hosts.split(",")]
    given = dict(parse_qsl(query))
    if hosts or "," not in given.get("host", ""):
        return [url]
    names = given["host"].split(",")
    ports = given["port"].split(",") if "port" in given else [""]
    if len(ports) == 1:
        ports *= len(names)
    pairs = zip(names, ports, strict=False)
    queries = [given | {"host": name} | ({"port": port} if port else {}) for name, port in pairs]
    return [f"{scheme}{separator}{netloc}{path}?{urlencode(each)}" for each in queries]
