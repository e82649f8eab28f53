"""Opens the desk's console: over the same store as the nodes, with its own sessions."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import urlsplit

from bullion.console.app import Console
from bullion.console.page import ConsoleSettings
from bullion.console.pages import PAGES
from bullion.console.sessions import Sessions
from bullion.console.watch import Probe, Watches
from bullion.desk.authenticator import DeskAuthenticator
from bullion.settings import Settings
from bullion.web.address import SourceAddress
from bullion.web.health import READY

from .background import run_in_background
from .desk import make_desk, no_refresh
from .limiter import make_limiter
from .store import open_store, saved_hedge

_PROBE_S = 0.8
"""Shorter than a page waits for an update."""
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing is bound here


@asynccontextmanager
async def open_console(settings: Settings, api_url: str | None = None) -> AsyncIterator[Console]:
    """`api_url`: the trading API to monitor, unless the settings name one."""
    async with open_store(settings, migrate=False) as store:
        settings = replace(settings, hedge=await saved_hedge(store) or settings.hedge)
        limiter, link = make_limiter(settings)
        identities = store.identities(settings)
        desk = make_desk(settings, store, no_refresh)
        watched = settings.console_api_url or api_url or _own(settings)
        watches = Watches(desk, identities, _probe(watched))
        async with run_in_background(store.records.run(), *([link.run()] if link else [])):
            yield Console(
                desk=desk,
                authenticator=DeskAuthenticator(identities, limiter, SourceAddress(settings.trusted_proxies)),
                sessions=Sessions(store.hashers.console),
                watches=watches,
                settings=ConsoleSettings(settings.production, settings.console_late_s),
                pages=PAGES,
            )
        await watches.stop()


def _own(settings: Settings) -> str | None:
    """The trading API of this machine; None if its port is not known."""
    host = _ANYWHERE.get(settings.host, settings.host)
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{settings.port}" if settings.port else None


def _probe(api_url: str | None) -> Probe:
    """Checks whether the API is ready, by the status line of its readiness check."""
    if api_url is None:
        return _not_watched
    parts = urlsplit(api_url)
    tls = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or (443 if tls else 80)
    request = (
        f"GET {parts.path}{READY} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode()
    )

    async def probe() -> str | None:
        try:
            async with asyncio.timeout(_PROBE_S):
                reader, writer = await asyncio.open_connection(host, port, ssl=tls or None)
                try:
                    writer.write(request)
                    status = (await reader.readline()).split(b" ")[1:2]
                finally:
                    writer.close()
        except (OSError, TimeoutError, ValueError):
            return f"The trading API at {api_url} does not answer."
        return None if status == [b"200"] else f"The trading API at {api_url} is not ready."

    return probe


async def _not_watched() -> None:
    return None
