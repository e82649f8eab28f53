"""`bullion store copy --broker`: moves one broker from a PostgreSQL store to another, while others trade."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import click

from bullion.books.verify import verify_books
from bullion.faults import StoreFault
from bullion.settings import Settings, WrongSetting
from bullion.store.broker_copy import Copied, copy_broker
from bullion.store.broker_move import (
    Target,
    has_broker,
    has_copy,
    locked_target,
    mark,
    secret_fingerprint,
    snapshot,
    store_id,
    take_back,
    taken_names,
    why_not_at_rest,
)
from bullion.store.postgres import PostgresEngine
from bullion.store.postgres_pool import Connection
from bullion.store.schema import code_level
from bullion.store.store_copy import CopyRefused, require_own_database
from bullion.wiring.store import Store, location, open_store

from .books import print_report
from .progress import ProgressLine

_POSTGRES = ("postgresql://", "postgres://")


async def move(settings: Settings, broker: str, from_url: str, to_url: str | None, actor: str) -> int:
    """Copy and verify, and return the exit code."""
    if settings.secret_old is not None:
        raise WrongSetting("BULLION_SECRET_OLD is set: finish the exchange of the secret first.")
    old, new = _both(settings, from_url, to_url)
    started = time.monotonic()
    async with open_store(old, migrate=False) as source, _open_target(new) as target:
        place = await _place(source, target, new, broker)
        if await secret_fingerprint(_postgres(source)) != await secret_fingerprint(_postgres(target)):
            raise WrongSetting("The two stores have different secrets: see BULLION_SECRET.")
        try:
            copied = await _move(source, target, broker, place, actor)
        except CopyRefused as refused:
            raise WrongSetting(f"{refused} Nothing was copied.") from refused
        await _end_access(source, broker)
        click.echo(f"Rows copied and compared: {copied.rows:,}, in {time.monotonic() - started:.0f} s.")
        kept = f"went up by {copied.renumbered_by:,}" if copied.renumbered_by else "are the same"
        click.echo(f"Accounts: {copied.accounts:,}. Their numbers, which clients do not see, {kept}.")
        async with _postgres(target).connection_without_timeouts() as there:
            await there.execute("ANALYZE")
        with ProgressLine("Verifying", "orders") as progress:
            report = await verify_books(target.engine, target.chain, progress)
    print_report(report)
    click.echo(
        f"Broker {broker} is closed for good where it was. Send its host names to the other deployment, "
        f"and open it there: bullion desk --broker {broker} switches set halted=false paused=false"
    )
    return 0 if report.equal else 1


async def cancel(settings: Settings, broker: str, from_url: str, to_url: str | None, actor: str) -> int:
    """Take back a move that did not reach the other store, and return the exit code."""
    old, new = _both(settings, from_url, to_url)
    async with open_store(old, migrate=False) as source, _open_target(new) as target:
        place = await _place(source, target, new, broker)
        try:
            async with locked_target(_postgres(target), broker) as there:
                await _require_incomplete(there, broker, source, place)
                await take_back(source.records, source.chain, broker, place, actor)
        except CopyRefused as refused:
            raise WrongSetting(f"{refused} Nothing was changed.") from refused
    click.echo(f"Broker {broker} is no longer marked as moved. It is halted until the desk opens it.")
    return 0


async def _move(source: Store, target: Store, broker: str, place: Target, actor: str) -> Copied:
    try:
        async with locked_target(_postgres(target), broker) as there:
            await _require_absent(there, broker, source, place)
            return await _close_and_copy(source, there, broker, place, actor)
    except StoreFault as fault:
        # If the connection was lost during the commit, the copy may be there.
        why = " ".join(str(fault).split()).rstrip(".")
        raise WrongSetting(
            f"The move failed: {why}. Repeat the command, or take the move back with --cancel: both say "
            "how far it got."
        ) from fault


async def _close_and_copy(source: Store, there: Connection, broker: str, place: Target, actor: str) -> Copied:
    """First the mark, so that nothing can be recorded at both places, whatever happens to this process."""
    engine = _postgres(source)
    async with engine.connection_without_timeouts() as here:
        _require_rest(broker, await why_not_at_rest(here, broker))
        if taken := await taken_names(here, there, broker):
            raise CopyRefused(f"The target has these already: {', '.join(taken)}. They must be free there.")
    is_new = await mark(source.records, source.chain, broker, place, actor)
    async with snapshot(engine, broker) as here:
        why = await why_not_at_rest(here, broker)
        if why and is_new:
            await take_back(source.records, source.chain, broker, place, actor)
        _require_rest(broker, why)  # If another run made the mark, it stays until --cancel.
        with ProgressLine("Copying and comparing", "rows") as progress:
            return await copy_broker(broker, here, there, progress)


async def _require_absent(there: Connection, broker: str, source: Store, place: Target) -> None:
    await _require_incomplete(there, broker, source, place)
    if await has_broker(there, broker):
        raise CopyRefused(
            f"The target has a broker {broker} already, which is not a copy of this one. Choose another "
            "target, such as an empty database. If the broker is marked as moved, take the mark back with "
            "--cancel."
        )


async def _require_incomplete(there: Connection, broker: str, source: Store, place: Target) -> None:
    """A copy that was committed is the broker from then on, even if the command did not finish the rest."""
    if await source.records.read("broker_mark", lambda records: records.seen_mark(broker)) != place.store_id:
        return
    async with _postgres(source).connection_without_timeouts() as here:
        copied = await has_copy(here, there, broker)
    if copied:
        await _end_access(source, broker)
        raise CopyRefused(f"Broker {broker} was moved there before: the move is complete.")


async def _end_access(source: Store, broker: str) -> None:
    """Who may use the desk is decided in the new store from now on."""
    await source.records.write("end_access", lambda records: records.end_access(broker), catalogue=False)


def _require_rest(broker: str, why: str) -> None:
    if why:
        raise CopyRefused(
            f"Broker {broker} is not at rest: {why}. Halt trading and pause production with 'bullion desk "
            f"--broker {broker} switches set halted=true paused=true', disconnect its lines, and wait for "
            "the venue's answers. If the desk refuses because the broker was moved, use --cancel first."
        )


def _both(settings: Settings, from_url: str, to_url: str | None) -> tuple[Settings, Settings]:
    old = replace(settings, database_url=from_url)
    new = replace(settings, database_url=to_url or settings.database_url)
    if not old.database_url.startswith(_POSTGRES) or not new.database_url.startswith(_POSTGRES):
        raise WrongSetting(
            "With --broker, --from and --to (or BULLION_DATABASE_URL) must be "
            "postgresql://<user>:<password>@<host>/<database>."
        )
    return old, new


@asynccontextmanager
async def _open_target(new: Settings) -> AsyncIterator[Store]:
    """An empty database gets the schema. A store that lacks steps is left to `bullion migrate`."""
    engine = PostgresEngine(new.database_url)
    try:
        await engine.open()
        await require_own_database(engine)
        exists = await engine.has_schema()
    except CopyRefused as refused:
        raise WrongSetting(f"{refused} Nothing was copied.") from refused
    except StoreFault as fault:
        raise WrongSetting(f"The store {location(new)} cannot be used: {fault}.") from fault
    finally:
        await engine.close()
    async with open_store(new, migrate=not exists) as store:
        yield store


async def _place(source: Store, target: Store, new: Settings, broker: str) -> Target:
    """Where the broker goes, if both stores and their nodes are fit for it."""
    ids = [await store_id(_postgres(store)) for store in (source, target)]
    if ids[0] == ids[1]:
        raise WrongSetting("--from and --to are the same store.")
    async with _postgres(source).connection_without_timeouts() as here:
        known = await has_broker(here, broker)
    if not known:
        raise WrongSetting(f"--broker: there is no broker {broker} in the store --from.")
    for store in (source, target):
        if min(await _postgres(store).levels_in_use(), default=code_level("postgres")) < code_level(
            "postgres"
        ):
            raise WrongSetting("A node of an older version serves one of the stores. Upgrade it first.")
    return Target(ids[1], location(new).removeprefix("at "))


def _postgres(store: Store) -> PostgresEngine:
    if not isinstance(store.engine, PostgresEngine):
        raise TypeError("brokers move between PostgreSQL stores")
    return store.engine
