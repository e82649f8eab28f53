"""`bullion store copy`: moves a stopped SQLite store to an empty PostgreSQL database."""

import time
from dataclasses import replace

import click

from bullion.books.verify import verify_books
from bullion.secret import deployment_secret
from bullion.settings import Settings, WrongSetting
from bullion.store.postgres import PostgresEngine
from bullion.store.sqlite import lock_store, sqlite_path
from bullion.store.store_copy import CopyRefused, copy_store, require_own_database
from bullion.wiring.store import open_store

from . import files
from .books import print_report
from .progress import ProgressLine


async def copy(settings: Settings, from_url: str, to_url: str | None) -> int:
    """Copy and verify, and return the exit code."""
    old, new = (
        replace(settings, database_url=from_url),
        replace(settings, database_url=to_url or settings.database_url),
    )
    if not from_url.startswith("sqlite:///"):
        raise WrongSetting("--from must be sqlite:///<path>, for example sqlite:///var/bullion.db.")
    if not new.database_url.startswith(("postgresql://", "postgres://")):
        raise WrongSetting(
            "--to (or BULLION_DATABASE_URL) must be postgresql://<user>:<password>@<host>/<database>."
        )
    source = sqlite_path(from_url)
    files.require_file(source, "store")
    lock = lock_store(source)
    if lock is None:
        raise WrongSetting(f"A node serves {source}. Stop it first.")
    with lock:
        if files.in_use(source):
            raise WrongSetting(f"A process is using {source}. Stop the console and all commands first.")
        # The secret belongs to the store, so it is read from the folder of the source.
        secret = deployment_secret(settings.secret, source.parent, may_create=False).decode("ascii")
        async with open_store(replace(old, secret=secret), migrate=False):
            pass  # This checks its schema and its secret.
        started = time.monotonic()
        rows = await _copy(old, new)
    click.echo(f"Rows copied and compared: {rows:,}, in {time.monotonic() - started:.0f} s.")
    async with open_store(replace(new, secret=secret), migrate=False) as store:
        with ProgressLine("Verifying", "orders") as progress:
            report = await verify_books(store.engine, store.chain, progress)
    print_report(report)
    if settings.secret is None:
        click.echo(f"Set BULLION_SECRET to the text of {source.parent / 'secret'} before you start a node.")
    return 0 if report.equal else 1


async def _copy(old: Settings, new: Settings) -> int:
    target = PostgresEngine(new.database_url)
    try:
        await target.open()
        await require_own_database(target)
        await target.migrate()
        with ProgressLine("Copying and comparing", "rows") as progress:
            return await copy_store(sqlite_path(old.database_url), target, progress)
    except CopyRefused as refused:
        raise WrongSetting(f"{refused} Nothing was copied.") from refused
    finally:
        await target.close()
