"""The desk without a node, for commands."""

import contextlib
import os
import pwd
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from bullion.booking.production import Production
from bullion.desk.actions.brokers import put_broker
from bullion.desk.bodies import BrokerBody
from bullion.desk.desk import Desk
from bullion.desk.price_lock import PriceLocks
from bullion.desk.unreadable import read_or_unreadable
from bullion.faults import AlreadyExists
from bullion.keys.issuer import KeyIssuer
from bullion.orders.trace import TraceLog
from bullion.rates.feeds.simulated import INSTRUMENTS
from bullion.records.token import Actor, Role
from bullion.settings import Settings, WrongSetting
from bullion.store.traces import StoredTraces

from .background import run_in_background
from .store import Store, open_store, saved_hedge
from .trading import Trading


def make_desk(
    settings: Settings,
    store: Store,
    refresh: Callable[[], Awaitable[None]],
    production: Production | None = None,
    traces: TraceLog | None = None,
) -> Desk:
    return Desk(
        store=store.records,
        chain=store.chain,
        key_issuer=KeyIssuer(store.hashers.keys, store.hashers.lanes),
        token_hasher=store.hashers.tokens,
        refresh=refresh,
        fed_instruments=frozenset(INSTRUMENTS if settings.feed == "simulated" else ()),
        hedge=settings.hedge,
        production=production,
        traces=traces,
        price_locks=PriceLocks(store.hashers.locks),
        webhook_cipher=store.hashers.webhooks,
        reports=store.reports,
        webhooks_may_be_private=settings.webhook_allow_private,
    )


@asynccontextmanager
async def open_desk(
    settings: Settings, token: str | None, broker: str | None, *, trading: bool = False
) -> AsyncIterator[tuple[Desk, Actor]]:
    """The desk without a node, for commands: changes reach the nodes through the store.

    `trading` is for commands that place orders: they need the caches of a node. The venue is the one that the
    nodes saved in the store, not the setting of the command's environment.
    """
    async with open_store(settings, migrate=False) as store:
        settings = replace(settings, hedge=await saved_hedge(store) or settings.hedge)
        actor: Actor | None = Actor(command_line_name(), Role.ADMIN, broker or settings.broker, first=True)
        if token is not None:
            actor = await store.identities(settings).actor(token)
        if actor is None:
            raise WrongSetting("--token (or BULLION_TOKEN) is not a valid desk token.")
        if broker is not None and broker != actor.broker:
            raise WrongSetting(f"--broker: this token acts for {actor.broker} only.")
        desk = make_desk(settings, store, no_refresh)
        if actor.first and actor.broker == settings.broker:
            await make_default_broker(desk, actor)
        elif (
            await read_or_unreadable(
                store.records.read("broker", lambda records: records.broker(actor.broker))
            )
            is None
        ):
            raise WrongSetting(f"--broker: there is no broker {actor.broker}.")
        if not trading:
            yield desk, actor
            return
        traces = StoredTraces(store.engine)
        parts = Trading(settings, store)
        await parts.refresh()
        await parts.check()
        try:
            async with run_in_background(*parts.background_tasks()):
                yield replace(desk, refresh=parts.refresh, production=parts.production, traces=traces), actor
        finally:
            await traces.write()


async def no_refresh() -> None:
    """No-op: commands hold no catalogue."""


def command_line_name() -> str:
    """Who runs a command, for the audit trail."""
    return f"command line ({_user_name()})"


def _user_name() -> str:
    """The user of this process. Environment variables such as USER can hold anything."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # As in many containers.
        return f"uid {os.geteuid()}"


async def make_default_broker(desk: Desk, actor: Actor) -> None:
    """Nodes that start together may all try this; one of them creates the broker."""
    reading = desk.store.read("default_broker", lambda records: records.broker(actor.broker))
    if await read_or_unreadable(reading) is None:
        with contextlib.suppress(AlreadyExists):
            await put_broker(desk, actor, actor.broker, BrokerBody(name=actor.broker), only_new=True)
