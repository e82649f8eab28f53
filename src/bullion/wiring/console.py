"""Opens the desk's console: over the same store as the nodes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from secrets import token_hex
from urllib.parse import urlsplit

from bullion.console.app import Console
from bullion.console.login import Login
from bullion.console.page import ConsoleSettings
from bullion.console.pages import PAGES
from bullion.console.sessions import Sessions
from bullion.console.watch import Probe, Watches
from bullion.desk.authenticator import DeskAuthenticator
from bullion.desk.second_factors import SecondFactors
from bullion.settings import Settings
from bullion.store.engine import Transaction, one_row
from bullion.store.traces import StoredTraces
from bullion.web.address import SourceAddress
from bullion.web.health import READY

from .background import run_in_background
from .desk import make_desk
from .limiter import make_limiter
from .store import Store, open_store, saved_hedge
from .trading import Trading
from .trading_on_demand import TradingOnDemand

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
        trading = Trading(settings, store)
        on_demand = TradingOnDemand(trading)
        traces = StoredTraces(store.engine)
        desk = make_desk(settings, store, on_demand.refresh, trading.production, traces)
        desk = replace(desk, start_trading=on_demand.start)
        watched = settings.console_api_url or api_url or _own(settings)
        watches = Watches(desk, settings.broker, _probe(watched))
        sessions = Sessions(
            store.records,
            identities,
            store.hashers.console,
            await _cookie_name(store),
            lasts_s=settings.console_session_s,
            idle_s=settings.console_idle_s,
        )
        background = [store.records.run(), sessions.run(), on_demand.run(), traces.run()]
        background += [link.run()] if link else []
        async with run_in_background(*background):
            authenticator = DeskAuthenticator(identities, limiter, SourceAddress(settings.trusted_proxies))
            factors = SecondFactors(desk, store.hashers.factors, limiter)
            yield Console(
                desk=desk,
                login=Login(authenticator, sessions, factors, watches),
                watches=watches,
                settings=ConsoleSettings(settings.production, settings.console_late_s),
                pages=PAGES,
            )
        await sessions.stop()
        await watches.stop()
        await traces.write()


async def _cookie_name(store: Store) -> str:
    """Different for each deployment: browsers send a cookie to all ports of a host.

    All consoles of a deployment use the same name, because they share their sessions.
    """

    async def body(transaction: Transaction) -> str:
        await transaction.run("keep_deployment_value", "console_id", token_hex(4))
        row = await one_row(transaction, "deployment_value", "console_id")
        return str(row["value"])

    return f"bullion_console_{await store.engine.write('console_id', body)}"


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
