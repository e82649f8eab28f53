"""Several PostgreSQL servers in one address: connects to the one that accepts writes.

The driver tries them one after the other with one timeout for all: a server that accepts the connection and
then hangs leaves no time for its successor. Here each server gets the whole timeout, and the next one is
tried in parallel after a short head start.
"""

import asyncio
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg

HEAD_START_S = 0.5
"""More than a healthy server needs, and short compared with the deadline of an order."""

Connection = Any


class Hosts:
    def __init__(self, url: str) -> None:
        self._urls = one_by_one(url)

    async def connect(self, *, timeout: float, **options: Any) -> Connection:  # noqa: ASYNC109
        """Takes what asyncpg's own `connect` takes, but for the address."""
        options |= {"timeout": timeout, "target_session_attrs": "read-write"}
        if len(self._urls) == 1:
            return await asyncpg.connect(self._urls[0], **options)
        async with asyncio.timeout(timeout + HEAD_START_S * (len(self._urls) - 1)):
            url, connection = await _first_of(self._urls, options)
        # It is tried first from now on, so that after a failover nobody waits for the old server.
        self._urls.sort(key=lambda each: each != url)
        return connection


async def _first_of(urls: list[str], options: dict[str, Any]) -> tuple[str, Connection]:
    async def connect(url: str) -> tuple[str, Connection]:
        return url, await asyncpg.connect(url, **options)

    left = list(urls)
    trying: set[asyncio.Task[tuple[str, Connection]]] = set()
    errors: list[BaseException] = []
    try:
        while left or trying:
            if left:
                trying.add(asyncio.create_task(connect(left.pop(0))))
            done, _ = await asyncio.wait(
                trying, timeout=HEAD_START_S if left else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                error = task.exception()
                trying.discard(task)
                if error is None:
                    return task.result()
                errors.append(error)
    finally:
        for task in trying:
            task.cancel()
        for late in await asyncio.gather(*trying, return_exceptions=True):
            if not isinstance(late, BaseException):
                late[1].terminate()
    # A server's own error is more informative than a failed connection.
    raise next((error for error in errors if isinstance(error, asyncpg.PostgresError)), errors[0])


def one_by_one(url: str) -> list[str]:
    """One address for each host that the given address names."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return [url]  # The driver says what is wrong with it.
    login, at, hosts = parts.netloc.rpartition("@")
    if "," in hosts:
        return [urlunsplit(parts._replace(netloc=f"{login}{at}{host}")) for host in hosts.split(",")]
    given = dict(parse_qsl(parts.query))
    if hosts or "," not in given.get("host", ""):
        return [url]
    names = given["host"].split(",")
    ports = given["port"].split(",") if "port" in given else [""]
    if len(ports) == 1:
        ports *= len(names)
    pairs = zip(names, ports, strict=False)
    queries = [given | {"host": name} | ({"port": port} if port else {}) for name, port in pairs]
    return [urlunsplit(parts._replace(query=urlencode(query))) for query in queries]
